"""Prints the counts of the comparisons after the tests, also where other processes ran them."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in (one for found in terminalreporter.stats.values() for one in found):
        for name, text in getattr(report, "user_properties", ()):
            if name == "agreement" and report.when == "call":
                terminalreporter.section("agreement")
                terminalreporter.line(str(text))
