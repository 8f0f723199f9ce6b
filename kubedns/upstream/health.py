"""What is known of an upstream's health, and the probe that finds it well again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kubedns.dns.names import ROOT, Name
from kubedns.dns.question import Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import question_octets
from kubedns.upstream.exchange import Asked, UpstreamError

_log = logging.getLogger("plugin/forward")
_PROBE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class HealthRules:
    """``max_fails``: failures in a row after which an upstream counts as down; 0: never.

    ``probe_seconds``: how long between probes of one that failed. A probe asks for NS of ``domain``, with the flag RD
    if ``recursion_desired``.
    """

    max_fails: int = 2
    probe_seconds: float = 0.5
    domain: Name = ROOT
    recursion_desired: bool = True


class Health:
    """One upstream's, ``name`` for people. It is probed from its first failure on, so it recovers without traffic.

    ``probe`` asks it; ``probe_failed`` is told of each probe that went unanswered.
    """

    def __init__(
        self,
        name: str,
        rules: HealthRules,
        probe: Callable[[Asked], Awaitable[object]],
        probe_failed: Callable[[], None],
    ) -> None:
        self._name = name
        self._rules = rules
        self._probe = probe
        self._probe_failed = probe_failed
        self._asked = Asked(
            question_octets(Question(rules.domain, RecordType.NS)), recursion_desired=rules.recursion_desired
        )
        self._fails = 0
        self._probing: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def is_down(self) -> bool:
        """Whether it failed so often that others go first."""
        return 0 < self._rules.max_fails <= self._fails

    def failed(self) -> None:
        """A question went unanswered."""
        self._fails += 1
        if self._rules.max_fails and self._fails == self._rules.max_fails:
            _log.warning("%s does not answer; others go first until it does", self._name)
        if self._rules.max_fails and self._probing is None and not self._closed:
            self._probing = asyncio.get_running_loop().create_task(self._probe_until_well())

    def works(self) -> None:
        """A reply came, whatever it says."""
        if self.is_down:
            _log.warning("%s answers again", self._name)
        self._fails = 0

    def close(self) -> None:
        """Probe no more, whatever fails of what is still under way."""
        self._closed = True
        if self._probing is not None:
            self._probing.cancel()

    async def _probe_until_well(self) -> None:
        while self._fails:
            await asyncio.sleep(self._rules.probe_seconds)
            try:
                async with asyncio.timeout(_PROBE_SECONDS):
                    await self._probe(self._asked)
            except (UpstreamError, TimeoutError):
                self._probe_failed()
                continue
            self.works()
        self._probing = None
