"""Terms of ``view``'s expressions made of others: what fits together, and what comes of it. Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kubedns.corefile.blocks import Word
from kubedns.corefile.values import Pattern
from kubedns.dns.question import Query
from kubedns.errors import ConfigurationError, Location
from kubedns.plugins.view_facts import ExpressionError, Kind, Of, Term, Value

_ANY = tuple(Kind)
_COMPARISONS: Mapping[str, tuple[Callable[[Any, Any], bool], tuple[Kind, ...]]] = {
    "==": (operator.eq, _ANY),
    "!=": (operator.ne, _ANY),
    "<": (operator.lt, (Kind.NUMBER, Kind.TEXT)),
    "<=": (operator.le, (Kind.NUMBER, Kind.TEXT)),
    ">": (operator.gt, (Kind.NUMBER, Kind.TEXT)),
    ">=": (operator.ge, (Kind.NUMBER, Kind.TEXT)),
    "contains": (operator.contains, (Kind.TEXT,)),
    "startsWith": (str.startswith, (Kind.TEXT,)),
    "endsWith": (str.endswith, (Kind.TEXT,)),
}
COMPARISONS = tuple(_COMPARISONS)
"""The signs that :func:`compared` knows."""


def fixed(kind: Kind, value: Value) -> Term:
    """A value that is written."""
    return Term(kind, lambda query: value, constant=value)


def listed(terms: Sequence[Term]) -> Term:
    """The list of the terms' values."""
    parts = tuple(each.of for each in terms)
    return _made(Kind.LIST, lambda query: tuple([of(query) for of in parts]), *terms)


def all_of(conditions: Sequence[Term]) -> Term:
    """Whether all of them hold; none: always."""
    parts = tuple(each.of for each in conditions)
    return _made(Kind.CONDITION, lambda query: all(of(query) for of in parts), *conditions)


def any_of(conditions: Sequence[Term]) -> Term:
    """Whether one of them holds."""
    parts = tuple(each.of for each in conditions)
    return _made(Kind.CONDITION, lambda query: any(of(query) for of in parts), *conditions)


def negated(condition: Term) -> Term:
    """Whether it does not hold."""
    return _made(Kind.CONDITION, lambda query: not condition.of(query), condition)


def as_condition(term: Term, what: str) -> Term:
    """The term, ``what`` it is for people.

    Raises:
        ExpressionError: it is no condition.
    """
    if term.kind is not Kind.CONDITION:
        raise ExpressionError(f"{what} is {term.kind.value}, and must be a condition")
    return term


def compared(sign: str, left: Term, right: Term) -> Term:
    """What one of :data:`COMPARISONS` says.

    Raises:
        ExpressionError: the terms are unlike, or of a kind that is not compared so.
    """
    holds, kinds = _COMPARISONS[sign]
    if left.kind is not right.kind:
        raise ExpressionError(f"`{sign}` compares {left.kind.value} with {right.kind.value}")
    if left.kind not in kinds:
        raise ExpressionError(f"`{sign}` takes {' or '.join(kind.value for kind in kinds)}, not {left.kind.value}")
    return _made(Kind.CONDITION, lambda query: holds(left.of(query), right.of(query)), left, right)


def contained(left: Term, right: Term) -> Term:
    """Whether a list has a value.

    Raises:
        ExpressionError: it is no list.
    """
    if right.kind is not Kind.LIST:
        raise ExpressionError(f"`in` takes a list, not {right.kind.value}", "write it like ['A', 'AAAA']")

    def of(query: Query) -> bool:
        found = right.of(query)
        return isinstance(found, tuple) and left.of(query) in found

    return _made(Kind.CONDITION, of, left, right)


def matching(left: Term, right: Term) -> Term:
    """Whether a text has something in it that a regular expression matches.

    Raises:
        ExpressionError: it is no text, or the other is no regular expression that is written.
    """
    if left.kind is not Kind.TEXT or not isinstance(right.constant, str):
        raise ExpressionError("`matches` takes a text and a regular expression in quotes")
    try:
        pattern = Pattern().convert(Word(right.constant, Location("")))
    except ConfigurationError as error:
        raise ExpressionError(error.message) from error
    return _made(Kind.CONDITION, lambda query: pattern.search(str(left.of(query))) is not None, left)


def _made(kind: Kind, of: Of, *parts: Term) -> Term:
    """A term made of others, which depends on whatever they do."""
    networks = frozenset(network for part in parts for network in part.networks)
    return Term(kind, of, networks, any(part.by_address for part in parts), any(part.is_volatile for part in parts))
