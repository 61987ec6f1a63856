"""A small OpenID provider on loopback: discovery, code for token with a signed identity, user info."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "berth-tests", "not-a-secret"


class Provider:
    """Says who signs in: ``claims`` are those of the next person."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.claims: dict[str, Any] = {"sub": "1", "email": "sso@berth.example", "email_verified": True}

    @property
    def app(self) -> dict[str, Any]:
        """The application as the settings name it."""
        return {
            "provider_id": "sso",
            "name": "Company",
            "client_id": CLIENT_ID,
            "secret": CLIENT_SECRET,
            "settings": {"server_url": self.address},
        }

    def document(self, path: str, form: dict[str, list[str]]) -> dict[str, Any] | None:
        """Return the answer to a call; None when there is none."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token",
                "userinfo_endpoint": f"{self.address}/userinfo",
                "jwks_uri": f"{self.address}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": "k", "alg": "RS256", "use": "sig"}]}
        if path == "/userinfo":
            return self.claims
        if path == "/token" and form.get("code") == ["good"]:
            now = int(time.time())
            body = {**self.claims, "iss": self.address, "aud": CLIENT_ID, "iat": now, "exp": now + 60}
            identity = jwt.encode(body, self.key, algorithm="RS256", headers={"kid": "k"})
            return {"access_token": "a", "token_type": "Bearer", "id_token": identity}
        return None


@contextmanager
def running() -> Iterator[Provider]:
    """Serve a provider while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self._answer(parse_qs(self.rfile.read(length).decode()))

        def _answer(self, form: dict[str, list[str]]) -> None:
            found = provider.document(self.path.partition("?")[0], form)
            body = json.dumps(found or {"error": "invalid_grant"}).encode()
            self.send_response(200 if found else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
