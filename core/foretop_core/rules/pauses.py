"""Pauses of schedules: by whom, why and until when, as far as the schedule itself tells."""

from __future__ import annotations

import re
from datetime import datetime

import msgspec

from foretop_core.models import Schedule
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR

ANNOTATIONS = "foretop.io/"
PAUSED_BY = f"{ANNOTATIONS}paused-by"
PAUSED_AT = f"{ANNOTATIONS}paused-at"
PAUSED_WHY = f"{ANNOTATIONS}paused-reason"
PAUSED_UNTIL = f"{ANNOTATIONS}paused-until"
PAUSED_BATCH = f"{ANNOTATIONS}paused-batch"
MARKS = (PAUSED_BY, PAUSED_AT, PAUSED_WHY, PAUSED_UNTIL, PAUSED_BATCH)
OWN_MANAGER = "foretop"
_PROGRAM = re.compile(r"(?:foretop|kubectl|oc|velero|helm|argocd|flux|kustomize|manager)\b.*|.*-(?:controller|manager)")


class PauseInfo(msgspec.Struct, frozen=True):
    """`who` reads on after "paused": `by maria`, `with kubectl-patch`, or nothing."""

    since: datetime | None
    who: str = ""
    why: str = ""
    until: datetime | None = None


def pause_info(schedule: Schedule) -> PauseInfo:
    """The API server knows the program that wrote; the person stands in the note that foretop leaves.

    The note counts while foretop was the last to write the field: what others pause later is not its doing.
    """
    field = schedule.paused_field_set
    since, program = (field.time, field.manager) if field else (None, "")
    person = schedule.annotation(PAUSED_BY) if program in ("", OWN_MANAGER) else ""
    if person:
        why, until = schedule.annotation(PAUSED_WHY), _time(schedule.annotation(PAUSED_UNTIL))
        noted = _time(schedule.annotation(PAUSED_AT))
        # A later write of foretop to another field moves the field's time, and not the note's.
        began = min(filter(None, (since, noted)), default=None)
        return PauseInfo(began, f"by {person}", why, until)
    if not program:
        return PauseInfo(since)
    return PauseInfo(since, f"{'with' if _PROGRAM.fullmatch(program) else 'by'} {program}")


def _time(text: str) -> datetime | None:
    """None for what a person has made of the note."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo and FIRST_YEAR <= found.year <= LAST_YEAR else None
