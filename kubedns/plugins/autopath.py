"""autopath: the whole search list of a pod is tried at once, where the pod would ask name by name.

Syntax::

    autopath [ZONE...] RESOLV-CONF|@kubernetes

A name that ends in the first domain of the client's search list is one that a resolver made; the other domains are
tried here, and an alias leads to the first that exists. With ``@kubernetes`` the list is that of the pod at the
client's address (``NAMESPACE.svc.ZONE``, ``svc.ZONE``, ``ZONE``, then this machine's own), so the server block needs a
``kubernetes`` line with ``pods verified``; with a file in the form of resolv.conf it is the same for all clients. ZONES
default to those of the server block. What exists under the name that was asked is answered as ever.

Example::

    .:1053 {
        autopath cluster.local @kubernetes
        kubernetes cluster.local {
            manifests .
            pods verified
        }
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.shapes import Shape, Zones
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.names import MAX_NAME_OCTETS, ROOT, Name, name_of
from kubedns.dns.question import Query
from kubedns.dns.rdata import CNAME
from kubedns.dns.rrset import RRset
from kubedns.plugins.cache import Cache
from kubedns.plugins.kubernetes import Kubernetes
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.records.options import PodsMode
from kubedns.upstream.resolvconf import search_domains

_log = logging.getLogger("plugin/autopath")
_OWN = Path("/etc/resolv.conf")
_KUBERNETES = "@kubernetes"


@dataclass(frozen=True, slots=True)
class SearchPath:
    """``zones`` whose names are looked at (empty: the server block's), and the ``file`` of the list, if it is one."""

    zones: tuple[Name, ...]
    file: Word | None


class PathWords(Shape[SearchPath]):
    """``[ZONE...] RESOLV-CONF|@kubernetes``."""

    syntax = "[ZONE...] RESOLV-CONF|@kubernetes"

    def read(self, line: Directive) -> SearchPath:
        """Zones and list."""
        words = self.words(line, 1)
        zones = Zones().read(Directive(line.word, words[:-1]))
        return SearchPath(zones, None if words[-1].text == _KUBERNETES else words[-1])


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """autopath [ZONE...] RESOLV-CONF|@kubernetes: try a client's search list at once."""

    path: SearchPath = arguments(PathWords(), help="names that are looked at, and where the search list is from")


class Autopath:
    """Tries search lists. ``own``: the domains at the end of a pod's; ``fixed``: everybody's list, if not empty."""

    word = "autopath"

    def __init__(self, zones: Sequence[Name], own: Sequence[Name], fixed: Sequence[Name], context: Context) -> None:
        self._zones = zones
        self._own = own
        self._fixed = fixed
        self._block = context.block

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Warn where the clients' pods will not be known."""
        modes = [plugin.zone.options.pods for plugin in plugins if isinstance(plugin, Kubernetes)]
        if not self._fixed and PodsMode.VERIFIED not in modes:
            _log.warning("%s has no pods to look at: write `pods verified` into the block's kubernetes", _KUBERNETES)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The answer under the name asked, unless it does not exist: then that of the first domain with the name."""
        first = await next_plugin(query)
        name = query.question.name
        if first.rcode != Rcode.NXDOMAIN or not name.is_within(self._zones):
            return first
        domains = self._fixed or self._search_list(query.client.address)
        if not domains or not name.is_at_or_below(domains[0]) or name == domains[0]:
            return msgspec.structs.replace(first, varies_by_client=not self._fixed)
        answer = await self._tried(query, first, domains, self._kept(next_plugin))
        return msgspec.structs.replace(answer, varies_by_client=not self._fixed)

    async def _tried(self, query: Query, first: Answer, domains: Sequence[Name], ask: Next) -> Answer:
        """What the first domain with the name says, void once one before it has the name; else ``first``."""
        name = query.question.name
        missing = first.depends_on
        base = name.labels[: len(name.labels) - len(domains[0].labels)]
        for domain in (*domains[1:], ROOT):
            candidate = name_of((*base, *domain.labels))
            if candidate.octets() > MAX_NAME_OCTETS:
                continue
            if query.trace.active:
                query.trace.step(self.word, f"tries {candidate}")
            question = msgspec.structs.replace(query.question, name=candidate)
            answer = await ask(msgspec.structs.replace(query, question=question))
            if answer.rcode == Rcode.NOERROR:
                return _under(name, candidate, answer).also_on(missing)
            missing |= answer.depends_on
        return first.also_on(missing)

    def _kept(self, next_plugin: Next) -> Next:
        """The rest of the chain, with what ``cache`` has of it: that stands above, and knows the name asked alone."""
        for plugin in self._block:
            if isinstance(plugin, Cache):
                return partial(plugin.answer, next_plugin=next_plugin)
        return next_plugin

    def _search_list(self, address: bytes) -> Sequence[Name]:
        """The domains of the pod at ``address``; empty where there is none, or more than one."""
        for plugin in self._block:
            if isinstance(plugin, Kubernetes):
                namespaces = {pod.namespace for pod in plugin.zone.lister.pods_at(address)}
                zone = next((zone.name for zone in plugin.zone.zones if not zone.is_reverse), None)
                if len(namespaces) == 1 and zone is not None:
                    services = zone.child(b"svc")
                    return (services.child(namespaces.pop().encode()), services, zone, *self._own)
        return ()


def _under(name: Name, candidate: Name, answer: Answer) -> Answer:
    """The answer for ``candidate`` as one for ``name``: an alias in front, if there is anything behind it."""
    if not answer.answer:
        return answer
    ttl = min(rrset.ttl for rrset in answer.answer)
    alias = RRset(name, ttl, (CNAME(candidate),))
    return msgspec.structs.replace(answer, answer=(alias, *answer.answer))


def make(options: Options, context: Context) -> Autopath:
    """The plugin.

    Raises:
        ConfigurationError: the file cannot be read, or has no search list.
    """
    zones = options.path.zones or context.zones
    if options.path.file is None:
        own = search_domains(_OWN.read_text(errors="replace")) if _OWN.exists() else ()
        return Autopath(zones, own, (), context)
    word = options.path.file
    try:
        fixed = search_domains((context.folder / word.text).read_text(errors="replace"))
    except OSError as error:
        raise word.fault(
            f"autopath: {word.text} cannot be read: {error.strerror}", f"or write {_KUBERNETES}"
        ) from error
    if not fixed:
        raise word.fault(f"autopath: {word.text} has no search line", f"or write {_KUBERNETES}")
    return Autopath(zones, (), fixed, context)
