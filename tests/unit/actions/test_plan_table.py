"""The table of a plan for many: numbers that are facts, worst first, in columns that fit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from foretop_core.actions.planners.backups import plan_back_up_now
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause, plan_unpause
from foretop_core.dashboard.plan_table import (
    Lines,
    PlanColumn,
    PlanTable,
    choice_axis,
    offered_choices,
    plan_table,
    unpause_choices,
    written,
)
from foretop_core.models import Schedule
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
from foretop_core.rules.facts.pause_facts import MOST_MISSED, pause_effect, unpause_effect
from foretop_core.rules.facts.run_facts import queue_line
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.pauses import PAUSED_BY
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.tables.engine.drawings import Piece
from tests.objects import NOW, backup, location, schedule, upload

UNTIL = NOW + timedelta(hours=2)

_GAP = timedelta(minutes=30)


def snapshot_of(*schedules: Schedule, skip_default: bool | None = False, **more: Any) -> ClusterSnapshot:
    servers = {"velero": VeleroInfo(skip_immediately=skip_default, concurrency=1)}
    return ClusterSnapshot("prod", schedules=schedules, storage=(location(),), servers=servers, **more)


def lines_of(snapshot: ClusterSnapshot) -> Lines:
    return lambda _, namespace, planned: queue_line(snapshot, namespace, NOW, planned=planned)


def table_of(snapshot: ClusterSnapshot, *, choice: Choice | None = None, until: Any = UNTIL) -> PlanTable:
    plan = (
        plan_pause(snapshot, snapshot.schedules, PauseRequest("maria", "w1", "", until), NOW)
        if choice is None
        else plan_unpause(snapshot, snapshot.schedules, choice, NOW)
    )
    return plan_table(plan, lines_of(snapshot))


def texts(table: PlanTable) -> list[list[str]]:
    return [[piece.text for piece in row] for row in table.rows]


def test_a_column_that_would_be_cut_gets_the_cells_that_no_other_needs() -> None:
    columns = (PlanColumn("NAME", 24), PlanColumn("BACKUP NOW", 13), PlanColumn("NEXT RUN", 14))
    rows = tuple(tuple(map(Piece, row)) for row in (("etcd", "yes, waits 2m30s", "04:00"), ("wiki", "no", "04:10")))
    table = PlanTable((), columns, rows)
    assert table.lines(60) == [
        "NAME  BACKUP NOW        NEXT RUN",
        "etcd  yes, waits 2m30s  04:00",
        "wiki  no                04:10",
    ]
    assert table.lines(29)[1] == "etcd  yes, waits 2…  04:00"


def test_a_long_result_gets_the_room_that_the_names_leave() -> None:
    told = "Velero picked it up 15:12:53Z and skips what was due"
    rows = ((Piece("sessions-15m"), Piece(told)),)
    table = PlanTable((), (PlanColumn("NAME", 24), PlanColumn("RESULT")), rows)
    assert table.lines(70)[1] == f"sessions-15m  {told}"


@pytest.mark.parametrize(
    ("cron", "last", "hours", "misses", "first"),
    [
        ("*/5 * * * *", "02:40:03", 2, 24, "02:45"),
        ("0 * * * *", "02:00:03", 2, 2, "03:00"),
        ("30 4 * * *", "2026-11-14T04:30:03Z", 2, 1, "04:30"),
        ("0 5 * * *", "2026-11-14T05:00:03Z", 2, 0, None),
        ("@every 30m", "02:40:03", 2, 4, "03:10"),
        ("@every 2h", "02:41:07", 2, 1, "04:41"),
        ("@every 2h", "02:41:08", 2, 0, None),
        ("0 * * * *", "01:00:03", 2, 3, "02:00"),
        ("61 * * * *", "", 2, 0, None),
        ("* * * * *", "02:41:03", 24 * 365, MOST_MISSED, "02:42"),
    ],
)
def test_a_pause_misses_the_runs_until_its_end(
    cron: str, last: str, hours: int, misses: int, first: str | None
) -> None:
    item = schedule("x", cron, last=last)
    effect = pause_effect(schedule_facts(snapshot_of(item), item, NOW), NOW + timedelta(hours=hours), _GAP)
    assert effect.misses == misses
    assert (f"{effect.first_missed:%H:%M}" if effect.first_missed else None) == first


@pytest.mark.parametrize(("cron", "so_far"), [("*/5 * * * *", 8), ("@every 10m", 4), ("0 5 * * *", 0)])
def test_a_pause_that_is_extended_misses_its_runs_from_its_beginning(cron: str, so_far: int) -> None:
    """The dialog that ends it counts the same ones."""
    item = schedule("x", cron, last="02:00:03", paused=True, annotations={PAUSED_BY: "maria"})
    snapshot = snapshot_of(item)
    facts = schedule_facts(snapshot, item, NOW)
    misses = [pause_effect(facts, NOW + timedelta(hours=hours), _GAP).misses for hours in (0, 1)]
    assert misses[0] == so_far == unpause_effect(facts, Choice.DO_NOT_SKIP).forecast.missed
    assert misses[1] - so_far == {"*/5 * * * *": 12, "@every 10m": 6}.get(cron, 0)
    again = PauseRequest("maria", "w1", until=UNTIL, again=frozenset({snapshot.ref(item)}), changes_end=True)
    (row,) = texts(plan_table(plan_pause(snapshot, [item], again, NOW), lines_of(snapshot)))
    assert row[3] == {"*/5 * * * *": "02:05", "@every 10m": "02:10"}.get(cron, "")


@pytest.mark.parametrize(("minutes", "gap", "late"), [(5, 30, False), (20, 30, True), (20, 60, False), (5, 10, True)])
def test_a_copy_is_late_at_the_end_of_a_pause_where_protection_would_say_so(minutes: int, gap: int, late: bool) -> None:
    """Of a schedule every five minutes a copy is recent enough for the gap, however many runs it missed."""
    item = schedule("x", "*/5 * * * *", last="02:20:03")
    good = backup("x-1", of="x", started="02:20:03", ended="02:21:03")
    facts = schedule_facts(snapshot_of(item, backups=(good,)), item, NOW)
    assert pause_effect(facts, NOW + timedelta(minutes=minutes), timedelta(minutes=gap)).is_late is late


def test_pausing_many_is_a_table_with_what_runs_first_and_then_most_misses() -> None:
    items = [schedule(name, cron, last="02:40:03") for name, cron in (("a", "0 * * * *"), ("b", "*/5 * * * *"))]
    running = backup("c-1", "InProgress", of="c", created="02:40:03", started="02:40:03")
    good = backup("a-1", of="a", started="01:00:03", ended="01:01:03")
    snapshot = snapshot_of(*items, schedule("c", "0 4 * * *", last="02:40:03"), backups=(running, good))
    table = table_of(snapshot)
    assert table.text == "27 runs are missed until 04:41Z. 1 running backup goes on."
    assert [(row[0], row[1], row[2]) for row in texts(table)] == [
        ("c", "1", "04:00"),
        ("b", "24", "02:45"),
        ("a", "2", "03:00"),
    ]
    assert texts(table)[0][3].startswith("◐ ")
    assert [row[4] for row in texts(table)] == ["no copy", "no copy", "3h, 1h promised"]
    assert table.head(74, wide=False).split() == ["NAME", "MISSES", "FIRST", "MISSED", "RUNNING", "NOW"]
    assert "COPY BY THEN" in table.head(96)
    for at in range(3):
        assert len("".join(piece.text for piece in table.line(at, 74, wide=False))) <= 74


def test_a_running_backup_has_the_progress_that_the_queue_shows() -> None:
    """All of its items are done: what it works on are its volumes."""
    done = {"totalItems": 9, "itemsBackedUp": 9}
    running = backup("c-1", "WaitingForPluginOperations", of="c", created="02:40:03", started="02:40:03", progress=done)
    moving = upload("up", "InProgress", of="c-1", progress={"totalBytes": 400, "bytesDone": 100})
    item = schedule("c", "0 4 * * *", last="02:40:03")
    (row,) = texts(table_of(snapshot_of(item, backups=(running,), movements=(moving,))))
    assert row[3].startswith("◐ data 25%")


def test_the_end_of_a_running_backup_is_rounded_as_in_the_queue() -> None:
    started = [f"2026-11-{day}T02:40:03Z" for day in (11, 12, 13, 14)]
    past = [
        backup(f"c-{n}", of="c", created=at, started=at, ended=at.replace("02:40:03", "02:49:43"))
        for n, at in enumerate(started)
    ]
    running = backup("c-now", "InProgress", of="c", created="02:40:03", started="02:40:03")
    snapshot = snapshot_of(schedule("c", "40 2 * * *", last="02:40:03"), backups=(running, *past))
    item = lines_of(snapshot)("prod", "velero", ()).item(running)
    assert item is not None
    assert item.expected_end is not None
    assert f"{item.expected_end:%H:%M:%S}" == "02:49:43"
    (row,) = texts(table_of(snapshot))
    assert row[3] == "◐ ends 02:50"


def test_a_pause_of_all_schedules_says_whose_backups_go_on() -> None:
    items = [schedule(name, "0 * * * *", last="02:00:03") for name in ("a", "b")]
    asked = {NAB_NAMESPACE_ANNOTATION: "team-a", NAB_NAME_ANNOTATION: "orders"}
    of_tenant = backup("nab-1", created="02:00:03", started="02:00:03", ended="02:01:03", annotations=asked)
    by_hand = backup("mine", "InProgress", created="02:30:00", started="02:30:00")
    nobody, lead = "No backup of these schedules is running.", "4 runs are missed until 04:41Z."
    assert table_of(snapshot_of(*items)).text == f"{lead} {nobody}"
    told = table_of(snapshot_of(*items, backups=(of_tenant,))).text
    assert told == f"{lead} {nobody} Tenants' backups go on."
    told = table_of(snapshot_of(*items, backups=(of_tenant, by_hand))).text
    assert told == f"{lead} {nobody} Tenants' backups and backups by hand go on."
    old = backup("nab-0", created="2026-11-13T02:00:03Z", ended="2026-11-13T02:01:03Z", annotations=asked)
    assert table_of(snapshot_of(*items, backups=(old,))).text == f"{lead} {nobody}"
    snapshot = snapshot_of(*items, backups=(of_tenant,))
    apart = [plan_pause(snapshot, [item], PauseRequest("maria", "w1", "", UNTIL), NOW) for item in items]
    joined = msgspec.structs.replace(apart[0], steps=(*apart[0].steps, *apart[1].steps))
    assert plan_table(joined, lines_of(snapshot)).text.endswith("go on."), "a dialog plans one after the other"
    one = plan_pause(snapshot, items[:1], PauseRequest("maria", "w1", "", UNTIL), NOW)
    assert plan_table(one, lines_of(snapshot)).text.endswith("running."), "the other schedule goes on as well"


def test_a_pause_without_an_end_says_what_a_day_costs() -> None:
    table = table_of(snapshot_of(schedule("a", "0 * * * *", last="02:00:03")), until=None)
    assert table.text == "No end given: 24 runs are missed in 24 hours. No backup of this schedule is running."


def test_unpausing_many_says_for_each_whether_a_backup_starts_now() -> None:
    due, calm = (
        schedule("due", "0 * * * *", last="00:00:03", paused=True),
        schedule("calm", last="02:00:03", paused=True),
    )
    skipped = table_of(snapshot_of(calm, due), choice=Choice.SKIP)
    assert skipped.text == "No backup is created now; 1 skips what is due; 1 not due (nothing to skip)."
    assert texts(skipped)[0][:4] == ["due", "01:00", "2", "no"]
    run = table_of(snapshot_of(calm, due), choice=Choice.DO_NOT_SKIP)
    assert run.text == "1 backup is created now; 1 not due."
    assert [row[3] for row in texts(run)] == ["yes", "no"]
    assert texts(run)[1][1:3] == ["", ""]


def test_each_choice_of_unpausing_one_is_a_row() -> None:
    good = backup("due-1", of="due", started="00:00:03", ended="00:01:03")
    item = schedule("due", "0 * * * *", last="00:00:03", paused=True)
    snapshot = snapshot_of(item, backups=(good,))
    found = unpause_choices(schedule_facts(snapshot, item, NOW), lines_of(snapshot), tuple(Choice), ("s", "d", "l"))
    assert texts(found) == [
        ["s", "no", "03:00 in 18m", "up to 2h59m"],
        ["d", "yes", "03:00 in 18m", "from 02:41"],
        ["l", "yes", "03:00 in 18m", "from 02:41"],
    ]


@pytest.mark.parametrize(
    ("field", "default", "offered"),
    [
        (None, False, (Choice.SKIP, Choice.LEAVE)),
        (False, None, (Choice.SKIP, Choice.LEAVE)),
        (True, None, (Choice.LEAVE, Choice.DO_NOT_SKIP)),
        (None, None, (Choice.SKIP, Choice.DO_NOT_SKIP, Choice.LEAVE)),
        (None, True, (Choice.SKIP, Choice.DO_NOT_SKIP, Choice.LEAVE)),
    ],
)
def test_what_a_schedule_does_by_itself_is_one_row(
    field: bool | None, default: bool | None, offered: tuple[Choice, ...]
) -> None:
    """A server's default to skip cannot be relied on: its releases forget it after one use."""
    item = schedule("due", "0 * * * *", last="00:00:03", paused=True, skip=field)
    snapshot = snapshot_of(item, skip_default=default)
    assert offered_choices([schedule_facts(snapshot, item, NOW)]) == offered


