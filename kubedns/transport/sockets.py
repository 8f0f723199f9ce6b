"""Sockets: made, bound, and refused with the remedy."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from dataclasses import dataclass

from kubedns.errors import ListenError
from kubedns.transport.sources import IP_PKTINFO, IPV6_RECVPKTINFO

RECEIVE_OCTETS = 4 << 20
"""Room asked for queries that wait to be read; the kernel gives what it may."""
UNSENT_OCTETS = 64 << 10
"""What the kernel may hold of a connection's responses before they are sent; by itself it would take megabytes."""
_BACKLOG = 512
DNS, HTTPS = "dns", "https"
"""Schemes: the one without encryption, and the one that wraps messages in another protocol's."""


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address and port to listen on; ``0.0.0.0`` and ``::`` are every address of the machine of that family.

    ``scheme``: ``dns`` (UDP and TCP), ``tls`` (RFC 7858) or ``https`` (RFC 8484). ``is_shared``: with other processes
    of the same user that share it too (SO_REUSEPORT); the kernel gives each of them a part of what comes.
    """

    host: str
    port: int
    scheme: str = DNS
    is_shared: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def family(self) -> socket.AddressFamily:
        """The address family."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for every address."""
        return self.host in ("0.0.0.0", "::")


def udp_socket(address: ListenAddress) -> socket.socket:
    """A bound socket for datagrams; on a wildcard it tells which address was asked, so that replies leave from there.

    Raises:
        ListenError: the address cannot be bound.
    """
    made = _bound(address, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_OCTETS)
    if address.is_wildcard:
        if address.family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
        else:
            made.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    return made


def leave(shared: socket.socket) -> None:
    """Have what comes from now on go to the others who share the socket's address; what has come can still be read.

    One that is connected gets nothing but from its peer, which is itself here.
    """
    # An address that the machine has lost meanwhile gets nothing any more.
    with suppress(OSError):
        if shared.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT):
            shared.connect(shared.getsockname())


def tcp_socket(address: ListenAddress) -> socket.socket:
    """A bound and listening socket for connections.

    Raises:
        ListenError: the address cannot be bound.
    """
    made = _bound(address, socket.SOCK_STREAM)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_OCTETS)
    made.listen(_BACKLOG)
    return made


def _bound(address: ListenAddress, kind: socket.SocketKind) -> socket.socket:
    try:
        made = socket.socket(address.family, kind)
    except OSError as error:
        raise _refused(address, kind, error) from error
    try:
        made.setblocking(False)
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address.is_shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if address.family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(_with_zone(address, kind))
    except OSError as error:
        made.close()
        raise _refused(address, kind, error) from error
    return made


def _with_zone(address: ListenAddress, kind: socket.SocketKind) -> tuple[object, ...]:
    """The address to bind, its zone as a number: a link-local one is none without (RFC 4007 §6)."""
    flags = socket.AI_NUMERICHOST
    return socket.getaddrinfo(address.host, address.port, address.family, kind, flags=flags)[0][4]


def _refused(address: ListenAddress, kind: socket.SocketKind, error: OSError) -> ListenError:
    name = "UDP" if kind == socket.SOCK_DGRAM else "TCP"
    where = f"cannot listen on {address} ({name})"
    match error.errno:
        case errno.EADDRINUSE:
            holder = "; on port 53 it is often systemd-resolved or dnsmasq" if address.port == 53 else ""
            return ListenError(f"{where}: the port is taken", remedy=f"stop who holds it, or use another port{holder}")
        case errno.EACCES | errno.EPERM:
            remedy = "use a port from 1024, or give the process CAP_NET_BIND_SERVICE (setcap cap_net_bind_service=+ep)"
            return ListenError(f"{where}: not permitted", remedy=remedy)
        case errno.EADDRNOTAVAIL:
            return ListenError(f"{where}: no address of this machine", remedy="name one that `ip address` shows")
        case errno.EAFNOSUPPORT:
            return ListenError(f"{where}: the machine does not speak this family", remedy="leave the address out")
        case errno.EINVAL | socket.EAI_NONAME if ":" in address.host:
            remedy = "write it with its interface behind a %, as `ip address` shows it"
            return ListenError(f"{where}: a link-local address belongs to an interface", remedy=remedy)
        case _:
            return ListenError(f"{where}: {error.strerror or error}")


def packed(host: str) -> bytes:
    """The octets of a peer's address, as the socket module writes it."""
    if ":" in host:
        return socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    return socket.inet_aton(host)
