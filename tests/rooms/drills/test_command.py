"""`foretop drill` against the box with its controllers: what it makes rests, is compared, noted and removed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rooms.drills import run as drill_run
from foretop_core.rooms.drills.run import DrillRun
from foretop_core.rules.protection.copies import DRILLED
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import SimulatedCluster
from tests.wire.boxes import living_box

_SPEED = 100.0


class Living:
    """The protection scene on a thread of its own, as a person at kubectl could look at it."""

    def __init__(self, box: SimulatedCluster, kubeconfig: str) -> None:
        self.box = box
        self.kubeconfig = kubeconfig

    def names(self, kind: str, namespace: str = "") -> list[str]:
        found = self.box.storage.list(self.box.storage.kind(kind), namespace)
        return [body["metadata"]["name"] for body in found]

    def left(self) -> list[str]:
        """All that carries the label of a drill."""
        kinds = ("Namespace", "ConfigMap", "Restore")
        bodies = [body for kind in kinds for body in self.box.storage.list(self.box.storage.kind(kind))]
        return [body["metadata"]["name"] for body in bodies if DRILL_LABEL in body["metadata"].get("labels", {})]

    def drill(self, *words: str) -> int:
        return run(["drill", *words, "--kubeconfig", self.kubeconfig])


@contextmanager
def living(folder: Path) -> Iterator[Living]:
    with living_box("protection", folder, _SPEED) as (box, path):
        yield Living(box, path)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_run, "_EACH", 0.02)


def _row(at: Living, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    run(["get", "protection", "-n", "shop", "-o", "json", "--kubeconfig", at.kubeconfig])
    (row,) = json.loads(capsys.readouterr().out)["items"]
    return dict(row)


def test_a_drill_compares_what_came_back_and_leaves_nothing_but_its_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as at:
        assert at.drill("shop", "--dry-run") == 0
        told = capsys.readouterr().out
        assert "namespace shop-drill-" in told
        assert "workloads come with zero replicas" in told
        assert at.left() == []
        assert at.drill("shop", "--yes", "-o", "json") == 0
        report = json.loads(capsys.readouterr().out)
        counts = {one["kind"]: (one["inBackup"], one["restored"]) for one in report["kinds"]}
        assert counts["Deployment"] == counts["PersistentVolumeClaim"] == (1, 1)
        assert report["notTried"] == ["Pod", "Secret"]
        assert report["failed"] is None
        assert at.left() == []
        assert not [name for name in at.names("Namespace") if "drill" in name]
        backup = at.box.storage.find(at.box.storage.kind("Backup"), HOME, report["backup"])
        assert backup is not None
        assert set(json.loads(backup["metadata"]["annotations"][DRILLED])) == {"shop"}
        assert _row(at, capsys)["lastDrill"]["failed"] is None
        run(["journal", "-o", "json"])
        kinds = [entry["kind"] for entry in json.loads(capsys.readouterr().out)["items"]]
        assert {"Namespace", "ConfigMap", "Restore", "Backup"} <= set(kinds)


def test_what_a_dry_run_lists_is_what_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living(tmp_path) as at:
        assert at.drill("shop", "--dry-run", "-o", "json", "--into", "shop-trial") == 0
        listed = json.loads(capsys.readouterr().out)["items"]
        assert at.drill("shop", "--yes", "--into", "shop-trial") == 0
        capsys.readouterr()
        run(["journal", "-o", "json"])
        written = json.loads(capsys.readouterr().out)["items"]
        made = [one for one in written if one["method"] == "POST" and one["kind"] != "DownloadRequest"]
        assert [one["kind"] for one in made] == ["Namespace", "ConfigMap", "Restore"]
        assert [one["drill"] for one in made] == [one["patch"]["metadata"]["labels"][DRILL_LABEL] for one in made]
        assert _without_id([one["patch"] for one in made]) == _without_id([one["patch"] for one in listed])
        deleted = [one for one in written if one["method"] == "DELETE"]
        assert {(one["kind"], one["name"]) for one in deleted} == {(one["kind"], one["name"]) for one in made}


def _without_id(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each drill has its own."""
    ids = {body["metadata"].pop("labels")[DRILL_LABEL] for body in bodies}
    assert len(ids) == 1
    return bodies


def test_what_is_restored_rests_and_a_drill_that_was_cut_off_is_cleaned_up_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path) as at:
        with monkeypatch.context() as patched:
            patched.setattr("foretop.rooms.drills.command._clean_up", _cut_off)
            assert at.drill("shop", "--yes", "--with-secrets", "--into", "shop-trial") == 130
        assert (
            "namespace shop-trial, configmap shop-trial and restore shop-trial: foretop drill --clean-up shop-trial"
            in (capsys.readouterr().err)
        )
        assert at.left() == ["shop-trial"] * 3
        storage = at.box.storage
        made = {kind: storage.list(storage.kind(kind), "shop-trial")[0] for kind in ("Deployment", "StatefulSet")}
        assert [body["spec"]["replicas"] for body in made.values()] == [0, 0]
        (job,) = storage.list(storage.kind("CronJob"), "shop-trial")
        assert job["spec"]["suspend"] is True
        (service,) = storage.list(storage.kind("Service"), "shop-trial")
        assert service["spec"]["type"] == "ClusterIP"
        assert at.names("Secret", "shop-trial") == ["credentials"]
        assert at.names("Pod", "shop-trial") == []
        assert at.drill("shop", "--yes", "--into", "shop-trial-2") == 0
        assert "Left over from drills: namespace shop-trial." in capsys.readouterr().err
        assert at.left() == ["shop-trial"] * 3
        assert at.drill("--clean-up", "shop-trial", "--yes") == 0
        assert at.left() == []
        assert "shop" in at.names("Namespace")