def test_the_choices_stand_on_one_axis_with_wait_and_run() -> None:
    past = [
        backup(f"{name}-{n}", of=name, created=f"0{n}:00:03", started=f"0{n}:00:03", ended=f"0{n}:10:03")
        for name in ("a", "due")
        for n in range(3)
    ]
    busy = backup("a-9", "InProgress", of="a", created="02:40:03", started="02:40:03")
    item = schedule("due", "0 * * * *", last="01:00:03", paused=True)
    snapshot = snapshot_of(item, backups=(*past, busy))
    drawn = choice_axis(schedule_facts(snapshot, item, NOW), lines_of(snapshot), tuple(Choice), ("s", "d", "l"), 96)
    head, skip, run, _ = ("".join(piece.text for piece in one)[28:].rstrip() for one in drawn)
    assert head.startswith("now")
    at = head.index("03:00")
    assert skip[:at].strip("│ ┊") == ""
    assert skip[at : at + 10] == "▆" * 10
    assert run.startswith("│" + "░" * 9 + "▆" * 10)
    assert run[at : at + 10] == "▆" * 10
    assert all(sum(len(piece.text) for piece in one) <= 96 for one in drawn)


def test_a_run_that_is_refused_is_a_cross() -> None:
    item = schedule("due", "0 * * * *", last="01:00:03", paused=True)
    refused = msgspec.structs.replace(snapshot_of(item), storage=(location(phase="Unavailable"),))
    drawn = choice_axis(schedule_facts(refused, item, NOW), lines_of(refused), tuple(Choice), ("s", "d", "l"), 96)
    assert [sum(piece.text == "×" for piece in one) for one in drawn] == [0, 1, 2, 2]


