"""A docstring begins with a verb or with the thing itself, so that its first words say what it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STILL_TO_DO = frozenset(
    {
        "foretop.app",
        "foretop.pages",
        "foretop.panes",
        "foretop_core.dashboard",
        "foretop_core.rules.facts",
        "foretop_core.rules.night",
        "foretop_core.rules.queue",
        "foretop_core.tables",
    }
)
_MUST_BE_READ_TO_THE_END = re.compile(r"(What|Where|Of|Who|That|It|Whether|Those|Whatever)\b")


def _modules() -> Iterator[tuple[str, Path]]:
    for root in ("core", "tui"):
        for path in sorted((ROOT / root).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT / root).with_suffix("").parts), path


def _riddles(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            told = ast.get_docstring(node) or ""
            if _MUST_BE_READ_TO_THE_END.match(told):
                yield f"{getattr(node, 'name', 'module')}: {told.splitlines()[0]}"


def _package(module: str) -> str | None:
    return next((one for one in STILL_TO_DO if module == one or module.startswith(f"{one}.")), None)


def test_docstrings_begin_with_a_verb_or_the_thing_itself() -> None:
    found = {module: told for module, path in _modules() if not _package(module) and (told := list(_riddles(path)))}
    assert found == {}


@pytest.mark.parametrize("package", sorted(STILL_TO_DO))
def test_a_package_whose_docstrings_are_done_leaves_the_list(package: str) -> None:
    assert any(any(_riddles(path)) for module, path in _modules() if _package(module) == package)
