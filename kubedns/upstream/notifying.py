"""Telling other servers that a zone has changed, until they say that they have heard it (RFC 1996 §3.6)."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable, Iterable

from kubedns.dns.answer import Rcode, rcode_name
from kubedns.dns.names import Name
from kubedns.dns.notify import acknowledged, write_notify
from kubedns.upstream.exchange import UpstreamAddress

LOOK_SECONDS = 5.0
"""How often it is looked for changes, so that many in a row make one transfer and not as many."""
_WAITS_SECONDS = (2.0, 4.0, 8.0, 16.0, 32.0)
"""How long each try is waited for; then the peer is left to ask by itself, as its SOA's refresh says."""
_DATAGRAM_OCTETS = 65535
_log = logging.getLogger("plugin/transfer")

Told = tuple[Name, UpstreamAddress]


class Notifier:
    """Tells peers of zones that have changed. ``look`` gives each zone with its serial and those who are to hear."""

    def __init__(self, look: Callable[[], Iterable[tuple[Name, int, Iterable[UpstreamAddress]]]]) -> None:
        self._look = look
        self._following: asyncio.Task[None] | None = None
        self._telling: dict[Told, asyncio.Task[None]] = {}
        self._outcomes: dict[Told, str] = {}

    def start(self) -> None:
        """Tell of all zones that there are, and from then on of those that change."""
        if self._following is None:
            self._following = asyncio.get_running_loop().create_task(self._follow())

    def close(self) -> None:
        """Tell nobody any more."""
        if self._following is not None:
            self._following.cancel()
        for task in self._telling.values():
            task.cancel()

    async def _follow(self) -> None:
        serials: dict[Name, int] = {}
        while True:
            for zone, serial, peers in self._look():
                if serials.get(zone) != serial:
                    serials[zone] = serial
                    for peer in peers:
                        self._tell((zone, peer))
            await asyncio.sleep(LOOK_SECONDS)

    def _tell(self, told: Told) -> None:
        """Tell a peer, from the beginning where it has not heard of the change before."""
        if told in self._telling:
            self._telling[told].cancel()
        self._telling[told] = asyncio.get_running_loop().create_task(self._tell_until_heard(told))

    async def _tell_until_heard(self, told: Told) -> None:
        zone, peer = told
        outcome = "it does not answer"
        for seconds in _WAITS_SECONDS:
            try:
                async with asyncio.timeout(seconds):
                    rcode = await notify(peer, zone)
                outcome = "" if rcode == Rcode.NOERROR else f"it says {rcode_name(rcode)}"
                break
            except TimeoutError:
                continue
            except OSError as error:
                outcome = str(error.strerror or error)
                await asyncio.sleep(seconds)
        if self._outcomes.get(told, "") != outcome:
            if outcome:
                _log.warning("%s has not heard that %s has changed: %s", peer, zone, outcome)
            else:
                _log.info("%s hears again that %s has changed", peer, zone)
        self._outcomes[told] = outcome


async def notify(peer: UpstreamAddress, zone: Name) -> int:
    """Tell ``peer`` that ``zone`` has changed; the rcode of its response, however long it takes.

    The port is the kernel's choice, and a response counts only with our ID and question.

    Raises:
        OSError: it cannot be reached.
    """
    message = write_notify(secrets.randbits(16), zone)
    family = socket.AF_INET6 if ":" in peer.host else socket.AF_INET
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_DGRAM) as telling:
        telling.setblocking(False)
        telling.connect((peer.host, peer.port))
        telling.send(message)
        while True:
            rcode = acknowledged(message, await loop.sock_recv(telling, _DATAGRAM_OCTETS))
            if rcode is not None:
                return rcode
