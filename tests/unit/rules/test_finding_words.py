"""The words of findings: a row has room for 32 cells of them, and a person reads each sentence once."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path
from typing import TypeGuard

import pytest

from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import keys_in, render, with_keys
from foretop_core.rules.triage import Finding, aggregated, triage
from foretop_core.rules.triage.finding import WHAT_CELLS, brief
from foretop_core.tables.text.terminal_text import width
from tests.examples import sampled
from tests.objects import NOW, location, schedule
from tests.settled_scenes import SCENE_NAMES, settled

pytestmark = pytest.mark.long


def findings_of(scene: str, after: timedelta) -> tuple[Finding, ...]:
    objects, now = settled(scene, after)
    return aggregated(triage(assemble(objects), now).findings)


@pytest.mark.parametrize("scene", sampled(SCENE_NAMES, "dead", "maintenance", "nonadmin-status", "outage"))
def test_what_is_short_and_do_says_nothing_twice_in_every_scene(scene: str) -> None:
    for finding in findings_of(scene, timedelta(minutes=2)):
        what, told = render(finding.what, NOW), render(finding.evidence, NOW)
        assert width(what) <= WHAT_CELLS, what
        assert told.endswith("."), told
        for said in re.split(r"(?<=\.) ", render(finding.remedy, NOW)):
            assert said not in told, said


def test_what_a_cluster_says_at_any_length_does_not_widen_a_row() -> None:
    assert brief("down: pod in CrashLoopBackOff", "down") == "down: pod in CrashLoopBackOff"
    assert brief(f"down: pod in {'x' * 40}", "down") == "down"
    assert brief("down: pod in 崩溃", "down") == "down"


def test_the_keys_of_a_remedy_are_those_of_the_screen() -> None:
    found = triage(assemble([location(), schedule("bad", "61 2 * * *")]), NOW).findings
    broken = next(one for one in found if one.code == "schedule-invalid")
    assert keys_in(broken.remedy) == ("edit-schedule",)
    assert render(with_keys(broken.remedy, {"edit-schedule": "E"}.__getitem__), NOW).startswith("Correct its cron (E).")
    assert render(broken.remedy, NOW).startswith("Correct its cron.")


READ_TWICE = (
    "or later by",
    "nothing of what failed",
    "when it is created but",
    "has ended if that is running then",
    "a copy made since",
    "expires with none after it",
    "should have made one since",
)
"""Wordings that an operator had to read twice."""


def test_nobody_has_to_read_a_sentence_twice() -> None:
    root = Path(__file__).resolve().parents[3]
    for path in (*(root / "core" / "foretop_core").rglob("*.py"), *(root / "tui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        # A sentence may be in pieces. Only such a text can have one, and to parse all of them takes seconds.
        joined = re.sub(r'"\s*f?"', "", text)
        if not any(old in joined for old in READ_TWICE):
            continue
        said = [str(node.value) for node in ast.walk(ast.parse(text)) if _is_text(node)]
        assert [(path.name, old) for old in READ_TWICE for text in said if old in text and "\n" not in text] == []


def _codes(tree: ast.Module) -> set[str]:
    """The codes that a module gives to findings: literals and constants where its functions take a code."""
    constants = {
        target.id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_text(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    places = {"Finding": 0}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args]
            if "code" in names:
                places[node.name] = names.index("code")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    given = [
        call.args[places[call.func.id]]
        for call in calls
        if isinstance(call.func, ast.Name) and len(call.args) > places.get(call.func.id, len(call.args))
    ]
    literals = {str(argument.value) for argument in given if _is_text(argument)}
    return literals | {constants[name.id] for name in given if isinstance(name, ast.Name) and name.id in constants}


def test_each_finding_has_an_example() -> None:
    """Its code is named by a test beside the rules or in its room, which asserts it of the objects of a cluster."""
    root = Path(__file__).resolve().parents[3]
    core = root / "core" / "foretop_core"
    modules = (*(core / "rules").rglob("*.py"), *(core / "rooms").rglob("*.py"), *(core / "tables").rglob("*.py"))
    codes = set[str]().union(*(_codes(ast.parse(path.read_text(encoding="utf-8"))) for path in modules))
    tests = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("unit", "rooms")
        for path in sorted((root / "tests" / folder).rglob("test_*.py"))
    )
    assert len(codes) > 30
    assert [code for code in sorted(codes) if f'"{code}"' not in tests] == []


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
