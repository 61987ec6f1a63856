"""What holds for every file: a length that one can read, and no word that only makes sense on one machine."""

import re

import pytest

from tests.support import tree

SOURCE_LINES = 300
TEST_LINES = 400
EXCEPTIONS: set[str] = set()  # should stay empty
COUNTED = {".py", ".html", ".css", ".js", ".sh", ".toml", ""}
NOT_WRITTEN_BY_HAND = re.compile(r"(^|/)(migrations|locale|data)/|^LICENSE$")
MACHINE_PATHS = re.compile(r"/(?:home|Users)/[a-z][a-z0-9_-]*/|(?<![\w.])/ro{2}t/|(?<![\w./}-])/wor[k]/")
INDEX = re.compile(
    r"--(?:extra-)?index-url|--find-links|--trusted-host|https?://[^\s]*(?:/simple/?|/pypi/)(?:\s|$)"
)


def _text(path: str) -> str:
    return (tree.ROOT / path).read_text(errors="replace")


def _names() -> list[str]:
    return [path.relative_to(tree.ROOT).as_posix() for path in tree.tracked()]


def test_files_are_short() -> None:
    too_long = {}
    for name in _names():
        path = tree.ROOT / name
        if path.suffix not in COUNTED or NOT_WRITTEN_BY_HAND.search(name) or name in EXCEPTIONS:
            continue
        if path.read_bytes()[:2] != b"#!" and path.suffix == "" and name not in {"Makefile", "Procfile"}:
            continue
        limit = TEST_LINES if name.startswith("tests/") else SOURCE_LINES
        if (lines := _text(name).count("\n")) > limit:
            too_long[name] = lines
    assert too_long == {}


def test_the_list_of_exceptions_is_empty() -> None:
    assert not EXCEPTIONS


def test_no_file_names_a_package_index() -> None:
    named = [
        name
        for name in _names()
        if name.startswith(("requirements/", "Makefile", "scripts/", ".ci/", "pyproject", "Procfile"))
        and INDEX.search(_text(name))
    ]
    assert named == []


def test_no_file_names_a_private_folder_of_a_machine() -> None:
    named = []
    for name in _names():
        if name == "tests/stack/test_tree.py" or (tree.ROOT / name).suffix in {
            ".png",
            ".jpg",
            ".mo",
            ".woff2",
        }:
            continue
        named += [f"{name}: {found.group()}" for found in MACHINE_PATHS.finditer(_text(name))]
    assert named == []


@pytest.mark.parametrize("name", ["requirements/base.txt", "requirements/local.txt", "requirements/dev.txt"])
def test_requirements_have_hashes(name: str) -> None:
    lines = _text(name).splitlines()
    pins = [line for line in lines if re.match(r"[a-z0-9]", line, re.IGNORECASE)]
    assert pins
    assert all(re.match(r"[\w.\[\],-]+==\S+", pin) and pin.endswith("\\") for pin in pins)


def test_python_files_begin_with_what_they_are_for() -> None:
    silent = []
    for name in _names():
        if not name.endswith(".py") or NOT_WRITTEN_BY_HAND.search(name):
            continue
        text = _text(name)
        if text.strip() and not text.lstrip().startswith(('"""', "#!")):
            silent.append(name)
    assert silent == []
