"""Options of plugins with many and with unusual ones, declared as plugins declare them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, flag, ignored, option, repeated
from kubedns.corefile.shapes import Exactly, Group, Line, Many, Shape, Zones, convert_all, sections
from kubedns.corefile.values import AnyNetwork, Choice, Duration, Network, Path, Pattern, Seconds, Text
from kubedns.dns.names import Name

API = "it only concerns an API server"
LEGACY = "CoreDNS no longer reads it"


class Pods(Enum):
    DISABLED = "disabled"
    INSECURE = "insecure"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: str
    key: str
    authority: str


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    file: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Kubernetes(PluginOptions):
    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones")
    endpoint: tuple[str, ...] = option(Many(Text("URL"), 1), default=(), help="the API server")
    tls: Tls | None = option(
        Group(Tls, {"CERT": Path(), "KEY": Path(), "CACERT": Path()}), default=None, help="client certificate"
    )
    kubeconfig: Kubeconfig | None = option(
        Group(Kubeconfig, {"FILE": Path()}, {"CONTEXT": Text()}), default=None, help="credentials"
    )
    namespaces: tuple[str, ...] = option(Many(Text("NAMESPACE"), 1), default=(), help="the only ones")
    labels: str = option(Line(), default="", help="which objects")
    pods: Pods = option(Choice(Pods), default=Pods.DISABLED, help="names of pods")
    endpoint_pod_names: bool = flag(help="endpoints by pod")
    ttl: int = option(Seconds(at_most=3600), default=5, help="TTL")
    noendpoints: bool = flag(help="no endpoints")
    fallthrough: tuple[Name, ...] | None = option(Zones(), default=None, help="missing names go on")
    ignore_empty: bool = option(Exactly("empty_service"), default=False, help="hide empty", word="ignore")
    startup_timeout: float = option(Duration(), default=5.0, help="wait")
    apiserver_qps: bool = ignored(API)
    resyncperiod: bool = ignored(LEGACY)
    upstream: bool = ignored(LEGACY)


class Action(Enum):
    ALLOW = "allow"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Rule:
    action: Action
    types: tuple[str, ...]
    networks: tuple[AnyNetwork, ...]


class RuleLine(Shape[Rule]):
    syntax = "[type QTYPE...] [net SOURCE...]"

    def read(self, line: Directive) -> Rule:
        found = sections(line, {"type": "QTYPE...", "net": "SOURCE..."})
        networks = convert_all(found.get("net", ()), Network().convert)
        types = tuple(word.text for word in found.get("type", ()))
        return Rule(Action(line.word.text.lower()), types, tuple(networks))


@dataclass(frozen=True, slots=True)
class Acl(PluginOptions):
    zones: tuple[Name, ...] = arguments(Zones(), default=(), help="zones")
    rules: tuple[Rule, ...] = repeated(RuleLine(), words=("allow", "block"), help="rules")


class Level(Enum):
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Consolidation:
    seconds: float
    pattern: re.Pattern[str]
    level: Level = Level.ERROR
    show_first: bool = False


@dataclass(frozen=True, slots=True)
class Errors(PluginOptions):
    stacktrace: bool = flag(help="tracebacks")
    consolidate: tuple[Consolidation, ...] = repeated(
        Group(Consolidation, {"DURATION": Duration(), "REGEXP": Pattern()}, {"LEVEL": Choice(Level)}), help="count"
    )


@dataclass(frozen=True, slots=True)
class Bind(PluginOptions):
    addresses: tuple[str, ...] = arguments(Many(Text("ADDR|IFACE"), 1), help="where to listen")
    excepted: tuple[str, ...] = option(Many(Text("ADDR|IFACE"), 1), default=(), word="except", help="where not")


@dataclass(frozen=True, slots=True)
class Plain(PluginOptions):
    pass
