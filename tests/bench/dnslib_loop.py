"""What a plain dnslib server does for each query: parse it, build an answer of one A record, pack that."""

from __future__ import annotations

import socket
import sys

from dnslib import QTYPE, RR, A, DNSRecord


def serve(port: int) -> None:
    """Answer every query with one A record."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", port))
    while True:
        octets, peer = udp.recvfrom(4096)
        query = DNSRecord.parse(octets)
        reply = query.reply()
        reply.add_answer(RR(query.q.qname, QTYPE.A, ttl=5, rdata=A("10.0.0.1")))
        udp.sendto(reply.pack(), peer)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
