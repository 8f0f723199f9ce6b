import random
from collections import Counter
from collections.abc import Sequence

import pytest

from kubedns.dns.answer import Rank
from kubedns.dns.message import Arrange
from kubedns.dns.rdata import A, Rdata
from kubedns.resolver.arrangements import in_turn


def records(count: int) -> list[Rdata]:
    return [A(bytes((10, 0, 0, number))) for number in range(count)]


def orders(count: int, cut: int, draws: int, rank: Rank | None = None) -> list[bytes]:
    """Last octets of the addresses, in the order given out, cut to the first ``cut``."""

    def write(arrange: Arrange) -> bytes:
        arranged: Sequence[Rdata] = arrange(records(count))
        assert sorted(map(str, arranged)) == sorted(map(str, records(count)))
        return bytes(rdata.address[3] for rdata in arranged if isinstance(rdata, A))[:cut]

    responses = in_turn(write, count, random.Random(7).random, rank)
    return [next(responses) for _ in range(draws)]


@pytest.mark.parametrize(("count", "draws"), [(2, 100), (15, 3000), (60, 6000), (100, 20_000)])
def test_each_record_comes_first_about_equally_often(count: int, draws: int) -> None:
    firsts = Counter(order[0] for order in orders(count, count, draws))
    assert len(firsts) == count
    assert max(firsts.values()) < 2.2 * draws / count
    assert min(firsts.values()) > draws / count / 2.2


def test_what_follows_the_first_is_anyones_guess() -> None:
    seconds = Counter(order[1] for order in orders(15, 15, 30_000) if order[0] == 3)
    assert len(seconds) == 14
    assert max(seconds.values()) < 4 * sum(seconds.values()) / 14


def test_records_that_do_not_fit_change_from_response_to_response() -> None:
    shown = Counter(octet for order in orders(60, 28, 6000) for octet in order)
    assert len(shown) == 60
    assert max(shown.values()) < 2 * min(shown.values())


def test_records_of_the_first_rank_take_turns_in_front() -> None:
    drawn = orders(15, 15, 30_000, rank=lambda rdata: isinstance(rdata, A) and rdata.address[3] >= 5)
    assert all(sorted(order[:5]) == [0, 1, 2, 3, 4] for order in drawn)
    firsts = Counter(order[0] for order in drawn)
    assert len(firsts) == 5
    assert max(firsts.values()) < 1.5 * min(firsts.values())
