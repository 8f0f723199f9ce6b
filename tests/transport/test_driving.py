from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from kubedns.transport.driving import Driver
from tests.transport.fakes import metrics, run, until


async def at_once() -> bytes | None:
    return b"done"


async def silence() -> bytes | None:
    return None


async def sleeping() -> bytes | None:
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    return b"done"


async def within_a_time() -> bytes | None:
    await asyncio.sleep(0)
    assert await asyncio.wait_for(asyncio.sleep(0, "slept"), 10) == "slept"
    async with asyncio.timeout(10):
        await asyncio.sleep(0.001)
    return b"done"


async def out_of_time() -> bytes | None:
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(0.001):
            await asyncio.Event().wait()
    except TimeoutError:
        return b"done"
    return None


async def of_others() -> bytes | None:
    task = asyncio.ensure_future(asyncio.sleep(0.001, b"done"))
    return await task


async def of_something_done() -> bytes | None:
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, b"done")
    return await future


async def of_something_failed() -> bytes | None:
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    future.set_exception(OSError)
    await asyncio.sleep(0)
    try:
        return await future
    except OSError:
        return b"done"


async def failing() -> bytes | None:
    raise ValueError


async def failing_late() -> bytes | None:
    await asyncio.sleep(0)
    raise ValueError


async def of_something_cancelled() -> bytes | None:
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    future.cancel()
    return await future


async def of_something_cancelled_late() -> bytes | None:
    await asyncio.sleep(0)
    return await of_something_cancelled()


Resolve = Callable[[], Awaitable[bytes | None]]


@pytest.mark.parametrize("resolve", [at_once, silence, failing])
def test_what_never_waits_is_done_at_once(resolve: Callable[[], object]) -> None:
    got: list[bytes | None] = []
    # No loop runs here, so no Task can be made.
    assert Driver(metrics()).drive(resolve(), got.append) is None  # type: ignore[arg-type]
    assert got == [b"done" if resolve is at_once else None]


@pytest.mark.parametrize(
    "resolve", [sleeping, within_a_time, out_of_time, of_others, of_something_done, of_something_failed]
)
def test_what_waits_goes_on_in_a_task(resolve: Callable[[], object]) -> None:
    async def scene() -> None:
        driver, got = Driver(metrics()), list[bytes | None]()
        task = driver.drive(resolve(), got.append)  # type: ignore[arg-type]
        assert task is not None
        assert driver.suspended == {task}
        await until(lambda: got == [b"done"])
        await until(lambda: not driver.suspended)

    run(scene)


def test_errors_are_silence_counted_and_logged_once_of_a_kind(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        counters = metrics()
        driver, got = Driver(counters), list[bytes | None]()
        for _ in range(3):
            driver.drive(failing(), got.append)
            driver.drive(failing_late(), got.append)
            driver.drive(of_something_cancelled(), got.append)
            driver.drive(of_something_cancelled_late(), got.append)
        await until(lambda: len(got) == 12)
        assert set(got) == {None}
        assert counters.panics == 12

    with caplog.at_level(logging.ERROR):
        run(scene)
    assert [record.exc_info is not None for record in caplog.records] == [True, True, True]


def test_only_so_many_may_wait_and_the_others_are_silence() -> None:
    async def scene() -> None:
        counters, closed = metrics(), list[str]()
        driver, got = Driver(counters, most=2), list[bytes | None]()
        release = asyncio.Event()

        async def waiting() -> bytes | None:
            try:
                await release.wait()
            except GeneratorExit:
                closed.append("closed")
                raise
            return b"done"

        for _ in range(3):
            driver.drive(waiting(), got.append)
        assert (got, closed, counters.dropped) == ([None], ["closed"], 1)
        driver.drive(at_once(), got.append)  # who need not wait is answered all the same
        assert got == [None, b"done"]
        release.set()
        await until(lambda: got == [None, b"done", b"done", b"done"])

    run(scene)


def test_one_that_waits_even_while_it_is_closed_harms_nobody() -> None:
    async def scene() -> None:
        counters = metrics()
        driver, got = Driver(counters, most=0), list[bytes | None]()

        async def clinging() -> bytes | None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
            return None

        driver.drive(clinging(), got.append)
        assert (got, counters.dropped, counters.panics) == ([None], 1, 1)

    run(scene)


def test_one_that_is_cancelled_says_nothing() -> None:
    async def scene() -> None:
        counters = metrics()
        driver, got = Driver(counters), list[bytes | None]()
        seen: list[str] = []

        async def waiting() -> bytes | None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
            return None

        task = driver.drive(waiting(), got.append)
        assert task is not None
        await asyncio.sleep(0)
        task.cancel()
        await until(task.done)
        assert (got, seen, counters.panics, driver.suspended) == ([], ["cancelled"], 0, set())

    run(scene)
