"""The line played forward: who starts when, given how long each one takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush


@dataclass(frozen=True, slots=True)
class QueueState:
    """Those that hold a slot, with expected ends, and those that wait, in order, with whom each waits for.

    A length or an end that is None is not known: its slot counts as taken for good, so that a start told for
    another is the latest to be expected.
    """

    slots: int
    ends: Mapping[int, datetime | None]
    lengths: Mapping[int, timedelta | None]
    waits_for: Mapping[int, Sequence[int]]


@dataclass(slots=True)
class SimulatedStarts:
    """When each waiting one starts; one that is missing waits for one of the `endless`."""

    starts: dict[int, datetime] = field(default_factory=dict)
    endless: list[int] = field(default_factory=list)


def play(line: QueueState, now: datetime) -> SimulatedStarts:
    """Whenever a slot is free it goes to the first in line that meets nobody ahead of it."""
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
