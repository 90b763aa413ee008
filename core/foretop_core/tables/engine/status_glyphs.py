"""Glyphs, and what colour repeats of them: a state is always glyph and word before it is colour."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from foretop_core.rules.phases import FAULTY, FINISHING, HOLDS_SLOT, WAITING

if TYPE_CHECKING:
    from foretop_core.rules.severity import Severity

RESTORE_GLYPH = "↺"
"""Before the name of a restore that stands among backups."""


class Tone(Enum):
    """A name for a style; what it looks like is the screen's business."""

    PLAIN = "plain"
    DIM = "dim"
    BRIGHT = "bright"
    """What to read first, or what has the focus."""
    FAINT = "faint"
    """Tracks of bars."""
    GOOD = "good"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    WARN = "warn"
    BAD = "bad"


class StatusGlyph(Enum):
    """The state of a row in one glyph."""

    HEALTHY = "●"
    RUNNING = "◐"
    WAITING = "○"
    PAUSED = "‖"
    BROKEN = "✗"
    LOOK = "▲"
    TRUE = "✓"
    UNSET = "·"

    # One of each: an Enum's own hash is worked out in Python, and tables count tens of thousands of them.
    __hash__ = object.__hash__

    @property
    def tone(self) -> Tone:
        return _TONES[self]

    @property
    def muted(self) -> Tone:
        """The tone of its word: what is well is muted, so that the rest stands out."""
        return Tone.DIM if self is StatusGlyph.HEALTHY else self.tone


_TONES = {
    StatusGlyph.HEALTHY: Tone.GOOD,
    StatusGlyph.RUNNING: Tone.RUNNING,
    StatusGlyph.WAITING: Tone.WAITING,
    StatusGlyph.PAUSED: Tone.PAUSED,
    StatusGlyph.BROKEN: Tone.BAD,
    StatusGlyph.LOOK: Tone.WARN,
    StatusGlyph.TRUE: Tone.GOOD,
    StatusGlyph.UNSET: Tone.DIM,
}

_WORST_FIRST = (
    StatusGlyph.BROKEN,
    StatusGlyph.LOOK,
    StatusGlyph.RUNNING,
    StatusGlyph.WAITING,
    StatusGlyph.HEALTHY,
    StatusGlyph.PAUSED,
)
_SEVERITIES = {
    "error": StatusGlyph.BROKEN,
    "warning": StatusGlyph.LOOK,
    "note": StatusGlyph.WAITING,
}
_SHORT_PHASES = {
    "WaitingForPluginOperations": ("PluginOps",),
    "WaitingForPluginOperationsPartiallyFailed": ("PluginOps, partly failed", "PluginOps ✗"),
    "FinalizingPartiallyFailed": ("Finalizing, partly failed", "Finaliz. ✗"),
    "PartiallyFailed": ("PartFailed",),
    "FailedValidation": ("Invalid",),
}

StatusLabel = tuple[StatusGlyph, str]
"""What is worth telling of a row where many are told together, in a word: `refused`."""

_ASCII = str.maketrans("●◐○‖✗▲✓·▶↺▇▁…–→≠", "o~.=x!+->R#.~->!")


def ascii_only(text: str) -> str:
    """For a terminal that has not these glyphs, or draws them two cells wide."""
    return text.translate(_ASCII)


def badness(mark: StatusGlyph) -> int:
    """The place of a state in a table that starts with the worst; what is not judged stands with what is good."""
    return _WORST_FIRST.index(mark if mark in _WORST_FIRST else StatusGlyph.HEALTHY)


def severity_mark(severity: Severity) -> StatusGlyph:
    """The same sign in Triage and on every page."""
    return _SEVERITIES[severity]


def run_mark(phase: str) -> StatusGlyph:
    """How a backup or restore is; an unknown phase is not judged."""
    if phase in WAITING:
        return StatusGlyph.WAITING
    if phase in HOLDS_SLOT or phase in FINISHING or phase == "Deleting":
        return StatusGlyph.RUNNING
    if phase == "Completed":
        return StatusGlyph.HEALTHY
    if phase in FAULTY:
        return StatusGlyph.LOOK if phase == "PartiallyFailed" else StatusGlyph.BROKEN
    return StatusGlyph.UNSET


def phase_tone(phase: str) -> Tone:
    """The colour of a phase in words."""
    return run_mark(phase).muted


def phase_briefs(phase: str) -> tuple[str, ...]:
    """The phases that are longer than a narrow column, in fewer letters."""
    return _SHORT_PHASES.get(phase, ())


def run_standing(phase: str) -> StatusLabel | None:
    """None for what is well, or not judged."""
    mark = run_mark(phase)
    words = {
        StatusGlyph.WAITING: "waiting",
        StatusGlyph.RUNNING: "running",
        StatusGlyph.BROKEN: "failed",
        StatusGlyph.LOOK: "partly failed",
    }
    word = {"Deleting": "deleting", "FailedValidation": "refused"}.get(phase) or words.get(mark)
    return (mark, word) if word else None
