"""Any text at all is a configuration or has faults that name their place."""

import random

from kubedns.corefile.blocks import Corefile
from kubedns.errors import ConfigurationErrors
from tests.corefile.reading import parse
from tests.corefile.test_lexer import random_text

PIECES = [*'{}{}.,"#\\', "\n", "\n", "\n", "import", "x", "(x)", "a:53", "errors", "{$A}", "10.0.0.0/9", "::"]


def outcome(text: str) -> Corefile | ConfigurationErrors:
    try:
        return parse(text, {"/etc/a:53": "errors\n", "/etc/errors": ". {\n import x\n}"}, {"A": "x"})
    except ConfigurationErrors as error:
        return error


def test_random_texts_end_in_blocks_or_faults() -> None:
    chance = random.Random(22)
    accepted = 0
    for _ in range(3000):
        text = " ".join(chance.choices(PIECES, k=chance.randrange(25)))
        got = outcome(chance.choice((text, random_text(chance))))
        if isinstance(got, ConfigurationErrors):
            assert got.faults
            assert all(fault.location and fault.location.line for fault in got.faults)
        else:
            accepted += 1
            assert all(block.addresses for block in got.blocks)
    assert 300 < accepted < 2700
