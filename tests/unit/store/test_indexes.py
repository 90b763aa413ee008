"""The indexes, followed through every kind of change of the objects in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE, Kind
from foretop_core.models.wire import from_builtins
from foretop_core.rules.indexes import day_of
from foretop_core.store import ChangeHistory, Store
from foretop_core.store.change_history import ActivityTracker, BeatTracker, SlotTracker
from tests.unit.store.making import START, Watched, backup, gone, meta
from tests.wire.watching import fails_once

LABEL = "velero.io/schedule-name"


def made(name: str, version: int = 1, hours: float | None = None, namespace: str = "velero") -> Backup:
    """A backup created so many hours after the start."""
    created = None if hours is None else (START + timedelta(hours=hours)).isoformat()
    body = meta(name, namespace, version, creationTimestamp=created, labels={LABEL: "nightly"})
    return from_builtins(Backup, {"metadata": body})


def of_schedule(store: Store, name: str) -> list[str]:
    index = store.indexes.backups_by_schedule
    keys = [key.name for key in index.keys("prod", "velero", name)]
    assert keys == [item.name for item in index.get("prod", "velero", name)]
    return keys


def test_a_bucket_grows_from_one_object_to_many_and_shrinks_again() -> None:
    seen = Watched()
    found = []
    for name in ("a", "b", "c"):
        seen.sink.apply("ADDED", backup(name, 1, labels={LABEL: "nightly"}))
        found.append(of_schedule(seen.store, "nightly"))
    for name in ("b", "a", "c"):
        seen.sink.apply("DELETED", gone(backup(name), 2))
        found.append(of_schedule(seen.store, "nightly"))
    assert found == [["a"], ["a", "b"], ["a", "b", "c"], ["a", "c"], ["c"], []]
    seen.sink.apply("ADDED", backup("d", 3, labels={LABEL: "nightly"}))
    assert of_schedule(seen.store, "nightly") == ["d"]


def test_the_only_object_of_a_bucket_is_replaced_by_its_new_version() -> None:
    seen = Watched()
    for version, phase in ((1, "New"), (2, "InProgress")):
        seen.sink.apply("MODIFIED", backup("a", version, labels={LABEL: "nightly"}, phase=phase))
    index = seen.store.indexes.backups_by_schedule
    assert [item.phase for item in index.get("prod", "velero", "nightly")] == ["InProgress"]
    seen.sink.apply("MODIFIED", backup("a", 3))
    assert of_schedule(seen.store, "nightly") == []


def test_an_object_that_becomes_unreadable_leaves_the_indexes_until_it_is_readable() -> None:
    seen = Watched()
    seen.list(backup("a", 1, labels={LABEL: "nightly"}))
    seen.sink.unreadable("velero", "a", "status.errors: Expected int, got str", "2")
    assert of_schedule(seen.store, "nightly") == []
    assert seen.store.indexes.backups_by_namespace.namespaces("prod") == frozenset()
    seen.sink.apply("MODIFIED", backup("a", 3, labels={LABEL: "nightly"}))
    assert of_schedule(seen.store, "nightly") == ["a"]
    assert seen.store.indexes.backups_by_namespace.namespaces("prod") == {"velero"}


def test_a_namespace_has_backups_until_its_last_one_is_deleted() -> None:
    seen = Watched()
    elsewhere = seen.store.sink(WatchScope("other", BACKUP), seen.clock)
    seen.list(made("a"), made("b"), made("c", namespace="oadp"))
    seen.list(made("a", namespace="there"), sink=elsewhere)

    def namespaces() -> frozenset[str]:
        return seen.store.indexes.backups_by_namespace.namespaces("prod")

    assert namespaces() == {"velero", "oadp"}
    seen.sink.apply("MODIFIED", made("a", 2, hours=1))
    seen.sink.apply("DELETED", gone(made("b"), 3))
    assert namespaces() == {"velero", "oadp"}
    seen.sink.apply("DELETED", gone(made("a"), 4))
    assert namespaces() == {"oadp"}
    seen.sink.apply("ADDED", made("a", 5))
    assert namespaces() == {"velero", "oadp"}


def test_the_newest_are_those_of_the_last_hour_and_of_so_many_before() -> None:
    seen = Watched()
    seen.list(made("old", hours=-5), made("before", hours=-1), made("last", hours=0), made("dateless"))
    seen.sink.apply("ADDED", made("far", hours=9, namespace="oadp"))

    def newest(back: int) -> set[str]:
        found: tuple[Backup, ...] = seen.store.indexes.scheduled_backups_by_creation.newest("prod", "velero", back)
        return {item.name for item in found}

    assert [newest(back) for back in (0, 1, 4, 5)] == [
        {"last"},
        {"last", "before"},
        {"last", "before"},
        {"last", "before", "old"},
    ]
    assert newest(0) == {"last"}
    assert seen.store.indexes.scheduled_backups_by_creation.newest("prod", "nowhere", 5) == ()
    assert seen.store.indexes.scheduled_backups_by_creation.newest("other", "velero", 5) == ()
    seen.sink.apply("MODIFIED", made("last", 2, hours=-5))
    assert newest(0) == {"before"}
    seen.sink.apply("MODIFIED", made("before", 3))
    assert newest(0) == {"last", "old"}
    seen.sink.apply("MODIFIED", made("dateless", 4, hours=-4))
    assert newest(0) == {"dateless"}
    seen.sink.apply("DELETED", gone(made("dateless"), 5))
    seen.sink.apply("DELETED", gone(made("old"), 6))
    assert newest(0) == {"last"}
    seen.sink.apply("DELETED", gone(made("last"), 7))
    assert newest(0) == set()


@pytest.mark.parametrize("kind", [NAB, NAR])
def test_a_tenant_s_object_is_found_by_its_uuid(kind: Kind) -> None:
    seen = Watched(kind)
    part = "veleroBackup" if kind is NAB else "veleroRestore"
    for version, uuid in enumerate(("u-1", "", "u-2"), 1):
        body = {"metadata": meta("ledger", "team-pay", version), "status": {part: {"nacuuid": uuid}}}
        seen.sink.apply("MODIFIED", from_builtins(kind.model, body))
        indexes = seen.store.indexes
        index = indexes.nabs_by_nacuuid if kind is NAB else indexes.nars_by_nacuuid
        assert [found for found in ("u-1", "", "u-2") if index.get("prod", found)] == ([uuid] if uuid else [])


def test_restores_are_found_by_the_backup_that_they_name() -> None:
    seen = Watched(RESTORE)
    for name, source in (("one", "nightly-1"), ("two", "nightly-1"), ("by-schedule", "")):
        body = {"metadata": meta(name), "spec": {"backupName": source}}
        seen.sink.apply("ADDED", from_builtins(RESTORE.model, body))
    index = seen.store.indexes.restores_by_backup
    assert [item.name for item in index.get("prod", "velero", "nightly-1")] == ["one", "two"]
    assert index.get("prod", "velero", "") == ()


def test_backups_expire_up_to_the_end_of_the_day_that_is_asked_for() -> None:
    seen = Watched()
    seen.list(*(backup(f"d{day}", expiration=f"2026-11-{day}T23:00:00Z") for day in (14, 15, 16)))
    index = seen.store.indexes.backups_by_expiration
    assert {item.name for item in index.until("prod", day_of(START))} == {"d14", "d15"}
    assert index.until("other", day_of(START)) == ()


@pytest.mark.parametrize(
    ("kind", "annotation"),
    [(BACKUP, "openshift.io/oadp-nab-origin-namespace"), (RESTORE, "openshift.io/oadp-nar-origin-namespace")],
)
def test_runs_are_found_by_the_team_that_they_are_for(kind: Kind, annotation: str) -> None:
    seen = Watched(kind)
    for name, given in (("of-team", {annotation: "team-pay"}), ("by-hand", {})):
        seen.sink.apply("ADDED", from_builtins(kind.model, {"metadata": meta(name, annotations=given)}))
    indexes = seen.store.indexes
    index = indexes.backups_by_team if kind is BACKUP else indexes.restores_by_team
    assert [item.name for item in index.get("prod", "team-pay")] == ["of-team"]
    assert index.get("prod", "") == ()


# An index that fails


def contents(store: Store) -> list[dict[Any, Any]]:
    """All that the indexes hold, but for empty places."""
    held = []
    for index in store.indexes._all:
        (content,) = (value for name, value in vars(index).items() if name.startswith("_") and isinstance(value, dict))
        held.append({key: dict([one]) if isinstance(one, tuple) else one for key, one in content.items() if one})
    return held


def fresh(store: Store) -> list[dict[Any, Any]]:
    """What the indexes would hold if they were made from the tables now."""
    other = Store()
    for key, item in store.items("prod", BACKUP.name):
        other.put(key, item, START)
    return contents(other)


@pytest.mark.parametrize("at", range(len(Store().indexes._all)))
@pytest.mark.parametrize("change", ["add", "modify", "relabel", "delete", "unreadable"])
def test_an_index_that_raises_leaves_table_and_indexes_equal_and_the_next_list_repairs_it(
    at: int, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Watched()
    first = [backup(name, 1, labels={LABEL: "nightly"}, phase="InProgress") for name in ("a", "b")]
    seen.list(*first)
    new = {
        "add": backup("c", 2, labels={LABEL: "nightly"}, phase="New"),
        "modify": backup("a", 2, labels={LABEL: "nightly"}, phase="Failed"),
        "relabel": backup("a", 2, labels={LABEL: "weekly"}, phase="Completed", expiration="2026-12-01T00:00:00Z"),
    }.get(change)
    index = seen.store.indexes._all[at]
    monkeypatch.setattr(index, "move", fails_once(index.move))
    if new is not None:
        seen.sink.apply("MODIFIED", new)
    elif change == "delete":
        seen.sink.apply("DELETED", gone(first[0], 2))
    else:
        seen.sink.unreadable("velero", "a", "no", "2")
    assert contents(seen.store) == fresh(seen.store)
    monkeypatch.undo()
    after = {one.name: one for one in (*first, *([new] if new else []))}
    if change == "delete":
        del after["a"]
    seen.list(*after.values())
    assert dict(seen.store.items("prod", BACKUP.name)) == {seen.key(name): one for name, one in after.items()}
    assert seen.store.unreadable == {}
    assert contents(seen.store) == fresh(seen.store)


@pytest.mark.parametrize("observer", [ChangeHistory, SlotTracker, BeatTracker, ActivityTracker])
def test_an_observer_that_raises_costs_the_object_and_the_feed_says_so(
    observer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Watched()
    feed = seen.store.feed.subscribe()
    monkeypatch.setattr(observer, "note", fails_once(observer.note))
    seen.sink.apply("ADDED", backup("a", 1))
    seen.sink.apply("ADDED", backup("b", 2))
    shown = {key.name: type(change.after).__name__ for key, change in feed.drain().items()}
    assert shown == {"a": "UnreadableObject", "b": "Backup"}
    assert contents(seen.store) == fresh(seen.store)
    assert [one.problem for one in seen.store.unreadable.values()] == ["Internal error in foretop: RuntimeError: once"]
