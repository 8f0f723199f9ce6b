"""The table of plugins, in chain order: the first hears a query first and sees its answer last.

The order of lines in a Corefile means nothing; this order does, and people rely on it. It is CoreDNS's: what sets a
server up stands first, then what watches (errors, log), then what judges or changes an answer (any, loadbalance, acl,
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


ROWS = (
    Row("bind", once=False),
    Row("ready"),
    Row("health"),
    Row("prometheus"),
    Row("errors"),
    Row("log", once=False),
    Row("any"),
    Row("loadbalance"),
    Row("acl", once=False),
    Row("cache"),
    Row("minimal"),
    Row("kubernetes"),
    Row("loop"),
    Row("forward", once=False),
)
PLUGINS = {row.word: row for row in ROWS}
ONCE_ONLY = frozenset(row.word for row in ROWS if row.once)

LATER = frozenset(
    (
        "auto", "autopath", "bufsize", "cancel", "chaos", "dns64", "erratic", "file", "header",
        "hosts", "k8s_external", "local", "multicluster", "nsid", "reload",
        "rewrite", "secondary", "template", "timeouts", "tls", "transfer", "view", "whoami",
    )
)  # fmt: skip
"""Words of CoreDNS that are known and not built: refused by name, not as a slip of the pen."""
