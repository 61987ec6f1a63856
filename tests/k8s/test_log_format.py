"""What the shim writes, the reader gives back: any bytes, cut anywhere, read in any steps."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from k8s.embedded import logs, shim
from k8s.types import LogLine

pieces = st.lists(
    st.one_of(st.binary(max_size=60), st.text(max_size=30).map(str.encode), st.just(b"\n")), max_size=12
)


def round_trip(fed: list[bytes], limit: int) -> list[LogLine]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        log = shim.Log(path, 10**9)
        for data in fed:
            log.feed(data)
        log.flush()
        log.close()
        lines: list[LogLine] = []
        cursor = None
        while True:
            chunk = logs.read(path, cursor=cursor, limit_bytes=limit, ended=True)
            lines += chunk.lines
            cursor = chunk.cursor
            if chunk.eof:
                return lines


def joined(lines: list[LogLine]) -> list[str]:
    """Put the pieces of long lines together."""
    texts, begun = [], ""
    for line in lines:
        begun += line.text
        if not line.partial:
            texts.append(begun)
            begun = ""
    assert begun == ""
    return texts


@given(fed=pieces, limit=st.integers(1, 200))
def test_every_line_comes_back(fed: list[bytes], limit: int) -> None:
    whole = b"".join(fed)
    expected = whole.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert joined(round_trip(fed, limit)) == [line.decode("utf-8", "replace") for line in expected]


@settings(max_examples=30)
@given(
    text=st.text(st.characters(exclude_characters="\n", codec="utf-8"), min_size=1), copies=st.integers(1, 40)
)
def test_long_lines_are_cut_between_characters(text: str, copies: int) -> None:
    line = text * (copies * 1024)
    lines = round_trip([line.encode()[:70_000], line.encode()[70_000:]], 10**6)
    assert joined(lines) == [line]
    assert all(len(piece.text.encode()) <= shim.MAX_PIECE for piece in lines)


def test_a_log_has_a_limit_and_says_so(tmp_path: Path) -> None:
    log = shim.Log(tmp_path / "log", 200)
    for _ in range(100):
        log.feed(b"many words\n")
    log.close()
    chunk = logs.read(tmp_path / "log", cursor=None, limit_bytes=10**6, ended=True)
    assert "limit" in chunk.lines[-1].text
    assert len(chunk.lines) < 10
