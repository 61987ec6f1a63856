"""Logs of a real site in steps: nothing is lost or repeated, whatever the API cuts or throws away."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from k8s import errors
from k8s.cluster import logs
from k8s.types import LogChunk, LogLine
from tests.k8s import manifests
from tests.k8s.sites import MockSite
from tests.support.mockapi.podlogs import Logs

KEY = ("clu-a", "run-a-master-0", "pytorch")


def stamp(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"2026-05-01T10:{seconds // 60:02}:{seconds % 60:02}.{rest:03}000123Z"


def read_all(
    source: Logs, *, limit: int, ended: bool = True, cursor: logs.Cursor | None = None
) -> list[LogLine]:
    """Read as the port does, from a cursor on until nothing new comes."""
    at, found = cursor or logs.Cursor(), []
    for _ in range(500):
        size = at.done + max(limit, 400)
        data = source.read(KEY, since=at.since, stamps=True, limit=size)
        step = logs.step(data, at, limit_bytes=limit, truncated=len(data) >= size, ended=ended)
        at = logs.parse(step.cursor.text())
        found += step.lines
        if step.all_read:
            return found
    raise AssertionError("no end")


def whole(lines: list[LogLine]) -> list[str]:
    texts, pending = [], ""
    for line in lines:
        pending += line.text
        if not line.partial:
            texts.append(pending)
            pending = ""
    return texts


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.tuples(st.text("aé中\t", max_size=40), st.integers(0, 1500)), max_size=40),
    limit=st.integers(1, 300),
)
def test_every_line_comes_once_in_order(lines: list[tuple[str, int]], limit: int) -> None:
    source, now = Logs(), 0
    for text, pause in lines:
        now += pause
        source.write(KEY, text.encode() + b"\n", stamp(now))
    assert [line.text for line in read_all(source, limit=limit)] == [text for text, _ in lines]


def test_a_log_that_grows_is_read_once() -> None:
    source, at, found, chance = Logs(), logs.Cursor(), [], random.Random(7)
    now, written = 0, []
    for number in range(300):
        for _ in range(chance.randrange(4)):
            now += chance.randrange(700)
            written.append(f"line {len(written)}")
            source.write(KEY, written[-1].encode() + b"\n", stamp(now))
        size = at.done + 64
        data = source.read(KEY, since=at.since, stamps=True, limit=size)
        step = logs.step(data, at, limit_bytes=50, truncated=len(data) >= size, ended=False)
        at, found = step.cursor, [*found, *step.lines]
        assert not step.gap, number
    found += read_all(source, limit=50, cursor=at)
    assert [line.text for line in found] == written


def test_two_streams_stamped_in_the_wrong_order_lose_nothing() -> None:
    source = Logs()
    for text, when in (("a", 900), ("b", 1005), ("c", 998), ("d", 1006), ("e", 2500), ("f", 2450)):
        source.write(KEY, text.encode() + b"\n", stamp(when))
    assert [line.text for line in read_all(source, limit=1)] == list("abcdef")


def test_long_lines_come_in_pieces_that_keep_characters_whole() -> None:
    source = Logs()
    long = "é" * 40_000
    source.write(KEY, f"first\n{long}\nlast\n".encode(), stamp(0))
    lines = read_all(source, limit=70_000)
    assert whole(lines) == ["first", long, "last"]
    assert max(len(line.text.encode()) for line in lines) <= logs.MAX_PIECE
    assert {line.time for line in lines} == {lines[0].time}


def test_an_unfinished_line_is_left_until_it_is_whole_or_the_end() -> None:
    source = Logs()
    source.write(KEY, b"done\nhal", stamp(0))
    assert [line.text for line in read_all(source, limit=100, ended=False)] == ["done"]
    assert [line.text for line in read_all(source, limit=100)] == ["done", "hal"]
    source.write(KEY, b"f\n", stamp(50))
    assert [line.text for line in read_all(source, limit=100, ended=False)] == ["done", "half"]


def test_what_is_no_text_is_replaced() -> None:
    source = Logs()
    source.write(KEY, b"\xff\xfe\x00ok\r\n\n", stamp(0))
    assert [line.text for line in read_all(source, limit=100)] == ["\ufffd\ufffd\x00ok\r", ""]


def test_lines_that_the_site_threw_away_are_a_gap() -> None:
    source = Logs()
    for number in range(20):
        source.write(KEY, b"line %d\n" % number, stamp(number * 10))
    data = source.read(KEY, stamps=True, limit=200)
    first = logs.step(data, logs.Cursor(), limit_bytes=30, truncated=True, ended=False)
    source.rotate(KEY, keep=4)
    data = source.read(KEY, since=first.cursor.since, stamps=True)
    rest = logs.step(data, first.cursor, limit_bytes=1000, truncated=False, ended=True)
    assert rest.gap
    assert [line.text for line in rest.lines] == ["line 16", "line 17", "line 18", "line 19"]
    again = logs.step(data, rest.cursor, limit_bytes=1000, truncated=False, ended=True)
    assert (again.lines, again.gap, again.all_read) == ((), False, True)


@pytest.mark.parametrize("text", ["", "nonsense", "W10=", "MTIz", "é"])
def test_other_cursors_are_refused(text: str) -> None:
    with pytest.raises(errors.Refused):
        logs.parse(text)


def running(site: MockSite, command: str = "exec sleep 60") -> None:
    site.port.apply(manifests.job("run-a", manifests.shell(command)))
    site.until(lambda: site.condition("run-a", "Running"))


def read(site: MockSite, cursor: str | None = None) -> LogChunk:
    return site.port.read_log("clu-a", "run-a-master-0", cursor=cursor, limit_bytes=100)


def test_a_pod_that_has_not_started_has_no_lines_yet(mock_site: MockSite) -> None:
    mock_site.port.apply(manifests.job("run-a", gpus=3))
    mock_site.until(lambda: mock_site.port.list_pods("clu-a"))
    assert (read(mock_site).lines, read(mock_site).eof) == ((), False)


def test_a_pod_that_never_started_has_an_empty_log(mock_site: MockSite) -> None:
    mock_site.port.apply(manifests.job("run-a", gpus=3))
    mock_site.until(lambda: mock_site.port.list_pods("clu-a"))
    mock_site.controllers.api.patch(
        "/api/v1/namespaces/clu-a/pods/run-a-master-0/status",
        {"status": {"phase": "Failed", "reason": "Evicted"}},
    )
    assert (read(mock_site).lines, read(mock_site).eof, read(mock_site).exit_code) == ((), True, None)


def test_what_fetches_the_code_speaks_first(mock_site: MockSite) -> None:
    inits = [{"name": "fetch", "image": "none"}, {"name": "init-pytorch", "image": "none"}]
    mock_site.port.apply(manifests.job("run-a", manifests.shell("echo main"), pod={"initContainers": inits}))
    mock_site.ended("run-a")
    ended = {"terminated": {"exitCode": 0, "startedAt": stamp(0), "finishedAt": stamp(1)}}
    statuses = [{"name": one["name"], "state": ended} for one in inits]
    where = "/api/v1/namespaces/clu-a/pods/run-a-master-0/status"
    mock_site.controllers.api.patch(where, {"status": {"initContainerStatuses": statuses}})
    mock_site.api.logs.write((*KEY[:2], "fetch"), b"cloned\n")
    mock_site.api.logs.write((*KEY[:2], "init-pytorch"), b"waiting for the master\n")
    assert mock_site.log("run-a-master-0") == ["cloned", "main"]


def test_the_api_is_asked_for_no_more_than_is_new(mock_site: MockSite) -> None:
    running(mock_site)
    for number in range(2000):
        mock_site.api.logs.write(KEY, b"x" * 80 + b"\n", stamp(number * 100))
    cursor = None
    for _ in range(50):
        cursor = read(mock_site, cursor).cursor
    sizes = [
        int(re.findall(r"limitBytes=(\d+)", target)[0])
        for _, target in mock_site.api.faults.seen
        if "/log?" in target
    ]
    assert max(sizes) < 64 * 1024 + 4096
