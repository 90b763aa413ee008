"""Visibility gaps are shown as findings, after a short delay."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop.pages.triage_selection import place_of
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, EVENT, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Severity
from foretop_core.store import ContextHealth, UnreadableObject, WatchHealthRegistry
from foretop_core.store.health import visibility_gaps
from foretop_core.tables.resources.visibility_findings import (
    is_visibility_finding,
    unreadable_findings,
    visibility_findings,
)
from tests.objects import NOW

REFUSED = "https://api cannot be reached: connection refused (check the address)"


def ago(seconds: int) -> WatchHealth:
    return WatchHealth(WatchState.STALE, NOW - timedelta(seconds=seconds), REFUSED)


def health(*watches: tuple[WatchScope, WatchHealth]) -> ContextHealth:
    registry = WatchHealthRegistry()
    for scope, how in watches:
        registry.report(scope, how)
    return registry.context("prod")


LIVE = WatchHealth(WatchState.LIVE, NOW)


def test_a_cluster_without_updates_is_one_error_with_the_last_time() -> None:
    lost = health((WatchScope("prod", BACKUP), ago(600)), (WatchScope("prod", SCHEDULE), ago(300)))
    (found,) = visibility_findings("prod", lost, NOW)
    assert (found.severity, found.since, found.context) == (Severity.ERROR, NOW - timedelta(seconds=300), "prod")
    assert render(found.what, NOW) == "connection refused"
    assert f"Its data is from {NOW - timedelta(seconds=300):%H:%M:%S}Z" in render(found.evidence, NOW)
    assert found.code == "velero-out-of-reach"
    assert is_visibility_finding(found)
    assert "ages, countdowns and forecasts do not advance" in render(found.evidence, NOW)
    (never,) = visibility_findings("prod", lost, NOW, seen_before=False)
    assert render(never.evidence, NOW) == "This cluster is out of reach."
    assert never.raw == REFUSED


def test_an_expired_login_is_reported_with_how_to_sign_in() -> None:
    out = WatchHealth(WatchState.SIGNED_OUT, NOW - timedelta(minutes=1), "The token has expired")
    (found,) = visibility_findings("prod", health((WatchScope("prod", BACKUP), out)), NOW)
    assert render(found.what, NOW) == "signed out"
    assert found.raw == "The token has expired"
    assert "Sign in" in render(found.remedy, NOW)
    assert found.code == "velero-signed-out"


def test_a_fault_of_foretop_names_what_it_hides_and_quotes_the_latest() -> None:
    first, latest = (replace(ago(60), error=error, is_fault=True) for error in ("KeyError: 'a'", "TypeError: b"))
    ended = health((WatchScope("prod", BACKUP), first), (WatchScope("prod", NAB), latest))
    (found,) = visibility_findings("prod", ended, NOW)
    assert (found.code, found.raw) == ("watch-failed", "TypeError: b")
    assert "the watch of backups.velero.io" in render(found.evidence, NOW)


def test_a_cluster_without_any_watch_yet_has_no_counts_and_no_finding() -> None:
    new = health()
    assert (new.synced, new.watches, new.unreadable, new.polled, new.polled_every) == (0, 0, 0, 0, 0.0)
    assert visibility_findings("prod", new, NOW) == ()


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        (
            "velero-out-of-reach",
            ContextHealth(WatchState.STALE, since=NOW - timedelta(minutes=1), lost_at=NOW - timedelta(minutes=1)),
        ),
        (
            "velero-signed-out",
            ContextHealth(WatchState.SIGNED_OUT, since=NOW - timedelta(minutes=1), lost_at=NOW - timedelta(minutes=1)),
        ),
        ("watch-failed", ContextHealth(WatchState.STALE, since=NOW - timedelta(minutes=1), faults=("KeyError: 'a'",))),
        ("velero-stale", ContextHealth(WatchState.STALE, since=NOW - timedelta(minutes=1), stale=(BACKUP.name,))),
        ("velero-unreadable", ContextHealth(WatchState.LIVE, unreadable=1, unreadable_kinds=(BACKUP.name,))),
        ("velero-no-namespace", ContextHealth(WatchState.NO_NAMESPACE, missing=("nowhere",))),
        ("velero-not-allowed", ContextHealth(WatchState.FORBIDDEN, forbidden=(BACKUP.name,))),
        ("archive-lacks-kinds", ContextHealth(WatchState.NOT_IN_ARCHIVE, not_in_archive=(BACKUP.name,))),
        ("archive-read-in-part", ContextHealth(WatchState.LIVE, notes=("Not UTF-8 text: a.yaml",))),
        ("velero-polled", ContextHealth(WatchState.LIVE, watches=9, polled=2, polled_every=30.0)),
        ("acknowledgements-not-allowed", ContextHealth(WatchState.LIVE, hides_acknowledgements=True)),
    ],
    ids=(
        "lost",
        "signed out",
        "fault",
        "stale",
        "unreadable",
        "no namespace",
        "forbidden",
        "archive",
        "in part",
        "polled",
        "acknowledged",
    ),
)
def test_what_is_not_seen_leads_to_no_page_and_prints_nothing_that_only_a_screen_has(
    code: str, seen: ContextHealth
) -> None:
    (found,) = visibility_findings("prod", seen, NOW)
    assert found.code == code
    assert place_of(found, ()) is None
    assert not re.search(r"(^|[ (]):[a-z]", render(found.remedy, NOW))


def test_a_brief_interruption_of_a_watch_is_not_a_finding() -> None:
    assert visibility_findings("prod", health((WatchScope("prod", BACKUP), ago(4))), NOW) == ()
    part = health((WatchScope("prod", BACKUP), ago(4)), (WatchScope("prod", SCHEDULE), LIVE))
    assert visibility_findings("prod", part, NOW) == ()


def test_five_seconds_without_updates_are_a_finding() -> None:
    part = health((WatchScope("prod", BACKUP), ago(5)), (WatchScope("prod", SCHEDULE), LIVE))
    (found,) = visibility_findings("prod", part, NOW)
    assert found.what == "no updates for backups.velero.io"
    assert found.evidence == "There are no updates for backups.velero.io: what is shown of them may be out of date."
    assert found.raw == REFUSED
    (silent,) = visibility_findings("prod", replace(health(), stale=("Backup",), since=NOW - timedelta(seconds=5)), NOW)
    assert silent.raw == "The API server does not answer"
    (lost,) = visibility_findings("prod", health((WatchScope("prod", BACKUP), ago(5))), NOW)
    assert render(lost.what, NOW).startswith("connection refused")


def test_gaps_in_a_visible_cluster_are_listed_by_kind() -> None:
    found = visibility_findings(
        "prod",
        health(
            (WatchScope("prod", BACKUP), ago(60)),
            (WatchScope("prod", SCHEDULE), WatchHealth(WatchState.FORBIDDEN, NOW)),
            (WatchScope("prod", NAB, "nowhere"), WatchHealth(WatchState.NO_NAMESPACE, NOW)),
            (WatchScope("prod", NAB, "team-a"), LIVE),
        ),
        NOW,
    )
    assert [(finding.severity.value, render(finding.what, NOW)) for finding in found] == [
        ("warning", "no updates for backups.velero.io"),
        ("warning", "no such namespace"),
        ("note", "1 list not allowed"),
    ]


def test_messages_that_cannot_be_read_are_a_warning_and_a_gap() -> None:
    registry = WatchHealthRegistry()
    scope = WatchScope("prod", BACKUP)
    registry.report(scope, LIVE)
    registry.report_lost(scope, 2, "Backup cannot be read: the object is a velero.io/v1 Restore")
    (found,) = visibility_findings("prod", registry.context("prod"), NOW)
    assert (found.severity, found.what) == (Severity.WARNING, "2 messages cannot be read")
    assert "2 messages about backups.velero.io cannot be read" in render(found.evidence, NOW)
    assert found.raw.endswith("the object is a velero.io/v1 Restore")
    (gap,) = visibility_gaps("prod", registry)
    assert (gap.kind, gap.reason) == ("Backup", "2 messages of the API server cannot be read")


def test_lists_that_are_only_refreshed_now_and_then_are_counted() -> None:
    polled = replace(health(), polled=7, watches=9, polled_every=29.6)
    (found,) = visibility_findings("prod", polled, NOW)
    assert (found.severity, found.what) == (Severity.NOTE, "7 of 9 lists not live")
    assert "refreshed only every 30 seconds" in str(found.evidence)
    assert "there are connections to watch 2 of them" in str(found.evidence)


def test_an_answer_without_a_reason_is_no_answer() -> None:
    lost = replace(health(), state=WatchState.STALE, lost_at=NOW - timedelta(minutes=1))
    (found,) = visibility_findings("prod", lost, NOW)
    assert (found.what, found.raw) == ("no answer", "no answer")
    (plain,) = visibility_findings("prod", replace(lost, error="timed out"), NOW)
    assert plain.what == "timed out"


def test_many_kinds_are_named_up_to_a_number() -> None:
    kinds = tuple(kind.name for kind in (BACKUP, SCHEDULE, NAB, NAR, RESTORE, STORAGE))
    (six,) = visibility_findings("prod", replace(health(), forbidden=kinds), NOW)
    assert six.what == "6 lists not allowed"
    assert "more" not in str(six.evidence)
    (seven,) = visibility_findings("prod", replace(health(), forbidden=(*kinds, DATA_UPLOAD.name)), NOW)
    assert "and 1 more" in str(seven.evidence)


def _unreadable(*keys: tuple[str, str, str]) -> list[str]:
    objects = {
        ObjectRef(context, kind, "velero", name): UnreadableObject(problem=f"{kind} cannot be read: spec.{name}: odd")
        for context, kind, name in keys
    }
    return [f"{one.what}: {one.raw}" for one in unreadable_findings("prod", objects)]


def test_each_object_that_cannot_be_read_is_a_finding_with_its_field() -> None:
    assert _unreadable(("prod", "Backup", "b"), ("prod", "Backup", "a"), ("other", "Backup", "c")) == [
        "not judged: it cannot be read: spec.a: odd",
        "not judged: it cannot be read: spec.b: odd",
    ]
    assert _unreadable(("prod", EVENT.name, "a")) == []
    objects = {ObjectRef("prod", "Backup", "velero", "a"): UnreadableObject(problem="spec.ttl: Expected `str`")}
    (found,) = unreadable_findings("prod", objects)
    assert (found.code, found.subject.name, found.severity) == ("object-unreadable", "a", Severity.WARNING)
    assert str(found.evidence).startswith("It cannot be read, at spec.ttl: ")
    assert found.raw == "spec.ttl: Expected `str`"
    assert not is_visibility_finding(found)


def test_beyond_twenty_objects_that_cannot_be_read_only_the_number_is_told() -> None:
    twenty = [("prod", "Backup", f"b-{number:02}") for number in range(20)]
    assert len(_unreadable(*twenty)) == 20
    found = _unreadable(*twenty, ("prod", "Backup", "c"), ("prod", "Backup", "d"))
    assert len(found) == 21
    assert found[-1] == "2 more cannot be read: "
    objects = {ObjectRef("prod", "Backup", "velero", name): UnreadableObject(problem="odd") for _, _, name in twenty}
    more = {ObjectRef("prod", "Backup", "velero", "c"): UnreadableObject(problem="odd")}
    assert unreadable_findings("prod", objects | more)[-1].code == "objects-unreadable"


def test_there_are_no_gaps_if_all_watches_are_live() -> None:
    assert visibility_findings("prod", health((WatchScope("prod", BACKUP), LIVE)), NOW) == ()


def test_an_extra_watch_of_a_detail_or_a_run_does_not_make_the_cluster_sync() -> None:
    begins = WatchHealth(WatchState.SYNCING, NOW)
    seen = health(
        (WatchScope("prod", BACKUP), LIVE),
        (WatchScope("prod", EVENT, "velero", fields="involvedObject.uid=1"), begins),
        (WatchScope("prod", DATA_UPLOAD, "velero", "velero.io/backup-name=run"), begins),
    )
    assert (seen.state, seen.synced, seen.watches) == (WatchState.LIVE, 1, 1)
    refused = health(
        (WatchScope("prod", BACKUP), LIVE),
        (WatchScope("prod", EVENT, "velero", fields="involvedObject.uid=1"), WatchHealth(WatchState.FORBIDDEN, NOW)),
    )
    assert refused.state is WatchState.LIVE
