import pytest

from kubedns.corefile.parser import parse_corefile
from kubedns.dns.answer import Answer
from kubedns.errors import ConfigurationErrors
from kubedns.plugins.plugin import Plugin
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.plugins.asking import ask, query_for


def header(body: str) -> Plugin:
    blocks = parse_corefile(f".:1053 {{\nheader {{\n{body}\n}}\n}}", "Corefile", DiskFiles(), {}).blocks
    return next(iter(build_server(blocks, Settings()).resolvers.values())).chains[0].plugins[0]


FLAGS = [
    ("set ra", (True, True)),
    ("set ra\nclear aa", (False, True)),
    ("response clear AA", (False, False)),
    ("clear aa ra\nset aa", (True, False)),
]


@pytest.mark.parametrize(("body", "flags"), FLAGS)
def test_the_last_line_that_names_a_flag_counts(body: str, flags: tuple[bool, bool]) -> None:
    answer = ask(header(body), query_for("a.test."), Answer())
    assert (answer.authoritative, answer.recursion_available) == flags


FAULTS = [
    ("set", "flags are needed"),
    ("set tc", "no flag"),
    ("clear rd", "copy of the query"),
    ("response on ra", "neither"),
]


@pytest.mark.parametrize(("body", "message"), FAULTS)
def test_what_is_no_flag_is_refused(body: str, message: str) -> None:
    with pytest.raises(ConfigurationErrors, match="Corefile:3") as caught:
        header(body)
    assert message in str(caught.value)
