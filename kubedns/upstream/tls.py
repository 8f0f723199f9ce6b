"""TLS towards upstreams (RFC 7858): whom we trust, and who we say we are."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the ``authority`` that upstreams' certificates must come from, None for the system's.

    ``certificate`` and ``key``: what we show to upstreams that ask, if both are set.
    """

    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def client_context(files: TlsFiles) -> ssl.SSLContext:
    """What connections to upstreams are made with: TLS 1.2 or later, names checked.

    Raises:
        OSError: a file cannot be read, or holds something else (ssl.SSLError is an OSError).
    """
    context = ssl.create_default_context(cafile=None if files.authority is None else str(files.authority))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["dot"])
    if files.certificate is not None and files.key is not None:
        context.load_cert_chain(files.certificate, files.key)
    return context
