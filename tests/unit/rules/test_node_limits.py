"""How many volumes a node moves at once, as its agent reads it, and what that says of one that waits."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import DataUpload, Resource, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.open_queue import QueueForecasts
from foretop_core.rules.queue.node_limits import NodeAgentLimits, limits_in
from foretop_core.rules.queue.volumes import volumes_end
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import triage
from tests.objects import NOW, at, backup, location, upload

HOST = "kubernetes.io/hostname"


def config(load: object, **more: str) -> ConfigMap:
    data = {"config.json": json.dumps({"loadConcurrency": load}), **more}
    return from_builtins(ConfigMap, {"metadata": {"name": "agents", "namespace": "velero"}, "data": data})


def rule(number: int, *expressions: dict[str, Any], **labels: str) -> dict[str, Any]:
    named = {key.replace("host", HOST): value for key, value in labels.items()}
    return {"nodeSelector": {"matchLabels": named, "matchExpressions": list(expressions)}, "number": number}


def wants(operator: str, *values: str, key: str = HOST) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("load", "limit"),
    [
        (None, 1),
        ({}, 1),
        ({"globalConfig": 3}, 3),
        ({"globalConfig": -2}, 1),
        ({"globalConfig": 3, "perNodeConfig": None}, 3),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, host="a")]}, 5),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, host="b")]}, 3),
        ({"perNodeConfig": [rule(5, host="a"), rule(4, wants("In", "a", "b")), rule(2, host="b")]}, 4),
        ({"perNodeConfig": [rule(0, host="a"), rule(6)]}, 6),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, wants("NotIn", "a")), rule(6, wants("DoesNotExist"))]}, 3),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, wants("Exists"))]}, 5),
        # Other labels of a node are not known: a rule that would change nothing does not matter.
        ({"globalConfig": 3, "perNodeConfig": [rule(5, size="big")]}, None),
        ({"globalConfig": 3, "perNodeConfig": [rule(3, size="big")]}, 3),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, size="big", host="b")]}, 3),
        ({"globalConfig": 3, "perNodeConfig": [rule(5, size="big"), rule(4, host="a")]}, 4),
        ({"globalConfig": 3, "perNodeConfig": [rule(2, wants("Exists", key="gpu")), rule(4, host="a")]}, None),
        ("three", 1),
    ],
)
def test_the_smallest_rule_that_takes_a_node_is_its_limit(load: object, limit: int | None) -> None:
    found = limits_in(config(load))
    assert found.of("a") == limit
    assert bool(found.why_not("a")) is (limit is None)


def test_what_an_agent_cannot_tell_for_sure_is_not_known() -> None:
    several = limits_in(config({"globalConfig": 2}, more="{}"))
    assert (several.of("a"), several.why_not("a")) == (None, "ConfigMap agents has several keys")
    assert NodeAgentLimits().told("a").endswith("is not known: the DaemonSet of the node agents was not read")
    labels = limits_in(config({"perNodeConfig": [rule(2, size="big")]}))
    assert labels.told("a").endswith("not known: ConfigMap agents has rules for labels of nodes")
    assert limits_in(config({"globalConfig": 2})).told("a") == (
        "it moves 2 volumes at a time, by loadConcurrency in ConfigMap agents"
    )
    assert limits_in(config(None)).summary == "each node moves 1 volume at a time, the default of node agents"


# A volume that waits


def waiting(name: str, of: str, since: str = "02:33:00") -> DataUpload:
    accepted = at(since).isoformat()
    return upload(name, of=of, created=since, acceptedByNode="worker-4", acceptedTimestamp=accepted)


def moving(name: str, of: str, done: int) -> DataUpload:
    """One that has moved so many of 100 bytes in ten minutes."""
    progress = {"bytesDone": done, "totalBytes": 100}
    started = (NOW - timedelta(minutes=10)).isoformat()
    return upload(
        name, "InProgress", of=of, created="02:20:00", node="worker-4", startTimestamp=started, progress=progress
    )


def snapshot(limit: int | None, *objects: Resource) -> ClusterSnapshot:
    runs = [
        backup(name, "InProgress", created="02:30:00", started="02:30:00", of=name.split("-", maxsplit=1)[0])
        for name in ("lake-1", "media-1", "wiki-1")
    ]
    found = assemble((location(), *runs, *objects), given_versions={"": "1.18.3"})
    limits = {} if limit is None else {"velero": NodeAgentLimits(limit, source="agents")}
    return replace(found, node_limits=limits)


BUSY = (moving("a", "media-1", 50), moving("b", "wiki-1", 25))
"""They are done in 10 and in 30 minutes."""


@pytest.mark.parametrize(
    ("limit", "behind", "minutes"),
    [
        (None, "worker-4 moves volumes data-0 of media-1, data-0 of wiki-1", 10),
        (2, "worker-4 moves volumes data-0 of media-1, data-0 of wiki-1, 2 at a time", 10),
        # The limit was lowered: both have to end.
        (1, "worker-4 moves volumes data-0 of media-1, data-0 of wiki-1, one at a time", 30),
        (3, "", None),
    ],
)
def test_its_turn_comes_when_fewer_move_than_the_node_may(limit: int | None, behind: str, minutes: int | None) -> None:
    one = snapshot(limit, *BUSY, waiting("c", "lake-1"))
    (lake,) = (run for run in one.backups if run.name == "lake-1")
    found = volumes_end(one.movements_of(lake), one.on_node, NOW)
    assert found.turn_after.replace(" and ", ", ") == behind
    told = None if minutes is None else NOW + timedelta(minutes=minutes)
    assert found.not_before == told
    (last,) = (movement for movement in one.movements if movement.name == "c")
    assert one.moved_before(last) == found.turn_after


def test_a_node_that_could_move_one_more_is_what_a_volume_waits_for() -> None:
    warned = {
        render(one.remedy, NOW) for one in triage(snapshot(3, *BUSY, waiting("c", "lake-1", "02:10:00")), NOW).findings
    }
    assert any("Check the node agent pod" in remedy for remedy in warned)
    noted = {
        render(one.remedy, NOW) for one in triage(snapshot(2, *BUSY, waiting("c", "lake-1", "02:20:00")), NOW).findings
    }
    assert (
        "Nothing while data moves there; it moves 2 volumes at a time, by loadConcurrency in ConfigMap agents." in noted
    )
    silent = triage(snapshot(None, *BUSY, waiting("c", "lake-1", "02:20:00")), NOW).findings
    assert any(
        "is not known: the DaemonSet of the node agents was not read" in render(one.remedy, NOW) for one in silent
    )


def earlier(minutes: int) -> list[Resource]:
    return [
        backup(
            f"lake-0{number}",
            started=f"{start}:00",
            ended=f"{start[:2]}:{minutes}:00",
            created=f"{start}:00",
            of="lake",
        )
        for number, start in enumerate(("00:00", "01:00", "01:01"))
    ]


def test_earlier_runs_tell_the_end_of_one_whose_volume_waits_its_turn() -> None:
    def end(limit: int | None, minutes: int, *more: Resource) -> object:
        one = snapshot(limit, *BUSY, waiting("c", "lake-1"), *earlier(minutes), *more)
        lake = next(run for run in one.backups if run.name == "lake-1")
        return next(
            found.end.likely if found.end else render(found.unknown, NOW)
            for (kind, name), found in QueueForecasts().of(one, "velero", NOW).items()
            if (kind, name) == (type(lake), "lake-1")
        )

    # It has gone on for 11 minutes, its turn comes in 10, and earlier runs took 40.
    assert end(2, 40) == at("03:10:00")
    assert "waits its turn" in str(end(None, 40))
    # Earlier runs were over before its turn.
    assert "waits its turn" in str(end(2, 15))
    # Another one is before it, and nobody knows how long that takes.
    first = waiting("d", "media-1", "02:32:00")
    assert "waits its turn" in str(end(1, 40, first))
