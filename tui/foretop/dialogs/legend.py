"""The signs of each page and what they mean, for the help."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from foretop_core.rules.facts.schedule_runs import RUN_WORDS
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph, Tone
from foretop_core.tables.timeline.time_axis import RUN, WARM_UP


class Sign(msgspec.Struct, frozen=True):
    """A sign, with its colour."""

    text: str
    meaning: str
    tone: Tone = Tone.PLAIN


def _status(**meanings: str) -> tuple[Sign, ...]:
    """By the name of the glyph."""
    glyphs = ((StatusGlyph[name.upper()], meaning) for name, meaning in meanings.items())
    return tuple(Sign(glyph.value, meaning, glyph.tone) for glyph, meaning in glyphs)


_RUNS = _status(
    healthy="completed",
    running="running",
    waiting="waiting",
    look="partly failed, or being deleted",
    broken="failed",
    unset="a phase that foretop does not know",
)
_PROGRESS = Sign("▇▇▁▁", "how much is done")
_RESTORE = Sign(RESTORE_GLYPH, "before a name: a restore, not a backup")

SIGNS: Mapping[str, tuple[Sign, ...]] = {
    "triage": (
        *_status(broken="an error", look="a warning", waiting="a note"),
        Sign("└", "one of the findings that the line above gathers, or that follow from it"),
    ),
    "schedules": (
        *_status(
            healthy="runs as it should",
            waiting="its last backup waits in the queue",
            paused="paused",
            look="its last backup failed, or Velero does not answer",
            broken="invalid, overdue or never fires",
        ),
        Sign("LAST 10 RUNS", "oldest first"),
        *(Sign(sign, word) for sign, word in RUN_WORDS.items()),
        Sign("SKIP", "whether unpausing skips a run that is due: its own field, or `server:` for the server's default"),
    ),
    "nonadmin": (
        *_status(
            healthy="Velero's object completed",
            running="running",
            waiting="waiting",
            look="partly failed, or being deleted",
            broken="refused or failed",
        ),
        _RESTORE,
        _PROGRESS,
        Sign("A Q D", "the conditions Accepted, Queued and Deleting"),
        *_status(true="the condition is true", broken="it is false", unset="it is not set"),
        Sign("~3", "QUEUE: an estimate of the controller, where Velero's queue is not visible"),
    ),
    "queue": (
        *_RUNS,
        _RESTORE,
        _PROGRESS,
        Sign("▶", "POS: running; a number is the place among those that wait"),
        Sign("8m → 17:15", "STARTS/ENDS: has run for 8 minutes, expected to end at 17:15"),
        Sign("~17:15", "STARTS/ENDS: expected to start at 17:15"),
    ),
    "calendar": (
        Sign("▆▆▆", "a run: one that has ended in the colour of its outcome, one to come dim"),
        Sign("█▆╌", "runs: done already, to its likely end, to the end in 9 of 10 courses"),
        Sign("▎", "a run shorter than half a cell"),
        Sign("░", "waits for a slot"),
        Sign("P F", "partly failed, failed"),
        Sign("×", "lost: the next one falls due first; or refused: its storage location cannot be used"),
        Sign("‖", "a run that a pause prevents"),
        Sign(WARM_UP, "a warm-up before a job"),
        Sign("·", "a warm-up that nothing makes: the prescaler has no CronJob for it"),
        Sign("▁▃█", "slots in use, full height is the limit; yellow where all are taken and somebody waits"),
        Sign("3 +", "how many wait for a slot; + is more than nine"),
        *_status(paused="paused", look="late, refused or not warmed up", broken="does not run"),
    ),
    "primer": (
        Sign(WARM_UP, "the warm-up"),
        Sign(RUN, "the run"),
        *_status(true="the expressions are exact", look="nearly exact; the note says why"),
    ),
    "backups": (*_RUNS, Sign("E W", "errors and warnings")),
    "restores": (*_RUNS, Sign("E W", "errors and warnings")),
    "storage": _status(
        healthy="available", broken="unavailable", look="a request that waits for approval", waiting="not checked yet"
    ),
    "protection": _status(
        healthy="a good copy, as new as promised",
        waiting="no copy yet, and none is due",
        paused="all that would back it up is paused",
        look="covered by nothing, or only partial copies",
        broken="no copy in time, copies about to expire or out of reach, or a repository that is not ready",
        unset="deleted, or not looked at (see thresholds.ignoredNamespaces)",
    ),
    "pods": _status(
        healthy="ready", waiting="starting", look="not ready", broken="failing or restarting", unset="has ended"
    ),
    "movements": (
        *_status(
            healthy="completed",
            running="moving data",
            waiting="waiting, or being prepared",
            look="cancelled, or about to be",
            broken="failed",
        ),
        _PROGRESS,
    ),
    "repositories": _status(
        healthy="ready", look="its latest maintenance failed", waiting="not used yet", broken="not ready"
    ),
    "detail": (
        *_RUNS,
        Sign("▂▃▄▅▆█", "Runs: one bar for each run, as high as it took long, in the colour of its outcome"),
        *(Sign(sign, f"below a bar: {word}") for sign, word in RUN_WORDS.items() if word != "good"),
        *_status(true="Steps: done; of a condition: it is true"),
    ),
}
"""By the id of the page."""
