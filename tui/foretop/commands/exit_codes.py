"""The meanings of exit codes, declared once: `--help`, the manual and the manual page are made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any

import msgspec

from foretop.commands.output import warn
from foretop_core.errors import BadInput, ForetopError
from foretop_core.room_finder import rooms


class ExitCodes(msgspec.Struct, frozen=True):
    """The meanings of the codes of some commands, each by its path, such as `forecast` or `backup logs`."""

    commands: tuple[str, ...]
    meanings: Mapping[int, str]

    @property
    def line(self) -> str:
        return "; ".join(f"{code} {meaning}" for code, meaning in self.meanings.items())


ALWAYS = {2: "bad usage or input, or nothing could be read"}
NOT_JUDGED = 3
BAD_INPUT = {2: "bad usage or input"}
NIGHT_OPEN = {NOT_JUDGED: "a server or a run cannot be foreseen, or not everything could be read"}
REFUSED = {3: "refused: read-only, permissions or state"}
PRINTED = {0: "printed", 1: "printed, but a cluster, an object or a part is missing", **ALWAYS}
WRITTEN = {0: "done", 1: "some failed", **ALWAYS, **REFUSED, 4: "the plan changed under way"}

_OF_THE_CORE = (
    ExitCodes(
        ("report",),
        {
            0: "no errors or warnings in what was seen",
            1: "errors or warnings (with --acknowledged, open ones only)",
            **BAD_INPUT,
            NOT_JUDGED: "none, but not everything could be read",
        },
    ),
    ExitCodes(
        ("forecast",),
        {
            0: "all runs are made, and the window is free",
            1: "runs are lost, refused, invalid or paused (unless left out by --without), or the window is not free",
            **BAD_INPUT,
            **NIGHT_OPEN,
        },
    ),
    ExitCodes(
        ("next",),
        {
            0: "it runs, in each reading that is possible",
            1: "an expression never fires, or one of the file is refused",
            2: "bad usage or input, such as an expression that is refused",
            NOT_JUDGED: "the release decides that, or an object cannot be read",
        },
    ),
    ExitCodes(
        ("doctor",),
        {
            0: "all there",
            1: "something is missing or not allowed",
            **BAD_INPUT,
            NOT_JUDGED: "no connection",
        },
    ),
    ExitCodes(("get", "describe"), {0: "read, whatever it says", 1: "a part could not be read", **ALWAYS}),
    ExitCodes(("watch", "handover", "journal"), PRINTED),
    ExitCodes(("config",), {0: "printed or written", 1: "printed; the configuration has mistakes", **ALWAYS}),
    ExitCodes(
        ("schedule", "backup", "restore", "nab", "nar", "storage-request", "server", "acknowledge", "unacknowledge"),
        WRITTEN,
    ),
)
_OF_ALL = ExitCodes(("every command",), {130: "interrupted"})


def judging(command: Callable[..., int]) -> Callable[..., int]:
    """For a command that judges: what could not be read is not bad input, and cannot be judged."""

    @wraps(command)
    def judged(*arguments: Any, **options: Any) -> int:
        try:
            return command(*arguments, **options)
        except BadInput:
            raise
        except ForetopError as problem:
            warn((problem,))
            return NOT_JUDGED

    return judged


@cache
def exit_codes() -> tuple[ExitCodes, ...]:
    """The rows of the table, those of the rooms included."""
    of_rooms = (codes for room in rooms("foretop") for codes in room.EXIT_CODES)
    return (*_OF_THE_CORE, *of_rooms, _OF_ALL)


def exit_codes_of(path: str) -> ExitCodes | None:
    """Finds the codes of a command by its path; a command in a group has the group's, unless it has some of its own."""
    by_path = {command: codes for codes in exit_codes() for command in codes.commands}
    return by_path.get(path) or by_path.get(path.split()[0])


def exit_code_table() -> list[str]:
    """The rows as a table in Markdown."""
    numbers = sorted({code for codes in exit_codes() for code in codes.meanings})
    head = ["command", *map(str, numbers)]
    rows = [
        [", ".join(codes.commands), *(codes.meanings.get(number, "") for number in numbers)] for codes in exit_codes()
    ]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in (head, ["---"] * len(head), *rows)]
