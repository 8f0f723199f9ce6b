"""HTTP requests → DNS messages, and back (RFC 8484 §4). Knows no connection."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs

from kubedns.dns.lifetime import freshness
from kubedns.dns.reply import UnreadableReplyError, read_reply

PATH = "/dns-query"
MAX_OCTETS = 65535
_MEDIA_TYPE = b"application/dns-message"
_MIN_OCTETS = 12
_MAX_PARAMETER = MAX_OCTETS * 4 // 3 + 4

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A status, headers and a body."""

    status: int
    headers: Headers = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What a request says before its body; names of ``headers`` are in lower case."""

    method: str
    path: str
    query: bytes
    headers: Headers


def refusal(request: HttpRequest) -> HttpReply | None:
    """What to reply at once to what is no DNS request; None where it may be one."""
    if request.path != PATH:
        return refused(404, f"queries go to {PATH}")
    if request.method not in ("GET", "POST"):
        return HttpReply(405, ((b"allow", b"GET, POST"), *_TEXT), b"GET and POST are spoken\n")
    if request.method == "POST" and _media_type(request.headers) != _MEDIA_TYPE:
        return refused(415, f"the body must be {_MEDIA_TYPE.decode()}")
    if len(request.query) > _MAX_PARAMETER:
        return refused(414, "the query is longer than any DNS message")
    return None


def message_of(request: HttpRequest, body: bytes) -> bytes | None:
    """The DNS message of a GET's parameter ``dns`` or a POST's ``body``; None where there is none."""
    octets = body if request.method == "POST" else _parameter(request.query)
    return octets if octets is not None and _MIN_OCTETS <= len(octets) <= MAX_OCTETS else None


def answered(response: bytes) -> HttpReply:
    """The reply that carries a DNS response, to be kept no longer than its records (RFC 8484 §5.1)."""
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", _MEDIA_TYPE),
        (b"content-length", str(len(response)).encode()),
    ]
    try:
        seconds = freshness(read_reply(response))
    except UnreadableReplyError:
        seconds = 0
    headers.append((b"cache-control", b"max-age=%d" % seconds))
    return HttpReply(200, tuple(headers), response)


_TEXT: Headers = ((b"content-type", b"text/plain; charset=utf-8"),)


def refused(status: int, why: str) -> HttpReply:
    """A reply that says what is wrong with the request."""
    return HttpReply(status, _TEXT, f"{why}\n".encode())


def _media_type(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    found = next((value for name, value in headers if name == b"content-type"), b"")
    return found.partition(b";")[0].strip().lower()


def _parameter(query: bytes) -> bytes | None:
    """The octets of the parameter ``dns``: base64url without padding (RFC 4648 §5)."""
    try:
        values = parse_qs(query.decode("ascii"), max_num_fields=16).get("dns", [])
        if len(values) != 1:
            return None
        text = values[0].rstrip("=")
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
