"""A real kube-apiserver on etcd, from the folder that `KUBEBUILDER_ASSETS` names, on free loopback ports."""

import base64
import datetime
import ipaddress
import os
import secrets
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import urllib3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from tests.support import wait

VARIABLE = "KUBEBUILDER_ASSETS"
SKIPPED = f"{VARIABLE} names no folder with etcd and kube-apiserver: nothing ran on a real API server"


def assets() -> Path | None:
    """Return the folder with both binaries, None without it."""
    folder = Path(os.environ.get(VARIABLE) or "/nonexistent")
    there = all(os.access(folder / name, os.X_OK) for name in ("etcd", "kube-apiserver"))
    return folder if there else None


class ApiServer:
    """Two processes; no controllers, no nodes. The whole watch cache is off, so that versions can expire."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.folder, self.token = folder, secrets.token_hex(16)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.certificate, self.key = certify(folder)
        (folder / "tokens.csv").write_text(f'{self.token},berth,berth,"system:masters"\n')
        client, peer, serving = free_port(), free_port(), free_port()
        self.etcd, self.url = f"http://127.0.0.1:{client}", f"https://127.0.0.1:{serving}"
        try:
            self._start(binaries / "etcd", *self._etcd(peer))
            self._start(binaries / "kube-apiserver", *self._apiserver(serving))
            self._http = urllib3.PoolManager(retries=False, ssl_context=self.context())
            wait.until(self._ready, 60, pause=0.2)
        except BaseException:
            self.close()
            raise

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def expire(self, version: str) -> None:
        """Have etcd forget what was before a version."""
        body = f'{{"revision": "{version}", "physical": true}}'
        answer = self._http.request("POST", f"{self.etcd}/v3/kv/compaction", body=body, timeout=10)
        assert answer.status == 200, answer.data

    def close(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if hasattr(self, "_http"):
            self._http.clear()

    def _etcd(self, peer: int) -> list[str]:
        here = f"http://127.0.0.1:{peer}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self.etcd}",
            f"--advertise-client-urls={self.etcd}",
            f"--listen-peer-urls={here}",
            f"--initial-advertise-peer-urls={here}",
            f"--initial-cluster=default={here}",
        ]

    def _apiserver(self, port: int) -> list[str]:
        return [
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            "--endpoint-reconciler-type=none",
            f"--etcd-servers={self.etcd}",
            "--authorization-mode=RBAC",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--tls-cert-file={self.certificate}",
            f"--tls-private-key-file={self.key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.key}",
            f"--service-account-signing-key-file={self.key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--kubelet-preferred-address-types=InternalIP",
            "--watch-cache=false",
            f"--cert-dir={self.folder / 'certificates'}",
        ]

    def _start(self, binary: Path, *arguments: str) -> None:
        proxies = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
        environment = {k: v for k, v in os.environ.items() if k.lower() not in proxies}
        with (self.folder / f"{binary.name}.log").open("wb") as log:
            made = subprocess.Popen([str(binary), *arguments], stdout=log, stderr=log, env=environment)
        self._processes.append(made)

    def _ready(self) -> bool:
        for process in self._processes:
            if process.poll() is not None:
                logs = [path.read_text()[-2000:] for path in self.folder.glob("*.log")]
                raise RuntimeError("a server ended at its start:\n" + "\n".join(logs))
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            answer = self._http.request("GET", f"{self.url}/readyz", headers=headers, timeout=2)
        except urllib3.exceptions.HTTPError:
            return False
        return bool(answer.status == 200)

    @property
    def kubeconfig(self) -> dict[str, Any]:
        ca = base64.b64encode(self.certificate.read_bytes()).decode()
        return {
            "current-context": "real",
            "contexts": [{"name": "real", "context": {"cluster": "real", "user": "real"}}],
            "clusters": [{"name": "real", "cluster": {"server": self.url, "certificate-authority-data": ca}}],
            "users": [{"name": "real", "user": {"token": self.token}}],
        }


def certify(folder: Path) -> tuple[Path, Path]:
    """Write a self-signed certificate for 127.0.0.1 and its key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test API server")])
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.KeyUsage(True, False, True, False, False, True, True, False, False)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .add_extension(usage, True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .sign(key, hashes.SHA256())
    )
    at, its_key = folder / "server.crt", folder / "server.key"
    at.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    its_key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    its_key.chmod(0o600)
    return at, its_key


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
