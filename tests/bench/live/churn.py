"""Changes at an API server, so many a second, each asked for until its answer has changed, and other queries beside.

``python -m tests.bench.live.churn FOLDER SERVICES ENDPOINTS API_PORT PORT RATE SECONDS`` serves the pages in FOLDER,
waits for the server on PORT to answer and to watch, changes things, and prints as JSON what came of it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from itertools import count, cycle
from pathlib import Path
from time import perf_counter
from typing import cast

from tests.bench.big_cluster import BigService, Manifest, big_services
from tests.bench.generator import query_octets
from tests.bench.live.bodies import LIST_VERSION, octets_of, service_body, slice_body
from tests.bench.live.stand_in import StandIn

QUERIES_A_SECOND = 2000
"""Of names that do not change now, beside those that ask for changes."""
_PATIENCE_SECONDS = 30.0
_TICK_SECONDS = 0.001
_KEPT_OCTETS = 1 << 22
_CLUSTER_IPS, _POD_IPS = int(IPv4Address("10.104.0.1")), int(IPv4Address("11.0.0.1"))


@dataclass(frozen=True, slots=True)
class Change:
    """An event that gives the name in ``query`` the one ``address``."""

    plural: str
    event: bytes
    query: bytes
    address: bytes


@dataclass(slots=True)
class Outcome:
    """Seconds from each change to its answer; queries sent, and those that were never answered."""

    seconds: list[float] = field(default_factory=list)
    asked: int = 0
    lost: int = 0
    unseen: int = 0


def changes(services: list[BigService], total: int) -> list[Change]:
    """``total`` changes, of the cluster IPs of Services and of the addresses of named endpoints by turns."""
    named = cycle([each for each in services if each.is_headless])
    single = cycle([each for each in services if not each.is_headless])
    return [_slice_change(next(named), n) if n % 2 else _service_change(next(single), n) for n in range(total)]


def _service_change(service: BigService, number: int) -> Change:
    address = IPv4Address(_CLUSTER_IPS + number)
    body = service_body(service, LIST_VERSION + number + 1, str(address))
    return Change("services", _event(body), query_octets(f"{service.owner} A", edns=False), address.packed)


def _slice_change(service: BigService, number: int) -> Change:
    address = IPv4Address(_POD_IPS + number)
    body = slice_body(service, LIST_VERSION + number + 1, str(address))
    query = query_octets(f"{service.endpoint_owner(0)} A", edns=False)
    return Change("endpointslices", _event(body), query, address.packed)


def _event(body: Manifest) -> bytes:
    return octets_of({"type": "MODIFIED", "object": body})


class Asker(asyncio.DatagramProtocol):
    """Asks, and asks again for a change whose answer is still the old one."""

    def __init__(self) -> None:
        self.outcome = Outcome()
        self._numbers = count()
        self._waiting: dict[bytes, tuple[Change, float] | None] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def ask(self, query: bytes, change: tuple[Change, float] | None = None) -> None:
        """Send a query; ``change``: what it asks for, and when that was told."""
        number = (next(self._numbers) & 0xFFFF).to_bytes(2)
        self.outcome.asked += 1
        self.outcome.lost += number in self._waiting
        self._waiting[number] = change
        self._transport.sendto(number + query)

    def datagram_received(self, octets: bytes, peer: object) -> None:
        change = self._waiting.pop(octets[:2])
        if change is None:
            return
        if octets.endswith(change[0].address):
            self.outcome.seconds.append(perf_counter() - change[1])
        else:
            self.ask(change[0].query, change)

    @property
    def is_done(self) -> bool:
        """Whether every query has been answered, and so every change."""
        return not self._waiting

    def give_up(self) -> None:
        """What has no answer now is lost."""
        self.outcome.lost += len(self._waiting)
        self.outcome.unseen = sum(change is not None for change in self._waiting.values())


async def churn(stand_in: StandIn, services: list[BigService], port: int, rate: int, seconds: float) -> Outcome:
    """Make ``rate`` changes a second for so many seconds, asking the server on ``port``."""
    planned = changes(services, int(rate * seconds))
    others = cycle([query_octets(f"{each.owner} A", edns=False) for each in services])
    loop = asyncio.get_running_loop()
    transport, asker = await loop.create_datagram_endpoint(Asker, remote_addr=("127.0.0.1", port))
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KEPT_OCTETS)
    gc.freeze()
    gc.disable()
    began, told, asked = perf_counter(), 0, 0
    while told < len(planned):
        elapsed = perf_counter() - began
        for change in planned[told : int(elapsed * rate)]:
            stand_in.tell(change.plural, change.event)
            asker.ask(change.query, (change, perf_counter()))
            told += 1
        for _ in range(asked, int(elapsed * QUERIES_A_SECOND)):
            asker.ask(next(others))
            asked += 1
        await asyncio.sleep(_TICK_SECONDS)
    deadline = perf_counter() + _PATIENCE_SECONDS
    while not asker.is_done and perf_counter() < deadline:
        await asyncio.sleep(_TICK_SECONDS)
    asker.give_up()
    transport.close()
    return asker.outcome


async def main(folder: str, services: str, endpoints: str, api_port: str, port: str, rate: str, seconds: str) -> None:
    """Do it all once."""
    stand_in, cluster = StandIn(Path(folder)), big_services(int(services), int(endpoints))
    async with stand_in.open(int(api_port)):
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not (stand_in.watches["services"] and stand_in.watches["endpointslices"]):
                await asyncio.sleep(0.05)
        outcome = await churn(stand_in, cluster, int(port), int(rate), float(seconds))
    json.dump({name: getattr(outcome, name) for name in Outcome.__slots__}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
