"""Certificates for tests: an authority, and files in PEM that it vouches for."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme

AUTHORITY = trustme.CA()


def write_certificate(folder: Path, *names: str, authority: trustme.CA = AUTHORITY) -> None:
    """Write ``cert.pem``, ``key.pem`` and ``ca.pem``, each whole at once, as a mounted Secret changes."""
    issued = authority.issue_cert(*(names or ("127.0.0.1", "localhost")))
    for name, octets in (
        ("key.pem", issued.private_key_pem.bytes()),
        ("ca.pem", AUTHORITY.cert_pem.bytes()),
        ("cert.pem", b"".join(each.bytes() for each in issued.cert_chain_pems)),
    ):
        made = folder / f".{name}"
        made.write_bytes(octets)
        made.replace(folder / name)


def server_context(*names: str, authority: trustme.CA = AUTHORITY, clients: trustme.CA | None = None) -> ssl.SSLContext:
    """What a server with a certificate for ``names`` takes connections with; of those whom ``clients`` vouch for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("127.0.0.1", "localhost"))).configure_cert(context)
    if clients is not None:
        clients.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def client_context(trusting: bool = True) -> ssl.SSLContext:
    """What a client that trusts the authority, or only the system's, connects with."""
    context = ssl.create_default_context()
    if trusting:
        AUTHORITY.configure_trust(context)
    return context
