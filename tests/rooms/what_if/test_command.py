"""`foretop whatif` on a server with two schedules that meet: what a change would do, and changes that cannot be."""

from __future__ import annotations

import json
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.cli import run
from foretop_core.errors import BadInput, Unforeseen
from foretop_core.models import Backup
from foretop_core.rooms.what_if.comparison import (
    Longer,
    Move,
    NightComparison,
    Pause,
    Slots,
    Stopped,
    Unpause,
    _rounded,
    read_changes,
    what_if,
)
from foretop_core.rooms.what_if.numbers import night_numbers, nights_compared
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import Fate, night
from foretop_core.rules.night.outlook import wait_of
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import night_words, printed_words
from tests.objects import NOW, at, backup, location, schedule, upload
from tests.unit.test_forecast_command import SILENT

GIVEN = ("--velero-version", "1.18.3", "--at", NOW.isoformat())


def _objects() -> list[Any]:
    runs: list[Backup] = [
        backup(f"{name}-{hour}", created=f"0{hour}:00:00", started=f"0{hour}:00:03", ended=f"0{hour}:20:03", of=name)
        for name in ("first", "second")
        for hour in (0, 1, 2)
    ]
    schedules = [schedule(name, cron="0 * * * *", last="02:00:03") for name in ("first", "second")]
    return [location(), *runs, *schedules]


def _one_slot(objects: list[Any]) -> ClusterSnapshot:
    """A server with one slot, whatever its runs of former days show."""
    servers = {"velero": VeleroInfo(concurrency=1, version="1.18.3")}
    return replace(assemble(objects, given_versions={"": "1.18.3"}), servers=servers)


def _compared(*changes: Any) -> NightComparison:
    snapshot = _one_slot(_objects())
    return what_if(snapshot, "velero", NOW, changes, timedelta(hours=3))


def test_moved_apart_they_wait_less() -> None:
    """The first of the moved runs is due already, and so comes at once."""
    found = _compared(Move("second", "30 * * * *"))
    assert found.before.longest_wait is not None
    assert found.after.longest_wait is not None
    before, after = wait_of(found.before.longest_wait), wait_of(found.after.longest_wait)
    assert before is not None
    assert after is not None
    assert after < before / 2
    assert any(str(line).endswith(" less.") for line in found.differences)


def test_fewer_slots_than_are_in_use_now_hold_from_their_ends_on() -> None:
    """It read `3 of 2`, as if Velero could do that."""
    working = [
        backup(
            f"{name}-3",
            "InProgress",
            created="02:25:00",
            started="02:25:03",
            of=name,
            spec={"includedNamespaces": [name]},
        )
        for name in ("first", "second")
    ]
    snapshot = assemble([*_objects(), *working], given_versions={"": "1.18.3"})
    snapshot = replace(snapshot, servers={"velero": replace(snapshot.server("velero"), concurrency=2)})
    found = what_if(snapshot, "velero", NOW, (Slots(1),), timedelta(hours=3))
    compared = {label: after for label, _, after in nights_compared(found.before, found.after, UTC)}
    assert compared["Slots"] == "2 now, then 1 of 1"
    told = printed_words(ServerNight("", found.after.night), NOW, UTC)
    assert any(line.startswith("Peak      2 now, then 1 of 1 slot ") for line in told)


def test_a_run_that_the_new_expression_makes_at_once_is_told_and_the_next_one_is_compared() -> None:
    """Moved later: the run that is due by it since yesterday is not that of tonight, made sooner."""
    run = backup(
        "crm-1", created="2026-11-14T22:16:00Z", started="2026-11-14T22:16:03Z", ended="2026-11-14T22:20:03Z", of="crm"
    )
    crm = schedule("crm", cron="16 22 * * *", last="2026-11-14T22:16:00Z")
    snapshot = assemble([location(), run, crm], given_versions={"": "1.18.3"})
    found = what_if(snapshot, "velero", NOW, [Move("crm", "30 23 * * *")])
    told = [render(line, NOW) for line in found.differences]
    assert told[0] == (
        "crm: one backup at once: by the new expression it was due at 14 Nov 23:30Z; it ends about 02:45Z."
    )
    assert told[1].startswith("crm: the run after it ends 1 hour and 14 minutes later, about 23:3")


