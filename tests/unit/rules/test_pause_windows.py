"""Pause windows: who, why, until when, and what Triage says of one that should have ended."""

from __future__ import annotations

from datetime import timedelta

from foretop.panes.schedule_pane import schedule_pane
from foretop_core.models import Schedule
from foretop_core.rules.facts.pause_facts import pause_summary
from foretop_core.rules.pauses import (
    PAUSED_AT,
    PAUSED_BATCH,
    PAUSED_BY,
    PAUSED_UNTIL,
    PAUSED_WHY,
    pause_windows,
    window_line,
)
from foretop_core.rules.sentences import render, with_keys
from foretop_core.rules.triage import Finding, Severity, triage
from foretop_core.tables.resources.findings import subject_text
from tests.objects import NOW, at, location, schedule
from tests.unit.rules.test_triage import findings, snapshot
from tests.unit.tables.test_views import Shown


def paused(
    name: str,
    window: str = "ab12cd",
    until: str = "2026-11-15T02:30:00Z",
    why: str = "CHG-4711",
    since: str = "2026-11-15T01:10:00Z",
) -> Schedule:
    notes = {
        PAUSED_BY: "maria",
        PAUSED_AT: since,
        PAUSED_WHY: why,
        PAUSED_UNTIL: until,
        PAUSED_BATCH: window,
    }
    return schedule(name, "0 * * * *", last="01:00:03", paused=True, skip=False, annotations=notes)


def running() -> Schedule:
    return schedule("running", "0 * * * *", last="02:00:03", created="02:30:00")


def about_windows(found: list[Finding]) -> list[Finding]:
    return [each for each in found if each.code == "window-overrun"]


def test_schedules_that_were_paused_together_are_one_window() -> None:
    first, second = pause_windows([paused("b"), paused("other", "ff"), paused("a"), running()])
    assert (first.id, [item.name for item in first.schedules]) == ("ab12cd", ["a", "b"])
    assert (second.id, [item.name for item in second.schedules]) == ("ff", ["other"])
    assert window_line(first, NOW) == (
        "ab12cd  2 schedules since 01:10:00Z by maria: CHG-4711; meant until 02:30:00Z, overrun by 11 minutes (a and b)"
    )
    assert first.overrun(at("02:30:00")) is None
    assert first.overrun(at("02:31:00")) == timedelta(minutes=1)


def test_a_window_has_the_end_and_the_reason_of_those_that_were_given_one() -> None:
    """Somebody may have taken the annotation off one of them."""
    (window,) = pause_windows([paused("a", until="", why=""), paused("b")])
    assert (window.pause.until, window.name) == (at("02:30:00"), "CHG-4711")


def test_several_are_paused_since_the_first_of_them_and_each_since_its_own_time() -> None:
    """One that was paused later still ran meanwhile; its own row says since when it has not."""
    times = (("a", "01:20"), ("b", "01:10"), ("c", "01:30"))
    items = [paused(name, since=f"2026-11-15T{time}:00Z") for name, time in times]
    still_open = [paused(name, since=f"2026-11-15T{time}:00Z", until="2026-11-15T04:30:00Z") for name, time in times]
    (window,) = pause_windows(items)
    assert "3 schedules since 01:10:00Z (the first of them) by maria: CHG-4711" in window_line(window, NOW)
    (late,) = findings(location(), *items)
    (everything,) = findings(location(), *still_open)
    assert everything.since == at("01:10:00")
    for found in (late, everything):
        assert "since 01:10:00Z (the first of them) by maria: CHG-4711" in render(found.evidence, NOW)


def test_a_window_without_an_end_never_overruns() -> None:
    (window,) = pause_windows([paused("a", until="", why="")])
    assert window.overrun(NOW + timedelta(days=9)) is None
    assert "no reason given" in window_line(window, NOW)


def test_an_overrun_window_is_a_warning_with_its_author_reason_and_end() -> None:
    (found,) = about_windows(findings(location(), paused("a"), paused("b"), running()))
    assert found.severity is Severity.WARNING
    assert found.since == at("02:30:00")
    assert subject_text(found) == "window CHG-4711"
    assert render(found.what, NOW) == "over, 2 still paused"
    evidence = render(found.evidence, NOW)
    assert evidence == "a and b are still paused, since 01:10:00Z by maria: CHG-4711; meant until 02:30:00Z."
    assert found.hits == "2 of 2 are due: without skip, 2 backups at once."
    assert render(with_keys(found.remedy, {"resume": "U", "change-pause": "s"}.__getitem__), NOW) == (
        "Resume it if the work is done (U), or set a later end (s)."
    )
    assert [ref.name for ref in found.related] == ["a", "b"]


def test_of_a_window_only_those_are_over_whose_end_was_not_changed() -> None:
    """One that was given a later end has time left, and so has one whose end was taken away."""
    later, endless = paused("b", until="2026-11-15T04:30:00Z"), paused("c", until="")
    (found,) = about_windows(findings(location(), paused("a"), later, endless, running()))
    assert render(found.what, NOW) == "over, 1 still paused"
    assert [ref.name for ref in found.related] == ["a"]
    summary = pause_summary(snapshot(location(), paused("a"), later, endless, running()), NOW)
    assert (summary.in_overrun, summary.due_in_windows) == (1, 2)
    (still,) = summary.windows
    assert ([item.name for item in still.schedules], still.pause.until) == (["b", "c"], at("04:30:00"))


