"""Keeps findings from flickering: one must hold for a while before it comes, and be gone for a while before it goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from foretop_core.rules.triage.finding import PAUSED_OVERDUE, WINDOW_OPEN, WINDOW_OVERRUN, Finding, Thresholds

_AT_ONCE = frozenset(
    {WINDOW_OPEN, WINDOW_OVERRUN, "velero-all-paused", PAUSED_OVERDUE, "schedule-paused-long", "velero-not-judged"}
)
"""Told by a person's pauses and by the clock: they do not flicker."""


class Debounced(msgspec.Struct, frozen=True):
    """The shown findings, and how long each has been there or gone."""

    shown: Mapping[str, Finding] = msgspec.field(default_factory=dict)
    held_since: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    gone_since: Mapping[str, datetime] = msgspec.field(default_factory=dict)


def debounce(
    before: Debounced | None, found: Iterable[Finding], now: datetime, limits: Thresholds | None = None
) -> Debounced:
    """The next state; the first look shows what it finds at once.

    One that takes the place of another of its subject comes at once, and the other goes: both are never true.
    """
    limits = limits or Thresholds()
    current = {f"{finding.context}:{finding.id}": finding for finding in found}
    if before is None:
        return Debounced(current, dict.fromkeys(current, now))
    held_since = {key: before.held_since.get(key, now) for key in current}
    gone = {key: before.gone_since.get(key, now) for key in before.shown if key not in current}
    came = {(current[key].subject, since) for key, since in held_since.items() if key not in before.shown}
    went = {(before.shown[key].subject, since) for key, since in gone.items()}
    replaced = came & went
    shown = {
        key: finding
        for key, finding in current.items()
        if key in before.shown
        or finding.code in _AT_ONCE
        or now - held_since[key] >= limits.comes_after
        or (finding.subject, held_since[key]) in replaced
    }
    shown |= {
        key: before.shown[key]
        for key, since in gone.items()
        if now - since < limits.goes_after
        and before.shown[key].code not in _AT_ONCE
        and (before.shown[key].subject, since) not in replaced
    }
    return replace(before, shown=shown, held_since=held_since, gone_since=gone)
