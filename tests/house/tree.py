"""The project's own files, for tests about them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "kubedns"
FOLDERS = ("kubedns", "tests", "zones", ".ci")


def text_files() -> Iterator[Path]:
    """Every file of the project that holds text."""
    for path in sorted(each for each in ROOT.iterdir() if each.is_file()):
        if path.name != ".git":
            yield path
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and path.suffix != ".pyc")


def modules() -> Iterator[Path]:
    """Every module of the package."""
    return iter(sorted(PACKAGE.rglob("*.py")))


def dotted(path: Path) -> str:
    """The module's name: kubedns.dns.names."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(), str(path))


@cache
def project() -> dict[str, Any]:
    """pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())
