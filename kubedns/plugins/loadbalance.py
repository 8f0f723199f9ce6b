"""loadbalance: the addresses of an answer are given in another order each time.

Syntax::

    loadbalance [round_robin] {
        prefer CIDR...
    }

Clients take the first address, so each comes first equally often and what follows is random; aliases stay in front.
With ``prefer``, addresses inside the first network that has any come before all others, and take turns among
themselves.

Example::

    cluster.local:1053 {
        loadbalance round_robin
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec

from kubedns.corefile.options import PluginOptions, arguments, option
from kubedns.corefile.shapes import Many
from kubedns.corefile.values import AnyNetwork, Choice
from kubedns.corefile.values import Network as NetworkWord
from kubedns.dns.answer import Answer
from kubedns.dns.question import Query
from kubedns.dns.rdata import AAAA, A, Rdata
from kubedns.plugins.networks import Network, network_of
from kubedns.plugins.plugin import Context, Next


class Policy(Enum):
    """How addresses are ordered."""

    ROUND_ROBIN = "round_robin"


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """loadbalance [round_robin] { prefer CIDR... }: another order of the addresses in each answer."""

    policy: Policy = arguments(Choice(Policy), default=Policy.ROUND_ROBIN, help="how addresses are ordered")
    prefer: tuple[AnyNetwork, ...] = option(
        Many(NetworkWord(), 1), default=(), help="networks whose addresses come before all others"
    )


class LoadBalance:
    """Marks answers as free to be reordered. ``preferred``: networks whose addresses come first."""

    word = "loadbalance"

    def __init__(self, preferred: Sequence[Network]) -> None:
        self._preferred = preferred

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """The rest of the chain's answer; several addresses may come in any order, preferred ones before others."""
        answer = await next_plugin(query)
        if not [rrset for rrset in answer.answer if len(rrset.rdatas) > 1]:
            return answer
        return msgspec.structs.replace(answer, shuffled=True, rank=self._rank if self._preferred else None)

    def _rank(self, rdata: Rdata) -> int:
        if not isinstance(rdata, A | AAAA):
            return 0
        ranks = (rank for rank, network in enumerate(self._preferred) if network.holds(rdata.address))
        return next(ranks, len(self._preferred))


def make(options: Options, context: Context) -> LoadBalance:
    """The plugin."""
    return LoadBalance([network_of(network) for network in options.prefer])
