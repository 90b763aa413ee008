"""The longest that a text of a megabyte, in any field of any kind, keeps a processor busy at one entry point."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from trials.bench import Figure
from trials.chaos.long_strings import TEXTS, everywhere, slowest_entry

_GOAL = 100


def measure() -> Iterable[Figure]:
    for kind, places in groupby(everywhere(), key=lambda place: place.kind.name):
        (seconds, where), place = max(
            (slowest_entry(place, TEXTS[number % len(TEXTS)]), str(place)) for number, place in enumerate(places)
        )
        yield Figure(f"1 MB in a text of {kind}", seconds * 1e3, _GOAL, "ms", f"{place}: {where}")
