from __future__ import annotations

from datetime import timedelta
from typing import Any

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, NonAdminBackup, Schedule
from foretop_core.models.kinds import BACKUP, NAB, POD_VOLUME_BACKUP, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.store import ProgressRecord, Store, UnreadableObject
from foretop_core.store.change_history import OVERALL, PER_OBJECT
from foretop_core.store.store import REMEMBERED_DELETIONS
from tests.unit.store.making import START, Watched, backup, gone, nab, schedule


def test_a_backup_that_vanished_while_the_watch_was_down_is_gone_after_the_next_list() -> None:
    seen = Watched()
    seen.list(backup("kept"), backup("deleted-meanwhile"))
    seen.list(backup("kept"), backup("new", 2))
    assert seen.names() == {"kept", "new"}


def test_an_interrupted_list_removes_nothing() -> None:
    seen = Watched()
    seen.list(backup("a"), backup("b"))
    seen.sink.replace_begin()
    seen.sink.page([backup("a")])
    assert seen.names() == {"a", "b"}
    seen.list(backup("b"))
    assert seen.names() == {"b"}


def test_the_list_of_one_namespace_does_not_change_the_others() -> None:
    seen = Watched(NAB)
    pay = seen.store.sink(WatchScope("prod", NAB, "team-pay"), seen.clock)
    web = seen.store.sink(WatchScope("prod", NAB, "team-web"), seen.clock)
    seen.list(nab("ledger", "team-pay"), sink=pay)
    seen.list(nab("cms", "team-web"), sink=web)
    seen.list(sink=pay)
    assert seen.names() == {"cms"}


def test_an_object_of_two_watches_stays_until_both_have_lost_it() -> None:
    seen = Watched()
    narrow = seen.store.sink(WatchScope("prod", BACKUP, "velero", "team=pay"), seen.clock)
    seen.list(backup("ledger"))
    seen.list(backup("ledger"), sink=narrow)
    narrow.apply("DELETED", gone(backup("ledger"), 2))
    assert seen.names() == {"ledger"}
    seen.sink.apply("DELETED", gone(backup("ledger"), 2))
    assert seen.names() == set()


def test_of_three_watches_each_counts_and_of_one_nothing_is_kept() -> None:
    seen = Watched()
    others = [WatchScope("prod", BACKUP, "velero", f"team={name}") for name in ("pay", "web")]
    seen.list(backup("ledger"), backup("alone"))
    assert not seen.store._holders
    for scope in others:
        seen.list(backup("ledger"), sink=seen.store.sink(scope, seen.clock))
    for scope in others:
        seen.store.drop(scope)
        assert seen.names() == {"ledger", "alone"}
    assert not seen.store._holders
    seen.list(backup("alone"))
    assert seen.names() == {"alone"}


def test_ending_a_watch_removes_what_only_it_held() -> None:
    seen = Watched()
    narrow = WatchScope("prod", BACKUP, "", "team=pay")
    seen.list(backup("both"), backup("wide"))
    seen.list(backup("both"), backup("narrow"), sink=seen.store.sink(narrow, seen.clock))
    seen.store.drop(narrow)
    assert seen.names() == {"both", "wide"}


def test_late_events_neither_undo_a_change_nor_restore_deleted_objects() -> None:
    seen = Watched()
    seen.list(backup("a", 5, phase="Queued"), backup("b", 5))
    seen.sink.apply("MODIFIED", backup("a", 8, phase="InProgress"))
    seen.sink.apply("MODIFIED", backup("a", 7, phase="Queued"))
    seen.sink.apply("DELETED", gone(backup("b"), 9))
    seen.sink.apply("MODIFIED", backup("b", 6))
    held = seen.store.find(Backup, "prod", "velero", "a")
    assert held is not None
    assert held.phase == "InProgress"
    assert seen.names() == {"a"}


def test_an_object_created_again_under_its_old_name_is_accepted() -> None:
    seen = Watched()
    seen.list(backup("a", 5))
    seen.sink.apply("DELETED", gone(backup("a"), 9))
    seen.sink.apply("ADDED", backup("a", 10))
    assert seen.names() == {"a"}


