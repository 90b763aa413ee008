from __future__ import annotations

from foretop_core.rules.queue import run_history
from tests.objects import NOW, backup


def test_absurd_progress_gives_no_estimate() -> None:
    run = backup("odd", "InProgress", started="02:00:00", progress={"totalItems": 10**12, "itemsBackedUp": 1})
    assert run_history([]).expect(run, NOW).length is None


def test_progress_alone_gives_an_estimate() -> None:
    run = backup("even", "InProgress", started="02:00:00", progress={"totalItems": 100, "itemsBackedUp": 50})
    started = run.status.start_timestamp
    assert started is not None
    assert run_history([]).expect(run, NOW).length == 2 * (NOW - started)
