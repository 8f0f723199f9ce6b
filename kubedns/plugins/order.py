"""The table of plugins, in chain order: the first hears a query first and sees its answer last.

The order of lines in a Corefile means nothing; this order does, and people rely on it. It is CoreDNS's: what sets a
server up stands first, then what watches (errors, log), then what judges or changes an answer (acl, any, loadbalance,
minimal), then what answers. Adding a plugin is a module named like its word, and a row here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType


@dataclass(frozen=True, slots=True)
class Row:
    """A word of the Corefile. ``once``: at most once in a server block."""

    word: str
    once: bool = True

    def module(self) -> ModuleType:
        """The plugin's module, imported when it is first needed: it has ``Options`` and, but for bind, ``make``."""
        return import_module(f"kubedns.plugins.{self.word}")


CHAIN = (
    Row("root"),
    Row("view"),
    Row("cancel"),
    Row("tls"),
    Row("timeouts"),
    Row("reload"),
    Row("nsid"),
    Row("bufsize"),
    Row("bind", once=False),
    Row("ready"),
    Row("health"),
    Row("prometheus"),
    Row("errors"),
    Row("log", once=False),
    Row("local"),
    Row("dns64"),
    Row("acl", once=False),
    Row("any"),
    Row("chaos"),
    Row("loadbalance"),
    Row("cache"),
    Row("rewrite", once=False),
    Row("header"),
    Row("autopath"),
    Row("minimal"),
    Row("template", once=False),
    Row("transfer", once=False),
    Row("hosts"),
    Row("k8s_external"),
    Row("kubernetes"),
    Row("multicluster"),
    Row("file", once=False),
    Row("auto"),
    Row("secondary", once=False),
    Row("loop"),
    Row("forward", once=False),
    Row("proxy", once=False),
    Row("erratic"),
    Row("whoami"),
)
"""Every word of CoreDNS that is meant to be served, in chain order."""

HARMLESS = {
    "debug": "every error is logged with its place, with or without it",
    "dnstap": "`log` writes queries down",
    "metadata": "no plugin here sets or reads any",
    "multisocket": "one socket takes all that one process can answer",
    "pprof": "Go's profiles do not exist here",
    "trace": "`kubedns explain` tells a query's way",
}
"""Words of CoreDNS's that change no answer, and why they have no effect: read over, with a warning."""

REFUSED = {
    "azure": "serve the zone with `forward` to Azure's name servers",
    "clouddns": "serve the zone with `forward` to Google's name servers",
    "dnssec": "no zone is signed here; leave the line out",
    "etcd": "keep the records in Kubernetes, or `forward` their zone to a CoreDNS that has etcd",
    "federation": "CoreDNS itself has no such plugin any more; leave the line out",
    "grpc": "use `forward`",
    "grpc_server": "leave the line out",
    "https": "leave the line out",
    "https3": "leave the line out",
    "nomad": "use `forward` to the Nomad cluster's own DNS",
    "on": "leave the line out",
    "quic": "leave the line out",
    "route53": "serve the zone with `forward` to Route 53's name servers",
    "sign": "no zone is signed here; leave the line out",
    "tsig": "no message is signed here; limit clients with `acl`",
}
"""Words of CoreDNS's that change answers and are not meant to be served, and what to do instead."""

PLUGINS = {row.word: row for row in CHAIN}
ONCE_ONLY = frozenset(row.word for row in CHAIN if row.once)
