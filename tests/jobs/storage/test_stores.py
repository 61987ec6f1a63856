"""What one store alone has to stand: links and pipes in a folder, refusals and silence of a bucket."""

import os
import resource
import threading
from pathlib import Path

import pytest

from jobs import storage
from jobs.storage import BadKey, NotThere, S3Access, StorageError, local_store
from portal.local import ports
from tests.support import s3

pytestmark = pytest.mark.xdist_group("s3")  # one server for both files


def test_links_in_a_folder_are_not_followed_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("s3cret")
    root = tmp_path / "root"
    (root / "run").mkdir(parents=True)
    (root / "run" / "out").symlink_to(secret)
    (root / "run" / "file").symlink_to(secret / "key")
    (root / "run" / "loop").symlink_to("loop")
    (root / "run" / "up").symlink_to("..")
    (root / "run" / "real").write_text("1")
    (root / "run" / "latest").symlink_to("real")
    store = storage.from_url(str(root))
    assert sorted(item.key for item in store.list()) == ["run/latest", "run/real"]
    for key in ("run/out/key", "run/file", "run/loop", "run/up/run/real", "run/latest"):
        assert not store.exists(key)
        with pytest.raises((NotThere, BadKey)):
            store.read_small(key, 10)
    for key in ("run/out/new", "run/up/new"):
        with pytest.raises((NotThere, BadKey)):
            store.write(key, b"x")
    store.write("run/file", b"mine")
    assert (secret / "key").read_text() == "s3cret"
    assert store.delete("run/out") == 0
    assert store.delete("run") == 3
    assert (secret / "key").read_text() == "s3cret"
    assert sorted(path.name for path in secret.iterdir()) == ["key"]


def test_pipes_and_odd_names_in_a_folder_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"bad-\xff")).write_text("1")
    (tmp_path / "back\\slash").write_text("1")
    store = storage.from_url(f"file://{tmp_path}")
    assert list(store.list()) == []
    with pytest.raises(NotThere):
        store.read_small("pipe", 10)


def test_a_folder_that_changes_while_it_is_listed(tmp_path: Path) -> None:
    store = storage.from_url(f"file://{tmp_path}")
    for place in range(50):
        store.write(f"a{place:02}/x", b"1")
    listing = store.list()
    first = next(listing).key
    store.delete("a30")
    rest = [item.key for item in listing]
    assert first not in rest
    assert len(rest) >= 48
    half = store.list()
    next(half)
    half.close()


def test_writers_of_one_file_never_mix(tmp_path: Path) -> None:
    store = storage.from_url(f"file://{tmp_path}")
    threads = [
        threading.Thread(target=store.write, args=("a", str(place).encode() * 100_000)) for place in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(store.read_small("a", 100_000))) == 1
    assert [item.key for item in store.list()] == ["a"]


def test_a_bucket_that_refuses_is_not_asked_again(s3_access: S3Access) -> None:
    wrong = S3Access(s3_access.key, "wrong", s3_access.endpoint_url, s3_access.region)
    with pytest.raises(StorageError) as caught:
        storage.from_url(f"s3://{s3.BUCKET}/x", wrong).write("a", b"1")
    assert not caught.value.retryable
    address = storage.from_url(f"s3://{s3.BUCKET}/x", s3_access).presign("a", 60)
    assert address is not None
    assert address.startswith(s3_access.endpoint_url)


def test_a_bucket_that_is_away_may_be_asked_again() -> None:
    nobody = S3Access("k", "s", f"http://127.0.0.1:{ports.free()}", "us-east-1")
    with pytest.raises(StorageError) as caught:
        storage.from_url("s3://berth", nobody).exists("a")
    assert caught.value.retryable


@pytest.mark.parametrize("url", ["ftp://x/y", "relative", "s3://", "file://host/x", ""])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="no storage"):
        storage.from_url(url)


def test_a_tree_of_many_and_deep_folders_is_listed_with_few_open_files(tmp_path: Path) -> None:
    for place in range(600):
        (tmp_path / f"wide-{place}").mkdir()
    (tmp_path / "file").write_text("1")
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _depth in range(700):
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.fchdir(back)
        os.close(back)
    store = storage.from_url(str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 200, limits[1]))
    try:
        assert [item.key for item in store.list()] == ["file"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_more_folders_than_a_listing_goes_through_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_store, "FOLDERS_MOST", 5)
    for place in range(5):
        (tmp_path / str(place)).mkdir()
    with pytest.raises(StorageError):
        list(storage.from_url(str(tmp_path)).list())
