"""Expressions of ``view``: text → a condition on queries, of CoreDNS's language what a condition needs. Pure.

``||`` ``or`` ``&&`` ``and`` ``!`` ``not``, ``==`` ``!=`` ``<`` ``<=`` ``>`` ``>=``, ``in`` and ``not in`` a list,
``matches`` a regular expression, ``contains``, ``startsWith``, ``endsWith``; texts in quotes, numbers, ``true`` and
``false``, lists in brackets. What does not fit together is told when the text is read, not when a query comes.
"""

from __future__ import annotations

import re

from kubedns.plugins.view_facts import ExpressionError, Kind, Term, fact, in_network
from kubedns.plugins.view_terms import (
    COMPARISONS,
    all_of,
    any_of,
    as_condition,
    compared,
    contained,
    fixed,
    listed,
    matching,
    negated,
)

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+)|(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<sign>==|!=|<=|>=|&&|\|\||[<>!(),\[\]]))\s*"""
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_WORDS = ("or", "and", "not", "in", "matches", *COMPARISONS)
_MOST_DEEP = 50


def parse_expression(text: str) -> Term:
    """The condition that ``text`` states.

    Raises:
        ExpressionError: it states none.
    """
    return _Parser(text).whole()


class _Parser:
    """Reads by descent: each method takes what binds tighter than its own signs, then those."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Term:
        term = self._either()
        if self._next:
            raise ExpressionError(f"unexpected `{self._next}`")
        return as_condition(term, "the expression")

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *signs: str) -> str:
        """The next token if it is one of ``signs``."""
        found = self._next
        if found not in signs:
            return ""
        self._at += 1
        return found

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise ExpressionError(f"`{sign}` is missing {f'before `{self._next}`' if self._next else 'at the end'}")

    def _either(self) -> Term:
        self._depth += 1
        if self._depth > _MOST_DEEP:
            raise ExpressionError(f"more than {_MOST_DEEP} parentheses in each other")
        terms = [self._both()]
        while sign := self._take("||", "or"):
            terms = [as_condition(each, f"what `{sign}` joins") for each in (*terms, self._both())]
        self._depth -= 1
        return terms[0] if len(terms) == 1 else any_of(terms)

    def _both(self) -> Term:
        terms = [self._not()]
        while sign := self._take("&&", "and"):
            terms = [as_condition(each, f"what `{sign}` joins") for each in (*terms, self._not())]
        return terms[0] if len(terms) == 1 else all_of(terms)

    def _not(self) -> Term:
        count = 0
        while self._take("!", "not"):
            count += 1
        term = self._compared()
        if count:
            as_condition(term, "what `not` turns round")
        return negated(term) if count % 2 else term

    def _compared(self) -> Term:
        left = self._primary()
        if sign := self._take(*COMPARISONS):
            return compared(sign, left, self._primary())
        if self._take("matches"):
            return matching(left, self._primary())
        if self._take("in"):
            return contained(left, self._primary())
        if self._take("not"):
            self._expect("in")
            return negated(contained(left, self._primary()))
        return left

    def _primary(self) -> Term:
        token = self._next
        self._at += 1
        if not token:
            raise ExpressionError("it ends too early")
        if token == "(":
            term = self._either()
            self._expect(")")
            return term
        if token == "[":
            return self._list()
        if token[0] in "'\"`":
            return fixed(Kind.TEXT, _unquoted(token))
        if token.isdigit():
            return fixed(Kind.NUMBER, int(token))
        if token in ("true", "false"):
            return fixed(Kind.CONDITION, token == "true")
        if not token[0].isalpha() or token in _WORDS:
            raise ExpressionError(f"unexpected `{token}`")
        return self._call(token)

    def _list(self) -> Term:
        terms: list[Term] = []
        while not self._take("]"):
            terms.append(self._primary())
            if self._next != "]":
                self._expect(",")
        return listed(terms)

    def _call(self, name: str) -> Term:
        if not self._take("("):
            raise ExpressionError(f"`{name}` is nothing", f"write texts in quotes, and functions as {name}()")
        if name != "incidr":
            term = fact(name)
            self._expect(")")
            return term
        address = self._primary()
        self._expect(",")
        network = self._primary()
        self._expect(")")
        return in_network(address, network)


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionError(f"`{text[at:].split()[0]}` is not understood")
        tokens.append(match[match.lastgroup or 0])
        at = match.end()
    return tokens


def _unquoted(token: str) -> str:
    """The text in quotes. A backslash before anything else stays, as in a regular expression."""
    inside = token[1:-1]
    if token[0] == "`":
        return inside
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), inside)