def test_how_many_runs_a_new_expression_makes_is_told() -> None:
    told = [render(line, NOW) for line in _compared(Move("second", "0 4 * * *")).differences]
    assert "second: 1 run instead of 3." in told
    assert [line for line in told if line.startswith("second: its first run ends ")]


@pytest.mark.parametrize(
    ("cron", "told"), [("0 * * * *", "no longer lost (11 runs)"), ("*/15 * * * *", "5 runs lost instead of 11")]
)
def test_how_many_runs_are_no_longer_lost_is_told(cron: str, told: str) -> None:
    """It takes 25 minutes and is due every ten."""
    runs = [
        backup(f"often-{hour}", created=f"{hour}:00", started=f"{hour}:00:03", ended=f"{hour}:25:03", of="often")
        for hour in ("00", "01", "02")
    ]
    often = schedule("often", cron="*/10 * * * *", last="02:40:03")
    snapshot = assemble([location(), *runs, often], given_versions={"": "1.18.3"})
    found = what_if(snapshot, "velero", NOW, [Move("often", cron)], timedelta(hours=3))
    assert f"often: {told}." in [render(line, NOW) for line in found.differences]


def test_how_many_wait_less_is_told_before_each_of_many() -> None:
    names = [f"s{number}" for number in range(6)]
    runs = [
        backup(f"{name}-1", created="01:00:00", started="01:00:03", ended=f"01:2{number}:{7 * number:02}", of=name)
        for number, name in enumerate(names)
    ]
    made = [schedule(name, "0 3 * * *", last="01:00:03", template={"includedNamespaces": [name]}) for name in names]
    snapshot = _one_slot([location(), *runs, *made])
    found = what_if(snapshot, "velero", NOW, [Slots(2)])
    each = [line for line in found.differences if ": waits " in render(line, NOW)]
    assert len(each) == 6, "each course has another first"
    assert found.differences[0] == "Of 6 schedules 6 wait less."


@pytest.mark.parametrize(
    ("minutes", "apart", "told"),
    [(14.2, 0, "14 minutes"), (14.2, 4, "15 minutes"), (14.2, 20, "15 minutes"), (92, 60, "1 hour and 30 minutes")],
)
def test_a_difference_is_told_no_finer_than_the_courses_are_apart(minutes: float, apart: int, told: str) -> None:
    assert _rounded(timedelta(minutes=-minutes), NOW, NOW + timedelta(minutes=apart)) == told


def test_two_slots_let_both_start_at_once_only_where_they_share_no_namespace() -> None:
    found = _compared(Slots(2))
    assert found.after.at_work is not None
    assert found.after.at_work.count == 1, "both take every namespace"


def test_nothing_is_compared_where_nothing_can_be_foreseen() -> None:
    """The calendar says so of the same server at the same moment."""
    silent = [location(checked="01:00:00", synced="01:00:00"), *_objects()[1:]]
    snapshot = assemble(silent, given_versions={"": "1.18.3"})
    with pytest.raises(Unforeseen, match="Nothing can be foreseen: the storage of Velero hangs"):
        what_if(snapshot, "velero", NOW, [Slots(2)])
    assert night(snapshot, "velero", NOW, draws=0).unknown == "the storage of Velero hangs"


def _with_an_endless_run() -> list[Any]:
    """Three that share nothing; the second is at work, and nobody knows when its volume is moved."""
    objects = [
        schedule(name, cron=cron, last="02:00:03", template={"includedNamespaces": [name]})
        for name, cron in (("first", "0 * * * *"), ("second", "0 * * * *"), ("third", "0 3 * * *"))
    ]
    runs = [
        backup(f"{name}-{hour}", created=f"0{hour}:00:00", started=f"0{hour}:00:03", ended=f"0{hour}:20:03", of=name)
        for name in ("first", "second", "third")
        for hour in (0, 1, 2)
    ]
    takes = {"includedNamespaces": ["second"]}
    going = backup("second-now", "InProgress", created="02:30:00", started="02:30:03", of="second", spec=takes)
    return [location(), *objects, *runs, going, upload("waits", of="second-now", created="02:31:00")]


