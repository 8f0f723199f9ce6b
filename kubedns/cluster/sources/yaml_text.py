"""YAML as the tools of Kubernetes read it, within bounds; and on which line of it something stands.

JSON is YAML too, so the lines of a JSON text are found the same way.
"""

from __future__ import annotations

import re
from functools import cached_property

import yaml

MOST_NODES = 100_000
"""What a document may grow to by its aliases."""
ALIASES = re.compile(rb"(?:^|[\s\[,{:-])\*[^\s,\[\]{}]", re.MULTILINE)
"""Where an alias may stand."""
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


class YamlError(ValueError):
    """Text that cannot be read. ``line`` counts from 1 in that text; ``str()`` is what is wrong."""

    def __init__(self, message: str, line: int) -> None:
        self.line = line
        super().__init__(message)


class _Loader(yaml.CSafeLoader):
    """Without YAML 1.1's dates, numbers in base 60 and ``=``, which the tools of Kubernetes do not know either."""


_NUMBERS = {
    "tag:yaml.org,2002:int": re.compile(r"[-+]?(?:0b[01_]+|0[0-7_]*|[1-9][0-9_]*|0x[0-9a-fA-F_]+)\Z"),
    "tag:yaml.org,2002:float": re.compile(
        r"(?:[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
}
_UNKNOWN = ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, _NUMBERS.get(tag, pattern)) for tag, pattern in resolvers if tag not in _UNKNOWN]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


class YamlText:
    """One document. ``lines_before`` it in its file are counted with every line given."""

    def __init__(self, octets: bytes, lines_before: int = 0) -> None:
        self.octets = octets
        self.lines_before = lines_before

    def value(self) -> object:
        """What it says.

        Raises:
            YamlError: no YAML, or aliases that would make it grow beyond all bounds.
        """
        loader = _Loader(self.octets)
        try:
            self._root = loader.get_single_node()
            if self._root is not None and ALIASES.search(self.octets) and expanded_size(self._root) > MOST_NODES:
                raise YamlError(f"its aliases make more than {MOST_NODES} values of it", self.first_line())
            return None if self._root is None else loader.construct_document(self._root)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            if isinstance(error, YamlError):
                raise
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or (str(error) or "nested too deeply").splitlines()[0]
            # What is missing at the end is missing on the last line, not behind it.
            line = min(mark.line, self.octets.rstrip().count(b"\n")) + 1 if mark else 1
            raise YamlError(f"no YAML: {problem}", self.lines_before + line) from error
        finally:
            loader.dispose()

    def first_line(self) -> int:
        """The line on which the document begins, behind blank lines and comments."""
        for number, line in enumerate(self.octets.split(b"\n"), 1):
            if line.strip() and not line.lstrip().startswith(b"#"):
                return self.lines_before + number
        return self.lines_before + 1

    def line_of(self, path: str) -> int:
        """The line of what stands at ``path`` (``.spec.ports[0].port``), or of the deepest on the way; 0: unknown."""
        found = self._nodes(path)
        return self.lines_before + found[-1].start_mark.line + 1 if found else 0

    def scalar_at(self, path: str) -> str | None:
        """The text at exactly ``path``, if a scalar stands there."""
        found = self._nodes(path)
        is_whole = len(found) == 1 + len(_STEP.findall(path))
        return str(found[-1].value) if is_whole and isinstance(found[-1], yaml.ScalarNode) else None

    def _nodes(self, path: str) -> list[yaml.Node]:
        """The nodes on the way to ``path``, as far as it goes."""
        if self._root is None:
            return []
        nodes = [self._root]
        for name, index in _STEP.findall(path):
            below = _below(nodes[-1], name, index)
            if below is None:
                break
            nodes.append(below)
        return nodes

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self.octets, Loader=_Loader)
        except (yaml.YAMLError, ValueError):
            return None


def expanded_size(root: yaml.Node) -> int:
    """How many nodes ``root`` has once each alias is replaced by what it stands for; beyond all bounds for a circle."""
    sizes: dict[int, int] = {}
    begun: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) not in begun:
            begun.add(id(node))
            stack += [child for child in _children(node) if id(child) not in begun]
            continue
        if id(node) not in sizes:
            # A child that has no size yet holds this node itself.
            sizes[id(node)] = 1 + sum(sizes.get(id(child), MOST_NODES + 1) for child in _children(node))
        stack.pop()
    return sizes[id(root)]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _below(node: yaml.Node, name: str, index: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode) and name:
        return next((value for key, value in node.value if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and index and int(index) < len(node.value):
        found: yaml.Node = node.value[int(index)]
        return found
    return None
