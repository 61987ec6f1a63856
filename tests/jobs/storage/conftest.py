"""The stores that the contract tests run on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import storage
from jobs.storage import S3Access, Storage
from tests.support import s3


@pytest.fixture(scope="session")
def s3_access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Access]:
    with s3.server(tmp_path_factory.mktemp("s3")) as access:
        yield access


@pytest.fixture(scope="session")
def bucket(s3_access: S3Access) -> Storage:
    store = storage.from_url(f"s3://{s3.BUCKET}", s3_access)
    assert not store.exists("nothing")  # connects, so that all folders share the connection
    return store


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return storage.from_url(f"file://{tmp_path}/root")
    bucket: Storage = request.getfixturevalue("bucket")
    return bucket.at(f"{tmp_path.parent.name}/{tmp_path.name}")
