"""The script that fetches code into a pod: malicious archives write nothing outside, git gets no options."""

import gzip
import http.server
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.podcode import fetch
from jobs.podcode.fetch import FetchError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "deep" / "workspace"
    folder.mkdir(parents=True)
    return folder


def make_tar(path: Path, *members: tuple[str, bytes | str] | tarfile.TarInfo) -> str:
    """Write a tar.gz; a member is (name, content), or (name, 'link:target'), or a prepared header."""
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, content = member
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                kind, _, info.linkname = content.partition(":")
                info.type = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE}[kind]
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return str(path)


def make_zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return str(path)


def zip_link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def special(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    return info


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def outside(tmp_path: Path, root: Path) -> list[str]:
    """Return what lies beside the archive and the folder."""
    return sorted(
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if root not in path.parents and path not in (root, root.parent) and path.name != "archive"
    )


def test_ordinary_archives_are_unpacked(tmp_path: Path, root: Path) -> None:
    fetch.extract(
        make_tar(
            tmp_path / "archive",
            ("./main.py", b"print(1)"),
            ("lib/a.py", b"a"),
            ("lib/same.py", "hard:lib/a.py"),
            ("latest.py", "link:lib/a.py"),
            ("lib/up.py", "link:../main.py"),
            ("main.py", b"print(2)"),
        ),
        str(root),
    )
    assert tree(root) == {
        "main.py": "print(2)",
        "lib/a.py": "a",
        "lib/same.py": "a",
        "latest.py": "-> lib/a.py",
        "lib/up.py": "-> ../main.py",
    }
    members = [("main.py", b"1"), ("包/数据.txt", b"2"), (zip_link("link"), b"main.py"), ("empty/", b"")]
    fetch._clear(str(root))
    fetch.extract(make_zip(tmp_path / "archive", *members), str(root))
    assert tree(root) == {"main.py": "1", "包/数据.txt": "2", "link": "-> main.py"}
    assert (root / "empty").is_dir()


def test_only_the_executable_bit_is_kept(tmp_path: Path, root: Path) -> None:
    info = tarfile.TarInfo("run.sh")
    info.mode = 0o6777
    fetch.extract(make_tar(tmp_path / "archive", info, ("plain", b"")), str(root))
    assert (root / "run.sh").stat().st_mode & 0o7111 == 0o111
    assert (root / "plain").stat().st_mode & 0o7111 == 0


BAD_NAMES = ["../evil", "a/../../evil", "/etc/evil", "a/..", "..", "C:/evil", "..\\evil", "./../evil"]
BAD_TARS: list[list[tuple[str, bytes | str] | tarfile.TarInfo]] = [
    *([(name, b"x")] for name in BAD_NAMES),
    [("out", "link:/etc"), ("out/evil", b"x")],
    [("out", "link:../.."), ("out/evil", b"x")],
    [("a/b/up", "link:../.."), ("sly", "link:a/b/up/.."), ("sly/evil", b"x")],
    [("a/b/up", "link:../.."), ("sly", "link:a/b/up/..")],
    [("loop", "link:../workspace-else/x")],
    [("hard", "hard:/etc/passwd")],
    [("hard", "hard:../../archive")],
    [("hard", "hard:nothing")],
    [("link", "link:main"), ("hard", "hard:link")],
    [("file", b"x"), ("file/under", b"y")],
    [("name\nwith", "link:")],
    [special("device", tarfile.CHRTYPE)],
    [special("disk", tarfile.BLKTYPE)],
    [special("pipe", tarfile.FIFOTYPE)],
]


@pytest.mark.parametrize("members", BAD_TARS)
def test_tars_that_want_out_are_refused(
    tmp_path: Path, root: Path, members: list[tuple[str, bytes | str] | tarfile.TarInfo]
) -> None:
    with pytest.raises(FetchError) as caught:
        fetch.extract(make_tar(tmp_path / "archive", *members), str(root))
    assert not caught.value.temporary
    assert outside(tmp_path, root) == []


@pytest.mark.parametrize("name", BAD_NAMES)
def test_zips_that_want_out_are_refused(tmp_path: Path, root: Path, name: str) -> None:
    with pytest.raises(FetchError):
        fetch.extract(make_zip(tmp_path / "archive", (name, b"x")), str(root))
    with pytest.raises(FetchError):
        fetch.extract(
            make_zip(tmp_path / "archive", (zip_link("a"), b"../../x"), ("a/evil", b"x")), str(root)
        )
    assert outside(tmp_path, root) == []


def test_a_file_replaces_a_link_of_its_name_and_not_its_target(tmp_path: Path, root: Path) -> None:
    (tmp_path / "deep" / "precious").write_text("kept")
    (root / "trap").symlink_to("../precious")
    fetch.extract(make_tar(tmp_path / "archive", ("trap", b"new")), str(root))
    assert (tmp_path / "deep" / "precious").read_text() == "kept"
    assert tree(root) == {"trap": "new"}


def test_bombs_are_stopped(tmp_path: Path, root: Path) -> None:
    zeros = bytes(3 << 20)
    for path in (
        make_tar(tmp_path / "archive", ("a", zeros), ("b", zeros)),
        make_zip(tmp_path / "archive2", ("a", zeros), ("b", zeros)),
    ):
        with pytest.raises(FetchError, match="more than is allowed"):
            fetch.extract(path, str(root), most_bytes=4 << 20)
    assert sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) <= 8 << 20
    many = [(f"f{place}", b"") for place in range(20)]
    for path in (make_tar(tmp_path / "archive", *many), make_zip(tmp_path / "archive2", *many)):
        with pytest.raises(FetchError, match="too many files"):
            fetch.extract(path, str(root), most_files=10)


