"""Findings about the coming day: runs that will be lost or overtaken, a window that is not free, copies that age."""

from __future__ import annotations

import json
from datetime import UTC, timedelta

import pytest

from foretop.commands.report import report_snapshots
from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import Fate, likely_night, night
from foretop_core.rules.night.outlook import outlook
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Severity, Thresholds, triage
from foretop_core.rules.triage.coming import TRY_A_CHANGE
from foretop_core.tables.text.terminal_text import width
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import printed_words
from tests.objects import NOW, at, backup, location, schedule, upload

CODES = {"runs-will-be-lost", "run-not-done-in-time", "window-not-free", "copy-will-be-old"}


def _runs(name: str, minutes: int, every: int = 60) -> list[Resource]:
    """Good runs that took so many minutes, the last of them an hour ago."""
    found: list[Resource] = []
    for number in range(5):
        begun = NOW.replace(hour=1, minute=0, second=3) - timedelta(minutes=every * number)
        ended = (begun + timedelta(minutes=minutes)).isoformat()
        found.append(
            backup(f"{name}-{number}", created=begun.isoformat(), started=begun.isoformat(), ended=ended, of=name)
        )
    return found


def _coming(*objects: Resource, limits: Thresholds | None = None) -> list[Finding]:
    snapshot = assemble([location(), *objects], given_versions={"": "1.18.3"})
    return [one for one in triage(snapshot, NOW, limits).findings if one.code in CODES]


def test_nothing_is_told_of_a_night_in_which_all_is_made() -> None:
    assert not _coming(schedule("hourly", "0 * * * *", last="02:00:03"), *_runs("hourly", 10))


def test_runs_that_will_be_lost_are_told_with_the_way_to_try_a_change() -> None:
    """It takes 25 minutes and is due every ten: of three due moments one is made."""
    (lost,) = _coming(schedule("often", "*/10 * * * *", last="02:40:03"), *_runs("often", 25))
    assert lost.code == "runs-will-be-lost"
    assert lost.subject.name == "often"
    said = render(lost.what, NOW)
    assert said.startswith("will lose ")
    assert width(said) <= 32
    assert lost.remedy == TRY_A_CHANGE
    assert "still going when the next one falls due" in render(lost.evidence, NOW)
    assert lost.severity is Severity.NOTE, "the page of schedules has it green: its runs go well"


@pytest.mark.parametrize(("now", "first"), [("02:39:59", "02:40Z"), ("02:40:00", "03:00Z")])
def test_a_run_that_is_due_already_is_not_among_those_that_will_be_lost(now: str, first: str) -> None:
    going = backup("often-now", "InProgress", created="02:30:03", started="02:30:03", of="often")
    done = backup("often-last", created="02:00:03", started="02:00:03", ended="02:25:03", of="often")
    objects = (location(), schedule("often", "*/10 * * * *", last="02:30:03"), going, done, *_runs("often", 25))
    (lost,) = triage(assemble(objects, given_versions={"": "1.18.3"}), at(now)).findings
    assert f"the first of them that of {first}:" in render(lost.evidence, NOW)


def test_a_run_that_is_overtaken_by_the_next_is_a_note() -> None:
    """It takes 61 minutes and is due every hour: each is made, and each late."""
    going = backup("long-now", "InProgress", created="02:00:03", started="02:00:03", of="long")
    (overtaken,) = _coming(schedule("long", "0 * * * *", last="02:00:03"), going, *_runs("long", 61))
    assert overtaken.code == "run-not-done-in-time"
    assert width(render(overtaken.what, NOW)) <= 32
    assert "which is made late" in render(overtaken.evidence, NOW)


def _of_lengths(*minutes: int, name: str = "long") -> list[Resource]:
    """Good runs that took so many minutes, three hours apart."""
    runs: list[Resource] = []
    for number, length in enumerate(minutes):
        begun = NOW.replace(minute=0, second=3) - timedelta(hours=3 * (number + 1))
        ended = (begun + timedelta(minutes=length)).isoformat()
        runs.append(
            backup(f"{name}-{number}", created=begun.isoformat(), started=begun.isoformat(), ended=ended, of=name)
        )
    return runs


@pytest.mark.parametrize("likely", [56, 61, 64])
def test_a_run_has_one_fate_in_triage_and_in_a_forecast_of_many_courses(likely: int) -> None:
    """Triage knows the likely course alone, and the forecast has drawn fifty, most of which may go otherwise."""
    objects = (location(), schedule("long", "0 * * * *", last="02:00:03"), *_of_lengths(30, likely, 90, 40, 80))
    snapshot = assemble(objects, given_versions={"": "1.18.3"})
    known, drawn = likely_night(snapshot, "velero", NOW), night(snapshot, "velero", NOW)
    assert drawn.draws
    assert {run.due: run.fate for run in known.runs} == {run.due: run.fate for run in drawn.runs}


