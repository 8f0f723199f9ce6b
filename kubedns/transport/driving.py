"""Driving: a coroutine is run by hand to its end, and becomes a Task only if it has to wait.

A Task for each query costs several times what most queries need; those that ask nobody else never wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


def drive(coroutine: Coroutine[Any, Any, T], done: Callable[[T], None], suspended: set[asyncio.Task[None]]) -> None:
    """Run ``coroutine`` and hand its result to ``done``: at once or, if it waits, from a Task kept in ``suspended``."""
    try:
        awaited = coroutine.send(None)
    except StopIteration as stop:
        done(stop.value)
        return
    task = asyncio.get_running_loop().create_task(_finish(_Begun(coroutine, awaited), done))
    suspended.add(task)
    task.add_done_callback(suspended.discard)


async def _finish(begun: _Begun[T], done: Callable[[T], None]) -> None:
    done(await begun)


class _Begun(Awaitable[T]):
    """A coroutine that has been run to its first wait; what it waits for is handed on first."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], awaited: object) -> None:
        self._coroutine = coroutine
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, T]:
        awaited = self._awaited
        step: Callable[[Any], object]
        while True:
            try:
                argument = yield awaited
                step = self._coroutine.send
            except BaseException as error:
                argument = error
                step = self._coroutine.throw
            try:
                awaited = step(argument)
            except StopIteration as stop:
                value: T = stop.value
                return value
