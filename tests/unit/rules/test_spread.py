"""Spreading schedules that meet: what holds of every proposal, and proposals that a person would make too."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from foretop.cli import run
from foretop_core.cron import CronSchedule, Dialect
from foretop_core.errors import BadInput
from foretop_core.models import PreScaledCronJob, Resource, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import ALL_DIALECTS, expression
from foretop_core.rules.night.spread import Spreading, Strain, shifted_text, spread
from foretop_core.rules.night.window import Window, read_window
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.examples import few_or_many
from tests.objects import backup, location, schedule, upload

NOW = datetime(2026, 11, 15, 20, 0, 0, tzinfo=UTC)
WINDOW = "01:00-05:00"


def _server(
    schedules: dict[str, tuple[str, int]], slots: int = 1, version: str = "1.18.3", *more: Resource
) -> ClusterSnapshot:
    """Schedules by name, each with its expression and the minutes that its runs take."""
    objects: list[Resource] = [location(checked="19:59:33", synced="19:59:33"), *more]
    for name, (cron, minutes) in schedules.items():
        parsed = expression(cron, Dialect.NETRESEARCH)
        assert isinstance(parsed, CronSchedule)
        last = parsed.previous(NOW)
        assert last is not None
        template = {"includedNamespaces": [name]}
        objects.append(schedule(name, cron, last=(last + timedelta(seconds=3)).isoformat(), template=template))
        for number in range(4):
            at = last - timedelta(days=number)
            stamp = f"{at:%Y%m%d%H%M%S}"
            times = (at + timedelta(seconds=3), at + timedelta(seconds=4), at + timedelta(seconds=4, minutes=minutes))
            created, started, ended = (one.isoformat() for one in times)
            spec = {"includedNamespaces": [name]}
            objects.append(backup(f"{name}-{stamp}", created=created, started=started, ended=ended, of=name, spec=spec))
    server = VeleroInfo(concurrency=slots, version=version)
    return replace(assemble(objects), servers={"velero": server})


def _spread(snapshot: ClusterSnapshot, window: str = WINDOW, keep: tuple[str, ...] = ()) -> Spreading:
    return spread(snapshot, "velero", NOW, read_window(window) if window else None, keep, draws=10)


def _runs(cron: str, dialect: Dialect, until: timedelta = timedelta(days=40)) -> list[datetime]:
    parsed = expression(cron, dialect)
    assert isinstance(parsed, CronSchedule)
    return list(parsed.between(NOW, NOW + until))


@pytest.mark.parametrize(
    ("saved", "told"),
    [
        (Strain(), ""),
        (Strain(0.04, 0.04, 29.0), ""),
        (Strain(0.05, 0.25, 30.0), "0.1 fewer lost, 0.2 fewer late, 30 seconds less waiting"),
        (Strain(2.0, -0.5, 720.0), "2.0 fewer lost, 12 minutes less waiting"),
    ],
)
def test_what_is_saved_is_said_where_it_is_worth_a_word(saved: Strain, told: str) -> None:
    assert saved.saved == told


def test_one_strain_is_less_than_another_by_what_is_saved() -> None:
    assert Strain(3.0, 1.0, 900.0).less(Strain(1.0, 1.5, 180.0)) == Strain(2.0, -0.5, 720.0)


@pytest.mark.parametrize(
    ("strain", "is_worse"),
    [
        (Strain(2.0, 1.0, 600.0), False),
        (Strain(2.0, 1.0, 601.0), True),
        (Strain(1.75, 1.25, 601.0), True),
        (Strain(1.5, 1.25, 601.0), False),
        (Strain(2.04, 0.9, 0.0), False),
        (Strain(2.06, 0.0, 0.0), True),
        (Strain(0.0, 3.04, 0.0), False),
        (Strain(0.0, 3.06, 0.0), True),
    ],
)
def test_one_strain_is_worse_than_another_by_any_of_the_three_beyond_luck(strain: Strain, is_worse: bool) -> None:
    assert strain.is_worse_than(Strain(2.0, 1.0, 600.0)) is is_worse


@pytest.mark.parametrize(
    ("gain", "waits", "is_worth"),
    [
        (Strain(0.25, 0.25), 0.0, True),
        (Strain(1.0, -0.5), 0.0, True),
        (Strain(-0.25, -0.25, 9000.0), 0.0, False),
        (Strain(0.5, -1.0, 9000.0), 0.0, False),
        (Strain(0.25, 0.0, 119.0), 600.0, False),
        (Strain(-0.25, 0.0, 120.0), 600.0, True),
        (Strain(0.0, 0.0, 299.0), 6000.0, False),
        (Strain(0.0, 0.0, 300.0), 6000.0, True),
    ],
)
def test_a_change_is_worth_half_a_run_or_a_twentieth_of_all_waiting(gain: Strain, waits: float, is_worth: bool) -> None:
    assert gain.is_worth_a_change(Strain(waits=waits)) is is_worth


def test_two_that_meet_are_moved_apart_by_one_change() -> None:
    found = _spread(_server({"first": ("0 2 * * *", 30), "second": ("0 2 * * *", 30)}), window="")
    (shift,) = found.shifts
    assert shift.after == "35 2 * * *", "without a window the hour stays, and a round minute is easier to remember"
    assert 25 * 60 < found.strain_before.waits < 35 * 60
    assert found.strain_after.waits < 10 * 60


def test_one_that_meets_another_at_each_minute_is_moved_once_to_where_both_wait_least() -> None:
    """An hourly one of 45 minutes and a daily one of 30 do not fit into an hour."""
    found = _spread(_server({"hourly": ("15 * * * *", 45), "daily": ("15 8 * * *", 30)}), window="")
    assert [(shift.ref.name, shift.after) for shift in found.shifts] == [("hourly", "30 * * * *")]


def test_what_does_not_meet_is_left_alone() -> None:
    found = _spread(_server({"first": ("0 2 * * *", 30), "second": ("0 3 * * *", 30)}))
    assert not found.shifts
    assert found.strain_before == found.strain_after
    for outlook in (found.before, found.after):
        assert [run.owner.name for run in outlook.night.runs] == ["first", "second"]


def test_runs_of_a_constant_delay_are_counted_where_they_wait() -> None:
    """Due at 22:10, 40 minutes before the end of a long one; the others up to 20:00 find a free slot."""
    every = schedule("every", "@every 6h", last="2026-11-15T16:10:00Z", template={"includedNamespaces": ["every"]})
    ended = backup("every-1", created="16:10:00", started="16:10:00", ended="16:12:00", of="every")
    snapshot = _server({"long": ("50 21 * * *", 60)}, 1, "1.18.3", every, ended)
    assert 35 * 60 < _spread(snapshot, "", keep=("long",)).strain_before.waits < 50 * 60


@pytest.mark.parametrize(("minutes", "shifts"), [(0, 0), (1, 1)])
def test_a_run_that_is_due_when_the_time_ends_is_not_looked_at(minutes: int, shifts: int) -> None:
    snapshot = _server({"first": ("0 2 * * *", 30), "second": ("0 2 * * *", 30)})
    found = spread(snapshot, "velero", NOW, length=timedelta(hours=6, minutes=minutes), draws=10)
    assert (len(found.shifts), found.strain_before.waits > 0) == (shifts, bool(shifts))


def test_a_run_that_moves_out_of_the_time_that_is_judged_is_no_gain() -> None:
    """Ten minutes later the hourly one would wait for the daily one just after its end."""
    snapshot = _server({"hourly": ("15 * * * *", 45), "daily": ("15 2 * * *", 30)})
    found = spread(snapshot, "velero", NOW, length=timedelta(hours=6, minutes=16), draws=10)
    assert [(shift.ref.name, shift.minutes) for shift in found.shifts] == [("daily", -15)]
    assert found.strain_after.waits > 0


@pytest.mark.parametrize(("minute", "after"), [(7, "55 1 * * *"), (3, "15 2 * * *"), (11, "0 2 * * *")])
def test_among_equal_minutes_a_round_one_is_chosen(minute: int, after: str) -> None:
    server = _server(dict.fromkeys(("first", "second"), (f"{minute} 2 * * *", 9)))
    assert [shift.after for shift in _spread(server).shifts] == [after]


@pytest.mark.parametrize(("namespaces", "shifts"), [(("shop", "shop"), 1), (("shop", "wiki"), 0)])
def test_beside_a_free_slot_only_those_of_one_namespace_meet(namespaces: tuple[str, str], shifts: int) -> None:
    made: list[Resource] = []
    for name, namespace in zip(("first", "second"), namespaces, strict=True):
        spec = {"includedNamespaces": [namespace]}
        made.append(schedule(name, "0 2 * * *", last="02:00:03", template=spec))
        made.append(backup(f"{name}-1", created="02:00:03", started="02:00:04", ended="02:30:04", of=name, spec=spec))
    assert len(_spread(_server({}, 2, "1.18.3", *made)).shifts) == shifts


def test_six_in_one_slot_are_spread_over_the_window() -> None:
    found = _spread(_server({f"team-{number}": ("0 2 * * *", 30) for number in range(6)}))
    assert found.strain_after.waits < 0.2 * found.strain_before.waits
    assert len(found.shifts) <= 5, "one may stay"


def test_runs_that_would_be_lost_are_made() -> None:
    """Without a queue one that waits holds its schedule: two of 50 minutes cost an hourly one a run."""
    given = {"hourly": ("0 * * * *", 5), "long": ("0 2 * * *", 50), "other": ("0 2 * * *", 50)}
    found = _spread(_server(given, version="1.17.2"))
    assert found.strain_before.lost + found.strain_before.late > 0.5
    assert found.strain_after.lost + found.strain_after.late < found.strain_before.lost + found.strain_before.late


@pytest.mark.parametrize(
    ("often", "takes", "long", "strain"),
    [
        # The long one waits from 02:01 to 02:05, the run of 02:15 to 02:55; those of 02:30 and 02:45 are lost.
        ("*/15 * * * *", 5, 50, Strain(lost=2, late=0, waits=(4 + 40) * 60)),
        # The run of 02:05 waits to 02:31, that of 02:30 is made two minutes late, the four between them are lost.
        ("*/5 * * * *", 1, 30, Strain(lost=4, late=1, waits=26 * 60)),
    ],
)
def test_what_a_long_run_costs_a_frequent_one_without_a_queue(
    often: str, takes: int, long: int, strain: Strain
) -> None:
    server = _server({"often": (often, takes), "long": ("1 2 * * *", long)}, version="1.17.2")
    found = spread(server, "velero", NOW, None, ("often", "long"), timedelta(hours=7), draws=0)
    assert found.strain_before == strain


def test_one_that_is_kept_stays_and_the_others_move() -> None:
    snapshot = _server({"first": ("0 2 * * *", 30), "second": ("0 2 * * *", 30)})
    for kept, moved in (("first", "second"), ("second", "first")):
        found = _spread(snapshot, keep=(kept,))
        assert [(shift.ref.name, shift.after) for shift in found.shifts] == [(moved, "25 1 * * *")]
        assert found.strain_after.waits == 0, "they no longer overlap"
    assert not _spread(snapshot, keep=("first", "second")).shifts


@pytest.mark.parametrize(
    ("kept", "window", "after"), [("moves", "02:00-05:00", "15 2 * * *"), ("other", "01:00-05:00", "45 1 * * *")]
)
def test_a_run_that_only_moves_volumes_any_more_is_in_nobodys_way(kept: str, window: str, after: str) -> None:
    """It takes 40 minutes, and holds its slot for the first ten."""
    volumes = [
        upload(f"up-{day}", "Completed", of=f"moves-202611{day}020000", created=f"2026-11-{day}T02:10:04Z")
        for day in (12, 13, 14, 15)
    ]
    snapshot = _server({"moves": ("0 2 * * *", 40), "other": ("0 2 * * *", 10)}, 1, "1.18.3", *volumes)
    assert [shift.after for shift in _spread(snapshot, window, keep=(kept,)).shifts] == [after]


@pytest.mark.parametrize(("days", "after"), [((14, 15), "15 2 * * *"), ((12, 13, 14), "50 2 * * *")])
def test_the_newest_run_tells_whether_volumes_are_moved_and_those_of_older_ones_may_be_gone(
    days: tuple[int, ...], after: str
) -> None:
    volumes = [
        upload(f"up-{day}", "Completed", of=f"moves-202611{day}020000", created=f"2026-11-{day}T02:10:04Z")
        for day in days
    ]
    snapshot = _server({"moves": ("0 2 * * *", 40), "other": ("0 2 * * *", 10)}, 1, "1.18.3", *volumes)
    assert [shift.after for shift in _spread(snapshot, "02:00-05:00", keep=("moves",)).shifts] == [after]


def test_a_name_that_nobody_has_is_one_clear_line() -> None:
    with pytest.raises(BadInput, match="There is no schedule nobody in velero"):
        _spread(_server({"first": ("0 2 * * *", 30)}), keep=("nobody",))


@pytest.mark.parametrize(("minute", "moved"), [(7, -5), (6, -4)])
def test_no_run_is_moved_into_the_minute_that_has_begun(minute: int, moved: int) -> None:
    """At 20:00 a change cannot reach Velero in time for a run at 20:01."""
    server = _server({"first": (f"{minute} 20 * * *", 5), "second": (f"{minute} 20 * * *", 5)})
    found = _spread(server, f"20:00-20:{minute + 5}")
    assert [shift.minutes for shift in found.shifts] == [moved]


@pytest.mark.parametrize(
    ("cron", "window", "after"),
    [
        ("0 2 * * *", "01:00-05:00", ["25 1 * * *"]),
        ("50 23 * * *", "23:00-05:00", ["15 23 * * *"]),
        ("10 0 * * *", "22:00-02:00", ["45 0 * * *"]),
        ("30 2 * * *", "21:00-01:00", []),
        ("25 19 * * *", "19:25-21:00", ["0 20 * * *"]),
    ],
)
def test_runs_move_over_hours_within_the_window_and_never_over_midnight(
    cron: str, window: str, after: list[str]
) -> None:
    server = _server({"first": (cron, 30), "second": (cron, 30)})
    assert [shift.after for shift in _spread(server, window, keep=("first",)).shifts] == after


@pytest.mark.parametrize(("minute", "minutes", "moved"), [(0, 15, [15]), (15, 15, [-15]), (0, 30, []), (0, 31, [29])])
def test_a_run_may_begin_and_end_with_the_window_and_does_not_begin_at_its_end(
    minute: int, minutes: int, moved: list[int]
) -> None:
    server = _server(dict.fromkeys(("first", "second"), (f"{minute} 2 * * *", minutes)))
    assert [shift.minutes for shift in _spread(server, "02:00-02:30").shifts] == moved


def test_a_run_that_the_new_minute_would_make_at_once_is_skipped() -> None:
    """Last run at 02:00, now 20:00: by `30 2 * * *` one is due since half past two."""
    found = _spread(_server({"first": ("0 2 * * *", 30), "second": ("0 2 * * *", 30)}), "02:00-05:00")
    (shift,) = found.shifts
    assert shift.minutes > 0
    assert shift.patch == {"schedule": shift.after, "skipImmediately": True}
    runs = [one for one in found.after.night.runs if one.owner.name == shift.ref.name]
    assert [one.due for one in runs] == [datetime(2026, 11, 16, 2, tzinfo=UTC) + timedelta(minutes=shift.minutes)]


def test_a_run_that_the_new_minute_would_make_in_this_second_is_skipped_too() -> None:
    server = _server({"first": ("50 19 * * *", 5), "second": ("50 19 * * *", 30)})
    (shift,) = _spread(server, "19:30-20:30").shifts
    assert (shift.after, shift.skips) == ("0 20 * * *", True)


def _warm_up(name: str, cron: str, primer: str = "") -> PreScaledCronJob:
    spec = {"warmUpTimeMins": 10, "primerSchedule": primer, "cronJob": {"spec": {"schedule": cron}}}
    meta = {"name": name, "namespace": "jobs", "creationTimestamp": "2026-11-01T00:00:00Z"}
    return from_builtins(PreScaledCronJob, {"metadata": meta, "spec": spec})


def test_a_warm_up_moves_along_with_the_only_schedule_that_it_serves() -> None:
    given = {"first": ("0 2 * * *", 30), "second": ("5 2 * * *", 30)}
    snapshot = _server(given, 1, "1.18.3", _warm_up("warm", "5 2 * * *", "55 1 * * *"))
    (shift,) = _spread(snapshot, keep=("first",)).shifts
    (warm,) = shift.warm_ups
    assert warm.patch["cronJob"]["spec"]["schedule"] == shift.after
    (primed,) = {tuple(run + timedelta(minutes=10) for run in _runs(warm.patch["primerSchedule"], Dialect.ROBFIG))}
    assert list(primed) == _runs(shift.after, Dialect.ROBFIG)


def test_a_warm_up_of_two_schedules_stays_and_that_is_said() -> None:
    given = {"first": ("0 2 * * *", 30), "second": ("0 2 * * *", 30)}
    (shift,) = _spread(_server(given, 1, "1.18.3", _warm_up("warm", "0 2 * * *"))).shifts
    assert not shift.warm_ups
    assert [ref.name for ref in shift.left_behind] == ["warm"]


CRONS = st.one_of(
    st.builds(lambda minute, hour: f"{minute} {hour} * * *", st.integers(0, 59), st.integers(1, 4)),
    st.sampled_from(
        [
            "@daily",
            "@hourly",
            "0 */6 * * *",
            "*/15 * * * *",
            "0 2 * * 1-5",
            "30 1,3 * * *",
            "0 2,4 * * SUN,MON",
            "CRON_TZ=Europe/Berlin 0 3 * * *",
            "TZ=UTC 0 2 * * *",
            "@every 6h",
            "5-50/15 2 * * *",
            "0 2 1 * *",
        ]
    ),
)
SERVERS = st.dictionaries(st.sampled_from(list("abcdefg")), st.tuples(CRONS, st.integers(1, 90)), min_size=1)


@few_or_many(10, 40, SERVERS, st.integers(1, 3), st.sampled_from(["", WINDOW, "22:00-06:00"]), st.data())
def test_every_proposal_keeps_rhythm_window_and_names_and_is_never_worse(
    servers: dict[str, tuple[str, int]], slots: int, window: str, data: st.DataObject
) -> None:
    fixed = {name: one for name, one in servers.items() if not one[0].startswith("@every")}
    if not fixed:
        return
    kept = tuple(data.draw(st.lists(st.sampled_from(sorted(fixed)), unique=True, max_size=2)))
    version = data.draw(st.sampled_from(["1.18.3", "1.18"]))
    found = _spread(_server(fixed, slots, version), window, kept)
    assert not found.strain_after.is_worse_than(found.strain_before)
    assert not {shift.ref.name for shift in found.shifts} & set(kept)
    dialects = (Dialect.NETRESEARCH,) if version == "1.18.3" else (Dialect.ROBFIG, Dialect.NETRESEARCH)
    for shift in found.shifts:
        for dialect in dialects:
            _is_same_rhythm(shift.before, shift.after, shift.minutes, dialect)
        if window:
            _stays_in(read_window(window), shift.before, shift.after)
        else:
            assert {run.hour for run in _runs(shift.after, dialects[0])} == {
                run.hour for run in _runs(shift.before, dialects[0])
            }


def _is_same_rhythm(before: str, after: str, minutes: int, dialect: Dialect) -> None:
    by = timedelta(minutes=minutes)
    wanted = [run + by for run in _runs(before, dialect, timedelta(days=39))]
    assert _runs(after, dialect)[: len(wanted)] == wanted, "from now on each run moves by as much, and none is added"


def _stays_in(window: Window, before: str, after: str) -> None:
    inside = [window.has(run) for run in _runs(before, Dialect.NETRESEARCH, timedelta(days=1))]
    then = [window.has(run) for run in _runs(after, Dialect.NETRESEARCH, timedelta(days=2))]
    assert then[: len(inside)] == inside
    assert any(inside)


@given(CRONS, st.integers(-59, 59), st.sampled_from([(one,) for one in ALL_DIALECTS] + [ALL_DIALECTS]))
def test_a_shifted_expression_is_read_alike_by_all_dialects_or_not_proposed(
    cron: str, minutes: int, dialects: tuple[Dialect, ...]
) -> None:
    parsed = expression(cron, dialects[-1])
    if not isinstance(parsed, CronSchedule) or parsed.every is not None:
        return
    lowest = (parsed.fields.minute & -parsed.fields.minute).bit_length() - 1
    if lowest + minutes < 0 or parsed.fields.minute.bit_length() - 1 + minutes > 59:
        return
    text = shifted_text(cron, parsed, minutes, dialects)
    if text is None:
        return
    for dialect in dialects:
        read = expression(text, dialect)
        assert isinstance(read, CronSchedule)
        assert (read.fields.hour, read.fields.dom, read.fields.month, read.fields.dow) == (
            parsed.fields.hour,
            parsed.fields.dom,
            parsed.fields.month,
            parsed.fields.dow,
        )


@pytest.fixture
def file(tmp_path: Path) -> str:
    def item(kind: str, name: str, spec: Any, status: Any, created: str, labels: Any = None) -> dict[str, Any]:
        meta = {"name": name, "namespace": "velero", "creationTimestamp": created, "labels": labels or {}}
        return {"apiVersion": "velero.io/v1", "kind": kind, "metadata": meta, "spec": spec, "status": status}

    items = []
    for name in ("first", "second"):
        spec = {"schedule": "0 2 * * *", "template": {"includedNamespaces": [name]}}
        status = {"phase": "Enabled", "lastBackup": "2026-11-15T02:00:03Z"}
        items.append(item("Schedule", name, spec, status, "2026-11-01T00:00:00Z"))
        for day in (12, 13, 14, 15):
            at = f"2026-11-{day}T02"
            ran = {"phase": "Completed", "startTimestamp": f"{at}:00:04Z", "completionTimestamp": f"{at}:40:04Z"}
            labels = {"velero.io/schedule-name": name}
            backup_name = f"{name}-202611{day}020003"
            items.append(item("Backup", backup_name, spec["template"], ran, f"{at}:00:03Z", labels))
    path = tmp_path / "objects.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


GIVEN = ("--velero-version", "1.18.3", "--at", NOW.isoformat())


def test_the_command_prints_the_change_the_gain_and_what_to_type(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spread", "-f", file, *GIVEN, "--window", WINDOW]) == 0
    told = capsys.readouterr().out
    assert "SCHEDULE" in told
    assert "less waiting" in told
    assert "Before: 0.0 lost" in told
    assert "kubectl -n velero patch schedules.velero.io" in told


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_scripts_get_patches(form: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    assert run(["spread", "-f", file, *GIVEN, "-o", form]) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    (shift,) = found["shifts"]
    (patch,) = shift["patches"]
    assert patch["patch"]["spec"]["schedule"] == shift["after"]
    assert found["before"]["average"]["waitSeconds"] > found["after"]["average"]["waitSeconds"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--window", "5-1"), "is not a valid window"),
        (("--keep", "nobody"), "There is no schedule nobody in velero"),
        (("--tz", "Mars/Base"), "is not a valid time zone"),
    ],
)
def test_bad_input_is_one_line(
    asked: tuple[str, ...], said: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spread", "-f", file, *GIVEN, *asked]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert said in lines[0]
