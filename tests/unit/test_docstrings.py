"""A docstring begins with a verb or with the thing itself, so that its first words say what it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
_RIDDLE = r"(What|Where|Of|Who|That|It|Whether|Those|Whatever)\b"
_MUST_BE_READ_TO_THE_END = re.compile(_RIDDLE)
_MAY_BE_ONE = re.compile(rf"""("|')\s*{_RIDDLE}""")


def _modules() -> Iterator[tuple[str, Path]]:
    for root in ("core", "tui"):
        for path in sorted((ROOT / root).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT / root).with_suffix("").parts), path


def _riddles(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    # Only such a text can have one, and to look through all of them takes seconds.
    for node in ast.walk(ast.parse(text)) if _MAY_BE_ONE.search(text) else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            told = ast.get_docstring(node) or ""
            if _MUST_BE_READ_TO_THE_END.match(told):
                yield f"{getattr(node, 'name', 'module')}: {told.splitlines()[0]}"


def test_docstrings_begin_with_a_verb_or_the_thing_itself() -> None:
    found = {module: told for module, path in _modules() if (told := list(_riddles(path)))}
    assert found == {}
