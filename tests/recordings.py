"""The recordings of the real controllers, as typed events in the order in which they arrived."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from foretop_core.cron import Dialect
from foretop_core.models import Resource, from_builtins
from foretop_core.models.kinds import KINDS, Kind
from foretop_core.rules.cron_dialects import NEWEST_KNOWN, read_release

FOLDER = Path(__file__).parent / "data" / "recordings"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.jsonl")))
VELERO_NAMESPACE = "velero"
_VERSIONS = {"overlap-1.17": "1.17.2", "upgrade": "1.18.2"}
"""What served at first where it was not the newest."""
_BY_PLURAL = {kind.plural: kind for kind in KINDS}
_UPGRADED = re.compile(r"Velero is upgraded to (\S+)")


@dataclass(frozen=True, slots=True)
class Note:
    """The story did something at this moment."""

    t: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """The API server said that an object was added, modified or deleted."""

    t: datetime
    kind: Kind
    type: str
    object: Resource
    raw: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind.name, self.object.namespace, self.object.name


@cache
def read(name: str) -> tuple[Note | Event, ...]:
    """Everything in one recording; an object that does not decode is an error here and now."""
    lines = (FOLDER / f"{name}.jsonl").read_text().splitlines()
    return tuple(_entry(json.loads(line)) for line in lines)


def events(name: str, *plurals: str) -> Iterator[Event]:
    """The events alone, of the kinds named or of all."""
    for entry in read(name):
        if isinstance(entry, Event) and (not plurals or entry.kind.plural in plurals):
            yield entry


def version_at(name: str, moment: datetime) -> str:
    """The release of Velero that served at a moment of a recording."""
    version = _VERSIONS.get(name, NEWEST_KNOWN)
    for entry in read(name):
        if isinstance(entry, Note) and entry.t <= moment and (upgraded := _UPGRADED.match(entry.text)):
            version = upgraded[1]
    return version


def dialect_at(name: str, moment: datetime) -> Dialect:
    (dialect,) = read_release(version_at(name, moment)).dialects
    return dialect


def _entry(line: dict[str, Any]) -> Note | Event:
    moment = datetime.fromisoformat(line["t"])
    if "note" in line:
        return Note(moment, line["note"])
    kind = _BY_PLURAL.get(line["kind"])
    assert kind is not None, f"{line['kind']} is no kind that we know"
    return Event(moment, kind, line["type"], from_builtins(kind.model, line["object"]), line["object"])
