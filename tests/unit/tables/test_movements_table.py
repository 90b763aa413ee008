"""The rows of the tables of movements and of pods, for objects in each state."""

from __future__ import annotations

from typing import Any

from foretop.panes.volumes_section import movement_pane
from foretop_core.models import (
    DataDownload,
    DataMovement,
    DataUpload,
    Pod,
    PodVolumeBackup,
    PodVolumeRestore,
    from_builtins,
)
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.pods import PodsView
from tests.objects import at
from tests.unit.rules.test_velero_pods import CRASHED, READY
from tests.unit.tables.test_storage_table import standings
from tests.unit.tables.test_views import Shown

_MB = 1_000_000


def moved(
    name: str,
    phase: str,
    done: int = 0,
    total: int = 0,
    *,
    started: str = "",
    ended: str = "",
    created: str = "02:00:00",
    model: type[DataMovement] = DataUpload,
    labels: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    **status: Any,
) -> DataMovement:
    body = {
        "metadata": {
            "name": name,
            "namespace": "velero",
            "creationTimestamp": at(created).isoformat() if created else None,
            "labels": {"velero.io/backup-name": "b"} if labels is None else labels,
        },
        "spec": {"sourcePVC": f"pvc-{name}", "sourceNamespace": "shop"} if spec is None else spec,
        "status": {
            "phase": phase,
            "startTimestamp": at(started).isoformat() if started else None,
            "completionTimestamp": at(ended).isoformat() if ended else None,
            "progress": {"bytesDone": done, "totalBytes": total},
            **status,
        },
    }
    return from_builtins(model, body)


def test_each_movement_says_how_far_it_is_and_how_long_it_takes() -> None:
    table = Shown(
        "movements",
        [
            moved("a-runs", "InProgress", 30 * _MB, 120 * _MB, started="02:40:57", node="worker-1"),
            moved("b-begun", "InProgress", 0, 120 * _MB, started="02:41:07"),
            moved("c-waits", "Accepted", acceptedByNode="worker-2"),
            moved("d-new", "", spec={}),
            moved("e-done", "Completed", 120 * _MB, 120 * _MB, started="02:00:07", ended="02:01:07"),
            moved("f-failed", "Failed", 1 * _MB, 120 * _MB, started="02:00:07", ended="02:01:07", message="lost"),
            moved("g-ended", "Canceled"),
            moved("h-ending", "Canceling"),
            moved("i-ready", "Prepared", model=PodVolumeBackup, spec={"volume": "data"}),
            moved("j-down", "New", model=PodVolumeRestore, labels={"velero.io/restore-name": "r"}),
            moved("k-odd", "Marinating", model=DataDownload, labels={}),
        ],
    )
    assert sorted(table.text("name", "run", "phase", "progress", "left", "rate", "size", "node", "kind")) == sorted(
        [
            [
                *("◐", "pvc-a-runs", "b", "InProgress", "▇▇▇▁▁▁▁▁▁▁  25%", "30s", "3.0 MB/s", "120 MB", "worker-1"),
                "snapshot, up",
            ],
            ["◐", "pvc-b-begun", "b", "InProgress", "▁▁▁▁▁▁▁▁▁▁   0%", "", "", "120 MB", "", "snapshot, up"],
            ["○", "pvc-c-waits", "b", "Accepted", "", "", "", "", "worker-2", "snapshot, up"],
            ["○", "d-new", "b", "New", "", "", "", "", "", "snapshot, up"],
            ["●", "pvc-e-done", "b", "Completed", "▇▇▇▇▇▇▇▇▇▇ 100%", "", "2.0 MB/s", "120 MB", "", "snapshot, up"],
            ["✗", "pvc-f-failed", "b", "Failed", "▁▁▁▁▁▁▁▁▁▁   0%", "", "16.7 kB/s", "120 MB", "", "snapshot, up"],
            ["▲", "pvc-g-ended", "b", "Canceled", "", "", "", "", "", "snapshot, up"],
            ["▲", "pvc-h-ending", "b", "Canceling", "", "", "", "", "", "snapshot, up"],
            ["○", "data", "b", "Prepared", "", "", "", "", "", "file system, up"],
            ["○", "pvc-j-down", "r", "New", "", "", "", "", "", "file system, down"],
            ["·", "pvc-k-odd", "", "Marinating", "", "", "", "", "", "snapshot, down"],
        ]
    )
    tones = {name: cell.tone for name, cell in table.cells("phase").items()}
    assert tones["a-runs"] is Tone.RUNNING
    assert tones["e-done"] is Tone.DIM
    assert tones["f-failed"] is Tone.BAD
    assert {name for name, told in standings(table).items() if told is None} == {"e-done", "k-odd"}
    assert standings(table)["d-new"] == (StatusGlyph.WAITING, "New")
    items = {item["name"]: item for item in table.items()}
    assert items["a-runs"] == {
        "context": "prod",
        "kind": "DataUpload",
        "namespace": "velero",
        "name": "a-runs",
        "phase": "InProgress",
        "volume": "pvc-a-runs",
        "backup": "b",
        "restore": None,
        "node": "worker-1",
        "bytesDone": 30 * _MB,
        "bytesTotal": 120 * _MB,
        "bytesNew": None,
        "bytesPerSecond": 3 * _MB,
        "secondsLeft": 30,
        "started": "2026-11-15T02:40:57Z",
        "completed": None,
        "message": None,
    }
    nothing = ("phase", "volume", "node", "bytesPerSecond", "secondsLeft", "message")
    assert [items["d-new"][name] for name in nothing] == [None] * 6
    assert (items["j-down"]["backup"], items["j-down"]["restore"]) == (None, "r")
    assert items["f-failed"]["message"] == "lost"


