"""What is said in several places is the same in all of them: in every scene of the demo, at several times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from foretop.dialogs.pause_dialogs import choice_summary
from foretop.panes.calendar_pane import lane_pane
from foretop.panes.nonadmin_pane import nonadmin_pane
from foretop.panes.runs_pane import queue_pane
from foretop.panes.schedule_pane import schedule_pane
from foretop.widgets.paragraphs import Paragraph
from foretop_core.actions.planners.backups import plan_back_up_now
from foretop_core.actions.planners.pausing import plan_unpause
from foretop_core.actions.planners.schedules import NewSchedule, plan_create_schedules
from foretop_core.models import Backup
from foretop_core.models.wire import Resource
from foretop_core.rules.facts.nonadmin_facts import nonadmin_facts
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.phases import FAULTY, FINISHING
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import run_refusal
from foretop_core.rules.triage import Finding, Thresholds
from foretop_core.rules.triage.nonadmin import velero_failed
from foretop_core.rules.triage.schedules import forgotten_pauses
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.timeline.timeline_model import TimelineModel
from tests.examples import sampled
from tests.settled_scenes import SCENE_NAMES, settled
from tests.unit.tables.test_views import Shown

TIMES = (timedelta(minutes=2), timedelta(minutes=11))
AT_ONCE = Thresholds(forgotten_pause=timedelta())
"""Every pause counts as forgotten, so that Triage says its sentence about each."""


@dataclass(frozen=True)
class Moment:
    objects: tuple[Resource, ...]
    now: datetime

    def shown(self, view: str) -> Shown:
        return Shown(view, self.objects, self.now)


def moment(name: str, passed: timedelta) -> Moment:
    return Moment(*settled(name, passed))


def entries(shown: Shown) -> Iterator[tuple[Any, RenderContext]]:
    context = shown.render_context()
    for _, entry in shown.model.table:
        yield entry, context


def text_of(paragraphs: Sequence[Paragraph]) -> str:
    return "\n".join("".join(span.text for span in one.spans) for one in paragraphs)


def evidence(finding: Finding, now: datetime) -> str:
    return f"{render(finding.evidence, now)} {render(finding.remedy, now)}"


def compare_unpause_sentences(then: Moment) -> None:
    now, shown = then.now, then.shown("schedules")
    found = {one.subject.name: one for one in forgotten_pauses(shown.store.snapshot("prod"), now, AT_ONCE)}
    for entry, context in entries(shown):
        schedule = entry.schedule
        if not schedule.spec.paused:
            continue
        snapshot, pane = context.snapshot, text_of(schedule_pane(entry, context))
        for choice in Choice:
            (step,) = plan_unpause(snapshot, [schedule], choice, now).steps
            assert f"{step.forecast}." in pane, (schedule.name, choice)
            brief = choice_summary([schedule_facts(snapshot, schedule, now)], choice)
            starts = schedule_facts(snapshot, schedule, now).unpausing(choice).at_once
            assert ("at once" in brief or "once Velero" in brief) is starts, (schedule.name, choice, brief)
            if schedule.name in found:
                told = evidence(found[schedule.name], now)
                words = dict(context.schedule_facts(entry).unpausing_choices)
                shorter = [
                    f"{word} {'one backup is created at once' if one.at_once else 'no backup is created'}."
                    for word, one in words.items()
                    if one.choice is choice
                ]
                assert f"{step.forecast}." in told or any(one in told for one in shorter), (schedule.name, choice)


def test_a_schedule_that_skips_by_itself_says_that_it_runs_without_skip() -> None:
    shown = moment("maintenance", TIMES[0]).shown("schedules")
    (pane,) = (text_of(schedule_pane(entry, at)) for entry, at in entries(shown) if entry.schedule.name == "mail-30m")
    assert "with skip or without" not in pane
    assert "Without skip: one backup is created at once: due since 00:30:00Z" in pane


@pytest.mark.sweep
def test_a_run_that_is_due_while_the_storage_hangs_is_said_to_be_created() -> None:
    before = moment("outage", timedelta(minutes=2))
    shown = before.shown("schedules")
    panes = {entry.schedule.name: text_of(schedule_pane(entry, at)) for entry, at in entries(shown)}
    assert "created then; it starts when the storage responds" in panes["sessions-hourly"]
    made = [item for item in moment("outage", timedelta(minutes=5)).objects if isinstance(item, Backup)]
    (new,) = (item for item in made if item.name.startswith("sessions-hourly-2026111502"))
    assert new.phase == "Queued"


def compare_coming_runs(then: Moment) -> None:
    shown = then.shown("schedules")
    calendar = TimelineModel(shown.store, ("prod",))
    rows = [
        (entry, context, told)
        for (entry, context), (_, told) in zip(entries(shown), shown.text("next"), strict=True)
        if not (entry.schedule.spec.paused or entry.invalid or entry.dialect is None)
    ]
    # All at once: each alone would be foreseen anew, and whether it is refused does not depend on the others.
    by_hand = plan_back_up_now(shown.store.snapshot("prod"), [entry.schedule for entry, _, _ in rows], then.now).steps
    for (entry, context, told), now in zip(rows, by_hand, strict=True):
        schedule, snapshot = entry.schedule, context.snapshot
        obstacle = render(schedule_facts(snapshot, schedule, then.now).obstacle, then.now)
        told_below = schedule_pane(entry, context)
        lane = text_of(lane_pane(calendar[snapshot.ref(schedule)], shown.state))
        assert obstacle in text_of(told_below) or "Due" in [one.label for one in told_below], schedule.name
        assert obstacle in lane, schedule.name
        request = NewSchedule(schedule.namespace, "new", "0 0 * * *", schedule.spec.template)
        (made,) = plan_create_schedules(snapshot, [request], then.now).steps
        assert obstacle in made.forecast or "is not created while" in obstacle, schedule.name
        refusal = run_refusal(snapshot, schedule)
        assert (f"Velero refuses it while {refusal};" in now.forecast) is bool(refusal), schedule.name
        assert ("refused" in told) is bool(refusal and "in " in told), schedule.name


def compare_failures_left_out(then: Moment) -> None:
    shown = then.shown("nonadmin")
    snapshot = shown.store.snapshot("prod")
    found = {one.subject for one in velero_failed(snapshot, then.now, Thresholds())}
    for entry, context in entries(shown):
        if entry.item.phase == "Created" and entry.velero_phase in FAULTY:
            is_left_out = "not listed: " in text_of(nonadmin_pane(entry, context))
            assert is_left_out is (snapshot.ref(entry.item) not in found), entry.item.name


def test_an_approval_that_is_missing_is_the_administrator_s_to_give() -> None:
    """The pane began with the controller's words, and named :storage where the key works on the row itself."""
    then = moment("default", TIMES[0])
    shown = then.shown("nonadmin")
    (pane,) = (text_of(nonadmin_pane(entry, at)) for entry, at in entries(shown) if entry.item.name == "own-bucket")
    assert pane.startswith("Its storage location iot-minio waits for an administrator's decision since ")
    assert 'The controller refuses it: "InvalidBackupSpec: VeleroBackupStorageLocation with NACUUID' in pane
    assert "an administrator decides about its storage request (a)" in pane
    assert "after that the owner must change it or create it again" in pane
    assert "corrected" not in pane