def test_a_cluster_restored_from_an_old_etcd_snapshot_is_accepted() -> None:
    seen = Watched()
    seen.list(backup("a", 900, phase="Completed"))
    seen.list(backup("a", 30, phase="New"))
    held = seen.store.find(Backup, "prod", "velero", "a")
    assert held is not None
    assert held.phase == "New"


def test_other_content_under_the_same_version_is_a_change() -> None:
    """A file, or an etcd that was restored, may show another object under a version that was seen before."""
    seen = Watched()
    seen.list(backup("a", 5, phase="New"))
    seen.list(backup("a", 5, phase="Completed"))
    held = seen.store.find(Backup, "prod", "velero", "a")
    assert held is not None
    assert held.phase == "Completed"


def test_a_list_puts_back_nothing_that_a_watch_beside_it_saw_change() -> None:
    seen = Watched()
    seen.sink.replace_begin()
    seen.sink.apply("MODIFIED", backup("a", 9, phase="Completed"))
    seen.sink.apply("DELETED", gone(backup("b"), 8))
    seen.sink.apply("ADDED", backup("c", 7))
    seen.sink.page([backup("a", 5, phase="InProgress"), backup("b", 4)])
    assert seen.names() == {"a", "c"}
    seen.sink.replace_end("6")
    assert seen.names() == {"a", "c"}
    held = seen.store.find(Backup, "prod", "velero", "a")
    assert held is not None
    assert held.phase == "Completed"


def test_a_list_without_a_version_removes_nothing_that_is_in_it() -> None:
    seen = Watched()
    seen.sink.replace_begin()
    seen.sink.apply("MODIFIED", backup("a", 9, phase="Completed"))
    seen.sink.apply("ADDED", backup("b", 8))
    seen.sink.page([backup("a", 5)])
    seen.sink.replace_end()
    assert seen.names() == {"a"}


def test_an_older_unreadable_object_in_a_list_is_accepted() -> None:
    seen = Watched()
    seen.list(backup("a", 900))
    seen.sink.replace_begin()
    seen.sink.unreadable("velero", "a", "spec: broken", "30")
    seen.sink.replace_end()
    assert isinstance(seen.store.get(seen.key("a")), UnreadableObject)


def test_a_late_unreadable_event_does_not_replace_a_newer_object() -> None:
    seen = Watched()
    seen.list(backup("a", 900))
    seen.sink.unreadable("velero", "a", "spec: broken", "30")
    assert not isinstance(seen.store.get(seen.key("a")), UnreadableObject)


def test_each_of_two_clusters_has_its_own_health() -> None:
    seen = Watched()
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    seen.store.sink(WatchScope("other", NAB), seen.clock).health(WatchHealth(WatchState.SIGNED_OUT, START, "run login"))
    reported = seen.store.health.contexts()
    assert {name: health.state for name, health in reported.items()} == {
        "prod": WatchState.LIVE,
        "other": WatchState.SIGNED_OUT,
    }
    assert reported["other"].error == "run login"


def test_remembered_deletions_are_bounded() -> None:
    seen = Watched()
    for number in range(REMEMBERED_DELETIONS + 50):
        seen.sink.apply("DELETED", gone(backup(f"b-{number}"), 5))
    assert len(seen.sink._deleted) == REMEMBERED_DELETIONS
    for number in (49, 50, REMEMBERED_DELETIONS + 49):
        seen.sink.apply("MODIFIED", backup(f"b-{number}", 4))
    assert seen.names() == {"b-49"}, "the oldest are forgotten"


