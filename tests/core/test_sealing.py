"""Sealing: what was sealed comes back in its own place only, and keys can be rotated."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import sealing
from core.sealing import SealBroken

OLD, NEW = b"o" * 32, b"n" * 32


@given(st.binary(max_size=500), st.text(max_size=40, alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_is_sealed_comes_back(plain: bytes, context: str) -> None:
    sealed = sealing.seal(plain, context=context)
    assert sealing.unseal(sealed, context=context) == plain
    assert sealing.seal(plain, context=context) != sealed
    assert len(plain) < 8 or plain not in sealed.encode()


def test_another_place_cannot_open_it() -> None:
    sealed = sealing.seal(b"s3cret", context="secret:1")
    with pytest.raises(SealBroken, match="belongs elsewhere"):
        sealing.unseal(sealed, context="secret:2")


def test_every_changed_byte_is_noticed() -> None:
    key_id, _, body = sealing.seal(b"s3cret", context="x").partition(":")
    raw = base64.b64decode(body)
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        with pytest.raises(SealBroken):
            sealing.unseal(f"{key_id}:{base64.b64encode(changed).decode()}", context="x")


@pytest.mark.parametrize("text", ["", ":", "x", "k:", "k:AAAA", "k:no base64!", "k:é", "other:AAAA"])
def test_what_was_never_sealed_is_refused(text: str, settings: Any) -> None:
    settings.SEALING_KEYS = {"k": NEW}
    with pytest.raises(SealBroken):
        sealing.unseal(text, context="x")


def test_keys_rotate(settings: Any) -> None:
    settings.SEALING_KEYS = {"old": OLD}
    sealed = sealing.seal(b"s3cret", context="x")
    settings.SEALING_KEYS = {"new": NEW, "old": OLD}
    assert sealing.unseal(sealed, context="x") == b"s3cret"
    assert sealing.seal(b"s3cret", context="x").startswith("new:")
    settings.SEALING_KEYS = {"new": NEW}
    with pytest.raises(SealBroken, match="no key 'old'"):
        sealing.unseal(sealed, context="x")
