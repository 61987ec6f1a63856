"""The image by its Dockerfile, read and not built: nothing here needs a container engine."""

import fnmatch
import json
import re
import shlex
from dataclasses import dataclass

import pytest

from portal import settings
from tests.stack.test_tree import INDEX
from tests.support import tree

WRITTEN = {"/tmp", "/var/lib/berth", "/run/berth"}


@dataclass(frozen=True)
class Instruction:
    word: str
    rest: str

    @property
    def operands(self) -> list[str]:
        """Return the words behind its options."""
        return [word for word in shlex.split(self.rest) if not word.startswith("--")]

    @property
    def options(self) -> dict[str, str]:
        words = [word for word in shlex.split(self.rest) if word.startswith("--")]
        return dict(word.removeprefix("--").partition("=")[::2] for word in words)


def _stages() -> list[list[Instruction]]:
    text = (tree.ROOT / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found: list[list[Instruction]] = []
    for line in joined.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append(Instruction(word, rest.strip()))
    return found


STAGES = _stages()
FINAL = STAGES[-1]
ALL = [one for stage in STAGES for one in stage]


def _ignored(path: str) -> bool:
    """Say what .dockerignore keeps out: the last pattern that matches the path or a parent decides."""
    parts = path.split("/")
    parents = ["/".join(parts[: at + 1]) for at in range(len(parts))]
    out = False
    for line in (tree.ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        anywhere = "**/" in line
        if any(fnmatch.fnmatch(one.rpartition("/")[2] if anywhere else one, pattern) for one in parents):
            out = not line.startswith("!")
    return out


def test_instructions_are_known() -> None:
    known = {"FROM", "ENV", "RUN", "COPY", "WORKDIR", "USER", "EXPOSE", "STOPSIGNAL", "CMD"}
    assert {one.word for one in ALL} == known


def test_the_base_is_one_version_in_all_stages() -> None:
    bases = {stage[0].operands[0] for stage in STAGES}
    assert len(STAGES) == 2
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", bases.pop())


def test_it_runs_as_a_number_that_is_not_root() -> None:
    (user,) = (one for one in FINAL if one.word == "USER")
    assert re.fullmatch(r"[1-9]\d{4,}:[1-9]\d{4,}", user.rest)
    after = FINAL[FINAL.index(user) :]
    assert {"RUN", "COPY"}.isdisjoint(one.word for one in after)


def test_every_source_exists_and_is_let_in() -> None:
    missing = []
    for one in ALL:
        if one.word != "COPY" or "from" in one.options:
            continue
        for source in one.operands[:-1]:
            if not (tree.ROOT / source).exists() or _ignored(source.rstrip("/")):
                missing.append(source)
    assert missing == []


def test_folders_are_copied_as_folders() -> None:
    for one in ALL:
        if one.word == "COPY" and one.operands[0].endswith("/"):
            source, target = one.operands
            assert target == source


def test_everything_that_runs_is_copied() -> None:
    copied = {one.operands[0].rstrip("/") for one in ALL if one.word == "COPY"}
    apps = {name for name in settings.INSTALLED_APPS if (tree.ROOT / name / "__init__.py").exists()}
    assert apps | {"core", "k8s", "templates", "locale", "examples", "manage.py"} <= copied


@pytest.mark.parametrize(
    ("path", "out"),
    [
        (".git/config", True),
        ("var/secrets.json", True),
        (".env", True),
        ("secrets.env", True),
        ("tests/conftest.py", True),
        ("k8s/deploy/secrets.env.example", True),
        ("jobs/__pycache__/x.pyc", True),
        ("locale/zh_Hans/LC_MESSAGES/django.mo", True),
        ("requirements/base.txt", False),
        ("jobs/podcode/fetch.py", False),
        ("portal/static", False),
        ("locale/zh_Hans/LC_MESSAGES/django.po", False),
    ],
)
def test_what_comes_into_the_build(path: str, out: bool) -> None:
    assert _ignored(path) is out


def test_packages_come_with_hashes_as_wheels_from_no_named_index() -> None:
    (install,) = (one.rest for one in ALL if one.word == "RUN" and "pip install" in one.rest)
    assert "--require-hashes" in install
    assert "--only-binary :all:" in install
    assert "--requirement /build/base.txt" in install
    assert not INDEX.search((tree.ROOT / "Dockerfile").read_text())


def test_nothing_is_fetched_and_no_secret_is_kept() -> None:
    for one in ALL:
        assert "://" not in one.rest
        assert "curl" not in one.rest
        assert "apt" not in shlex.split(one.rest)
        if one.word == "ENV":
            names = re.findall(r"([A-Z_]+)=", one.rest)
            assert not {"SECRET_KEY", "SEALING_KEYS", "DATABASE_URL"} & set(names)


def test_pages_are_prepared_in_the_image() -> None:
    built = " ".join(one.rest for one in STAGES[0] if one.word == "RUN")
    assert "manage.py collectstatic" in built
    assert "manage.py messages --compile" in built


def test_what_it_writes_is_outside_of_the_code() -> None:
    env = " ".join(one.rest for one in FINAL if one.word == "ENV")
    values = dict(re.findall(r"([A-Z_]+)=(\S+)", env))
    assert {values["HOME"], values["BERTH_DATA"], values["HEARTBEAT_DIR"]} == WRITTEN
    static = re.search(r"STATIC_ROOT=(\S+)", " ".join(one.rest for one in STAGES[0] if one.word == "RUN"))
    assert static is not None
    assert values["STATIC_ROOT"] == static[1] == "/app/staticfiles"


def test_the_command_is_web() -> None:
    (command,) = (json.loads(one.rest) for one in FINAL if one.word == "CMD")
    (web,) = (line for line in (tree.ROOT / "Procfile").read_text().splitlines() if line.startswith("web:"))
    assert command == shlex.split(web.removeprefix("web:"))