def test_what_a_finalizer_holds_is_not_called_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What nothing holds is gone by then on a busy machine too.
    monkeypatch.setattr(drill_run, "_GONE_WITHIN", 5.0)
    with living(tmp_path) as at:
        before = DrillRun.wait

        async def hold(self: DrillRun, *args: Any) -> str:
            ended = await before(self, *args)
            held = {"metadata": {"finalizers": ["example.com/hold"]}}
            storage = at.box.storage
            storage.patch(storage.kind("ConfigMap"), HOME, self.request.into, held)
            return ended

        monkeypatch.setattr(DrillRun, "wait", hold)
        assert at.drill("shop", "--yes", "--into", "shop-trial") == 1
        told = capsys.readouterr()
        assert told.err == f"✗ configmap {HOME}/shop-trial is still being deleted: held by example.com/hold\n"
        assert "deleted:" not in told.out


async def _cut_off(*_: object) -> bool:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shop", "--into", "wiki"), "Namespace wiki exists already"),
        (("scratch",), "scratch has no copy to drill"),
        (("nowhere",), "nowhere has no copy to drill"),
        (("media",), "offsite"),
    ],
)
def test_what_cannot_be_drilled_is_one_line_and_leaves_nothing(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as at:
        assert at.drill(*words, "--yes") in (2, 3)
        told = capsys.readouterr()
        assert said in told.err + told.out
        assert at.left() == []


def test_a_copy_that_vanishes_meanwhile_fails_the_drill_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path) as at:
        before = DrillRun.wait

        async def lose(self: DrillRun, *args: Any) -> str:
            at.box.builder.buckets.make("backups").pop(self.backup.name, None)
            at.box.storage.delete(at.box.storage.kind("Backup"), HOME, self.backup.name)
            return await before(self, *args)

        monkeypatch.setattr(DrillRun, "wait", lose)
        assert at.drill("shop", "--yes") == 1
        told = capsys.readouterr()
        assert "Drill of shop failed: the backup shop-daily-" in told.out, told.out
        assert "was deleted meanwhile" in told.out
        assert at.left() == []


def test_a_location_that_is_lost_meanwhile_fails_the_drill_in_one_line_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path) as at:
        before = DrillRun.wait

        async def lose(self: DrillRun, *args: Any) -> str:
            storage = at.box.storage
            at.box.builder.buckets.drop("backups")
            lost = {"phase": "Unavailable", "message": "no such bucket"}
            storage.patch_status(storage.kind("BackupStorageLocation"), HOME, "default", lost)
            return await before(self, *args)

        monkeypatch.setattr(DrillRun, "wait", lose)
        assert at.drill("shop", "--yes") == 1
        told = capsys.readouterr()
        failed = [line for line in told.out.splitlines() if line.startswith("✗")]
        assert failed == ["✗ Drill of shop failed: the storage location default is no longer available"]
        assert at.left() == []
        assert _row(at, capsys)["lastDrill"]["failed"].startswith("the storage location default")


def test_a_drill_whose_restore_failed_in_part_is_not_good_although_all_came(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path) as at:
        before = DrillRun.wait

        async def fail_in_part(self: DrillRun, *args: Any) -> str:
            ended = await before(self, *args)
            (name,) = set(at.left()) & set(at.names("Restore"))
            at.box.storage.patch_status(at.box.storage.kind("Restore"), HOME, name, {"phase": "PartiallyFailed"})
            failed = ("PartiallyFailed", name)
            while failed not in {(one.phase, one.name) for one in self.executor.snapshot().restores}:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            return ended

        monkeypatch.setattr(DrillRun, "wait", fail_in_part)
        assert at.drill("shop", "--yes") == 1
        assert "✗ Drill of shop failed: the restore is PartiallyFailed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.11.1", "Velero 1.11.1 would start what it restores; a drill needs 1.12.2 or later"),
        ("1.12", "Velero 1.12 may start what it restores; a drill needs 1.12.2 or later"),
    ],
)
def test_a_velero_that_would_start_what_it_restores_is_refused_in_one_line(
    version: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as at:
        assert at.drill("shop", "--yes", "--velero-version", version) == 3
        told = capsys.readouterr()
        assert [line for line in told.out.splitlines() if said in line] == [told.out.strip("\n")]
        assert at.left() == []


def test_the_quotas_of_the_namespace_and_of_its_copy_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living(tmp_path) as at:
        _put_quota(at, "shop", "team", {"requests.storage": "40Gi"}, {"requests.storage": "12Gi"})
        before = DrillRun.wait

        async def prevent(self: DrillRun, *args: Any) -> str:
            _put_quota(at, self.request.into, "small", {"persistentvolumeclaims": "0"}, {})
            ended = await before(self, *args)
            storage = at.box.storage
            storage.delete(storage.kind("PersistentVolumeClaim"), self.request.into, "data-db-0")
            return ended

        monkeypatch.setattr(DrillRun, "wait", prevent)
        assert at.drill("shop", "--yes", "--into", "shop-trial") == 1
        told = capsys.readouterr().out
        assert (
            "The quota team of shop is not restored and cannot stop the drill; "
            "its volumes take up to 12Gi of storage once more." in told
        )
        assert (
            "✗ Drill of shop failed: shop-trial got a quota that may have prevented it: "
            "small (persistentvolumeclaims 0 of 0); only 0 of 1 PersistentVolumeClaim" in told
        )


def _put_quota(at: Living, namespace: str, name: str, hard: dict[str, str], used: dict[str, str]) -> None:
    storage = at.box.storage
    quota = storage.kind("ResourceQuota")
    storage.create(quota, {"metadata": {"name": name, "namespace": namespace}, "spec": {"hard": hard}})
    storage.patch_status(quota, namespace, name, {"hard": hard, "used": used})
