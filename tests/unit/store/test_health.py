"""The health of the watches, one by one and for a cluster as a whole."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import (
    BACKUP,
    DATA_UPLOAD,
    DEFINITION,
    EVENT,
    NAB,
    NAMESPACE,
    REPOSITORY,
    RESTORE,
    SCHEDULE,
    SERVER_STATUS,
    STORAGE,
    Kind,
)
from foretop_core.rules.snapshot import VisibilityGap
from foretop_core.store import WatchHealthRegistry
from foretop_core.store.health import visibility_gaps
from tests.objects import NOW

LIVE, SYNCING, STALE = WatchState.LIVE, WatchState.SYNCING, WatchState.STALE
SIGNED_OUT, FORBIDDEN = WatchState.SIGNED_OUT, WatchState.FORBIDDEN
NOT_INSTALLED, NO_NAMESPACE = WatchState.NOT_INSTALLED, WatchState.NO_NAMESPACE
LEAST_GRAVE_FIRST = (LIVE, FORBIDDEN, NO_NAMESPACE, SYNCING, STALE, SIGNED_OUT)


def ago(seconds: int) -> datetime:
    return NOW - timedelta(seconds=seconds)


def registry_of(*watches: tuple[Kind, WatchState], context: str = "prod") -> WatchHealthRegistry:
    """One watch of each kind."""
    registry = WatchHealthRegistry()
    for kind, state in watches:
        registry.report(WatchScope(context, kind), WatchHealth(state, NOW))
    return registry


def test_every_change_is_counted_and_wakes_and_no_other_report_does() -> None:
    woken: list[int] = []
    registry = WatchHealthRegistry(notify=lambda: woken.append(registry.revision))
    scope, unknown = WatchScope("prod", BACKUP), WatchScope("prod", NAB)
    registry.report_lost(unknown, 1, "half a line")
    registry.forget(unknown)
    assert woken == []
    for _ in range(2):
        registry.report(scope, WatchHealth(LIVE, NOW))
    assert woken == [1]
    for _ in range(2):
        registry.report_lost(scope, 2, "half a line")
    assert woken == [1, 2]
    registry.report_lost(scope, 2, "an item without a kind")
    registry.report_lost(scope, 3, "an item without a kind")
    registry.forget(scope)
    registry.forget(scope)
    assert woken == [1, 2, 3, 4, 5]


def test_a_watch_that_nobody_reported_has_no_health_and_lost_nothing() -> None:
    registry = registry_of((BACKUP, LIVE))
    known, unknown = WatchScope("prod", BACKUP), WatchScope("prod", NAB)
    registry.report_lost(known, 2, "half a line")
    assert registry.of(known) == WatchHealth(LIVE, NOW)
    assert registry.of(unknown) is None
    assert (registry.lost_lines(known), registry.lost_lines(unknown)) == (2, 0)


def test_the_watches_are_those_of_one_cluster_or_of_all() -> None:
    registry = registry_of((BACKUP, LIVE))
    registry.report(WatchScope("other", NAB), WatchHealth(STALE, NOW))
    assert [scope.kind for scope, _ in registry.watches("prod")] == [BACKUP]
    assert [scope.kind for scope, _ in registry.watches("other")] == [NAB]
    assert [scope.kind for scope, _ in registry.watches()] == [BACKUP, NAB]
    assert registry.context("other").state is STALE
    assert registry.context("prod").state is LIVE


@pytest.mark.parametrize(
    ("states", "is_listed"),
    [
        ((), False),
        ((LIVE,), True),
        ((STALE,), True),
        ((SIGNED_OUT, LIVE), True),
        ((SYNCING,), False),
        ((FORBIDDEN,), False),
        ((NOT_INSTALLED,), False),
        ((LIVE, SYNCING), False),
    ],
)
def test_a_kind_is_listed_once_all_its_watches_have_been_live(states: tuple[WatchState, ...], is_listed: bool) -> None:
    registry = registry_of((BACKUP, LIVE), (RESTORE, SYNCING))
    registry.report(WatchScope("other", NAB), WatchHealth(LIVE, NOW))
    for number, state in enumerate(states):
        registry.report(WatchScope("prod", NAB, f"team-{number}"), WatchHealth(state, NOW))
    assert registry.is_listed("prod", NAB) is is_listed
    assert registry.is_listed("other", NAB)
    assert not registry.is_listed("other", BACKUP)


def test_the_first_list_of_a_kind_is_waited_for_and_not_that_of_the_volumes_of_one_run() -> None:
    registry = registry_of((BACKUP, LIVE), (NAB, SYNCING))
    assert registry.awaits_lists("prod")
    registry.report(WatchScope("prod", NAB), WatchHealth(LIVE, NOW))
    registry.report(WatchScope("prod", DATA_UPLOAD, selector="velero.io/backup-name=a"), WatchHealth(SYNCING, NOW))
    assert not registry.awaits_lists("prod")


@pytest.mark.parametrize("place", range(1, len(LEAST_GRAVE_FIRST)))
def test_a_cluster_is_in_the_gravest_state_of_its_watches(place: int) -> None:
    lesser, graver = LEAST_GRAVE_FIRST[place - 1 : place + 1]
    assert registry_of((BACKUP, lesser), (NAB, graver)).context("prod").state is graver
    assert registry_of((BACKUP, graver), (NAB, lesser)).context("prod").state is graver


def test_an_absent_kind_leaves_a_cluster_live() -> None:
    seen = registry_of((BACKUP, LIVE), (NAB, NOT_INSTALLED)).context("prod")
    assert (seen.state, seen.synced, seen.watches, seen.not_installed) == (LIVE, 2, 2, ("NonAdminBackup",))


@pytest.mark.parametrize("state", [SYNCING, STALE, SIGNED_OUT])
def test_a_watch_without_its_list_or_updates_is_not_counted_as_synced(state: WatchState) -> None:
    seen = registry_of((BACKUP, state), (NAB, FORBIDDEN), (STORAGE, NO_NAMESPACE)).context("prod")
    assert (seen.synced, seen.watches) == (2, 3)


def test_the_status_tells_of_the_gravest_watches_alone() -> None:
    registry = WatchHealthRegistry()
    for kind, seconds, error, retry in (
        (BACKUP, 30, "", None),
        (SCHEDULE, 50, "timed out", 9),
        (RESTORE, 40, "connection refused", 5),
    ):
        retry_at = None if retry is None else NOW + timedelta(seconds=retry)
        registry.report(WatchScope("prod", kind), WatchHealth(STALE, ago(seconds), error, retry_at))
    registry.report(WatchScope("prod", NAB), WatchHealth(FORBIDDEN, ago(900), "not yours", NOW))
    seen = registry.context("prod")
    assert (seen.state, seen.since, seen.error) == (STALE, ago(50), "connection refused")
    assert seen.retry_at == NOW + timedelta(seconds=5)
    assert (seen.stale, seen.forbidden) == (("Backup", "Restore", "Schedule"), ("NonAdminBackup",))


def test_faults_of_foretop_are_told_once_with_the_kinds_that_they_hide() -> None:
    registry = registry_of((NAB, LIVE), (STORAGE, STALE))
    for kind in (SCHEDULE, BACKUP):
        registry.report(WatchScope("prod", kind), WatchHealth(STALE, NOW, "KeyError: 'x'", is_fault=True))
    seen = registry.context("prod")
    assert (seen.faults, seen.faulty_kinds) == (("KeyError: 'x'",), ("Backup", "Schedule"))


def test_kinds_without_updates_are_named_whatever_the_reason() -> None:
    seen = registry_of((SCHEDULE, STALE), (BACKUP, SIGNED_OUT), (NAB, LIVE)).context("prod")
    assert seen.stale == ("Backup", "Schedule")


def test_a_cluster_is_lost_at_the_last_update_once_no_watch_gets_any() -> None:
    def lost_at(*others: WatchState) -> datetime | None:
        registry = registry_of(*zip((NAB, STORAGE), others, strict=False))
        registry.report(WatchScope("prod", BACKUP), WatchHealth(STALE, ago(60)))
        registry.report(WatchScope("prod", RESTORE), WatchHealth(SIGNED_OUT, ago(20)))
        return registry.context("prod").lost_at

    assert lost_at() == ago(20)
    assert lost_at(FORBIDDEN, NOT_INSTALLED) == ago(20), "these do not get updates, nor lose any"
    assert lost_at(LIVE) is None
    assert lost_at(SYNCING) is None
    assert registry_of((BACKUP, FORBIDDEN)).context("prod").lost_at is None


def test_namespaces_that_do_not_exist_are_each_named_once() -> None:
    registry = registry_of((BACKUP, LIVE))
    for kind, namespace in ((NAB, "shop"), (NAB, "blog"), (STORAGE, "shop")):
        registry.report(WatchScope("prod", kind, namespace), WatchHealth(NO_NAMESPACE, NOW))
    registry.report(WatchScope("prod", NAB, "team-a"), WatchHealth(LIVE, NOW))
    assert registry.context("prod").missing == ("blog", "shop")


def test_messages_that_cannot_be_read_are_summed_over_the_watches() -> None:
    registry = registry_of((SCHEDULE, LIVE), (BACKUP, LIVE), (NAB, LIVE))
    registry.report_lost(WatchScope("prod", NAB), 2, "half a line")
    registry.report_lost(WatchScope("prod", BACKUP), 1, "an item without a kind")
    seen = registry.context("prod")
    assert (seen.unreadable, seen.unreadable_kinds) == (3, ("Backup", "NonAdminBackup"))
    assert seen.unreadable_why == "an item without a kind"


def test_watches_that_are_listed_in_turn_are_counted_with_their_longest_pause() -> None:
    registry = registry_of((BACKUP, LIVE))
    assert (registry.context("prod").polled, registry.context("prod").polled_every) == (0, 0.0)
    for kind, seconds in ((NAB, 0.5), (STORAGE, 30.0)):
        registry.report(WatchScope("prod", kind), WatchHealth(LIVE, NOW, polled_every=seconds))
    assert (registry.context("prod").polled, registry.context("prod").polled_every) == (2, 30.0)


@pytest.mark.parametrize("state", list(WatchState))
@pytest.mark.parametrize("kind", [NAMESPACE, SERVER_STATUS, DEFINITION])
def test_what_only_tells_a_page_more_counts_where_it_is_lost(kind: Kind, state: WatchState) -> None:
    seen = registry_of((BACKUP, LIVE), (kind, state)).context("prod")
    counts = state not in (SYNCING, FORBIDDEN, NOT_INSTALLED, WatchState.NOT_IN_ARCHIVE)
    assert seen.watches == 1 + counts
    assert (seen.state is LIVE) == (not counts or state is LIVE)


@pytest.mark.parametrize("state", list(WatchState))
def test_a_selected_watch_counts_once_it_is_listed_and_events_never_do(state: WatchState) -> None:
    registry = registry_of((BACKUP, LIVE), (EVENT, state))
    registry.report(WatchScope("prod", DATA_UPLOAD, "velero", "velero.io/backup-name=run"), WatchHealth(state, NOW))
    assert registry.context("prod").watches == 1 + (state not in (SYNCING, WatchState.NOT_IN_ARCHIVE))


def test_what_an_archive_lacks_is_one_number_whichever_page_is_open() -> None:
    lacks = WatchState.NOT_IN_ARCHIVE
    at_first = registry_of((BACKUP, LIVE), (NAB, lacks)).context("prod")
    on_its_page = registry_of((BACKUP, LIVE), (NAB, lacks), (DATA_UPLOAD, lacks)).context("prod")
    assert at_first.not_in_archive == on_its_page.not_in_archive == (NAB.name,)


def test_a_cluster_with_watches_in_passing_alone_is_syncing() -> None:
    assert registry_of((EVENT, LIVE)).context("prod").state is SYNCING


def test_the_same_reason_for_every_watch_is_one_gap_of_the_cluster() -> None:
    def gaps(*watches: tuple[Kind, WatchState]) -> list[tuple[str, object]]:
        return [(gap.kind, gap.reason) for gap in visibility_gaps("prod", registry_of(*watches))]

    assert gaps((BACKUP, SIGNED_OUT), (NAB, SIGNED_OUT)) == [("", "signed out")]
    assert gaps((BACKUP, SIGNED_OUT), (NAB, SIGNED_OUT), (STORAGE, LIVE)) == [
        ("Backup", "signed out"),
        ("NonAdminBackup", "signed out"),
    ]
    assert gaps((BACKUP, SIGNED_OUT), (NAB, SYNCING)) == [("Backup", "signed out"), ("NonAdminBackup", "syncing")]
    assert gaps((BACKUP, SIGNED_OUT)) == [("Backup", "signed out")]
    assert gaps((EVENT, LIVE)) == [("", "syncing")]
    assert gaps((REPOSITORY, LIVE)) == [], "who asks for these alone has seen all there is"
    assert gaps((REPOSITORY, FORBIDDEN)) == [("BackupRepository", "not allowed")]
    assert visibility_gaps("prod", registry_of((EVENT, LIVE)))[0].is_loading, "which is not known, but will be"


def test_a_gap_gives_each_reason_of_its_kind_once() -> None:
    registry = registry_of((BACKUP, LIVE))
    for namespace, state in (("a", FORBIDDEN), ("b", NO_NAMESPACE), ("c", SYNCING), ("d", SYNCING)):
        registry.report(WatchScope("prod", NAB, namespace), WatchHealth(state, NOW))
    reasons = "not allowed in a, namespace b does not exist, syncing"
    assert visibility_gaps("prod", registry) == (VisibilityGap("prod", "NonAdminBackup", reasons, is_loading=True),)


def test_a_selected_watch_that_starts_is_not_a_gap() -> None:
    registry = registry_of((BACKUP, LIVE))
    scope = WatchScope("prod", DATA_UPLOAD, "velero", "velero.io/backup-name=run")
    registry.report(scope, WatchHealth(SYNCING, NOW))
    assert visibility_gaps("prod", registry) == ()
    registry.report(WatchScope("prod", DATA_UPLOAD, "velero"), WatchHealth(SYNCING, NOW))
    assert [gap.kind for gap in visibility_gaps("prod", registry)] == ["DataUpload"]


@pytest.mark.parametrize("kind", [BACKUP, SCHEDULE, STORAGE])
def test_velero_without_its_own_kinds_is_a_gap(kind: Kind) -> None:
    gaps = visibility_gaps("prod", registry_of((NAB, LIVE), (kind, NOT_INSTALLED)))
    assert gaps == (VisibilityGap("prod", kind.name, "not installed"),)
