"""The queue simulated forward: the start of each run, given the expected lengths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush

import msgspec


class QueueState(msgspec.Struct, frozen=True):
    """The runs that hold a slot, with expected ends, and the waiting runs in order, with those each waits for.

    A length or an end of None is unknown: its slot counts as taken forever, so the start shown for another run is the
    latest to expect.
    """

    slots: int
    ends: Mapping[int, datetime | None]
    lengths: Mapping[int, timedelta | None]
    waits_for: Mapping[int, Sequence[int]]


class SimulatedStarts(msgspec.Struct):
    """The start of each waiting run; a missing one waits for one of the `endless`."""

    starts: dict[int, datetime] = msgspec.field(default_factory=dict)
    endless: list[int] = msgspec.field(default_factory=list)


def simulate_starts(line: QueueState, now: datetime) -> SimulatedStarts:
    """Simulate the queue: a free slot always goes to the first run without a conflict ahead."""
    played = SimulatedStarts(endless=[who for who, end in line.ends.items() if end is None])
    busy = [(max(end, now), who) for who, end in line.ends.items() if end is not None]
    heapify(busy)
    behind: defaultdict[int, list[int]] = defaultdict(list)
    open_waits = {who: len(line.waits_for[who]) for who in line.lengths}
    for who in line.lengths:
        for blocker in line.waits_for[who]:
            behind[blocker].append(who)
    ready = [who for who, count in open_waits.items() if count == 0]
    heapify(ready)
    free, moment = line.slots - len(line.ends), now
    while True:
        while free > 0 and ready:
            _start(heappop(ready), moment, line, played, busy)
            free -= 1
        if not busy:
            return played
        moment = busy[0][0]
        while busy and busy[0][0] == moment:
            free += 1
            for who in behind[heappop(busy)[1]]:
                open_waits[who] -= 1
                if open_waits[who] == 0:
                    heappush(ready, who)


def _start(
    who: int, moment: datetime, line: QueueState, played: SimulatedStarts, busy: list[tuple[datetime, int]]
) -> None:
    played.starts[who] = moment
    end = end_of(moment, line.lengths[who])
    if end is None:
        played.endless.append(who)
    else:
        heappush(busy, (end, who))


def end_of(start: datetime, length: timedelta | None) -> datetime | None:
    """None where the length is not known, or the end lies beyond the last year that a time can have."""
    try:
        return None if length is None else start + length
    except OverflowError:
        return None
