"""kube-dns's ConfigMap: what it says. Pure.

The keys are those of kube-dns: ``stubDomains``, a JSON object of zones with lists of addresses;
``upstreamNameservers``, a JSON list of up to three addresses; ``federations``, a JSON object of names with domains,
which Kubernetes has no more: NAME stood in ``SVC.NS.NAME.svc.ZONE`` for the Service in this cluster or, failing that,
in another.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kubedns.dns.names import BadNameError, parse_name
from kubedns.errors import ConfigurationError, ConfigurationErrors, Location

STUB_DOMAINS, UPSTREAMS, FEDERATIONS = "stubDomains", "upstreamNameservers", "federations"
KEYS = (STUB_DOMAINS, UPSTREAMS, FEDERATIONS)
MAX_UPSTREAMS = 3
"""As many as a resolv.conf may have, which these stand for."""
Json = TypeVar("Json", dict[str, Any], list[Any])
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_ADDRESS = "write IP or IP:PORT, such as 192.0.2.53:5353"


@dataclass(frozen=True, slots=True)
class KubeDns:
    """``stub_domains``: zones, each with the servers that know it. ``upstreams``: of all else; none: resolv.conf's.

    ``federations``: their names, each with the domain that told where Services are in other clusters.
    """

    stub_domains: Mapping[str, tuple[str, ...]]
    upstreams: tuple[str, ...] = ()
    federations: Mapping[str, str] = field(default_factory=dict)


def read_kube_dns(texts: Mapping[str, str], place: str, *, converts: bool = False) -> KubeDns:
    """What a ConfigMap says, ``texts`` being its keys; ``place``: the file or folder that it stands in, for people.

    ``converts``: whether somebody looks at what is made of it. Only then federations are taken, since half of what they
    did is lost.

    Raises:
        ConfigurationErrors: all its faults.
    """
    reading = _Reading(place)
    federations: dict[str, str] = {}
    if converts:
        federations = reading.federations(texts.get(FEDERATIONS, ""))
    elif texts.get(FEDERATIONS, "").strip():
        remedy = "leave the key out; `kubedns convert` keeps their names for this cluster's Services"
        reading.fault(FEDERATIONS, 0, "federations are gone from Kubernetes, and nothing serves them", remedy)
    stub_domains = reading.stub_domains(texts.get(STUB_DOMAINS, ""))
    upstreams = reading.upstreams(texts.get(UPSTREAMS, ""))
    if reading.faults:
        raise ConfigurationErrors(reading.faults)
    return KubeDns(stub_domains, upstreams, federations)


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
        for zone, servers in self._parsed(STUB_DOMAINS, text, {}, "an object of zones").items():
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

    def federations(self, text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, domain in self._parsed(FEDERATIONS, text, {}, "an object of names with domains").items():
            line = _line_of(name, text)
            if not _LABEL.fullmatch(name):
                self.fault(FEDERATIONS, line, f"`{name}` is no label", "name one of letters, digits and hyphens")
            elif not isinstance(domain, str) or not _is_name(domain):
                self.fault(FEDERATIONS, line, f"{name} has no domain", 'write "example.com"')
            else:
                found[name] = domain
        return found

    def upstreams(self, text: str) -> tuple[str, ...]:
        servers = self._parsed(UPSTREAMS, text, [], "a list of addresses")
        if len(servers) > MAX_UPSTREAMS:
            self.fault(UPSTREAMS, 1, f"{len(servers)} servers", f"at most {MAX_UPSTREAMS} are asked")
        return self._addresses(UPSTREAMS, servers, text)

    def _parsed(self, key: str, text: str, empty: Json, kind: str) -> Json:
        if not text.strip():
            return empty
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


def _is_name(text: str) -> bool:
    try:
        return bool(parse_name(text).labels)
    except BadNameError:
        return False


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
