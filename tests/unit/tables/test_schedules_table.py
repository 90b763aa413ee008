"""The rows of the schedules table: next run, last run and the strip of runs at their limits."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup, Deployment, Resource, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP, STORAGE
from foretop_core.rules.cron_dialects import Reading, readings
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, submitted
from foretop_core.rules.facts.schedule_runs import (
    NOT_MADE,
    PAUSED,
    SHOWN_RUNS,
    past_runs,
    run_letter,
    runs_since,
)
from foretop_core.rules.forecast import GRACE
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.drawings import RunStrip
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import pieces
from foretop_core.tables.resources.schedules import ScheduleRow, SchedulesView
from tests.objects import NOW, at, backup, location, schedule
from tests.unit.tables.test_storage_table import standings
from tests.unit.tables.test_views import Shown

_SECOND = timedelta(seconds=1)


def server(*args: str) -> Deployment:
    container = {"name": "velero", "image": "velero/velero:v1.17.0", "args": ["server", *args]}
    body = {
        "metadata": {"name": "velero", "namespace": "velero"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    return from_builtins(Deployment, body)


def _refused(name: str, *, paused: bool = False) -> Schedule:
    """One with a good expression that Velero refuses all the same."""
    item = schedule(name, "0 3 * * *", paused=paused, phase="FailedValidation")
    status = replace(item.status, validation_errors=("the template names a location that does not exist",))
    return replace(item, status=status)


def _one(*objects: Resource, now: datetime = NOW) -> Shown:
    """The table of one schedule."""
    return Shown("schedules", objects, now)


@pytest.mark.parametrize(
    ("after", "text", "mark"),
    [
        (timedelta(0), "in 0s", "●"),
        (_SECOND, "due", "●"),
        (GRACE, "due", "●"),
        (GRACE + _SECOND, f"overdue {int(GRACE.total_seconds() // 60)}m", "✗"),
    ],
)
def test_a_run_is_due_when_its_time_is_past_and_overdue_after_a_while(after: timedelta, text: str, mark: str) -> None:
    hourly = schedule("h", "0 * * * *", last="02:00:03")
    checked = location(checked="03:00:00", synced="03:00:00")
    assert _one(checked, hourly, now=at("03:00:00") + after).text("next") == [[mark, text]]


def test_the_next_run_stands_out_where_it_will_not_be_or_perhaps_not() -> None:
    table = _one(
        location("lost", "Unavailable"),
        location(),
        schedule("a-good", "0 3 * * *", last="2026-11-14T03:00:03Z"),
        schedule("b-paused", "0 0 31 2 *", paused=True),
        schedule("c-lost", "0 3 * * *", last="2026-11-14T03:00:03Z", template={"storageLocation": "lost"}),
        schedule("d-late", "0 1 * * *", last="2026-11-14T01:00:03Z"),
        schedule("e-never", "0 0 31 2 *"),
        schedule("f-open", "0 2 1 * 1", created="2026-11-10T00:00:00Z"),
        schedule("g-wrong", "0 0 * * 8", phase="FailedValidation"),
        _refused("h-refused"),
        _refused("i-held", paused=True),
    )
    found = table.cells("next")
    assert {name: (cell.text, cell.tone, cell.briefs) for name, cell in found.items()} == {
        "a-good": ("in 18m", Tone.PLAIN, ("18m",)),
        "b-paused": ("paused, due", Tone.PAUSED, ("paused",)),
        "c-lost": ("in 18m, refused", Tone.WARN, ("18m",)),
        "d-late": ("overdue 1h41m", Tone.BAD, ("overdue",)),
        "e-never": ("every minute", Tone.BAD, ("always",)),
        "f-open": ("2 readings", Tone.WARN, ("unclear",)),
        "g-wrong": ("invalid cron", Tone.BAD, ("invalid",)),
        "h-refused": ("refused", Tone.BAD, ("refused",)),
        "i-held": ("paused", Tone.PAUSED, ("paused",)),
    }
    marks = {row[1]: row[0] for row in table.text("name")}
    assert "".join(marks.values()) == "●‖▲✗✗▲✗✗‖"


@pytest.mark.parametrize(("checked", "waits"), [("02:41:00", ""), ("02:10:03", "Velero")], ids=["at work", "silent"])
def test_the_next_run_of_a_silent_server_is_not_counted_down_as_if_it_came(checked: str, waits: str) -> None:
    hourly = schedule("h", "0 * * * *", last="02:00:03")
    (cell,) = _one(location(checked=checked, synced=checked), hourly).cells("next").values()
    assert (cell.text, cell.briefs) == ((f"in 18m, waits for {waits}", ("18m?",)) if waits else ("in 18m", ("18m",)))


def _window(until: str) -> dict[str, Any]:
    """How foretop notes a pause that is meant to end."""
    notes = {"paused-by": "maria", "paused-at": at("02:00:00").isoformat(), "paused-until": at(until).isoformat()}
    return {"annotations": {f"foretop.io/{name}": text for name, text in notes.items()}}


def test_a_location_that_refuses_backups_is_bad_in_the_row_of_each_schedule_that_writes_to_it() -> None:
    lost, kept = location("offsite", "Unavailable"), location("default", "Available")
    table = _one(lost, kept, schedule("a", template={"storageLocation": "offsite"}), schedule("b"))
    assert {name: (cell.text, cell.tone) for name, cell in table.cells("to").items()} == {
        "a": ("offsite", Tone.BAD),
        "b": ("default", Tone.DIM),
    }


def test_a_paused_schedule_says_when_its_window_ends_or_what_it_would_do() -> None:
    table = _one(
        location(),
        schedule("due", "0 * * * *", last="2026-11-14T01:00:03Z", paused=True),
        schedule("later", "0 3 * * *", last="2026-11-14T03:00:03Z", paused=True),
        schedule("far", "0 3 1 1 *", last="2026-01-01T03:00:03Z", paused=True),
        schedule("held", "0 * * * *", last="02:00:03", paused=True, **_window("04:30:00")),
        schedule("over", "0 * * * *", last="02:00:03", paused=True, **_window("02:30:00")),
        schedule("wrong", "61 * * * *", phase="FailedValidation", paused=True, **_window("04:30:00")),
    )
    words, ends = table.cells("next"), table.cells("at")
    assert {name: (words[name].briefs[0], words[name].tone, ends[name].text) for name in words} == {
        "due": ("paused", Tone.PAUSED, "due"),
        "later": ("paused", Tone.PAUSED, ""),
        "far": ("paused", Tone.PAUSED, ""),
        "held": ("resume", Tone.PAUSED, "04:30"),
        "over": ("over", Tone.WARN, "02:30"),
        "wrong": ("invalid", Tone.BAD, ""),
    }
    assert {name: cell.text for name, cell in words.items()} == {
        "due": "paused, due",
        "later": "paused, else in 18m",
        "far": "paused, else in 47d",
        "held": "paused, else in 18m, resume",
        "over": "paused, else in 18m, over",
        "wrong": "paused, invalid cron",
    }


def test_a_run_within_two_minutes_is_counted_down_in_seconds_and_bright() -> None:
    hourly = schedule("h", "0 * * * *", last="02:00:03")
    near = _one(location(checked="02:58:00"), hourly, now=at("02:58:03")).cells("next")["h"]
    assert (near.briefs, near.tone) == (("1m57s",), Tone.BRIGHT)
    further = _one(location(checked="02:58:00"), hourly, now=at("02:58:00")).cells("next")["h"]
    assert (further.briefs, further.tone) == (("2m",), Tone.PLAIN)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((), "server: no"),
        (("--schedule-skip-immediately=true",), "server: yes"),
        (("--schedule-skip-immediately=false",), "server: no"),
    ],
)
def test_without_a_setting_of_its_own_a_schedule_has_the_one_of_the_server(args: tuple[str, ...], text: str) -> None:
    table = _one(server(*args), schedule("a"), schedule("b", skip=True), schedule("c", skip=False))
    assert [row[1] for row in table.text("skip")] == [text, "yes, once", "no"]


def test_the_meaning_of_an_expression_is_told_for_each_reading() -> None:
    table = _one(
        schedule("daily", "30 2 * * *"),
        schedule("open", "0 2 1 * 1", created="2026-11-10T00:00:00Z"),
        schedule("wrong", "61 * * * *", phase="FailedValidation"),
    )
    meanings = {name: cell.text for name, cell in table.cells("meaning").items()}
    assert meanings["wrong"] == ""
    assert ";" not in meanings["daily"]
    assert "02:30" in meanings["daily"]
    first, second = meanings["open"].split("; ")
    assert first.startswith("Velero up to 1.18.2: ")
    assert second.startswith("Velero 1.18.3 and later: ")


@pytest.mark.parametrize(
    ("phase", "mark", "tone", "standing"),
    [
        ("Completed", "●", Tone.PLAIN, None),
        ("InProgress", "◐", Tone.PLAIN, None),
        ("Queued", "○", Tone.PLAIN, None),
        ("PartiallyFailed", "▲", Tone.WARN, (StatusGlyph.LOOK, "failed last")),
        ("Failed", "✗", Tone.BAD, (StatusGlyph.BROKEN, "failed last")),
        ("FailedValidation", "✗", Tone.BAD, (StatusGlyph.BROKEN, "failed last")),
        ("Deleting", "●", Tone.PLAIN, None),
    ],
)
def test_a_schedule_is_as_well_as_its_last_run(phase: str, mark: str, tone: Tone, standing: Any) -> None:
    older = backup("h-1", created="01:00:03", started="01:00:03", ended="01:05:00", of="h")
    newest = backup("h-2", phase, created="02:00:03", started="02:00:03", of="h")
    table = _one(location(), schedule("h", "0 * * * *", last="02:00:03"), older, newest)
    assert table.text("name") == [[mark, "h"]]
    assert table.cells("last")["h"].tone is tone
    letter = {"PartiallyFailed": "P", "Failed": "F", "FailedValidation": "V"}.get(phase)
    assert table.cells("last")["h"].briefs == ((f"41m {letter}",) * 2 if letter else ("41m",))
    assert standings(table) == {"h": standing}


def test_the_head_of_a_group_names_what_is_paused_or_broken() -> None:
    table = _one(
        schedule("a-paused", paused=True),
        schedule("b-never", "0 0 31 2 *"),
        schedule("c-well"),
        schedule("d-paused", "0 0 31 2 *", paused=True),
    )
    assert standings(table) == {
        "a-paused": (StatusGlyph.PAUSED, "paused"),
        "b-never": (StatusGlyph.BROKEN, "broken"),
        "c-well": None,
        "d-paused": (StatusGlyph.PAUSED, "paused"),
    }


def _taking(hour: int, minutes: float, phase: str = "Completed", **more: Any) -> Backup:
    end = at(f"{hour:02}:00:00") + timedelta(minutes=minutes)
    return backup(
        f"h-{hour:02}",
        phase,
        created=f"{hour:02}:00:00",
        started=f"{hour:02}:00:00",
        ended=end.isoformat(),
        of="h",
        **more,
    )


def test_a_strip_shows_the_length_of_good_runs_against_the_usual_one() -> None:
    hourly = schedule("h", "0 * * * *", last="10:00:00", created="2026-11-14T00:00:00Z")
    lengths = (10, 10, 10, 10, 10, 3, 7, 17, 30)
    runs = [_taking(hour, minutes) for hour, minutes in enumerate(lengths)]
    strip = _one(hourly, *runs, _taking(9, 10, "PartiallyFailed"), _taking(10, 45), now=at("10:50")).cells("runs")["h"]
    assert strip.drawing == RunStrip("▃▃▃▃▃▁▂▄▆P█")
    assert [(piece.text, piece.tone, piece.bold) for piece in pieces(strip, _RUNS, 10)] == [
        ("▃▃▃▃▁▂▄▆", Tone.GOOD, False),
        ("P", Tone.WARN, True),
        ("█", Tone.GOOD, False),
    ]
    assert "".join(piece.text for piece in pieces(strip, _RUNS, 10, ascii=True)) == "----__-#P#"
    assert "".join(piece.text for piece in pieces(strip, _RUNS, 14)) == "   ▃▃▃▃▃▁▂▄▆P█"
    assert strip.text == "▃▃▃▃▁▂▄▆P█"


_RUNS = SchedulesView().column("runs")


@pytest.mark.parametrize("cells", [10, 14, 30])
def test_a_strip_has_the_newest_marks_that_fit_and_its_title_says_no_other_number(cells: int) -> None:
    hourly = schedule("h", "0 * * * *", last="20:00:00", created="2026-11-14T00:00:00Z", skipped="17:20:00")
    runs = [_taking(hour, 5) for hour in (*range(14), 18, 20)]
    cell = _one(hourly, *runs, now=at("20:30")).cells("runs")["h"]
    text = "".join(piece.text for piece in pieces(cell, _RUNS, cells))
    assert len(text) == cells
    assert text.endswith("▃‖▃×▃")
    assert len(text.strip()) == min(cells, 18)
    assert _RUNS.title == "LAST RUNS"


def test_what_has_no_run_says_so_in_words() -> None:
    table = _one(
        schedule("fresh", created="02:30:00"),
        schedule("kept-none", last="02:00:03"),
        schedule("wrong", "61 * * * *", phase="FailedValidation"),
    )
    found = table.cells("runs")
    assert found["kept-none"].text == "none left"
    assert (found["fresh"].text, found["fresh"].tone, found["fresh"].drawing) == ("no run yet", Tone.DIM, None)
    assert (found["wrong"].text, found["wrong"].tone) == ("makes none", Tone.BAD)


def test_a_backup_that_velero_made_a_minute_later_is_not_the_newest_that_is_seen() -> None:
    seen = backup("h-1", created="02:00:03", started="02:00:03", ended="02:05:00", of="h")
    together = schedule("h", "0 * * * *", last="02:01:02")
    later = schedule("h", "0 * * * *", last="02:01:03")
    assert _one(together, seen).text("last") == [["●", "41m good"]]
    assert _one(later, seen).text("last") == [["●", "40m"]]


def test_a_schedule_that_velero_has_not_looked_at_is_new() -> None:
    table = _one(schedule("a", phase=""), schedule("b"))
    assert [row[1] for row in table.text("phase")] == ["New", "Enabled"]
    table.model.narrow("phase:New")
    assert [row.key.name for row in table.rows()] == ["a"]


def test_a_backup_changes_the_row_of_its_schedule_and_of_no_other() -> None:
    table = _one(location(), schedule("a"), schedule("b"))
    derived = table.model.table.derived
    backups = table.store.sink(WatchScope("prod", BACKUP), table.clock)
    backups.apply("ADDED", backup("a-1", of="a"))
    assert table.model.pump()
    assert table.model.table.derived == derived + 1
    assert {name: cell.text for name, cell in table.cells("outcome").items()} == {"a": "Completed", "b": ""}
    backups.apply("ADDED", backup("by-hand"))
    assert not table.model.pump()
    # One that loses its label shows in the row of neither any more.
    backups.apply("MODIFIED", backup("a-1"))
    assert table.model.pump()
    assert table.cells("outcome")["a"].text == ""
    table.store.sink(WatchScope("prod", STORAGE), table.clock).apply("MODIFIED", location("other"))
    assert not table.model.pump()


def _run(name: str, time: str, phase: str = "Completed", **more: Any) -> Backup:
    return backup(name, phase, created=time, started=time, ended=time, of="h", **more)


_HOURLY = readings("0 * * * *")[:1]


def _past(*runs: Backup, most: int = SHOWN_RUNS, read: tuple[Reading, ...] = _HOURLY, **how: Any) -> str:
    """The strip of past runs of an hourly schedule."""
    newest_first = tuple(reversed(runs))
    return "".join(one.letter for one in past_runs(schedule("h", "0 * * * *", **how), read, newest_first, most))


def _unpaused(time: str) -> list[dict[str, Any]]:
    return [{"manager": "kubectl", "time": at(time).isoformat(), "fieldsV1": {"f:spec": {"f:paused": {}}}}]


def test_a_run_that_was_not_made_stands_between_those_that_were() -> None:
    first, fourth = _run("a", "01:00:03"), _run("b", "04:00:03")
    assert _past(first, _run("n", "02:00:03")) == ".."
    assert _past(first, fourth) == ".__."
    assert _past(first, fourth, most=1) == "."
    # Twice as many as a strip has room for: no more are counted than it shows.
    assert _past(first, _run("b", "23:00:03"), most=3) == ".___."


@pytest.mark.parametrize(
    ("ended", "strip"),
    [("01:00:03", ".__."), ("01:00:04", ".‖."), ("04:00:03", ".‖."), ("04:00:04", "._.")],
)
def test_a_gap_in_which_a_pause_ended_is_one_sign(ended: str, strip: str) -> None:
    assert _past(_run("a", "01:00:03"), _run("b", "04:00:03"), managedFields=_unpaused(ended)) == strip
    assert _past(_run("a", "01:00:03"), _run("b", "04:00:03"), skipped=ended) == strip


@pytest.mark.parametrize("how", [{}, {"paused": True}])
def test_a_gap_before_the_last_pause_is_one_sign_for_nothing_tells_whether_that_was_a_pause(
    how: dict[str, Any],
) -> None:
    """34 runs of an earlier pause had been drawn as not made, and pushed the good ones out."""
    runs = (_run("a", "01:00:03"), _run("b", "12:00:03"), _run("c", "14:00:03"), _run("d", "17:00:03"))
    assert _past(*runs, managedFields=_unpaused("13:30:00"), **how) == ("._._.__." if how else "._.‖.__.")


def test_a_pause_in_which_no_run_was_missed_has_no_sign() -> None:
    assert _past(_run("a", "01:00:03"), _run("b", "02:00:03"), skipped="01:30:00") == ".."
    assert _past(_run("a", "01:00:03"), _run("b", "03:00:03"), skipped="01:30:00") == ".‖."


@pytest.mark.parametrize("cron", ["@every 1h", "0 0 31 2 *", "61 * * * *", "0 2 1 * 1"])
def test_no_run_is_missing_where_it_cannot_be_told_when_one_was_expected(cron: str) -> None:
    assert _past(_run("a", "01:00:03"), _run("b", "04:00:03"), read=readings(cron)) == ".."


def test_a_run_of_the_same_moment_leaves_no_gap() -> None:
    assert _past(_run("a", "02:00:00"), _run("b", "02:00:00")) == ".."


def _since(now: str, *runs: Backup, **how: Any) -> str:
    item = schedule("h", "0 * * * *", last="01:00:03", **how)
    return "".join(one.letter for one in runs_since(_facts(item, _HOURLY, runs, now)))


def _facts(item: Schedule, read: tuple[Reading, ...], runs: tuple[Backup, ...], now: str = "05:00") -> ScheduleFacts:
    return ScheduleFacts(item, runs, read, snapshot=ClusterSnapshot("prod"), now=at(now))


def test_what_is_expected_after_the_newest_backup_is_a_pause_or_a_late_run() -> None:
    newest = _run("a", "01:00:03")
    grace = int(GRACE.total_seconds() // 60)
    assert _since(f"02:{grace:02}:00", newest) == ""
    assert _since(f"02:{grace:02}:01", newest) == NOT_MADE
    assert _since("01:59:59", newest, paused=True) == ""
    assert _since("02:00:01", newest, paused=True) == PAUSED
    assert _since("05:00:01", newest, paused=True) == PAUSED
    assert _since("05:00:01", paused=True) == ""
    assert _since("02:01:00", newest, skipped="02:00:30") == PAUSED
    assert _since("02:01:00", newest, skipped="01:00:03") == ""
    assert _since("02:01:00", newest, skipped="00:00:00") == ""
    assert _since("02:01:00", skipped="02:00:30") == ""
    open_readings = readings("0 2 1 * 1")
    assert runs_since(_facts(schedule("h", "0 2 1 * 1", last="01:00:03"), open_readings, (newest,))) == ()
    by_length = schedule("h", "@every 1h", paused=True)
    assert runs_since(_facts(by_length, readings("@every 1h"), (newest,))) == ()
    wrong = schedule("h", "61 * * * *", phase="FailedValidation")
    assert runs_since(_facts(wrong, readings("61 * * * *")[:1], ())) == ()


@pytest.mark.parametrize(
    ("phase", "warnings", "letter"),
    [
        ("Completed", 0, "."),
        ("Completed", 1, "w"),
        ("PartiallyFailed", 0, "P"),
        ("Failed", 0, "F"),
        ("FailedValidation", 0, "V"),
        ("Deleting", 0, "."),
        ("", 0, "o"),
        ("New", 0, "o"),
        ("Queued", 0, "o"),
        ("InProgress", 0, "~"),
        ("Finalizing", 0, "~"),
    ],
)
def test_each_phase_has_a_letter(phase: str, warnings: int, letter: str) -> None:
    assert run_letter(backup("one", phase, warnings=warnings)) == letter


def test_a_backup_was_submitted_at_the_earlier_of_its_creation_and_its_start() -> None:
    waited = backup("a", created="01:00:03", started="01:30:00", ended="01:40:00")
    synced = backup("b", created="02:00:00", started="01:30:00", ended="01:40:00")
    undated = backup("c", created="", started="01:30:00")
    assert [submitted(one) for one in (waited, synced, undated)] == [at("01:00:03"), at("01:30:00"), at("01:30:00")]


def test_the_paused_ones_are_found_by_that_word() -> None:
    table = _one(location(), schedule("held", last="02:00:03", paused=True), schedule("runs", last="02:00:03"))
    table.model.narrow("paused")
    assert list(table.cells("next")) == ["held"]


def test_cells_that_do_not_depend_on_the_time_are_made_once_for_an_entry() -> None:
    table = _one(schedule("daily", last="02:00:03"))
    ((key, entry),) = list(table.model.table)
    assert isinstance(entry, ScheduleRow)
    places = [at for at, column in enumerate(table.model.columns) if column.name in ("cron", "usual", "outcome")]
    first, second = (table.model.row(key, entry).cells for _ in range(2))
    assert len(places) == 3
    assert all(first[at] is second[at] for at in places)
    assert table.model.row(key, replace(entry, usual=timedelta(minutes=3))).cells[places[0]] is not first[places[0]]