def test_what_has_no_known_end_is_not_compared() -> None:
    snapshot = assemble(_with_an_endless_run(), given_versions={"": "1.18.3"})
    server = {"velero": replace(snapshot.server("velero"), concurrency=3)}
    snapshot = replace(snapshot, servers=server)
    found = what_if(snapshot, "velero", NOW, [Pause("first")])
    assert found.before.night.without_end == found.after.night.without_end == ("second",)
    assert found.differences == (
        "first: 24 runs fewer.",
        "When all is done is not compared: second has no known end.",
    )
    for one in (found.before, found.after):
        numbers, words = dict(night_numbers(one, UTC)), night_words(ServerNight("", one.night, ()), NOW, UTC)
        (done,) = ("".join(phrase.text for phrase in line.phrases) for line in words if line.label == "By 06:00")
        others = f"the others end {numbers['Done']}, 90% sure by {numbers['90% sure']}"
        assert done.startswith(f"UTC: {numbers['By 06:00']}: second has no known end; {others}")


def test_a_wait_that_nobody_knows_is_not_compared() -> None:
    """In one slot the second has no start any more: that is not a shorter wait."""
    snapshot = assemble(_with_an_endless_run(), given_versions={"": "1.18.3"})
    snapshot = replace(snapshot, servers={"velero": replace(snapshot.server("velero"), concurrency=2)})
    found = what_if(snapshot, "velero", NOW, [Slots(1)])
    assert not [line for line in found.differences if "waits" in str(line) or "sooner" in str(line)]


def test_both_columns_tell_the_night_as_the_calendar_does() -> None:
    """An hourly schedule goes on for a day, and a third one is refused: neither moves the end of the night."""
    nightly = schedule("nightly", cron="10 4 * * *", last="2026-11-14T04:10:03Z")
    bad = schedule("bad", cron="0 5 * * *", last="2026-11-14T05:00:03Z", template={"storageLocation": "gone"})
    snapshot = _one_slot([*_objects(), nightly, bad])
    found = what_if(snapshot, "velero", NOW, [Longer("nightly", 2.0)])
    rows = {label: (was, then) for label, was, then in nights_compared(found.before, found.after, UTC)}
    for place, one in enumerate((found.before, found.after)):
        told = {
            line.label: "".join(phrase.text for phrase in line.phrases)
            for line in night_words(ServerNight("prod", one.night), NOW, UTC)
        }
        ends = f"ends {rows['Done'][place]}, 90% sure by {rows['90% sure'][place]}"
        assert told["By 06:00"].startswith(f"UTC: {rows['By 06:00'][place]}, {ends}")
        assert told["Waits"].endswith(f", {rows['Longest'][place]}")
        assert "Lost" not in told
        assert rows["Lost"][place] == "0"
        assert told["Refused"].startswith(f"× {rows['Refused'][place]} of bad")
    assert any(render(line, NOW).startswith("The night's runs will be done about ") for line in found.differences)
    slower = what_if(snapshot, "velero", NOW, [Longer("first", 2.0), Pause("nightly")])
    lines = [render(line, NOW) for line in slower.differences]
    assert not [line for line in lines if line.startswith("bad: ")], "a run that is refused waits for nothing"
    assert any(line.startswith("All but bad and 1 paused will be done about ") for line in lines)
    plain = _compared(Slots(2))
    assert "Refused" not in {label for label, _, _ in nights_compared(plain.before, plain.after, UTC)}


def test_runs_four_times_as_long_are_lost() -> None:
    found = _compared(Longer("first", 4.0))
    assert sum(one.count(Fate.LOST) + one.count(Fate.LATE) for one in found.before.schedules) == 0
    assert sum(one.count(Fate.LOST) + one.count(Fate.LATE) for one in found.after.schedules) > 0