def test_a_backup_that_waits_behind_others_says_how_long() -> None:
    past = [
        backup(f"a-{n}", of="a", created=f"0{n}:00:03", started=f"0{n}:00:03", ended=f"0{n}:10:03") for n in range(2)
    ]
    busy = backup("a-9", "InProgress", of="a", created="02:40:03", started="02:40:03")
    item = schedule("due", "0 * * * *", last="00:00:03", paused=True)
    snapshot = snapshot_of(item, backups=(*past, busy))
    (row,) = texts(table_of(snapshot, choice=Choice.DO_NOT_SKIP))
    (now,) = plan_back_up_now(snapshot, [item], NOW).steps
    assert row[3] == "yes, waits 9m"
    assert "about 02:50Z, in 9 minutes;" in now.forecast


def test_of_several_that_are_created_at_once_each_waits_for_those_before_it() -> None:
    past = [
        backup(f"{name}-{n}", of=name, created=f"0{n}:00:03", started=f"0{n}:00:03", ended=f"0{n}:10:03")
        for name in ("a", "b", "c")
        for n in range(2)
    ]
    due = [schedule(name, "0 * * * *", last="01:00:03", paused=True) for name in ("a", "b", "c")]
    rows = texts(table_of(snapshot_of(*due, backups=tuple(past)), choice=Choice.DO_NOT_SKIP))
    assert [row[3] for row in rows] == ["yes", "yes, waits 10m", "yes, waits 21m"]


