"""What CoreDNS takes as a Corefile, we take; what it refuses without need, we take with a warning."""

import pytest

from tests.corefile.reading import faults_of, parse, shown, warnings_of

ENVIRONMENT = {"ZONE": "a.test", "PORT": "1053", "BLANKS": "x y", "BRACE": "{"}

TAKEN: list[tuple[str, str, list[str]]] = [
    ("a block", ".:53 {\n errors\n log\n}", [".:53 | errors | log"]),
    ("an empty file", "", []),
    ("a byte order mark", "\ufeff. {\n}", ["."]),
    ("carriage returns", ". {\r\n errors\r\n}\r\n", [". | errors"]),
    ("an empty block", ". {\n}", ["."]),
    ("an empty plugin block on one line", ". {\n template IN AAAA { }\n}", [". | template IN AAAA { }"]),
    ("a brace on its own line", ".:53\n{\n errors\n}", [".:53 | errors"]),
    ("a file without braces", ".:53\nerrors\ncache 30\n", [".:53 | errors | cache 30"]),
    (
        "a file without braces, with blocks of plugins",
        ".\nhealth {\n lameduck 5s\n}\nlog",
        [". | health { lameduck 5s } | log"],
    ),
    ("labels alone", "a:53 b", ["a.:53 b."]),
    ("several labels", "a b {\n}", ["a. b."]),
    ("several labels with commas", "a:53, b:53 {\n}", ["a.:53 b.:53"]),
    ("labels over lines with commas", "a,\nb,\nc {\n}", ["a. b. c."]),
    ("a comma on its own", "a , b {\n}", ["a. b."]),
    ("several blocks", "a {\n errors\n}\nb {\n log\n}", ["a. | errors", "b. | log"]),
    ("an IPv4 network", "10.0.0.0/24 {\n}", ["0.0.10.in-addr.arpa."]),
    ("an IPv6 network", "2001:db8::/32 {\n}", ["8.b.d.0.1.0.0.2.ip6.arpa."]),
    ("a network inside an octet", "10.0.0.0/15:53 {\n}", ["0.10.in-addr.arpa.:53 1.10.in-addr.arpa.:53"]),
    (
        "schemes",
        "dns://a tls://b:853 https://c grpc://d quic://e {\n}",
        ["a. tls://b.:853 https://c. grpc://d. quic://e."],
    ),
    ("variables", "{$ZONE}:{%PORT%} {\n bind {$ZONE}\n}", ["a.test.:1053 | bind a.test"]),
    ("an unset variable", ". {\n bind {$NO}{%NO%}\n log {$NO}x\n}", [". | bind  | log x"]),
    ("a variable stays one word", ". {\n log {$BLANKS}\n}", [". | log x y"]),
    ("a variable is no brace", ". {\n log {$BRACE}\n}", [". | log {"]),
    ("quotes", '. {\n log "a b" "c \\"d\\"" "\\."\n}', ['. | log "a b" "c "d"" "\\."']),
    ("quotes over lines", '. {\n log "a\nb" c\n errors\n}', ['. | log "a\nb" c | errors']),
    ("quoted braces", '. {\n log "{" "}"\n}', ['. | log "{" "}"']),
    ("a quoted hash", '. {\n log "#a"\n}', ['. | log "#a"']),
    ("comments", "# one\n. { # two\n # { three\n errors # } four\n}#five", [". | errors"]),
    ("a comment inside a word", ". {\n errors#x\n}", [". | errors"]),
    ("a continued line", ". {\n bind a \\\n  b\n}", [". | bind a b"]),
    (
        "blank lines and deeper closing braces",
        ".  {\n\n health {\n  lameduck 5s\n    }\n\n }",
        [". | health { lameduck 5s }"],
    ),
    ("braces inside words", ". {\n log {common} x{2,3} {{ }}\n}", [". | log {common} x{2,3} {{ }}"]),
    ("a plugin twice", ". {\n log a\n log b\n}", [". | log a | log b"]),
    ("blocks in blocks", ". {\n a {\n  b {\n   c\n  }\n }\n}", [". | a { b { c } }"]),
    ("a snippet", "(x) {\n errors\n log {\n  class all\n }\n}\n. {\n import x\n}", [". | errors | log { class all }"]),
    ("an unused snippet", "(x) {\n errors\n}\n", []),
    ("an empty snippet", "(x) {\n}\n. {\n import x\n}", ["."]),
    ("a snippet in a snippet", "(a) {\n log\n}\n(b) {\n import a\n errors\n}\n. {\n import b\n}", [". | log | errors"]),
    ("a snippet of blocks", "(a) {\n b {\n  log\n }\n}\nimport a", ["b. | log"]),
    (
        "a snippet of options",
        "(a) {\n lameduck 5s\n}\n. {\n health {\n  import a\n }\n}",
        [". | health { lameduck 5s }"],
    ),
    ("a quoted import is a word", '. {\n "import" x\n}', ['. | "import" x']),
]


