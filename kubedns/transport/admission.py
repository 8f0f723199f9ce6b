"""Admission: how many connections a listener has, whose they are, and which of them has to go."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator

from kubedns.observe.metrics import TransportMetrics
from kubedns.transport.connection import Connection
from kubedns.transport.limits import TcpLimits

_COLLECT_AFTER = 1000
"""Connections gone before their remains are collected: asyncio's transports refer to themselves, a kilobyte each.

The server has the collector come by rarely, and tens of megabytes of them would lie there until it does.
"""


class Admission:
    """The connections of one listener, within ``limits``, which may change; ``metrics`` count what they cost whom."""

    def __init__(self, limits: TcpLimits, metrics: TransportMetrics) -> None:
        self.limits = limits
        self._metrics = metrics
        self._connections: set[Connection] = set()
        self._per_client: Counter[bytes] = Counter()
        self._gone = 0

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[Connection]:
        """The connections there are now; they may come and go meanwhile."""
        return iter(tuple(self._connections))

    def make_room(self, address: bytes) -> bool:
        """Whether one more connection from ``address`` (packed octets) may be taken.

        Where a limit is reached, the connection goes that has asked nothing for longest and is owed nothing: one of
        the client's own where it has too many, else anybody's.
        """
        if self._per_client[address] >= self.limits.connections_per_client:
            own = (each for each in self._connections if each.client.address == address)
            return self._close_idlest(own, "connections_per_client")
        if len(self._connections) >= self.limits.connections:
            return self._close_idlest(self._connections, "connections")
        return True

    def add(self, connection: Connection) -> None:
        """One that there was room for."""
        self._connections.add(connection)
        self._per_client[connection.client.address] += 1

    def remove(self, connection: Connection) -> None:
        """One that is gone."""
        if connection in self._connections:
            self._connections.remove(connection)
            address = connection.client.address
            self._per_client[address] -= 1
            if not self._per_client[address]:
                del self._per_client[address]
            self._gone += 1
            if self._gone % _COLLECT_AFTER == 0:
                gc.collect(0)

    def close_overdue(self, now: float) -> None:
        """Close what has outstayed a limit at ``now`` (monotonic seconds)."""
        for connection in self:
            limit = connection.overdue(now)
            if limit is not None:
                self._metrics.limited(limit)
                connection.abort() if limit == "unread" else connection.close()

    def _close_idlest(self, connections: Iterable[Connection], limit: str) -> bool:
        idlest = min((each for each in connections if each.is_idle), key=lambda each: each.last_query, default=None)
        if idlest is None:
            self._metrics.refused += 1
            return False
        self._metrics.limited(limit)
        idlest.abort()
        return True
