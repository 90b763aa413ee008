"""Creating and deleting schedules: what is sent, what is shown, and what is refused."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest

from foretop_core.actions.planners.schedules import (
    NewSchedule,
    check_schedule,
    described_by,
    next_runs,
    plan_create_schedules,
    plan_delete_schedule,
)
from foretop_core.actions.plans import PlanStep
from foretop_core.cron import Dialect, parse
from foretop_core.errors import BadInput
from foretop_core.models import Backup, BackupSpec, BackupStorageLocation, Schedule, from_builtins
from foretop_core.models.manifest_reader import read
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import NOW, at, backup, location, schedule


def test_a_new_schedule_shows_its_meaning_and_the_next_five_runs() -> None:
    request = NewSchedule("velero", "nightly", "30 3 * * *", BackupSpec(ttl="720h", included_namespaces=("shop",)))
    (step,) = plan_create_schedules(ClusterSnapshot("prod", storage=(location(),)), [request], NOW).steps
    assert step.write.body == {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": "nightly", "namespace": "velero"},
        "spec": {"schedule": "30 3 * * *", "template": {"includedNamespaces": ["shop"], "ttl": "720h"}},
    }
    assert step.changes[1] == ("next runs 03:30:00Z, 16 Nov 03:30Z, 17 Nov 03:30Z, 18 Nov 03:30Z, 19 Nov 03:30Z")
    assert step.forecast == "first backup 03:30:00Z, created 03:30:03Z, in 48 minutes"


def test_a_schedule_created_paused_creates_no_backup() -> None:
    request = NewSchedule("velero", "nightly", "@daily", paused=True, skip_immediately=True, own_backups=True)
    (step,) = plan_create_schedules(ClusterSnapshot("prod"), [request], NOW).steps
    assert step.write.body["spec"] == {
        "schedule": "@daily",
        "template": {},
        "paused": True,
        "skipImmediately": True,
        "useOwnerReferencesInBackup": True,
    }
    assert step.forecast == "no backup until it is unpaused"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cron": "0 25 * * *"}, "in the field hour, at character 3"),
        ({"cron": "daily"}, "is not a valid schedule"),
        ({"template": BackupSpec(ttl="30d")}, "The TTL '30d' is not a valid duration"),
        ({"template": BackupSpec(ttl="-1h")}, "it is negative"),
        ({"template": BackupSpec(item_operation_timeout="soon")}, "timeout 'soon' is not a valid duration"),
        ({"name": "Nightly!"}, "'Nightly!' is not a valid name for a schedule"),
        ({"template": BackupSpec(included_namespaces=("Shop",))}, "'Shop' is not a valid namespace name"),
        ({"name": "n" * 254}, "253 at most"),
        ({"template": BackupSpec(included_namespaces=("n" * 64,))}, "63 at most"),
    ],
)
def test_invalid_input_is_a_one_line_error_that_names_the_field(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"namespace": "velero", "name": "nightly", "cron": "@daily", **change}
    with pytest.raises(BadInput) as refused:
        check_schedule(NewSchedule(**given))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_longest_names_are_taken() -> None:
    check_schedule(NewSchedule("velero", "n" * 253, "@daily", BackupSpec(included_namespaces=("n" * 63,))))


def test_a_name_that_is_taken_is_refused() -> None:
    plan = plan_create_schedules(
        ClusterSnapshot("prod", schedules=(schedule(),)), [NewSchedule("velero", "nightly", "@daily")], NOW
    )
    assert plan.steps == ()
    assert plan.refused[0].why == "a schedule with that name already exists"


def test_a_missing_storage_location_gives_a_warning() -> None:
    request = NewSchedule("velero", "nightly", "@daily", BackupSpec(storage_location="s3-us"))
    (step,) = plan_create_schedules(ClusterSnapshot("prod", storage=(location(),)), [request], NOW).steps
    assert step.warnings == ("Storage location s3-us does not exist in velero; it has default.",)


def test_an_expression_that_never_fires_is_reported_as_always_due() -> None:
    (step,) = plan_create_schedules(ClusterSnapshot("prod"), [NewSchedule("velero", "x", "0 0 31 2 *")], NOW).steps
    assert "always due" in step.forecast


def test_a_manifest_is_created_unchanged() -> None:
    text = """
    apiVersion: velero.io/v1
    kind: Schedule
    metadata: {name: etcd, labels: {team: a}}
    spec: {schedule: "0 * * * *", skipImmediately: false, template: {hooks: {resources: []}, ttl: 24h0m0s}}
    """
    (item,) = read(text, "file").objects[0][1:]
    assert isinstance(item, Schedule)
    (step,) = plan_create_schedules(ClusterSnapshot("prod"), [described_by(item, "velero")], NOW).steps
    assert step.write.body["metadata"] == {"name": "etcd", "namespace": "velero", "labels": {"team": "a"}}
    assert step.write.body["spec"]["skipImmediately"] is False
    assert step.write.body["spec"]["template"] == {"hooks": {"resources": []}, "ttl": "24h0m0s"}


def test_deleting_a_schedule_reports_that_its_backups_stay() -> None:
    item = schedule(uid="u1", resourceVersion="5")
    snapshot = ClusterSnapshot(
        "prod", schedules=(item,), backups=(backup("nightly-1", of="nightly"), backup("nightly-2", of="nightly"))
    )
    (step,) = plan_delete_schedule(snapshot, [item], NOW).steps
    assert step.write.method == "DELETE"
    assert step.write.body["preconditions"] == {"uid": "u1", "resourceVersion": "5"}
    assert step.forecast == "no further backup of nightly; its 2 backups stay"
    assert step.warnings == ()
    assert step.write.before["spec"] == {"schedule": "0 2 * * *", "template": {}}


def test_deleting_a_schedule_reports_the_owned_backups_deleted_with_it() -> None:
    item = from_builtins(
        Schedule,
        {
            "metadata": {"name": "nightly", "namespace": "velero", "uid": "u1"},
            "spec": {"schedule": "@daily", "useOwnerReferencesInBackup": True},
        },
    )
    owned = from_builtins(
        Backup,
        {
            "metadata": {
                "name": "nightly-1",
                "namespace": "velero",
                "labels": {"velero.io/schedule-name": "nightly"},
                "ownerReferences": [{"kind": "Schedule", "name": "nightly", "uid": "u1", "controller": True}],
            }
        },
    )
    (step,) = plan_delete_schedule(ClusterSnapshot("prod", schedules=(item,), backups=(owned,)), [item], NOW).steps
    (warning,) = step.warnings
    assert "Its 1 Backup object is deleted with it" in warning
    assert "nightly-1" in warning
    assert step.forecast == "no further backup of nightly"
    # Made before the schedule owned its backups: Kubernetes deletes only what has the reference.
    older = backup("nightly-0", of="nightly")
    (step,) = plan_delete_schedule(
        ClusterSnapshot("prod", schedules=(item,), backups=(owned, older)), [item], NOW
    ).steps
    assert "Its 1 Backup object is deleted with it" in step.warnings[0]
    assert step.forecast == "no further backup of nightly; its 1 other backup stays"
    (step,) = plan_delete_schedule(ClusterSnapshot("prod", schedules=(item,), backups=(older,)), [item], NOW).steps
    assert (step.warnings, step.forecast) == ((), "no further backup of nightly; its 1 backup stays")


def planned(cron: str, version: str = "") -> PlanStep:
    snapshot = ClusterSnapshot("prod", servers={"velero": VeleroInfo(False, 1, version)})
    (step,) = plan_create_schedules(snapshot, [NewSchedule("velero", "new", cron)], NOW).steps
    return step


def test_an_expression_read_differently_by_another_release_gives_a_warning() -> None:
    step = planned("0 2 1 * 1", "1.18.3")
    assert step.changes[0].endswith("0 2 1 * 1, at 02:00 on the 1st if it is a Monday")
    assert step.warnings == (
        "Other releases read it differently: "
        "Velero up to 1.18.2: at 02:00 on the 1st of the month and on every Monday.",
    )
    assert planned("0 2 * * *", "1.18.3").warnings == ()


def test_with_an_unknown_release_every_reading_is_forecast() -> None:
    step = planned("0 2 1 * 1")
    assert step.forecast.startswith("on Velero up to 1.18.2: first backup 16 Nov 02:00Z")
    assert "on Velero 1.18.3 and later: first backup 1 Feb 2027 02:00Z" in step.forecast


def test_an_expression_is_refused_only_if_every_possible_release_refuses_it() -> None:
    assert "refuses the schedule" in planned("0 */24 * * *").forecast
    assert planned("0 */24 * * *", "1.18.2").warnings
    with pytest.raises(BadInput, match="step \\(24\\) must be less than range size"):
        planned("0 */24 * * *", "1.18.3")


def created(snapshot: ClusterSnapshot, cron: str = "0 4 * * *", **fields: Any) -> PlanStep:
    (step,) = plan_create_schedules(snapshot, [NewSchedule("velero", "new", cron, **fields)], NOW).steps
    return step


@pytest.mark.parametrize(
    ("where", "cron", "forecast"),
    [
        ((), "0 4 * * *", "first backup 04:00:00Z, created within a minute, in 1 hour and 18 minutes"),
        ((location(),), "0 4 * * *", "first backup 04:00:00Z, created 04:00:03Z, in 1 hour and 18 minutes"),
        ((location(),), "0 2 * * *", "first backup 16 Nov 02:00Z, in 23 hours and 18 minutes"),
        ((location(),), "@every 1m10s", "first backup 02:42:17Z, created 02:43:03Z, in 1 minute and 56 seconds"),
        (
            (location(checked="02:26:03", synced="02:26:03"),),
            "0 4 * * *",
            "first backup due 04:00:00Z, but it is not created until Velero is back: "
            "no sign of activity from Velero since 02:26:03Z",
        ),
        (
            (location(phase="Unavailable"),),
            "0 4 * * *",
            "first backup due 04:00:00Z, but Velero refuses it while its storage location default is Unavailable",
        ),
    ],
)
def test_when_the_first_backup_comes_and_what_stands_against_it(
    where: tuple[BackupStorageLocation, ...], cron: str, forecast: str
) -> None:
    assert created(ClusterSnapshot("prod", storage=where), cron).forecast == forecast


def test_what_is_not_asked_for_is_not_sent() -> None:
    plain = created(ClusterSnapshot("prod"))
    assert plain.write.body["spec"] == {"schedule": "0 4 * * *", "template": {}}
    no = created(ClusterSnapshot("prod"), skip_immediately=False, own_backups=False, annotations={"cost": "7"})
    assert no.write.body["spec"] == {
        "schedule": "0 4 * * *",
        "template": {},
        "skipImmediately": False,
        "useOwnerReferencesInBackup": False,
    }
    assert no.write.body["metadata"]["annotations"] == {"cost": "7"}


def test_the_meaning_of_an_expression_comes_first_and_each_reading_has_a_line() -> None:
    assert planned("0 4 * * *", "1.18.3").changes[:2] == (
        "schedule velero/new is created: 0 4 * * *, at 04:00 every day",
        "next runs 04:00:00Z, 16 Nov 04:00Z, 17 Nov 04:00Z, 18 Nov 04:00Z, 19 Nov 04:00Z",
    )
    first, second, third, *_ = planned("0 */24 * * *").changes
    assert first.startswith(
        "schedule velero/new is created: 0 */24 * * *, on Velero up to 1.18.2: at 00:00 every day; "
    )
    assert second.startswith("on Velero 1.18.3 and later: refused: step (24) must be less than range size")
    assert second.endswith("; next runs none")
    assert third == "spec.schedule: 0 */24 * * *"


def test_runs_are_shown_as_many_as_asked_and_none_of_an_expression_that_never_fires() -> None:
    daily, never = parse("0 4 * * *", Dialect.ROBFIG), parse("0 0 31 2 *", Dialect.ROBFIG)
    assert next_runs(daily, NOW, 2) == [at("04:00:00"), at("2026-11-16T04:00:00Z")]
    east = NOW.astimezone(timezone(timedelta(hours=5)))
    assert next_runs(daily, east, 1) == [at("04:00:00")], "the expression is read in UTC"
    assert next_runs(never, NOW) == []


@pytest.mark.parametrize(
    ("wanted", "storage", "warnings"),
    [
        ("", (location(),), ()),
        ("default", (location(),), ()),
        ("s3", (), ()),
        ("s3", (location(), location("b")), ("Storage location s3 does not exist in velero; it has default and b.",)),
    ],
)
def test_a_storage_location_is_doubted_only_where_others_are_known(
    wanted: str, storage: tuple[BackupStorageLocation, ...], warnings: tuple[str, ...]
) -> None:
    snapshot = ClusterSnapshot("prod", storage=storage)
    assert created(snapshot, template=BackupSpec(storage_location=wanted)).warnings == warnings
    elsewhere = NewSchedule("other", "new", "0 4 * * *", BackupSpec(storage_location=wanted))
    (step,) = plan_create_schedules(snapshot, [elsewhere], NOW).steps
    assert step.warnings == (), "the locations of another namespace tell nothing"


def test_an_interval_drifts_and_a_time_of_day_does_not() -> None:
    assert created(ClusterSnapshot("prod"), "@every 6h").warnings == (
        "@every counts from the actual last run, so it drifts.",
    )
    assert created(ClusterSnapshot("prod"), "@daily").warnings == ()


def test_the_same_name_in_another_namespace_or_another_name_is_free() -> None:
    snapshot = ClusterSnapshot("prod", schedules=(schedule(),))
    requests = [NewSchedule("other", "nightly", "@daily"), NewSchedule("velero", "weekly", "@weekly")]
    plan = plan_create_schedules(snapshot, requests, NOW)
    assert (len(plan.steps), plan.refused) == (2, ())


@pytest.mark.parametrize("field", ["ttl", "item_operation_timeout", "csi_snapshot_timeout"])
def test_every_duration_of_a_template_is_checked(field: str) -> None:
    fields: dict[str, Any] = {field: "4h"}
    check_schedule(NewSchedule("velero", "nightly", "@daily", BackupSpec(**fields)))
    with pytest.raises(BadInput, match="'30d' is not a valid duration"):
        check_schedule(NewSchedule("velero", "nightly", "@daily", BackupSpec(**{**fields, field: "30d"})))


def test_excluded_namespaces_are_checked_too() -> None:
    with pytest.raises(BadInput, match="'Shop' is not a valid namespace name"):
        check_schedule(NewSchedule("velero", "nightly", "@daily", BackupSpec(excluded_namespaces=("Shop",))))


def test_the_namespace_of_a_manifest_counts_before_the_one_that_is_given() -> None:
    assert described_by(schedule(), "other").namespace == "velero"
    assert described_by(from_builtins(Schedule, {"metadata": {"name": "a"}}), "other").namespace == "other"


@pytest.mark.parametrize(
    ("runs", "forecast"),
    [
        ((), "no further backup of nightly"),
        (
            (backup("n-1", "InProgress", of="nightly"), backup("n-2", of="nightly")),
            "no further backup of nightly; its 2 backups stay; n-1 continues",
        ),
        (
            (backup("n-1", "InProgress", of="nightly", ended="02:01:00"), backup("n-2", "Queued", of="nightly")),
            "no further backup of nightly; its 2 backups stay",
        ),
    ],
)
def test_what_becomes_of_the_backups_of_a_deleted_schedule(runs: tuple[Backup, ...], forecast: str) -> None:
    item = schedule(uid="u1")
    (step,) = plan_delete_schedule(ClusterSnapshot("prod", schedules=(item,), backups=runs), [item], NOW).steps
    assert step.forecast == forecast


def test_backups_that_go_with_their_schedule_are_counted_and_named() -> None:
    item = schedule(uid="u1")
    runs = tuple(owned_run(f"n-{number}", "u1") for number in range(2))
    others = (*(owned_run(f"o-{number}", "u0") for number in range(2)), owned_run("w-1", ""))
    snapshot = ClusterSnapshot("prod", schedules=(item,), backups=(*runs, *others))
    (step,) = plan_delete_schedule(snapshot, [item], NOW).steps
    assert step.warnings[0].startswith(
        "Its 2 Backup objects are deleted with it (useOwnerReferencesInBackup: n-0 and n-1);"
    )
    assert step.forecast == "no further backup of nightly; its 3 other backups stay"


def owned_run(name: str, owner: str) -> Backup:
    owners = [{"kind": "Schedule", "name": "nightly", "uid": owner}] if owner else []
    labels = {"velero.io/schedule-name": "nightly"}
    meta = {"name": name, "namespace": "velero", "labels": labels, "ownerReferences": owners}
    return from_builtins(Backup, {"metadata": meta, "status": {"phase": "Completed"}})
