"""A kubeconfig is a stranger's text: what is refused, what is warned of, and what of it is kept."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from k8s import kubeconfig

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def certificate(*, begins: datetime, ends: datetime) -> tuple[str, str]:
    """Return a self-signed certificate and its key as a kubeconfig holds them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "berth")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    return base64.b64encode(public).decode(), base64.b64encode(private).decode()


CA, KEY = certificate(begins=NOW - timedelta(days=1), ends=NOW + timedelta(days=365))


def config(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a good kubeconfig with some fields changed; None takes one away."""
    server = {"server": "https://k8s.example.com:6443", "certificate-authority-data": CA} | (cluster or {})
    who = {"token": "secret-token"} | (user or {})
    return {
        "current-context": "main",
        "contexts": [{"name": "main", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {k: v for k, v in server.items() if v is not None}}],
        "users": [{"name": "u", "user": {k: v for k, v in who.items() if v is not None}}],
    }


def codes(text: str | dict[str, Any], *, production: bool = True) -> list[str]:
    given_text = text if isinstance(text, str) else yaml.safe_dump(text)
    return [one.code for one in kubeconfig.check(given_text, now=NOW, production=production).findings]


def test_a_good_one_is_kept_without_what_we_do_not_use() -> None:
    given_config = config(cluster={"extensions": [{"name": "x"}]})
    given_config["users"].append({"name": "other", "user": {"token": "other-token"}})
    found = kubeconfig.check(yaml.safe_dump(given_config), now=NOW, production=True)
    assert (found.findings, found.server) == ((), "https://k8s.example.com:6443")
    assert found.config is not None
    assert "other-token" not in str(found.config)
    assert "extensions" not in str(found.config)
    assert kubeconfig.check(yaml.safe_dump(found.config), now=NOW, production=True).config == found.config
    assert "secret-token" not in repr(found)


@pytest.mark.parametrize(
    ("cluster", "user", "code"),
    [
        ({"certificate-authority": "/etc/ca.crt"}, {}, "file_reference"),
        ({"insecure-skip-tls-verify": True}, {}, "no_tls_verify"),
        ({"proxy-url": "http://10.0.0.1:3128"}, {}, "proxy"),
        ({"server": None}, {}, "no_server"),
        ({"server": "k8s.example.com"}, {}, "no_server"),
        ({"server": "ftp://k8s.example.com"}, {}, "no_server"),
        ({"server": "https://a:b@k8s.example.com"}, {}, "no_server"),
        ({"server": "https://[::1"}, {}, "no_server"),
        ({"server": "https://k8s.example.com:99999"}, {}, "no_server"),
        ({"server": 7}, {}, "no_server"),
        ({"server": "http://k8s.example.com"}, {}, "no_tls"),
        ({"certificate-authority-data": "no base64"}, {}, "unreadable"),
        ({"certificate-authority-data": base64.b64encode(b"text").decode()}, {}, "unreadable"),
        ({}, {"exec": {"command": "sh"}}, "exec_plugin"),
        ({}, {"auth-provider": {"name": "gcp"}}, "auth_provider"),
        ({}, {"tokenFile": "/etc/passwd"}, "file_reference"),
        ({}, {"client-certificate": "/a", "client-key": "/b"}, "file_reference"),
        ({}, {"as": "system:admin"}, "impersonation"),
        ({}, {"username": "a", "password": "b"}, "basic_auth"),
        ({}, {"token": None}, "no_credentials"),
        ({}, {"token": "two\nlines"}, "unreadable"),
        ({}, {"token": None, "client-certificate-data": CA}, "half_certificate"),
        ({}, {"client-certificate-data": "?", "client-key-data": KEY}, "unreadable"),
        ({}, {"client-certificate-data": CA, "client-key-data": "?"}, "unreadable"),
    ],
)
def test_what_is_refused(cluster: dict[str, Any], user: dict[str, Any], code: str) -> None:
    text = yaml.safe_dump(config(cluster, user))
    found = kubeconfig.check(text, now=NOW, production=True)
    assert code in [one.code for one in found.findings]
    assert found.config is None


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "a.localhost", "[::1]", "0.0.0.0", "169.254.169.254", "[fe80::1]"),
        *("[::ffff:127.0.0.1]", "metadata.google.internal"),
    ],
)
def test_addresses_of_this_machine_are_for_trying_out_only(host: str) -> None:
    given_config = config(cluster={"server": f"https://{host}:6443"})
    assert codes(given_config) == ["local_server"]
    assert codes(given_config, production=False) == []


def test_a_private_address_is_a_site_like_any_other() -> None:
    assert codes(config(cluster={"server": "https://10.3.0.7:6443"})) == []


@pytest.mark.parametrize(
    ("begins", "ends", "wanted"),
    [(-400, -1, ["expired"]), (-400, 5, ["expires_soon"]), (1, 400, ["not_yet_valid"]), (-1, 400, [])],
)
def test_the_life_of_a_client_certificate(begins: int, ends: int, wanted: list[str]) -> None:
    mine, key = certificate(begins=NOW + timedelta(days=begins), ends=NOW + timedelta(days=ends))
    user = {"token": None, "client-certificate-data": mine, "client-key-data": key}
    assert codes(config(user=user)) == wanted


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("a: [", "not_yaml"),
        ("!!python/object/apply:os.system ['true']", "not_yaml"),
        ("a: &a [1]\nb: *a", "not_yaml"),
        ("[" * 5000, "not_yaml"),
        ("a: !!bool x", "not_yaml"),
        ("a: !!int ''", "not_yaml"),
        ("a: !!timestamp x", "not_yaml"),
        ("- 1", "not_a_kubeconfig"),
        ("apiVersion: v1", "no_current_context"),
        ("current-context: main", "missing"),
        ("current-context: main\ncontexts: 3", "missing"),
        ("x" * (kubeconfig.LONGEST + 1), "too_long"),
    ],
)
def test_what_is_no_kubeconfig(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "2852039166",
        "[64:ff9b::7f00:1]",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "metadata",
        "１２７.0.0.1",
    ],
)
def test_other_ways_to_write_our_own_addresses(host: str) -> None:
    assert codes(config(cluster={"server": f"https://{host}:6443"})) == ["local_server"]


def test_a_key_that_cannot_sign_in_is_refused_before_anything_asks_for_a_passphrase() -> None:
    mine, key = certificate(begins=NOW - timedelta(days=1), ends=NOW + timedelta(days=90))
    locked = serialization.load_pem_private_key(base64.b64decode(key), password=None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"x"),
    )
    odd = {
        base64.b64encode(locked).decode(): ["unreadable"],
        base64.b64encode(b"-----BEGIN nothing").decode(): ["unreadable"],
        KEY: ["half_certificate"],
        key: [],
    }
    for private, wanted in odd.items():
        user = {"token": None, "client-certificate-data": mine, "client-key-data": private}
        assert codes(config(user=user)) == wanted


def test_two_of_one_name_are_ambiguous() -> None:
    given_config = config()
    given_config["users"].append({"name": "u", "user": {"token": "another"}})
    assert codes(given_config) == ["ambiguous"]


def test_a_missing_authority_is_a_warning() -> None:
    found = kubeconfig.check(
        yaml.safe_dump(config(cluster={"certificate-authority-data": None})), now=NOW, production=True
    )
    assert [(one.code, one.severity) for one in found.findings] == [("public_authority", "warning")]
    assert found.config is not None


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    found = kubeconfig.check(text, now=NOW, production=True)
    assert found.config is None
    assert found.findings


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(field=st.sampled_from(["server", "certificate-authority-data", "proxy-url"]), value=_JSON)
def test_no_value_of_a_cluster_is_too_odd(field: str, value: Any) -> None:
    assert isinstance(codes(config(cluster={field: value})), list)


@given(field=st.sampled_from(["token", "client-certificate-data", "client-key-data", "exec"]), value=_JSON)
def test_no_value_of_a_user_is_too_odd(field: str, value: Any) -> None:
    assert isinstance(codes(config(user={field: value})), list)
