"""What ``kubedns query`` prints: comments and master-file lines for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from kubedns.cli.explain_json import Json
from kubedns.cli.query_exchange import Exchange

_SECTIONS = ("answer", "authority", "additional")


def exchange_text(exchange: Exchange) -> str:
    """The response as a master file: what is no record stands in comments."""
    response = exchange.response
    facts = [
        f"{exchange.transport} {exchange.server}",
        f"{exchange.seconds * 1000:.1f} ms",
        f"{_octets(response)} octets",
    ]
    if exchange.was_truncated:
        facts.append("cut off over udp")
    lines = [f"; {' '.join([_rcode(response), *_flags(response)])}; {', '.join(facts)}", *_edns_comments(response)]
    for section in _SECTIONS:
        records = list(_lines(getattr(response, section)))
        if records:
            lines += [f"; {section}", *records]
    return "\n".join(lines)


def exchange_json(exchange: Exchange) -> Json:
    """The response as objects that json.dumps takes; the keys are an interface.

    ``server port transport milliseconds octets truncated rcode flags edns`` and the three sections, lists of
    ``{name, ttl, type, data}``. ``edns`` is null or ``{version, udp_octets, dnssec_ok, options}``.
    """
    response = exchange.response
    return {
        "server": exchange.server.address,
        "port": exchange.server.port,
        "transport": exchange.transport,
        "milliseconds": round(exchange.seconds * 1000, 3),
        "octets": _octets(response),
        "truncated": exchange.was_truncated,
        "rcode": _rcode(response),
        "flags": list[Json](_flags(response)),
        "edns": _edns(response),
        **{section: list(_objects(getattr(response, section))) for section in _SECTIONS},
    }


def _octets(response: dns.message.Message) -> int:
    return len(response.wire or b"")


def _rcode(response: dns.message.Message) -> str:
    return dns.rcode.to_text(response.rcode())


def _flags(response: dns.message.Message) -> list[str]:
    return [flag for flag in dns.flags.to_text(response.flags).lower().split() if flag != "qr"]


def _edns_comments(response: dns.message.Message) -> Iterator[str]:
    if response.edns >= 0:
        dnssec_ok = " do" if response.ednsflags & dns.flags.DO else ""
        yield f"; edns version {response.edns}{dnssec_ok}, udp {response.payload} octets"
    for option in response.options:
        yield f"; {option.to_text()}"


def _edns(response: dns.message.Message) -> Json:
    if response.edns < 0:
        return None
    return {
        "version": response.edns,
        "udp_octets": response.payload,
        "dnssec_ok": bool(response.ednsflags & dns.flags.DO),
        "options": [_option(option) for option in response.options],
    }


def _option(option: dns.edns.Option) -> Json:
    return {"code": int(option.otype), "text": option.to_text()}


def _lines(rrsets: Iterable[dns.rrset.RRset]) -> Iterator[str]:
    for rrset in rrsets:
        yield from rrset.to_text().splitlines()


def _objects(rrsets: Iterable[dns.rrset.RRset]) -> Iterator[Json]:
    for rrset in rrsets:
        for rdata in rrset:
            yield {
                "name": rrset.name.to_text(),
                "ttl": rrset.ttl,
                "type": dns.rdatatype.to_text(rrset.rdtype),
                "data": rdata.to_text(),
            }
