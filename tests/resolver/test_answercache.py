from collections import Counter
from itertools import repeat

from kubedns.dns.answer import NO_KEYS, Key
from kubedns.resolver.answercache import AnswerCache, Entry, Table

COST = 1000


class Fixture:
    def __init__(self, capacity: int = 100) -> None:
        self.cache = AnswerCache(capacity * COST)
        self.table = Table()
        self.hits: Counter[str] = Counter()

    def keep(self, name: str, *keys: Key, expires: float | None = None) -> Entry:
        def report(count: int) -> None:
            self.hits[name] += count

        entry = Entry(frozenset(keys), repeat(name.encode()), COST, report)
        entry.serve()
        self.cache.keep(self.table, name.encode(), entry, expires)
        return entry

    def serve(self, name: str) -> bytes | None:
        serve = self.table.answers.get(name.encode())
        return None if serve is None else serve()

    def kept(self) -> set[str]:
        return {key.decode() for key in self.table.answers}


def test_a_change_drops_exactly_what_depends_on_it() -> None:
    it = Fixture()
    it.keep("a", "x", "y")
    it.keep("b", "y")
    it.keep("c", "z")
    it.keep("free")
    generation = it.cache.generation
    it.cache.drop(["y", "unknown"])
    assert it.kept() == {"c", "free"}
    assert it.cache.generation > generation
    it.cache.drop(["x"])
    assert it.kept() == {"c", "free"}
    it.cache.clear()
    assert not it.kept()
    assert len(it.cache) == 0


def test_an_answer_that_replaces_another_ends_it() -> None:
    it = Fixture()
    it.keep("a", "x")
    it.keep("a", "y")
    it.cache.drop(["x"])
    assert it.kept() == {"a"}
    it.cache.drop(["y"])
    assert not it.kept()


def test_lifetimes_end_and_only_of_the_entry_they_were_given_to() -> None:
    it = Fixture()
    it.keep("a", expires=10.0)
    it.keep("b", expires=20.0)
    it.cache.expire(9.9)
    assert it.kept() == {"a", "b"}
    it.keep("a", expires=30.0)
    it.cache.expire(20.0)
    assert it.kept() == {"a"}
    it.cache.expire(30.0)
    assert not it.kept()


def test_hits_are_reported_once_each() -> None:
    it = Fixture()
    it.keep("a", "x")
    for _ in range(4):
        assert it.serve("a") == b"a"
    it.cache.settle()
    it.cache.settle()
    assert it.hits["a"] == 5
    it.serve("a")
    it.cache.drop(["x"])
    assert it.hits["a"] == 6


def test_a_flood_of_new_names_leaves_those_in_use() -> None:
    it = Fixture(capacity=100)
    hot = [f"hot-{number}" for number in range(50)]
    for name in hot:
        it.keep(name, name)
    for number in range(10_000):
        it.keep(f"random-{number}", "flood")
        it.serve(hot[number % 50])
    assert set(hot) <= it.kept()
    assert len(it.kept()) <= 100
    it.cache.drop(["flood", *hot])
    assert len(it.cache) == 0


def test_all_in_use_still_makes_room() -> None:
    it = Fixture(capacity=10)
    for number in range(1000):
        it.keep(f"n{number}")
        for name in it.kept():
            it.serve(name)
    assert len(it.kept()) == 10


def test_whoever_gave_an_answer_hears_of_its_hits_but_the_first() -> None:
    told: list[int] = []
    again: list[int] = []
    entry = Entry(NO_KEYS, repeat(b"x"), 1, told.append, again.append)
    entry.settle()
    entry.serve()
    entry.settle()
    entry.serve()
    entry.serve()
    entry.settle()
    assert sum(told) == 3
    assert sum(again) == 2


def test_what_is_forgotten_is_counted_by_reason() -> None:
    it = Fixture(capacity=3)
    it.keep("a", "x")
    it.keep("b", "x")
    it.keep("b", "y")
    it.keep("c", expires=5.0)
    it.cache.drop(["x"])
    it.cache.expire(5.0)
    for name in "defg":
        it.keep(name)
    assert it.cache.dropped == {"changed": 1, "ended": 1, "room": 2}
