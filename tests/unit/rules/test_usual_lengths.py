from __future__ import annotations

import math
from datetime import timedelta
from random import Random
from statistics import median
from typing import Any

import pytest

from foretop_core.models import Backup
from foretop_core.rules.night.lengths import (
    LateHandovers,
    Lengths,
    RunHistory,
    Source,
    by_items,
    usual_length,
    usual_sample,
)
from foretop_core.rules.queue.namespace_claims import claim
from foretop_core.rules.queue.owners import Owner, OwnerKind, owner_of
from foretop_core.rules.schedule_history import run_length
from tests.objects import NOW, backup


def test_absurd_progress_gives_no_estimate() -> None:
    run = backup("odd", "InProgress", started="02:00:00", progress={"totalItems": 10**12, "itemsBackedUp": 1})
    assert by_items(run, 2400.0) is None


def test_progress_alone_gives_an_estimate() -> None:
    run = backup("even", "InProgress", started="02:00:00", progress={"totalItems": 100, "itemsBackedUp": 50})
    started = run.status.start_timestamp
    assert started is not None
    elapsed = (NOW - started).total_seconds()
    assert Lengths().left(elapsed, None, by_items(run, elapsed)) == elapsed


def test_a_run_has_a_length_once_it_has_ended_and_so_far_where_it_goes_on() -> None:
    done = backup("done", started="02:00:00", ended="02:10:00")
    going = backup("going", "InProgress", started="02:40:07")
    assert run_length(done) == run_length(done, NOW) == timedelta(minutes=10)
    assert (run_length(going), run_length(going, NOW)) == (None, timedelta(minutes=1))
    assert run_length(backup("waits", "Queued"), NOW) is None
    assert run_length(backup("absurd", started="02:10:00", ended="02:00:00")) is None
    assert run_length(backup("no-end", "Failed", started="02:00:00"), NOW) is None


def test_the_usual_length_is_said_of_the_good_runs_that_it_is_the_median_of() -> None:
    hours = [f"0{hour}" for hour in range(3)]
    good = [backup(at, created=f"{at}:00:00", started=f"{at}:00:00", ended=f"{at}:10:00") for at in hours]
    failed = [backup(f"{at}-f", "Failed", created="00:30", started=f"{at}:30", ended=f"{at}:31") for at in hours[:2]]
    synced = backup("synced", created="02:40", started="00:00", ended="00:20")
    runs = [*good, *failed, synced]
    assert (usual_length(runs), usual_sample(runs)) == (timedelta(minutes=10), 3)
    assert (usual_length(failed), usual_sample(failed)) == (None, 0)


@pytest.mark.parametrize("spread", [0.1, 0.25])
def test_nine_in_ten_of_the_draws_hold_nine_in_ten_of_the_runs_to_come(spread: float) -> None:
    """Twenty runs have not seen everything: their own nine tenths hold less than that of the next ones."""
    inside, tries = 0, 600
    for seed in range(tries):
        random = Random(seed)
        *seen, coming = (600 * math.exp(random.gauss(0.0, spread)) for _ in range(21))
        drawn = sorted(Lengths(tuple(seen)).draw(random, 400))
        inside += drawn[20] <= coming <= drawn[380]
    assert 0.88 <= inside / tries <= 0.94


@pytest.mark.parametrize(
    ("seconds", "elapsed", "left"),
    [
        ((), 60.0, math.inf),
        ((600.0, 900.0, 300.0), 60.0, 540.0),
        ((600.0, 900.0, 300.0), 300.0, 450.0),
        ((600.0, 900.0, 300.0), 600.0, 180.0),
        ((600.0,), 60.0, 540.0),
        ((600.0,), 600.0, 180.0),
        ((60.5, 60.5), 60.0, 1.0),
        ((1.0,) * 10 + (600.0,) * 10, 1.0, 1.0),
    ],
)
def test_a_run_is_left_as_long_as_two_of_the_last_ten_that_took_longer_or_a_share_of_what_it_took(
    seconds: tuple[float, ...], elapsed: float, left: float
) -> None:
    assert Lengths(seconds).left(elapsed, None, None) == left
    assert Lengths(seconds).left(elapsed, None, elapsed + 30.0) == 30.0, "its own items tell better"
    assert Lengths(seconds).left(elapsed, None, elapsed + 0.5) == 1.0


@pytest.mark.parametrize(
    ("elapsed", "by_items", "left"), [(300.0, None, 300.0), (1000.0, None, 300.0), (300.0, 400.0, 100.0)]
)
def test_what_is_drawn_to_be_left_lies_about_what_is_likely(
    elapsed: float, by_items: float | None, left: float
) -> None:
    drawn = [Lengths((600.0,) * 5).left(elapsed, Random(seed), by_items) for seed in range(200)]
    assert median(drawn) == pytest.approx(left, rel=0.1)


@pytest.mark.parametrize(("count", "seconds", "sample"), [(2, None, 2), (3, 60, 3), (10, 60, 10), (20, 60, 10)])
def test_the_last_ten_runs_tell_the_usual_length(count: int, seconds: int | None, sample: int) -> None:
    lengths = [60] * 10 + [600] * 10
    runs = []
    for age, length in enumerate(lengths[:count]):
        begun = NOW - timedelta(days=1 + age)
        ended = begun + timedelta(seconds=length)
        created, started, done = begun.isoformat(), begun.isoformat(), ended.isoformat()
        runs.append(backup(f"run-{age}", created=created, started=started, ended=done))
    assert usual_length(runs) == (None if seconds is None else timedelta(seconds=seconds))
    assert usual_sample(runs) == sample