def test_a_run_that_is_refused_is_not_lost_too_and_ends_no_night() -> None:
    """In half of the courses the run before it is still going: it is told as what it most likely is, and once."""
    going = backup("long-now", "InProgress", created="02:00:03", started="02:00:03", of="long")
    away = schedule("long", "0 * * * *", last="02:00:03", template={"storageLocation": "away"})
    objects = (location(), location("away", phase="Unavailable"), away, going, *_of_lengths(40, 50, 70, 150, 300))
    ahead = outlook(night(assemble(objects, given_versions={"": "1.18.3"}), "velero", NOW))
    (coming,) = ahead.schedules
    assert sum(run.share_lost for run in coming.runs) > 0.5
    assert (coming.count(Fate.LOST), coming.count(Fate.REFUSED)) == (0, len(coming.runs))
    told = list(printed_words(ServerNight("", ahead.night), NOW, UTC))
    assert not [line for line in told if line.startswith("Lost")]
    assert ahead.done is not None
    assert ahead.done.likely < at("06:00"), "the backup that is going is the last: nothing of the others ever ends"


def test_a_window_that_will_not_be_free_names_who_is_at_work_in_it() -> None:
    objects = (schedule("hourly", "0 * * * *", last="02:00:03"), *_runs("hourly", 10))
    (taken,) = _coming(*objects, limits=Thresholds(window=read_window("06:00-07:30")))
    assert taken.code == "window-not-free"
    assert render(taken.what, NOW) == "06:00-07:30 will not be free"
    assert "hourly" in render(taken.evidence, NOW)
    assert not _coming(*objects, limits=Thresholds(window=read_window("06:20-06:50")))


def test_a_copy_that_will_be_older_than_promised_blames_the_storage_that_refuses() -> None:
    objects = (schedule("hourly", "0 * * * *", last="02:00:03"), *_runs("hourly", 10))
    newest = backup("hourly-now", created="02:00:03", started="02:00:03", ended="02:10:03", of="hourly")
    snapshot = assemble([location(phase="Unavailable"), *objects, newest], given_versions={"": "1.18.3"})
    (old,) = [one for one in triage(snapshot, NOW).findings if one.code == "copy-will-be-old"]
    assert render(old.what, NOW) == "copy will be too old"
    assert old.blames is not None
    assert old.blames.name == "default"
    assert old.severity is Severity.WARNING, "the page of schedules has it yellow: its storage refuses"


@pytest.mark.parametrize(("started", "told"), [("01:59:59", "At 03:00Z"), ("02:00:00", "At 04:00Z")])
def test_a_copy_from_the_very_second_since_which_there_should_be_one_keeps_the_promise(started: str, told: str) -> None:
    """At 03:00 there should be a copy since 02:00."""
    hourly = schedule("hourly", "0 * * * *", last="02:00:03")
    newest = backup("hourly-now", created=started, started=started, ended="02:10:03", of="hourly")
    objects = [location(phase="Unavailable"), hourly, *_runs("hourly", 10), newest]
    snapshot = assemble(objects, given_versions={"": "1.18.3"})
    (old,) = [one for one in triage(snapshot, NOW).findings if one.code == "copy-will-be-old"]
    assert render(old.evidence, NOW).startswith(told)


def test_a_copy_that_will_be_old_for_another_reason_blames_no_storage() -> None:
    """It takes five hours and is due every hour, and its storage takes what comes."""
    going = backup("long-now", "InProgress", created="02:00:03", started="02:00:03", of="long")
    found = _coming(schedule("long", "0 * * * *", last="02:00:03"), going, *_runs("long", 300))
    (old,) = [one for one in found if one.code == "copy-will-be-old"]
    assert (old.blames, old.severity) == (None, Severity.NOTE)
    assert render(old.remedy, NOW) == _TRY