def test_one_unreadable_object_is_one_bad_row_until_it_is_fixed() -> None:
    seen = Watched()
    seen.list(backup("a"), backup("b"))
    seen.sink.unreadable("velero", "a", "status.errors: Expected int, got str")
    stand_in = seen.store.get(seen.key("a"))
    assert isinstance(stand_in, UnreadableObject)
    assert "errors" in stand_in.problem
    assert seen.names() == {"a", "b"}
    assert [item.name for item in seen.store.all("prod", Backup)] == ["b"]
    seen.sink.apply("MODIFIED", backup("a", 3))
    assert seen.store.unreadable == {}
    assert seen.names() == {"a", "b"}


def test_an_unreadable_object_in_a_list_survives_the_end_of_that_list() -> None:
    seen = Watched()
    seen.sink.replace_begin()
    seen.sink.unreadable("velero", "bad", "broken")
    seen.sink.page([backup("good")])
    seen.sink.replace_end()
    assert seen.names() == {"bad", "good"}
    seen.list(backup("good"))
    assert seen.names() == {"good"}


def test_the_same_name_in_two_clusters_is_two_objects() -> None:
    store, one = Store(), Watched()
    for context in ("eu", "us"):
        sink = store.sink(WatchScope(context, BACKUP), one.clock)
        one.list(backup("a", phase=context), sink=sink)
    assert [item.phase for item in store.all("us", Backup)] == ["us"]
    assert store.contexts() == ("eu", "us")
    store.drop(WatchScope("eu", BACKUP))
    assert store.all("eu", Backup) == ()
    assert len(store.all("us", Backup)) == 1


def test_a_file_fills_the_store_as_a_watch_would() -> None:
    seen = Watched()
    seen.store.fill("file", [schedule("daily"), backup("daily-1"), backup("daily-2")], seen.clock)
    assert len(seen.store.all("file", Backup)) == 2
    assert len(seen.store.all("file", Schedule)) == 1
    assert seen.store.health.context("file").state is WatchState.LIVE


def test_lists_are_built_once_for_each_change() -> None:
    seen = Watched()
    seen.list(backup("a"))
    first = seen.store.all("prod", Backup)
    assert seen.store.all("prod", Backup) is first
    seen.sink.apply("ADDED", backup("b"))
    assert {item.name for item in seen.store.all("prod", Backup)} == {"a", "b"}


def test_backups_are_found_by_schedule_and_follow_a_changed_label() -> None:
    seen = Watched()
    label = "velero.io/schedule-name"
    seen.list(backup("x-1", labels={label: "x"}), backup("x-2", labels={label: "x"}), backup("by-hand"))
    by_schedule = seen.store.indexes.backups_by_schedule
    assert {item.name for item in by_schedule.get("prod", "velero", "x")} == {"x-1", "x-2"}
    seen.sink.apply("MODIFIED", backup("x-2", 2, labels={label: "y"}))
    seen.sink.apply("MODIFIED", backup("x-1", 2, labels={label: "x"}, phase="Completed"))
    assert [item.phase for item in by_schedule.get("prod", "velero", "x")] == ["Completed"]
    assert by_schedule.keys("prod", "velero", "y") == (seen.key("x-2"),)
    seen.list()
    assert by_schedule.get("prod", "velero", "x") == ()
    assert by_schedule.get("other", "velero", "y") == ()


def test_a_nab_is_found_from_its_velero_backup_and_the_other_way_round() -> None:
    seen = Watched(NAB)
    velero = {"nacuuid": "u-1", "name": "pay-ledger-u-1", "namespace": "openshift-adp"}
    seen.list(nab("ledger", "team-pay", veleroBackup=velero), nab("fresh", "team-pay"))
    made = backup("pay-ledger-u-1", labels={"openshift.io/oadp-nab-origin-nacuuid": "u-1"})
    seen.list(made, sink=seen.store.sink(WatchScope("prod", BACKUP), seen.clock))
    found: tuple[NonAdminBackup, ...] = seen.store.indexes.nabs_by_nacuuid.get("prod", "u-1")
    assert [item.name for item in found] == ["ledger"]
    assert seen.store.indexes.backups_by_nacuuid.get("prod", "u-1") == (made,)
    assert seen.store.indexes.nabs_by_nacuuid.get("prod", "") == ()


