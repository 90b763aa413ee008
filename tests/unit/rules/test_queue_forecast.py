"""Expected starts and ends: from which runs, simulated forward, and unknown without enough data."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import strategies as st
from msgspec.structs import replace

from foretop_core.models import Backup
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.lengths import known_lengths
from foretop_core.rules.night.open_queue import open_forecasts
from foretop_core.rules.night.server_model import restores_model, server_model
from foretop_core.rules.queue import QueueItem, queue
from foretop_core.rules.queue.namespace_claims import claim, shared_namespaces
from foretop_core.rules.snapshot import VeleroInfo
from tests.examples import few_or_many
from tests.objects import NOW, restore, schedule
from tests.unit.rules.runs_and_recordings import NOON, at, backup, past


def expect(runs: list[Backup], now: datetime = NOON, concurrency: int = 1) -> dict[str, QueueItem]:
    """By the likely course, in which nothing is random."""
    server = VeleroInfo(concurrency=concurrency, version="1.18.3")
    snapshot = replace(assemble(runs, given_versions={"": "1.18.3"}), servers={"velero": server})
    model = replace(server_model(snapshot, "velero", now, now + timedelta(hours=3)), look=0.0)
    foreseen = open_forecasts(model, draws=0)
    found = queue(runs, now=now, concurrency=concurrency, has_queue_phase=True, foreseen=foreseen)
    return {entry.run.name: entry for entry in found.items}


def test_a_running_backup_ends_after_the_median_of_its_schedules_last_ten_runs() -> None:
    runs = [
        *past("daily", 90, 90, 10, 11, 12, 10, 11, 12, 10, 11, 12, 300),
        *past("other", 1, 1, 1, 1),
        backup("daily-now", "InProgress", created=-5, started=-5, schedule="daily"),
    ]
    found = expect(runs)["daily-now"]
    assert found.expected_end == at(-5 + 11)
    assert (found.basis, found.note, found.expected_start) == (12, "", None)
    assert found.running_for == timedelta(minutes=5)


def test_a_long_run_is_estimated_from_the_runs_that_took_longer() -> None:
    runs = [*past("daily", 10, 10, 10, 30, 40), backup("now", "InProgress", started=-20, schedule="daily")]
    assert expect(runs)["now"].expected_end == at(-20 + 35)


def test_the_end_of_a_run_longer_than_all_earlier_ones_is_a_guess() -> None:
    runs = [*past("daily", 10, 11, 12), backup("now", "InProgress", started=-20, schedule="daily")]
    found = expect(runs)["now"]
    assert (found.expected_end, found.is_guess) == (at(6), True)
    assert found.note == "already longer than the last 3 runs"


def test_one_longer_run_alone_does_not_tell_the_end() -> None:
    """Storage had held it up; the run under way is a little longer than usual."""
    runs = [*past("daily", 10, 10, 170, 10), backup("now", "InProgress", started=-11, schedule="daily")]
    found = expect(runs)["now"]
    assert found.is_guess
    assert found.expected_end is not None
    assert found.expected_end < at(10)
    assert found.note == "already longer than 3 of the last 4 runs"


def test_its_own_items_give_the_end_without_earlier_runs() -> None:
    runs = [backup("now", "InProgress", started=-20, items=(25, 100))]
    found = expect(runs)["now"]
    assert found.expected_end == at(60)
    assert found.basis == 0


def test_of_a_run_longer_than_all_earlier_ones_its_own_items_tell_and_those_do_not() -> None:
    runs = [*past("daily", 10, 11, 12), backup("now", "InProgress", started=-20, schedule="daily", items=(25, 100))]
    found = expect(runs)["now"]
    assert (found.expected_end, found.basis, found.note) == (at(60), 0, "")


def test_finished_items_give_no_end_while_volumes_are_under_way() -> None:
    assert expect([backup("now", "InProgress", started=-20, items=(100, 100))])["now"].expected_end is None


def test_too_few_runs_make_a_guess_that_is_reported() -> None:
    runs = [
        *past("other", 1, 1, 1, 1),
        *past("weekly", 60, 61),
        backup("now", "InProgress", started=-20, schedule="weekly"),
        backup("next", "Queued", place=1, schedule="other"),
    ]
    found = expect(runs)
    assert (found["now"].expected_end, found["now"].is_guess) == (at(40.5), True)
    assert found["now"].note == "too few earlier runs of schedule weekly: 2, needs 3"
    assert found["now"].basis == 2
    assert (found["next"].expected_start, found["next"].note) == (at(40.5), "")


def test_a_run_longer_than_the_few_that_are_known_has_no_end() -> None:
    """Of its schedule one run of a minute is known: a third of what it took so far is no evidence of when it ends."""
    runs = [
        *past("weekly", 1),
        *past("other", 1, 1, 1, 1),
        backup("now", "InProgress", started=-20, schedule="weekly"),
        backup("next", "Queued", place=1, schedule="other"),
    ]
    found = expect(runs)
    assert (found["now"].expected_end, found["now"].note) == (
        None,
        "too few earlier runs of schedule weekly: 1, needs 3",
    )
    assert found["next"].is_guess
    assert found["next"].note == "the end of now is not known: too few earlier runs of schedule weekly: 1, needs 3"


def test_nothing_is_guessed_where_no_run_of_the_server_tells() -> None:
    runs = [
        *past("other", 1, 1),
        backup("now", "InProgress", started=-20, schedule="weekly", namespaces=("a",)),
        backup("next", "Queued", place=1, schedule="other"),
    ]
    found = expect(runs)
    assert found["now"].expected_end is None
    assert found["now"].note == "too few earlier runs of schedule weekly: 0, needs 3"
    assert found["next"].expected_start is None
    assert found["next"].note == "the end of now is not known: too few earlier runs of schedule weekly: 0, needs 3"


def test_a_nab_is_estimated_by_its_name_or_else_by_its_team() -> None:
    team = [*past("", 10, 10, 10, nab="team-a/big"), *past("", 2, 2, 2, 2, nab="team-a/small")]
    assert expect([*team, backup("b", "InProgress", started=-1, nab="team-a/big")])["b"].expected_end == at(9)
    fresh = expect([*team, backup("n", "InProgress", started=-1, nab="team-a/new")])["n"]
    assert (fresh.expected_end, fresh.basis) == (at(1), 7)
    other = expect([*team, backup("o", "InProgress", started=-1, nab="team-b/big")])["o"]
    assert (other.is_guess, other.note) == (True, "too few earlier runs of nabs of team-b: 0, needs 3")


def test_failed_runs_and_other_clusters_are_ignored() -> None:
    runs = [
        backup("failed", "Failed", created=-50, started=-50, ended=-49, schedule="daily"),
        backup("synced", "Completed", created=-10, started=-50, ended=-49, schedule="daily"),
        backup("invalid", "FailedValidation", created=-50, schedule="daily"),
        backup("partial", "PartiallyFailed", created=-50, started=-50, ended=-40, schedule="daily"),
    ]
    assert known_lengths(runs) == (600.0,)


def test_the_queue_is_simulated_in_order() -> None:
    runs = [
        *past("a", 10, 10, 10),
        *past("b", 20, 20, 20),
        backup("a-now", "InProgress", started=-4, schedule="a", namespaces=("a",)),
        backup("b-next", "Queued", place=1, schedule="b", namespaces=("b",)),
        backup("a-next", "Queued", place=2, schedule="a", namespaces=("a",)),
    ]
    found = expect(runs)
    assert (found["b-next"].expected_start, found["b-next"].expected_end) == (at(6), at(26))
    assert (found["a-next"].expected_start, found["a-next"].expected_end) == (at(26), at(36))


def test_a_later_run_overtakes_one_with_a_namespace_conflict() -> None:
    runs = [
        *past("long", 60, 60, 60),
        *past("short", 5, 5, 5),
        backup("pay", "InProgress", started=0, schedule="long", namespaces=("team-pay",)),
        backup("shop", "InProgress", started=0, schedule="short", namespaces=("shop",)),
        backup("pay-2", "Queued", place=1, schedule="short", namespaces=("team-pay",)),
        backup("sales", "Queued", place=2, schedule="short", namespaces=("sales",)),
    ]
    found = expect(runs, concurrency=2)
    assert found["sales"].expected_start == at(5)
    assert found["pay-2"].expected_start == at(60)
    assert found["pay-2"].may_be_overtaken
    assert not found["sales"].may_be_overtaken


def test_a_slot_with_unknown_end_does_not_hide_the_other_slots() -> None:
    runs = [
        *past("short", 5, 5, 5),
        backup("stands", "InProgress", started=-40, namespaces=("etcd",)),
        backup("shop", "InProgress", started=0, schedule="short", namespaces=("shop",)),
        backup("sales", "Queued", place=1, schedule="short", namespaces=("sales",)),
        backup("etcd-2", "Queued", place=2, schedule="short", namespaces=("etcd",)),
        backup("etcd-3", "Queued", place=3, schedule="short", namespaces=("etcd",)),
    ]
    found = expect(runs, concurrency=2)
    assert found["sales"].expected_start == at(5)
    assert found["etcd-2"].expected_start is None
    why = "the end of stands is not known: created by hand, no earlier runs to compare"
    assert [found["etcd-2"].note, found["etcd-3"].note] == [why, why]


def test_with_a_free_slot_the_start_is_now() -> None:
    found = expect([*past("a", 10, 10, 10), backup("next", "Queued", place=1, schedule="a")])["next"]
    assert (found.expected_start, found.expected_end, found.hold) == (NOON, at(10), None)


NAMESPACES = st.lists(st.sampled_from(("a", "b", "c", "d", "a*", "*")), max_size=2, unique=True).map(tuple)


@st.composite
def lines(draw: st.DrawFn) -> tuple[list[Backup], int]:
    concurrency = draw(st.integers(1, 3))
    runs = [*past("s1", 1, 1, 1), *past("s3", 3, 3, 3), *past("s7", 7, 7, 7)]
    for number in range(draw(st.integers(0, 12))):
        running = number < concurrency and draw(st.booleans())
        runs.append(
            backup(
                f"b{number:02}",
                "InProgress" if running else "Queued",
                created=-1,
                started=0 if running else None,
                place=None if running else number + 1,
                namespaces=draw(NAMESPACES),
                excluded=draw(st.sampled_from(((), ("a",), ("b", "c")))),
                schedule=draw(st.sampled_from(("s1", "s3", "s7"))),
            )
        )
    return runs, concurrency


@few_or_many(25, 100, lines())
def test_the_starts_are_those_of_a_plain_simulation_minute_by_minute(drawn: tuple[list[Backup], int]) -> None:
    runs, concurrency = drawn
    found = expect(runs, concurrency=concurrency)
    line = [entry.run for entry in found.values() if isinstance(entry.run, Backup)]
    plain = _minute_by_minute(line, concurrency)
    assert {name: entry.expected_start for name, entry in found.items() if entry.waits} == {
        name: at(minute) for name, minute in plain.items()
    }


def _minute_by_minute(line: list[Backup], concurrency: int) -> dict[str, int]:
    """A plain simulation that checks every pair of runs at every minute."""
    length = {run.name: int(run.schedule_name[1:]) for run in line}
    ends = {run.name: length[run.name] for run in line if run.phase == "InProgress"}
    waiting = [run for run in line if run.phase == "Queued"]
    starts: dict[str, int] = {}
    minute = 0
    while waiting:
        going = [run for run in line if ends.get(run.name, -1) > minute]
        for run in list(waiting):
            ahead = [*going, *waiting[: waiting.index(run)]]
            meets = any(shared_namespaces(claim(run), claim(other)) for other in ahead)
            if len(going) < concurrency and not meets:
                starts[run.name], ends[run.name] = minute, minute + length[run.name]
                waiting.remove(run)
                going.append(run)
        minute += 1
    return starts


def test_of_the_restores_one_runs_one_finishes_and_the_rest_wait_in_order() -> None:
    phases = {"c": "New", "a": "InProgress", "b": "", "d": "Finalizing", "e": "Completed"}
    made = [restore(name, phase, created=f"02:00:0{place}") for place, (name, phase) in enumerate(phases.items())]
    model = restores_model(assemble(made), "velero", NOW)
    found = [[one.run.name for one in part] for part in (model.running, model.waiting, model.finishing)]
    assert found == [["a"], ["c", "b"], ["d"]]


def test_an_expression_that_never_comes_is_due_a_second_after_its_last_run() -> None:
    """Go's zero time is before every moment: Velero makes a backup at each look."""
    never = schedule("never", "0 0 30 2 *", last="2026-11-15T02:41:00Z")
    (planned,) = server_model(assemble([never]), "velero", NOW, NOW + timedelta(hours=1)).state.schedules
    assert (planned.first, planned.every) == (-6.0, 1.0)
