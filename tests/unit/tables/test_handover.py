"""The hand-over to the next shift, as it is read and as it is pasted into a ticket."""

from __future__ import annotations

from datetime import UTC, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from foretop_core.actions.journal import JournalEntry
from foretop_core.actions.planners.acknowledging import AcknowledgeRequest
from foretop_core.dashboard.handover import Handover, handover_of, handover_text
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import PreScaledCronJob, from_builtins
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.coming_back import if_back, if_resumed
from foretop_core.rules.sentences import render, sentence
from foretop_core.rules.snapshot import VisibilityGap
from foretop_core.rules.triage import Finding, Severity, Thresholds
from tests.objects import NOW, location, schedule
from tests.tui.fake_source import FilledSource

LATE = Finding(
    "schedule-overdue",
    Severity.ERROR,
    ObjectRef("", "Schedule", "velero", "nightly"),
    NOW - timedelta(minutes=41),
    "overdue",
    "seen",
    "Look at Velero.",
)
KNOWN = replace(
    LATE,
    severity=Severity.WARNING,
    subject=ObjectRef("", "BackupStorageLocation", "velero", "off_site"),
    what="unavailable",
    acknowledged=AcknowledgeRequest("maria", "the *bucket* is moved", NOW + timedelta(hours=3)).of(LATE, NOW),
)


def entry(at: str, result: str = "done", name: str = "resting") -> JournalEntry:
    return JournalEntry(
        at=at,
        user="maria",
        context="",
        kind="Schedule",
        namespace="velero",
        name=name,
        method="PATCH",
        before={"spec": {"paused": False}},
        patch={"spec": {"paused": True}},
        result=result,
    )


WINDOW = {
    "foretop.io/paused-by": "maria",
    "foretop.io/paused-batch": "w1",
    "foretop.io/paused-reason": "upgrade",
    "foretop.io/paused-until": "2026-11-15T04:30:00Z",
}
SNAPSHOT = assemble(
    [
        schedule("hourly", "0 * * * *", last="02:00:03"),
        schedule("weekly", "0 3 * * 1", last="2026-11-09T03:00:03Z"),
        schedule("resting", "0 * * * *", last="02:00:03", paused=True, annotations=WINDOW),
        schedule("forgotten", "0 * * * *", last="02:00:03", paused=True),
        schedule("often", "* * * * *", last="02:41:03"),
        schedule("sundays", "0 3-9 * * 0", last="2026-11-08T09:00:03Z"),
        schedule("saturdays", "0 4 * * 6", last="2026-11-14T04:00:03Z"),
    ]
)
WHOLE = Handover(
    ((SNAPSHOT, NOW),),
    (LATE,),
    (KNOWN,),
    (VisibilityGap("", "pods", "not allowed"),),
    (entry("2026-11-14T02:00:00Z", name="old"), entry("2026-11-15T02:30:11Z"), entry("yesterday", name="odd")),
)


def test_the_next_shift_reads_what_is_wrong_known_paused_run_and_written() -> None:
    assert handover_text(WHOLE, UTC).splitlines() == [
        "Hand-over at 2026-11-15T02:41:07Z: a file",
        "Times without a date are of 15 Nov 2026. Durations and what is still to come are as of 02:41:07Z.",
        "",
        "Wrong now (1)",
        "  ✗ error: schedule velero/nightly: overdue, since 02:00:07Z",
        "      Do: Look at Velero.",
        "",
        "Known (1)",
        "  storage velero/off_site: unavailable",
        "      acknowledged by maria until 05:41:07Z: the *bucket* is moved",
        "",
        "Not visible (1)",
        "  pods (not allowed)",
        "",
        "Paused (2)",
        "  window w1  1 schedule at an unknown time by maria: upgrade; meant until 04:30:00Z (resting)",
        "  velero/forgotten at an unknown time, no reason given",
        "",
        "Runs in the next 12 hours",
        "  03:00Z  velero/sundays, 7 runs (0 3-9 * * 0); none the day before",
        "  21 Nov 04:00Z  velero/saturdays, no runs (0 4 * * 6); 1 the day before",
        "  2 others run as in these hours of the day before.",
        "",
        "Written by foretop in the last 12 hours",
        "  02:30:11Z  maria: PATCH  schedule velero/resting: done",
        "      spec.paused false → true",
    ]


def test_a_note_is_not_wrong_and_has_the_sign_of_triage() -> None:
    note = replace(LATE, severity=Severity.NOTE, what="covered by two schedules")
    lines = handover_text(replace(WHOLE, findings=(LATE, note)), UTC).splitlines()
    assert "Wrong now (1)" in lines
    assert lines[lines.index("Notes (1)") + 1] == (
        "  ○ note: schedule velero/nightly: covered by two schedules, since 02:00:07Z"
    )
    assert "Notes" not in handover_text(WHOLE, UTC)


def test_a_run_of_a_prescaled_cron_job_is_a_run_to_come() -> None:
    spec = {"warmUpTimeMins": 5, "cronJob": {"spec": {"schedule": "0 */6 * * 0"}}}
    job = from_builtins(PreScaledCronJob, {"metadata": {"name": "batch", "namespace": "team"}, "spec": spec})
    text = handover_text(Handover(((assemble([job]), NOW),), (), (), (), ()), UTC)
    assert (
        "Runs in the next 12 hours\n  06:00Z  PreScaledCronJob team/batch, 2 runs (0 */6 * * 0); none the day before"
        in text
    )


