"""Fills the working directory before a job starts: an archive from CODE_URL, or a commit from GIT_URL.

Runs in the init container ``fetch`` with nothing but Python (and git). Exit 75: try again; 78: never right.
"""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Mapping
from typing import IO

EXIT_TEMPORARY, EXIT_PERMANENT = 75, 78
MAX_DOWNLOAD = 128 << 20
MAX_BYTES, MAX_FILES = 4 << 30, 100_000
ATTEMPTS = 5
CHUNK = 1 << 20


class FetchError(Exception):
    """Why the code cannot be had; ``temporary`` says whether trying again makes sense."""

    def __init__(self, text: str, temporary: bool = False) -> None:
        super().__init__(text)
        self.temporary = temporary


class _Budget:
    """What one archive may still unpack."""

    def __init__(self, most_bytes: int, most_files: int) -> None:
        self.bytes, self.files = most_bytes, most_files

    def entry(self) -> None:
        self.files -= 1
        if self.files < 0:
            raise FetchError("the archive holds too many files")

    def take(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise FetchError("the archive unpacks to more than is allowed")


def extract(path: str, folder: str, most_bytes: int = MAX_BYTES, most_files: int = MAX_FILES) -> None:
    """Unpack a zip or tar.gz into an empty folder; raise FetchError for anything that would leave it."""
    root = os.path.realpath(folder)
    budget = _Budget(most_bytes, most_files)
    with open(path, "rb") as file:
        magic = file.read(4)
    try:
        if magic[:2] == b"PK":
            links = _extract_zip(path, root, budget)
        elif magic[:2] == b"\x1f\x8b":
            links = _extract_tar(path, root, budget)
        else:
            raise FetchError("the archive is neither a zip nor a tar.gz")
        # Links come last, so that nothing is written through one; then each must still end inside.
        for place, target in links:
            _clear_way(place)
            os.symlink(target, place)
        for place, target in links:
            if not _inside(root, os.path.realpath(place)):
                raise FetchError(f"a link leads out of the archive: {place!r} -> {target!r}")
    except FetchError:
        raise
    except Exception as error:  # whatever a decoder raises on a damaged file
        raise FetchError(f"the archive is damaged or cannot be unpacked: {error}") from error


def _extract_zip(path: str, root: str, budget: _Budget) -> list[tuple[str, str]]:
    links = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            budget.entry()
            place = _place(root, info.filename)
            kind = stat.S_IFMT(info.external_attr >> 16)
            if place is None:
                continue
            if info.is_dir():
                _make_folder(root, place)
            elif kind == stat.S_IFLNK:
                with archive.open(info) as source:
                    target = os.fsdecode(source.read(4096))
                links.append((place, _link_target(root, place, target)))
                _make_folder(root, os.path.dirname(place))
            elif kind in (0, stat.S_IFREG):
                with archive.open(info) as source:
                    _write(root, place, source, info.external_attr >> 16, budget)
            else:
                raise FetchError(f"the archive holds a special file: {info.filename!r}")
    return links


def _extract_tar(path: str, root: str, budget: _Budget) -> list[tuple[str, str]]:
    links = []
    with tarfile.open(path, "r:gz") as archive:
        for info in archive:
            budget.entry()
            place = _place(root, info.name)
            if place is None:
                continue
            if info.isdir():
                _make_folder(root, place)
            elif info.isreg():
                _write(root, place, archive.extractfile(info), info.mode, budget)
            elif info.issym():
                links.append((place, _link_target(root, place, info.linkname)))
                _make_folder(root, os.path.dirname(place))
            elif info.islnk():
                # A hard link becomes a copy of the file that came before it.
                source = _place(root, info.linkname)
                if source is None or not os.path.isfile(source) or os.path.islink(source):
                    raise FetchError(f"a link names no file of the archive: {info.name!r}")
                with open(source, "rb") as file:
                    _write(root, place, file, os.stat(source).st_mode, budget)
            else:
                raise FetchError(f"the archive holds a special file: {info.name!r}")
    return links


def _place(root: str, name: str) -> str | None:
    """Return where a member goes, None for the root itself; raise FetchError for a name that leaves it."""
    if name.startswith("/") or "\\" in name or "\0" in name or name[1:2] == ":":
        raise FetchError(f"the archive holds an absolute or foreign path: {name!r}")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise FetchError(f"the archive holds a path with ..: {name!r}")
    return os.path.join(root, *parts) if parts else None


def _link_target(root: str, place: str, target: str) -> str:
    lexical = os.path.normpath(os.path.join(os.path.dirname(place), target))
    if os.path.isabs(target) or "\0" in target or not target or not _inside(root, lexical):
        raise FetchError(f"a link leads out of the archive: {place!r} -> {target!r}")
    return target


def _inside(root: str, path: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _make_folder(root: str, place: str) -> None:
    os.makedirs(place, mode=0o755, exist_ok=True)
    if not _inside(root, os.path.realpath(place)):
        raise FetchError(f"the archive leads out of its folder: {place!r}")


def _clear_way(place: str) -> None:
    if os.path.islink(place) or os.path.isfile(place):
        os.unlink(place)


def _write(root: str, place: str, source: IO[bytes] | None, mode: int, budget: _Budget) -> None:
    _make_folder(root, os.path.dirname(place))
    _clear_way(place)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags, 0o755 if mode & 0o111 else 0o644), "wb") as file:
        while source is not None:
            chunk = source.read(CHUNK)
            if not chunk:
                return
            budget.take(len(chunk))
            file.write(chunk)


