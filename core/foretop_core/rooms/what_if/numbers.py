"""Two nights in a few numbers, beside each other."""

from __future__ import annotations

from datetime import tzinfo

from foretop_core.rules import humanize
from foretop_core.rules.night.night import Fate
from foretop_core.rules.night.outlook import Outlook, by_six, done_by_six, most_at_work, wait_of
from foretop_core.rules.night.ranges import SURE
from foretop_core.tables.timeline.night_words import clock, to_minutes


def nights_compared(before: Outlook, after: Outlook, zone: tzinfo) -> tuple[tuple[str, str, str], ...]:
    """Two nights beside each other, number by number; refused runs only where there are any."""
    rows = zip(night_numbers(before, zone), night_numbers(after, zone), strict=True)
    refused = Fate.REFUSED.value.capitalize()
    return tuple((label, was, then) for (label, was), (_, then) in rows if (label, was, then) != (refused, "0", "0"))


def night_numbers(one: Outlook, zone: tzinfo) -> tuple[tuple[str, str], ...]:
    """A night in a few numbers, each with its label: the rows of a comparison."""
    now = one.night.now
    wait = wait_of(one.longest_wait) if one.longest_wait is not None else None
    six = by_six(one.night, one.schedules, zone)
    last = six.last_before
    done, by = (last.likely, last.by) if last is not None else one.night_end or (None, None)
    return (
        ("Runs", f"{sum(len(schedule.runs) for schedule in one.schedules):,}"),
        ("Slots", most_at_work(one)),
        (
            "Waiting",
            f"{one.waiting.count} at {clock(one.waiting.begins, now, zone)}" if one.waiting else "nobody over a minute",
        ),
        ("Longest", humanize.duration(to_minutes(wait)) if wait else "none"),
        ("By 06:00", done_by_six(one, zone)),
        ("Done", clock(done, now, zone) if done else "not known"),
        (SURE, clock(by, now, zone) if by else "not known"),
        *(
            (fate.value.capitalize(), str(sum(schedule.count(fate) for schedule in one.schedules)))
            for fate in (Fate.LATE, Fate.LOST, Fate.REFUSED)
        ),
    )
