"""Metrics for Prometheus on the command line."""

from __future__ import annotations

from foretop.commands.exit_codes import BAD_INPUT, ExitCodes

COMMANDS = {"exporter": ("foretop.rooms.exporter.command", "Serve metrics of schedules, protection and queue.")}
EXIT_CODES = (ExitCodes(("exporter",), {0: "ended, or printed once", **BAD_INPUT}),)
