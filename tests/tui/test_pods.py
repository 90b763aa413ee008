"""The pods of Velero on the screen: watched while they are shown, and the movements beside them."""

from __future__ import annotations

import pytest

from foretop_core.models.kinds import BACKUP, POD
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.scenarios.velero_pods import SERVER
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.test_dialogs import newest

NO_PODS = User("no-pods", (Rule(("get", "list", "watch"), ("velero.io", "apps"), ("*",)),))


async def command(at: Stand, name: str) -> None:
    await at.shown.press("colon", *name, "enter")
    await at.shown.until(lambda: at.shown.page == name)


def watches_pods(at: Stand) -> bool:
    return any(scope.kind is POD for scope, _ in at.session.store.health.watches())


@pytest.mark.sweep
async def test_pods_are_watched_while_they_are_shown() -> None:
    async with stand("dead") as at:
        assert not watches_pods(at)
        await command(at, "pods")
        await at.see("CrashLoopBackOff", "node-agent-4w8zt", "exit code 1", ":Pods")
        await at.shown.on(at.key(POD, SERVER))
        await at.shown.press("enter")
        await at.see("server on worker-1", "Events")
        assert watches_pods(at)
        await at.shown.press("escape")
        await at.shown.until(lambda: at.shown.page == "pods")
        await at.shown.press("escape")
        await at.shown.until(lambda: at.shown.page == "triage")
        await at.shown.until(lambda: not watches_pods(at))
        await at.see("Velero is down: nothing is backed up or restored until it is back.")


@pytest.mark.sweep
async def test_who_may_not_list_pods_is_told_which_permission_is_missing() -> None:
    async with stand("quiet", user=NO_PODS) as at:
        await command(at, "pods")
        await at.see("you need permission to list and watch pods in openshift-adp")


@pytest.mark.sweep
async def test_movements_show_the_time_left_of_each_volume() -> None:
    async with stand("volumes") as at:
        await command(at, "movements")
        await at.see("InProgress", "LEFT", "mongo-0")
        await at.shown.press("slash", *"mongo-0", "enter")
        await at.see("InProgress on worker-3, ", " left")
        await at.shown.press("escape")
        await command(at, "repositories")
        await at.see("Ready, but its latest maintenance failed.")
        await at.shown.press("q", "q")
        await at.shown.until(lambda: at.shown.page == "triage")


@pytest.mark.sweep
async def test_the_volumes_of_a_backup_that_has_ended_are_listed_when_they_are_looked_at() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        upload = {
            "metadata": {"name": "up", "namespace": HOME, "labels": {"velero.io/backup-name": name}},
            "spec": {
                "snapshotType": "CSI",
                "sourceNamespace": "wiki",
                "sourcePVC": "pages-0",
                "backupStorageLocation": "default",
                "operationTimeout": "10m",
            },
            "status": {"phase": "Completed", "progress": {"bytesDone": 3_000_000, "totalBytes": 3_000_000}},
        }
        at.box.storage.create(at.box.storage.kind("DataUpload"), upload)
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("enter", "right")
        await at.see("pages-0 Completed, 3.0 MB of 3.0 MB")
        assert at.writes == []
