"""Labels of server blocks: ``[SCHEME://]ZONE[:PORT]``; a CIDR stands for its reverse zones."""

from __future__ import annotations

import ipaddress

from kubedns.corefile.blocks import Scheme, ServerAddress, Word
from kubedns.corefile.suggestions import nearest
from kubedns.dns.names import BadNameError, Name, parse_name, reverse_zones
from kubedns.errors import ConfigurationError

MAX_PORT = 65535


def read_label(word: Word) -> tuple[ServerAddress, ...]:
    """The addresses that a label stands for: one, or one for each reverse zone of a network.

    A network that ends inside an octet (IPv4) or nibble (IPv6) has several reverse zones.

    Raises:
        ConfigurationError: an unknown scheme, no port, no zone, no network.
    """
    scheme, rest = _split_scheme(word)
    host, port = _split_port(word, rest)
    return tuple(ServerAddress(zone, scheme, port, word.location) for zone in _zones(word, host))


def _split_scheme(word: Word) -> tuple[Scheme, str]:
    text, found, rest = word.text.partition("://")
    if not found:
        return Scheme.DNS, word.text
    known = [scheme.value for scheme in Scheme]
    if text.lower() in known:
        return Scheme(text.lower()), rest
    guess = nearest(text, known)
    remedy = f"did you mean `{guess}://`?" if guess else f"schemes: {', '.join(known)}"
    raise word.fault(f"unknown scheme `{text}://` in label `{word.text}`", remedy)


def _split_port(word: Word, text: str) -> tuple[str, int | None]:
    """What follows the last colon is a port if it is a number; else it is part of an IPv6 network."""
    if is_address(text) and ":" in text:
        remedy = f"`bind {text}` listens there, `{text}/128` is its reverse zone"
        raise word.fault(f"label `{word.text}` is an address, not a zone", remedy)
    host, colon, port = text.rpartition(":")
    if not colon:
        return text, None
    if not port:
        raise word.fault(f"label `{word.text}` has no port after its colon", _port_remedy(word))
    if not port.isascii() or not port.isdigit():
        return text, None
    if len(port) > 5 or int(port) > MAX_PORT:
        raise word.fault(f"label `{word.text}` has no port {port}", f"ports are 0 to {MAX_PORT}")
    return host, int(port)


def _port_remedy(word: Word) -> str:
    if word.text != word.location.word:
        return f"is the variable in `{word.location.word}` set?"
    return "write ZONE:PORT"


def _zones(word: Word, host: str) -> tuple[Name, ...]:
    if not host:
        raise word.fault(f"label `{word.text}` names no zone", "the zone `.` is all names")
    try:
        if is_address(host.partition("/")[0]) and "/" in host:
            return reverse_zones(host)
        name = parse_name(host)
    except BadNameError as error:
        raise word.fault(f"label `{word.text}` is no zone: {error}") from error
    except UnicodeEncodeError as error:  # from an environment or a command line that is no UTF-8
        raise word.fault(f"label `{word.text!a}` is no text") from error
    if any(_SEPARATORS.intersection(label) for label in name.labels):
        raise word.fault(f"label `{word.text}` is no zone", "write ZONE, ZONE:PORT or a network like 10.0.0.0/8")
    return (name,)


_SEPARATORS = frozenset(b":{}(),; \t\n")


def is_address(text: str) -> bool:
    """Whether ``text`` is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def address_warning(word: Word) -> ConfigurationError | None:
    """What to tell of a label that is read as a name but looks like an address to listen on."""
    host = word.text.rpartition("://")[2].split(":")[0]
    if not is_address(host):
        return None
    remedy = f"`bind {host}` listens on it, `{host}/32` is its reverse zone"
    return word.fault(f"label `{word.text}` is read as a domain name, not as an address", remedy)
