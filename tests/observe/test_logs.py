import io
import json
import logging
import sys
import threading
import time

import pytest

from kubedns.observe.log_sink import Sink
from kubedns.observe.logs import FloodLimit, JsonFormatter, LineFormatter

LINES = [
    ("plugin/errors", logging.ERROR, "2 a. A: x", "[ERROR] plugin/errors: 2 a. A: x"),
    ("plugin/log", logging.INFO, "10.0.0.1:1 - 7", "[INFO] 10.0.0.1:1 - 7"),
    ("kubedns.server", logging.WARNING, "port taken", "[WARNING] port taken"),
]


@pytest.mark.parametrize(("name", "level", "text", "line"), LINES)
def test_lines_have_coredns_form(name: str, level: int, text: str, line: str) -> None:
    assert LineFormatter().format(logging.LogRecord(name, level, "", 1, text, None, None)) == line


def test_lines_in_json_are_objects_with_the_fields_of_a_query() -> None:
    record = logging.LogRecord("plugin/log", logging.INFO, "", 1, "a %s", ("b",), None)
    record.created = 1_764_806_400.25
    record.fields = lambda: {"name": "ä.test.", "size": 40}
    assert json.loads(JsonFormatter().format(record)) == {
        "time": "2025-12-04T00:00:00.250Z",
        "level": "info",
        "logger": "plugin/log",
        "message": "a b",
        "name": "ä.test.",
        "size": 40,
    }
    try:
        raise ValueError("x\ny")
    except ValueError:
        failed = logging.LogRecord("kubedns.server", logging.ERROR, "", 1, "failed\nhere", None, sys.exc_info())
    line = JsonFormatter().format(failed)
    assert "\n" not in line
    assert json.loads(line)["traceback"].endswith("ValueError: x\ny")


class Stuck(io.StringIO):
    """A reader who takes nothing until he is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.taking = threading.Event()

    def write(self, text: str) -> int:
        self.taking.wait(60)
        return super().write(text)


def test_a_reader_who_is_stuck_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubedns.observe.log_sink.MAX_LINES", 10)
    stream = Stuck()
    sink = Sink(stream)
    logger = logging.Logger("plugin/log")
    logger.addHandler(sink)
    for number in range(100):
        logger.info("line %d", number)
    # Besides those that wait, one may be in the writer's hands.
    assert 100 - 10 - 1 <= sink.dropped <= 100 - 10
    stream.taking.set()
    while sink._lines.qsize():
        time.sleep(0.01)
    sink.close()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "line 0"
    assert len(lines) == 100 - sink.dropped


def test_a_reader_who_is_gone_is_borne() -> None:
    stream = io.StringIO()
    sink = Sink(stream)
    stream.close()
    logging.Logger("x").handle(logging.LogRecord("x", logging.INFO, "", 1, "line", None, None))
    sink.emit(logging.LogRecord("x", logging.INFO, "", 1, "line", None, None))
    sink.close()
    assert sink.dropped >= 1


def test_a_flood_is_cut_and_counted() -> None:
    now = 0.0
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(FloodLimit(lambda: now, 3))
    logger = logging.Logger("plugin/errors")
    logger.addHandler(handler)
    queries = logging.Logger("plugin/log")
    queries.addHandler(handler)
    for number in range(10):
        logger.error("line %d", number)
        queries.info("query")
    now = 1.5
    logger.error("later")
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if line != "query"] == [
        "line 0",
        "line 1",
        "line 2",
        "later (7 lines before this one were left out)",
    ]
    assert lines.count("query") == 10
