"""The keys that act on the objects of a finding, in sentences. The same actions as in the footer."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from foretop.bindings import RESUME, ROOM_ACTIONS, Action
from foretop.widgets.paragraphs import Paragraph, Span, span
from foretop.widgets.styles import BOLD
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.planners.lifetimes import EXTEND_BACKUP
from foretop_core.actions.planners.pausing import CHANGE_PAUSE, UNPAUSE
from foretop_core.models.kinds import NAB, NABSL, NABSL_REQUEST, NAR, PRESCALED, REPOSITORY, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGE_OF
from foretop_core.rules import humanize
from foretop_core.tables.engine.status_glyphs import Tone

_SENTENCES = {
    "open": "open {}",
    "jump": "go to {}",
    **{room.action.id: room.hint for room in ROOM_ACTIONS if room.hint},
    RESUME: "resume the window",
    EXTEND_BACKUP.id: "extend the life of {}",
    **{item.id: item.hint for item in sorted(RECORDS, key=lambda item: not item.fetches) if item.hint},
}
"""In the order of telling: what only reads before what changes something.

Deleting is never the remedy, so it is not among them; its key works all the same.
"""
_ORDER = tuple(_SENTENCES)
_ONLY_NAMED = frozenset({EXTEND_BACKUP.id})
"""Told only where the remedy names it."""
_NOUNS = {
    NAB.name: "NAB",
    NAR.name: "NAR",
    STORAGE.name: "location",
    NABSL.name: "location",
    NABSL_REQUEST.name: "request",
    REPOSITORY.name: "repository",
    PRESCALED.name: "PreScaledCronJob",
}
_OF_ALL = frozenset({RESUME, UNPAUSE.id, CHANGE_PAUSE.id})
"""About all the objects that a finding names, and not about one of them."""
_HINTED = {room.action.id: room.hint_kinds for room in ROOM_ACTIONS if room.hint}
_FIRST = ("open", "jump", *(action_id for action_id, kinds in _HINTED.items() if kinds))


class ApplicableAction(msgspec.Struct, frozen=True):
    """An action that works now, and the objects that it would be about."""

    action: Action
    keys: tuple[ObjectRef, ...]
    page: str = ""
    """What it opens, where that is not an object."""


def action_keys_line(
    actions: Sequence[ApplicableAction], *, marked: bool, named: Collection[str], brief: bool
) -> tuple[Paragraph, ...]:
    """`enter open the schedule   J go to the backup   l logs of the backup   s pause the schedule`.

    Those that the remedy names stand first. In `brief` what acts on the row itself is told as in the footer.
    """
    subject = next((item.keys for item in actions if item.action.id == "open"), ())
    applicable_actions = sorted(
        (item for item in actions if _is_told(item, subject, named)),
        key=lambda item: (item.action.id not in named, _ORDER.index(item.action.id)),
    )
    spans: list[Span] = []
    for item in applicable_actions:
        them = item.page or _named(item.keys)
        if item.action.id == "jump" and item.keys == subject:
            them = "its row"
        elif item.action.id in _OF_ALL and len(item.keys) > 1:
            them = humanize.count(len(item.keys), _noun(item.keys[0]))
        elif marked and item.action.id not in _FIRST:
            them = "the marked rows"
        key = item.action.shown or f":{item.action.id}"
        spans += [Span("   ")] if spans else []
        text = _SENTENCES[item.action.id].format(them)
        if brief and item.keys == subject and not marked and item.action.short:
            text = item.action.short
        spans += [Span(key, BOLD), span(f" {text}", Tone.DIM)]
    return (Paragraph(tuple(spans), "Keys", in_items=True, yields=True, least=1),) if spans else ()


def _is_told(item: ApplicableAction, subject: tuple[ObjectRef, ...], named: Collection[str]) -> bool:
    """A jump that only opens it is what enter does, and a room's key is a remedy for some kinds alone."""
    if item.action.id == "jump" and item.keys == subject:
        return item.keys[0].kind in PAGE_OF
    if kinds := _HINTED.get(item.action.id):
        return item.keys[0].kind in kinds
    return item.action.id in _SENTENCES and (item.action.id not in _ONLY_NAMED or item.action.id in named)


def _named(keys: tuple[ObjectRef, ...]) -> str:
    """`the backup`, or `the backup or the schedule` where one can choose."""
    nouns = list(dict.fromkeys(_noun(key) for key in keys))
    if len(nouns) == len(keys) <= 2:
        return " or ".join(f"the {noun}" for noun in nouns)
    return f"one of {humanize.count(len(keys), nouns[0] if len(nouns) == 1 else 'object')}"


def _noun(key: ObjectRef) -> str:
    return _NOUNS.get(key.kind) or key.kind.lower()
