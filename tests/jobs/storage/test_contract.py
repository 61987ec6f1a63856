"""What every store does alike: the same tests on a folder and on a real S3 server."""

import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.storage import BadKey, NotThere, Storage, StorageError

pytestmark = pytest.mark.xdist_group("s3")  # one server for both files

BAD_KEYS = ["", "/a", "a//b", "a/../b", "..", "../a", "./a", "a/.", "a\0b", "a\\b", "\ud800", "x" * 256]
LONG = "/".join(["x" * 200] * 6)


def keys(store: Storage, prefix: str = "") -> list[str]:
    return sorted(item.key for item in store.list(prefix))


def test_what_is_written_is_read_and_listed(store: Storage) -> None:
    before = datetime.now(UTC) - timedelta(seconds=5)
    store.write("run_1/a.bin", b"hello")
    store.write("run_1/日志/深.txt", "训练".encode())
    store.write("run_10/b", b"")
    assert keys(store) == ["run_1/a.bin", "run_1/日志/深.txt", "run_10/b"]
    assert keys(store, "run_1") == keys(store, "run_1/") == ["run_1/a.bin", "run_1/日志/深.txt"]
    assert keys(store, "run_1/日志") == ["run_1/日志/深.txt"]
    assert keys(store, "nowhere") == []
    assert keys(store, "run_1/a.bin") == []
    (item,) = [item for item in store.list() if item.key == "run_1/a.bin"]
    assert item.size == 5
    assert before <= item.modified <= datetime.now(UTC) + timedelta(seconds=5)
    assert store.read_small("run_1/日志/深.txt", 100).decode() == "训练"
    assert store.stat("run_1/a.bin") == item
    with store.open_read("run_1/a.bin") as file:
        assert file.read(2) == b"he"
        assert file.read() == b"llo"


def test_a_file_is_replaced_as_a_whole(store: Storage) -> None:
    store.write("a", b"first version")
    store.write("a", b"second")
    assert store.read_small("a", 100) == b"second"
    assert keys(store) == ["a"]


def test_ranges(store: Storage) -> None:
    store.write("a", bytes(range(100)))
    assert store.read_range("a", 10, 5) == bytes(range(10, 15))
    assert store.read_range("a", 95, 50) == bytes(range(95, 100))
    assert store.read_range("a", 100, 5) == b""
    assert store.read_range("a", 500, 5) == b""
    assert store.read_range("a", 5, 0) == b""
    assert store.read_small("a", 10) == bytes(range(90, 100))
    store.write("empty", b"")
    assert store.read_small("empty", 10) == b""
    assert store.read_range("empty", 0, 10) == b""


def test_what_is_not_there_is_said(store: Storage) -> None:
    store.write("folder/a", b"1")
    for key in ("nothing", "folder", "folder/b", "folder/a/b"):
        assert not store.exists(key)
        assert store.stat(key) is None
        for read in (lambda key=key: store.read_small(key, 10), lambda key=key: store.read_range(key, 0, 10)):
            with pytest.raises(NotThere) as caught:
                read()
            assert not caught.value.retryable
        with pytest.raises(NotThere):
            store.open_read(key).close()
    assert store.exists("folder/a")


def test_a_stream_appears_only_when_it_is_whole(store: Storage) -> None:
    with store.open_write("big/file") as file:
        for _ in range(12):
            file.write(b"x" * (1 << 20))
        assert not store.exists("big/file")
        assert keys(store) == []
    found = store.stat("big/file")
    assert found is not None
    assert found.size == 12 << 20
    assert store.read_range("big/file", (12 << 20) - 2, 10) == b"xx"


@pytest.mark.parametrize("megabytes", [0, 12])
def test_a_stream_that_breaks_leaves_nothing(store: Storage, megabytes: int) -> None:
    store.write("a", b"old")
    for key in ("a", "b"):
        with pytest.raises(ZeroDivisionError), store.open_write(key) as file:
            assert 1 // (file.write(b"x" * (megabytes << 20)) * 0)
    assert store.read_small("a", 10) == b"old"
    assert keys(store) == ["a"]


def test_an_empty_stream_is_an_empty_file(store: Storage) -> None:
    with store.open_write("nothing"):
        pass
    found = store.stat("nothing")
    assert found is not None
    assert found.size == 0


def test_deleting_takes_a_file_or_a_whole_folder(store: Storage) -> None:
    for key in ("run_1/a", "run_1/b/c", "run_10/a", "x"):
        store.write(key, b"1")
    assert store.delete("run_1") == 2
    assert keys(store) == ["run_10/a", "x"]
    assert store.delete("run_1") == 0
    assert store.delete("x") == 1
    assert store.delete("") == 1
    assert keys(store) == []


def test_a_folder_is_a_store_of_its_own(store: Storage) -> None:
    inner = store.at("run_1/checkpoints")
    assert keys(inner) == []
    inner.write("step-1/DONE", b"{}")
    assert keys(inner) == ["step-1/DONE"]
    assert keys(store) == ["run_1/checkpoints/step-1/DONE"]
    assert inner.at("step-1").read_small("DONE", 10) == b"{}"
    assert inner.at("").exists("step-1/DONE")
    assert inner.delete("step-1") == 1
    for bad in ("..", "a/../..", "/etc"):
        with pytest.raises(BadKey):
            store.at(bad)


def test_no_key_leads_out(store: Storage) -> None:
    for key in [*BAD_KEYS, LONG]:
        uses: list[Callable[[str], Any]] = [store.exists, store.stat, store.open_read]
        uses += [lambda key: store.open_write(key).__enter__()]
        uses += [lambda key: store.write(key, b"x"), lambda key: store.read_small(key, 10)]
        uses += [lambda key: store.presign(key, 60)]
        uses += [lambda key: list(store.list(key)), store.delete] if key else []
        for use in uses:
            with pytest.raises(BadKey) as caught:
                use(key)
            assert not caught.value.retryable
    assert keys(store) == []


def test_addresses_that_read_one_file(store: Storage) -> None:
    store.write("a", b"hello")
    address = store.presign("a", 60)
    if address is not None:
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.read() == b"hello"


def test_errors_are_ours(store: Storage) -> None:
    store.write("a", b"1")
    with pytest.raises(StorageError):
        store.write("a/b/" + "x" * 255 + "/../c", b"1")
