"""The EndpointSlices that a slice controller would make of the Pods that Services select."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kubedns.cluster.allocation import suffix_for
from kubedns.cluster.objects import Endpoint, EndpointPort, EndpointSlice, Pod, Service, ServicePort
from kubedns.cluster.written import PodTraits, WrittenService


@dataclass(frozen=True, slots=True)
class Running:
    """A Pod and where it is reached: its own addresses, else its node's."""

    pod: Pod
    traits: PodTraits
    addresses: tuple[bytes, ...]


class SliceMaker:
    """Makes slices of ``pods``, which it finds by one of their labels, so that no Service looks at all of them."""

    def __init__(self, pods: Iterable[Running]) -> None:
        self._by_label: dict[tuple[str, str, str], list[Running]] = {}
        for running in pods:
            for key, value in running.traits.labels.items():
                self._by_label.setdefault((running.pod.namespace, key, value), []).append(running)

    def slices(self, written: WrittenService) -> Iterator[EndpointSlice]:
        """Slices of a Service: one for each address family and each set of ports, in a steady order."""
        service = written.service
        groups: dict[tuple[int, tuple[EndpointPort, ...]], list[Endpoint]] = {}
        for running in self._selected(service.namespace, written.selector):
            ports = _target_ports(service.ports, written.targets, running.traits)
            for address in running.addresses:
                if _is_wanted(address, written.families):
                    groups.setdefault((len(address), ports), []).append(_endpoint(running, address, service))
        for place, ((_, ports), endpoints) in enumerate(groups.items()):
            name = f"{service.name}-{suffix_for(f'{service.namespace}/{service.name}/{place}', 5)}"
            yield EndpointSlice(service.namespace, name, service.name, ports, tuple(endpoints), service.origin)

    def _selected(self, namespace: str, selector: dict[str, str]) -> Iterator[Running]:
        """The Pods that have all labels of ``selector``; one without labels selects none (core/v1 ServiceSpec)."""
        places: list[Sequence[Running]] = [self._by_label.get((namespace, *item), ()) for item in selector.items()]
        for running in min(places, key=len, default=()):
            if selector.items() <= running.traits.labels.items():
                yield running


def _is_wanted(address: bytes, families: tuple[str, ...]) -> bool:
    return not families or ("IPv4" if len(address) == 4 else "IPv6") in families


def _endpoint(running: Running, address: bytes, service: Service) -> Endpoint:
    pod = running.pod
    hostname = pod.hostname if pod.subdomain == service.name else ""
    ready = running.traits.is_ready or service.publish_not_ready
    return Endpoint((address,), hostname, pod.name, pod.uid, pod.node, "", ready, running.traits.is_ready)


def _target_ports(
    ports: Sequence[ServicePort], targets: Sequence[int | str], traits: PodTraits
) -> tuple[EndpointPort, ...]:
    """Where a Pod listens for each of a Service's ports; a named target that it lacks is left out."""
    found = []
    for port, target in zip(ports, targets, strict=True):
        number = traits.ports.get(target, 0) if isinstance(target, str) else target
        if number:
            found.append(EndpointPort(port.name, port.protocol, number))
    return tuple(found)
