"""What is seen of a write in a snapshot: the sentence, whether more is to be waited for, and whether it went well."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.velero_pickup import (
    Probe,
    ProgressReport,
    deletion_probe,
    edit_probe,
    nonadmin_deletion_probe,
    restore_deletion_probe,
    run_probe,
    schedule_probe,
    unpause_probe,
)
from foretop_core.models import Backup, DeleteBackupRequest, Restore, Schedule, from_builtins
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import backup, condition, nab, nar, restore, schedule

GONE = ProgressReport("nightly was deleted in the meantime", done=True, well=False)
WAITS = ProgressReport("it waits for Velero")
SKIPPED = ProgressReport("Velero picked it up 02:41:09Z and skips what was due", done=True)
BEFORE = schedule(paused=True, last="00:00:03", skipped="00:00:00", skip=False)
OLD = backup("nightly-1", of="nightly")


def look(probe: Probe, *schedules: Schedule, backups: tuple[Backup, ...] = (), version: str = "") -> ProgressReport:
    """What the probe says of these, among others that it is not about."""
    others = (schedule("hourly", last="02:40:03"), *schedules, schedule("weekly", last="02:40:03"))
    runs = (backup("hourly-1", "", of="hourly"), *backups, backup("weekly-1", "", of="weekly"))
    servers = {"velero": VeleroInfo(version=version)}
    return probe(ClusterSnapshot("prod", schedules=others, backups=runs, servers=servers))


def unpaused(**fields: Any) -> Schedule:
    return schedule(**{"last": "00:00:03", "skipped": "00:00:00", "skip": False, **fields})


@pytest.mark.parametrize(
    ("now", "runs", "said"),
    [
        (unpaused(paused=True), (), ProgressReport("nightly is still paused")),
        (unpaused(skipped="02:41:09"), (), SKIPPED),
        (unpaused(skipped="02:41:09"), (backup("nightly-2", of="nightly"),), SKIPPED),
        (unpaused(skipped=""), (), WAITS),
        (unpaused(), (OLD,), WAITS),
        (
            unpaused(),
            (OLD, backup("nightly-2", "InProgress", of="nightly")),
            ProgressReport("Velero picked it up, backup nightly-2 (InProgress)", done=True),
        ),
        (
            unpaused(),
            (OLD, backup("nightly-2", "", of="nightly")),
            ProgressReport("Velero picked it up, backup nightly-2 (New)", done=True),
        ),
        (
            unpaused(last="02:41:09"),
            (OLD,),
            ProgressReport("Velero picked it up 02:41:09Z, a backup was made", done=True, may_say_more=True),
        ),
        (unpaused(last=""), (OLD,), WAITS),
        (
            unpaused(),
            (backup("nightly-1", "InProgress", of="nightly"),),
            ProgressReport("one backup starts when nightly-1 has ended", done=True),
        ),
    ],
)
def test_an_unpaused_schedule_with_a_run_due(now: Schedule, runs: tuple[Backup, ...], said: ProgressReport) -> None:
    assert look(unpause_probe(BEFORE, ("nightly-1",), was_due=True, skips=False), now, backups=runs) == said


def test_a_schedule_that_was_deleted_meanwhile_is_not_waited_for() -> None:
    assert look(unpause_probe(BEFORE, (), was_due=True, skips=False)) == GONE


@pytest.mark.parametrize(
    ("now", "runs", "said"),
    [
        (unpaused(), (), ProgressReport("Velero picked it up: nothing was due", done=True)),
        (unpaused(phase=""), (), WAITS),
        (unpaused(phase="New"), (), WAITS),
        (unpaused(skip=None), (), WAITS),
        (
            unpaused(),
            (backup("nightly-1", "InProgress", of="nightly"),),
            ProgressReport("Velero picked it up: nothing was due", done=True),
        ),
    ],
)
def test_an_unpaused_schedule_with_no_run_due(now: Schedule, runs: tuple[Backup, ...], said: ProgressReport) -> None:
    assert look(unpause_probe(BEFORE, ("nightly-1",), was_due=False, skips=False), now, backups=runs) == said


@pytest.mark.parametrize(("phase", "done"), [("Enabled", False), ("FailedValidation", True)])
def test_an_unpaused_schedule_that_velero_refuses(phase: str, done: bool) -> None:
    """Until Velero has read it again, its phase is that of before."""
    found = look(unpause_probe(BEFORE, (), was_due=True, skips=False), unpaused(cron="0 25 * * *", phase=phase))
    assert (found.done, found.well) == (done, False)
    assert found.sentence.startswith("Velero refuses it: ")


def test_a_schedule_that_velero_has_picked_up_and_refuses_has_not_gone_well() -> None:
    refused = unpaused(cron="0 25 * * *", skipped="02:41:09")
    found = look(unpause_probe(BEFORE, (), was_due=True, skips=True), refused)
    assert (found.done, found.well) == (True, False)
    assert found.sentence.startswith("Velero picked it up 02:41:09Z and refuses it: ")


def test_a_schedule_is_refused_only_if_every_release_that_is_possible_refuses_it() -> None:
    """Releases up to 1.18.2 read a step as long as its range, later ones do not."""
    probe = schedule_probe("velero", "nightly")
    taken = ProgressReport("Velero picked up nightly: Enabled", done=True)
    every_24 = schedule(cron="0 */24 * * *")
    assert look(probe, every_24) == taken
    assert look(probe, every_24, version="v1.18.2") == taken
    refused = look(probe, every_24, version="v1.18.3")
    assert refused.sentence.startswith("Velero refuses nightly: ")
    assert (refused.done, refused.well) == (True, False)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ((), ProgressReport("nightly is not visible yet")),
        (
            (schedule(paused=True, phase=""),),
            ProgressReport("nightly is created and paused; Velero checks it once it is unpaused", done=True),
        ),
        ((schedule(phase=""),), ProgressReport("nightly waits for Velero")),
        ((schedule(phase="New"),), ProgressReport("nightly waits for Velero")),
        ((schedule(),), ProgressReport("Velero picked up nightly: Enabled", done=True)),
    ],
)
def test_a_new_schedule(made: tuple[Schedule, ...], said: ProgressReport) -> None:
    assert look(schedule_probe("velero", "nightly"), *made) == said


def edited(**fields: Any) -> Schedule:
    return unpaused(cron="0 4 * * *", **fields)


def with_errors(item: Schedule, *errors: str) -> Schedule:
    status = {"phase": "FailedValidation", "validationErrors": list(errors), "lastBackup": "2026-11-15T00:00:03Z"}
    meta = {"name": item.name, "namespace": item.namespace}
    spec = {"schedule": item.spec.schedule, "skipImmediately": item.spec.skip_immediately}
    return from_builtins(Schedule, {"metadata": meta, "spec": spec, "status": status})


READ_LATER = ProgressReport("Velero uses it from the next run on", done=True)


@pytest.mark.parametrize(
    ("now", "runs", "waits", "said"),
    [
        (None, (), False, GONE),
        (unpaused(), (), True, ProgressReport("the change is not visible yet")),
        (edited(paused=True), (), True, ProgressReport("Velero reads it once it is unpaused", done=True)),
        (
            with_errors(edited(), "bad field", "bad cron"),
            (),
            True,
            ProgressReport('Velero refuses it: "bad field; bad cron"', done=True, well=False),
        ),
        (edited(skipped="02:41:09"), (), True, SKIPPED),
        (edited(skipped=""), (), True, WAITS),
        (edited(), (OLD,), True, WAITS),
        (edited(), (OLD,), False, READ_LATER),
        (
            edited(),
            (OLD, backup("nightly-2", "InProgress", of="nightly")),
            False,
            ProgressReport("Velero picked it up, backup nightly-2 (InProgress)", done=True),
        ),
        (
            edited(),
            (OLD, backup("nightly-2", "", of="nightly")),
            False,
            ProgressReport("Velero picked it up, backup nightly-2 (New)", done=True),
        ),
        (edited(phase="New"), (), True, ProgressReport("Velero picked it up: New", done=True)),
    ],
)
def test_an_edited_schedule(now: Schedule | None, runs: tuple[Backup, ...], waits: bool, said: ProgressReport) -> None:
    probe = edit_probe(unpaused(), ("nightly-1",), was_due=True, starts_or_skips=waits)
    assert look(probe, *(() if now is None else (now,)), backups=runs) == said


def test_an_edited_schedule_that_was_refused_before_is_waited_for_until_velero_reads_it() -> None:
    broken = with_errors(unpaused(), "bad field")
    probe = edit_probe(broken, (), was_due=False, starts_or_skips=False)
    assert look(probe, with_errors(edited(), "bad field")) == WAITS
    again = ProgressReport('Velero refuses it: "bad cron"', done=True, well=False)
    assert look(probe, with_errors(edited(), "bad cron")) == again


@pytest.mark.parametrize("kind", [Backup, Restore])
@pytest.mark.parametrize(
    ("phase", "status", "to_the_end", "said"),
    [
        ("", {}, True, ProgressReport("mine waits for Velero")),
        ("", {}, False, ProgressReport("mine waits for Velero")),
        ("New", {}, False, ProgressReport("mine: New", done=True)),
        ("New", {}, True, ProgressReport("mine: New")),
        ("InProgress", {"progress": {}}, True, ProgressReport("mine: InProgress")),
        ("InProgress", {"progress": {"totalItems": 1}}, True, ProgressReport("mine: InProgress, 0 of 1 item")),
        ("Completed", {}, True, ProgressReport("mine: Completed", done=True)),
        ("Completed", {}, False, ProgressReport("mine: Completed", done=True)),
        ("Failed", {}, True, ProgressReport("mine: Failed", done=True, well=False)),
        ("Failed", {}, False, ProgressReport("mine: Failed", done=True, well=False)),
    ],
)
def test_a_run_is_followed_until_it_has_begun_or_to_its_end(
    kind: type[Backup] | type[Restore], phase: str, status: dict[str, Any], to_the_end: bool, said: ProgressReport
) -> None:
    mine, other = (backup, restore) if kind is Backup else (restore, backup)
    runs = (mine("first", "Queued"), mine("mine", phase, **status), mine("last", "Queued"), other("mine", "Queued"))
    backups = tuple(one for one in runs if isinstance(one, Backup))
    restores = tuple(one for one in runs if isinstance(one, Restore))
    probe = run_probe(kind, "velero", "mine", to_the_end)
    assert probe(ClusterSnapshot(backups=backups, restores=restores)) == said
    assert probe(ClusterSnapshot(backups=backups[:1])) == ProgressReport("mine is not visible yet")


def asked(name: str, of: str, phase: str = "", *errors: str) -> DeleteBackupRequest:
    status = {"phase": phase or None, "errors": list(errors)}
    meta = {"name": name, "namespace": "velero"}
    return from_builtins(DeleteBackupRequest, {"metadata": meta, "spec": {"backupName": of}, "status": status})


@pytest.mark.parametrize(
    ("requests", "there", "said"),
    [
        ((), True, ProgressReport("one waits for Velero")),
        ((asked("x", "one"),), True, ProgressReport("one waits for Velero")),
        (
            (asked("x", "one", "New"), asked("y", "one", "InProgress")),
            True,
            ProgressReport("deletion of one: InProgress"),
        ),
        ((asked("x", "one", "Processed"),), False, ProgressReport("one is deleted, with its data", done=True)),
        ((), False, ProgressReport("one is deleted, with its data", done=True)),
        (
            (asked("x", "one", "Processed", "denied"), asked("y", "one", "Processed", "gone", "late")),
            True,
            ProgressReport('one could not be deleted: "denied; gone; late"', done=True, well=False),
        ),
    ],
)
def test_a_backup_that_is_being_deleted(
    requests: tuple[DeleteBackupRequest, ...], there: bool, said: ProgressReport
) -> None:
    """Other backups, and requests about them, tell nothing."""
    noise = asked("z", "two", "Processed", "not mine")
    backups = (backup("two"), *((backup("one"),) if there else ()), backup("three"))
    snapshot = ClusterSnapshot(backups=backups, delete_requests=(*requests, noise))
    assert deletion_probe("velero", "one")(snapshot) == said


def test_a_restore_that_is_being_deleted() -> None:
    probe = restore_deletion_probe("velero", "back")
    there = ClusterSnapshot(restores=(restore("other"), restore("back")))
    assert probe(there) == ProgressReport("back waits for Velero to remove its log and results")
    assert probe(ClusterSnapshot(restores=(restore("other"),))) == ProgressReport("back is deleted", done=True)


def test_a_tenant_s_object_that_is_being_deleted() -> None:
    """A NAR may have the name of a NAB."""
    leaving = nab(
        "orders", "Deleting", conditions=[condition("Deleting", "True", "DeletionPending", "waits for Velero")]
    )
    probe = nonadmin_deletion_probe("NonAdminBackup", "team-a", "orders")
    of_both = ClusterSnapshot(nabs=(nab("other"), leaving), nars=(nar("orders"),))
    assert probe(of_both) == ProgressReport('orders: Deleting, "waits for Velero"')
    assert probe(ClusterSnapshot(nabs=(nab("orders", ""),))) == ProgressReport("orders: New")
    assert probe(ClusterSnapshot(nabs=(nab("other"),), nars=(nar("orders"),))) == ProgressReport(
        "orders is deleted", done=True
    )
    back = nonadmin_deletion_probe("NonAdminRestore", "team-a", "orders")
    assert back(of_both) == ProgressReport("orders: Created")
