"""TLS contexts from PEM in memory; a key touches the disk for the moment that OpenSSL needs to read it."""

import os
import ssl
import tempfile

from k8s.cluster.access import Access, Unusable


def context(access: Access) -> ssl.SSLContext | None:
    """Return the context for an https server, None for http; raises Unusable for PEM that is none."""
    if not access.server.startswith("https://"):
        return None
    try:
        made = ssl.create_default_context(cadata=access.ca)
        if access.certificate and access.key:
            _load_pair(made, access.certificate, access.key)
    except (ssl.SSLError, ValueError) as error:
        raise Unusable("The certificates of the kubeconfig cannot be read.") from error
    return made


def _load_pair(made: ssl.SSLContext, certificate: str, key: str) -> None:
    handle, path = tempfile.mkstemp()  # readable by this user only
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f"{certificate}\n{key}\n")
        made.load_cert_chain(path)
    finally:
        os.unlink(path)
