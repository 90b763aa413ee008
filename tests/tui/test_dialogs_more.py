"""The dialogs of an administrator's rarer days: tenants' storage, the server's default, second tries, ways out."""

from __future__ import annotations

from typing import Any

from foretop.dialogs.dialog_parts import MessageBody
from foretop_core.models import NonAdminRestore
from foretop_core.models.kinds import BACKUP, NAB, NABSL_REQUEST, NAR, SCHEDULE
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import CONTEXT, Stand, stand
from tests.tui.pilot import MIDDLE

VELERO = f"/apis/velero.io/v1/namespaces/{HOME}"
OADP = "/apis/oadp.openshift.io/v1alpha1/namespaces"
DEPLOYMENT = f"PATCH /apis/apps/v1/namespaces/{HOME}/deployments/velero"
ONLOOKER = User(
    "onlooker", (Rule(("get", "list", "watch"), ("*",), ("*",)), Rule(("*",), ("oadp.openshift.io",), ("*",)))
)
TENANT = User("tenant", (Rule(("*",), ("oadp.openshift.io",), ("*",)),))


def listed(at: Stand, kind: str) -> list[dict[str, Any]]:
    return at.box.storage.list(at.box.storage.kind(kind))


def newest(at: Stand, schedule: str) -> str:
    names = [item["metadata"]["name"] for item in listed(at, "Backup")]
    return str(max(name for name in names if name.startswith(f"{schedule}-")))


def arguments(at: Stand) -> list[str]:
    (container,) = at.object("Deployment", "velero")["spec"]["template"]["spec"]["containers"]
    return list(container["args"])


async def by_palette(at: Stand, command: str, knob: str = "[ Cancel ]") -> None:
    await at.shown.press(":")
    await at.paste(command)
    await at.shown.press("enter")
    await at.shown.until(lambda: at.has_dialog)
    await at.see(knob)


async def left_by_enter(at: Stand) -> None:
    """On the knob that cancels, which comes before the one that does it."""
    while not at.dialog.cancel.has_focus:
        await at.shown.press("left" if at.dialog.go.has_focus else "tab")
    await at.shown.press("enter")
    assert not at.has_dialog
    assert at.writes == []


async def confirm(at: Stand, name: str) -> None:
    """Types into the line above the knobs."""
    while not at.dialog.query_one("#confirm").has_focus:
        await at.shown.press("tab")
    await at.paste(name)
    await at.shown.press("enter")


async def confirm_wrongly_then(at: Stand, name: str) -> None:
    """A name that is nearly right sends nothing."""
    await confirm(at, name[:-1])
    await at.send()
    assert at.shown.app.told[-1][1] == f"Type {name} first"
    assert at.writes == []
    await at.shown.press("left")
    while not at.dialog.query_one("#confirm").has_focus:
        await at.shown.press("shift+tab")
    await at.shown.press("ctrl+u")
    await at.paste(name)
    await at.shown.press("enter")


async def test_a_tenants_storage_is_approved_and_on_second_thoughts_rejected() -> None:
    async with stand("default", size=MIDDLE) as at:
        (request,) = listed(at, "NonAdminBackupStorageLocationRequest")
        name = request["metadata"]["name"]
        await at.go("storage", at.key(NABSL_REQUEST, name))
        assert "a approve" in at.shown.footer
        assert "a approves or rejects it" in at.shown.pane
        await by_palette(at, "appr")
        await left_by_enter(at)

        await at.shown.press("a")
        await at.see(
            "spec.approvalDecision pending → approve", "the storage location team-iot/iot-minio (aws bucket iot-backups"
        )
        await at.see("[ Approve ]", "left/right/space change")
        await at.send()
        await at.see("✓ patched 02:3")
        await at.shown.until(lambda: _phase(at, name) == "Approved")
        assert at.object("BackupStorageLocation", name)["spec"]["objectStorage"]["bucket"] == "iot-backups"
        await at.shown.press("enter")

        await at.shown.press("a")
        await at.see("Not possible: already decided (approve).", "Nothing to send.")
        await at.shown.press("right")
        await at.see("spec.approvalDecision approve → reject", "NABs that use it are refused", "[ Reject ]")
        await at.send()
        await at.see("✓ patched 02:3")
        await at.shown.until(lambda: _phase(at, name) == "Rejected")
        assert name not in [item["metadata"]["name"] for item in listed(at, "BackupStorageLocation")]
        place = f"{OADP}/{HOME}/nonadminbackupstoragelocationrequests/{name}"
        assert at.writes == [f"PATCH {place}"] * 2
        assert [line.result for line in at.journal] == ["done", "done"]


def _phase(at: Stand, name: str) -> str:
    return str(at.object("NonAdminBackupStorageLocationRequest", name)["status"]["phase"])


async def test_the_servers_default_names_the_backups_that_its_restart_kills() -> None:
    async with stand("volumes", size=MIDDLE) as at:
        running = [item["metadata"]["name"] for item in listed(at, "Backup") if item["status"]["phase"] == "InProgress"]
        assert newest(at, "media") in running
        await at.go("2", at.key(SCHEDULE, "mongo"))
        await by_palette(at, "server-default")
        await at.see("--schedule-skip-immediately absent (false) → true", "Velero restarts, which kills", *running)
        assert newest(at, "mongo") not in at.dialog.query_one("#lead", MessageBody).text
        await left_by_enter(at)

        await by_palette(at, "server-default")
        await confirm_wrongly_then(at, "velero")
        await at.send()
        await at.see("✓ patched 02:3")
        assert arguments(at) == ["server", "--concurrent-backups=6", "--schedule-skip-immediately=true"]
        assert at.writes == [DEPLOYMENT]


