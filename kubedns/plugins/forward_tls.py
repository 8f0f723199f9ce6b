"""What ``tls`` and ``tls_servername`` of ``forward`` mean for its upstreams."""

from __future__ import annotations

import ssl
from dataclasses import replace
from pathlib import Path

from kubedns.errors import ConfigurationError
from kubedns.plugins.forward_reading import Route
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.tls import TlsFiles, client_context


def named(route: Route, name: str) -> Route:
    """The route, its upstreams over TLS each with the ``name`` that its certificate must have, if there is one.

    Raises:
        ConfigurationError: an upstream has a name of its own.
    """
    if not name:
        return route
    if any(address.server_name for address in route.upstreams):
        raise ConfigurationError(
            "forward: tls_servername, and a name of its own after %",
            remedy=f"keep one of them at {route.place}",
        )
    places = (
        replace(each, server_name=name) if isinstance(each, UpstreamAddress) and each.over_tls else each
        for each in route.places
    )
    return replace(route, places=tuple(places))


def tls_context(written: TlsFiles, folder: Path, route: Route) -> ssl.SSLContext:
    """What connections are made with, of files below ``folder``.

    Raises:
        ConfigurationError: the files cannot be used.
    """
    paths = (written.authority, written.certificate, written.key)
    try:
        return client_context(TlsFiles(*(None if path is None else folder / path for path in paths)))
    except OSError as error:
        shown = ", ".join(str(path) for path in paths if path is not None)
        raise ConfigurationError(
            f"forward tls: {shown}: {error.strerror or error}",
            location=route.location,
            remedy="name files in PEM that can be read, the key being that of the certificate",
        ) from error