def test_changes_of_a_backup_are_recorded_with_the_time_of_observation() -> None:
    seen = Watched()
    seen.list(backup("a", 1))
    seen.clock.advance(timedelta(seconds=30))
    seen.sink.apply("MODIFIED", backup("a", 2, phase="Queued", queuePosition=1))
    seen.sink.apply("MODIFIED", backup("a", 3, phase="Queued", queuePosition=2))
    seen.clock.advance(timedelta(seconds=30))
    seen.list(backup("a", 9, phase="InProgress"))
    reported = [(step.at - START, step.before, step.after) for step in seen.store.history.of(seen.key("a"))]
    assert reported == [(timedelta(seconds=30), "", "Queued"), (timedelta(seconds=60), "Queued", "InProgress")]
    seen.list()
    assert seen.store.history.of(seen.key("a")) == ()
    assert [step.what for step in seen.store.history.recent()] == ["phase", "phase", "deleted"]


def test_a_pause_and_its_end_are_recorded() -> None:
    seen = Watched(SCHEDULE)
    seen.list(schedule("daily", 1))
    seen.sink.apply("MODIFIED", schedule("daily", 2, paused=True))
    seen.sink.apply("MODIFIED", schedule("daily", 3, paused=False))
    assert [(step.what, step.after) for step in seen.store.history.of(seen.key("daily"))] == [
        ("paused", "true"),
        ("paused", "false"),
    ]


def test_conditions_are_recorded() -> None:
    seen = Watched(NAB)
    seen.list(nab("ledger", "team-pay", 1, phase="New"))
    accepted = {"type": "Accepted", "status": "False"}
    seen.sink.apply("MODIFIED", nab("ledger", "team-pay", 2, phase="New", conditions=[accepted]))
    assert [(step.what, step.after) for step in seen.store.history.recent()] == [("Accepted", "False")]


def test_the_way_of_a_tenants_backup_goes_on_after_created() -> None:
    seen = Watched(NAB)
    seen.list(nab("ledger", "team-pay", 1, phase="Created"))
    for version, phase in enumerate(("InProgress", "Completed"), 2):
        copy = {"status": {"phase": phase}}
        seen.sink.apply("MODIFIED", nab("ledger", "team-pay", version, phase="Created", veleroBackup=copy))
    assert [(step.what, step.before, step.after) for step in seen.store.history.recent()] == [
        ("Velero phase", "", "InProgress"),
        ("Velero phase", "InProgress", "Completed"),
    ]


def progress_of(seen: Watched, name: str) -> ProgressRecord | None:
    key = seen.key(name)
    return dict(seen.store.history.all_progress(key.context)).get(key)


def test_unchanged_items_are_timed_from_their_last_change() -> None:
    seen = Watched()
    running: dict[str, Any] = {"phase": "InProgress", "startTimestamp": "2026-11-15T02:00:00Z"}

    def at(version: int, items: int) -> Backup:
        return backup("a", version, progress={"itemsBackedUp": items, "totalItems": 100}, **running)

    seen.list(at(1, 10))
    first = progress_of(seen, "a")
    assert first is not None
    assert (first.since, first.seen_moving) == (START, False)
    seen.clock.advance(timedelta(minutes=5))
    seen.sink.apply("MODIFIED", at(2, 12))
    seen.clock.advance(timedelta(minutes=5))
    seen.sink.apply("MODIFIED", at(3, 12))
    progress = progress_of(seen, "a")
    assert progress is not None
    assert (progress.done, progress.total, progress.since - START, progress.seen_moving) == (
        12,
        100,
        timedelta(minutes=5),
        True,
    )
    ended: dict[str, Any] = {**running, "completionTimestamp": "2026-11-15T02:50:00Z"}
    seen.sink.apply("MODIFIED", backup("a", 4, **ended))
    assert progress_of(seen, "a") is None