async def test_the_servers_default_of_a_calm_cluster_kills_nothing_and_can_be_none_to_change() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await by_palette(at, "server-default")
        await at.see("Velero restarts. No running backup is affected")
        await at.shown.press("tab", "right")
        await at.see("Not possible: its default is already false.", "Nothing to send.")
        assert at.writes == []


async def test_the_servers_default_is_not_set_behind_the_back_of_oadp() -> None:
    async with stand("quiet", size=MIDDLE) as at:
        at.patch("Deployment", "velero", {"metadata": {"labels": {"openshift.io/oadp": "True"}}})
        await at.go("2", at.key(SCHEDULE, "mail"))
        await by_palette(at, "server-default", "[ Close ]")
        await at.see(
            "Not possible: the OADP operator owns it and would revert the flag",
            "oadp.openshift.io/unsupported-velero-server-args",
            "Nothing to send.",
        )
        await at.shown.press("enter")
        await at.shown.until(lambda: not at.has_dialog)
        assert at.writes == []
        assert arguments(at) == ["server", "--concurrent-backups=1"]


async def test_a_backup_that_failed_is_run_again_with_the_same_spec() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        at.box.storage.patch_status(at.box.storage.kind("Backup"), HOME, name, {"phase": "Failed"})
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("t")
        await at.see(
            f"Run {name} again", f"is created with the whole spec of {name} (Failed)", "one backup starts at once"
        )
        await left_by_enter(at)
        await at.shown.press("t")
        await at.send()
        # It is followed until Velero has taken it up, and whether that is seen as Queued or InProgress is chance.
        await at.see("✓ made 02:3")
        assert at.writes == [f"POST {VELERO}/backups"]
        (line,) = at.journal
        await at.see(f" · {line.name}: ")
        await at.shown.until(lambda: at.object("Backup", line.name)["status"]["phase"] == "InProgress")
        again, before = at.object("Backup", line.name), at.object("Backup", name)
        assert line.name != name
        assert again["spec"]["includedNamespaces"] == before["spec"]["includedNamespaces"] == ["wiki"]
        assert again["metadata"]["labels"]["velero.io/schedule-name"] == "wiki"


async def test_a_nar_is_deleted_with_its_velero_restore_once_its_name_is_typed() -> None:
    async with stand("quiet", speed=60) as at:
        name, team = "bring-it-back", "team-pay"
        spec = {"restoreSpec": {"backupName": "before-release-0"}}
        body = {"metadata": {"name": name, "namespace": team}, "spec": spec}
        at.box.storage.create(at.box.storage.kind("NonAdminRestore"), body)
        key = at.key(NAR, name, team)

        def has_ended() -> bool:
            """Until then its controller writes to it, and a delete that is overtaken is planned and sent again."""
            item = at.session.store.get(key)
            return isinstance(item, NonAdminRestore) and getattr(item.velero.status, "phase", "") == "Completed"

        await at.shown.until(has_ended)
        await at.go("3", key)
        await at.shown.press("ctrl+d")
        await at.see("Delete NAR bring-it-back", "restored objects stay", "Type bring-it-back to confirm")
        await left_by_enter(at)
        await at.shown.press("ctrl+d")
        await confirm_wrongly_then(at, name)
        await at.send()
        await at.see("bring-it-back is deleted")
        await at.shown.until(lambda: not listed(at, "Restore"))
        assert at.writes == [f"DELETE {OADP}/{team}/nonadminrestores/{name}"]


async def test_a_nab_is_deleted_with_its_data_once_its_name_is_typed() -> None:
    async with stand("quiet", speed=60) as at:
        name, team = "before-release-0", "team-pay"
        behind = at.object("NonAdminBackup", name, team)["status"]["veleroBackup"]["name"]
        await at.go("3", at.key(NAB, name, team))
        await at.shown.press("ctrl+d")
        await at.see("Delete NAB before-release-0", "spec.deleteBackup absent → true", "are permanently deleted")
        await left_by_enter(at)
        await at.shown.press("ctrl+d")
        await confirm_wrongly_then(at, name)
        await at.send()
        await at.see("before-release-0 is deleted")
        assert behind not in [item["metadata"]["name"] for item in listed(at, "Backup")]
        assert at.writes == [f"PATCH {OADP}/{team}/nonadminbackups/{name}"]


async def test_every_movement_of_the_backup_is_given_up_and_no_other() -> None:
    async with stand("volumes", size=MIDDLE) as at:
        backup = newest(at, "mongo")
        index = at.session.store.indexes.movements_by_backup
        await at.shown.until(lambda: len(index.keys(CONTEXT, HOME, backup)) == 2)
        await at.go("7", at.key(BACKUP, backup))
        await at.shown.press("ctrl+k")
        await at.see(
            "[ Cancel ]",
            "Stop the data movements of mon",
            "2 data movements",
            "volume mongo-0 is cancelled",
            "volume mongo-1 is cancelled",
        )
        await left_by_enter(at)
        await at.shown.press("ctrl+k")
        await confirm_wrongly_then(at, backup)
        await at.send()
        await at.see("2 of 2 done.")
        given_up = {item["metadata"]["name"] for item in listed(at, "DataUpload") if item["spec"].get("cancel")}
        assert given_up == {line.name for line in at.journal} == {f"{backup}-mongo-0-0", f"{backup}-mongo-1-1"}
        # A volume that has moved on since is written again: each of them once or more, and no other.
        assert {write.rpartition("/")[2] for write in at.writes} == given_up
