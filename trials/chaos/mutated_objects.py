"""Objects of every kind with fields changed at random: extreme times and numbers, hostile text, other types."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.models.kinds import KINDS, Kind
from foretop_core.models.wire import Resource, as_json, decode
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster

HOSTILE = "a\x1b[2J\x1b]0;own\x07\x1b]52;c;b3du\x1b\\\u202e\u2066\x9b31m[bold red]x[/]\r\n\u200bé\u0301漢字\ud7ff"
_KIND_OF = {kind.model: kind for kind in KINDS}
_YEARS = ("0001", "0002", "1969", "1970", "2025", "2026", "2027", "9990", "9997", "9998", "9999")
_DAYS = ("01-01", "02-28", "02-29", "11-15", "12-31")
_ZONES = ("Z", "+14:00", "-14:00", "+00:00", "-12:00", "+23:59", "")
_NUMBERS = (0, 1, -1, 2, 59, 60, 1440, 10_080, 10_081, 2**31 - 1, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64)
_WORDS = (
    "",
    " ",
    "-",
    "null",
    "Queued",
    "InProgress",
    "Completed",
    "Failed",
    "Deleting",
    "New",
    "Created",
    "0 0 31 2 *",
    "* * * * *",
    "@every 1ns",
    "@every 2562047h47m16s",
    "CRON_TZ=Pacific/Kiritimati 0 0 29 2 *",
    "CRON_TZ=Nowhere 1 1 1 1 1",
    "TZ=",
    "9223372036854775807ns",
    "2562047h47m16.854775807s",
    "-1h",
    "1e400",
    HOSTILE,
    "漢" * 3000,
    "x" * 40_000,
    "é\u0301\u0301\u0301\u0301\u0301" * 500,
    "%s{}{0}\\",
)
_TIME_FIELDS = ("time", "Time", "Timestamp", "expiration", "lastBackup", "lastSkipped")
_ADDED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("metadata", "creationTimestamp"), "time"),
    (("metadata", "deletionTimestamp"), "time"),
    (("status", "startTimestamp"), "time"),
    (("status", "completionTimestamp"), "time"),
    (("status", "expiration"), "time"),
    (("status", "lastBackup"), "time"),
    (("status", "lastSkipped"), "time"),
    (("status", "lastSyncedTime"), "time"),
    (("status", "lastValidationTime"), "time"),
    (("status", "processedTimestamp"), "time"),
    (("status", "queuePosition"), "number"),
    (("status", "errors"), "number"),
    (("status", "warnings"), "number"),
    (("status", "progress", "totalItems"), "number"),
    (("status", "progress", "itemsBackedUp"), "number"),
    (("status", "progress", "totalBytes"), "number"),
    (("status", "progress", "bytesDone"), "number"),
    (("status", "queueInfo", "estimatedQueuePosition"), "number"),
    (("status", "phase"), "word"),
    (("status", "failureReason"), "word"),
    (("status", "message"), "word"),
    (("spec", "warmUpTimeMins"), "number"),
    (("spec", "primerSchedule"), "word"),
    (("spec", "schedule"), "word"),
    (("spec", "timeZone"), "word"),
    (("spec", "cronJob", "spec", "schedule"), "word"),
    (("spec", "cronJob", "spec", "timeZone"), "word"),
    (("spec", "ttl"), "word"),
    (("spec", "backupSyncPeriod"), "word"),
    (("spec", "validationFrequency"), "word"),
    (("spec", "storageLocation"), "word"),
    (("spec", "includedNamespaces"), "words"),
    (("metadata", "annotations", "foretop.dev/paused-until"), "time"),
    (("metadata", "labels", "velero.io/schedule-name"), "word"),
)


@cache
def templates(seed: int = 1) -> list[tuple[Kind, dict[str, Any]]]:
    """A few good objects of each kind, as the API writes them."""
    box = SimulatedCluster(find_scene("default"), ScenarioOptions(seed=seed), FIXED_START)
    found: dict[Kind, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for item in box.objects():
        if len(known := found[_KIND_OF[type(item)]]) < 8:
            known.append(as_json(item))
    for kind, known in found.items():
        if not known:
            known.append({"metadata": {"name": f"some-{kind.plural}", "namespace": "velero"}})
    return [(kind, item) for kind, known in found.items() for item in known]


def mutated(good: dict[str, Any], name: str, dice: random.Random) -> dict[str, Any]:
    """A copy with one to four fields changed; the name is its own, so that it can be found again."""
    made = copy.deepcopy(good)
    made.setdefault("metadata", {})["name"] = name
    for _ in range(dice.choice((1, 1, 2, 4))):
        if dice.random() < 0.6:
            path, sort = dice.choice(_ADDED)
            _put(made, path, _value(sort, dice))
        else:
            _change_somewhere(made, dice)
    if not isinstance(made.get("metadata"), dict) or made["metadata"].get("name") != name:
        made["metadata"] = {"name": name, "namespace": "velero"}
    return made


def read(kind: Kind, plain: dict[str, Any]) -> Resource | Unreadable:
    """As a watch reads it: typed, or the reason why it is not."""
    try:
        return decode(kind.model, msgspec.json.encode(plain))
    except Unreadable as problem:
        return problem


def _value(sort: str, dice: random.Random) -> Any:
    match sort:
        case "time":
            clock = dice.choice(("00:00:00", "23:59:59", "02:41:07", "23:59:59.999999999", "24:00:00"))
            return f"{dice.choice(_YEARS)}-{dice.choice(_DAYS)}T{clock}{dice.choice(_ZONES)}"
        case "number":
            return dice.choice(_NUMBERS) if dice.random() < 0.7 else dice.randint(-(2**63), 2**63 - 1)
        case "words":
            return [dice.choice(_WORDS) for _ in range(dice.randint(0, 4))]
        case _:
            return dice.choice(_WORDS)


def _put(part: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        following = part.get(step)
        if not isinstance(following, dict):
            following = part[step] = {}
        part = following
    part[path[-1]] = value


def _change_somewhere(made: dict[str, Any], dice: random.Random) -> None:
    holder, place = dice.choice(list(_places(made)))
    value = holder[place]
    if dice.random() < 0.1:
        holder[place] = dice.choice((None, [], {}, "", 0, True, [None], {"a": None}))
    elif isinstance(value, bool):
        holder[place] = not value
    elif isinstance(value, int):
        holder[place] = _value("number", dice)
    elif isinstance(place, str) and place.endswith(_TIME_FIELDS):
        holder[place] = _value("time", dice)
    else:
        holder[place] = _value("word", dice)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, held in list(steps):
        yield value, place
        yield from _places(held)
