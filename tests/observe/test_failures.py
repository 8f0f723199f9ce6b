from __future__ import annotations

import logging

import pytest

from kubedns.observe.failures import Failures


def raised(kind: type[Exception]) -> Exception:
    try:
        raise kind("a bug")
    except Exception as error:
        return error


def raised_elsewhere() -> Exception:
    try:
        raise ValueError("a bug")
    except ValueError as error:
        return error


def test_the_first_of_each_kind_is_told_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    failures = Failures(logging.getLogger("test"))
    for error in (raised(ValueError), raised(ValueError), raised(KeyError), raised_elsewhere()):
        failures.tell(error, "trying")
    assert caplog.messages == ["error while trying; others of its kind are only counted"] * 3
    assert all(record.exc_info for record in caplog.records)
