"""skipImmediately used once, and the parts of Velero's schedule controller that the recordings do not show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.wire import OwnerReference
from foretop_demo.reconcile import Behaviour, Create, Patch, Reconciled, reconcile_schedule
from tests.demo.apply import Objects

NOW = datetime(2026, 11, 15, 2, 50, 0, 400_000, tzinfo=UTC)
DIALECT = Dialect.NETRESEARCH
DUE, NOT_DUE = "45 * * * *", "55 * * * *"
CREATED = "2026-11-15T02:43:00Z"


def snapshot(schedule: str = DUE, *, meta: dict[str, Any] | None = None, **fields: Any) -> Objects:
    """One schedule `hourly`, created at minute 43; `status` and `spec` fields as given."""
    objects = Objects()
    status = fields.pop("status", {})
    spec = {"schedule": schedule, "template": {"includedNamespaces": ["shop"]}, **fields}
    base = {"name": "hourly", "namespace": "velero", "uid": "u1", "creationTimestamp": CREATED}
    objects.put(SCHEDULE, {"metadata": {**base, **(meta or {})}, "spec": spec, "status": status})
    return objects


def schedule_of(objects: Objects) -> Schedule:
    found: Schedule = objects.get(SCHEDULE, "velero", "hourly")
    return found


def settle(
    objects: Objects, server_default: bool = False, behaviour: Behaviour = Behaviour.RELEASED, now: datetime = NOW
) -> list[Reconciled]:
    answers: list[Reconciled] = []
    while len(answers) < 9:
        answer = reconcile_schedule(schedule_of(objects), objects.all(BACKUP), now, DIALECT, server_default, behaviour)
        answers.append(answer)
        if not answer.writes:
            return answers
        objects.apply(answer.writes, now)
        server_default = server_default and not answer.server_default_used
    raise AssertionError(f"the controller does not come to rest: {answers}")


SKIP = {"absent": None, "true": True, "false": False}


@pytest.mark.parametrize("due", [True, False], ids=["due", "not-due"])
@pytest.mark.parametrize("server_default", [True, False], ids=["default-true", "default-false"])
@pytest.mark.parametrize("field", list(SKIP))
@pytest.mark.parametrize("history", ["new", "made-paused", "ran-before"])
def test_released_the_field_is_used_once_and_set_to_false(
    history: str, field: str, server_default: bool, due: bool
) -> None:
    """Just unpaused, or new: what a release does for each value of the field."""
    objects = _about_to_be_looked_at(history, SKIP[field], due)
    answers = settle(objects, server_default)
    after = schedule_of(objects)
    skips = server_default if SKIP[field] is None else SKIP[field]
    assert after.spec.skip_immediately is False
    assert after.status.last_skipped == (NOW.replace(microsecond=0) if skips else None)
    assert len(objects.all(BACKUP)) == (1 if due and not skips else 0)
    assert any(answer.server_default_used for answer in answers) == (SKIP[field] is None and server_default)


@pytest.mark.parametrize("due", [True, False], ids=["due", "not-due"])
@pytest.mark.parametrize("server_default", [True, False], ids=["default-true", "default-false"])
@pytest.mark.parametrize("field", list(SKIP))
@pytest.mark.parametrize("history", ["new", "made-paused", "ran-before"])
def test_seed_a_used_field_is_cleared_and_the_default_is_for_new_schedules(
    history: str, field: str, server_default: bool, due: bool
) -> None:
    objects = _about_to_be_looked_at(history, SKIP[field], due)
    answers = settle(objects, server_default, Behaviour.SEED)
    after = schedule_of(objects)
    value = SKIP[field]
    if value is None:
        value = server_default if history != "ran-before" else None
    assert after.spec.skip_immediately is (False if value is False else None)
    assert after.status.last_skipped == (NOW.replace(microsecond=0) if value else None)
    assert len(objects.all(BACKUP)) == (1 if due and not value else 0)
    assert not any(answer.server_default_used for answer in answers)


def _about_to_be_looked_at(history: str, field: bool | None, due: bool) -> Objects:
    spec: dict[str, Any] = {} if field is None else {"skipImmediately": field}
    status = {"phase": "Enabled", "lastBackup": "2026-11-15T02:43:30Z"} if history == "ran-before" else {}
    objects = snapshot(DUE if due else NOT_DUE, status=status, paused=history != "new", **spec)
    if history != "new":
        assert settle(objects) == [Reconciled()], "a paused schedule is not looked at"
        objects.apply([Patch(SCHEDULE, "velero", "hourly", {"spec": {"paused": False}})], NOW)
    return objects


def test_paused_at_43_unpaused_at_50_the_backup_of_45_starts_at_once_unless_skipped() -> None:
    """The seed's own example."""
    objects = snapshot(paused=True)
    objects.apply([Patch(SCHEDULE, "velero", "hourly", {"spec": {"paused": False}})], NOW)
    settle(objects)
    assert [backup.name for backup in objects.all(BACKUP)] == ["hourly-20261115025000"]
    skipped = snapshot(paused=True)
    skipped.apply([Patch(SCHEDULE, "velero", "hourly", {"spec": {"paused": False, "skipImmediately": True}})], NOW)
    settle(skipped)
    assert skipped.all(BACKUP) == []
    settle(skipped, now=NOW + timedelta(minutes=56))
    assert [backup.name for backup in skipped.all(BACKUP)] == ["hourly-20261115034600"]


