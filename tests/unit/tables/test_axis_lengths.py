"""How long a run takes, as cells behind it."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.tables.timeline.time_axis import with_lengths


def test_a_run_is_as_long_as_it_usually_takes() -> None:
    assert with_lengths("|     |  ", timedelta(minutes=20), 6) == "|===  |=="
    assert with_lengths("||    |  ", timedelta(minutes=20), 6) == "||=== |=="
    assert with_lengths("|  : ", timedelta(minutes=59), 6) == "|==: "
    assert with_lengths("|    ", timedelta(minutes=5), 6) == "|    "
