"""The problems of a run as `-o json` prints them."""

from __future__ import annotations

from foretop.rooms.run_files.run_commands import results_item
from foretop_core.rules.results import Problem, ResultGroup, Results, ResultScope
from tests.objects import backup


def test_the_item_of_results_has_each_problem_and_null_where_nothing_was_fetched() -> None:
    run = backup("one", "PartiallyFailed", errors=1, warnings=2, failureReason="disk full")
    group = ResultGroup(ResultScope.NAMESPACE, "shop", (Problem("pods", "web-0", "timed out", 3),))
    item = results_item("prod", run, run.status, Results((group,), ()))
    assert item == {
        "context": "prod",
        "kind": "Backup",
        "namespace": "velero",
        "name": "one",
        "phase": "PartiallyFailed",
        "errors": 1,
        "warnings": 2,
        "failureReason": "disk full",
        "problems": [
            {
                "severity": "error",
                "scope": "namespace",
                "namespace": "shop",
                "resource": "pods",
                "name": "web-0",
                "message": "timed out",
                "times": 3,
            }
        ],
    }
    bare = backup("two", "")
    nothing = results_item("prod", bare, bare.status, None)
    assert (nothing["phase"], nothing["failureReason"], nothing["problems"]) == (None, None, None)
