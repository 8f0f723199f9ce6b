"""An upstream: one server that is asked, over the transport that fits, with its health and its counters."""

from __future__ import annotations

import asyncio
import errno
import ssl
from dataclasses import dataclass, field, replace
from math import inf
from time import monotonic, perf_counter

from kubedns.dns.answer import Rcode
from kubedns.dns.reply import Reply
from kubedns.upstream.counters import NO_COUNTERS, UpstreamCounters
from kubedns.upstream.datagrams import Datagrams
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError
from kubedns.upstream.health import Health, HealthRules
from kubedns.upstream.pool import Pool, PoolLimits

_NO_EDNS = (Rcode.FORMERR, Rcode.NOTIMP, Rcode.BADVERS)
_PLAIN_SECONDS = 600.0
"""How long a server that answers only without EDNS is asked so; it may have been replaced since."""
_OWN_LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a server is asked. ``force_tcp``: never over UDP. ``tls``: what TLS connections are made with."""

    health: HealthRules = field(default_factory=HealthRules)
    force_tcp: bool = False
    limits: PoolLimits = field(default_factory=PoolLimits)
    tls: ssl.SSLContext | None = None


class Upstream:
    """One server. ``place``: the file and line that name it, for people. ``is_off``: switched off for good."""

    def __init__(
        self, address: UpstreamAddress, manner: Manner, place: str = "", counters: UpstreamCounters = NO_COUNTERS
    ) -> None:
        self.address = address
        self._manner = manner
        self._place = place
        self._counters = counters
        self._plain_until = -inf
        tls = manner.tls if address.over_tls else None
        self._datagrams = Datagrams(address)
        self._pool = Pool(address, tls, manner.limits, counters.took_connection)
        self._health = Health(str(self), manner.health, self._probe, counters.probe_failed)
        self.is_off = False

    def __str__(self) -> str:
        return f"upstream {self.address}{f' of {self._place}' if self._place else ''}"

    def switch_off(self) -> None:
        """Ask it no more, until the server starts anew."""
        self.is_off = True
        self.close()

    @property
    def is_down(self) -> bool:
        """Whether it failed so often that others go first."""
        return self._health.is_down

    async def ask(self, asked: Asked, over_tcp: bool, seconds: float) -> Reply:
        """Its reply, within ``seconds``.

        Raises:
            UpstreamError: none came, or none that can be used.
        """
        begun = perf_counter()
        self._counters.asked()
        try:
            async with asyncio.timeout(seconds):
                reply = await self._ask(asked, over_tcp)
        except TimeoutError as error:
            self._health.failed()
            raise UpstreamError(f"{self.address}: no reply within {seconds:.1f} s") from error
        except UpstreamError as error:
            cause = error.__cause__
            # What we lack ourselves says nothing of the server.
            if not (isinstance(cause, OSError) and cause.errno in _OWN_LACKS):
                self._health.failed()
            raise
        self._health.works()
        self._counters.replied(reply.rcode, perf_counter() - begun)
        return reply

    def close(self) -> None:
        """Probe no more, and end the kept connections."""
        self._health.close()
        self._pool.close()

    async def _ask(self, asked: Asked, over_tcp: bool) -> Reply:
        if monotonic() < self._plain_until:
            return await self._exchange(replace(asked, edns=False), over_tcp)
        reply = await self._exchange(asked, over_tcp)
        if reply.rcode not in _NO_EDNS:
            return reply
        # A server from before EDNS says so, or knows no better (RFC 6891 §7).
        plain = await self._exchange(replace(asked, edns=False), over_tcp)
        if plain.rcode not in _NO_EDNS:
            self._plain_until = monotonic() + _PLAIN_SECONDS
        return plain

    async def _exchange(self, asked: Asked, over_tcp: bool) -> Reply:
        """The reply, whole: a truncated one is asked for once more, over TCP."""
        address = self.address
        if not (over_tcp or self._manner.force_tcp or address.over_tls):
            try:
                reply = await self._datagrams.ask(asked)
            except OSError as error:
                raise UpstreamError(f"{address}: {error}") from error
            if reply is not None and not reply.truncated:
                return reply
        reply = await self._pool.ask(asked)
        if reply.truncated:
            # There is nowhere left to ask for the rest, and a part would pass for the whole.
            raise UpstreamError(f"{address}: the reply is truncated over TCP as well")
        return reply

    async def _probe(self, asked: Asked) -> None:
        await self._exchange(asked, over_tcp=False)
