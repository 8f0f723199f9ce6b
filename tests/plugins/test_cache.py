"""cache over a chain that counts, on a clock that is set by hand."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.read_options import read_options
from kubedns.dns.answer import Answer, Rcode, not_ready
from kubedns.dns.edns import Edns, ErrorCode, ExtendedError
from kubedns.dns.names import parse_name
from kubedns.dns.question import Query, Question
from kubedns.dns.rdata import SOA, A
from kubedns.dns.rrset import RRset
from kubedns.errors import ConfigurationErrors, Location
from kubedns.observe.metrics import Metrics
from kubedns.observe.rows import (
    CACHE_ENTRIES,
    CACHE_EVICTIONS,
    CACHE_HITS,
    CACHE_MISSES,
    CACHE_PREFETCHES,
    CACHE_REQUESTS,
    CACHE_STALE,
    Metric,
)
from kubedns.plugins.cache import Cache, Options
from kubedns.plugins.kept_answers import Counters, Segmented
from kubedns.plugins.refreshes import MOST
from tests.plugins.asking import CLIENT

ZONE = parse_name("test.")


def words(text: str) -> tuple[Word, ...]:
    return tuple(Word(word, Location("Corefile", 1, 1, word)) for word in text.split())


def options(line: str = "cache", *block: str) -> Options:
    first, *rest = words(line)
    lines = tuple(Directive(words(each)[0], words(each)[1:]) for each in block)
    return read_options(Options, Directive(first, tuple(rest), lines, bool(lines)))


def upstream_answer(rcode: Rcode = Rcode.NOERROR, ttl: int = 30, minimum: int = 20, last: int = 1) -> Answer:
    soa = RRset(ZONE, ttl, (SOA(ZONE, ZONE, 1, 2, 3, 4, minimum),))
    found = (RRset(parse_name("a.test."), ttl, (A(bytes((192, 0, 2, last))),)),)
    return Answer(
        rcode=rcode,
        answer=found if rcode == Rcode.NOERROR else (),
        authority=(soa,) if rcode == Rcode.NXDOMAIN else (),
        authoritative=False,
        recursion_available=True,
        lifetime_seconds=0,
    )


def unreachable() -> Answer:
    """What the forwarder gives where nobody answers."""
    return replace(upstream_answer(Rcode.SERVFAIL), extended_error=ExtendedError(ErrorCode.NO_REACHABLE_AUTHORITY, "x"))


class Chain:
    def __init__(self, made: Options) -> None:
        self.now = 1000.0
        self.given = upstream_answer()
        self.asked = 0
        self.release = asyncio.Event()
        self.release.set()
        self.metrics = Metrics()
        zones = made.scope.zones or (ZONE,)
        self.cache = Cache(made, zones, lambda: self.now, Counters(self.metrics, ("dns://:53",), zones))

    async def rest(self, query: Query) -> Answer:
        self.asked += 1
        await self.release.wait()
        return self.given

    def counted(self, row: Metric, *labels: str) -> float:
        cell = self.metrics.cell(row, "dns://:53", *labels, "test.", "")
        return cell.read() if cell.read else cell.value

    async def ask(self, name: str = "a.test.", rdtype: int = 1, flags: int = 0x0100, dnssec_ok: bool = False) -> Answer:
        edns = Edns(0, 1232, True, ()) if dnssec_ok else None
        answer = await self.cache.answer(
            Query(1, flags, Question(parse_name(name), rdtype), edns, 40, CLIENT), self.rest
        )
        await asyncio.sleep(0)  # what is asked for anew in the background is
        await asyncio.sleep(0)
        return answer


async def times_asked(chain: Chain, *seconds: float) -> list[int]:
    """How often the chain behind has been asked, when it is asked at these times."""
    counts = []
    start = chain.now
    for second in seconds:
        chain.now = start + second
        await chain.ask()
        counts.append(chain.asked)
    return counts


NX, FAIL = Rcode.NXDOMAIN, Rcode.SERVFAIL
KEEPING: list[tuple[str, tuple[str, ...], Answer, list[tuple[float, int]]]] = [
    ("cache", (), upstream_answer(), [(0, 1), (29.9, 1), (30.1, 2)]),
    ("cache 10", (), upstream_answer(), [(0, 1), (9.9, 1), (10.1, 2)]),
    ("cache", (), upstream_answer(ttl=0), [(0, 1), (4.9, 1), (5.1, 2)]),
    ("cache", ("success 100 3600 0",), upstream_answer(ttl=0), [(0, 1), (0, 2)]),
    ("cache", (), upstream_answer(ttl=7200), [(0, 1), (3599, 1), (3601, 2)]),
    ("cache", (), upstream_answer(NX), [(0, 1), (19.9, 1), (20.1, 2)]),
    ("cache", ("denial 100 7",), upstream_answer(NX), [(0, 1), (6.9, 1), (7.1, 2)]),
    ("cache", (), upstream_answer(FAIL), [(0, 1), (4.9, 1), (5.1, 2)]),
    ("cache", ("servfail 0",), upstream_answer(FAIL), [(0, 1), (0, 2)]),
    ("cache", ("disable success",), upstream_answer(), [(0, 1), (0, 2)]),
    ("cache", ("disable success other.test",), upstream_answer(), [(0, 1), (0, 1)]),
    ("cache", ("disable denial test",), upstream_answer(NX), [(0, 1), (0, 2)]),
    ("cache", ("disable denial test",), upstream_answer(), [(0, 1), (0, 1)]),
    ("cache 30 other.test", (), upstream_answer(), [(0, 1), (0, 2)]),
    ("cache", (), upstream_answer(Rcode.REFUSED), [(0, 1), (0, 2)]),
    ("cache", (), not_ready("the cluster is not listed"), [(0, 1), (0, 2)]),
    ("cache", (), replace(upstream_answer(), depends_on=frozenset({"k"})), [(0, 1), (29.9, 1), (30.1, 2)]),
    ("cache", (), replace(upstream_answer(), recursion_available=False), [(0, 1), (0, 2)]),
    ("cache", (), replace(upstream_answer(), varies_by_client=True), [(0, 1), (0, 2)]),
    ("cache", ("prefetch 2",), upstream_answer(), [(0, 1), (1, 1), (26, 1), (28, 2), (40, 2)]),
    ("cache", ("prefetch 2 10s",), upstream_answer(), [(0, 1), (1, 1), (28, 1)]),
    ("cache", ("prefetch 2 50%",), upstream_answer(), [(0, 1), (1, 1), (14, 1), (16, 2)]),
    ("cache", ("prefetch 1 1m 90%",), upstream_answer(), [(0, 1), (2, 1), (4, 2)]),
    ("cache", ("prefetch 1",), upstream_answer(ttl=5), [(0, 1), (3.9, 1), (4.1, 2)]),
    ("cache", ("success 100 3 60",), upstream_answer(), [(0, 1), (2.9, 1), (3.1, 2)]),
    ("cache", (), replace(upstream_answer(NX), authority=()), [(0, 1), (0.9, 1), (1.1, 2)]),
    ("cache", (), replace(upstream_answer(), answer=()), [(0, 1), (0.9, 1), (1.1, 2)]),
    ("cache", (), unreachable(), [(0, 1), (0.9, 1), (1.1, 2)]),
    ("cache", ("servfail 0",), unreachable(), [(0, 1), (0, 2)]),
    ("cache", ("serve_stale 1m verify",), upstream_answer(), [(0, 1), (31, 2), (32, 2), (62, 3)]),
    ("cache", ("serve_stale 1m",), upstream_answer(), [(0, 1), (31, 2), (32, 2)]),
    ("cache", ("serve_stale 1m",), upstream_answer(), [(0, 1), (91, 2)]),
]


@pytest.mark.parametrize(("line", "block", "given", "expected"), KEEPING)
def test_what_is_kept_and_for_how_long(
    line: str, block: tuple[str, ...], given: Answer, expected: list[tuple[float, int]]
) -> None:
    async def run() -> None:
        chain = Chain(options(line, *block))
        chain.given = given
        assert await times_asked(chain, *(second for second, _ in expected)) == [count for _, count in expected]

    asyncio.run(run())


def depending(*keys: str, rcode: Rcode = Rcode.NOERROR) -> Answer:
    return replace(upstream_answer(rcode), depends_on=frozenset(keys))


@pytest.mark.parametrize(
    ("kept", "changed", "asked"),
    [
        (depending("k"), ["k"], 2),
        (depending("k", "l"), ["l"], 2),
        (depending("k", rcode=NX), ["k"], 2),
        (depending("k"), ["l"], 1),
        (depending(), ["k"], 1),
    ],
)
def test_what_fell_through_is_kept_until_the_name_may_be_there(kept: Answer, changed: list[str], asked: int) -> None:
    async def run() -> None:
        chain = Chain(options())
        chain.given = kept
        await chain.ask()
        chain.cache.changed(changed)
        await chain.ask()
        assert chain.asked == asked
        # It depends on the same as before, and on that alone.
        chain.cache.changed(["k"])
        await chain.ask()
        assert chain.asked == asked + ("k" in kept.depends_on)

    asyncio.run(run())


def test_what_was_asked_for_across_a_change_is_given_and_not_kept() -> None:
    async def run() -> None:
        chain = Chain(options())
        chain.given = depending("k")
        chain.release.clear()
        asking = asyncio.create_task(chain.ask())
        await asyncio.sleep(0)
        chain.cache.changed(["k"])
        chain.release.set()
        assert (await asking).answer
        await chain.ask()
        await chain.ask()
        assert chain.asked == 2

    asyncio.run(run())


def test_what_has_no_room_leaves_nothing_of_what_it_depended_on() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "success 4", "denial 4"))
        for number in range(20):
            chain.given = depending(f"k{number}", "all")
            await chain.ask(f"n{number}.test.")
        found = chain.cache._kept._dependents
        assert found.keys() == {"all", "k16", "k17", "k18", "k19"}
        assert len(found["all"]) == 4
        chain.cache.changed(["all"])
        assert not found
        assert chain.counted(CACHE_ENTRIES, "success") == 0

    asyncio.run(run())


def test_ttls_count_down_and_the_response_lives_until_they_change() -> None:
    async def run() -> None:
        chain = Chain(options())
        shown = []
        for chain.now in (1000.0, 1000.0, 1000.25, 1001.0, 1029.5):
            answer = await chain.ask()
            shown.append((answer.answer[0].ttl, answer.lifetime_seconds))
        assert shown == [(30, 0), (30, 1.0), (30, 0.75), (29, 1.0), (1, 0.5)]

    asyncio.run(run())


def test_ttls_stay_where_they_are_to() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "keepttl"))
        await chain.ask()
        chain.now += 20
        answer = await chain.ask()
        assert (answer.answer[0].ttl, answer.lifetime_seconds) == (30, 10.0)

    asyncio.run(run())


def test_what_may_be_asked_for_ahead_is_not_served_past_the_chain() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "keepttl", "prefetch 2 1m 50%"))
        shown = []
        for chain.now in (1000.0, 1005.0, 1014.0, 1016.0, 1017.0):
            shown.append((chain.asked, (await chain.ask()).lifetime_seconds))
        assert shown == [(0, 0), (1, 10.0), (1, 1.0), (1, 0), (2, 14.0)]

    asyncio.run(run())


def test_what_has_ended_is_shown_with_no_ttl_and_then_the_new() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "serve_stale"))
        await chain.ask()
        chain.now += 100
        chain.given = upstream_answer(last=2)
        stale, fresh = await chain.ask(), await chain.ask()
        assert (str(stale.answer[0].rdatas[0]), stale.answer[0].ttl, stale.lifetime_seconds) == ("192.0.2.1", 0, 0)
        assert stale.extended_error is not None
        assert stale.extended_error.code == 3
        assert (str(fresh.answer[0].rdatas[0]), fresh.answer[0].ttl) == ("192.0.2.2", 30)

    asyncio.run(run())


def test_a_failure_does_not_take_the_place_of_what_is_stale() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "serve_stale"))
        await chain.ask()
        chain.given = upstream_answer(FAIL)
        chain.now += 100
        for _ in range(3):
            chain.now += 10
            assert (await chain.ask()).rcode == Rcode.NOERROR

    asyncio.run(run())


def test_types_and_flags_that_change_answers_are_kept_apart_and_spellings_are_not() -> None:
    async def run() -> None:
        chain = Chain(options())
        await chain.ask()
        assert str((await chain.ask("A.Test.")).answer[0].owner) == "A.Test."
        assert chain.asked == 1
        await chain.ask(rdtype=28)
        await chain.ask(flags=0x0110)
        await chain.ask(dnssec_ok=True)
        assert chain.asked == 4

    asyncio.run(run())


def test_no_more_is_kept_than_there_is_room_for() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "success 3"))
        for number in (1, 2, 3, 1, 4, 1):
            await chain.ask(f"n{number}.test.")
        assert chain.asked == 4
        await chain.ask("n2.test.")
        assert chain.asked == 5

    asyncio.run(run())


def test_a_flood_of_names_does_not_push_out_those_in_use() -> None:
    evicted: list[int] = []
    kept: Segmented[int, int] = Segmented(100, lambda key, value: evicted.append(key))
    for number in range(50):
        kept.put(number, number)
        assert kept.get(number) == number
    for number in range(1000, 11_000):
        kept.put(number, number)
    assert [kept.get(number) for number in range(50)] == list(range(50))
    assert len(kept) == 100
    assert len(evicted) == 50 + 10_000 - 100


def test_names_in_use_are_kept_through_a_flood_of_others_and_nothing_after_the_end() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "success 100", "denial 100"))
        used = [f"used-{number}.test." for number in range(40)]
        for name in used * 2:
            await chain.ask(name)
        for number in range(2000):
            chain.given = upstream_answer(NX if number % 2 else Rcode.NOERROR)
            await chain.ask(f"flood-{number}.test.")
            if number % 50 == 0:
                await chain.ask(used[number // 50])
        for name in used:
            assert (await chain.ask(name)).rcode == Rcode.NOERROR
        assert chain.asked == len(used) + 2000
        assert [chain.counted(CACHE_ENTRIES, kind) for kind in ("success", "denial")] == [100, 100]
        chain.cache.close()
        assert [chain.counted(CACHE_ENTRIES, kind) for kind in ("success", "denial")] == [0, 0]

    asyncio.run(run())


def test_what_is_in_use_does_not_fill_all_of_it() -> None:
    kept: Segmented[int, int] = Segmented(10, lambda key, value: None)
    for number in range(10):
        kept.put(number, number)
        kept.get(number)
    kept.put(10, 10)
    assert kept.get(10) == 10
    assert [kept.peek(number) for number in range(10)].count(None) == 1
    kept.put(10, 11)
    assert kept.peek(10) == 11
    kept.pop(10)
    assert kept.get(10) is None
    assert len(kept) == 9


def test_a_name_with_an_address_is_not_said_to_be_missing() -> None:
    async def run() -> None:
        chain = Chain(options())
        await chain.ask()
        chain.given = upstream_answer(NX)
        six = await chain.ask(rdtype=28)
        assert (six.rcode, six.answer, len(six.authority)) == (Rcode.NOERROR, (), 1)
        assert (await chain.ask(rdtype=16)).rcode == Rcode.NOERROR
        chain.now += 31
        assert (await chain.ask()).rcode == Rcode.NXDOMAIN

    asyncio.run(run())


def test_a_name_that_turns_up_is_missing_for_no_type() -> None:
    async def run() -> None:
        chain = Chain(options())
        chain.given = upstream_answer(NX)
        assert (await chain.ask(rdtype=28)).rcode == Rcode.NXDOMAIN
        chain.given = upstream_answer()
        await chain.ask()
        assert (await chain.ask(rdtype=28)).rcode == Rcode.NOERROR
        assert chain.asked == 3

    asyncio.run(run())


def test_what_has_ended_is_verified_first_if_it_is_to_be() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "serve_stale 1h verify"))
        await chain.ask()
        chain.now += 100
        chain.given = upstream_answer(last=2)
        assert str((await chain.ask()).answer[0].rdatas[0]) == "192.0.2.2"
        chain.now += 100
        for failure in (FAIL, Rcode.REFUSED):
            chain.given = upstream_answer(failure)
            stale = await chain.ask()
            assert (str(stale.answer[0].rdatas[0]), stale.answer[0].ttl) == ("192.0.2.2", 0)
        assert chain.counted(CACHE_STALE) == 2
        assert chain.counted(CACHE_REQUESTS) == 4

    asyncio.run(run())


def test_what_is_verified_by_a_silent_upstream_is_given_stale() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "serve_stale 1h verify 10ms"))
        await chain.ask()
        chain.now += 100
        chain.release.clear()
        assert (await chain.ask()).extended_error is not None
        assert len(chain.cache._refreshes) == 1
        chain.cache.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not chain.cache._refreshes

    asyncio.run(run())


def test_so_many_are_asked_for_anew_at_a_time() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "serve_stale"))
        names = [f"n{number}.test." for number in range(300)]
        for name in names:
            await chain.ask(name)
        chain.now += 100
        chain.release.clear()
        for name in names:
            assert (await chain.ask(name)).extended_error is not None
        assert chain.asked == 300 + MOST
        chain.release.set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not chain.cache._refreshes

    asyncio.run(run())


def test_everything_is_counted_by_kind() -> None:
    async def run() -> None:
        chain = Chain(options("cache", "success 2", "prefetch 2"))
        for name in ("n1.test.", "n2.test.", "n3.test."):
            await chain.ask(name)
        chain.given = upstream_answer(NX)
        await chain.ask("x.test.")
        answer = await chain.ask("x.test.")
        assert answer.served_again is not None
        answer.served_again(5)
        chain.now += 19
        await chain.ask("x.test.")
        assert chain.counted(CACHE_ENTRIES, "success") == 2
        assert chain.counted(CACHE_EVICTIONS, "success") == 1
        assert chain.counted(CACHE_ENTRIES, "denial") == 1
        assert chain.counted(CACHE_MISSES) == 4
        assert chain.counted(CACHE_HITS, "denial") == 7
        assert chain.counted(CACHE_HITS, "success") == 0
        assert chain.counted(CACHE_REQUESTS) == 11
        assert chain.counted(CACHE_PREFETCHES) == 1

    asyncio.run(run())


BAD = [
    (("prefetch 2 1m 20",), "no percentage"),
    (("prefetch 2 1m 95%",), "10% to 90%"),
    (("prefetch 2 1m 20% x",), "unexpected `x`"),
    (("serve_stale 1h sometimes",), "sometimes"),
    (("serve_stale 1h immediate 1s",), "after `verify`"),
    (("serve_stale 1h verify 0s",), "less than 0.001"),
    (("servfail 6m",), "6m"),
]


@pytest.mark.parametrize(("block", "fault"), BAD)
def test_what_a_line_may_not_say(block: tuple[str, ...], fault: str) -> None:
    with pytest.raises(ConfigurationErrors, match=fault):
        options("cache", *block)
