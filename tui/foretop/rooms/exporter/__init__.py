"""Metrics for Prometheus, and a fleet of clusters by them, on the command line."""

from __future__ import annotations

from foretop.commands.exit_codes import BAD_INPUT, NOT_JUDGED, ExitCodes

COMMANDS = {
    "exporter": ("foretop.rooms.exporter.command", "Serve metrics of schedules, protection and queue."),
    "fleet": ("foretop.rooms.exporter.fleet_command", "A row for each cluster, worst first."),
}
EXIT_CODES = (
    ExitCodes(("exporter",), {0: "ended, or printed once", 1: "printed once, but a cluster is missing", **BAD_INPUT}),
    ExitCodes(
        ("fleet",),
        {
            0: "no cluster has errors",
            1: "some have errors, or no news",
            **BAD_INPUT,
            NOT_JUDGED: "Prometheus did not answer",
        },
    ),
)
