"""The meanings of exit codes, declared once: `--help`, the manual and the manual page are made from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from foretop_core.room_finder import room_modules


class ExitCodes(msgspec.Struct, frozen=True):
    """The meanings of the codes of some commands, each by its path, such as `forecast` or `backup logs`."""

    commands: tuple[str, ...]
    meanings: Mapping[int, str]

    @property
    def line(self) -> str:
        return "; ".join(f"{code} {meaning}" for code, meaning in self.meanings.items())


ALWAYS = {2: "bad usage or input, or nothing could be read"}
_UNSURE = {3: "a server or a run cannot be foreseen"}
REFUSED = {3: "refused: read-only, permissions or state"}
_NO_FILE = {3: "its files cannot be had"}
_RUNS = ("backup", "restore", "nab", "nar")

_OF_THE_CORE = (
    ExitCodes(
        ("report",),
        {
            0: "no problems",
            1: "findings of severity error (with --acknowledged, open ones only), or an unreadable object",
            **ALWAYS,
            3: "no such findings, but not everything was visible",
        },
    ),
    ExitCodes(
        ("upgrade-check",), {0: "nothing changes", 1: "something changes", **ALWAYS, 3: "not everything was visible"}
    ),
    ExitCodes(
        ("forecast",),
        {
            0: "all runs are made, and the window is free",
            1: "a run will be lost, or the window is not free",
            **ALWAYS,
            **_UNSURE,
        },
    ),
    ExitCodes(("whatif",), {0: "no run would be lost", 1: "a run would be lost after the change", **ALWAYS, **_UNSURE}),
    ExitCodes(
        ("doctor",), {0: "all there", 1: "something is missing or not allowed", 2: "bad usage, or no connection"}
    ),
    ExitCodes(
        ("get", "describe", "next", "primer", "watch", "handover", "journal"),
        {0: "printed", 1: "printed, but a cluster, an object or a part is missing", **ALWAYS},
    ),
    ExitCodes(("config",), {0: "printed or written", 1: "printed; the configuration has mistakes", **ALWAYS}),
    ExitCodes(
        tuple(f"{run} logs" for run in _RUNS[:-1]),
        {0: "the whole log", 1: "a part of it", **ALWAYS, **_NO_FILE},
    ),
    ExitCodes(tuple(f"{run} results" for run in _RUNS), {0: "printed", **ALWAYS, **_NO_FILE}),
    ExitCodes(
        ("schedule", *_RUNS, "storage-request", "server", "acknowledge", "unacknowledge"),
        {0: "done", 1: "some failed", **ALWAYS, **REFUSED, 4: "the plan changed under way"},
    ),
)
_OF_ALL = ExitCodes(("every command",), {130: "interrupted"})


@cache
def exit_codes() -> tuple[ExitCodes, ...]:
    """The rows of the table, those of the rooms included."""
    rooms = (codes for module in room_modules("foretop", "exit_codes") for codes in module.EXIT_CODES)
    return (*_OF_THE_CORE, *rooms, _OF_ALL)


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
