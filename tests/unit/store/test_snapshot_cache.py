"""What a snapshot takes over from the store besides its objects, and when a new one is made."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, Deployment, Namespace
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAMESPACE, STORAGE
from foretop_core.models.wire import ObjectRef, from_builtins
from foretop_core.rules.queue.node_limits import NodeAgentLimits
from foretop_core.store import Store
from tests.unit.store.making import START, Watched, backup, gone, meta, nab

LIVE = WatchHealth(WatchState.LIVE, START)
MINUTE = timedelta(minutes=1)


def namespaces_seen(store: Store) -> bool:
    return store.snapshot("prod").namespaces is not None


def test_nothing_changed_is_the_same_snapshot() -> None:
    seen = Watched()
    empty = seen.store.snapshot("prod")
    assert seen.store.snapshot("prod") is empty
    seen.list(backup("a"))
    first = seen.store.snapshot("prod")
    assert [item.name for item in first.backups] == ["a"], "the first object is a change too"
    assert seen.store.snapshot("prod") is first
    seen.sink.health(LIVE)
    live = seen.store.snapshot("prod")
    assert (first.unseen, live.unseen) == (empty.unseen, ())
    seen.sink.health(WatchHealth(WatchState.LIVE, START, seen=1))
    assert seen.store.snapshot("prod") is live, "nothing that the rules see has changed"


def test_the_revision_of_a_cluster_counts_the_changes_of_its_objects() -> None:
    seen = Watched()
    revisions = [seen.store.revision("prod")]
    for version in (1, 2):
        seen.sink.apply("MODIFIED", backup("a", version))
        revisions.append(seen.store.revision("prod"))
    seen.sink.apply("DELETED", gone(backup("a"), 3))
    revisions.append(seen.store.revision("prod"))
    assert revisions == [0, 1, 2, 3]
    assert seen.store.revision("other") == 0


def test_limits_of_node_agents_that_are_read_again_and_the_same_are_no_change() -> None:
    seen, woken = Watched(), list[int]()
    seen.store.listen(lambda: woken.append(seen.store.revision("prod")))
    for usual in (2, 2, 3):
        seen.store.note_node_limits("prod", "velero", NodeAgentLimits(usual))
    assert woken == [1, 2]
    assert seen.store.snapshot("prod").node_limits_of("velero") == NodeAgentLimits(3)


def test_lookups_are_current_until_the_next_change_of_their_cluster() -> None:
    seen = Watched()
    seen.list(backup("a"))
    live = seen.store.snapshot("prod").live
    assert live is not None
    seen.list(backup("b"), sink=seen.store.sink(WatchScope("other", BACKUP), seen.clock))
    assert live.is_current()
    seen.sink.apply("MODIFIED", backup("a", 2))
    assert not live.is_current()


def test_namespaces_are_known_once_they_are_listed_and_there_are_some() -> None:
    seen = Watched(NAMESPACE)
    shop = from_builtins(Namespace, {"metadata": meta("shop", "")})
    seen.sink.health(LIVE)
    assert not namespaces_seen(seen.store), "a cluster without namespaces is one that shows none"
    seen.list(shop)
    assert namespaces_seen(seen.store)
    seen.sink.health(WatchHealth(WatchState.SYNCING, START))
    assert not namespaces_seen(seen.store)
    seen.sink.health(LIVE)
    assert namespaces_seen(seen.store)


@pytest.mark.parametrize(
    ("before", "after", "is_back"),
    [("", "New", False), ("New", "", False), ("Odd", "New", False), ("Created", "Odd", False), ("Created", "", True)],
)
def test_a_phase_without_a_place_in_the_order_is_no_step_back(before: str, after: str, is_back: bool) -> None:
    seen = Watched(NAB)
    key = ObjectRef("prod", NAB.name, "team-a", "orders")
    seen.sink.apply("ADDED", nab("orders", "team-a", 1, phase=before))
    seen.clock.advance(MINUTE)
    seen.sink.apply("MODIFIED", nab("orders", "team-a", 2, phase=after))
    observed = seen.store.snapshot("prod").seen
    assert bool(observed.went_back) == is_back
    assert observed.phase_since == {key: START + MINUTE}


def test_work_that_was_seen_to_move_is_told_from_the_rest() -> None:
    def running(name: str, version: int, done: int) -> Backup:
        progress = {"itemsBackedUp": done, "totalItems": 9}
        return backup(name, version, phase="InProgress", startTimestamp="2026-11-15T02:00:00Z", progress=progress)

    seen = Watched()
    seen.list(running("still", 1, 4), running("moves", 1, 4))
    seen.clock.advance(MINUTE)
    seen.sink.apply("MODIFIED", running("moves", 2, 5))
    observed = seen.store.snapshot("prod").seen
    assert observed.moved == {seen.key("still"): START, seen.key("moves"): START + MINUTE}
    assert observed.unmoved == {seen.key("still")}


@pytest.mark.parametrize("arguments", [None, [], ["--concurrent-backups=0"], ["--concurrent-backups=1"]])
def test_a_server_that_tells_no_number_has_one_slot(arguments: list[str] | None) -> None:
    seen = Watched()
    if arguments is not None:
        container = {"name": "velero", "args": ["server", *arguments]}
        body = {"metadata": meta("velero"), "spec": {"template": {"spec": {"containers": [container]}}}}
        server = from_builtins(Deployment, body)
        seen.list(server, sink=seen.store.sink(WatchScope("prod", DEPLOYMENT), seen.clock))
    seen.list(backup("a", 1, phase="InProgress"), backup("b", 1, phase="InProgress"))

    def free() -> datetime | None:
        return seen.store.snapshot("prod").seen.free_slot_since.get("velero")

    seen.clock.advance(MINUTE)
    seen.sink.apply("MODIFIED", backup("a", 2, phase="Completed"))
    assert free() is None
    seen.clock.advance(MINUTE)
    seen.sink.apply("DELETED", gone(backup("b"), 3))
    assert free() == START + 2 * MINUTE
    assert seen.store.snapshot("other").seen.free_slot_since == {}


def test_a_restart_and_a_late_sync_are_told_of_their_own_cluster() -> None:
    seen = Watched(STORAGE)
    for version, second in enumerate(("10:30", "11:30", "12:45", "13:45"), 1):
        body = {
            "metadata": meta("default", version=version),
            "status": {"lastSyncedTime": f"2026-11-15T02:{second}Z"},
        }
        seen.sink.apply("MODIFIED", from_builtins(STORAGE.model, body))
        if second == "12:45":
            late = seen.store.snapshot("prod").seen.syncs_off_beat
    assert late == {datetime.fromisoformat("2026-11-15T02:12:45Z")}
    assert list(seen.store.snapshot("prod").seen.restarted) == ["velero"]
    assert seen.store.snapshot("other").seen.restarted == {}


def test_the_newest_scheduled_backups_are_those_of_two_hours() -> None:
    seen = Watched()
    daily = {"velero.io/schedule-name": "daily"}
    for name, hours, labels in (
        ("by-hand", 0, {}),
        ("last", 0, daily),
        ("before", 1, daily),
        ("old", 2, daily),
        ("older", 3, daily),
    ):
        created = (START - timedelta(hours=hours)).isoformat()
        body = {"metadata": meta(name, creationTimestamp=created, labels=labels)}
        seen.sink.apply("ADDED", from_builtins(Backup, body))
    live = seen.store.snapshot("prod").live
    assert live is not None
    assert {item.name for item in live.lookups.newest_scheduled_backups("velero")} == {"last", "before"}
