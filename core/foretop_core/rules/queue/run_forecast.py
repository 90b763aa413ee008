"""When a run is expected to start and to end, with the range of each."""

from __future__ import annotations

from datetime import datetime

import msgspec

from foretop_core.rules.sentences import Text


class Range(msgspec.Struct, frozen=True):
    """A moment that is likely, with the range of half and of nine in ten courses."""

    likely: datetime
    half: tuple[datetime, datetime]
    most: tuple[datetime, datetime]
    by: datetime | None = None
    """In nine of ten courses it is reached by this."""


class RunForecast(msgspec.Struct, frozen=True):
    """The start and end of one backup or restore that exists and has not ended; None where that is not known."""

    start: Range | None = None
    end: Range | None = None
    basis: int = 0
    """The number of earlier runs that tell how long it takes."""
    guess: Text = ""
    """Why its length is a guess; "" where its own runs, items or volumes tell it."""
    unknown: Text = ""
    """Why its length is not known."""


NOTHING_FORESEEN = RunForecast()
