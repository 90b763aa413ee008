"""Changes that somebody undoes: whether what was written has been put back, and by whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.pauses import OWN_MANAGER, PAUSED_BY, PAUSED_WHY
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.triage.finding import Finding, Severity, brief

CODE = "change-undone"
FieldPath = tuple[str, ...]
_USED_UP = frozenset({("spec", "skipImmediately")})
"""What Velero sets back itself once it has acted on it."""
PAUSED: FieldPath = ("spec", "paused")
_KEPT_BY_PEOPLE = ("spec", "metadata")
"""The status is the controllers' own."""
_EMPTY = (None, False, "")
_PEOPLES = re.compile(rf"(?:{OWN_MANAGER}|velero|(?:kubectl|oc)(?:-.*)?)")
"""Programs that write what a person asks for; what others write back a controller has undone."""


class WrittenField(msgspec.Struct, frozen=True):
    """One field that was written: what it was set to, None for removed, and what it was before."""

    path: FieldPath
    written: Any
    before: Any


class UndoneChange(msgspec.Struct, frozen=True):
    """A change that was put back, or a deleted object that was created again."""

    target: ObjectRef
    fields: tuple[WrittenField, ...]
    """None of them where the object was created again."""
    written_at: datetime
    at: datetime
    by: str
    """The program that the API server names as the writer; "" where that is not known."""
    person: str = ""
    """Who paused it again with foretop, by the note on the object."""
    why: str = ""

    @property
    def is_by_person(self) -> bool:
        """True if somebody did the opposite, and no controller that undoes what others write."""
        return _PEOPLES.fullmatch(self.by) is not None

    @property
    def brief(self) -> str:
        if self.is_by_person:
            return f"{self.opposite} {self.who}{f': {self.why}' if self.why else ''}"
        what = "put back" if self.fields else "created again"
        return f"{what} by {self.by}" if self.by else f"{what}; by whom is not recorded"

    @property
    def who(self) -> str:
        """`by admin`, `with kubectl-patch`."""
        return f"by {self.person}" if self.person else f"with {self.by}"

    @property
    def deed(self) -> str:
        """The undone action in a word."""
        return "deletion" if not self.fields else self._of_pause("pause", "unpause", "change")

    @property
    def opposite(self) -> str:
        """The action that undid it."""
        return "created again" if not self.fields else self._of_pause("unpaused", "paused again", "changed back")

    def _of_pause(self, paused: str, unpaused: str, other: str) -> str:
        field = next((field for field in self.fields if field.path == PAUSED), None)
        return other if field is None else paused if field.written else unpaused


def written_fields(body: Mapping[str, Any], before: Mapping[str, Any]) -> tuple[WrittenField, ...]:
    """The fields of a merge patch whose return to what they were would undo it."""
    fields = (WrittenField(path, value, value_at(before, path)) for path, value in _leaves(body))
    return tuple(field for field in fields if field.path not in _USED_UP and not _alike(field.written, field.before))


def has_written(field: WrittenField, held: Mapping[str, Any]) -> bool:
    """True if an object has what was written."""
    return _alike(value_at(held, field.path), field.written)


def put_back(fields: Iterable[WrittenField], held: Mapping[str, Any]) -> tuple[WrittenField, ...]:
    """The fields that are again what they were before the write."""
    return tuple(field for field in fields if _alike(value_at(held, field.path), field.before))


def last_writer(held: Mapping[str, Any], path: FieldPath) -> tuple[str, datetime | None]:
    """The manager of a field and when it wrote, as the API server records them; "" where it does not."""
    writers = [(_time(entry.get("time")), str(entry.get("manager") or "")) for entry in _writers(held, path)]
    written_at, manager = max(writers, key=lambda one: one[0].timestamp() if one[0] else 0.0, default=(None, ""))
    return manager, written_at


def creator(held: Mapping[str, Any]) -> tuple[str, datetime | None]:
    """The manager that wrote the spec first; of one second, which has most of it: Velero adds to a new schedule."""
    entry = min(_writers(held, ("spec",)), key=_when_and_how_little, default={})
    return str(entry.get("manager") or ""), _time(entry.get("time"))


