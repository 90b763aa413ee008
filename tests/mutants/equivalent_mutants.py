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
        "core/foretop_core/actions/lifetimes.py",
        "why = EXTEND_BACKUP.applies(backup, lambda: False) or requested_deletion(snapshot, backup)",
        "False to True",
        "whether a backup can be extended does not depend on its data movements: test_records.py asks with both",
    ),
    SameProgram(
        "core/foretop_core/actions/log_text.py",
        "_AT_A_TIME = 1000",
        "1000 to 1001",
        "how many lines are decoded together, whatever the number: the lines are those of the text",
    ),
    SameProgram(
        "core/foretop_core/actions/journal.py",
        "descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)",
        "384 to 385",
        "the mode is set again as soon as the file is open, before anything is in it",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
