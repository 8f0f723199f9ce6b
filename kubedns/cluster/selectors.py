"""Label selectors: the text form that ``labels`` and ``namespace_labels`` take, as ``kubectl -l`` does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_KEY = r"[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_EQUALITY = re.compile(rf"(?P<key>{_KEY})\s*(?P<operator>==|=|!=)\s*(?P<value>{_VALUE})", re.ASCII)
_SET = re.compile(rf"(?P<key>{_KEY})\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)", re.ASCII)
_PRESENCE = re.compile(rf"(?P<operator>!?)\s*(?P<key>{_KEY})", re.ASCII)


class BadSelectorError(ValueError):
    """Text that is no label selector."""


class Operator(Enum):
    """What a requirement asks of a label."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    DOES_NOT_EXIST = "does not exist"


@dataclass(frozen=True, slots=True)
class Requirement:
    """``key`` must have one of ``values``, none of them, be there, or be absent. Absent counts as none of them."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether labels meet it."""
        match self.operator:
            case Operator.IN:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels

    def __str__(self) -> str:
        """As the API server takes it."""
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.DOES_NOT_EXIST:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                word = "in" if self.operator is Operator.IN else "notin"
                return f"{self.key} {word} ({','.join(sorted(self.values))})"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Requirements that must all be met; none select everything."""

    requirements: tuple[Requirement, ...] = ()

    def __str__(self) -> str:
        """As the API server takes it, and :func:`parse_selector`."""
        return ",".join(map(str, self.requirements))

    def matches(self, labels: dict[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def parse_selector(text: str) -> LabelSelector:
    """Read ``a=b,c!=d,e in (f,g),h notin (i),j,!k``.

    Raises:
        BadSelectorError: a part is none of these.
    """
    return LabelSelector(tuple(_requirement(part.strip()) for part in _parts(text)))


def _parts(text: str) -> list[str]:
    """The parts between the commas that are in no parentheses."""
    return re.split(r",(?![^()]*\))", text) if text.strip() else []


def _requirement(part: str) -> Requirement:
    if found := _EQUALITY.fullmatch(part):
        operator = Operator.NOT_IN if found["operator"] == "!=" else Operator.IN
        return Requirement(found["key"], operator, frozenset({found["value"]}))
    if found := _SET.fullmatch(part):
        values = [value.strip() for value in found["values"].split(",")]
        if all(re.fullmatch(_VALUE, value, re.ASCII) for value in values):
            return Requirement(found["key"], Operator(found["operator"]), frozenset(values))
    elif found := _PRESENCE.fullmatch(part):
        return Requirement(found["key"], Operator.DOES_NOT_EXIST if found["operator"] else Operator.EXISTS)
    raise BadSelectorError(f"{part!r} is no requirement; write key=value, key!=value, key in (a,b), key or !key")