def test_what_moves_comes_before_what_waits_and_what_has_ended_last_each_newest_first() -> None:
    table = Shown(
        "movements",
        [
            moved("a-done", "Completed", started="02:00:00"),
            moved("b-failed", "Failed", started="02:10:00"),
            moved("c-canceled", "Canceled", started="02:05:00"),
            moved("d-waits", "Accepted", created="01:20:00"),
            moved("e-waits", "Prepared", created="02:30:00"),
            moved("f-runs", "InProgress", 1, 4, started="01:35:00"),
            moved("g-runs", "InProgress", 2, 3, started="02:36:00", created="01:00:00"),
            moved("h-undated", "New", created=""),
        ],
    )
    assert [row.key.name for row in table.rows()] == [
        *("g-runs", "f-runs", "e-waits", "d-waits", "h-undated", "b-failed", "c-canceled", "a-done"),
    ]
    assert table.names("left")[-2:] == ["g-runs", "f-runs"]
    assert table.names("progress")[-2:] == ["f-runs", "g-runs"]
    assert table.names("size")[-2:] == ["g-runs", "f-runs"]
    table.model.narrow("phase:New")
    assert [row.key.name for row in table.rows()] == ["h-undated"]


def test_movements_are_found_by_what_they_move_and_how() -> None:
    table = Shown(
        "movements",
        [
            moved("one", "Accepted", acceptedByNode="worker-1"),
            moved("two", "New", model=PodVolumeRestore, labels={"velero.io/restore-name": "back"}),
        ],
    )
    for text, found in (("node:worker-1", ["one"]), ("run:back", ["two"]), ("volume:pvc-one", ["one"])):
        table.model.narrow(text)
        assert [row.key.name for row in table.rows()] == found


def velero_pod(name: str, phase: str = "Running", *, created: str = "02:00:00", **status: Any) -> Pod:
    labels = {"agent": {"name": "node-agent"}, "mover": {"velero.io/data-upload": "up"}}.get(
        name.partition("-")[0], {"deploy": "velero"}
    )
    body = {
        "metadata": {
            "name": name,
            "namespace": "velero",
            "labels": labels,
            "creationTimestamp": at(created).isoformat() if created else None,
        },
        "spec": {"containers": [{"name": "velero"}], "nodeName": "worker-1" if phase else ""},
        "status": {"phase": phase, **status},
    }
    return from_builtins(Pod, body)


