"""A copy of a zone, kept as its SOA says: looked for again, and given up when nobody has had it for too long."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from kubedns.dns.answer import Key
from kubedns.dns.names import Name
from kubedns.dns.rrset import soa_of
from kubedns.observe.failures import Failures
from kubedns.observe.metrics import Cell
from kubedns.plugins.peers import packed
from kubedns.upstream.exchange import UpstreamAddress, UpstreamError
from kubedns.upstream.inbound import fetch
from kubedns.zones.transfer import is_newer
from kubedns.zones.zone import BadZoneError, Zone

_LEAST_SECONDS = 1.0
"""Between two looks, whatever the SOA or those who send NOTIFY say."""
_FIRST_RETRY_SECONDS, _LAST_RETRY_SECONDS = 2.0, 600.0
"""Without a zone there is no SOA to say when to try again: soon, then ever later."""
_START_SECONDS = 1.0
"""Within which the first look is begun, so that not all copies of all servers are taken at once."""
_log = logging.getLogger("plugin/secondary")


class Copy:
    """The zone ``origin`` as the first of ``primaries`` has it that has it newer than the others before.

    ``zone``: the last good one; None: there was none yet. ``is_expired``: it may be given to nobody any more.
    ``key``: what answers from it depend on; ``changed`` is told of it when they would be others. ``failures`` counts
    the looks at which no primary said what it has.
    """

    def __init__(
        self,
        origin: Name,
        primaries: Sequence[UpstreamAddress],
        changed: Callable[[Iterable[Key]], None],
        failures: Cell,
    ) -> None:
        self.origin = origin
        self.primaries = tuple(primaries)
        self.zone: Zone | None = None
        self.is_expired = False
        self.key: Key = ("secondary", origin.key)
        self._changed = changed
        self._addresses = frozenset(map(packed, primaries))
        self._expires = 0.0
        self._fault = ""
        self._errors = Failures(_log)
        self._failures = failures
        self._asked = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    def begin_with(self, before: Copy) -> None:
        """Have what another copy of the same zone has, which this one takes over from."""
        self.zone, self.is_expired, self._expires = before.zone, before.is_expired, before._expires

    def start(self) -> None:
        """Keep it from now on."""
        if self._following is None:
            loop = asyncio.get_running_loop()
            self._following = loop.create_task(self._follow())
            if self.zone is not None and not self.is_expired:
                self._expiry = loop.call_later(self._expires - time.monotonic(), self._expire)

    def close(self) -> None:
        """Keep it no longer."""
        if self._following is not None:
            self._following.cancel()
        if self._expiry is not None:
            self._expiry.cancel()

    def notified(self, client: bytes) -> bool:
        """Look for it soon, if it is a primary who says so."""
        if client not in self._addresses:
            return False
        self._asked.set()
        return True

    async def _follow(self) -> None:
        await asyncio.sleep(random.uniform(0, _START_SECONDS))
        retry = _FIRST_RETRY_SECONDS
        while True:
            self._asked.clear()
            try:
                is_current = await self._look()
            except Exception as error:
                self._errors.tell(error, f"taking zone {self.origin}")
                is_current = False
            soa = None if self.zone is None else soa_of(self.zone.soa)
            if soa is None:
                wait, retry = retry, min(2 * retry, _LAST_RETRY_SECONDS)
            else:
                wait = soa.refresh if is_current else soa.retry
            await asyncio.sleep(_LEAST_SECONDS)
            with suppress(TimeoutError):
                # Somewhat earlier than is due, and not when all others come.
                async with asyncio.timeout(max(0.0, wait * random.uniform(0.9, 1.0) - _LEAST_SECONDS)):
                    await self._asked.wait()

    async def _look(self) -> bool:
        """Take the zone from a primary that has a newer one; whether any primary has said what it has."""
        faults: list[str] = []
        for primary in self.primaries:
            try:
                rrsets = await fetch(primary, self.origin, self._is_wanted)
                if rrsets is not None:
                    # Big zones take a while, in which others want their turn.
                    self._take(await asyncio.to_thread(Zone, self.origin, rrsets), primary)
            except (UpstreamError, BadZoneError) as error:
                faults.append(str(error))
            else:
                self._confirm()
                if rrsets is not None:
                    break
        is_current = len(faults) < len(self.primaries)
        self._failures.add(not is_current)
        self._tell("" if is_current else "; ".join(faults))
        return is_current

    def _is_wanted(self, serial: int) -> bool:
        return self.zone is None or is_newer(serial, self.zone.serial)

    def _take(self, zone: Zone, primary: UpstreamAddress) -> None:
        self.zone = zone
        self._changed([self.key])
        _log.info("zone %s with serial %d, from %s, is in force", self.origin, zone.serial, primary)

    def _confirm(self) -> None:
        """A primary has just said that the zone is as it is here: it may be given for its time of expiry."""
        assert self.zone is not None
        soa = soa_of(self.zone.soa)
        # Else it would end before it is looked for again.
        seconds = max(soa.expire, soa.refresh + soa.retry, 2 * _LEAST_SECONDS)
        self._expires = time.monotonic() + seconds
        if self._expiry is not None:
            self._expiry.cancel()
        self._expiry = asyncio.get_running_loop().call_later(seconds, self._expire)
        if self.is_expired:
            self.is_expired = False
            self._changed([self.key])

    def _expire(self) -> None:
        self.is_expired = True
        self._changed([self.key])
        _log.error("zone %s has expired: no primary could be asked for too long; it is SERVFAIL", self.origin)

    def _tell(self, fault: str) -> None:
        """Say what is wrong, and that nothing is any more; not that it still is."""
        if fault and fault != self._fault:
            stays = "" if self.zone is None else "; the zone before stays in force until it expires"
            _log.error("zone %s cannot be had: %s%s", self.origin, fault, stays)
        elif self._fault and not fault:
            _log.info("zone %s can be had again", self.origin)
        self._fault = fault
