"""Tells the terminal of new findings: bell, desktop notification and window title, as far as they were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, tzinfo

from foretop.terminal.terminal_notices import (
    BELL,
    GIVE_TITLE_BACK,
    KEEP_TITLE,
    desktop_notice,
    window_title,
)
from foretop_core.config.settings import NotifySettings
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Severity, ungathered
from foretop_core.tables.resources.findings import subject_and_what

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
        found = {f"{one.context}:{one.id}": one for one in ungathered(self._state.findings)}
        before, self._known = self._known, frozenset(found)
        if before is None:
            return
        grave = _GRADES[: _GRADES.index(Severity(wanted.severity)) + 1]
        new = [one for key, one in found.items() if key not in before and one.severity in grave]
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
    told = [
        humanize.count(counts[grade], word)
        for grade, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"))
        if counts[grade]
    ]
    names = state.contexts[0] if len(state.contexts) == 1 else f"{len(state.contexts)} contexts"
    found = ", ".join(told) or ("no errors or warnings" if state.has_loaded else "loading")
    return f"foretop {found} {names}" if told else f"foretop {names}: {found}"
