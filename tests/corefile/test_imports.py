import pytest

from kubedns.errors import ConfigurationErrors
from tests.corefile.reading import FILE, faults_of, parse, shown

BLOCKS = "a {\n errors\n}\nb {\n log\n}"

IMPORTED: list[tuple[str, str, dict[str, str | None], list[str]]] = [
    ("blocks", "import blocks\nc {\n}", {"/etc/blocks": BLOCKS}, ["a. | errors", "b. | log", "c."]),
    (
        "directives",
        ". {\n import lines\n log\n}",
        {"/etc/lines": "errors\ncache 30\n"},
        [". | errors | cache 30 | log"],
    ),
    ("options", ". {\n health {\n  import lines\n }\n}", {"/etc/lines": "lameduck 5s"}, [". | health { lameduck 5s }"]),
    ("an absolute path", "import /x/y", {"/x/y": "a {\n}"}, ["a."]),
    (
        "a glob, in order",
        "import d/*.server",
        {"/etc/d/2.server": "b {\n}", "/etc/d/1.server": "a {\n}", "/etc/d/x": ""},
        ["a.", "b."],
    ),
    ("relative to the importing file", "import d/a", {"/etc/d/a": "import b", "/etc/d/b": "b {\n}"}, ["b."]),
    ("a snippet of an imported file", "import s\n. {\n import x\n}", {"/etc/s": "(x) {\n errors\n}"}, [". | errors"]),
    ("a snippet wins over a file", "(x) {\n log\n}\n. {\n import x\n}", {"/etc/x": "errors"}, [". | log"]),
    ("a file without braces", "import f\nb {\n}", {"/etc/f": "a:53\nerrors"}, ["a.:53 | errors", "b."]),
    ("a file twice", ". {\n import f\n import f\n}", {"/etc/f": "log"}, [". | log | log"]),
    ("on one line", ". {\n health { import f\n }\n}", {"/etc/f": "lameduck 5s"}, [". | health { lameduck 5s }"]),
]


@pytest.mark.parametrize(("text", "files", "blocks"), [row[1:] for row in IMPORTED], ids=[row[0] for row in IMPORTED])
def test_imports_stand_for_what_they_name(text: str, files: dict[str, str | None], blocks: list[str]) -> None:
    assert shown(parse(text, files)) == blocks


FAULTS: list[tuple[str, str, dict[str, str | None], list[str]]] = [
    ("unreadable", "import f", {"/etc/f": None}, ["Corefile:1: cannot import `f`: /etc/f: permission denied"]),
    ("itself", "import Corefile", {FILE: "import Corefile"}, ["Corefile:1: import loop: Corefile → Corefile"]),
    (
        "in a circle",
        ". {\n import a\n}",
        {"/etc/a": "log {\n import b\n}", "/etc/b": "import a"},
        ["/etc/b:1: import loop: /etc/a → /etc/b → /etc/a"],
    ),
    (
        "faults inside, once, after our own",
        ". {\n import f\n import f\n}\n}",
        {"/etc/f": "log\n}"},
        ["Corefile:5: unexpected `}`: nothing is open here", "/etc/f:2: unexpected `}`: nothing is open here"],
    ),
    (
        "a block does not go beyond its file",
        "import a",
        {"/etc/a": "x {"},
        ["/etc/a:1: the block of `x` is never closed; put a `}` on a line of its own"],
    ),
]


@pytest.mark.parametrize(("text", "files", "faults"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults_of_imports(text: str, files: dict[str, str | None], faults: list[str]) -> None:
    assert faults_of(text, files) == faults


def test_words_know_the_file_they_come_from() -> None:
    (block,) = parse(". {\n import f\n}", {"/etc/f": "\n\n  errors"}).blocks
    (directive,) = block.directives
    location = directive.word.location
    assert (location.file, location.line, location.column, location.word) == ("/etc/f", 3, 3, "errors")


def test_snippets_that_multiply_are_stopped() -> None:
    snippets = "(s0) {\n log\n}\n" + "".join(
        f"(s{number}) {{\n import s{number - 1}\n import s{number - 1}\n}}\n" for number in range(1, 25)
    )
    with pytest.raises(ConfigurationErrors, match="more than 1000 imports"):
        parse(snippets + ". {\n import s24\n}")


@pytest.mark.parametrize(
    "text",
    [
        "a {\n" * 5000,
        "a {\n" * 5000 + "}\n" * 5000,
        "".join(f"(s{number}) {{\n import s{number - 1}\n}}\n" for number in range(1, 99)) + ". {\n import s98\n}",
    ],
)
def test_deep_nesting_is_a_fault(text: str) -> None:
    with pytest.raises(ConfigurationErrors, match="nested more than 32 deep"):
        parse(text)
