"""Both languages say everything that the sources say."""

from pathlib import Path

from portal import catalogues


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
    assert catalogues.read(tmp_path, "zh_Hans").get("Pay now").string == "立即支付"
