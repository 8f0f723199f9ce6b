"""Long YAML lists of objects, as ``kubectl get -o yaml`` writes them, cut into the texts of their items.

Read as a whole, such a list stands in memory several times its size, and nothing else runs while it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from kubedns.cluster.sources.yaml_text import ALIASES, YamlError, YamlText

_ITEMS = re.compile(rb"^items:[ \t]*\r?\n(?=( *)- )", re.MULTILINE)


def split_list(text: YamlText) -> Iterator[YamlText] | None:
    """The items of a list in block style, in their order; None where it is not plain to see what they are.

    A text that is cut at the wrong place is no YAML any more, so whoever meets a YamlError reads the whole instead.
    """
    octets = text.octets
    found = _ITEMS.search(octets)
    if found is None or ALIASES.search(octets):
        return None
    indent = found[1]
    # The list ends before the first line that is neither indented further nor an item, a comment or blank.
    behind = re.compile(rb"^(?!%b- |[ \t]*(?:#|\r?$)) {0,%d}[^ \r\n]" % (indent, len(indent)), re.MULTILINE)
    last = behind.search(octets, found.end())
    end = last.start() if last else len(octets)
    if not _is_list(octets[: found.start()] + octets[end:]):
        return None
    starts = [each.start() for each in re.compile(rb"^%b- " % indent, re.MULTILINE).finditer(octets, found.end(), end)]
    return _items(text, [*starts, end], len(indent))


def _is_list(head: bytes) -> bool:
    """Whether what is around the items says that they are a list of objects."""
    try:
        value = YamlText(head).value()
    except YamlError:
        return False
    return isinstance(value, dict) and str(value.get("kind", "")).endswith("List") and "items" not in value


def _items(text: YamlText, bounds: list[int], indent: int) -> Iterator[YamlText]:
    lines = text.lines_before + text.octets.count(b"\n", 0, bounds[0])
    for start, end in pairwise(bounds):
        # The dash stands where the item's own indentation would.
        yield YamlText(b" " * (indent + 2) + text.octets[start + indent + 2 : end], lines)
        lines += text.octets.count(b"\n", start, end)