@pytest.mark.parametrize("window", ["02:50-03:30", "02:30-03:30"], ids=["later", "now"])
def test_a_run_that_is_due_while_velero_is_stopped_starts_when_it_is_back(window: str) -> None:
    found = _compared(Stopped(read_window(window)))
    for outlook, begins in ((found.before, at("03:00")), (found.after, at("03:30"))):
        start = min(run.start.likely for run in outlook.night.runs if run.start is not None)
        assert begins <= start < begins + timedelta(minutes=1)


def test_changes_of_several_schedules_are_read_from_one_line() -> None:
    found = read_changes(" crm=0,30 3 * * *; mail = paused;etcd=unpaused; ")
    assert found == [Move("crm", "0,30 3 * * *"), Pause("mail"), Unpause("etcd")]
    assert read_changes(" ; ") == []
    for bad in ("crm", "=paused", "crm="):
        with pytest.raises(BadInput, match="is not a change"):
            read_changes(f"mail=paused; {bad}")


def test_a_paused_schedule_has_no_runs_and_the_other_is_as_it_was() -> None:
    found = _compared(Pause("second"))
    assert [one.name for one in found.after.schedules] == ["first"]
    assert "second: 3 runs fewer." in found.differences


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "objects.json"
    schedules = [
        {
            "apiVersion": "velero.io/v1",
            "kind": "Schedule",
            "metadata": {"name": "first", "namespace": "velero", "creationTimestamp": "2026-11-15T00:00:00Z"},
            "spec": {"schedule": "0 * * * *", "template": {}},
            "status": {"phase": "Enabled", "lastBackup": "2026-11-15T02:00:03Z"},
        }
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": schedules}))
    return str(path)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((), "no change is given"),
        (("--pause", "nobody"), "There is no schedule nobody in velero"),
        (("--unpause", "first"), "That changes nothing: first is not paused"),
        (("--move", "first=0 * * * *"), "That changes nothing"),
        (("--move", "first=61 * * * *"), "61"),
        (("--move", "first"), "write NAME=VALUE"),
        (("--longer", "first=-2"), "cannot take -2 times as long"),
        (("--longer", "first=much"), "is not a number"),
        (("--add", "new=0 3 * * *", "--length", "-5"), "its length is not positive"),
        (("--concurrent-backups", "0"), "0 slots cannot be"),
        (("--stopped", "02:00-02:00"), "it has no length"),
    ],
)
def test_a_change_that_cannot_be_is_one_clear_line(
    asked: tuple[str, ...], said: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["whatif", "-f", file, *GIVEN, *asked]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert said in lines[0]


def test_scripts_get_both_nights_and_the_difference(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", "-f", file, *GIVEN, "--pause", "first", "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"before", "after", "differences", "notSeen"}


def test_a_night_with_an_object_that_cannot_be_read_is_not_judged(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = json.loads(Path(file).read_text())
    odd = {"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {"name": "odd", "namespace": "velero"}}
    listed["items"].append({**odd, "spec": {"schedule": "0 * * * *", "template": []}})
    part = tmp_path / "part.json"
    part.write_text(json.dumps(listed))
    assert run(["whatif", "-f", str(part), *GIVEN, "--pause", "first"]) == 3
    assert "Schedule velero/odd cannot be read" in capsys.readouterr().err


def test_a_change_of_a_silent_server_is_answered_with_what_becomes_of_its_backlog(
    night: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["forecast", "-f", night, *SILENT])
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if "If back" in line]
    assert [line.split()[2].rstrip(":") for line in told] == ["now", "at", "at"]
    assert run(["whatif", "-f", night, *SILENT, "--pause", "etcd"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[::2] == told
    assert all(line.startswith(("  With the change, ", "  The same with the change.")) for line in lines[1::2])
    assert any(line.startswith("  With the change, now: ") for line in lines), "etcd is not to be made up for"
    assert run(["whatif", "-f", night, *SILENT, "--pause", "etcd", "-o", "json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert [f"If back   {back}" for back in found["ifBack"]] == told
    assert f"  With the change, {found['ifBackAfter'][0]}." == lines[1]


def test_a_wrong_change_of_a_silent_server_is_bad_input(night: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["whatif", "-f", night, *SILENT, "--pause", "nobody"]) == 2
    assert "There is no schedule nobody" in capsys.readouterr().err