def test_released_only_the_first_new_schedule_gets_the_server_default() -> None:
    server_default, skipped = True, []
    for _ in range(3):
        objects = snapshot(NOT_DUE)
        answers = settle(objects, server_default)
        server_default = server_default and not any(answer.server_default_used for answer in answers)
        skipped.append(schedule_of(objects).status.last_skipped is not None)
    assert skipped == [True, False, False]


def test_phase_and_skip_are_one_patch_and_last_backup_follows_the_backup() -> None:
    first, second, rest = settle(snapshot(skipImmediately=False))
    assert first.writes == (Patch(SCHEDULE, "velero", "hourly", {"status": {"phase": "Enabled"}}),)
    create, patch = second.writes
    assert isinstance(create, Create)
    assert patch == Patch(SCHEDULE, "velero", "hourly", {"status": {"lastBackup": "2026-11-15T02:50:00Z"}})
    assert rest == Reconciled()


def test_an_invalid_schedule_is_reported_once_and_runs_after_it_is_fixed() -> None:
    objects = snapshot("61 * * * *")
    first, rest = settle(objects)
    after = schedule_of(objects)
    assert (after.phase, after.status.validation_errors) == (
        "FailedValidation",
        ('invalid schedule: end of range (61) above maximum (59): "61"',),
    )
    assert len(first.writes) == 1
    assert (rest.writes, rest.problem) == ((), after.status.validation_errors[0])
    objects.apply([Patch(SCHEDULE, "velero", "hourly", {"spec": {"schedule": DUE}})], NOW)
    settle(objects)
    after = schedule_of(objects)
    assert (after.phase, after.status.validation_errors) == ("Enabled", ())
    assert len(objects.all(BACKUP)) == 1


def test_until_1_15_the_errors_of_a_schedule_that_was_fixed_stay() -> None:
    objects = snapshot(NOT_DUE, status={"phase": "FailedValidation", "validationErrors": ["invalid schedule: 61"]})
    (write,) = reconcile_schedule(schedule_of(objects), (), NOW, DIALECT, keeps_errors=True).writes
    assert isinstance(write, Patch)
    assert write.patch["status"] == {"phase": "Enabled"}


def test_an_empty_expression_is_refused_with_velero_s_message() -> None:
    objects = snapshot("")
    settle(objects)
    assert schedule_of(objects).status.validation_errors == ("Schedule must be a non-empty valid Cron expression",)


def test_an_expression_made_invalid_while_paused_is_reported_after_unpausing() -> None:
    objects = snapshot("not a cron", status={"phase": "Enabled"}, paused=True)
    assert settle(objects) == [Reconciled()]


