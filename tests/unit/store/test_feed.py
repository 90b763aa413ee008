from __future__ import annotations

from foretop_core.models import Backup
from foretop_core.models.kinds import NAB
from tests.unit.store.making import Watched, backup, gone


def test_a_slow_reader_finds_one_change_for_a_backup_that_changed_a_thousand_times() -> None:
    seen = Watched()
    seen.list(backup("a", 1, phase="New"))
    changes = seen.store.feed.subscribe()
    for version in range(2, 1002):
        seen.sink.apply("MODIFIED", backup("a", version, phase=f"p{version}"))
    drained = changes.drain()
    assert list(drained) == [seen.key("a")]
    change = drained[seen.key("a")]
    assert isinstance(change.before, Backup)
    assert isinstance(change.after, Backup)
    assert (change.before.phase, change.after.phase) == ("New", "p1001")
    assert changes.drain() == {}


def test_an_object_created_and_deleted_between_two_drains_is_not_reported() -> None:
    seen = Watched()
    changes = seen.store.feed.subscribe()
    seen.sink.apply("ADDED", backup("a", 1))
    seen.sink.apply("DELETED", gone(backup("a"), 2))
    assert changes.drain() == {}


def test_an_object_deleted_and_created_again_is_a_change() -> None:
    seen = Watched()
    seen.list(backup("a", 1))
    changes = seen.store.feed.subscribe()
    seen.sink.apply("DELETED", gone(backup("a"), 2))
    seen.sink.apply("ADDED", backup("a", 3))
    change = changes.drain()[seen.key("a")]
    assert change.before is not None
    assert change.after is not None


def test_listing_known_objects_again_is_not_a_change() -> None:
    seen = Watched()
    seen.list(backup("a", 1), backup("b", 1))
    changes = seen.store.feed.subscribe()
    seen.list(backup("a", 1), backup("b", 2, phase="Failed"))
    seen.sink.apply("MODIFIED", backup("a", 1))
    assert list(changes.drain()) == [seen.key("b")]


def test_a_reader_of_one_kind_is_woken_once_and_for_that_kind_only() -> None:
    seen = Watched()
    woken: list[str] = []
    backups = seen.store.feed.subscribe({"Backup"}, wake=lambda: woken.append("backups"))
    nabs = seen.store.feed.subscribe({NAB.name}, wake=lambda: woken.append("nabs"))
    seen.list(backup("a", 1), backup("b", 1))
    assert woken == ["backups"]
    assert (len(backups), len(nabs)) == (2, 0)
    backups.drain()
    seen.sink.apply("MODIFIED", backup("a", 2))
    assert woken == ["backups", "backups"]
    seen.store.feed.unsubscribe(backups)
    backups.drain()
    seen.sink.apply("MODIFIED", backup("a", 3))
    assert len(backups) == 0