def test_a_window_of_a_part_that_has_time_left_is_a_note_with_its_reason_and_end() -> None:
    found = findings(location(), paused("a", until="2026-11-15T04:30:00Z"), running())
    (note,) = [each for each in found if "window" in each.code]
    assert (note.code, note.severity, note.since) == ("window-open", Severity.NOTE, at("01:10:00"))
    assert subject_text(note) == "window CHG-4711"
    assert render(note.what, NOW) == "1 paused, to resume 04:30:00Z"
    assert "a makes no backup until resumed. Paused since 01:10:00Z by maria: CHG-4711" in render(note.evidence, NOW)
    assert [ref.name for ref in note.related] == ["a"]


def test_a_window_without_an_end_is_a_note_until_a_run_of_it_is_overdue() -> None:
    calm = schedule(
        "a",
        "0 4 * * *",
        last="01:00:03",
        paused=True,
        annotations={PAUSED_BATCH: "ff", PAUSED_AT: "2026-11-15T02:00:00Z"},
    )
    (note,) = [each for each in findings(location(), calm, running()) if each.code != "schedule-no-recent"]
    assert (note.code, render(note.what, NOW)) == ("window-open", "1 paused, no end")
    late = findings(location(), paused("a", until=""), running())
    assert [each.code for each in late if each.code.startswith(("window", "velero"))] == ["velero-paused-overdue"]


def test_all_schedules_paused_is_told_by_the_window_alone_once_that_is_over() -> None:
    """One finding a cause: while it has time left, that all are paused; after its end, that it is over."""
    found = findings(location(), *(paused(name) for name in "abc"))
    assert [each.code for each in found] == ["window-overrun"]
    in_time = findings(location(), *(paused(name, until="2026-11-15T04:30:00Z") for name in "abc"))
    assert [each.code for each in in_time] == ["velero-all-paused"]
    assert "by maria: CHG-4711; meant until 04:30:00Z." in render(in_time[0].evidence, NOW)


def test_runs_that_an_open_window_misses_are_not_overdue() -> None:
    """Nobody has promised them: the pause is known to last until its end."""
    held = [paused(name, until="2026-11-15T04:30:00Z") for name in "abc"]
    (everything,) = findings(location(), *held)
    assert everything.what == "all 3 paused"
    assert render(everything.evidence, NOW).startswith("All 3 schedules in velero are paused and make no backup. ")
    assert everything.hits == "3 of 3 are due: without skip, 3 backups at once."
    assert [each.code for each in findings(location(), *held, running())] == ["window-open"]
    for objects, overdue, outside, needs_attention in (
        (held, 0, 0, False),
        ([*held, long_ago()], 1, 1, True),
        (list(map(paused, "abc")), 3, 0, True),
        ([*map(paused, "abc"), long_ago()], 4, 1, True),
    ):
        found = pause_summary(snapshot(location(), *objects), NOW)
        assert (found.overdue, found.outside, found.needs_attention) == (overdue, outside, needs_attention)


def long_ago(name: str = "old", cron: str = "*/30 * * * *") -> Schedule:
    owner = {"manager": "kubectl", "time": "2026-11-03T02:14:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    return schedule(name, cron, last="2026-11-03T02:00:03Z", paused=True, managedFields=[owner])


def test_an_older_pause_keeps_its_finding_and_its_date_beside_a_pause_of_all() -> None:
    held = [paused(name, until="2026-11-15T04:30:00Z") for name in "abc"]
    everything, older = findings(location(), long_ago(), *held)
    assert (everything.code, everything.since) == ("velero-all-paused", at("01:10:00"))
    assert everything.what == "all 4 paused, 1 overdue", "the one that was paused before"
    assert [ref.name for ref in everything.related] == ["a", "b", "c"]
    told = render(everything.evidence, NOW)
    assert "Window of 3 schedules since 01:10:00Z by maria: CHG-4711" in told
    assert " 1 of them has its own finding." in told
    assert "kubectl" not in told
    assert (older.code, older.subject.name, older.since) == ("schedule-paused-long", "old", at("2026-11-03T02:14:00Z"))
    over, older = findings(location(), long_ago(), *map(paused, "abc"))
    assert (over.code, older.code) == ("window-overrun", "schedule-paused-long")
    some, older = findings(
        location(), long_ago(), schedule("due", "0 * * * *", last="01:00:03", paused=True), running()
    )
    assert (some.what, [ref.name for ref in some.related]) == ("paused and overdue", ["due"])
    assert older.subject.name == "old"


def test_all_are_paused_since_the_most_of_them_are() -> None:
    """Not since one of them was, long before the window that pauses the rest."""
    owner = {"manager": "kubectl", "time": "2026-11-03T02:14:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    long_ago = schedule("old", "0 0 1 1 *", last="2026-11-03T02:00:03Z", paused=True, managedFields=[owner])
    found = findings(location(), long_ago, *(paused(name, until="2026-11-15T04:30:00Z") for name in "abc"))
    (everything,) = [each for each in found if each.code == "velero-all-paused"]
    assert everything.since == at("01:10:00")


def test_a_schedule_paused_for_long_has_the_reason_and_the_end() -> None:
    later = NOW + timedelta(days=3)
    there = snapshot(location(), paused("a", until="2026-11-30T04:30:00Z"), running())
    (found,) = [each for each in triage(there, later).findings if each.code == "schedule-paused-long"]
    assert "by maria: CHG-4711; meant until 30 Nov 04:30Z" in render(found.evidence, later)


def test_the_pane_of_one_in_a_window_tells_the_key_for_it_from_the_key_for_all() -> None:
    shown = Shown("schedules", [paused("a"), paused("b"), paused("alone", "ff"), running()])
    panes = {
        key.name: " ".join(piece.text for one in schedule_pane(row, shown.render_context()) for piece in one.spans)
        for key, row in shown.model.ordered()
    }
    assert "1 of 2 in this window: s changes this one, :windows all; U resumes all." in panes["a"]
    assert not any("in this window" in panes[name] for name in ("alone", "running"))
