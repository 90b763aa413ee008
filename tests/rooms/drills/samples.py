"""What drills add to the comparisons of all writes, commands and keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from foretop_core.actions.plans import Plan
from foretop_core.rooms.drills.planners import DrillRequest, plan_cleanup, plan_note
from foretop_core.rules.protection.copies import DrillOutcome
from foretop_core.rules.snapshot import ClusterSnapshot


def _note(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    """The one write of a drill to an object that was there before."""
    outcome = DrillOutcome(now, timedelta(minutes=4))
    return plan_note(snapshot, next(iter(items)), DrillRequest("shop", "shop-trial"), outcome, now)


WRITES = {
    "drill": (lambda snapshot: [one for one in snapshot.backups if one.name == "second"], _note),
    "drill-cleanup": (
        lambda snapshot: [one for one in snapshot.restores if one.name == "left"],
        lambda snapshot, items, now: plan_cleanup(snapshot.context, items, now),
    ),
}
"""By action, what is chosen in the samples of plans, and its planner."""
COMMANDS = [("drill", "shop"), ("drill", "shop", "--into", "other")]
"""Commands that write, for the ways to a protected cluster."""
ELSEWHERE = {
    "drill": "wants a namespace: test_a_namespace_is_drilled_and_what_was_made_is_deleted_in_four_decisions",
    "drill-cleanup": "wants what a drill has left: test_what_is_kept_is_a_finding_whose_key_offers_it_object_by_object",
}
"""Actions that the tour does not meet, and what presses their keys instead."""
MEANINGS = {"drill-cleanup": "delete"}
"""By action, what its key means to a person where another action has it too."""
