"""Extending a backup's lifetime: one patch of spec and status, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from foretop_core.actions.planners.lifetimes import NewLifetime, plan_extend, read_lifetime
from foretop_core.errors import BadInput
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, backup

KEPT = backup(started="02:00:05", spec={"ttl": "24h0m0s"}, expiration="2026-11-16T02:00:05Z")
SNAPSHOT = ClusterSnapshot("prod", backups=(KEPT,))


def test_spec_and_status_go_in_one_patch_counted_from_the_start() -> None:
    (step,) = plan_extend(SNAPSHOT, [KEPT], NewLifetime(ttl="720h"), NOW).steps
    assert step.write.method == "PATCH"
    assert step.write.body == {
        "spec": {"ttl": "720h0m0s"},
        "status": {"expiration": "2026-12-15T02:00:05Z"},
        "metadata": {"resourceVersion": KEPT.metadata.resource_version},
    }
    assert step.write.before == {"spec": {"ttl": "24h0m0s"}, "status": {"expiration": "2026-11-16T02:00:05Z"}}
    assert step.changes == (
        "spec.ttl 24h0m0s → 720h0m0s",
        "status.expiration 2026-11-16T02:00:05Z → 2026-12-15T02:00:05Z",
    )
    assert step.warnings == ()


def test_more_is_added_to_what_is_left() -> None:
    """`7d` counts from the start: of a copy that is older it is over, and that is said with the way out."""
    (step,) = plan_extend(SNAPSHOT, [KEPT], read_lifetime("+7d"), NOW).steps
    assert step.write.body["status"] == {"expiration": "2026-11-23T02:00:05Z"}
    assert step.write.body["spec"] == {"ttl": "192h0m0s"}
    old = backup(started="2026-10-16T02:00:05Z", expiration="2026-11-15T06:00:05Z")
    with pytest.raises(BadInput, match=r"\+7d adds to what is left"):
        plan_extend(SNAPSHOT, [old], read_lifetime("7d"), NOW)
    (step,) = plan_extend(SNAPSHOT, [old], read_lifetime("+7d"), NOW).steps
    assert step.write.body["status"] == {"expiration": "2026-11-22T06:00:05Z"}


def test_more_for_an_expired_backup_is_counted_from_now() -> None:
    """What is left of it is nothing: a week more is a whole week."""
    expired = backup(started="2026-10-16T02:00:05Z", expiration="2026-11-12T02:00:05Z")
    (step,) = plan_extend(SNAPSHOT, [expired], read_lifetime("+7d"), NOW).steps
    assert step.write.body["status"] == {"expiration": "2026-11-22T02:41:07Z"}


def test_a_date_sets_the_expiration_and_the_matching_ttl() -> None:
    (step,) = plan_extend(SNAPSHOT, [KEPT], read_lifetime("2026-11-20"), NOW).steps
    assert step.write.body["spec"] == {"ttl": "117h59m55s"}
    assert step.write.body["status"] == {"expiration": "2026-11-20T00:00:00Z"}


def test_a_shorter_lifetime_is_planned_with_a_warning() -> None:
    (step,) = plan_extend(SNAPSHOT, [KEPT], NewLifetime(ttl="23h"), NOW).steps
    assert step.warnings == ("That is 1 hour earlier than before.",)


def test_the_same_end_is_no_earlier_and_a_tenant_s_backup_is_named() -> None:
    (step,) = plan_extend(SNAPSHOT, [KEPT], NewLifetime(ttl="24h"), NOW).steps
    assert step.warnings == ()
    (step,) = plan_extend(
        SNAPSHOT, [backup(annotations={NAB_NAME_ANNOTATION: "orders"})], NewLifetime("24h"), NOW
    ).steps
    assert step.warnings == ("It belongs to a tenant's NAB.",)
    assert step.forecast == "it expires 16 Nov 02:00Z, in 23 hours and 18 minutes"


@pytest.mark.parametrize("phase", ["", "New", "InProgress", "Failed", "FailedValidation", "Deleting"])
def test_unfinished_and_deleting_backups_are_refused(phase: str) -> None:
    plan = plan_extend(SNAPSHOT, [backup(phase=phase)], NewLifetime(ttl="720h"), NOW)
    assert plan.steps == ()
    wanted = "it is being deleted" if phase == "Deleting" else f"there is nothing to keep in it ({phase or 'New'})"
    assert [refusal.why for refusal in plan.refused] == [wanted]


@pytest.mark.parametrize(
    ("text", "ttl"), [("90d", "2160h"), ("1d12h", "24h12h"), ("720h0m0s", "720h0m0s"), ("0.5h", "0.5h")]
)
def test_days_are_written_in_hours_because_go_has_none(text: str, ttl: str) -> None:
    assert read_lifetime(text) == NewLifetime(ttl=ttl)


@pytest.mark.parametrize("text", ["", "soon", "d", "1.5d", "9999999d", "-1h", "9999-12-31T23:00:00-23:00"])
def test_an_invalid_lifetime_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_lifetime(text)


@pytest.mark.parametrize("wanted", [NewLifetime(ttl="1m"), NewLifetime(until=datetime(2020, 1, 1, tzinfo=UTC))])
def test_a_lifetime_that_is_already_over_is_refused(wanted: NewLifetime) -> None:
    with pytest.raises(BadInput, match="that is over"):
        plan_extend(SNAPSHOT, [KEPT], wanted, NOW)


@pytest.mark.parametrize("wanted", ["876000h", "+876000h"])
def test_a_lifetime_that_ends_after_all_calendars_is_named_as_it_was_given(wanted: str) -> None:
    last = backup(started="9950-01-01T02:00:05Z", expiration="9950-02-01T02:00:05Z")
    with pytest.raises(BadInput, match=r"^876000h is out of range"):
        plan_extend(SNAPSHOT, [last], read_lifetime(wanted), NOW)


def test_a_backup_that_would_expire_this_moment_is_refused() -> None:
    with pytest.raises(BadInput, match=r"one would expire 02:41:07Z"):
        plan_extend(SNAPSHOT, [KEPT], NewLifetime(until=NOW), NOW)
    (step,) = plan_extend(SNAPSHOT, [KEPT], NewLifetime(until=NOW + timedelta(seconds=1)), NOW).steps
    assert step.write.body["spec"] == {"ttl": "0h41m3s"}


def test_an_end_before_the_start_of_the_backup_is_its_start() -> None:
    with pytest.raises(BadInput, match=r"one would expire 02:00:05Z"):
        plan_extend(SNAPSHOT, [KEPT], NewLifetime(until=datetime(2020, 1, 1, tzinfo=UTC)), NOW)
