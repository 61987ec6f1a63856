"""Links in an archive of code: refused when it is sent, not when a job has waited for its GPUs."""

import io
import tarfile

import pytest

from jobs import archives


def tar(name: str, kind: bytes, target: str) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        archive.addfile(info)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("link", tarfile.SYMTYPE, "/etc"),
        ("link", tarfile.SYMTYPE, ".."),
        ("a/link", tarfile.SYMTYPE, "../../out"),
        ("a/link", tarfile.SYMTYPE, "b/../../../out"),
        ("a/b/link", tarfile.LNKTYPE, "../out"),
        ("link", tarfile.LNKTYPE, "/etc/passwd"),
    ],
)
def test_links_that_lead_out_are_refused(name: str, kind: bytes, target: str) -> None:
    with pytest.raises(archives.BadArchive) as refusal:
        archives.inspect(tar(name, kind, target))
    assert refusal.value.code == "outside"


@pytest.mark.parametrize(
    ("name", "kind", "target"),
    [
        ("a/link", tarfile.SYMTYPE, "../file"),
        ("a/link", tarfile.SYMTYPE, "..file"),
        ("./link", tarfile.SYMTYPE, "file"),
        ("a/link", tarfile.LNKTYPE, "a/file"),
    ],
)
def test_links_that_stay_inside_are_taken(name: str, kind: bytes, target: str) -> None:
    assert archives.inspect(tar(name, kind, target)) == "tar.gz"
