"""Errors of connections are borne in silence, all others told."""

from __future__ import annotations

import asyncio
import logging
import ssl

import pytest

from kubedns.transport.https import _bear

ERRORS: list[tuple[BaseException, bool, bool]] = [
    (ssl.SSLError("x"), True, False),
    (ConnectionResetError(), True, False),
    (ExceptionGroup("x", [ssl.SSLError("x"), BrokenPipeError()]), True, False),
    (ExceptionGroup("x", [ssl.SSLError("x"), ValueError()]), True, True),
    (ValueError(), True, True),
    (ConnectionResetError(), False, True),
]


@pytest.mark.parametrize(("error", "of_connection", "is_told"), ERRORS)
def test_which_errors_are_told(
    error: BaseException, of_connection: bool, is_told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.new_event_loop()
    with caplog.at_level(logging.WARNING):
        _bear(loop, {"message": "x", "exception": error, **({"transport": "t"} if of_connection else {})})
    loop.close()
    assert bool(caplog.text) is is_told
