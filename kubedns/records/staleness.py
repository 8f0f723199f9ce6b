"""Answers from what is remembered of a cluster, until it has been listed."""

from __future__ import annotations

import msgspec

from kubedns.cluster.lister import ANY_SYNC, Lister
from kubedns.dns.answer import Answer
from kubedns.dns.edns import ErrorCode, ExtendedError

_STALE = ExtendedError(ErrorCode.STALE_ANSWER, "remembered; the cluster has yet to be listed")


def as_known(answer: Answer, lister: Lister) -> Answer:
    """The answer, with a word of it where ``lister`` has only what is remembered (RFC 8914 §4.4)."""
    if not lister.is_stale:
        return answer
    return msgspec.structs.replace(answer.also_on(frozenset((ANY_SYNC,))), extended_error=_STALE)
