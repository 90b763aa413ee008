"""A docstring begins with a verb or with the thing itself, so that its first words say what it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def test_docstrings_begin_with_a_verb_or_the_thing_itself() -> None:
    found = {module: told for module, path in _modules() if (told := list(_riddles(path)))}
    assert found == {}
