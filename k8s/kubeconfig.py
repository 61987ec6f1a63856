"""Is a kubeconfig fit to be kept by a server? Every fault at once, as a code with values; no words, no calls.

It is read as data of a stranger: only what stands in the text itself is used, nothing that it points to.
"""

import base64
import binascii
import ipaddress
import socket
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml
from cryptography import exceptions, x509
from cryptography.hazmat.primitives import serialization

LONGEST = 256 * 1024  # bytes
SOON = timedelta(days=14)
Severity = Literal["refused", "warning"]

# What would run, read or trust something outside of the text.
_CLUSTER_REFUSED = {
    "certificate-authority": "file_reference",
    "insecure-skip-tls-verify": "no_tls_verify",
    "proxy-url": "proxy",
}
# Metadata services outside of the link-local ranges, and names that hosts files and clouds give.
_SERVICES = {ipaddress.ip_address(one) for one in ("100.100.100.200", "168.63.129.16", "fd00:ec2::254")}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAMES = {
    "localhost",
    "ip6-localhost",
    "ip6-loopback",
    "metadata",
    "metadata.google.internal",
    "instance-data",
}
_USER_REFUSED = {
    "exec": "exec_plugin",
    "auth-provider": "auth_provider",
    "client-certificate": "file_reference",
    "client-key": "file_reference",
    "tokenFile": "file_reference",
    "as": "impersonation",
    "as-groups": "impersonation",
    "as-uid": "impersonation",
    "as-user-extra": "impersonation",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault; `values` fill its sentence."""

    code: str
    severity: Severity = "refused"
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found; `config` holds the current context alone and is None when it is refused."""

    config: Mapping[str, Any] | None = field(repr=False)
    server: str
    findings: tuple[Finding, ...]


def check(text: str, *, now: datetime, production: bool) -> Checked:
    """Read a kubeconfig (YAML or JSON).

    In production its server is no loopback and no link-local address, where metadata services are.
    """
    if not text.strip():
        return _refused("empty")
    if len(text.encode("utf-8", "replace")) > LONGEST:
        return _refused("too_long", most=str(LONGEST // 1024))
    try:
        loaded = yaml.load(text, Loader=_Plain)  # noqa: S506 (a safe loader without aliases)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        # PyYAML lets the errors of its converters out: `!!bool x`, `!!int ''`, `!!timestamp x`
        return _refused("not_yaml")
    if not isinstance(loaded, Mapping):
        return _refused("not_a_kubeconfig")
    parts = _current(loaded)
    if isinstance(parts, Finding):
        return Checked(None, "", (parts,))
    cluster, user = parts
    server = cluster.get("server")
    server = server if isinstance(server, str) else ""
    findings = (*_of_cluster(cluster, server, production), *_of_user(user, now))
    refused = any(one.severity == "refused" for one in findings)
    return Checked(None if refused else _alone(cluster, user), server, findings)


class _Plain(yaml.SafeLoader):
    """Plain data only: an alias can make a small text endlessly large."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def _refused(code: str, **values: str) -> Checked:
    return Checked(None, "", (Finding(code, values=values),))


def _current(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]] | Finding:
    name = config.get("current-context")
    if not isinstance(name, str) or not name:
        return Finding("no_current_context")
    context = _named(config, "contexts", "context", name)
    if isinstance(context, Finding):
        return context
    cluster = _named(config, "clusters", "cluster", context.get("cluster"))
    if isinstance(cluster, Finding):
        return cluster
    user = _named(config, "users", "user", context.get("user"))
    return user if isinstance(user, Finding) else (cluster, user)


def _named(config: Mapping[str, Any], group: str, kind: str, name: Any) -> Mapping[str, Any] | Finding:
    entries = config.get(group)
    entries = entries if isinstance(entries, list) else []
    found = [one for one in entries if isinstance(one, Mapping) and one.get("name") == name]
    if len(found) > 1:
        return Finding("ambiguous", values={"kind": kind})
    body = found[0].get(kind) if found else None
    if not isinstance(body, Mapping):
        return Finding("missing", values={"kind": kind})
    return body


def _of_cluster(cluster: Mapping[str, Any], server: str, production: bool) -> Iterator[Finding]:
    for key, code in _CLUSTER_REFUSED.items():
        if cluster.get(key):
            yield Finding(code, values={"field": key})
    try:
        url = urlsplit(server)
        host, port = url.hostname, url.port
    except ValueError:
        host, port, url = None, None, urlsplit("")
    if (
        not host
        or url.scheme not in {"https", "http"}
        or url.username
        or url.query
        or port == 0
        or not _clean(server)
    ):
        yield Finding("no_server")
        return
    if url.scheme == "http":
        yield Finding("no_tls", "refused" if production else "warning")
    if not isinstance(cluster.get("tls-server-name", ""), str):
        yield Finding("unreadable", values={"field": "tls-server-name"})
    if production and _is_ours(host):
        yield Finding("local_server", values={"host": host})
    if "certificate-authority-data" not in cluster and url.scheme == "https":
        yield Finding("public_authority", "warning")
    elif url.scheme == "https" and _certificates(cluster.get("certificate-authority-data")) is None:
        yield Finding("unreadable", values={"field": "certificate-authority-data"})


def _clean(server: str) -> bool:
    return server.isprintable() and "#" not in server and " " not in server


def _is_ours(host: str) -> bool:
    """Say whether a name or address leads to this machine, its network's own services or nowhere."""
    name = unicodedata.normalize("NFKC", host).lower().rstrip(".")
    if name in _NAMES or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and bool(
        address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
        or address in _SERVICES
    )


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address as a resolver does, with its short, octal and hexadecimal forms: 127.1, 0x7f000001."""
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(name))
        except (OSError, ValueError):
            return None
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return found.ipv4_mapped
        if found in _NAT64:
            return ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    return found


def _of_user(user: Mapping[str, Any], now: datetime) -> Iterator[Finding]:
    for key, code in _USER_REFUSED.items():
        if user.get(key):
            yield Finding(code, values={"field": key})
    if user.get("username") or user.get("password"):
        yield Finding("basic_auth")
    token = user.get("token")
    certificate, private = user.get("client-certificate-data"), user.get("client-key-data")
    if token is not None and not (isinstance(token, str) and token.strip() and token.isprintable()):
        yield Finding("unreadable", values={"field": "token"})
    if bool(certificate) != bool(private):
        yield Finding("half_certificate")
    elif certificate:
        yield from _of_certificate(certificate, private, now)
    elif not token:
        yield Finding("no_credentials")


def _of_certificate(certificate: Any, key: Any, now: datetime) -> Iterator[Finding]:
    public = _public(key)
    if public is None:
        yield Finding("unreadable", values={"field": "client-key-data"})
    chain = _certificates(certificate)
    if chain is None:
        yield Finding("unreadable", values={"field": "client-certificate-data"})
        return
    if public is not None and public != _spki(chain[0].public_key()):
        yield Finding("half_certificate")
    ends = min(one.not_valid_after_utc for one in chain)
    shown = {"date": ends.date().isoformat()}
    if ends <= now:
        yield Finding("expired", values=shown)
    elif ends - now <= SOON:
        yield Finding("expires_soon", "warning", shown)
    if max(one.not_valid_before_utc for one in chain) > now:
        yield Finding("not_yet_valid")


def _pem(encoded: Any) -> bytes | None:
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None
    return raw if raw.lstrip().startswith(b"-----BEGIN ") else None


def _public(encoded: Any) -> bytes | None:
    """Return the public half of a private key; None for one that is none or asks for a passphrase."""
    raw = _pem(encoded)
    if raw is None:
        return None
    try:
        return _spki(serialization.load_pem_private_key(raw, password=None).public_key())
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        return None


def _spki(key: Any) -> bytes:
    return bytes(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def _certificates(encoded: Any) -> list[x509.Certificate] | None:
    raw = _pem(encoded)
    try:
        return (x509.load_pem_x509_certificates(raw) or None) if raw is not None else None
    except ValueError:
        return None


def _alone(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig of the current context and of what we use; everything else is not kept."""
    cluster_keys = ("server", "certificate-authority-data", "tls-server-name")
    user_keys = ("token", "client-certificate-data", "client-key-data")
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "site",
        "contexts": [{"name": "site", "context": {"cluster": "site", "user": "site"}}],
        "clusters": [{"name": "site", "cluster": {k: cluster[k] for k in cluster_keys if cluster.get(k)}}],
        "users": [{"name": "site", "user": {k: user[k] for k in user_keys if user.get(k)}}],
    }