def compare_queue_rows(then: Moment) -> None:
    shown = then.shown("queue")
    painted = shown.text("name", "position", "waits")
    assert len(painted) == len(shown.items())
    for (run, context), item, (_, _, position, waits) in zip(entries(shown), shown.items(), painted, strict=True):
        facts = context.facts(run)
        queued, place = facts.item, facts.waiting_place
        assert queued is not None
        pane = text_of(queue_pane(run, context))
        assert position == (
            str(place)
            if place
            else ""
            if facts.is_left_alone
            else "·"
            if isinstance(run, Backup) and run.phase in FINISHING
            else "▶"
        )
        assert item["waitingPosition"] == (place or None)
        assert item["position"] == queued.place
        assert item["blockedWhy"] == (str(queued.hold) if queued.hold else None)
        assert (f"It {queued.hold}" in pane) is (queued.hold is not None)
        beat = context.beat(run.namespace)
        if beat.silent_for(context.now) is not None:
            assert waits == beat.awaited_part(context.now)
        else:
            assert not waits or queued.hold is not None or "volume" in waits


@pytest.mark.parametrize("passed", sampled(TIMES, TIMES[0]), ids=str)
@pytest.mark.parametrize("name", sampled(SCENE_NAMES, "maintenance", "nonadmin-status", "outage"))
def test_every_place_says_the_same(name: str, passed: timedelta) -> None:
    """One test for a scene and a time, because making the scene is what takes long."""
    then = moment(name, passed)
    compare_unpause_sentences(then)
    compare_coming_runs(then)
    compare_failures_left_out(then)
    compare_queue_rows(then)


def test_every_comparison_has_something_to_compare() -> None:
    """A scene that loses what is compared here would make the comparisons above say nothing."""
    snapshots: list[tuple[ClusterSnapshot, datetime]] = []
    for name in SCENE_NAMES:
        then = moment(name, TIMES[0])
        snapshots.append((then.shown("schedules").store.snapshot("prod"), then.now))
    paused = [item for snapshot, _ in snapshots for item in snapshot.schedules if item.spec.paused]
    skips = {schedule.spec.skip_immediately for schedule in paused}
    assert skips == {None, True, False}
    facts = (nonadmin_facts(snapshot, item, now) for snapshot, now in snapshots for item in snapshot.nabs)
    assert any(one.is_overtaken for one in facts)
