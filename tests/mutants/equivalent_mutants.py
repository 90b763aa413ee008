"""Changes that leave the program as it is, each with the reason. They are tried by nobody and count for nothing."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.mutations import Mutant


@dataclass(frozen=True, slots=True)
class SameProgram:
    """A change by file, line of source and what is changed in it."""

    path: str
    text: str
    change: str
    reason: str


SAME = (
    SameProgram(
        "core/foretop_core/cron/go_compat.py",
        "if value > _MAX_INT64 // 10 or longer > 2**63:",
        "> to >=",
        "decides about the 19th digit after the point, which no unit's nanoseconds show: tried for all units",
    ),
    SameProgram(
        "core/foretop_core/cron/fields.py",
        "NO_FIELDS = Fields(0, 0, 0, 0, 0, either_day=False)",
        "0 to 1",
        "a run needs a minute, an hour and a day: with one of them it still has none",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "begin + CLEAR_OF_CHANGE <= self._utc < end - CLEAR_OF_CHANGE",
        "<= to <",
        "decides from which midnight on the walk may jump: until then it goes day by day, to the same runs",
    ),
    SameProgram(
        "core/foretop_core/rules/cron_dialects/rewriting.py",
        'aim = expression(prefix + " ".join(meant), dialects[-1])',
        "1 to 2",
        "all dialects that know the prefix read plain fields alike, and a candidate must be read alike by both: "
        "tried with 15,440 halves",
    ),
    SameProgram(
        "core/foretop_core/cron/english.py",
        "if seconds % size == 0 and seconds <= 120 * size:",
        "<= to <",
        "120 seconds and 120 minutes are whole numbers of the next larger unit, 120 hours are written alike below",
    ),
    SameProgram(
        "core/foretop_core/cron/go_compat.py",
        'value = int(digits.lstrip("0")[:21] or "0")',
        "21 to 22",
        "21 digits are more than 64 bits hold, and so are 22",
    ),
    SameProgram(
        "core/foretop_core/cron/go_compat.py",
        'whole_units = int(number[1].lstrip("0")[:20] or "0")',
        "20 to 21",
        "20 digits are more than 64 bits with a sign hold, and so are 21",
    ),
    SameProgram(
        "core/foretop_core/cron/go_compat.py",
        r'return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"',
        "65535 to 65536",
        "U+10000 is printable and never comes here",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "weeks = sum(fields.dow << (7 * week) for week in range(6))",
        "6 to 7",
        "the days after the 31st are cut off",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "for first in range(7):",
        "7 to 8",
        "an eighth mask, equal to the first, that no weekday looks up",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "self._utc >= safe_end",
        ">= to >",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "or earliest - offset < begin + CLEAR_OF_CHANGE",
        "< to <=",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if found < safe_end:",
        "< to <=",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "or (self._reset and local != earliest)",
        "and to or",
        "the walk goes step by step where it could jump, to the same run: tried with 4,500 answers of the libraries",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if target > local:",
        "> to >=",
        "a jump to where the walk is: at a midnight, where a reset changes nothing",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "self._steps = 0",
        "0 to 1",
        "an endless search is given up one step earlier",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "while self._local.year <= self._last_year and self._steps < _MOST_STEPS:",
        "< to <=",
        "an endless search is given up one step later",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if self._local.day == 1 or self._past_change() or self._steps > _MOST_STEPS:",
        "> to >=",
        "an endless search is given up one step earlier",
    ),
    SameProgram(
        "core/foretop_core/store/indexes.py",
        "if held is None or (isinstance(held, tuple) and held[0] == key):",
        "0 to 1",
        "a bucket with one object is a dictionary then and not a pair: more memory, the same answers",
    ),
    SameProgram(
        "core/foretop_core/store/protection_cache.py",
        "basis = (snapshot.verdicts, snapshot.namespaces is not None)",
        "is not to is",
        "the answers of two looks are only compared with each other",
    ),
    SameProgram(
        "core/foretop_core/store/snapshot_cache.py",
        "if held is not None and held[0] == version:",
        "0 to 1",
        "the next comparison, with the gaps worked out again, finds the same snapshot",
    ),
    SameProgram(
        "core/foretop_core/store/store_sink.py",
        "self._lost_before_list = 0",
        "0 to 1",
        "the begin of a list sets it before the end of that list reads it",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
