"""What to try on a server that has just begun: commands with names that it answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from kubedns.cluster.objects import Service
from kubedns.records.cluster_zone import ClusterZone
from kubedns.transport.sockets import ListenAddress

_SHOWN = 3
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """How the server was started: ``program`` as a shell finds it, the first address, the flags of its cluster."""

    program: str
    address: ListenAddress
    flags: Sequence[str]


def examples(cluster: ClusterZone, surroundings: Surroundings) -> Iterator[str]:
    """Command lines: of dig, and of the program itself."""
    zone = next((zone.name for zone in cluster.zones if not zone.is_reverse), None)
    services = sorted(cluster.lister.services(), key=lambda service: (service.namespace, service.name))
    address = surroundings.address
    for service in islice(services, 0 if zone is None else _SHOWN):
        host = _LOOPBACK.get(address.host, address.host)
        name = f"{service.name}.{service.namespace}.svc.{zone}".rstrip(".")
        yield f"dig @{host} -p {address.port} {name}"
    if zone is not None and services:
        flags = shlex.join(surroundings.flags)
        yield f"{surroundings.program} explain {_as_typed(services[0])} {flags}"
        yield f"{surroundings.program} records {flags}"


def _as_typed(service: Service) -> str:
    """A Service's name as a pod types it, with the pod's namespace where it is not the default one."""
    return service.name if service.namespace == "default" else f"{service.name} --namespace {service.namespace}"
