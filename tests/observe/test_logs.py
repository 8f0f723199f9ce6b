import io
import logging

import pytest

from kubedns.observe.logs import FloodLimit, LineFormatter

LINES = [
    ("plugin/errors", logging.ERROR, "2 a. A: x", "[ERROR] plugin/errors: 2 a. A: x"),
    ("plugin/log", logging.INFO, "10.0.0.1:1 - 7", "[INFO] 10.0.0.1:1 - 7"),
    ("kubedns.server", logging.WARNING, "port taken", "[WARNING] port taken"),
]


@pytest.mark.parametrize(("name", "level", "text", "line"), LINES)
def test_lines_have_coredns_form(name: str, level: int, text: str, line: str) -> None:
    assert LineFormatter().format(logging.LogRecord(name, level, "", 1, text, None, None)) == line


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
