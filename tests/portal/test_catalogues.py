"""Both languages say everything that the sources say."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from portal import catalogues

ROOT = Path(__file__).resolve().parents[2]
HAN = re.compile(r"[\u4e00-\u9fff]")
PLACEHOLDER = re.compile(r"%\([^)]+\)[sd]|\{[a-z_]*\}|%s")
SAME = {"API", "Git", "GPU", "GPUs", "Id", "NVMe", "REST API"}  # names and units, alike in both languages


def write(root: Path, name: str, text: str) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_messages_are_found_where_django_looks_them_up(tmp_path: Path) -> None:
    write(tmp_path, "billing/a.py", 'x = _("Pay now")\ny = ngettext("%(n)s node", "%(n)s nodes", n)\n')
    write(
        tmp_path,
        "templates/a.html",
        '{% translate "50% off" %}{% translate "May" context "month" %}{{ x|default:_("none") }}'
        "{% blocktranslate trimmed count n=n %}\n  {{ n }} hour\n{% plural %}\n  {{ n }} hours\n"
        "{% endblocktranslate %}",
    )
    found = {(f.text, f.context) for f in catalogues.extract(tmp_path)}
    assert found == {
        ("Pay now", None),
        (("%(n)s node", "%(n)s nodes"), None),
        ("50%% off", None),
        ("May", "month"),
        ("none", None),
        (("%(n)s hour", "%(n)s hours"), None),
    }


def test_updating_keeps_what_is_translated_and_names_what_is_not(tmp_path: Path) -> None:
    write(tmp_path, "billing/a.py", 'x = _("Pay now")\n')
    catalogues.update(tmp_path, "zh_Hans")
    assert catalogues.missing(tmp_path, "zh_Hans") == ["billing/a.py:1: Pay now"]
    file = catalogues.path(tmp_path, "zh_Hans")
    file.write_text(
        file.read_text().replace('msgid "Pay now"\nmsgstr ""', 'msgid "Pay now"\nmsgstr "立即支付"')
    )
    write(tmp_path, "billing/b.py", 'x = _("Cancel")\n')
    catalogues.update(tmp_path, "zh_Hans")
    assert catalogues.missing(tmp_path, "zh_Hans") == ["billing/b.py:1: Cancel"]
    kept = catalogues.read(tmp_path, "zh_Hans").get("Pay now")
    assert kept is not None
    assert kept.string == "立即支付"


@pytest.mark.parametrize("language", sorted(catalogues.LANGUAGES))
def test_the_catalogue_is_complete(language: str) -> None:
    assert catalogues.missing(ROOT, language) == []


def test_chinese_is_chinese() -> None:
    odd = [
        text
        for sources, texts in chinese()
        for text in texts
        if re.search(r"[A-Za-z]{2}", PLACEHOLDER.sub("", sources[-1]))
        and sources[0] not in SAME
        and not HAN.search(text)
    ]
    assert odd == []


def test_placeholders_survive_translation() -> None:
    wrong = [
        text
        for sources, texts in chinese()
        for text in texts
        if set(PLACEHOLDER.findall(text)) != set(PLACEHOLDER.findall(sources[-1]))
    ]
    assert wrong == []


def chinese() -> list[tuple[list[str], list[str]]]:
    """Return every message and its Chinese, each as singular and plural or one text."""
    return [(_texts(row.id), _texts(row.string)) for row in catalogues.read(ROOT, "zh_Hans") if row.id]


def _texts(words: str | Sequence[str] | None) -> list[str]:
    return [words] if isinstance(words, str) else list(words or [])