@pytest.mark.parametrize(("text", "blocks"), [row[1:] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_it_is_taken_as_by_coredns(text: str, blocks: list[str]) -> None:
    corefile = parse(text, environment=ENVIRONMENT)
    assert shown(corefile) == blocks
    assert not corefile.warnings


WITHIN_A_LINE = "is closed within a line, which CoreDNS refuses; put the `}` on a line of its own"

WARNED: list[tuple[str, str, list[str], list[str]]] = [
    (
        "a block on one line",
        ". {\n health { lameduck 1s }\n log\n}",
        [". | health { lameduck 1s } | log"],
        [f"Corefile:2: the block of `health` {WITHIN_A_LINE}"],
    ),
    (
        "a server block on one line",
        "a b { errors }\nc { log }",
        ["a. b. | errors", "c. | log"],
        [f"Corefile:1: the block of `a` {WITHIN_A_LINE}", f"Corefile:2: the block of `c` {WITHIN_A_LINE}"],
    ),
    (
        "both on one line",
        ". { errors { stacktrace } }",
        [". | errors { stacktrace }"],
        [f"Corefile:1: the block of `errors` {WITHIN_A_LINE}", f"Corefile:1: the block of `.` {WITHIN_A_LINE}"],
    ),
    (
        "an address as a zone",
        "10.0.0.1:53 {\n}",
        ["10.0.0.1.:53"],
        [
            "Corefile:1: label `10.0.0.1:53` is read as a domain name, not as an address; "
            "`bind 10.0.0.1` listens on it, `10.0.0.1/32` is its reverse zone"
        ],
    ),
    (
        "a glob without a match",
        "import conf/*.server\n. {\n import /etc/x/*.override\n}",
        ["."],
        [
            "Corefile:1: no file matches `conf/*.server`; nothing is imported here",
            "Corefile:3: no file matches `/etc/x/*.override`; nothing is imported here",
        ],
    ),
]


@pytest.mark.parametrize(("text", "blocks", "warnings"), [row[1:] for row in WARNED], ids=[row[0] for row in WARNED])
def test_it_is_taken_with_a_warning(text: str, blocks: list[str], warnings: list[str]) -> None:
    assert shown(parse(text)) == blocks
    assert warnings_of(text) == warnings


REFUSED: list[tuple[str, str, list[str]]] = [
    ("never closed", ".:53 {\n errors\n", ["1: the block of `.:53` is never closed; put a `}` on a line of its own"]),
    (
        "a plugin's block never closed",
        ".:53 {\n health {\n  lameduck 5s\n}",
        ["1: the block of `.:53` is never closed; put a `}` on a line of its own"],
    ),
    ("closed twice", ". {\n}\n}\na {\n}", ["3: unexpected `}`: nothing is open here"]),
    ("no labels", "{\n errors\n}", ["1: a server block without a label; put the zones it serves before its `{`"]),
    ("an open comma", "a, {\n}", ["1: no label follows the comma of `a,`"]),
    ("an open comma at the end", "a,", ["1: no label follows the comma of `a,`"]),
    ("a brace without a word", ". {\n {\n  x\n }\n errors\n}", ["2: `{` without a word before it"]),
    ("words after a brace", ". {\n errors {\n } log\n}", ["3: unexpected `log` after `}`; begin a new line"]),
    (
        "a glued brace",
        ". {\n health{\n  lameduck 5s\n }\n}",
        ["2: a brace stands right after `health`; put a blank between them"],
    ),
    (
        "an open quote",
        '. {\n log "x\n}\n',
        [
            "1: the block of `.` is never closed; put a `}` on a line of its own",
            '2: a quote is opened and never closed; put `"` at the end of the text',
        ],
    ),
    (
        "a variable with a default",
        ". {\n bind {$IP:::1}\n}",
        ["2: `{$IP:::1}` has a default, which variables cannot have; set the variable"],
    ),
    (
        "a label with an unset port",
        ".:{$NO} {\n}",
        ["1: label `.:` has no port after its colon; is the variable in `.:{$NO}` set?"],
    ),
    (
        "a label with an unset zone",
        "{$NO} {\n}",
        ["1: a server block without a label; put the zones it serves before its `{`"],
    ),
    ("a snippet without braces", "(x)\nerrors", ["1: snippet (x) has no braces; write `(x) { ... }`"]),
    (
        "a snippet never closed",
        "(x) {\n errors",
        ["1: the block of `(x)` is never closed; put a `}` on a line of its own"],
    ),
    ("a snippet twice", "(x) {\n}\n(x) {\n}", ["3: snippet (x) is defined twice; give one of them another name"]),
    (
        "a snippet before it is there",
        ". {\n import x\n}\n(x) {\n}",
        ["2: no file and no snippet `x` to import; a snippet must stand above its import"],
    ),
    (
        "a misspelt snippet",
        "(common) {\n}\n. {\n import comon\n}",
        ["4: no file and no snippet `comon` to import; did you mean `common`?"],
    ),
    (
        "a missing file",
        "import a/b.conf",
        ["1: no file and no snippet `a/b.conf` to import; a snippet must stand above its import"],
    ),
    ("import of two", ". {\n import a b\n}", ["2: import takes one file, glob or snippet; write `import NAME`"]),
    ("import of nothing", ". {\n import\n}", ["2: import takes one file, glob or snippet; write `import NAME`"]),
    (
        "import with a block",
        ". {\n import a {\n  b\n }\n}",
        ["2: import takes one file, glob or snippet; write `import NAME`"],
    ),
    (
        "import of an unset variable",
        ". {\n import {$NO}\n}",
        ["2: import of an empty name; write `import FILE` or `import SNIPPET`"],
    ),
    ("a snippet that imports itself", "(x) {\n import x\n}\n. {\n import x\n}", ["2: import loop: (x) → (x)"]),
    (
        "snippets in a circle",
        "(x) {\n import y\n}\n(y) {\n import x\n}\n. {\n import x\n}",
        ["5: import loop: (x) → (y) → (x)"],
    ),
    (
        "all at once",
        "a..b {\n import gone\n health{\n }\n}\n}\nfoo://c {\n}",
        [
            "1: label `a..b` is no zone: empty label in 'a..b'",
            "2: no file and no snippet `gone` to import; a snippet must stand above its import",
            "3: a brace stands right after `health`; put a blank between them",
            "6: unexpected `}`: nothing is open here",
            "7: unknown scheme `foo://` in label `foo://c`; schemes: dns, tls, https, grpc, quic",
        ],
    ),
]


@pytest.mark.parametrize(("text", "faults"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_every_fault_is_told_with_its_line(text: str, faults: list[str]) -> None:
    assert faults_of(text) == [f"Corefile:{fault}" for fault in faults]
