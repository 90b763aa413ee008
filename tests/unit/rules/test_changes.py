"""What changed between two versions of an object, by whom, and what an object proves of its own past."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.wire import ObjectRef, Resource, unreadable_object
from foretop_core.rules.changes import ObservedTransition, change_list, changes_between, told_by
from tests.objects import NOW, at, backup, schedule

KEY = ObjectRef("prod", SCHEDULE.name, "velero", "nightly")
HOUR = timedelta(hours=1)


def words(before: Resource | None, after: Resource | None) -> list[str]:
    return [f"{step.text} {step.by}".strip() for step in changes_between(KEY, before, after, NOW)]


def written(manager: str, when: str = "02:10", **fields: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "time": at(when).isoformat(),
        "fieldsV1": {"f:spec": {f"f:{one}": {} for one in fields}},
    }


def test_an_object_comes_and_goes() -> None:
    made = schedule(managedFields=[written("kubectl-create")])
    assert words(None, made) == ["created with kubectl-create"]
    assert words(made, None) == ["deleted"]
    assert words(schedule(uid="a"), schedule(uid="b")) == ["deleted", "created"]
    assert words(None, unreadable_object("velero", "nightly", "odd", "")) == []


def test_who_made_it_is_not_known_where_several_have_written() -> None:
    assert words(None, schedule(managedFields=[written("helm"), written("velero-server")])) == ["created"]


def test_a_pause_is_told_once_with_who_did_it() -> None:
    paused = schedule(paused=True, managedFields=[written("kubectl-patch", paused=True)])
    assert words(schedule(), paused) == ["paused: false → true with kubectl-patch"]
    noted = {"foretop.io/paused-by": "maria", "foretop.io/paused-at": at("02:10").isoformat()}
    by_foretop = schedule(paused=True, managedFields=[written("foretop", paused=True)], annotations=noted)
    assert words(schedule(), by_foretop) == ["paused: false → true by maria"]


def test_who_changed_an_expression_is_not_said_where_nothing_tells_it() -> None:
    assert words(schedule(), schedule(cron="0 4 * * *")) == ["spec.schedule: 0 2 * * * → 0 4 * * *"]


def test_long_values_are_told_from_where_they_differ() -> None:
    kept = [f"kind-{number}" for number in range(20)]
    before, after = (schedule(template={"excludedResources": kinds}) for kinds in (kept, [*kept, "secrets"]))
    assert words(before, after) == ['spec.template.excludedResources: …8","kind-19"] → …8","kind-19","secrets"]']


def test_fields_of_the_spec_are_told_each_with_the_program_that_wrote_it() -> None:
    before = schedule(template={"ttl": "24h"}, managedFields=[written("helm")])
    after = schedule(
        cron="0 4 * * *",
        template={"ttl": "48h", "includedNamespaces": ["shop"]},
        managedFields=[written("helm"), written("kubectl-edit", schedule=True)],
    )
    assert words(before, after) == [
        "spec.schedule: 0 2 * * * → 0 4 * * * with kubectl-edit",
        "spec.template.ttl: 24h → 48h with kubectl-edit",
        'spec.template.includedNamespaces: none → ["shop"] with kubectl-edit',
    ]
    assert words(after, after) == []


def test_what_the_server_fills_in_when_a_run_begins_is_no_change() -> None:
    asked = backup(spec={"includedNamespaces": ["shop"], "ttl": "24h"}, phase="New")
    filled = {"includedNamespaces": ["shop"], "ttl": "48h", "storageLocation": "default"}
    assert words(asked, backup(spec=filled, phase="New")) == ["spec.ttl: 24h → 48h"]


def test_what_the_server_adds_when_it_takes_a_run_up_is_no_change() -> None:
    asked, begun = {"excludedResources": ["nodes"]}, {"excludedResources": ["nodes", "events"]}
    took = words(backup(spec=asked, phase="New"), backup(spec=begun, phase="InProgress"))
    assert took == ["phase: New → InProgress"]


def test_what_a_program_writes_out_that_was_not_there_is_no_change() -> None:
    written_out = {"csiSnapshotTimeout": "0s", "hooks": {}, "metadata": {}}
    assert words(schedule(), schedule(template=written_out)) == []
    assert words(schedule(), schedule(template={"labelSelector": {}})) == ["spec.template.labelSelector: none → {}"]


def test_a_whole_template_is_a_few_lines_and_a_secret_is_hidden() -> None:
    many = {f"key-{number:02}": "x" * 500 for number in range(30)}
    told = words(schedule(), schedule(template={"labelSelector": {"matchLabels": many}}))
    assert len(told) == 13
    assert told[-1] == "18 more fields of spec"
    assert max(map(len, told)) < 160
    (line,) = words(schedule(), schedule(template={"labelSelector": {"matchLabels": {"a": "https://u:geheim1@host/"}}}))
    assert "geheim1" not in line


def test_an_object_tells_its_own_times_and_nothing_between() -> None:
    run = backup(created="02:00:03", started="02:00:05", ended="02:10:00", phase="PartiallyFailed")
    key = ObjectRef("prod", BACKUP.name, "velero", "one")
    told = [(f"{step.at:%H:%M:%S}", step.text, step.told) for step in told_by(key, run)]
    assert told == [
        ("02:00:03", "created", True),
        ("02:00:05", "started", True),
        ("02:10:00", "ended, PartiallyFailed", True),
    ]
    paused = schedule(
        last="02:00:03",
        paused=True,
        managedFields=[written("helm", "2026-11-01T00:00:00Z", schedule=True), written("kubectl-patch", paused=True)],
    )
    assert [f"{step.text} {step.by}".strip() for step in told_by(KEY, paused)] == [
        "created",
        "made a backup",
        "paused with kubectl-patch",
    ]


@pytest.mark.parametrize(
    ("watched_from", "texts"),
    [
        ("01:30", ["phase: New → Failed"]),
        ("02:05", ["phase: New → Failed", "started", "created"]),
        ("", ["phase: New → Failed", "ended, Failed", "started", "created"]),
    ],
)
def test_what_was_seen_counts_and_before_that_what_the_objects_tell(watched_from: str, texts: list[str]) -> None:
    run = backup(created="02:00:03", started="02:00:05", ended="02:10:00", phase="Failed")
    key = ObjectRef("prod", BACKUP.name, "velero", "one")
    seen = [
        ObservedTransition(at("02:10:01"), key, "phase", "New", "Failed"),
        ObservedTransition(NOW - 2 * HOUR, key, "phase", "", "New"),
    ]
    begun = at(watched_from) if watched_from else None
    found = change_list([(key, run)], seen, begun, NOW - HOUR, NOW)
    assert [step.text for step in found.changes] == texts
