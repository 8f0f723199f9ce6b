"""cache: what upstreams answer is kept for its TTL.

Syntax::

    cache [TTL] [ZONES...] {
        success CAPACITY [TTL] [MINTTL]
        denial CAPACITY [TTL] [MINTTL]
        prefetch AMOUNT [DURATION] [PERCENTAGE%]
        serve_stale [DURATION] [immediate|verify [TIMEOUT]]
        servfail DURATION
        disable success|denial [ZONES...]
        keepttl
    }

TTL is the longest that anything is kept: 3600 s, denials 1800 s, unless given; MINTTL the shortest: 5 s. TTLs count
down from what is kept, unless ``keepttl`` is set. ``prefetch`` asks anew, in the last PERCENTAGE (10%) of its time, for
what was asked AMOUNT times without a pause of DURATION (1m). ``serve_stale`` gives what has ended, with a TTL of 0 and
for up to DURATION (1h): ``immediate``, while it is asked for anew, or, with ``verify``, if the upstream fails or takes
more than TIMEOUT (1.8s). An upstream's SERVFAIL is kept for ``servfail`` (5 s), that nobody answers for no more than
1 s. Names of the cluster are not kept here: they are exact by invalidation. Where ``hosts``, ``kubernetes`` or a zone
let a missing name fall through to an upstream, its answer is kept until the name may be there. When the configuration
changes, and this server block does not, what is kept stays.

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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kubedns.corefile.options import PluginOptions, arguments, flag, option, repeated
from kubedns.corefile.shapes import Group
from kubedns.corefile.values import Count, Duration, Seconds
from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.answer import Key as Dependency
from kubedns.dns.edns import ErrorCode, ExtendedError
from kubedns.dns.lifetime import UNPROVED_DENIAL, is_unproved, lifetime, with_ttl
from kubedns.dns.names import Name
from kubedns.dns.question import Query
from kubedns.plugins.cache_reading import (
    Bounds,
    Class,
    Disabled,
    DisabledWords,
    Prefetch,
    PrefetchWords,
    RefreshMode,
    Scope,
    ScopeWords,
    Stale,
    StaleWords,
)
from kubedns.plugins.kept_answers import Counters, Kept, KeptAnswers, Key, Setting, kind_of
from kubedns.plugins.plugin import Context, Next, Plugin
from kubedns.plugins.refreshes import Refreshes
from kubedns.upstream.answers import spelt_as

_UNREACHABLE_SECONDS = 1.0
"""How long it is remembered that nobody answers: no longer than it must (RFC 9520 §3.2), so that recovery is seen."""
_ANSWERS = (Rcode.NOERROR, Rcode.NXDOMAIN)
_LONGEST = {Class.SUCCESS: 3600, Class.DENIAL: 1800}
_STALE = ExtendedError(ErrorCode.STALE_ANSWER, "the answer has ended and is asked for anew")

Clock = Callable[[], float]
_BOUNDS = Group(Bounds, {"CAPACITY": Count(at_least=1)}, {"TTL": Seconds(at_least=1), "MINTTL": Seconds()})


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """cache [TTL] [ZONES...] { ... }: what upstreams answer is kept for its TTL."""

    scope: Scope = arguments(ScopeWords(), default=Scope(), help="the longest TTL, and the zones whose names are kept")
    success: Bounds = option(_BOUNDS, default=Bounds(), help="how many answers, and between which TTLs")
    denial: Bounds = option(_BOUNDS, default=Bounds(), help="how many denials, and between which TTLs")
    prefetch: Prefetch = option(PrefetchWords(), default=Prefetch(), help="ask ahead of the end")
    serve_stale: Stale = option(StaleWords(), default=Stale(), help="give what has ended while it is asked for anew")
    servfail: float = option(Duration(at_most=300), default=5.0, help="how long a failure is kept; 0: not at all")
    disable: tuple[Disabled, ...] = repeated(DisabledWords(), help="what is not kept")
    keepttl: bool = flag(help="show TTLs as they came, not counted down")


class Cache:
    """Keeps upstreams' answers. ``clock`` gives monotonic seconds.

    ``before``: the one of the configuration before, if it may go on giving what that one has.
    """

    word = "cache"

    def __init__(
        self,
        options: Options,
        zones: tuple[Name, ...],
        clock: Clock,
        counters: Counters,
        setting: Setting = Setting(),  # noqa: B008 - frozen
        before: Cache | None = None,
    ) -> None:
        self._options = options
        self._zones = zones
        self._clock = clock
        self._counters = counters
        self.setting = setting
        self._before = before
        self._kept = self._empty()
        self._refreshes = Refreshes()
        self._changes = 0

    async def answer(self, query: Query, next_plugin: Next) -> Answer:
        """What is kept, as old as it is; else the rest of the chain's answer, which is kept."""
        question = query.question
        if not question.name.is_within(self._zones):
            return await next_plugin(query)
        key = (question.name.key, question.type, question.rdclass, query.dnssec_ok, query.checking_disabled)
        kept = self._kept.get(key)
        if kept is not None:
            shown = await self._shown(kept, query, next_plugin, key)
            if shown is not None:
                return spelt_as(question.name, shown)
        self._counters.misses.add()
        changes = self._changes
        return self._keep(key, query, await next_plugin(query), changes)

    def changed(self, keys: Iterable[Dependency]) -> None:
        """Forget what depends on any of ``keys``."""
        self._changes += 1
        self._kept.drop(keys)

    def start(self, plugins: Sequence[Plugin]) -> None:
        """Take over what the one before has kept."""
        before, self._before = self._before, None
        if before is None:
            return
        self._kept = before.handed_over()
        self._kept.be_counted()
        if self.setting.routes != before.setting.routes:
            self._kept.drop_aliases()

    def handed_over(self) -> KeptAnswers:
        """What is kept, which is another's from now on."""
        kept, self._kept = self._kept, self._empty()
        return kept

    def close(self) -> None:
        """Ask for nothing anew any more, and keep nothing."""
        self._refreshes.close()
        self._kept.clear()

    def _empty(self) -> KeptAnswers:
        options = self._options
        capacities = {Class.SUCCESS: options.success.capacity, Class.DENIAL: options.denial.capacity}
        return KeptAnswers(capacities, self._counters)

    async def _shown(self, kept: Kept, query: Query, rest: Next, key: Key) -> Answer | None:
        """What is kept with the time that is left to it; None where it has ended for good."""
        now = self._clock()
        left = kept.seconds - (now - kept.since)
        if left <= 0:
            return await self._ended(kept, -left, query, rest, key)
        prefetch = self._options.prefetch
        ahead = left - max(kept.seconds * prefetch.share, 1) if prefetch.amount else left
        if now - kept.last_asked >= prefetch.pause:
            kept.asked = 0
        kept.last_asked = now
        kept.hit()
        if 0 < prefetch.amount <= kept.asked and ahead <= 0:
            self._counters.prefetches.add()
            self._refresh(query, rest, key)
        if query.trace.active:
            query.trace.step(self.word, f"kept for {left:.0f} s more")
        if self._options.keepttl:
            # Once it may be asked for ahead, each query has to get here.
            return msgspec.structs.replace(kept.answer, lifetime_seconds=max(ahead, 0), served_again=kept.hit)
        # The finished response may be served again until its TTLs change.
        ttl = math.ceil(left)
        counted_down = with_ttl(kept.answer, ttl)
        return msgspec.structs.replace(counted_down, lifetime_seconds=left - ttl + 1, served_again=kept.hit)

    async def _ended(self, kept: Kept, ago: float, query: Query, rest: Next, key: Key) -> Answer | None:
        """What ended so many seconds ago, if it may still be given, or what is there in its place by now."""
        stale = self._options.serve_stale
        if ago >= stale.seconds or kept.answer.rcode == Rcode.SERVFAIL:
            return None
        kept.hit()
        task = self._refresh(query, rest, key)
        if stale.mode is RefreshMode.VERIFY and task is not None:
            await asyncio.wait((task,), timeout=stale.patience)
            if task.done() and not task.cancelled() and task.exception() is None:
                fresh = task.result()
                if fresh.rcode in _ANSWERS:
                    return fresh
        query.trace.step(self.word, "kept, and ended: given once more while it is asked for anew")
        self._counters.stale.add()
        return msgspec.structs.replace(with_ttl(kept.answer, 0), lifetime_seconds=0, extended_error=_STALE)

    def _keep(self, key: Key, query: Query, answer: Answer, changes: int) -> Answer:
        """Keep the answer if it may be kept; ``changes``: how many there had been when it was asked for."""
        now = self._clock()
        if answer.rcode == Rcode.NXDOMAIN and answer.recursion_available and self._kept.has_address(key, now):
            query.trace.step(self.word, "NXDOMAIN, but the name has an address: there is no record of this type")
            answer = msgspec.structs.replace(answer, rcode=Rcode.NOERROR)
        seconds = self._seconds(query.question.name, answer)
        # What was asked for across a change may be from before it.
        if seconds <= 0 or (answer.depends_on and changes != self._changes):
            # Hits of the answer cache, which has the cluster's names, are hits to whoever looks at the counters.
            return msgspec.structs.replace(answer, served_again=self._counters.again[kind_of(answer)])
        self._kept.put(key, answer, seconds, now)
        return answer if self._options.keepttl else with_ttl(answer, int(seconds))

    def _seconds(self, name: Name, answer: Answer) -> float:
        """How long the answer is kept; 0: not. What the cluster says itself is void by a change and not by its age."""
        if not answer.recursion_available or answer.varies_by_client:
            return 0
        if answer.rcode == Rcode.SERVFAIL:
            return min(self._options.servfail, _UNREACHABLE_SECONDS if _is_unreachable(answer) else math.inf)
        if answer.rcode not in _ANSWERS:
            return 0
        kind = kind_of(answer)
        for disabled in self._options.disable:
            if disabled.kind is kind and name.is_within(disabled.zones or self._zones):
                return 0
        if is_unproved(answer):
            return UNPROVED_DENIAL
        bounds = self._options.success if kind is Class.SUCCESS else self._options.denial
        longest = bounds.max_ttl or self._options.scope.max_ttl or _LONGEST[kind]
        return min(max(lifetime(answer), bounds.min_ttl), longest)

    def _refresh(self, query: Query, rest: Next, key: Key) -> asyncio.Task[Answer] | None:
        """Ask anew, and keep what is said but for a failure; None: too much is being asked."""

        async def ask() -> Answer:
            changes = self._changes
            fresh = await rest(query)
            return fresh if fresh.rcode == Rcode.SERVFAIL else self._keep(key, query, fresh, changes)

        return self._refreshes.start(key, ask)


def _is_unreachable(answer: Answer) -> bool:
    """Whether no upstream said anything."""
    return answer.extended_error is not None and answer.extended_error.code == ErrorCode.NO_REACHABLE_AUTHORITY


def make(options: Options, context: Context) -> Cache:
    """The plugin."""
    zones = options.scope.zones or context.zones
    counters = Counters(context.metrics, context.servers, zones, context.view)
    setting = Setting(context.written, context.routes)
    caches = (plugin for plugin in context.before if isinstance(plugin, Cache) and setting.is_after(plugin.setting))
    return Cache(options, zones, time.monotonic, counters, setting, next(caches, None))
