"""States of a cluster to ask about: scenes and recordings at random moments, after random actions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

from foretop_core.models import Resource, from_builtins
from foretop_core.models.kinds import BACKUP, KINDS, NAB, SCHEDULE, STORAGE, Kind
from foretop_demo.scenarios import RUSHES, SCENES, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from foretop_demo.status import ApiError
from tests import recordings

SCENE_NAMES = tuple(name for name in SCENES if name not in ("large", *RUSHES))
_LONGEST_STEP = 400


class Situation(msgspec.Struct, frozen=True):
    """All objects of a cluster at a moment, typed and as the API sent them."""

    story: str
    step: str
    now: datetime
    objects: tuple[Resource, ...]
    manifests: tuple[dict[str, Any], ...]
    version: str = ""
    """The release of Velero, where no object tells it."""


def scene(name: str, seed: int, after: timedelta = timedelta()) -> Iterator[Situation]:
    """A scene, then the scene after each of endlessly many random actions and spans of time."""
    chance = random.Random(f"{name} {seed}")
    box = SimulatedCluster(SCENES[name], ScenarioOptions(seed=seed), FIXED_START)
    if after:  # One of the others goes on, so that each of those that were forgotten has a line of its own.
        _pause(box, chance, box.storage.list(box.storage.kind(SCHEDULE.name))[0])
    box.settle(after)
    if after:
        _back_up_to_nowhere(box)
    step = f"{after} after it began"
    while True:
        yield _in_box(f"scene {name}, seed {seed}", step, box)
        step = _act(box, chance) if chance.random() < 0.6 else ""
        passed = timedelta(seconds=chance.choice((1, 3, 20, 60, chance.randrange(1, _LONGEST_STEP))))
        box.settle(passed)
        step = f"{step + ', ' if step else ''}{passed} later"


def scene_at(name: str, seed: int, now: datetime) -> Situation:
    """A scene at a moment, to the second, in which nobody has done anything."""
    box = SimulatedCluster(SCENES[name], ScenarioOptions(seed=seed), FIXED_START)
    box.settle(now - FIXED_START)
    return _in_box(f"scene {name}, seed {seed}", f"at {now:%H:%M:%S}", box)


def recording(name: str, seed: int) -> Iterator[Situation]:
    """A recording at every event in turn, from a random one on, each some random seconds later at most."""
    chance = random.Random(f"{name} {seed}")
    events = list(recordings.events(name))
    known: dict[tuple[str, str, str], recordings.Event] = {}
    begin = chance.randrange(len(events) // 2)
    for place, event in enumerate(events):
        if event.type == "DELETED":
            known.pop(event.key, None)
        else:
            known[event.key] = event
        if place < begin or chance.random() < 0.8:
            continue
        following = events[place + 1].t if place + 1 < len(events) else event.t
        now = event.t + (following - event.t) * chance.random()
        yield recorded(name, place, now, tuple(known.values()))


def recorded(name: str, place: int, now: datetime, known: tuple[recordings.Event, ...]) -> Situation:
    manifests = tuple(manifest(event.kind, event.raw) for event in known)
    objects = tuple(event.object for event in known)
    version = recordings.version_at(name, now)
    return Situation(f"recording {name}", f"event {place}", now, objects, manifests, version)


def _in_box(story: str, step: str, box: SimulatedCluster) -> Situation:
    held = [(kind, body) for kind in KINDS for body in box.storage.list(box.storage.kind(kind.name))]
    return Situation(
        story,
        step,
        box.clock.now(),
        tuple(from_builtins(kind.model, body) for kind, body in held),
        tuple(manifest(kind, body) for kind, body in held),
    )


def manifest(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
    """An object of a list, which has neither apiVersion nor kind, as it stands in a file."""
    return {"apiVersion": kind.api_version, "kind": kind.name, **body}


def _act(box: SimulatedCluster, chance: random.Random) -> str:
    """What people may do, at random; an action that the server refuses changes nothing."""
    if chance.random() < 0.25:
        return _pause_all(box, paused=chance.random() < 0.7)
    if chance.random() < 0.25:
        return _back_up_to_nowhere(box)
    kind = chance.choice((SCHEDULE, SCHEDULE, SCHEDULE, BACKUP, NAB))
    stored = box.storage.kind(kind.name)
    held = box.storage.list(stored)
    if not held:
        return "nothing done"
    body = chance.choice(held)
    namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
    try:
        if kind is SCHEDULE and chance.random() < 0.9:
            return _pause(box, chance, body)
        if kind is NAB and chance.random() < 0.5:
            box.storage.patch(stored, namespace, name, {"spec": {"deleteBackup": True}}, manager="maria")
            return f"deleteBackup of {name}"
        box.storage.delete(stored, namespace, name)
        return f"{kind.name} {name} deleted"
    except ApiError as problem:
        return f"{kind.name} {name}: {problem}"


def _pause_all(box: SimulatedCluster, *, paused: bool) -> str:
    stored = box.storage.kind(SCHEDULE.name)
    for body in box.storage.list(stored):
        metadata = body["metadata"]
        box.storage.patch(
            stored, metadata["namespace"], metadata["name"], {"spec": {"paused": paused}}, manager="maria"
        )
    return f"all schedules paused: {paused}"


def _back_up_to_nowhere(box: SimulatedCluster) -> str:
    """Enough backups that Velero refuses for one line of Triage to gather them."""
    stored = box.storage.kind(BACKUP.name)
    homes = {body["metadata"]["namespace"] for body in box.storage.list(box.storage.kind(STORAGE.name))}
    at = f"{box.clock.now():%H%M%S}"
    for home in sorted(homes)[:1]:
        for number in range(5):
            name = f"to-nowhere-{at}-{number}"
            spec = {"storageLocation": "nowhere", "includedNamespaces": ["default"]}
            box.storage.create(stored, {"metadata": {"name": name, "namespace": home}, "spec": spec}, manager="maria")
            box.settle(timedelta(seconds=2))
    return "five backups to a location that does not exist"


def _pause(box: SimulatedCluster, chance: random.Random, body: dict[str, Any]) -> str:
    paused = not body["spec"].get("paused", False)
    spec: dict[str, Any] = {"paused": paused}
    if not paused and (skip := chance.choice((None, True, False))) is not None:
        spec["skipImmediately"] = skip
    stored = box.storage.kind(SCHEDULE.name)
    metadata = body["metadata"]
    box.storage.patch(stored, metadata["namespace"], metadata["name"], {"spec": spec}, manager="maria")
    return f"{metadata['name']} {spec}"