def test_each_pod_says_what_it_does_and_how_it_is() -> None:
    fine = {**READY, "restartCount": 0}
    no_time = {**CRASHED, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}
    table = Shown(
        "pods",
        [
            velero_pod("mover-1", "Succeeded"),
            velero_pod("agent-1", "Pending"),
            velero_pod("agent-2", "Running", containerStatuses=[{"name": "velero", "ready": False}]),
            velero_pod("server-1", containerStatuses=[fine]),
            velero_pod("server-2", containerStatuses=[CRASHED]),
            velero_pod("server-3", containerStatuses=[no_time]),
            velero_pod("server-4", containerStatuses=[READY]),
            velero_pod("server-5", "", created=""),
            from_builtins(Pod, {"metadata": {"name": "shop", "namespace": "velero"}}),
        ],
    )
    assert table.text("name", "role", "ready", "status", "restarts", "node", "age") == [
        ["●", "server-1", "server", "1/1", "Running", "0", "worker-1", "41m"],
        ["✗", "server-2", "server", "0/1", "CrashLoopBackOff", "7, 11m ago", "worker-1", "41m"],
        ["✗", "server-3", "server", "0/1", "CrashLoopBackOff", "7", "worker-1", "41m"],
        ["●", "server-4", "server", "1/1", "Running", "2", "worker-1", "41m"],
        ["○", "server-5", "server", "0/1", "Pending", "0", "", ""],
        ["○", "agent-1", "node-agent", "0/1", "Pending", "0", "worker-1", "41m"],
        ["▲", "agent-2", "node-agent", "0/1", "Running", "0", "worker-1", "41m"],
        ["·", "mover-1", "data mover", "0/1", "Succeeded", "0", "worker-1", "41m"],
    ]
    states = {name: cell.tone for name, cell in table.cells("status").items()}
    assert (states["server-1"], states["server-2"], states["agent-2"]) == (Tone.DIM, Tone.BAD, Tone.WARN)
    restarts = table.cells("restarts")
    assert (restarts["server-1"].tone, restarts["server-2"].tone) == (Tone.DIM, Tone.WARN)
    assert restarts["server-2"].briefs == ("7",)
    assert standings(table) == {
        **dict.fromkeys(("server-1", "server-4", "mover-1")),
        "server-2": (StatusGlyph.BROKEN, "failing"),
        "server-3": (StatusGlyph.BROKEN, "failing"),
        "server-5": (StatusGlyph.WAITING, "starting"),
        "agent-1": (StatusGlyph.WAITING, "starting"),
        "agent-2": (StatusGlyph.LOOK, "not ready"),
    }
    items = {item["name"]: item for item in table.items()}
    assert items["server-2"] == {
        "context": "prod",
        "kind": "Pod",
        "namespace": "velero",
        "name": "server-2",
        "role": "server",
        "phase": "Running",
        "status": "CrashLoopBackOff",
        "readyContainers": 0,
        "containers": 1,
        "restarts": 7,
        "lastExit": {"reason": "OOMKilled", "code": 137, "at": "2026-11-15T02:30:00Z"},
        "node": "worker-1",
        "created": "2026-11-15T02:00:00Z",
    }
    assert [items["server-5"][name] for name in ("phase", "lastExit", "node", "created")] == [None] * 4
    for text, found in (("role:server node:worker-1 crashloop", ["server-2", "server-3"]), ("data", ["mover-1"])):
        table.model.narrow(text)
        assert [row.key.name for row in table.rows()] == found


def test_pods_of_the_same_role_are_in_the_order_of_their_names() -> None:
    pods = [velero_pod(name) for name in ("server-b", "server-a", "agent-1")]
    assert [PodsView().column("role").sort(pod) for pod in pods] == [(0, "server-b"), (0, "server-a"), (1, "agent-1")]


def test_the_bytes_that_were_new_to_the_storage_are_told_where_velero_tells_them() -> None:
    one = moved("a", "Completed", 120 * _MB, 120 * _MB, ended="02:01:07", incrementalBytes=2 * _MB)
    other = moved("b", "Completed", 120 * _MB, 120 * _MB, ended="02:01:07")
    table = Shown("movements", [one, other])
    render = table.render_context()
    assert {item["name"]: item["bytesNew"] for item in table.items()} == {"a": 2 * _MB, "b": None}
    told = ["".join(piece.text for piece in movement_pane(item, render)[0].spans) for item in (one, other)]
    assert told[0] == told[1].replace("(100 %)", "(100 %), 2.0 MB of it new")
