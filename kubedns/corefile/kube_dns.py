"""kube-dns's ConfigMap: what it says, and the Corefile that serves the same. Pure: texts in, text out.

The keys are those of kube-dns: ``stubDomains``, a JSON object of zones with lists of addresses;
``upstreamNameservers``, a JSON list of up to three addresses; ``federations``, which no server has any more.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kubedns.dns.names import BadNameError, parse_name
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location

STUB_DOMAINS, UPSTREAMS, FEDERATIONS = "stubDomains", "upstreamNameservers", "federations"
KEYS = (STUB_DOMAINS, UPSTREAMS, FEDERATIONS)
KUBE_DNS_TTL = 30
MAX_UPSTREAMS = 3
"""As many as a resolv.conf may have, which these stand for."""
Json = TypeVar("Json", dict[str, Any], list[Any])
_ADDRESS = "write IP or IP:PORT, such as 192.0.2.53:5353"


@dataclass(frozen=True, slots=True)
class KubeDns:
    """``stub_domains``: zones, each with the servers that know it. ``upstreams``: of all else; none: resolv.conf's."""

    stub_domains: Mapping[str, tuple[str, ...]]
    upstreams: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a ConfigMap does not say. ``port``: where is listened, on ``hosts`` or everywhere.

    ``zone``: the cluster's. ``manifests``: what its names are read from, in place of an API server; ``kubeconfig``: the
    file that names another API server than that of the cluster around the process, and ``context`` in it (empty: its
    current one). With either, nothing but names is served, since probes belong to clusters. ``ttl``: of its records;
    kube-dns has 30 s.
    """

    port: int = 53
    hosts: tuple[str, ...] = ()
    zone: str = "cluster.local"
    manifests: tuple[str, ...] = ()
    ttl: int = KUBE_DNS_TTL
    kubeconfig: str = ""
    context: str = ""

    @property
    def is_inside(self) -> bool:
        """Whether it is served from within the cluster that it is about."""
        return not (self.manifests or self.kubeconfig)


def read_kube_dns(texts: Mapping[str, str], place: str) -> KubeDns:
    """What a ConfigMap says, ``texts`` being its keys; ``place``: the file or folder that it stands in, for people.

    Raises:
        ConfigurationErrors: all its faults.
    """
    reading = _Reading(place)
    if texts.get(FEDERATIONS, "").strip():
        reading.fault(
            FEDERATIONS, 0, "federations are gone from Kubernetes, and nothing serves them", "leave the key out"
        )
    stub_domains = reading.stub_domains(texts.get(STUB_DOMAINS, ""))
    upstreams = reading.upstreams(texts.get(UPSTREAMS, ""))
    if reading.faults:
        raise ConfigurationErrors(reading.faults)
    return KubeDns(stub_domains, upstreams)


class _Reading:
    def __init__(self, place: str) -> None:
        self._place = place
        self.faults: list[ConfigurationError] = []

    def fault(self, key: str, line: int, message: str, remedy: str) -> None:
        """Note what is wrong in ``line`` (from 1) of the text of ``key``."""
        where = Location(f"{self._place}/{key}", line)
        self.faults.append(ConfigurationError(f"{key}: {message}", location=where, remedy=remedy))

    def stub_domains(self, text: str) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for zone, servers in self._parsed(STUB_DOMAINS, text, {}).items():
            line = _line_of(zone, text)
            try:
                parse_name(zone)
            except BadNameError as error:
                self.fault(STUB_DOMAINS, line, f"`{zone}` is no zone: {error}", "name one like corp.example")
            if not isinstance(servers, list) or not servers:
                self.fault(STUB_DOMAINS, line, f"{zone} has no list of servers", 'write ["192.0.2.53"]')
                continue
            found[zone] = self._addresses(STUB_DOMAINS, servers, text)
        return found

    def upstreams(self, text: str) -> tuple[str, ...]:
        servers = self._parsed(UPSTREAMS, text, [])
        if len(servers) > MAX_UPSTREAMS:
            self.fault(UPSTREAMS, 1, f"{len(servers)} servers", f"at most {MAX_UPSTREAMS} are asked")
        return self._addresses(UPSTREAMS, servers, text)

    def _parsed(self, key: str, text: str, empty: Json) -> Json:
        if not text.strip():
            return empty
        kind = "an object of zones" if isinstance(empty, dict) else "a list of addresses"
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            self.fault(key, error.lineno, f"no JSON: {error.msg}", f"write {kind} in JSON")
            return empty
        if not isinstance(value, type(empty)):
            self.fault(key, 1, f"not {kind}", f"write {kind} in JSON")
            return empty
        return value

    def _addresses(self, key: str, servers: Iterable[object], text: str) -> tuple[str, ...]:
        found = []
        for server in servers:
            if isinstance(server, str) and _is_address(server):
                found.append(server)
            else:
                self.fault(key, _line_of(str(server), text), f"`{server}` is no address", _ADDRESS)
        return tuple(dict.fromkeys(found))


def _is_address(text: str) -> bool:
    """Whether it is IP or IP:PORT, an IPv6 one with a port in brackets."""
    host, port = text, "53"
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") if rest else port
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return port.isascii() and port.isdigit() and 0 < int(port) < 65536


def _line_of(word: str, text: str) -> int:
    before, found, _ = text.partition(f'"{word}"')
    return before.count("\n") + 1 if found else 1


def corefile_text(config: KubeDns, around: Surroundings) -> str:
    """The Corefile that serves what kube-dns served with ``config``."""
    blocks = [_block(["."], _main_lines(config, around), around)]
    for zone, servers in config.stub_domains.items():
        blocks.append(_block([zone.rstrip(".")], ["errors", "cache 30", "loop", *_forward(servers)], around))
    return "\n".join(blocks)


def _main_lines(config: KubeDns, around: Surroundings) -> Iterator[str]:
    yield "errors"
    if around.is_inside:
        yield from ("health {", "    lameduck 5s", "}", "ready")
    yield f"kubernetes {around.zone} in-addr.arpa ip6.arpa {{"
    if around.manifests:
        yield f"    manifests {' '.join(map(_quoted, around.manifests))}"
    if around.kubeconfig:
        yield f"    kubeconfig {' '.join(map(_quoted, filter(None, (around.kubeconfig, around.context))))}"
    yield f"    pods {'insecure' if around.is_inside else 'verified'}"
    yield "    fallthrough in-addr.arpa ip6.arpa"
    yield f"    ttl {around.ttl}"
    yield "}"
    if around.is_inside:
        yield "prometheus :9153"
    yield from _forward(config.upstreams or ("/etc/resolv.conf",))
    yield from ("cache 30", "loop", "reload 10s", "loadbalance")


def _forward(servers: Sequence[str]) -> list[str]:
    return [f"forward . {' '.join(servers)} {{", "    max_concurrent 1000", "}"]


def _block(zones: Sequence[str], lines: Iterable[str], around: Surroundings) -> str:
    bind = [f"bind {' '.join(around.hosts)}"] if around.hosts else []
    inside = "".join(f"    {line}\n" for line in [*bind, *lines])
    return f"{' '.join(f'{zone}:{around.port}' for zone in zones)} {{\n{inside}}}\n"


def _quoted(path: str) -> str:
    return '"' + path.replace('"', '\\"') + '"'
