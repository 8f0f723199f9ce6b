"""dns64: clients without IPv4 reach IPv4 servers through a NAT64 (RFC 6147).

Syntax::

    dns64 [PREFIX] {
        prefix PREFIX
        translate_all
        allow_ipv4
    }

A name that has A records and no AAAA gets AAAA records made of them, by PREFIX (64:ff9b::/96 by default; 32, 40, 48,
56, 64 or 96 bits). They live no longer than the A records and the denial of AAAA. Reverse names of such addresses are
aliases of those of the IPv4 ones. Only clients at IPv6 addresses are served so, with ``allow_ipv4`` all are;
``translate_all`` puts made records in place of AAAA records that exist. A client that validates (DO and CD) gets none.

Example::

    .:1053 {
        dns64 64:ff9b::/96 {
            allow_ipv4
        }
    }
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

import msgspec

from kubedns.corefile.blocks import Word
from kubedns.corefile.options import PluginOptions, arguments, flag, option
from kubedns.corefile.shapes import OneWord, unfit
from kubedns.dns.answer import NO_KEYS, Answer, Rcode, cname
from kubedns.dns.embedding import LENGTHS, Prefix, prefix_of
from kubedns.dns.names import IP6_ARPA, Name, reverse_name, reverse_prefix
from kubedns.dns.question import Query, Question
from kubedns.dns.rdata import AAAA, SOA, A, Rdata, RecordType
from kubedns.dns.rrset import RRset
from kubedns.observe.metrics import Cell
from kubedns.observe.rows import DNS64_TRANSLATED
from kubedns.plugins.plugin import Context, Next

_TTL_WITHOUT_SOA = 600
"""How long made records live at most if the denial does not say (RFC 6147 §5.1.7)."""
_MAPPED = bytes(10) + b"\xff\xff"
"""How the addresses begin that are no IPv6 addresses of anybody: ::ffff:0:0/96 (RFC 6147 §5.1.4)."""
_WELL_KNOWN = prefix_of(ipaddress.IPv6Network("64:ff9b::/96"))


class PrefixWord(OneWord[Prefix]):
    """An IPv6 network of a length that RFC 6052 knows."""

    syntax = "PREFIX"

    def convert(self, word: Word) -> Prefix:
        """The prefix."""
        try:
            network = ipaddress.IPv6Network(word.text)
        except ValueError as error:
            raise unfit(word, "no IPv6 network", "write it like 64:ff9b::/96") from error
        if network.prefixlen not in LENGTHS:
            raise unfit(word, "a prefix of the wrong length", f"lengths: {', '.join(map(str, LENGTHS))} (RFC 6052)")
        return prefix_of(network)


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """dns64 [PREFIX] { ... }: AAAA records made of A records."""

    own: Prefix | None = arguments(PrefixWord(), default=None, help="what stands for all of IPv4")
    prefix: Prefix | None = option(PrefixWord(), default=None, help="the same on a line of its own")
    translate_all: bool = flag(help="make them even where AAAA records exist")
    allow_ipv4: bool = flag(help="make them for clients at IPv4 addresses too")


class Dns64:
    """Makes AAAA records by ``prefix``; ``translated`` counts the answers that have some."""

    word = "dns64"

    def __init__(self, prefix: Prefix, translate_all: bool, allow_ipv4: bool, translated: Cell) -> None:
        self._prefix = prefix
        self._translate_all = translate_all
        self._allow_ipv4 = allow_ipv4
        self._translated = translated

    def client_class(self, address: bytes) -> bool:
        """Whether the client is given made records."""
        return self._allow_ipv4 or len(address) == 16

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer, or one made of that for A."""
        question = query.question
        validates = query.dnssec_ok and query.checking_disabled
        if validates or not self.client_class(query.client.address):
            return await next_plugin(query)
        if question.type == RecordType.PTR and (alias := self._reverse(question.name)):
            query.trace.rule("RFC 6147 5.3.1", "an address made of an IPv4 one has the name of that")
            return alias
        found = await next_plugin(query)
        if question.type != RecordType.AAAA or not self._wanted(found):
            return found
        of_a = await next_plugin(msgspec.structs.replace(query, question=Question(question.name, RecordType.A)))
        if of_a.rcode != Rcode.NOERROR or not any(rrset.type == RecordType.A for rrset in of_a.answer):
            return found
        query.trace.rule("RFC 6147 5.1.6", "no AAAA records exist, so they are made of A records")
        self._translated.add()
        return self._made(of_a, found)

    def _wanted(self, found: Answer) -> bool:
        """Whether AAAA records are to be made in place of ``found``; an alias still to be followed is no end."""
        if found.silent or found.follow is not None or found.rcode in (Rcode.NXDOMAIN, Rcode.REFUSED):
            return False
        return self._translate_all or not any(
            isinstance(rdata, AAAA) and not rdata.address.startswith(_MAPPED)
            for rrset in found.answer
            for rdata in rrset.rdatas
        )

    def _made(self, of_a: Answer, found: Answer) -> Answer:
        limit = min((rrset.ttl for rrset in found.authority if rrset.type == SOA.type), default=_TTL_WITHOUT_SOA)
        lifetimes = [each for each in (of_a.lifetime_seconds, found.lifetime_seconds) if each is not None]
        return msgspec.structs.replace(
            of_a,
            answer=tuple(self._translated_rrset(rrset, limit) for rrset in of_a.answer),
            depends_on=of_a.depends_on | found.depends_on,
            lifetime_seconds=min(lifetimes, default=None),
            varies_by_client=of_a.varies_by_client or found.varies_by_client,
        )

    def _translated_rrset(self, rrset: RRset, limit: int) -> RRset:
        if rrset.type != RecordType.A:
            return rrset
        rdatas: tuple[Rdata, ...] = tuple(
            AAAA(self._prefix.embed(rdata.address)) for rdata in rrset.rdatas if isinstance(rdata, A)
        )
        return RRset(rrset.owner, min(rrset.ttl, limit), rdatas)

    def _reverse(self, name: Name) -> Answer | None:
        """The alias for the reverse name of an address that is made; None for any other name."""
        spelt = reverse_prefix(name.key) if name.is_at_or_below(IP6_ARPA) else None
        address = self._prefix.extract(spelt[0]) if spelt and spelt[1] == 128 else None
        return None if address is None else cname(name, reverse_name(address), _TTL_WITHOUT_SOA, NO_KEYS)


def make(options: Options, context: Context) -> Dns64:
    """The plugin."""
    prefix = options.prefix or options.own or _WELL_KNOWN
    translated = context.metrics.cell(DNS64_TRANSLATED, context.servers[0])
    return Dns64(prefix, options.translate_all, options.allow_ipv4, translated)
