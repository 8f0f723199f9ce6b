"""The least that a client of the API in Python can do: decode the lists, then the events, and answer from one dict.

``python -m tests.bench.live.bare_watch API_PORT PORT`` answers on UDP once it has the lists of Services and slices.
"""

from __future__ import annotations

import select
import socket
import sys
from http.client import HTTPConnection
from ipaddress import IPv4Address
from typing import TypeVar

import msgspec

from kubedns.cluster.bodies import ServiceBody, SliceBody
from tests.bench.generator import query_octets
from tests.bench.live.bodies import PAGE_OBJECTS, PATHS

_SUFFIX = "svc.cluster.local."
_HEAD = b"\x85\x00\x00\x01\x00\x01\x00\x00\x00\x00"
_RECORD = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04"
_DENIAL = b"\x85\x03\x00\x01\x00\x00\x00\x00\x00\x00"
_QUESTION = 10
_KEPT_OCTETS = 1 << 22
B = TypeVar("B", ServiceBody, SliceBody)


class _Metadata(msgspec.Struct):
    continue_: str | None = msgspec.field(name="continue", default=None)


class _Services(msgspec.Struct):
    metadata: _Metadata
    items: list[ServiceBody]


class _Slices(msgspec.Struct):
    metadata: _Metadata
    items: list[SliceBody]


class _ServiceEvent(msgspec.Struct):
    object: ServiceBody


class _SliceEvent(msgspec.Struct):
    object: SliceBody


class BareWatch:
    """Addresses by question (name, type and class as octets), kept at what the API server says."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._addresses: dict[bytes, bytes] = {}

    def list_all(self) -> None:
        """Read the lists of Services and slices, page by page."""
        pages = msgspec.json.Decoder(_Services), msgspec.json.Decoder(_Slices)
        connection = HTTPConnection("127.0.0.1", self._port)
        position: str | None = ""
        while position is not None:
            found = pages[0].decode(self._page(connection, "services", position))
            for service in found.items:
                self._take_service(service)
            position = found.metadata.continue_
        position = ""
        while position is not None:
            listed = pages[1].decode(self._page(connection, "endpointslices", position))
            for endpoint_slice in listed.items:
                self._take_slice(endpoint_slice)
            position = listed.metadata.continue_
        connection.close()

    def serve(self, port: int) -> None:
        """Watch and answer for ever."""
        services, slices = self._watch("services"), self._watch("endpointslices")
        events = msgspec.json.Decoder(_ServiceEvent), msgspec.json.Decoder(_SliceEvent)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _KEPT_OCTETS)
        udp.bind(("127.0.0.1", port))
        buffers = {services: b"", slices: b""}
        while True:
            for ready in select.select([services, slices, udp], [], [])[0]:
                if ready is udp:
                    octets, peer = udp.recvfrom(4096)
                    udp.sendto(self._answer(octets), peer)
                    continue
                *lines, buffers[ready] = (buffers[ready] + ready.recv(1 << 16)).split(b"\n")
                for line in lines:
                    if line[:1] != b"{":  # the size of a chunk, or its end
                        continue
                    if ready is services:
                        self._take_service(events[0].decode(line).object)
                    else:
                        self._take_slice(events[1].decode(line).object)

    def _page(self, connection: HTTPConnection, plural: str, position: str) -> bytes:
        connection.request("GET", f"{PATHS[plural]}?limit={PAGE_OBJECTS}{position and '&continue='}{position}")
        return connection.getresponse().read()

    def _watch(self, plural: str) -> socket.socket:
        watch = socket.create_connection(("127.0.0.1", self._port))
        watch.sendall(f"GET {PATHS[plural]}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return watch

    def _answer(self, octets: bytes) -> bytes:
        address = self._addresses.get(octets[_QUESTION + 2 :])
        if address is None:
            return octets[:2] + _DENIAL + octets[_QUESTION + 2 :]
        return octets[:2] + _HEAD + octets[_QUESTION + 2 :] + _RECORD + address

    def _take_service(self, body: ServiceBody) -> None:
        address = body.spec.cluster_ip if body.spec else None
        if address and address != "None":
            self._addresses[_question(f"{body.metadata.name}.{body.metadata.namespace}")] = IPv4Address(address).packed

    def _take_slice(self, body: SliceBody) -> None:
        service = (body.metadata.labels or {})["kubernetes.io/service-name"]
        for endpoint in body.endpoints or ():
            if endpoint.hostname and endpoint.addresses:
                question = _question(f"{endpoint.hostname}.{service}.{body.metadata.namespace}")
                self._addresses[question] = IPv4Address(endpoint.addresses[0]).packed


def _question(name: str) -> bytes:
    return query_octets(f"{name}.{_SUFFIX} A", edns=False)[_QUESTION:]


if __name__ == "__main__":
    bare = BareWatch(int(sys.argv[1]))
    bare.list_all()
    bare.serve(int(sys.argv[2]))
