from __future__ import annotations

import math
from datetime import timedelta
from random import Random

import pytest

from foretop_core.rules.night.lengths import Lengths, by_items, usual_length, usual_sample
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