_TRY = render(TRY_A_CHANGE, NOW)
RECORDED: dict[str, dict[str, object]] = {
    "runs-will-be-lost": {
        "kind": "Schedule",
        "name": "often",
        "subject": "schedule velero/often",
        "id": "runs-will-be-lost:Schedule/velero/often",
        "severity": "note",
        "what": "will lose 85 of 143 runs",
        "evidence": "In the next 24 hours 85 of its 143 runs are not likely to be made, the first of them that of "
        "03:00Z: its last backup is still going when the next one falls due.",
        "remedy": _TRY,
        "related": [],
        "because": None,
    },
    "run-not-done-in-time": {
        "kind": "Schedule",
        "name": "long",
        "subject": "schedule velero/long",
        "id": "run-not-done-in-time:Schedule/velero/long",
        "severity": "note",
        "what": "not done before its next run",
        "evidence": "The run due at 03:00Z is likely to end about 04:02Z, after the next one has fallen due at 04:00Z, "
        "which is made late.",
        "remedy": _TRY,
        "related": [],
        "because": None,
    },
    "window-not-free": {
        "kind": "",
        "name": "",
        "subject": "window velero",
        "id": "window-not-free:/velero/:window",
        "severity": "warning",
        "what": "06:00-07:30 will not be free",
        "evidence": "From 06:00Z to 07:30Z no backup should be at work. Likely to be: hourly; the last ends "
        "about 07:10Z.",
        "remedy": _TRY,
        "related": [{"kind": "Schedule", "namespace": "velero", "name": "hourly"}],
        "because": None,
    },
    "copy-will-be-old": {
        "kind": "Schedule",
        "name": "hourly",
        "subject": "schedule velero/hourly",
        "id": "copy-will-be-old:Schedule/velero/hourly",
        "severity": "warning",
        "what": "copy will be too old",
        "evidence": "At 04:00Z its newest good copy is likely to be that of 02:00Z; there should be one since 03:00Z: "
        "its storage is unusable.",
        "remedy": "Make its storage location available again.",
        "related": [],
        "because": "storage-unavailable:BackupStorageLocation/velero/default",
    },
}
"""What scripts get of each in `report -o json` and `get findings -o json`: fields are added, never renamed."""


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_findings_of_the_night_are_in_the_contract_of_json(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    hourly = [schedule("hourly", "0 * * * *", last="02:00:03"), *_runs("hourly", 10)]
    objects: dict[str, list[Resource]] = {
        "runs-will-be-lost": [
            location(),
            schedule("often", "*/10 * * * *", last="02:40:03"),
            *_runs("often", 25),
        ],
        "run-not-done-in-time": [
            location(),
            schedule("long", "0 * * * *", last="02:00:03"),
            backup("long-now", "InProgress", created="02:00:03", started="02:00:03", of="long"),
            *_runs("long", 61),
        ],
        "window-not-free": [location(), *hourly],
        "copy-will-be-old": [
            location(phase="Unavailable"),
            *hourly,
            backup("hourly-now", created="02:00:03", started="02:00:03", ended="02:10:03", of="hourly"),
        ],
    }
    limits = Thresholds(window=read_window("06:00-07:30") if code == "window-not-free" else None)
    snapshot = assemble(objects[code], given_versions={"": "1.18.3"})
    report_snapshots([(snapshot, NOW)], (), "json", limits)
    (item,) = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] in CODES]
    always = {
        "context": "",
        "namespace": "velero",
        "code": code,
        "since": None,
        "hits": "",
        "raw": "",
        "toldUntil": None,
        "acknowledged": None,
    }
    assert item == always | RECORDED[code]


def test_a_night_is_worked_out_once_for_a_minute_and_a_state() -> None:
    from foretop_core.rules.night import night as module

    snapshot = assemble([location(), schedule("one", "0 * * * *", last="02:00:03")], given_versions={"": "1.18.3"})
    first = module.likely_night(snapshot, "velero", NOW)
    assert module.likely_night(snapshot, "velero", NOW + timedelta(seconds=10)) is first
    assert module.likely_night(snapshot, "velero", NOW + timedelta(minutes=1)) is not first


def test_a_volume_that_begins_to_move_makes_another_night_at_once() -> None:
    """The queue knows an end from then on: the calendar must not say for a minute that nobody does."""
    from foretop_core.rules.night import night as module

    held = schedule("media", "24 * * * *", last="02:24:03")
    runs = backup("media-now", "InProgress", created="02:24:03", started="02:24:03", of="media")

    def told(phase: str, **status: object) -> module.ForeseenRun:
        volume = upload("thumbs", phase, of="media-now", created="02:25:00", **status)
        ahead = module.likely_night(assemble([location(), held, runs, volume, *_runs("media", 40)]), "velero", NOW)
        return next(run for run in ahead.runs if run.name == "media-now")

    assert told("Accepted").has_no_known_end
    progress = {"bytesDone": 40, "totalBytes": 100}
    assert not told("InProgress", startTimestamp="2026-11-15T02:30:00Z", progress=progress).has_no_known_end


def test_the_calendar_goes_on_from_the_night_that_triage_has_played() -> None:
    from foretop_core.rules.night import night as module

    snapshot = assemble([location(), schedule("one", "0 * * * *", last="02:00:03")], given_versions={"": "1.18.3"})
    told = module.likely_night(snapshot, "velero", NOW)
    shown = module.foresight(snapshot, "velero", NOW)
    assert shown.likely() is told
    shown.play(3)
    assert shown.night().draws == 3
    assert module.foresight(snapshot, "velero", NOW).draws == 0, "each surface draws for itself"
