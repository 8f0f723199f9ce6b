"""cancel: a query is given up after a time.

Syntax: ``cancel [TIMEOUT]``

After TIMEOUT (5.001s by default, just longer than most clients wait) whatever is being done for the query ends, and the
answer is SERVFAIL.

Example::

    .:1053 {
        cancel 3s
    }
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from kubedns.corefile.options import PluginOptions, arguments
from kubedns.corefile.values import Duration
from kubedns.dns.answer import Answer, servfail
from kubedns.dns.edns import ErrorCode
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """cancel [TIMEOUT]: give queries up."""

    timeout: float = arguments(Duration(at_least=0.001), default=5.001, help="for how long a query may take")


class Cancel:
    """Gives every query up after ``seconds``."""

    word = "cancel"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer, or SERVFAIL if that takes too long."""
        task = asyncio.get_running_loop().create_task(next_plugin(query))
        try:
            done, _ = await asyncio.wait((task,), timeout=self._seconds)
        finally:
            if not task.done():
                task.cancel()
        if done:
            return task.result()
        query.trace.step(self.word, f"nothing came within {self._seconds:g} seconds: SERVFAIL")
        return servfail(ErrorCode.OTHER, "given up: it took too long")


def make(options: Options, context: Context) -> Cancel:
    """The plugin."""
    return Cancel(options.timeout)
