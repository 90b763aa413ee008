"""Two nights beside each other in numbers."""

from __future__ import annotations

from datetime import UTC, timedelta

from foretop_core.rooms.what_if.numbers import nights_compared
from foretop_core.rules.night.night import Night
from foretop_core.rules.night.outlook import outlook
from tests.objects import NOW
from tests.unit.tables.test_night_words import crowded


def test_a_crowded_night_and_an_empty_one_stand_beside_each_other_in_numbers() -> None:
    empty = Night("velero", NOW, NOW + timedelta(days=1), slots=2)
    assert nights_compared(outlook(empty), outlook(crowded()), UTC) == (
        ("Runs", "0", "4"),
        ("Slots", "0 of 2", "1 of 1"),
        ("Waiting", "nobody over a minute", "1 at 03:00"),
        ("Longest", "none", "10 minutes"),
        ("By 06:00", "no runs", "not all"),
        ("Done", "not known", "05:10"),
        ("90% sure", "not known", "05:10"),
        ("Late", "0", "0"),
        ("Lost", "0", "0"),
        ("Refused", "0", "1"),
    )
