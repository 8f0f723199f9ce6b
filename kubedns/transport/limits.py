"""Limits: what connections may take of the server, and in which manner they are held."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TcpLimits:
    """What the connections of one listener may take; times in seconds. Each limit that bites is counted by its name."""

    connections: int = 1000
    """At a time; room for the node caches of a big cluster. Past it the one that asked nothing for longest goes."""
    connections_per_client: int = 64
    """Of one address at a time, so that one client cannot have them all."""
    idle: float = 10.0
    """Without a query and none unanswered; long enough that a client's next query does not cross the close."""
    message: float = 3.0
    """From a message's first octet to its last, however they trickle in, and from connecting to the first query."""
    in_flight: int = 128
    """Queries of one connection that wait to be answered; then it is read no further."""
    unread_octets: int = 64 << 10
    """Responses that the client has not taken; then it is read no further. One message has at most so many."""
    unread: float = 5.0
    """For how long they may lie there before the connection is closed."""
    transfer: float = 300.0
    """For a response of many messages to be taken whole."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How connections are held: within ``limits``, and over TLS if it is told what the next is to be taken with."""

    limits: TcpLimits = field(default_factory=TcpLimits)
    tls: Callable[[], ssl.SSLContext] | None = None