def test_in_markdown_no_name_or_reason_makes_markup() -> None:
    written = handover_text(WHOLE, UTC, markdown=True)
    assert written.startswith("# Hand-over at ")
    assert "\n\nTimes without a date are of 15 Nov 2026." in written
    assert "## Wrong now (1)\n\n- ✗ error: schedule velero/nightly: overdue" in written
    assert "- storage velero/off\\_site: unavailable" in written
    assert "the \\*bucket\\* is moved" in written
    hostile = replace(LATE, what="\x1b[2J<script> [x](y)")
    shown = handover_text(replace(WHOLE, findings=(hostile,)), UTC, markdown=True)
    assert "\x1b" not in shown
    assert "<script" not in shown.replace("\\<", "")


def test_times_are_those_of_the_reader_s_zone() -> None:
    text = handover_text(WHOLE, ZoneInfo("Europe/Berlin"))
    assert "04:00 CET  velero/sundays" in text
    assert "as of 03:41:07 CET." in text


def test_a_quiet_shift_says_so_part_by_part() -> None:
    quiet = Handover(((assemble([]), NOW),), (), (), (), (), "The journal cannot be read")
    text = handover_text(quiet, UTC)
    assert "Wrong now\n  Nothing.\n" in text
    assert "Known\n  Nothing is acknowledged.\n" in text
    assert "Paused\n  No schedule is paused.\n" in text
    assert text.endswith("The journal cannot be read")
    assert "Not visible" not in text


def test_with_several_clusters_every_line_names_its_own() -> None:
    one, other = (assemble([schedule("sundays", "0 3 * * 0", last="02:00:03")], name) for name in ("eu", "us"))
    both = Handover(((one, NOW), (other, NOW)), (), (), (), ())
    assert "03:00Z  us: velero/sundays; none the day before" in handover_text(both, UTC)


def test_a_run_that_velero_will_refuse_says_so() -> None:
    offsite = schedule("offsite", "0 3 * * *", last="02:00:03", template={"storageLocation": "away"})
    snapshot = assemble([location("away", phase="Unavailable"), offsite], context="prod")
    written = handover_text(replace(WHOLE, clusters=((snapshot, NOW),)), UTC)
    assert "velero/offsite; Velero refuses it while its storage location away is Unavailable" in written


def test_a_run_of_a_silent_velero_says_so_as_the_calendar_does() -> None:
    """Nobody who comes on shift waits for a backup at 03:00 that a Velero which is down does not make."""
    late = schedule("late", "20 * * * *", last="01:20:03")
    hourly = schedule("hourly", "0 * * * *", last="02:00:03")
    snapshot = assemble([location(checked="02:10:03", synced="02:10:03"), late, hourly], context="prod")
    written = handover_text(replace(WHOLE, clusters=((snapshot, NOW),)), UTC)
    silent = "it is not created until Velero is back: no sign of activity from Velero since 02:10:03Z"
    assert f"  03:00Z  velero/hourly, 12 runs (0 * * * *); {silent}\n" in written
    assert f"  03:20Z  velero/late, 12 runs (20 * * * *); due since 02:20:00Z, but {silent}\n" in written


def test_what_is_stale_says_since_when_in_the_zone_of_the_reader() -> None:
    gap = VisibilityGap("prod", "Backup", sentence("stale since ", NOW))
    written = handover_text(replace(WHOLE, unseen=(gap,)), ZoneInfo("Europe/Berlin"))
    assert "prod Backup (stale since 03:41:07 CET)" in written


@pytest.mark.parametrize(("limit", "is_told"), [(timedelta(minutes=2), True), (timedelta(hours=1), False)])
async def test_a_run_is_late_by_the_limit_of_the_person(limit: timedelta, is_told: bool, tmp_path: Path) -> None:
    source = FilledSource(
        [location(checked="02:41:00", synced="02:41:00"), schedule("late", "20 * * * *", last="01:20:03")]
    )
    state = DashboardState(source, lambda: 0.0, thresholds=Thresholds(overdue=limit))
    written = handover_text(await handover_of(state, {"XDG_STATE_HOME": str(tmp_path)}), UTC)
    assert ("; due since 02:20:00Z" in written) is is_told


@pytest.mark.parametrize("is_silent", [True, False])
async def test_what_comes_when_velero_is_back_or_a_pause_ends_is_told_as_the_calendar_does(
    is_silent: bool, tmp_path: Path
) -> None:
    checked = "02:10:03" if is_silent else "02:41:00"
    notes = {"foretop.io/paused-by": "maria", "foretop.io/paused-until": "2026-11-15T04:30:00Z"}
    later = schedule("later", "0 5 * * *", last="2026-11-14T05:00:03Z", paused=True, annotations=notes)
    due = schedule("due", "20 * * * *", last="01:20:03")
    source = FilledSource([location(checked=checked, synced=checked), later, due])
    state = DashboardState(source, lambda: 0.0)
    written = handover_text(await handover_of(state, {"XDG_STATE_HOME": str(tmp_path)}), UTC).splitlines()
    told = written[written.index("When it comes back") + 1 :]
    snapshot, now = state.store.snapshot(state.contexts[0]), state.now(state.contexts[0])
    if is_silent:
        assert told[0] == "  velero: nothing can be foreseen, Velero is silent"
        backs = (render(back, now) for back in if_back(snapshot, "velero", now, UTC))
        assert told[1:4] == [f"      If back {back}" for back in backs]
    else:
        assert told[0] == f"  velero: if resumed {render(if_resumed(snapshot, 'velero', now, UTC), now)}"
        assert "at 04:30Z with skip: 1 run due before 06:00Z" in told[0]
