"""One meaning for each name: public classes in the whole code base, public functions within their package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SOURCES = (_ROOT / "core" / "foretop_core", _ROOT / "tui" / "foretop")


def _definitions(*kinds: type[ast.stmt]) -> Iterator[tuple[Path, ast.stmt]]:
    """The top-level definitions of the product; the simulator uses the names of an API server."""
    for source in _SOURCES:
        for path in sorted(source.rglob("*.py")):
            yield from ((path, node) for node in ast.parse(path.read_text()).body if isinstance(node, kinds))


def test_a_public_class_name_has_one_meaning() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, node in _definitions(ast.ClassDef):
        assert isinstance(node, ast.ClassDef)
        if not node.name.startswith("_"):
            places[node.name].append(str(path.relative_to(_ROOT)))
    assert len(places) > 200
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_public_function_name_has_one_meaning_within_its_package() -> None:
    places: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path, node in _definitions(ast.FunctionDef, ast.AsyncFunctionDef):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        # A command's function has the name that a person types after its group: `backup create`, `restore create`.
        if not node.name.startswith("_") and not node.decorator_list:
            places[str(path.parent.relative_to(_ROOT)), node.name].append(path.name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
