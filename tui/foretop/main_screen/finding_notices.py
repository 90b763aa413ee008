"""Tells the terminal of new findings: bell, desktop notification and window title, as far as they were asked for.

Names of objects are in what is written, and a name can be hostile: what comes out is one line of printable characters
between our own introducer and terminator, whatever goes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo

from foretop_core.config.settings import NotifySettings
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Severity, ungathered
from foretop_core.tables.resources.findings import subject_and_what
from foretop_core.tables.text.terminal_text import cut_end, unsigned

BELL = "\a"
KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal keeps the title that it had, and gets it back at the end."""
_END = "\x1b\\"
_LONGEST = 120
_GRADES = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


class FindingNotices:
    """Notices of new findings: those of the first look are not new, and several that come at once are one notice."""

    def __init__(self, state: DashboardState, write: Callable[[str], None]) -> None:
        self._state = state
        self._write = write
        self._known: frozenset[str] | None = None
        self._revision = -1
        self._title = ""

    def look(self, wanted: NotifySettings) -> None:
        """Compares the findings with those of the last look; costs nothing while they are the same."""
        self._tell_title(wanted)
        if not self._state.has_loaded or self._revision == self._state.findings_revision:
            return
        self._revision = self._state.findings_revision
        findings = {f"{finding.context}:{finding.id}": finding for finding in ungathered(self._state.findings)}
        before, self._known = self._known, frozenset(findings)
        if before is None:
            return
        grave = _GRADES[: _GRADES.index(Severity(wanted.severity)) + 1]
        new = [finding for key, finding in findings.items() if key not in before and finding.severity in grave]
        if new:
            text = notice_text(new, self._state.now(), self._state.zone) if wanted.desktop else ""
            self._write((BELL if wanted.bell else "") + desktop_notice(text, wanted.desktop))

    def close(self) -> None:
        """The terminal gets its own title back."""
        if self._title:
            self._write(GIVE_TITLE_BACK)
            self._title = ""

    def _tell_title(self, wanted: NotifySettings) -> None:
        if not wanted.title:
            self.close()
            return
        title = title_text(self._state)
        if title != self._title:
            self._write(f"{'' if self._title else KEEP_TITLE}{window_title(title)}")
            self._title = title


def notice_text(new: Iterable[Finding], now: datetime, zone: tzinfo) -> str:
    """The first of them, and how many more there are."""
    first, *others = new
    more = f", and {len(others)} more" if others else ""
    return f"{first.context}: {subject_and_what(first, render(first.what, now, zone))}{more}"


def title_text(state: DashboardState) -> str:
    """The counts first: a title is often cut off at its end."""
    counts = state.severities()
    lines = [
        humanize.count(counts[grade], word)
        for grade, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"))
        if counts[grade]
    ]
    names = state.contexts[0] if len(state.contexts) == 1 else f"{len(state.contexts)} contexts"
    counted = ", ".join(lines) or ("no errors or warnings" if state.has_loaded else "loading")
    return f"foretop {counted} {names}" if lines else f"foretop {names}: {counted}"


def desktop_notice(text: str, protocol: str) -> str:
    """A desktop notification by OSC 9 (iTerm2, Windows Terminal) or OSC 777 (urxvt, foot, WezTerm)."""
    match protocol:
        case "osc9":
            return f"\x1b]9;{_payload(text)}{_END}"
        case "osc777":
            return f"\x1b]777;notify;foretop;{_payload(text)}{_END}"
        case _:
            return ""


def window_title(text: str) -> str:
    return f"\x1b]2;{_payload(text)}{_END}"


def _payload(text: str) -> str:
    """A semicolon separates the parts of such a sequence, and a leading number would be a command of OSC 9."""
    line = cut_end(unsigned(text), _LONGEST).replace(";", ",")
    return f" {line}" if line[:1].isdigit() else line
