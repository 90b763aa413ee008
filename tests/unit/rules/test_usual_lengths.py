from __future__ import annotations

from foretop_core.rules.night.lengths import Lengths, by_items
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
