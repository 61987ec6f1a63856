"""Secrets at rest: AES-256-GCM with key ids, so that two keys are valid while one replaces the other."""

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

NONCE_BYTES = 12


class SealBroken(Exception):
    """The text was not sealed with a key that we have, or was changed."""


def seal(plain: bytes, *, context: str) -> str:
    """Return ``keyid:base64(nonce + ciphertext)``; ``context`` binds it to its place (row and field)."""
    key_id, key = next(iter(settings.SEALING_KEYS.items()))
    nonce = os.urandom(NONCE_BYTES)
    body = AESGCM(key).encrypt(nonce, plain, context.encode())
    return f"{key_id}:{base64.b64encode(nonce + body).decode()}"


def unseal(sealed: str, *, context: str) -> bytes:
    """Return what :func:`seal` was given; raises :class:`SealBroken`."""
    key_id, _, body = sealed.partition(":")
    key = settings.SEALING_KEYS.get(key_id)
    if key is None:
        raise SealBroken(f"no key {key_id!r}")
    try:
        raw = base64.b64decode(body, validate=True)
        return AESGCM(key).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], context.encode())
    except (InvalidTag, ValueError) as error:
        raise SealBroken("the sealed text was changed or belongs elsewhere") from error
