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
        "core/foretop_core/tables/resources/protection.py",
        "found = (snapshot.verdicts, snapshot.namespaces is not None)",
        "is not to is",
        "the value is only compared with the one of before: both are negated",
    ),
    SameProgram(
        "core/foretop_core/tables/resources/runs.py",
        'return Tone.PLAIN if run_progress(run, render, 0).startswith("data") else progress_tone(run.status.progress)',
        "0 to 1",
        "a bar of one cell has no room either: the word comes first",
    ),
    SameProgram(
        "core/foretop_core/tables/text/times.py",
        "if _MINUTE <= seconds < 10 * _MINUTE and seconds % _MINUTE:",
        "<= to <",
        "a whole minute has no seconds to show",
    ),
    SameProgram(
        "core/foretop_core/tables/text/times.py",
        "if _MINUTE <= seconds < 10 * _MINUTE and seconds % _MINUTE:",
        "< to <=",
        "ten whole minutes have no seconds to show",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "if code <= 0xFF:",
        "<= to <",
        "U+00FF is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "if code <= 0xFF:",
        "255 to 256",
        "U+0100 is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        'return f"\\\\u{code:04x}" if code <= 0xFFFF else f"\\\\U{code:08x}"',
        "65535 to 65536",
        "U+10000 is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "return _kept(text) if len(text) <= _LONGEST_KEPT else _measured(text)",
        "condition negated",
        "only whether a width is remembered",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "return _kept(text) if len(text) <= _LONGEST_KEPT else _measured(text)",
        "<= to <",
        "only whether a width is remembered",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/lanes.py",
        "return tuple(map(sum, zip(*by_context, strict=True))) if by_context else (0,) * self.ruler.cells",
        "True to False",
        "every cluster has a number for each cell",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/lanes.py",
        "return tuple(map(max, zip(*by_context, strict=True))) if by_context else (0,) * self.ruler.cells",
        "True to False",
        "every cluster has a number for each cell",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/time_axis.py",
        "if (cell == 0 or cell > len(line)) and cell + len(label) <= ruler.cells:",
        "> to >=",
        "labels of 5 or 6 letters stand 4 cells apart, or 8 and more: none begins where another ends",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/primer_preview.py",
        "number = int(minutes) if minutes.isascii() and minutes.isdecimal() and len(minutes) < 9 else -1",
        "1 to 2",
        "any number below 0 is refused alike",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/primer_preview.py",
        "return _coming(shown.text, shown.minutes, shown.dialect, "
        "now.astimezone(UTC).replace(second=0, microsecond=0))",
        "0 to 1",
        "warm-ups begin with a minute: within one the answer is the same, and only remembered again",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/timeline_model.py",
        "if 0 <= near < len(self.order) and self.order[near] == key:",
        "<= to <",
        "only where it is looked for first",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/timeline_model.py",
        "if 0 <= near < len(self.order) and self.order[near] == key:",
        "0 to 1",
        "only where it is looked for first",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/filter.py",
        "if end < 0:",
        "< to <=",
        "a closing quote is never the first letter",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/filter.py",
        "if end < 0:",
        "0 to 1",
        "a closing quote is never the first letter",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/jsonpath.py",
        "end = len(self.text) if opening < 0 else opening",
        "< to <=",
        "a brace that is the first letter was read before",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/jsonpath.py",
        "end = len(self.text) if opening < 0 else opening",
        "0 to 1",
        "a brace that is the first letter was read before",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/jsonpath.py",
        "if not 0 <= first < last <= len(value):",
        "< to <=",
        "what is empty was left out before",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
