"""tls: the certificate with which a ``tls://`` or ``https://`` server block answers.

Syntax::

    tls CERT KEY [CA] {
        client_auth nocert|request|require|verify_if_given|require_and_verify
    }

CERT, KEY and CA are files in PEM, looked for beside the Corefile. They are read again when they have changed; while
they cannot be used, those before stay in force. TLS is 1.2 or later. ``client_auth`` says whether clients must show a
certificate of CA's: a certificate that nobody checks would prove nothing, so ``request`` means ``verify_if_given`` and
``require`` means ``require_and_verify``. Without it no client is asked for one.

Example::

    tls://.:1853 {
        tls cert.pem key.pem
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Shape
from kubedns.corefile.values import Choice
from kubedns.observe.metrics import Cell
from kubedns.observe.rows import CERTIFICATE_FAILURES
from kubedns.plugins.plugin import Context, Plugin
from kubedns.zones.files import WatchedFile, as_it_is

_LOOK_SECONDS = 5.0
_PROTOCOLS = ["h2", "http/1.1", "dot"]
"""What may follow the handshake (RFC 7301): whichever of them the block speaks, its clients offer."""
_REMEDY = "name a certificate with its chain, and the key that belongs to it, in PEM"
_log = logging.getLogger("plugin/tls")


class ClientAuth(Enum):
    """What clients must show."""

    NOCERT = "nocert"
    REQUEST = "request"
    REQUIRE = "require"
    VERIFY_IF_GIVEN = "verify_if_given"
    REQUIRE_AND_VERIFY = "require_and_verify"


_MODES = {
    ClientAuth.NOCERT: ssl.CERT_NONE,
    ClientAuth.REQUEST: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRE: ssl.CERT_REQUIRED,
    ClientAuth.VERIFY_IF_GIVEN: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRE_AND_VERIFY: ssl.CERT_REQUIRED,
}


class FileWords(Shape[tuple[Word, ...]]):
    """``CERT KEY [CA]``."""

    syntax = "CERT KEY [CA]"

    def read(self, line: Directive) -> tuple[Word, ...]:
        """The two or three files."""
        return tuple(self.words(line, 2, 3))


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """tls CERT KEY [CA] { ... }: the certificate of a server block."""

    files: tuple[Word, ...] = arguments(FileWords(), help="certificate, key, and who vouches for clients")
    client_auth: ClientAuth = option(
        Choice(ClientAuth), default=ClientAuth.NOCERT, help="what clients must show; the default is nothing"
    )


class Tls:
    """Keeps what connections are taken with at the newest files that can be used."""

    word = "tls"

    def __init__(self, files: Sequence[Path], client_auth: ClientAuth, failures: Cell) -> None:
        self._files = files
        self._client_auth = client_auth
        self._failures = failures
        self._newest = self._read()
        self._watched = [WatchedFile(path, as_it_is, self._changed) for path in files]
        for file in self._watched:
            file.look()

    def context(self) -> ssl.SSLContext:
        """What the next connection is taken with."""
        return self._newest

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Look at the files from now on."""
        for file in self._watched:
            file.follow(_LOOK_SECONDS)

    def close(self) -> None:
        """Look at them no more."""
        for file in self._watched:
            file.close()

    def _changed(self, octets: bytes | None) -> None:
        try:
            self._newest = self._read()
        except OSError as error:
            self._failures.add()
            _log.error("%s: %s; the certificate before stays in force", self._files[0], _reason(error))

    def _read(self) -> ssl.SSLContext:
        """A context with the files as they are.

        Raises:
            OSError: they cannot be read, or do not belong together.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(_PROTOCOLS)
        context.load_cert_chain(self._files[0], self._files[1])
        if len(self._files) > 2:
            context.load_verify_locations(self._files[2])
        context.verify_mode = _MODES[self._client_auth]
        return context


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def make(options: Options, context: Context) -> Tls:
    """The plugin.

    Raises:
        ConfigurationError: the files cannot be read, or do not belong together.
    """
    words = options.files
    files = [context.folder / word.text for word in words]
    if options.client_auth is not ClientAuth.NOCERT and len(files) < 3:
        raise words[0].fault(f"tls: client_auth {options.client_auth.value} needs a CA", "write `tls CERT KEY CA`")
    for word, path in zip(words, files, strict=True):
        if not path.is_file():
            raise word.fault(f"tls: no file {word.text}", _REMEDY)
    failures = context.metrics.cell(CERTIFICATE_FAILURES, words[0].text)
    try:
        return Tls(files, options.client_auth, failures)
    except OSError as error:
        shown = ", ".join(word.text for word in words)
        raise words[0].fault(f"tls: {shown}: {_reason(error)}", _REMEDY) from error
