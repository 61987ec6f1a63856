"""Message catalogues: what the sources say, kept in locale/*/LC_MESSAGES/django.po, compiled by Babel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from django.template.base import Lexer, TokenType
from django.utils.translation import trim_whitespace

FLOORS = ("core", "accounts", "clusters", "billing", "jobs", "portal")
LANGUAGES = {"en": "en", "zh_Hans": "zh_Hans_CN"}  # folder below locale/: Babel's name of it
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A message of the sources: a text or a pair of singular and plural, with its context."""

    text: str | tuple[str, str]
    context: str | None
    place: str


def extract(root: Path) -> list[Found]:
    """Return every message below the project's folder, in the order of its files."""
    found: list[Found] = []
    for floor in FLOORS:
        for file in sorted((root / floor).rglob("*.py")):
            if "migrations" not in file.parts:
                found.extend(_from_python(file, root))
    for folder in ("templates", "portal/templates"):
        for template in sorted((root / folder).rglob("*")):
            if template.suffix in {".html", ".txt", ".svg", ".xml"}:
                found.extend(_from_template(template, root))
    return found


def path(root: Path, language: str) -> Path:
    """Return where the catalogue of a language lies."""
    return root / "locale" / language / "LC_MESSAGES" / "django.po"


def read(root: Path, language: str) -> Catalog:
    """Return the catalogue of a language, empty when there is none yet."""
    file = path(root, language)
    if not file.exists():
        return _empty(language)
    with file.open("rb") as stream:
        return pofile.read_po(stream, locale=LANGUAGES[language])


def update(root: Path, language: str) -> Catalog:
    """Bring a catalogue in step with the sources and write it; translations that are there stay.

    The English one says what the sources say; another language keeps an empty text until somebody writes it.
    """
    old = read(root, language)
    new = _empty(language)
    for found in extract(root):
        known = old.get(_first(found.text), context=found.context)
        new.add(
            found.text,
            string=found.text if language == "en" else _translation(found, known, new),
            locations=[],
            flags=known.flags if known and language != "en" else (),
            context=found.context,
        )
    file = path(root, language)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        pofile.write_po(stream, new, width=110, sort_output=True, omit_header=False, ignore_obsolete=True)
    _drop_dates(file)
    return new


def _empty(language: str) -> Catalog:
    header = "# Messages of Berth, under its licence."
    return Catalog(
        locale=LANGUAGES[language],
        project="Berth",
        version="1",
        header_comment=header,
        language_team="Berth",
        last_translator="Berth",
        fuzzy=False,
        charset="utf-8",
    )


def compile_all(root: Path) -> list[Path]:
    """Compile the catalogues that changed; return what was written."""
    written = []
    for language in LANGUAGES:
        source = path(root, language)
        target = source.with_suffix(".mo")
        if not source.exists() or (target.exists() and target.stat().st_mtime >= source.stat().st_mtime):
            continue
        with target.open("wb") as stream:
            mofile.write_mo(stream, read(root, language))
        written.append(target)
    return written


def missing(root: Path, language: str) -> list[str]:
    """Return what the sources say and the catalogue does not translate."""
    catalogue = read(root, language)
    lacking = []
    for found in extract(root):
        message = catalogue.get(_first(found.text), context=found.context)
        if message is None or not _is_filled(message):
            lacking.append(f"{found.place}: {_first(found.text)}")
    return lacking


def _is_filled(message: Message) -> bool:
    strings = [message.string] if isinstance(message.string, str) else list(message.string or [""])
    return all(strings) and not message.fuzzy


def _first(text: str | tuple[str, str]) -> str:
    return text if isinstance(text, str) else text[0]


def _translation(found: Found, known: Message | None, catalogue: Catalog) -> str | tuple[str, ...]:
    plural = not isinstance(found.text, str)
    empty: str | tuple[str, ...] = ("",) * catalogue.num_plurals if plural else ""
    if known is None or known.string is None or isinstance(known.string, str) == plural:
        return empty
    return known.string if isinstance(known.string, str) else tuple(known.string)


def _drop_dates(file: Path) -> None:
    """Dates in a header change with every run and say nothing."""
    lines = file.read_text().splitlines(keepends=True)
    dated = re.compile(r'^"(POT-Creation-Date|PO-Revision-Date|Generated-By|Report-Msgid-Bugs-To):')
    file.write_text("".join(line for line in lines if not dated.match(line)))


def _from_python(file: Path, root: Path) -> Iterator[Found]:
    place = str(file.relative_to(root))
    for line, text, _comments, context in extract_from_file("python", str(file), keywords=KEYWORDS):
        words = text if isinstance(text, str) else (text[0], text[1])
        yield Found(words, context or None, f"{place}:{line}")


TRANSLATE = re.compile(r"""^(?:translate|trans)\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(.*)$""", re.DOTALL)
CONTEXT = re.compile(r"""\bcontext\s+("[^"]*"|'[^']*')""")
FILTERED = re.compile(r"""\b_\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*\)""")


def _from_template(file: Path, root: Path) -> Iterator[Found]:
    place = str(file.relative_to(root))
    block: _Block | None = None
    for token in Lexer(file.read_text()).tokenize():
        at = f"{place}:{token.lineno}"
        words = token.contents.split()
        if block is not None:
            if token.token_type == TokenType.BLOCK and words[0] in {"endblocktranslate", "endblocktrans"}:
                yield block.found()
                block = None
            else:
                block.take(token.token_type, token.contents)
        elif token.token_type == TokenType.BLOCK and words[0] in {"blocktranslate", "blocktrans"}:
            block = _Block(at, "trimmed" in words, _context(token.contents))
        elif token.token_type == TokenType.BLOCK and (match := TRANSLATE.match(token.contents)):
            yield Found(_unquote(match[1]), _context(match[2]), at)
        elif token.token_type in {TokenType.BLOCK, TokenType.VAR}:
            for literal in FILTERED.findall(token.contents):
                yield Found(_unquote(literal), None, at)


class _Block:
    """The text between blocktranslate and its end, in the form that Django looks up."""

    def __init__(self, place: str, trimmed: bool, context: str | None) -> None:
        self.place = place
        self.trimmed = trimmed
        self.context = context
        self.parts: list[list[str]] = [[]]

    def take(self, kind: TokenType, contents: str) -> None:
        if kind == TokenType.TEXT:
            self.parts[-1].append(contents.replace("%", "%%"))
        elif kind == TokenType.VAR:
            self.parts[-1].append(f"%({contents})s")
        elif kind == TokenType.BLOCK and contents.strip() == "plural":
            self.parts.append([])

    def found(self) -> Found:
        texts = ["".join(part) for part in self.parts]
        if self.trimmed:
            texts = [trim_whitespace(text) for text in texts]
        words: str | tuple[str, str] = texts[0] if len(texts) == 1 else (texts[0], texts[1])
        return Found(words, self.context, self.place)


def _context(text: str) -> str | None:
    match = CONTEXT.search(text)
    return match[1][1:-1] if match else None


def _unquote(literal: str) -> str:
    # As Django looks it up: escapes resolved, per cent signs of template literals doubled.
    return re.sub(r"\\(.)", r"\1", literal[1:-1]).replace("%", "%%")
