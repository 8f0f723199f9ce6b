from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.tree import dotted, modules, syntax_tree

Defined = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | Defined


def test_everything_public_has_a_docstring() -> None:
    assert [name for path in modules() for name in undocumented(syntax_tree(path), dotted(path))] == []


def test_the_walk_finds_what_it_looks_for() -> None:
    source = '"""M."""\nclass A:\n    def f(self): ...\n    def _g(self): ...\ndef _h(): ...\nasync def k(): ...'
    assert list(undocumented(ast.parse(source), "m")) == ["m.A", "m.A.f", "m.k"]


def undocumented(node: Documented, name: str) -> Iterator[str]:
    if ast.get_docstring(node) is None:
        yield name
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            if isinstance(child, Defined) and not is_exempt(child):
                yield from undocumented(child, f"{name}.{child.name}")


def is_exempt(node: Defined) -> bool:
    """Private, or one of the overloads of what is documented once."""
    is_overload = any(isinstance(each, ast.Name) and each.id == "overload" for each in node.decorator_list)
    return node.name.startswith("_") or is_overload
