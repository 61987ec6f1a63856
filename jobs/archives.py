"""Looking into an archive of code without unpacking it: what could not be unpacked later is refused now."""

import posixpath
import tarfile
import zipfile
import zlib
from typing import IO

MOST_BYTES = 2 << 30
MOST_FILES = 100_000


class BadArchive(Exception):
    """Why an archive is refused; ``code`` is stable, the text is for people who read logs."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(text or code)
        self.code = code


def inspect(file: IO[bytes]) -> str:
    """Return ``zip`` or ``tar.gz``; raises BadArchive with a code (damaged, outside, …)."""
    magic = file.read(4)
    file.seek(0)
    try:
        if magic[:2] == b"PK":
            _inspect_zip(file)
            return "zip"
        if magic[:2] == b"\x1f\x8b":
            _inspect_tar(file)
            return "tar.gz"
    except BadArchive:
        raise
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, OSError, EOFError, ValueError) as error:
        raise BadArchive("damaged", str(error)) from error
    finally:
        file.seek(0)
    raise BadArchive("format")


def _inspect_zip(file: IO[bytes]) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _count(len(members), sum(info.file_size for info in members))
        for info in members:
            _check_name(info.filename)
            if info.flag_bits & 1:
                raise BadArchive("encrypted")


def _inspect_tar(file: IO[bytes]) -> None:
    files, size = 0, 0
    with tarfile.open(fileobj=file, mode="r:gz") as archive:
        for info in archive:
            files, size = files + 1, size + max(0, info.size)
            _count(files, size)
            _check_name(info.name)
            if info.ischr() or info.isblk() or info.isfifo():
                raise BadArchive("special", info.name)
            if info.issym() or info.islnk():
                # A hard link counts from the archive's root, a symbolic one from where it stands.
                _check_link(posixpath.dirname(info.name) if info.issym() else "", info.linkname)


def _check_link(folder: str, target: str) -> None:
    end = posixpath.normpath(posixpath.join(folder, target))
    if target.startswith("/") or "\0" in target or end == ".." or end.startswith("../"):
        raise BadArchive("outside", target)


def _count(files: int, size: int) -> None:
    if files > MOST_FILES:
        raise BadArchive("too_many")
    if size > MOST_BYTES:
        raise BadArchive("too_large")


def _check_name(name: str) -> None:
    if name.startswith("/") or "\\" in name or "\0" in name or name[1:2] == ":" or ".." in name.split("/"):
        raise BadArchive("outside", name)