def _when_and_how_little(entry: Mapping[str, Any]) -> tuple[float, int]:
    written_at, fields = _time(entry.get("time")), value_at(entry, ("fieldsV1", "f:spec"))
    return written_at.timestamp() if written_at is not None else 0.0, -len(fields) if isinstance(fields, Mapping) else 0


def _writers(held: Mapping[str, Any], path: FieldPath) -> list[Mapping[str, Any]]:
    entries = (held.get("metadata") or {}).get("managedFields") or ()
    listed = entries if isinstance(entries, list | tuple) else ()
    return [entry for entry in listed if isinstance(entry, Mapping) and _owns(entry.get("fieldsV1"), path)]


def pause_note_of(held: Mapping[str, Any], by: str) -> tuple[str, str]:
    """The person who paused an object with foretop, and why, by its note; "" where another program wrote last."""
    notes = value_at(held, ("metadata", "annotations"))
    if by != OWN_MANAGER or value_at(held, PAUSED) is not True or not isinstance(notes, Mapping):
        return "", ""
    return str(notes.get(PAUSED_BY) or ""), str(notes.get(PAUSED_WHY) or "")


def undone_finding(undone: UndoneChange, owner: str) -> Finding:
    """`owner` is what the object itself tells of who keeps it; "" where it tells nothing."""
    if undone.is_by_person:
        return _opposite_finding(undone)
    who = undone.by or "somebody"
    if undone.fields:
        names = humanize.join([".".join(field.path) for field in undone.fields])
        lead = f"Your {undone.deed} did not hold: {who} set {names} back at "
        evidence = sentence(lead, undone.at, ". foretop wrote it at ", undone.written_at, ".")
    else:
        evidence = sentence(
            "foretop deleted it at ", undone.written_at, f". {who} created it again at ", undone.at, "."
        )
    remedy: Text = owner or "Change it where it is kept, or ask its owner to leave it alone meanwhile."
    was_undone = f"your {undone.deed} was undone"
    verb = "put back" if undone.fields else "made again"
    what = brief(f"{verb} by {undone.by}", was_undone) if undone.by else was_undone
    return Finding(CODE, Severity.WARNING, undone.target, undone.at, what, evidence, remedy)


def _opposite_finding(undone: UndoneChange) -> Finding:
    lead = f"It was {undone.opposite} {undone.who} at "
    why = f": {undone.why}" if undone.why else ", no reason given"
    evidence = sentence(lead, undone.at, f"{why}. Your {undone.deed} was at ", undone.written_at, ".")
    remedy = f"Ask {undone.person or 'who did it'} before you change it again."
    what = brief(f"{undone.opposite} {undone.who}", undone.opposite)
    return Finding(CODE, Severity.NOTE, undone.target, undone.at, what, evidence, remedy)


def value_at(held: Mapping[str, Any], path: FieldPath) -> Any:
    value: Any = held
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _leaves(part: Mapping[str, Any], above: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    for key, value in part.items():
        path = (*above, key)
        if not above and key not in _KEPT_BY_PEOPLE:
            continue
        if path[0] == "metadata" and len(path) == 2 and key not in ("annotations", "labels"):
            continue
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, path)
        else:
            yield path, value


def _alike(one: Any, other: Any) -> bool:
    """The API leaves out what is empty."""
    return one == other or (_is_empty(one) and _is_empty(other))


def _is_empty(value: Any) -> bool:
    return value in _EMPTY or (isinstance(value, Mapping | list | tuple) and not value)


def _owns(fields: Any, path: FieldPath) -> bool:
    """Lists and maps may be owned as a whole."""
    for key in path:
        if not isinstance(fields, Mapping):
            return False
        if f"f:{key}" not in fields:
            return False
        fields = fields[f"f:{key}"]
        if fields == {}:
            return True
    return True


def _time(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo else None