def encrypted_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", b"x")
    raw = bytearray(buffer.getvalue())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    return bytes(raw)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain text",
        b"PK\x03\x04broken",
        gzip.compress(b"no tar", mtime=0),
        b"\x1f\x8b\x08",
        encrypted_zip(),
    ],
)
def test_damaged_archives_are_named_as_such(tmp_path: Path, root: Path, content: bytes) -> None:
    (tmp_path / "archive").write_bytes(content)
    with pytest.raises(FetchError):
        fetch.extract(str(tmp_path / "archive"), str(root))


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "l", "/"]), min_size=1, max_size=4).map("/".join)
MEMBERS = st.lists(
    st.tuples(NAMES, st.sampled_from([b"x", b""]) | NAMES.map("link:".__add__) | NAMES.map("hard:".__add__)),
    max_size=6,
)


@given(members=MEMBERS)
def test_no_archive_reaches_outside(tmp_path_factory: pytest.TempPathFactory, members: list) -> None:
    tmp_path = tmp_path_factory.mktemp("any")
    root = tmp_path / "deep" / "workspace"
    root.mkdir(parents=True)
    try:
        fetch.extract(make_tar(tmp_path / "archive", *members), str(root))
    except FetchError:
        pass
    else:
        for path in root.rglob("*"):
            assert Path(os.path.realpath(path)).is_relative_to(root)
    assert outside(tmp_path, root) == []


@pytest.fixture
def site() -> Iterator[Callable[[int, bytes], str]]:
    """A web server that gives the next answer that a test sets."""
    answers: list[tuple[int, bytes]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = answers.pop(0)
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def answer(code: int, body: bytes) -> str:
        answers.append((code, body))
        return f"http://127.0.0.1:{server.server_port}/ticket"

    yield answer
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_script_runs_by_itself(tmp_path: Path, site: Callable[[int, bytes], str]) -> None:
    archive = Path(make_zip(tmp_path / "archive", ("main.py", b"print(1)"))).read_bytes()
    site(503, b"")
    url = site(200, archive)
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "left-over").write_text("of an earlier try")
    run = subprocess.run(
        [sys.executable, fetch.__file__],
        env={"CODE_DIR": str(folder), "CODE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (0, "berth fetch: the code address answered 503\n")
    assert tree(folder) == {"main.py": "print(1)"}


def test_what_cannot_be_fetched_is_said(tmp_path: Path, site: Callable[[int, bytes], str]) -> None:
    target = str(tmp_path / "code")
    with pytest.raises(FetchError, match="answered 404") as caught:
        fetch.download(site(404, b""), target)
    assert not caught.value.temporary
    with pytest.raises(FetchError, match="answered 503") as caught:
        fetch.download(site(503, b""), target)
    assert caught.value.temporary
    with pytest.raises(FetchError, match="larger"):
        fetch.download(site(200, b"x" * 2000), target, most=1000)
    with pytest.raises(FetchError, match="cannot be reached") as caught:
        fetch.download("http://127.0.0.1:9/x", target)
    assert caught.value.temporary
    with pytest.raises(FetchError, match="not http"):
        fetch.download("file:///etc/passwd", target)


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git that writes down how it was called; it fails at a fetch of the ref 'abc'."""
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"log = open({str(tmp_path / 'calls')!r}, 'a')\n"
        "log.write(json.dumps([sys.argv[1:], dict(os.environ)]) + '\\n')\n"
        "sys.exit('no such ref' if sys.argv[-1] == 'abc' else 0)\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    monkeypatch.setenv("GIT_SSH", "evil")
    return tmp_path / "calls"


def test_git_is_called_hardened(tmp_path: Path, fake_git: Path) -> None:
    fetch.clone("https://example.org/a.git", "v1", str(tmp_path), "t0ken")
    calls = [json.loads(line) for line in fake_git.read_text().splitlines()]
    assert [arguments[0] for arguments, _ in calls] == ["init", "fetch", "-c"]
    assert calls[1][0][-3:] == ["--", "https://example.org/a.git", "v1"]
    for arguments, env in calls:
        assert "t0ken" not in str(arguments)
        assert (env["GIT_ALLOW_PROTOCOL"], env["GIT_TERMINAL_PROMPT"]) == ("https:ssh", "0")
        assert (env["GIT_CONFIG_NOSYSTEM"], env["GIT_CONFIG_GLOBAL"]) == ("1", "/dev/null")
        assert "GIT_SSH" not in env
        assert "BatchMode=yes" in env["GIT_SSH_COMMAND"]
        options = {env[f"GIT_CONFIG_KEY_{place}"] for place in range(int(env["GIT_CONFIG_COUNT"]))}
        assert {"core.hooksPath", "http.https://example.org/.extraHeader"} <= options


def test_a_short_commit_is_looked_up_in_everything(tmp_path: Path, fake_git: Path) -> None:
    fetch.clone("https://example.org/a.git", "abc", str(tmp_path))
    last = json.loads(fake_git.read_text().splitlines()[-1])[0]
    assert last[-2:] == ["abc^{commit}", "--"]
    for url, ref in (("--upload-pack=x", ""), ("https://a/b", "--exec=x")):
        with pytest.raises(FetchError, match="dash"):
            fetch.clone(url, ref, str(tmp_path))


def test_a_real_git_reads_no_local_repository(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"git: .*not allowed"):
        fetch.clone(f"file://{tmp_path}", "", str(tmp_path))
