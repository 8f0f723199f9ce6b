import asyncio

import pytest

from kubedns.dns.answer import Answer, Rcode
from kubedns.dns.question import Query
from kubedns.plugins.cancel import Cancel
from tests.plugins.asking import query_for


async def broken(query: Query) -> Answer:
    raise ValueError("broken")


def test_a_query_that_takes_too_long_is_given_up_and_its_work_ended() -> None:
    async def asked() -> Answer:
        ended = asyncio.Event()

        async def never(query: Query) -> Answer:
            try:
                await asyncio.get_running_loop().create_future()
                raise AssertionError
            finally:
                ended.set()

        answer = await Cancel(0.001).answer(query_for("a.test."), never)
        await asyncio.wait_for(ended.wait(), 10)
        return answer

    answer = asyncio.run(asked())
    assert (answer.rcode, answer.lifetime_seconds) == (Rcode.SERVFAIL, 0)


def test_answers_and_errors_that_come_in_time_are_handed_on() -> None:
    given = Answer(plugin="rest")

    async def rest(query: Query) -> Answer:
        return given

    assert asyncio.run(Cancel(10).answer(query_for("a.test."), rest)) is given
    with pytest.raises(ValueError, match="broken"):
        asyncio.run(Cancel(10).answer(query_for("a.test."), broken))
