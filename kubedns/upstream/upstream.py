"""An upstream: one server that is asked, what is known of its health, and the probe that finds it well again."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace

from kubedns.dns.answer import Rcode
from kubedns.dns.names import ROOT
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import Reply, question_octets
from kubedns.upstream.exchange import Asked, UpstreamAddress, UpstreamError, ask

_log = logging.getLogger("plugin/forward")
_PROBE = Asked(question_octets(Question(ROOT, RecordType.NS)))
_PROBE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Health:
    """``max_fails``: failures in a row after which an upstream counts as down; 0: never.

    ``probe_seconds``: how long between probes of one that failed.
    """

    max_fails: int = 2
    probe_seconds: float = 0.5


class Upstream:
    """One server. It is probed from its first failure until it answers again, so it recovers without traffic.

    ``place``: the file and line that name it, for people. ``is_off``: switched off for good.
    """

    def __init__(self, address: UpstreamAddress, health: Health, force_tcp: bool = False, place: str = "") -> None:
        self.address = address
        self._health = health
        self._force_tcp = force_tcp
        self._fails = 0
        self._bears_edns = True
        self._probing: asyncio.Task[None] | None = None
        self._place = place
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
        return 0 < self._health.max_fails <= self._fails

    async def ask(self, asked: Asked, over_tcp: bool, seconds: float) -> Reply:
        """Its reply, within ``seconds``.

        Raises:
            UpstreamError: none came, or none that can be used.
        """
        try:
            reply = await asyncio.wait_for(self._ask(asked, over_tcp or self._force_tcp), seconds)
        except TimeoutError as error:
            self._failed()
            raise UpstreamError(f"{self.address}: no reply within {seconds:.1f} s") from error
        except UpstreamError:
            self._failed()
            raise
        self._works()
        return reply

    def close(self) -> None:
        """Probe no more."""
        if self._probing is not None:
            self._probing.cancel()

    async def _ask(self, asked: Asked, over_tcp: bool) -> Reply:
        if not self._bears_edns:
            return await ask(self.address, replace(asked, edns=False), over_tcp)
        reply = await ask(self.address, asked, over_tcp)
        if reply.rcode not in (Rcode.FORMERR, Rcode.NOTIMP):
            return reply
        # A server from before EDNS says so, or knows no better (RFC 6891 §7).
        plain = await ask(self.address, replace(asked, edns=False), over_tcp)
        self._bears_edns = plain.rcode in (Rcode.FORMERR, Rcode.NOTIMP)
        return plain

    def _failed(self) -> None:
        self._fails += 1
        if self._health.max_fails and self._fails == self._health.max_fails:
            _log.warning("%s does not answer; others go first until it does", self)
        if self._health.max_fails and self._probing is None:
            self._probing = asyncio.get_running_loop().create_task(self._probe())

    def _works(self) -> None:
        if self.is_down:
            _log.warning("%s answers again", self)
        self._fails = 0

    async def _probe(self) -> None:
        while self._fails:
            await asyncio.sleep(self._health.probe_seconds)
            try:
                await asyncio.wait_for(ask(self.address, _PROBE, self._force_tcp), _PROBE_SECONDS)
            except (UpstreamError, TimeoutError):
                continue
            self._works()
        self._probing = None
