"""Driving: a coroutine is run by hand to its end, and becomes a Task only if it has to wait.

A Task for each query costs several times what most queries need; those that ask nobody else never wait.
"""

from __future__ import annotations

import asyncio
import logging
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

from kubedns.observe.failures import Failures
from kubedns.observe.metrics import TransportMetrics

Response = TypeVar("Response")
Resolving = Coroutine[Any, Any, Response]
"""Gives a whole response, or None for silence."""
Done = Callable[[Response | None], None]

MAX_SUSPENDED = 10_000
"""Queries of one listener that may wait for others at a time; each holds some kilobytes."""
_log = logging.getLogger(__name__)


class Driver:
    """Runs what resolves a listener's queries, and takes the errors in it; at most ``most`` of them may wait at a time.

    ``suspended`` are those that do.
    """

    def __init__(self, metrics: TransportMetrics, most: int = MAX_SUSPENDED) -> None:
        self.suspended: set[asyncio.Task[None]] = set()
        self._metrics = metrics
        self._most = most
        self._failures = Failures(_log)

    def drive(self, resolving: Resolving[Response], done: Done[Response]) -> asyncio.Task[None] | None:
        """Run ``resolving`` and hand what it gives to ``done``: at once or, where it waits, from the Task returned.

        An error in it, and one that waits where too many do, count as silence.
        """
        response: Response | None = None
        try:
            awaited = resolving.send(None)
        except StopIteration as stop:
            response = stop.value
        except (Exception, asyncio.CancelledError) as error:
            self.failed(error)
        else:
            if len(self.suspended) < self._most:
                return self._suspend(resolving, awaited, done)
            self._give_up(resolving)
        done(response)
        return None

    def failed(self, error: BaseException) -> None:
        """Count an error in the program; the first of its kind is logged with its traceback."""
        self._metrics.panics += 1
        self._failures.tell(error, "answering a message")

    def limited(self, limit: str) -> None:
        """Count a connection that is closed because of ``limit``."""
        self._metrics.limited(limit)

    def _suspend(self, resolving: Resolving[Response], awaited: object, done: Done[Response]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._finish(resolving, awaited, done))
        self.suspended.add(task)
        task.add_done_callback(self.suspended.discard)
        return task

    async def _finish(self, resolving: Resolving[Response], awaited: object, done: Done[Response]) -> None:
        response: Response | None
        try:
            response = await _rest(resolving, awaited)
        except Exception as error:
            self.failed(error)
            response = None
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            self.failed(error)  # what it waited for was cancelled, and nobody told the client
            response = None
        done(response)

    def _give_up(self, resolving: Resolving[Response]) -> None:
        self._metrics.dropped += 1
        try:
            resolving.close()
        except Exception as error:  # it waits for something even while it is closed
            self.failed(error)


@types.coroutine
def _rest(resolving: Resolving[Response], awaited: object) -> Generator[Any, Any, Response]:
    """What is left of a coroutine that was run to its first wait: what it waits for is handed on to the loop first."""
    while True:
        thrown: BaseException | None = None
        try:
            sent = yield awaited
        except BaseException as error:
            thrown = error
        try:
            awaited = resolving.send(sent) if thrown is None else resolving.throw(thrown)
        except StopIteration as stop:
            response: Response = stop.value
            return response


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
