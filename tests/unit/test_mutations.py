"""The changes that `make mutants` makes: each is one change, and what counts as the same program is still there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from trials.mutants.called_map import ROOT
from trials.mutants.equivalent_mutants import SAME, is_same
from trials.mutants.live_functions import LiveFunctions
from trials.mutants.mutations import functions_that_name, mutants, mutated

SOURCE = '''
"""A module with 1 of each."""
from dataclasses import dataclass

LIMIT = 3

@dataclass(frozen=True)
class Kept:
    age: int = 0

    def is_old(self, other: "int" = 5) -> bool:
        if self.age > LIMIT and not other:
            return True
        return [one + 1 for one in range(other) if one is not None] == []
'''


def test_every_operator_comparison_number_and_condition_is_changed_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.py"
    path.write_text(SOURCE)
    found = list(mutants(tmp_path, path))
    assert [(one.line, one.function, one.change) for one in found] == [
        (5, "", "3 to 4"),
        (9, "", "0 to 1"),
        (11, "", "5 to 6"),
        (12, "Kept.is_old", "condition negated"),
        (12, "Kept.is_old", "and to or"),
        (12, "Kept.is_old", "> to >="),
        (13, "Kept.is_old", "True to False"),
        (14, "Kept.is_old", "== to !="),
        (14, "Kept.is_old", "+ to -"),
        (14, "Kept.is_old", "1 to 2"),
        (14, "Kept.is_old", "condition negated"),
        (14, "Kept.is_old", "is not to is"),
    ]
    made = [mutated(SOURCE, one.number) for one in found]
    assert len({*made, ast.unparse(ast.parse(SOURCE))}) == len(found) + 1


def test_the_readers_of_a_constant_are_the_functions_that_name_it() -> None:
    assert functions_that_name(SOURCE, 5) == ("Kept.is_old",)
    assert functions_that_name(SOURCE, 9) == (), "a field, and not a constant of the module"


@pytest.mark.sweep
def test_what_counts_as_the_same_program_is_still_in_the_source() -> None:
    for one in SAME:
        assert one.reason
        assert any(is_same(mutant) for mutant in mutants(ROOT, ROOT / one.path) if mutant.text == one.text), one


def test_a_change_in_a_function_is_made_in_the_running_process_and_one_of_a_constant_is_not() -> None:
    path = ROOT / "core/foretop_core/cron/fields.py"
    live = LiveFunctions([str(path.relative_to(ROOT))])
    for mutant in mutants(ROOT, path):
        patched = {patch.function.__qualname__ for patch in live.patches(mutant)}
        assert patched == ({mutant.function} if mutant.function else set()), mutant