def download(url: str, path: str, most: int = MAX_DOWNLOAD) -> None:
    """Fetch an http(s) address into a file of at most ``most`` bytes."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise FetchError("the code address is not http or https")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, open(path, "wb") as file:  # noqa: S310
            left = most
            while True:
                chunk = answer.read(CHUNK)
                if not chunk:
                    return
                left -= len(chunk)
                if left < 0:
                    raise FetchError(f"the archive is larger than {most} bytes")
                file.write(chunk)
    except urllib.error.HTTPError as error:
        lasting = error.code < 500 and error.code not in (408, 425, 429)
        raise FetchError(f"the code address answered {error.code}", temporary=not lasting) from error
    except OSError as error:
        raise FetchError(f"the code address cannot be reached: {error}", temporary=True) from error


def clone(url: str, ref: str, folder: str, token: str = "") -> None:
    """Check out one commit of a repository: no prompt, no hooks, no submodules, https and ssh only."""
    if url.startswith("-") or ref.startswith("-"):
        raise FetchError("the git address or ref starts with a dash")
    with tempfile.TemporaryDirectory() as scratch:
        env = _git_env(url, token, scratch)
        _git(env, folder, "init", "--quiet", ".")
        shallow = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url]
        target = "FETCH_HEAD"
        try:
            _git(env, folder, *shallow, ref or "HEAD")
        except FetchError:
            # A short commit, or a server that hands out no single commits: fetch all, then look it up.
            if not ref:
                raise
            everything = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
            _git(env, folder, "fetch", "--quiet", "--no-recurse-submodules", "--", url, *everything)
            target = ref + "^{commit}"
        _git(env, folder, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", target, "--")


def _git_env(url: str, token: str, scratch: str) -> dict[str, str]:
    options = [("core.hooksPath", "/dev/null"), ("core.fsmonitor", "false"), ("submodule.recurse", "false")]
    options += [("filter.lfs.smudge", ""), ("filter.lfs.process", ""), ("filter.lfs.required", "false")]
    ssh = f"ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new -oUserKnownHostsFile={scratch}/hosts"
    parts = urllib.parse.urlsplit(url)
    if token and parts.scheme == "https":
        basic = base64.b64encode(("x-access-token:" + token).encode()).decode()
        # Bound to the host, so that a redirect elsewhere does not carry it.
        options.append((f"http.https://{parts.netloc}/.extraHeader", "Authorization: Basic " + basic))
    elif token:
        key = os.path.join(scratch, "key")
        with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token.rstrip("\n") + "\n")
        ssh += " -oIdentitiesOnly=yes -i " + key
    passed = ("PATH", "LANG", "https_proxy", "no_proxy")
    env = {name: os.environ[name] for name in passed if name in os.environ}
    env.update(HOME=scratch, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_SSH_COMMAND=ssh)
    env.update(GIT_ALLOW_PROTOCOL="https:ssh", GIT_TERMINAL_PROMPT="0", GIT_LFS_SKIP_SMUDGE="1")
    env["GIT_CONFIG_COUNT"] = str(len(options))
    for place, (name, value) in enumerate(options):
        env[f"GIT_CONFIG_KEY_{place}"], env[f"GIT_CONFIG_VALUE_{place}"] = name, value
    return env


def _git(env: dict[str, str], folder: str, *arguments: str) -> None:
    command = ["git", *arguments]
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=900
        )
    except FileNotFoundError as error:
        raise FetchError("this image has no git; choose another environment or an archive") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError("git took longer than 15 minutes", temporary=True) from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[-2000:]
        away = ("Could not resolve host", "timed out", "Connection refused", "Connection reset", "HTTP 5")
        raise FetchError("git: " + words, temporary=any(word in words for word in away))


def _clear(folder: str) -> None:
    """Empty the folder: an init container that was restarted finds what it left."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def fetch(environ: Mapping[str, str]) -> None:
    """Do what the environment says, once."""
    folder = environ["CODE_DIR"]
    os.makedirs(folder, exist_ok=True)
    _clear(folder)
    if environ.get("GIT_URL"):
        clone(environ["GIT_URL"], environ.get("GIT_REF", ""), folder, environ.get("GIT_TOKEN", ""))
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "code")
        download(environ["CODE_URL"], path)
        extract(path, folder)


def main() -> int:
    """Try a few times; say in one line why it did not work."""
    for attempt in range(ATTEMPTS):
        try:
            fetch(os.environ)
            return 0
        except FetchError as error:
            sys.stderr.write(f"berth fetch: {error}\n")
            if not error.temporary:
                return EXIT_PERMANENT
            if attempt < ATTEMPTS - 1:
                time.sleep(2**attempt)
    return EXIT_TEMPORARY


if __name__ == "__main__":
    sys.exit(main())
