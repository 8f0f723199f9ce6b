"""loop: an upstream that sends our questions back to us is found and switched off.

Syntax: ``loop``

Once queries are answered, each upstream of the server block's ``forward``, and each that a changed file names later,
is asked for a name that nobody can guess; while it does not answer, again and again for up to half a minute. An
upstream through which that question comes back, as a resolv.conf that names this server itself does, is asked no more;
a log line says which, and everything else goes on.

Example::

    .:1053 {
        loop
        forward . 192.0.2.1
    }
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from kubedns.corefile.options import PluginOptions
from kubedns.dns.answer import Answer, refused
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.names import Labels, Name
from kubedns.dns.question import Query, Question
from kubedns.dns.rdata import RecordType
from kubedns.dns.reply import question_octets
from kubedns.plugins.forward import Forward
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.upstream.exchange import Asked, UpstreamError
from kubedns.upstream.upstream import Upstream

_PROBE_SECONDS = 2.0
_TRIES = 10
_PAUSE_SECONDS = 1.0
_FOUND = refused(ExtendedError(ErrorCode.OTHER, "this question went round in a loop"))
_log = logging.getLogger("plugin/loop")


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """loop: find upstreams that send our questions back to us."""


class Loop:
    """Sends the probes and sees whether they come back."""

    word = "loop"

    def __init__(self) -> None:
        self._probes: dict[Labels, Upstream] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Probe the upstreams of the server block's ``plugins``."""
        for plugin in plugins:
            if isinstance(plugin, Forward):
                probe = partial(self._begin, plugin.zone)
                plugin.tell_of_new(probe)
                for upstream in plugin.upstreams:
                    probe(upstream)

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """Notice a probe that has come back; all else goes on."""
        if query.question.type != RecordType.HINFO or not self._probes:
            return await next_plugin(query)
        upstream = self._probes.get(query.question.name.key)
        if upstream is None:
            return await next_plugin(query)
        if not upstream.is_off:
            _log.error("%s sends our questions back to us, and is asked no more; take it out", upstream)
            upstream.switch_off()
        return _FOUND

    def close(self) -> None:
        """End the probes that are under way."""
        for task in self._tasks:
            task.cancel()

    def _begin(self, zone: Name, upstream: Upstream) -> None:
        task = asyncio.get_running_loop().create_task(self._probe(zone, upstream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _probe(self, zone: Name, upstream: Upstream) -> None:
        """Ask until there is an answer: an upstream through which it goes round may be started after us."""
        for _ in range(_TRIES):
            name = zone.child(secrets.token_hex(12).encode(), secrets.token_hex(12).encode())
            self._probes[name.key] = upstream
            try:
                await upstream.ask(Asked(question_octets(Question(name, RecordType.HINFO))), False, _PROBE_SECONDS)
                return
            except UpstreamError:
                if upstream.is_off:
                    return
            finally:
                del self._probes[name.key]
            await asyncio.sleep(_PAUSE_SECONDS)


def make(options: Options, context: Context) -> Loop:
    """The plugin."""
    return Loop()
