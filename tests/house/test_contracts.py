"""Which room may import which, and what pure rooms may not do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import ROOT, dotted, modules, project, syntax_tree

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
PURE = next(
    contract for contract in project()["tool"]["importlinter"]["contracts"] if contract["name"].startswith("Pure rooms")
)
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}


def pure_modules() -> list[Path]:
    rooms = tuple(PURE["source_modules"])
    return [path for path in modules() if any(f"{dotted(path)}.".startswith(f"{room}.") for room in rooms)]


def test_the_import_contracts_are_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_pure_modules_to_look_at() -> None:
    assert len(pure_modules()) >= 20


@pytest.mark.parametrize("path", pure_modules(), ids=dotted)
def test_a_pure_module_does_no_io_and_reads_no_clock(path: Path) -> None:
    assert list(faults(syntax_tree(path))) == []


@pytest.mark.parametrize(
    "source",
    ["import time", "from os import path", "def f():\n    import socket", "print(1)", "def f():\n    open('x')"],
)
def test_the_walk_finds_what_it_looks_for(source: str) -> None:
    assert list(faults(ast.parse(source)))


def faults(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (f"import {each.name}" for each in names if is_forbidden(each.name))
            case ast.ImportFrom(module=str(module)) if is_forbidden(module):
                yield f"from {module} import"
            case ast.Call(func=ast.Name(id=name)) if name in FORBIDDEN_CALLS:
                yield f"{name}() in line {node.lineno}"


def is_forbidden(module: str) -> bool:
    return module.split(".")[0] in PURE["forbidden_modules"]
