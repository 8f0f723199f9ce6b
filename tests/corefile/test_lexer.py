import random

import pytest

from kubedns.corefile.lexer import lex

ENVIRONMENT = {"A": "1 2", "B": "{", "C": "{$A}"}

WORDS: list[tuple[str, list[tuple[str, int, int, bool]]]] = [
    ("", []),
    ("  \n\t\r\n", []),
    ("a b\n  c", [("a", 1, 1, True), ("b", 1, 3, False), ("c", 2, 3, True)]),
    ('"a b" c', [("a b", 1, 1, True), ("c", 1, 7, False)]),
    ('"" x', [("", 1, 1, True), ("x", 1, 4, False)]),
    ('"a\n\nb" c\nd', [("a\n\nb", 1, 1, True), ("c", 3, 4, False), ("d", 4, 1, True)]),
    ('"a"b', [("a", 1, 1, True), ("b", 1, 4, False)]),
    ('a"b c"', [('a"b', 1, 1, True), ('c"', 1, 5, False)]),
    (r'"\"a\" \\ \n \."', [(r'"a" \\ \n \.', 1, 1, True)]),
    (r"a\b \"", [(r"a\b", 1, 1, True), (r"\"", 1, 5, False)]),
    ("a \\\n b\nc", [("a", 1, 1, True), ("b", 2, 2, False), ("c", 3, 1, True)]),
    ("a\\\r\nb", [("a", 1, 1, True), ("b", 2, 1, False)]),
    ("a \\ b \\", [("a", 1, 1, True), ("\\", 1, 3, False), ("b", 1, 5, False), ("\\", 1, 7, False)]),
    ("# a\nb # c\n#", [("b", 2, 1, True)]),
    ('a#b\n"#" c', [("a", 1, 1, True), ("#", 2, 1, True), ("c", 2, 5, False)]),
    ("{$A} {%A%} x{$A}y{%A%}", [("1 2", 1, 1, True), ("1 2", 1, 6, False), ("x1 2y1 2", 1, 12, False)]),
    ('"{$A}" {$NO} {$C}', [("1 2", 1, 1, True), ("", 1, 8, False), ("{$A}", 1, 14, False)]),
    ("{$} {%%} {$A {%A}", [("{$}", 1, 1, True), ("{%%}", 1, 5, False), ("{$A", 1, 10, False), ("{%A}", 1, 14, False)]),
    ("ä ☃ \u00a0b", [("ä", 1, 1, True), ("☃", 1, 3, False), ("b", 1, 6, False)]),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_and_their_places(text: str, words: list[tuple[str, int, int, bool]]) -> None:
    lexed = lex(text, "Corefile", ENVIRONMENT)
    found = [(t.word.text, t.word.location.line, t.word.location.column, t.starts_line) for t in lexed.tokens]
    assert found == words
    assert not lexed.faults


BRACES = [("{", True), ('"{"', False), ("{$B}", False), ("{}", False), ("{{", False)]


@pytest.mark.parametrize(("text", "is_brace"), BRACES)
def test_only_a_bare_brace_is_one(text: str, is_brace: bool) -> None:
    (token,) = lex(text, "Corefile", ENVIRONMENT).tokens
    assert token.is_brace("{") == is_brace


FAULTS = [
    ('a "b', ['Corefile:1: a quote is opened and never closed; put `"` at the end of the text'], ["a", "b"]),
    ('\n"a\\', ['Corefile:2: a quote is opened and never closed; put `"` at the end of the text'], ["a\\"]),
    (
        "a{\nb}",
        [
            "Corefile:1: a brace stands right after `a`; put a blank between them",
            "Corefile:2: a brace stands right after `b`; put a blank between them",
        ],
        ["a", "{", "b", "}"],
    ),
    (
        "{$PORT:53}",
        ["Corefile:1: `{$PORT:53}` has a default, which variables cannot have; set the variable"],
        [""],
    ),
]


@pytest.mark.parametrize(("text", "faults", "words"), FAULTS)
def test_faults_of_words(text: str, faults: list[str], words: list[str]) -> None:
    lexed = lex(text, "Corefile", {})
    assert [str(fault) for fault in lexed.faults] == faults
    assert [token.word.text for token in lexed.tokens] == words


ALPHABET = 'ab.:/-_{}$%"\\# \t\r\n\u00a0ä\x00\x1c'


def random_text(chance: random.Random, alphabet: str = ALPHABET) -> str:
    return "".join(chance.choices(alphabet, k=chance.randrange(60)))


def test_any_text_has_words_at_their_places() -> None:
    chance = random.Random(20)
    for _ in range(3000):
        text = random_text(chance)
        lines = text.split("\n")
        for token in lex(text, "Corefile", {}).tokens:
            location = token.word.location
            rest = "\n".join([lines[location.line - 1][location.column - 1 :], *lines[location.line :]])
            assert rest.startswith(location.word)


def test_written_words_are_read_back() -> None:
    chance = random.Random(21)
    plain, quotable = "ab.:/-_ä$%", 'ab {}"#\n\tä'
    for _ in range(1000):
        words = ["".join(chance.choices(chance.choice((plain, quotable)), k=chance.randrange(8))) for _ in range(5)]
        written = [word if word and set(word) <= set(plain) else '"' + word.replace('"', '\\"') + '"' for word in words]
        text = chance.choice((" ", "\n", " \\\n ", " # {\n")).join(written)
        assert [token.word.text for token in lex(text, "Corefile", {}).tokens] == words