@pytest.mark.parametrize(
    ("done", "total", "length"), [(0, 4, None), (1, 4, 400.0), (3, 4, 400 / 3), (4, 4, None), (0, 0, None)]
)
def test_items_tell_the_length_between_the_first_and_the_last_of_them(
    done: int, total: int, length: float | None
) -> None:
    run = backup("one", "InProgress", progress={"totalItems": total, "itemsBackedUp": done})
    assert by_items(run, 100.0) == length


_HAND, _NIGHTLY, _NAB = (
    Owner(OwnerKind.HAND),
    Owner(OwnerKind.SCHEDULE, "velero", "nightly"),
    Owner(OwnerKind.NAB, "team-a", "orders"),
)


@pytest.mark.parametrize(
    ("lengths", "owner", "elapsed", "why"),
    [
        (Lengths((60.0,) * 3), _NIGHTLY, 59.0, ""),
        (Lengths((60.0,) * 3), _NIGHTLY, 60.0, "already longer than the last 3 runs"),
        (Lengths((60.0, 90.0, 60.0)), _NIGHTLY, 60.0, "already longer than 2 of the last 3 runs"),
        (Lengths((60.0,) * 9 + (90.0,) * 3), _NIGHTLY, 60.0, "already longer than 9 of the last 12 runs"),
        (Lengths((60.0,) * 2), _NIGHTLY, 0.0, "too few earlier runs of schedule nightly: 2, needs 3"),
        (Lengths((60.0,) * 9, Source.ALIKE), _NAB, 0.0, "too few earlier runs of nabs of team-a: 0, needs 3"),
        (Lengths((60.0,) * 9, Source.SERVER), _HAND, 0.0, "created by hand, no earlier runs to compare"),
    ],
)
def test_a_guess_says_why_it_is_one(lengths: Lengths, owner: Owner, elapsed: float, why: str) -> None:
    assert lengths.why_a_guess(owner, elapsed) == why
    assert lengths.tells(elapsed) is not bool(why)


def _runs(minutes: int, count: int, **how: Any) -> list[Backup]:
    """So many good runs, each of so many minutes."""
    return [
        backup(f"{minutes}-{n}", created=f"0{n}:00", started=f"0{n}:00", ended=f"0{n}:{minutes}", **how)
        for n in range(count)
    ]


def _of_tenant(name: str, namespace: str = "team-a") -> dict[str, str]:
    return {"openshift.io/oadp-nab-origin-name": name, "openshift.io/oadp-nab-origin-namespace": namespace}


_SHOP = {"includedNamespaces": ["shop"]}


@pytest.mark.parametrize(
    ("runs", "owner", "lengths"),
    [
        (_runs(10, 2, of="nightly"), _NIGHTLY, Lengths((600.0,) * 2)),
        ([*_runs(10, 1, of="nightly"), *_runs(20, 5, of="other")], _NIGHTLY, Lengths((600.0,))),
        (_runs(20, 2, of="other", spec=_SHOP), _NIGHTLY, Lengths((1200.0,) * 2, Source.ALIKE)),
        (_runs(20, 5, of="other"), _NIGHTLY, Lengths((1200.0,) * 5, Source.SERVER)),
        (_runs(20, 4, of="other"), _NIGHTLY, Lengths((), Source.SERVER)),
        (
            [*_runs(10, 3, annotations=_of_tenant("orders")), *_runs(20, 9, annotations=_of_tenant("carts"))],
            _NAB,
            Lengths((600.0,) * 3),
        ),
        (
            [
                *_runs(10, 2, annotations=_of_tenant("orders")),
                *_runs(20, 2, annotations=_of_tenant("orders", "team-b")),
            ],
            _NAB,
            Lengths((600.0,) * 2),
        ),
        (_runs(20, 2, annotations=_of_tenant("carts")), _NAB, Lengths((1200.0,) * 2)),
        (_runs(20, 5), _HAND, Lengths((1200.0,) * 5, Source.SERVER)),
    ],
)
def test_its_own_runs_tell_first_then_its_teams_those_of_its_namespaces_and_those_of_the_server(
    runs: list[Backup], owner: Owner, lengths: Lengths
) -> None:
    def runs_of(wanted: Owner) -> list[Backup]:
        same = (owner_of(run) for run in runs)
        name = wanted.name if wanted.kind is OwnerKind.SCHEDULE else ""
        return [
            run
            for run, one in zip(runs, same, strict=True)
            if (one.kind, one.namespace) == (wanted.kind, wanted.namespace) and one.name.startswith(name)
        ]

    for history in (RunHistory(lambda: runs), RunHistory(lambda: runs, runs_of)):
        assert history.of(owner, Backup, claim(backup("next", spec=_SHOP))) == lengths


def test_few_hand_overs_are_taken_as_on_other_servers_and_many_as_they_were() -> None:
    many = 10 + 6 * 19 / 68
    for seen, late, slots, short, long in (
        ((0, 0), (0, 0), 1, 19 / 68, 19 / 68),
        ((0, 0), (0, 0), 2, 1 / 24, 1 / 24),
        ((0, 0), (0, 0), 5, 1 / 24, 1 / 24),
        ((10, 0), (10, 0), 1, (10 + 4 * many / 16) / 14, many / 16),
    ):
        found = LateHandovers(seen, late, slots)
        assert (found.shares(None).short_queue, found.shares(None).long_queue) == pytest.approx((short, long))
        drawn = [found.shares(Random(seed)) for seed in range(400)]
        assert sum(one.short_queue for one in drawn) / 400 == pytest.approx(short, abs=0.05)
        assert sum(one.long_queue for one in drawn) / 400 == pytest.approx(long, abs=0.05)
