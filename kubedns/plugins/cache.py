"""cache: what upstreams answer is kept for its TTL.

Syntax::

    cache [TTL] [ZONES...] {
        success CAPACITY [TTL] [MINTTL]
        denial CAPACITY [TTL] [MINTTL]
        prefetch AMOUNT [DURATION]
        serve_stale [DURATION]
        servfail DURATION
        disable success|denial [ZONES...]
        keepttl
    }

TTL is the longest that anything is kept: 3600 s, denials 1800 s, unless given; MINTTL the shortest: 5 s. TTLs count
down from what is kept, unless ``keepttl`` is set. ``prefetch`` asks anew, shortly before the end, for what was asked
AMOUNT times without a pause of DURATION (1m). ``serve_stale`` gives what has ended, with a TTL of 0 and for up to
DURATION (1h), while it is asked for anew. Names of the cluster are not kept here: they are exact by invalidation.

Example::

    .:1053 {
        forward . 192.0.2.1
        cache 30 {
            success 5000
            disable denial example.com
        }
    }
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import msgspec
from cachetools import LRUCache

from kubedns.corefile.blocks import Directive
from kubedns.corefile.options import PluginOptions, arguments, flag, option, repeated
from kubedns.corefile.shapes import Group, Shape, Zones
from kubedns.corefile.values import Choice, Count, Duration, Seconds
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.lifetime import lifetime, with_ttl
from kubedns.dns.names import Labels, Name
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context, Next
from kubedns.upstream.forwarder import spelt_as

CAPACITY = 9984
MIN_TTL = 5
_PREFETCH_SHARE = 10
"""The last tenth of its time is when something is asked for ahead of its end."""
_STALE = ExtendedError(ErrorCode.STALE_ANSWER, "the answer has ended and is asked for anew")

Key = tuple[Labels, int, int, bool, bool]
Clock = Callable[[], float]


class Class(Enum):
    """Kinds of answers that are kept apart."""

    SUCCESS = "success"
    DENIAL = "denial"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many answers of a kind are kept, and between which TTLs."""

    capacity: int = CAPACITY
    max_ttl: int | None = None
    min_ttl: int = MIN_TTL


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Asked for ahead is what was asked ``amount`` times without a pause of ``pause`` seconds; 0: nothing."""

    amount: int = 0
    pause: float = 60.0


@dataclass(frozen=True, slots=True)
class Scope:
    """The longest TTL, if one is set, and the zones whose names are kept."""

    max_ttl: int | None = None
    zones: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Disabled:
    """Answers of this kind to names of ``zones`` (empty: all) are not kept."""

    kind: Class
    zones: tuple[Name, ...]


class ScopeWords(Shape[Scope]):
    """``[TTL] [ZONES...]``."""

    syntax = "[TTL] [ZONES...]"

    def read(self, line: Directive) -> Scope:
        """TTL and zones."""
        words = self.words(line)
        if words and words[0].text.isdigit():
            return Scope(Seconds(at_least=1).convert(words[0]), Zones().read(Directive(line.word, words[1:])))
        return Scope(None, Zones().read(line))


class DisabledWords(Shape[Disabled]):
    """``success|denial [ZONES...]``."""

    syntax = "success|denial [ZONES...]"

    def read(self, line: Directive) -> Disabled:
        """What is not kept."""
        words = self.words(line, 1)
        return Disabled(Choice(Class).convert(words[0]), Zones().read(Directive(line.word, words[1:])))


class StaleWords(Shape[float]):
    """``[DURATION]``."""

    syntax = "[DURATION]"

    def read(self, line: Directive) -> float:
        """Seconds; an hour unless given."""
        words = self.words(line, 0, 1)
        return Duration().convert(words[0]) if words else 3600.0


_BOUNDS = Group(Bounds, {"CAPACITY": Count(at_least=1)}, {"TTL": Seconds(at_least=1), "MINTTL": Seconds()})


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """cache [TTL] [ZONES...] { ... }: what upstreams answer is kept for its TTL."""

    scope: Scope = arguments(ScopeWords(), default=Scope(), help="the longest TTL, and the zones whose names are kept")
    success: Bounds = option(_BOUNDS, default=Bounds(), help="how many answers, and between which TTLs")
    denial: Bounds = option(_BOUNDS, default=Bounds(), help="how many denials, and between which TTLs")
    prefetch: Prefetch = option(
        Group(Prefetch, {"AMOUNT": Count()}, {"DURATION": Duration()}), default=Prefetch(), help="ask ahead of the end"
    )
    serve_stale: float = option(StaleWords(), default=0.0, help="give what has ended while it is asked for anew")
    servfail: float = option(Duration(at_most=300), default=5.0, help="how long a failure is kept; 0: not at all")
    disable: tuple[Disabled, ...] = repeated(DisabledWords(), help="what is not kept")
    keepttl: bool = flag(help="show TTLs as they came, not counted down")


@dataclass(slots=True)
class Kept:
    """An answer, the ``seconds`` it may be kept, since when it is, and how it is asked for."""

    answer: Answer
    seconds: float
    since: float
    asked: int = 0
    last_asked: float = 0.0


class Cache:
    """Keeps upstreams' answers. ``clock`` gives monotonic seconds."""

    word = "cache"

    def __init__(self, options: Options, zones: tuple[Name, ...], clock: Clock) -> None:
        self._options = options
        self._zones = zones
        self._clock = clock
        self._kept: dict[Class, LRUCache[Key, Kept]] = {
            Class.SUCCESS: LRUCache(options.success.capacity),
            Class.DENIAL: LRUCache(options.denial.capacity),
        }
        self._refreshing: dict[Key, asyncio.Task[Answer]] = {}

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What is kept, as old as it is; else the rest of the chain's answer, which is kept."""
        question = query.question
        if not question.name.is_within(self._zones):
            return await next_plugin(query)
        dnssec_ok = query.dnssec_ok
        key = (question.name.key, question.type, question.rdclass, dnssec_ok, query.checking_disabled)
        kept = self._kept[Class.SUCCESS].get(key) or self._kept[Class.DENIAL].get(key)
        if kept is not None:
            shown = self._shown(kept, query, next_plugin, key)
            if shown is not None:
                return spelt_as(question.name, shown)
        return self._keep(key, question.name, await next_plugin(query))

    def _shown(self, kept: Kept, query: Query, rest: Next, key: Key) -> Answer | None:
        """What is kept with the time that is left to it; None where it has ended for good."""
        now = self._clock()
        left = kept.seconds - (now - kept.since)
        if left <= 0:
            if -left >= self._options.serve_stale or kept.answer.rcode == Rcode.SERVFAIL:
                return None
            query.trace.step(self.word, "kept, and ended: given once more while it is asked for anew")
            self._refresh(query, rest, key)
            return msgspec.structs.replace(with_ttl(kept.answer, 0), lifetime_seconds=0, extended_error=_STALE)
        kept.asked = kept.asked + 1 if now - kept.last_asked < self._options.prefetch.pause else 1
        kept.last_asked = now
        if 0 < self._options.prefetch.amount <= kept.asked and left * _PREFETCH_SHARE <= kept.seconds:
            self._refresh(query, rest, key)
        if query.trace.active:
            query.trace.step(self.word, f"kept for {left:.0f} s more")
        if self._options.keepttl:
            return msgspec.structs.replace(kept.answer, lifetime_seconds=left)
        # The finished response may be served again until its TTLs change.
        ttl = math.ceil(left)
        return msgspec.structs.replace(with_ttl(kept.answer, ttl), lifetime_seconds=left - ttl + 1)

    def _keep(self, key: Key, name: Name, answer: Answer) -> Answer:
        seconds = self._seconds(name, answer)
        if seconds <= 0:
            return answer
        kind = kind_of(answer)
        for other in self._kept.values():
            other.pop(key, None)
        self._kept[kind][key] = Kept(answer, seconds, self._clock())
        return answer if self._options.keepttl else with_ttl(answer, int(seconds))

    def _seconds(self, name: Name, answer: Answer) -> float:
        """How long the answer is kept; 0: not. What depends on the cluster is void by a change and not by its age."""
        if not answer.recursion_available or answer.depends_on or answer.varies_by_client:
            return 0
        if answer.rcode == Rcode.SERVFAIL:
            return self._options.servfail
        if answer.rcode not in (Rcode.NOERROR, Rcode.NXDOMAIN):
            return 0
        kind = kind_of(answer)
        for disabled in self._options.disable:
            if disabled.kind is kind and name.is_within(disabled.zones or self._zones):
                return 0
        bounds = self._options.success if kind is Class.SUCCESS else self._options.denial
        default = 3600 if kind is Class.SUCCESS else 1800
        longest = bounds.max_ttl or self._options.scope.max_ttl or default
        return min(max(lifetime(answer), bounds.min_ttl), longest)

    def _refresh(self, query: Query, rest: Next, key: Key) -> None:
        if key in self._refreshing:
            return

        async def ask() -> Answer:
            fresh = await rest(query)
            if fresh.rcode != Rcode.SERVFAIL:
                self._keep(key, query.question.name, fresh)
            return fresh

        task = asyncio.get_running_loop().create_task(ask())
        self._refreshing[key] = task
        task.add_done_callback(lambda _: self._refreshing.pop(key, None))


def kind_of(answer: Answer) -> Class:
    """Success, or a denial or failure."""
    is_success = answer.rcode == Rcode.NOERROR and bool(answer.answer) and not answer.is_denial
    return Class.SUCCESS if is_success else Class.DENIAL


def make(options: Options, context: Context) -> Cache:
    """The plugin."""
    return Cache(options, options.scope.zones or context.zones, time.monotonic)
