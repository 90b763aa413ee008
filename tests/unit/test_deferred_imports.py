"""Imports inside functions: each module that has one says why, and none says so without need."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

_ROOTS = [Path(__file__).parents[2] / "core", Path(__file__).parents[2] / "tui"]
_REASON = "\n# Deferred imports: "

_INDENTED = re.compile(r"^\s+(?:import|from) ", re.MULTILINE)


def _has_deferred(module: ast.Module) -> bool:
    """Statements alone are looked at: an import is never a part of an expression."""
    waiting: list[tuple[ast.AST, bool]] = [(module, False)]
    while waiting:
        node, inside = waiting.pop()
        if inside and isinstance(node, ast.Import | ast.ImportFrom):
            return True
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        bodies = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody", "handlers", "cases"))
        waiting += ((inner, inside) for body in bodies if isinstance(body, list) for inner in body)
    return False


def test_every_module_with_a_deferred_import_says_why() -> None:
    deferred, explained = set(), set()
    for path in (path for root in _ROOTS for path in root.rglob("*.py")):
        text = path.read_text()
        # Only such a text can have one, and to parse all of them takes seconds.
        if _INDENTED.search(text) and _has_deferred(ast.parse(text)):
            deferred.add(path)
        if _REASON in text:
            explained.add(path)
    assert deferred == explained
    assert deferred
