"""One meaning for each name: public classes in the whole code base, public functions within their package."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.long

_ROOT = Path(__file__).parents[2]
_SOURCES = (_ROOT / "core" / "foretop_core", _ROOT / "tui" / "foretop")


class _Definition(NamedTuple):
    path: Path
    name: str
    is_class: bool
    is_decorated: bool


@cache
def _definitions() -> tuple[_Definition, ...]:
    """The public top-level definitions of the product; the simulator uses the names of an API server."""
    return tuple(
        _Definition(path.relative_to(_ROOT), node.name, isinstance(node, ast.ClassDef), bool(node.decorator_list))
        for source in _SOURCES
        for path in sorted(source.rglob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    )


def test_a_public_class_name_has_one_meaning() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for found in _definitions():
        if found.is_class:
            places[found.name].append(str(found.path))
    assert len(places) > 200
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_public_function_name_has_one_meaning_within_its_package() -> None:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for found in _definitions():
        # A command's function has the name that a person types after its group: `backup create`, `restore create`.
        if not found.is_class and not found.is_decorated:
            places[str(found.path.parent), found.name].append(found.path.name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