def test_the_changes_that_are_remembered_are_bounded() -> None:
    seen = Watched()
    seen.list(*(backup(f"b-{number}", 1, phase="New") for number in range(50)))
    for version in range(2, 110):
        for number in range(50):
            seen.sink.apply("MODIFIED", backup(f"b-{number}", version, phase=f"p-{version}"))
    history = seen.store.history
    assert len(history.recent()) == OVERALL
    begun = history.kept_since("prod")
    assert begun is not None
    assert all(begun <= step.at for step in history.recent())
    assert {len(seen.store.history.of(seen.key(f"b-{number}"))) for number in range(50)} == {PER_OBJECT}


def test_a_run_that_tells_no_progress_has_done_nothing_of_nothing() -> None:
    seen = Watched()
    seen.list(backup("a", 1, phase="InProgress", startTimestamp="2026-11-15T02:00:00Z"))
    progress = progress_of(seen, "a")
    assert progress is not None
    assert (progress.done, progress.total) == (0, 0)


def test_the_health_of_a_cluster_is_that_of_its_worst_watch() -> None:
    seen = Watched()
    pods = seen.store.sink(WatchScope("prod", POD_VOLUME_BACKUP), seen.clock)
    nabs = seen.store.sink(WatchScope("prod", NAB), seen.clock)
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    pods.health(WatchHealth(WatchState.SYNCING, START))
    nabs.health(WatchHealth(WatchState.NOT_INSTALLED, START))
    registry = seen.store.health
    now = registry.context("prod")
    assert (now.state, now.synced, now.watches) == (WatchState.SYNCING, 2, 3)
    pods.health(WatchHealth(WatchState.FORBIDDEN, START, "podvolumebackups is forbidden"))
    assert registry.context("prod").forbidden == ("PodVolumeBackup",)
    assert registry.context("prod").state is WatchState.FORBIDDEN
    later = START + timedelta(seconds=8)
    seen.sink.health(WatchHealth(WatchState.STALE, START, "connection refused", retry_at=later))
    stale = registry.context("prod")
    assert (stale.state, stale.error, stale.retry_at) == (WatchState.STALE, "connection refused", later)
    seen.sink.unreadable("", "", "half a line")
    told = registry.context("prod")
    assert (told.unreadable, told.unreadable_kinds, told.unreadable_why) == (1, ("Backup",), "half a line")


def test_a_whole_list_makes_good_the_messages_that_were_lost_before_it() -> None:
    seen = Watched()
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    seen.sink.unreadable("", "", "half a line")
    seen.sink.replace_begin()
    seen.sink.unreadable("", "", "an item without a kind")
    assert seen.store.health.context("prod").unreadable == 2, "a list that is not whole makes good nothing"
    seen.sink.replace_begin()
    seen.sink.replace_end()
    assert seen.store.health.context("prod").unreadable == 0
    seen.sink.replace_begin()
    seen.sink.unreadable("", "", "an item without a kind")
    seen.sink.replace_end()
    assert seen.store.health.context("prod").unreadable == 1


def test_the_same_health_twice_is_not_a_change() -> None:
    seen = Watched()
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    before = seen.store.health.revision
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    assert seen.store.health.revision == before
    seen.sink.health(WatchHealth(WatchState.STALE, START))
    assert seen.store.health.revision > before


def test_one_forbidden_namespace_of_two_does_not_make_the_kind_forbidden() -> None:
    seen = Watched(NAB)
    seen.store.sink(WatchScope("prod", NAB, "a"), seen.clock).health(WatchHealth(WatchState.FORBIDDEN, START))
    seen.store.sink(WatchScope("prod", NAB, "b"), seen.clock).health(WatchHealth(WatchState.LIVE, START))
    assert seen.store.health.context("prod").forbidden == ()


def test_keys_sort_by_cluster_kind_namespace_and_name() -> None:
    keys = [
        ObjectRef("b", "Backup", "x", "1"),
        ObjectRef("a", "Schedule", "x", "1"),
        ObjectRef("a", "Backup", "y", "0"),
    ]
    assert [key.context + key.kind for key in sorted(keys)] == ["aBackup", "aSchedule", "bBackup"]
