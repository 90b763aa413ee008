"""The exit codes of all commands, once: the manual and the manual page have them from here."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class ExitCodeRow(msgspec.Struct, frozen=True):
    """A row of the table: what the codes mean for some commands."""

    commands: str
    meanings: Mapping[int, str]


_ALWAYS = {2: "bad usage or input, or nothing could be read"}
EXIT_CODES = (
    ExitCodeRow(
        "report",
        {
            0: "no problems",
            1: "findings of severity error (with --acknowledged, open ones only), or an unreadable object",
            **_ALWAYS,
            3: "no such findings, but not everything was visible",
        },
    ),
    ExitCodeRow(
        "upgrade-check", {0: "nothing changes", 1: "something changes", **_ALWAYS, 3: "not everything was visible"}
    ),
    ExitCodeRow(
        "forecast",
        {
            0: "all runs are made, and the window is free",
            1: "a run will be lost, or the window is not free",
            **_ALWAYS,
            3: "a server cannot be foreseen",
        },
    ),
    ExitCodeRow("whatif", {0: "no run would be lost", 1: "a run would be lost after the change", **_ALWAYS}),
    ExitCodeRow("spread", {0: "no run would be lost", 1: "a run would be lost even so", **_ALWAYS}),
    ExitCodeRow("doctor", {0: "all there", 1: "something is missing or not allowed", 2: "bad usage, or no connection"}),
    ExitCodeRow(
        "get, describe, next, primer, watch, handover, journal",
        {0: "printed", 1: "printed, but a cluster, an object or a part is missing", **_ALWAYS},
    ),
    ExitCodeRow("config", {0: "printed or written", 1: "printed; the configuration has mistakes", **_ALWAYS}),
    ExitCodeRow(
        "schedule, backup, restore, drill, nab, nar, storage-request, server, acknowledge, unacknowledge",
        {
            0: "done",
            1: "some failed",
            **_ALWAYS,
            3: "refused: read-only, permissions or state",
            4: "the plan changed under way",
        },
    ),
    ExitCodeRow("every command", {130: "interrupted"}),
)


def exit_code_table() -> list[str]:
    """The rows as a table in Markdown."""
    codes = sorted({code for row in EXIT_CODES for code in row.meanings})
    head = ["command", *map(str, codes)]
    rows = [[row.commands, *(row.meanings.get(code, "") for code in codes)] for row in EXIT_CODES]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in (head, ["---"] * len(head), *rows)]