def test_what_is_written_counts_the_notes_of_foretop_and_names_all_else() -> None:
    notes = [f"annotation foretop.io/paused-{name}: x" for name in ("by", "at", "batch")]
    assert written(["spec.paused false → true", *notes]) == "spec.paused false → true and 3 annotations"
    gone = [f"annotation foretop.io/paused-{name} removed (was x)" for name in ("by", "at")]
    assert written(["spec.paused true → false", *gone]) == (
        "spec.paused true → false and removes 2 annotations of the window"
    )
    assert written(["annotation foretop.io/paused-by: x"]) == "annotation foretop.io/paused-by: x"


def test_the_numbers_of_unpausing_add_up_to_the_fields_that_are_set() -> None:
    due, soon, calm, often = (
        schedule(name, cron, last=last, paused=True)
        for name, cron, last in (
            ("due", "0 * * * *", "00:00:03"),
            ("soon", f"{NOW.minute + 1} * * * *", f"{NOW.hour:02}:{NOW.minute - 1:02}:03"),
            ("calm", "0 20 * * *", "02:00:03"),
            ("often", "@every 2h", "02:00:03"),
        )
    )
    snapshot = snapshot_of(due, soon, calm, often)
    plan = plan_unpause(snapshot, snapshot.schedules, Choice.SKIP, NOW)
    assert sum("skipImmediately" in step.write.body["spec"] for step in plan.steps) == 4
    told = table_of(snapshot, choice=Choice.SKIP).text
    assert told == (
        "No backup is created now; 1 skips what is due; 3 not due (nothing to skip of 2, 1 starts its delay again); "
        "1 skips its next run too if it falls due first."
    )


def test_a_plan_of_several_counts_those_that_skip_a_run_which_falls_due_first() -> None:
    near = [schedule(name, "42 * * * *", last="00:42:03", paused=True) for name in ("one", "two")]
    far = schedule("far", "0 * * * *", last="00:00:03", paused=True)
    told = table_of(snapshot_of(*near, far), choice=Choice.SKIP).text
    assert told == "No backup is created now; 3 skip what is due; 2 skip their next run too if it falls due first."
