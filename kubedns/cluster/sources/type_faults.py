"""What msgspec says of a value of the wrong type, in our own words and with a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

_COMPLAINT = re.compile(r"(?P<message>.*?)(?: - at (?:`?key`? in )?`\$(?P<path>.*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_SHOWN = 40
_REMEDIES = {
    "str": "put it in quotes",
    "int": "give a number",
    "array": "write a list",
    "object": "write fields below it",
    "bool": "write true or false",
}
_PORTS = ("port", "targetPort", "containerPort")


def type_fault(error: msgspec.ValidationError, scalar_at: Callable[[str], str | None]) -> tuple[str, str, str]:
    """Path, what is wrong there and what would be right. ``scalar_at`` gives what is written at a path."""
    complaint = _COMPLAINT.fullmatch(str(error))
    path = (complaint["path"] or "") if complaint else ""
    message = complaint["message"] if complaint else str(error)
    if missing := _MISSING.fullmatch(message):
        return f"{path}.{missing['name']}", "missing", "it has to be given"
    if not (wrong := _EXPECTED.fullmatch(message)):
        return path, message.replace("`", ""), ""
    # Where null is allowed too, it is still not what should be written.
    expected = " or ".join(each for each in wrong["expected"].split(" | ") if each != "null")
    written = scalar_at(path)
    got = wrong["got"] if written is None or wrong["got"] == "null" else f'"{written[:_SHOWN]}"'
    return path, f"expected {expected}, got {got}", _remedy(path, expected)


def _remedy(path: str, expected: str) -> str:
    if path.rpartition(".")[2] in _PORTS:
        return "give a number from 1 to 65535"
    return _REMEDIES.get(expected, "")
