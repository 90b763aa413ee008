"""An archive that foretop makes of a cluster: opened, it shows what the cluster showed, and nothing that is private."""

from __future__ import annotations

import json
import stat
import tarfile
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.pages import GET_TABLES
from tests.wire.boxes import box_in_thread, kubeconfig, living_box
from tests.wire.test_commands import VELERO, obj

_BY_THE_SECOND = {"evidence", "expectedStart", "expectedEnd", "bytesPerSecond", "secondsLeft"}
"""The clock of a live cluster goes on while it is asked."""
PRIVATE = "correct-horse-battery"


def rows(capsys: pytest.CaptureFixture[str], view: str, *source: str) -> list[dict[str, Any]]:
    assert run(["get", view, "-o", "json", *source]) == 0
    items: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["items"]
    return [{key: part for key, part in item.items() if key not in {"context", *_BY_THE_SECOND}} for item in items]


@pytest.mark.parametrize("scene", ["protection", "busy"])
def test_every_view_of_what_was_gathered_is_that_of_the_cluster(
    scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "gathered.tar.gz"
    with living_box(scene, tmp_path, 0.0) as (_, path):
        live = ("--kubeconfig", path)
        assert run(["gather", "-o", str(archive), "-y", *live]) == 0
        shown = capsys.readouterr().out
        assert f"foretop open {archive} shows it." in shown
        assert "schedules.velero.io" in shown
        views = {page.id: view for view, (page, only) in GET_TABLES.items() if only is None}
        for view in views.values():
            assert rows(capsys, view, "-f", str(archive)) == rows(capsys, view, *live), view
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def private_objects() -> list[dict[str, Any]]:
    backup = obj("Backup", "failed", {}, status={"phase": "Failed", "failureReason": f"https://s3/x?sig={PRIVATE}1"})
    nab = obj("NonAdminBackup", "orders", {"backupSpec": {}})
    nab["metadata"] |= {"namespace": "shop", "annotations": {"note": f"ask Jo, {PRIVATE}"}}
    container = {"name": "job", "image": "busybox", "env": [{"name": "KEY", "value": f"{PRIVATE}2"}], "args": [PRIVATE]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {
            "name": "nightly",
            "namespace": "shop",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": PRIVATE},
        },
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": {"containers": [container]}}}}},
    }
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("velero", "shop")]
    return [*spaces, VELERO, backup, nab, job]


def texts_of(archive: Path) -> str:
    with tarfile.open(archive) as packed:
        return "".join(
            f"{info.name}\n{file.read().decode()}" for info in packed if (file := packed.extractfile(info)) is not None
        )


def test_nothing_private_leaves_the_house(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with box_in_thread(private_objects()) as box:
        live = ("--kubeconfig", kubeconfig(box, tmp_path))
        assert run(["gather", "-o", str(tmp_path / "a.tar.gz"), "-y", *live]) == 0
        assert run(["gather", "-o", str(tmp_path / "b.tar.gz"), "-y", "--with-texts", *live]) == 0
    text = texts_of(tmp_path / "a.tar.gz")
    assert '"name": "nightly"' in text
    assert (
        "must-gather/clusters/minicluster/namespaces/shop/oadp.openshift.io/nonadminbackups/nonadminbackups.yaml"
        in text
    )
    assert PRIVATE not in text
    asked = texts_of(tmp_path / "b.tar.gz")
    assert f"ask Jo, {PRIVATE}" in asked
    assert f"sig={PRIVATE}" not in asked
    assert 'last-applied-configuration": "' not in asked


def test_a_kind_of_which_there_was_none_is_known_to_have_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = str(tmp_path / "a.tar.gz")
    with box_in_thread(private_objects()) as box:
        assert run(["gather", "-o", archive, "-y", "--kubeconfig", kubeconfig(box, tmp_path)]) == 0
    capsys.readouterr()
    assert run(["get", "restores", "-f", archive]) == 0
    assert "Not visible" not in capsys.readouterr().out


def test_it_is_shown_and_agreed_to_before_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "a.tar.gz"
    with box_in_thread(private_objects()) as box:
        live = ("--kubeconfig", kubeconfig(box, tmp_path))

        def gather(*words: str) -> tuple[int, str]:
            code = run(["gather", "-o", str(archive), *words, *live])
            return code, capsys.readouterr().err

        assert gather()[1].startswith("foretop: no terminal to ask on: give --yes")
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("click.confirm", lambda *_, **__: False)
        assert gather()[0] == 130
        assert not archive.exists()
        archive.write_text("mine")
        assert gather("-y") == (2, f"foretop: {archive} is not written: it exists already (give a new name)\n")
        assert archive.read_text() == "mine"
