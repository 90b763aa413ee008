"""The protection of namespaces, kept up change by change, is that of a look at every object."""

from __future__ import annotations

from msgspec.structs import replace

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Namespace
from foretop_core.models.kinds import BACKUP, NAMESPACE, SCHEDULE, Kind
from foretop_core.models.wire import Resource, from_builtins
from foretop_core.rules.protection.namespace_protection import NamespaceProtection
from foretop_core.store import Store
from tests.unit.store.making import START, Watched, gone, meta


def namespace(name: str) -> Namespace:
    return from_builtins(Namespace, {"metadata": meta(name, "")})


def of(kind: Kind, name: str, version: int, covered: str, **status: object) -> Resource:
    """A schedule or backup of one namespace."""
    spec: dict[str, object] = {"includedNamespaces": [covered]}
    if kind is SCHEDULE:
        spec = {"schedule": "0 2 * * *", "template": spec}
    return from_builtins(kind.model, {"metadata": meta(name, version=version), "spec": spec, "status": status})


def looked_up(store: Store, context: str = "prod") -> dict[str, NamespaceProtection | None]:
    """What is kept, after a comparison with what is found in all objects."""
    snapshot = store.snapshot(context)
    kept, anew = snapshot.protection, replace(snapshot, live=None).protection
    assert kept is not anew
    rows = {name: kept.row(name) for name in kept.names}
    assert rows == {name: anew.row(name) for name in anew.names}
    return rows


def test_protection_follows_every_change() -> None:
    seen = Watched(NAMESPACE)
    schedules, backups = (seen.store.sink(WatchScope("prod", kind), seen.clock) for kind in (SCHEDULE, BACKUP))
    assert looked_up(seen.store) == {}
    schedules.apply("ADDED", of(SCHEDULE, "nightly", 1, "shop", phase="Enabled"))
    assert set(looked_up(seen.store)) == {"shop"}
    seen.list(namespace("shop"), namespace("blog"))
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    before = looked_up(seen.store)
    assert set(before) == {"shop", "blog"}, "namespaces that come in sight are known"
    done = {"phase": "Completed", "startTimestamp": "2026-11-15T02:00:00Z", "completionTimestamp": START.isoformat()}
    backups.apply("ADDED", of(BACKUP, "one", 2, "shop", **done))
    after = looked_up(seen.store)
    assert after["shop"] != before["shop"]
    assert after["blog"] == before["blog"]
    schedules.unreadable("velero", "nightly", "spec: broken", "3")
    assert looked_up(seen.store)["shop"] != after["shop"]
    schedules.apply("MODIFIED", of(SCHEDULE, "nightly", 4, "blog", phase="Enabled"))
    assert looked_up(seen.store)["blog"] != after["blog"]


def test_a_namespace_that_only_copies_name_goes_with_the_last_of_them() -> None:
    seen = Watched(BACKUP)
    done = {"phase": "Completed", "startTimestamp": "2026-11-15T02:00:00Z", "completionTimestamp": START.isoformat()}
    copies = [of(BACKUP, name, version, "gone", **done) for version, name in enumerate(("one", "two"), 1)]
    seen.list(*copies)
    left = [set(looked_up(seen.store))]
    for version, one in enumerate(copies, 3):
        seen.sink.apply("DELETED", gone(one, version))
        left.append(set(looked_up(seen.store)))
    assert left == [{"gone"}, {"gone"}, set()]


def test_nothing_is_made_anew_while_changes_can_be_followed() -> None:
    seen = Watched(SCHEDULE)
    seen.list(of(SCHEDULE, "nightly", 1, "shop"))
    kept = seen.store.snapshot("prod").protection
    seen.sink.apply("MODIFIED", of(SCHEDULE, "nightly", 2, "blog"))
    assert seen.store.snapshot("prod").protection is kept
    assert kept.names == ("blog",)


def test_each_cluster_has_its_own_protection() -> None:
    seen = Watched(SCHEDULE)
    there = seen.store.sink(WatchScope("other", SCHEDULE), seen.clock)
    seen.list(of(SCHEDULE, "nightly", 1, "shop"))
    kept = seen.store.snapshot("prod").protection
    seen.list(of(SCHEDULE, "nightly", 1, "blog"), sink=there)
    assert set(looked_up(seen.store, "other")) == {"blog"}
    there.apply("MODIFIED", of(SCHEDULE, "nightly", 2, "wiki"))
    assert set(looked_up(seen.store, "other")) == {"wiki"}
    assert seen.store.snapshot("prod").protection is kept
    assert kept.names == ("shop",)
