"""Every word of the Corefile tells its syntax and an example, and the example is read and built."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

import pytest

from kubedns.corefile.options import Declaration, Place, declarations
from kubedns.corefile.parser import parse_corefile
from kubedns.plugins.order import PLUGINS
from kubedns.server.build import Settings, build_server
from kubedns.server.files import DiskFiles
from tests.house.tree import PACKAGE
from tests.support.certificates import write_certificate

NO_WORDS = {
    "auto_files",
    "__init__",
    "cache_reading",
    "fallthrough",
    "forward_files",
    "forward_reading",
    "forward_tls",
    "kept_answers",
    "given_zones",
    "networks",
    "order",
    "pages",
    "peers",
    "plugin",
    "refreshes",
    "rewrite_options",
    "view_expression",
    "view_facts",
    "view_terms",
    "rewrite_reading",
    "secondary_copy",
    "rewrite_rules",
    "template_text",
    "template_words",
}
"""Modules of the folder that stand for no word."""

WITHOUT_EFFECT = {"apiserver_qps", "apiserver_burst", "apiserver_max_inflight"}
"""Options that are read for CoreDNS's sake alone."""


def documentation(word: str) -> str:
    return inspect.getdoc(PLUGINS[word].module()) or ""


def block_after(heading: str, text: str) -> str:
    """The indented block after ``HEADING::``."""
    found = re.search(rf"^{heading}::\n\n((?:    .*\n|\n)+)", text + "\n", re.MULTILINE)
    return textwrap.dedent(found[1]) if found else ""


def test_every_module_of_the_folder_has_a_row_in_the_table() -> None:
    assert {path.stem for path in (PACKAGE / "plugins").glob("*.py")} - NO_WORDS == set(PLUGINS)


@pytest.mark.parametrize("word", PLUGINS)
def test_a_word_begins_its_documentation_with_itself_and_its_purpose(word: str) -> None:
    assert documentation(word).startswith(f"{word}: ")


@pytest.mark.parametrize("word", PLUGINS)
def test_the_syntax_is_told_and_every_option_named(word: str) -> None:
    text = documentation(word)
    assert f"Syntax: ``{word}" in text or re.match(rf"{word}\b", block_after("Syntax", text))
    declared = {each for option in declarations(PLUGINS[word].module().Options) for each in written_words(option)}
    assert declared - set(re.findall(r"\w+", text)) - WITHOUT_EFFECT == set()


@pytest.mark.parametrize("word", PLUGINS)
def test_the_example_uses_the_word_and_is_read_and_built(word: str, tmp_path: Path) -> None:
    example = block_after("Example", documentation(word))
    assert re.search(rf"^ +{word}\b", example, re.MULTILINE)
    write_certificate(tmp_path)
    corefile = parse_corefile(example, str(tmp_path / "Example"), DiskFiles(), {})
    assert corefile.warnings == ()
    server = build_server(corefile.blocks, Settings())
    assert server.resolvers


def written_words(option: Declaration) -> tuple[str, ...]:
    """What the lines of an option begin with."""
    return option.words if option.place in (Place.ONE, Place.REPEATED) else ()
