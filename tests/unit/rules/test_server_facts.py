"""The pod of a Velero server as a sign of life, where pods are watched."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.commands.report import server_items
from foretop_core.models import Pod, from_builtins
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.server_facts import ServerFacts, ServerPod, ServerState, server_facts
from foretop_core.rules.facts.storage_facts import StorageFacts
from foretop_core.rules.heartbeat import PERIOD, SILENT_PERIODS
from foretop_core.rules.night.night import why_unforeseen
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ObservedChanges
from foretop_core.rules.triage import Thresholds
from foretop_core.rules.triage.servers import servers_not_judged, silent_servers
from foretop_core.store.change_history import Observations
from tests.objects import NOW, at, backup, location, schedule


def pod(name: str = "velero-7d9f", started: str = "02:39:30", *, ready: bool = True, restarts: int = 0) -> Pod:
    state: dict[str, Any] = {"running": {"startedAt": at(started).isoformat()}}
    status = {"name": "velero", "ready": ready, "restartCount": restarts, "state": state}
    meta = {"name": name, "namespace": "velero", "labels": {"deploy": "velero"}}
    spec = {"containers": [{"name": "velero"}]}
    body = {"metadata": {**meta, "creationTimestamp": at(started).isoformat()}, "spec": spec}
    return from_builtins(Pod, {**body, "status": {"phase": "Running", "containerStatuses": [status]}})


def facts(*objects: Any) -> ServerFacts:
    return server_facts(assemble(objects), "velero", NOW)


def test_the_pod_of_a_server_is_told_and_its_start_is_a_sign_of_life() -> None:
    found = facts(location(checked="02:26:03", synced="02:26:03"), pod(restarts=2))
    assert found.pod == ServerPod("velero-7d9f", is_ready=True, restarts=2, started=at("02:39:30"))
    assert str(found.sign) == "Pod velero-7d9f was started"
    assert (found.state, found.since) == (ServerState.SILENT, at("02:39:30")), "it does nothing all the same"
    assert render(found.silence, NOW) == "no sign of activity from Velero since 02:39:30Z"


@pytest.mark.parametrize(("ready", "state"), [(True, ServerState.ACTIVE), (False, ServerState.NOT_KNOWN)])
def test_a_ready_pod_shows_life_where_nothing_else_tells(ready: bool, state: ServerState) -> None:
    assert facts(schedule(), pod(started="01:00:00", ready=ready)).state is state


@pytest.mark.parametrize(("late", "state"), [(0, ServerState.ACTIVE), (1, ServerState.NOT_KNOWN)])
def test_work_shows_life_for_as_long_as_a_check_of_the_storage_would(late: int, state: ServerState) -> None:
    begun = backup(phase="InProgress", created="01:59:00", started="02:00:00")
    now = at("02:00:00") + SILENT_PERIODS * PERIOD + timedelta(seconds=late)
    assert server_facts(assemble([begun]), "velero", now).state is state


def test_of_several_pods_the_ready_one_counts_then_the_newest() -> None:
    pods = pod("old", "01:00:00"), pod("next", "02:00:00", ready=False), pod("last", "02:10:00", ready=False)
    assert [found.name if (found := facts(location(), *some).pod) else "" for some in (pods, pods[1:], ())] == [
        "old",
        "last",
        "",
    ]


def test_no_second_of_the_server_before_its_pod_is_that_of_the_new_one() -> None:
    """A container that was restarted looks at its schedules at another second."""
    assert assemble([location(checked="02:38:03", synced="02:38:03")]).beat_second("velero") == 3
    assert assemble([location(checked="02:38:03", synced="02:38:03"), pod()]).beat_second("velero") is None


def test_json_has_the_pod() -> None:
    (item,) = server_items(assemble([location(), pod(restarts=1)]), NOW)
    assert item["pod"] == {"name": "velero-7d9f", "ready": True, "restarts": 1, "started": "2026-11-15T02:39:30Z"}
    (without,) = server_items(assemble([location()]), NOW)
    assert without["pod"] is None


def _seen(*looks: str, checks: tuple[str, ...] = ()) -> ObservedChanges:
    """The observations of one who looked at these times, and saw a check of the storage come in at those."""
    observed, key = Observations(), ObjectRef("", "BackupStorageLocation", "velero", "default")
    before = location(checked="01:00:00", synced="")
    for number, moment in enumerate(checks):
        after = location(checked=f"02:0{number}:00", synced="")
        observed.note(key, before, after, at(moment), listed=False)
        before = after
    for look in looks:
        observed.look("", at(look))
    return observed.of("", {})


@pytest.mark.parametrize(
    ("seen", "is_silent"),
    [
        pytest.param(_seen("02:41:05", "02:41:06"), True, id="nothing came"),
        pytest.param(_seen("02:36:00", "02:39:00", "02:41:06"), True, id="it looked seldom"),
        pytest.param(_seen("02:31:00", "02:41:00"), False, id="the machine slept"),
        pytest.param(_seen("03:31:00", "02:41:00"), False, id="the clock was set back"),
        pytest.param(_seen("02:31:00", "02:37:00", "02:39:00"), True, id="three minutes since"),
        pytest.param(_seen(checks=("02:38:30",)), False, id="checks come in with times of another clock"),
        pytest.param(_seen(checks=("02:38:00",)), True, id="they have ceased"),
    ],
)
def test_silence_needs_data_that_was_read_after_it(seen: ObservedChanges, is_silent: bool) -> None:
    snapshot = replace(assemble([location(checked="02:30:00", synced="02:30:00")]), seen=seen)
    assert [one.code for one in silent_servers(snapshot, NOW, Thresholds())] == ["velero-no-pulse"] * is_silent
    doubt = seen.clock_jumped is not None and not is_silent
    found = server_facts(snapshot, "velero", NOW)
    assert (found.judged_at is not None, found.state is ServerState.NOT_KNOWN) == (doubt, doubt)
    assert [one.code for one in servers_not_judged(snapshot, NOW, Thresholds())] == ["velero-not-judged"] * doubt
    assert bool(why_unforeseen(snapshot, "velero", NOW)) is (is_silent or doubt)
    facts = StorageFacts(snapshot.storage[0], NOW, replace(snapshot, seen=replace(seen, checks_seen={})))
    is_new = seen.clock_jumped is not None and NOW - seen.clock_jumped < 3 * PERIOD
    assert (facts.unchecked is None, facts.unsynced is None) == (is_new, is_new)
