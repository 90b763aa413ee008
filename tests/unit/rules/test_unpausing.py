"""How many runs are due and what becomes of them is counted once: table, Triage and dialog have the same figures."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from foretop.dialogs.pause_dialogs import age_after_skip, choice_summary, default_note
from foretop_core.models import Schedule
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.pause_facts import UnpauseCounts, count_unpause
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.rules.triage import triage
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.objects import NOW, backup, schedule
from tests.unit.tables.test_views import Shown

DUE: dict[str, Any] = {"cron": "0 * * * *", "last": "00:00:03"}
NOT_DUE: dict[str, Any] = {"cron": "0 * * * *", "last": "02:00:03"}


def counts(choice: Choice, *schedules: Schedule, snapshot: ClusterSnapshot | None = None) -> UnpauseCounts:
    there = snapshot or ClusterSnapshot("prod", schedules=schedules)
    return count_unpause([schedule_facts(there, item, NOW) for item in schedules], choice)


def test_what_is_due_is_started_skipped_or_held_and_the_rest_is_not_due() -> None:
    plain, skips = schedule("plain", paused=True, skip=False, **DUE), schedule("skips", paused=True, skip=True, **DUE)
    held, later = schedule("held", paused=True, skip=False, **DUE), schedule("later", paused=True, **NOT_DUE)
    wrong = schedule("wrong", "0 0 * * 9", paused=True)
    running = backup("held-1", "InProgress", of="held", started="00:00:03")
    snapshot = ClusterSnapshot("prod", schedules=(plain, skips, held, later, wrong), backups=(running,))
    every = snapshot.schedules
    assert counts(Choice.LEAVE, *every, snapshot=snapshot) == UnpauseCounts(at_once=1, skipped=1, held=1, not_due=2)
    assert counts(Choice.DO_NOT_SKIP, *every, snapshot=snapshot) == UnpauseCounts(at_once=2, held=1, not_due=2)
    assert counts(Choice.SKIP, *every, snapshot=snapshot) == UnpauseCounts(skipped=3, not_due=2)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (UnpauseCounts(not_due=1), "It is not due: no backup starts at once."),
        (UnpauseCounts(not_due=8), "None is due: no backup starts at once."),
        (UnpauseCounts(at_once=1), "It is due: without skip, 1 backup at once."),
        (UnpauseCounts(at_once=1, not_due=8), "1 of 9 is due: without skip, 1 backup at once."),
        (UnpauseCounts(refused=2), "2 of 2 are due: without skip, 2 refused by Velero."),
        (
            UnpauseCounts(3, held=4, not_due=8, refused=16),
            "23 of 31 are due: without skip, 3 backups at once, 4 after a running backup, 16 refused by Velero.",
        ),
    ],
)
def test_the_fate_of_the_due_runs_is_said_in_numbers(found: UnpauseCounts, told: str) -> None:
    assert found.unskipped == told


@pytest.mark.parametrize("due", [DUE, NOT_DUE])
def test_the_words_on_unpausing_say_now_once(due: dict[str, Any]) -> None:
    one = schedule("one", paused=True, skip=True, **due)
    for lead, told in schedule_facts(ClusterSnapshot("prod", schedules=(one,)), one, NOW).unpausing_choices:
        assert f"{lead}: {render(told.sentence, NOW)}".split().count("now") <= 1
        assert "now" not in lead


def settled(passed: timedelta) -> tuple[ClusterSnapshot, datetime, SimulatedCluster]:
    box = SimulatedCluster(find_scene("maintenance"), ScenarioOptions(seed=1), FIXED_START)
    box.settle(passed)
    return assemble(box.objects()), box.clock.now(), box


@pytest.mark.parametrize("minutes", [2, 40, 95, 200])
def test_table_triage_and_dialog_count_the_same_runs_as_due(minutes: int) -> None:
    snapshot, now, box = settled(timedelta(minutes=minutes))
    paused = [schedule_facts(snapshot, item, now) for item in snapshot.schedules if item.spec.paused]
    assert len(paused) == len(snapshot.schedules)
    (found,) = [one for one in triage(snapshot, now).findings if one.code == "velero-all-paused"]
    all_choices = [count_unpause(paused, choice) for choice in Choice]
    due = {one.due for one in all_choices}
    assert len(due) == 1
    overdue = sum(one.is_overdue_pause for one in paused)
    assert found.what == f"all {len(paused)} paused, {overdue} overdue"
    assert 0 < overdue <= due.pop(), "a run is due at once, and overdue after the grace"
    rows = [row[1] for row in Shown("schedules", box.objects(), now).text("next")]
    assert sum("due" in text for text in rows) == all_choices[0].due > 0
    left_alone = count_unpause(paused, Choice.LEAVE)
    assert sum(text == "paused, due" for text in rows) == left_alone.at_once + left_alone.held
    assert sum(text == "paused, due, skips" for text in rows) == left_alone.skipped


def test_a_choice_for_several_fits_into_half_a_line() -> None:
    due = schedule("due", paused=True, skip=False, **DUE)
    snapshot = ClusterSnapshot("prod", schedules=(due,), servers={"velero": VeleroInfo(False, 1)})
    both = [schedule_facts(snapshot, due, NOW), schedule_facts(snapshot, schedule("too", paused=True, **DUE), NOW)]
    assert choice_summary(both, Choice.SKIP) == "2 skip what is due"
    assert choice_summary(both, Choice.DO_NOT_SKIP) == "2 backups, 1 at a time"


def test_a_skip_says_how_old_the_newest_good_backup_will_be() -> None:
    nightly = schedule("nightly", "0 2 * * *", last="2026-11-14T02:00:03Z", paused=True)
    later = schedule("later", paused=True, **NOT_DUE)
    runs = [
        backup("nightly-1", created="2026-11-14T02:00:03Z", started="2026-11-14T02:00:03Z", of="nightly"),
        backup("later-1", created="02:00:03", started="02:00:03", of="later"),
    ]
    snapshot = ClusterSnapshot("prod", schedules=(nightly, later), backups=tuple(runs))
    both = [schedule_facts(snapshot, item, NOW) for item in snapshot.schedules]
    (told,) = age_after_skip(both, Choice.SKIP)
    assert render(told, NOW) == "the newest good backup of nightly is 1 day and 23 hours old at the next run"
    assert age_after_skip(both, Choice.DO_NOT_SKIP) == []
    weekly = schedule("weekly", "0 2 * * 0", last="2026-11-08T02:00:03Z", paused=True)
    runs.append(backup("weekly-1", created="2026-11-08T02:00:03Z", started="2026-11-08T02:00:03Z", of="weekly"))
    snapshot = ClusterSnapshot("prod", schedules=(nightly, later, weekly), backups=tuple(runs))
    (told,) = age_after_skip([schedule_facts(snapshot, item, NOW) for item in snapshot.schedules], Choice.SKIP)
    assert render(told, NOW) == ("those that skip have a newest good backup of up to 13 days at the next run (weekly)")


def test_a_choice_says_that_the_servers_default_counts_no_more() -> None:
    absent, given = schedule("absent", paused=True, **DUE), schedule("given", paused=True, skip=False, **DUE)
    snapshot = ClusterSnapshot("prod", schedules=(absent, given))
    rest = "will no longer follow the server's default: this sets spec.skipImmediately"
    assert default_note([schedule_facts(snapshot, absent, NOW)], Choice.SKIP) == [f"It {rest}"]
    both = [schedule_facts(snapshot, absent, NOW), schedule_facts(snapshot, given, NOW)]
    assert default_note(both, Choice.DO_NOT_SKIP) == [f"1 of them {rest}"]
    assert default_note(both, Choice.LEAVE) == []
    assert default_note([schedule_facts(snapshot, given, NOW)], Choice.SKIP) == []
