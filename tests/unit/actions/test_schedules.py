"""Creating and deleting schedules: what is sent, what is shown, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.plans import PlanStep
from foretop_core.actions.schedules import (
    NewSchedule,
    check_schedule,
    described_by,
    plan_create_schedules,
    plan_delete_schedule,
)
from foretop_core.errors import BadInput
from foretop_core.models import Backup, BackupSpec, Schedule, from_builtins
from foretop_core.models.manifest_reader import read
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import NOW, backup, location, schedule


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
    assert step.forecast == "first backup 03:30:00Z, starts 03:30:03Z, in 48 minutes"


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
