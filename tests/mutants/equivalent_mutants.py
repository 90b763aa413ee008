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
        "core/foretop_core/kube/access/doctor_checks.py",
        'side = "ahead of" if skew > timedelta() else "behind"',
        "> to >=",
        "asked only of a difference of more than five seconds, so never of none",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/list_watch_codec.py",
        'return msgspec.json.encode(wanted)[:-1] + b","',
        "1 to 2",
        "no object begins with it then, and each is looked through: slower, with the same answer",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/watch_slots.py",
        "return 1 if scope in self._filled else 2",
        "2 to 3",
        "ranks are only compared, and the last one stays the last",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        "self._in_doubt = False",
        "False to True",
        "before the first list, which comes in any case and settles it",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        "self._was_cut = False",
        "False to True",
        "read only once there is a version, and the list that brings it settles it",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        'raise ApiError(200, "", "the list was asked for as a whole and is not whole")',
        "200 to 201",
        "its one caller takes any ApiError as the sign to read page by page, and shows none",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
