"""What stands after ``forward`` and in its ``tls``, ``next`` and ``health_check`` lines."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.labels import read_label
from kubedns.corefile.shapes import OneWord, Shape, unfit
from kubedns.corefile.suggestions import nearest
from kubedns.corefile.values import Duration
from kubedns.dns.answer import Rcode
from kubedns.dns.names import ROOT, BadNameError, Name, parse_name
from kubedns.errors import Location
from kubedns.upstream.exchange import UpstreamAddress
from kubedns.upstream.resolvconf import name_servers
from kubedns.upstream.tls import TlsFiles

MAX_UPSTREAMS = 15
_REMEDY = "write it like 192.0.2.1, 192.0.2.1:53, [2001:db8::1]:53 or tls://192.0.2.1"
_PORT, _TLS_PORT = "53", "853"
_Places = tuple[UpstreamAddress | Path, ...]
_Named = Mapping[Path, tuple[UpstreamAddress, ...]]


@dataclass(frozen=True, slots=True)
class Route:
    """Names at or below ``zone`` are asked at ``places``: addresses, and files that name some.

    ``named``: those that each file named when it was read. ``location``: the line that says so.
    """

    zone: Name
    places: _Places
    named: _Named
    location: Location | None = None

    @property
    def upstreams(self) -> tuple[UpstreamAddress, ...]:
        """All that are asked, each once."""
        return upstreams_of(self.places, self.named)

    @property
    def place(self) -> str:
        """The line, for people."""
        return str(self.location or "")


class RouteWords(Shape[Route]):
    """``FROM TO...``."""

    syntax = "FROM TO..."

    def read(self, line: Directive) -> Route:
        """The zone and its upstreams, those of files among them."""
        words = self.words(line, 2)
        places = tuple(_place(word) for word in words[1:])
        named = {
            place: _named(word, place) for word, place in zip(words[1:], places, strict=True) if isinstance(place, Path)
        }
        count = len(_all(places, named))
        if count > MAX_UPSTREAMS:
            raise line.word.fault(f"{count} upstreams", f"at most {MAX_UPSTREAMS} are asked")
        zone = read_label(words[0])[0].zone
        return Route(zone, places, named, line.word.location)


def upstreams_of(places: _Places, named: _Named) -> tuple[UpstreamAddress, ...]:
    """The addresses among ``places``, and those that files have ``named``, in order, each once; 15 at most."""
    return _all(places, named)[:MAX_UPSTREAMS]


def _all(places: _Places, named: _Named) -> tuple[UpstreamAddress, ...]:
    found = (named[place] if isinstance(place, Path) else (place,) for place in places)
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _place(word: Word) -> UpstreamAddress | Path:
    scheme, separator, rest = word.text.partition("://")
    text = rest if separator else word.text
    if separator and scheme not in ("dns", "tls"):
        raise unfit(word, "a transport that is not spoken to upstreams", "use an address, dns:// or tls://")
    over_tls = scheme == "tls" and bool(separator)
    path = Path(text)
    if not separator and path.is_file():
        return path
    host, name, port = split_address(text, over_tls)
    try:
        return UpstreamAddress(str(ipaddress.ip_address(host)), int(port), over_tls, name)
    except ValueError as error:
        raise unfit(word, "no address and no file", _REMEDY) from error


def _named(word: Word, path: Path) -> tuple[UpstreamAddress, ...]:
    try:
        found = name_servers(path.read_text(errors="replace"))
    except OSError as error:
        raise unfit(word, f"a file that cannot be read: {error.strerror}") from error
    if not found:
        raise unfit(word, "a file without nameserver lines")
    return found


def split_address(text: str, over_tls: bool) -> tuple[str, str, str]:
    """Host, certificate's name and port of ``1.2.3.4%name:853``, ``::1`` and ``[::1]:53``; the name is of TLS alone."""
    default = _TLS_PORT if over_tls else _PORT
    if over_tls and "%" in text:
        host, _, rest = text.partition("%")
        name, _, port = rest.partition(":")
        return host.strip("[]"), name, port or default
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, "", rest.removeprefix(":") or default
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        return host, "", port
    return text, "", default


class TlsWords(Shape[TlsFiles]):
    """``[CA]``, ``CERT KEY`` or ``CERT KEY CA``."""

    syntax = "[[CERT KEY] CA]"

    def read(self, line: Directive) -> TlsFiles:
        """The files, as written."""
        paths = [Path(word.text) for word in self.words(line, 0, 3)]
        authority = paths.pop() if len(paths) % 2 else None
        return TlsFiles(authority, *paths)


class RcodeWord(OneWord[Rcode]):
    """The name of a response code but NOERROR."""

    syntax = "RCODE"

    def convert(self, word: Word) -> Rcode:
        """The code."""
        name = word.text.upper()
        if name == Rcode.NOERROR.name:
            raise unfit(word, "an answer, after which nobody else is asked", "name failures, such as SERVFAIL")
        if name not in Rcode.__members__:
            guess = nearest(name, [code.name.lower() for code in Rcode])
            raise unfit(word, "no response code", f"did you mean {guess.upper()}?" if guess else "such as SERVFAIL")
        return Rcode[name]


@dataclass(frozen=True, slots=True)
class Probing:
    """Upstreams that failed are asked every ``seconds`` for ``domain``, with RD if ``recursion_desired``."""

    seconds: float = 0.5
    recursion_desired: bool = True
    domain: Name = ROOT


class ProbingWords(Shape[Probing]):
    """``DURATION [no_rec] [domain NAME]``."""

    syntax = "DURATION [no_rec] [domain NAME]"

    def read(self, line: Directive) -> Probing:
        """How upstreams are probed."""
        first, *rest = self.words(line, 1, 4)
        seconds = Duration(at_least=0.001).convert(first)
        recursion_desired, domain = True, ROOT
        while rest:
            word = rest.pop(0)
            if word.text == "no_rec":
                recursion_desired = False
            elif word.text == "domain" and rest:
                domain = _name(rest.pop(0))
            else:
                raise unfit(word, "not known here", f"write `{line.word.text} {self.syntax}`")
        return Probing(seconds, recursion_desired, domain)


def _name(word: Word) -> Name:
    try:
        return parse_name(word.text)
    except BadNameError as error:
        raise unfit(word, f"no name: {error}") from error