@pytest.mark.parametrize(
    ("phase", "holds"),
    [
        ("", True),
        ("New", True),
        ("InProgress", True),
        ("Queued", False),
        ("ReadyToStart", False),
        ("WaitingForPluginOperations", False),
        ("Finalizing", False),
        ("Completed", False),
        ("Failed", False),
    ],
)
def test_a_due_run_waits_for_its_own_unfinished_backup(phase: str, holds: bool) -> None:
    objects = snapshot(status={"phase": "Enabled"}, skipImmediately=False)
    meta = {"name": "hourly-1", "namespace": "velero", "labels": {"velero.io/schedule-name": "hourly"}}
    objects.put(BACKUP, {"metadata": meta, "status": {"phase": phase} if phase else {}})
    settle(objects)
    assert len(objects.all(BACKUP)) == (1 if holds else 2)


def test_the_backup_of_another_schedule_or_namespace_does_not_block() -> None:
    objects = snapshot(status={"phase": "Enabled"}, skipImmediately=False)
    for namespace, label in (("velero", "daily"), ("velero-two", "hourly")):
        meta = {"name": "b", "namespace": namespace, "labels": {"velero.io/schedule-name": label}}
        objects.put(BACKUP, {"metadata": meta})
    settle(objects)
    assert len(objects.all(BACKUP)) == 3


def test_a_schedule_that_never_fires_is_always_due_but_not_twice_in_a_second() -> None:
    objects = snapshot("0 0 31 2 *")
    settle(objects)
    assert len(objects.all(BACKUP)) == 1
    objects.apply([Patch(BACKUP, "velero", "hourly-20261115025000", {"status": {"phase": "Queued"}})], NOW)
    (answer,) = settle(objects)
    assert "already exists" in answer.problem
    settle(objects, now=NOW + timedelta(seconds=1))
    assert len(objects.all(BACKUP)) == 2


def test_missed_runs_are_not_caught_up_one_by_one() -> None:
    objects = snapshot("*/3 * * * *", status={"phase": "Enabled"}, skipImmediately=False)
    settle(objects, now=NOW + timedelta(days=3))
    assert len(objects.all(BACKUP)) == 1


def _only_backup(objects: Objects) -> Backup:
    settle(objects)
    (backup,) = objects.all(BACKUP)
    assert isinstance(backup, Backup)
    return backup


def test_labels_and_annotations_are_copied_to_the_backups() -> None:
    backup = _only_backup(snapshot(meta={"labels": {"team": "shop"}, "annotations": {"note": "nightly"}}))
    assert backup.metadata.labels == {"team": "shop", "velero.io/schedule-name": "hourly"}
    assert backup.metadata.annotations == {"note": "nightly"}


def test_template_labels_replace_the_schedule_s_labels() -> None:
    template = {"metadata": {"labels": {"tier": "gold"}}}
    backup = _only_backup(snapshot(meta={"labels": {"team": "shop"}}, template=template))
    assert backup.metadata.labels == {"tier": "gold", "velero.io/schedule-name": "hourly"}


@pytest.mark.parametrize(("wanted", "owned"), [(True, True), (False, False), (None, False)])
def test_backups_are_owned_only_if_the_schedule_says_so(wanted: bool | None, owned: bool) -> None:
    spec: dict[str, Any] = {} if wanted is None else {"useOwnerReferencesInBackup": wanted}
    backup = _only_backup(snapshot(**spec))
    owner = OwnerReference(api_version="velero.io/v1", kind="Schedule", name="hourly", uid="u1", controller=True)
    assert backup.metadata.owner_references == ((owner,) if owned else ())


def test_a_schedule_without_a_zone_runs_in_the_server_s_zone() -> None:
    ready = schedule_of(snapshot("15 8 * * *", status={"phase": "Enabled"}, skipImmediately=False))
    kolkata = ZoneInfo("Asia/Kolkata")
    assert reconcile_schedule(ready, (), NOW, DIALECT).writes == ()
    create, _ = reconcile_schedule(ready, (), NOW, DIALECT, zone=kolkata).writes
    assert isinstance(create, Create)
    assert create.name == "hourly-20261115082000"
