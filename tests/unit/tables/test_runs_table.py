"""The rows of the tables of backups and of restores, and what they say of progress."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import to_builtins

from foretop.panes.runs_pane import backup_pane, restore_pane
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import PodVolumeBackup, Resource, Restore, from_builtins
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, POD_VOLUME_BACKUP
from foretop_core.models.movement import label_value
from foretop_core.tables.engine.drawings import ShareBar
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view import pieces
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.runs import BackupRow, BackupsView, percent
from tests.objects import NOW, at, backup, location, schedule, upload
from tests.unit.tables.test_views import Shown

_TEAM = {"openshift.io/oadp-nab-origin-namespace": "team-a", "openshift.io/oadp-nab-origin-name": "orders"}


def restored(name: str, phase: str = "Completed", *, of: str = "", schedule: str = "", **status: Any) -> Restore:
    body = {
        "metadata": {"name": name, "namespace": "velero", "creationTimestamp": at("02:00:00").isoformat()},
        "spec": {"backupName": of, "scheduleName": schedule},
        "status": {"phase": phase, **status},
    }
    return from_builtins(Restore, body)


def test_the_item_of_a_backup_has_what_its_row_shows() -> None:
    table = Shown(
        "backups",
        [
            backup(
                "full",
                "PartiallyFailed",
                created="01:00:00",
                started="01:00:05",
                ended="01:10:05",
                of="daily",
                spec={"storageLocation": "s3"},
                progress={"itemsBackedUp": 7, "totalItems": 9},
                expiration="2026-12-15T01:00:00Z",
                queuePosition=2,
                errors=3,
                warnings=4,
                failureReason="disk full",
            ),
            backup("bare", "", created="00:00:00"),
        ],
    )
    items = {item["name"]: item for item in table.items()}
    assert items["full"] == {
        "context": "prod",
        "kind": "Backup",
        "namespace": "velero",
        "name": "full",
        "phase": "PartiallyFailed",
        "created": "2026-11-15T01:00:00Z",
        "started": "2026-11-15T01:00:05Z",
        "completed": "2026-11-15T01:10:05Z",
        "errors": 3,
        "warnings": 4,
        "itemsDone": 7,
        "itemsTotal": 9,
        "owner": "schedule daily",
        "failureReason": "disk full",
        "expires": "2026-12-15T01:00:00Z",
        "schedule": "daily",
        "storageLocation": "s3",
        "queuePosition": 2,
        "volumesTaken": 0,
        "volumesTotal": None,
        "volumesUnknown": "its PodVolumeBackups and DataUploads were not read",
        "bytes": None,
        "bytesUnknown": "its PodVolumeBackups and DataUploads were not read",
    }
    nothing = ("phase", "started", "itemsDone", "itemsTotal", "failureReason", "expires", "schedule", "storageLocation")
    assert [items["bare"][name] for name in nothing] == [None] * 8


def test_a_refused_run_says_all_that_velero_found_wrong() -> None:
    refused = backup("refused", "FailedValidation", validationErrors=["no location", "no namespace"])
    (item,) = Shown("backups", [refused]).items()
    assert item["failureReason"] == "no location; no namespace"
    assert Shown("backups", [refused]).cells("phase")["refused"].briefs == ("Refused",)
    assert Shown("backups", [backup("b", "PartiallyFailed")]).cells("phase")["b"].briefs == ("PartFailed",)


def test_a_restore_says_what_it_brings_back() -> None:
    table = Shown(
        "restores",
        [
            restored("one", of="daily-1", progress={"itemsRestored": 7, "totalItems": 9}),
            restored("two", schedule="daily"),
            restored("three", "", of="daily-1"),
            backup("no-restore"),
        ],
    )
    assert {row[1]: row[2:] for row in table.text("name", "backup", "phase", "items", "from")} == {
        "one": ["daily-1", "Completed", "7/9", "by hand"],
        "two": ["daily", "Completed", "", "by hand"],
        "three": ["daily-1", "New", "", "by hand"],
    }
    found = {item["name"]: (item["backup"], item["schedule"]) for item in table.items()}
    assert found == {"one": ("daily-1", None), "two": (None, "daily"), "three": ("daily-1", None)}
    for text, names in (("backup:daily-1", {"one", "three"}), ("schedule:daily", {"two"}), ("phase:New", {"three"})):
        table.model.narrow(text)
        assert {row.key.name for row in table.rows()} == names


def test_what_waits_comes_before_what_runs_and_what_has_ended_last_each_newest_first() -> None:
    table = Shown(
        "backups",
        [
            backup("a-done", started="01:00:00", created="02:30:00", ended="01:01:00"),
            backup("b-done", started="01:10:00", created="01:10:00", ended="01:11:00"),
            backup("c-refused", "FailedValidation", created="01:05:00"),
            backup("d-runs", "InProgress", created="00:30:00", started="00:40:00"),
            backup("e-runs", "InProgress", created="00:20:00", started="00:50:00"),
            backup("f-waits", "Queued", created="00:10:00"),
            backup("g-waits", "", created="00:05:00"),
            backup("h-odd", "Marinating", created="02:40:00"),
            backup("i-undated", created=""),
        ],
    )
    assert [row.key.name for row in table.rows()] == [
        *("f-waits", "g-waits", "e-runs", "d-runs", "h-odd", "b-done", "c-refused", "a-done", "i-undated"),
    ]


def test_backups_sort_by_how_long_they_took_and_by_what_they_hold() -> None:
    table = Shown(
        "backups",
        [
            backup("long", started="01:00:00", ended="01:20:00", progress={"itemsBackedUp": 3, "totalItems": 9}),
            backup("short", started="02:00:00", ended="02:10:00", progress={"itemsBackedUp": 5, "totalItems": 5}),
            backup("runs", "InProgress", started="00:00:00"),
            backup("waits", "Queued"),
        ],
    )
    assert table.names("took")[:2] == ["short", "long"]
    assert table.names("items")[:2] == ["long", "short"]
    assert {name: cell.text for name, cell in table.cells("took").items()} == {
        "long": "20m",
        "short": "10m",
        "runs": "2h41m",
        "waits": "",
    }
    took = BackupsView().column("took").sort
    halves = backup("one", started="01:00:00"), backup("one", ended="01:00:00")
    assert [took(BackupRow(half)) for half in halves] == [None, None]
    by_owner = Shown("backups", [backup("a", of="b"), backup("b", of="a"), backup("c")])
    assert by_owner.names("from") == ["c", "b", "a"]


def test_an_owner_is_told_in_fewer_words_where_there_is_less_room() -> None:
    table = Shown("backups", [backup("h"), backup("s", of="daily"), backup("t", annotations=_TEAM)])
    found = table.cells("from")
    assert {name: (cell.text, *cell.briefs) for name, cell in found.items()} == {
        "h": ("by hand", "by hand", "by hand", "hand"),
        "s": ("schedule daily", "schedule", "schedule", "sched"),
        "t": ("nab team-a/orders", "nab team-a", "nab"),
    }


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ("2026-11-15T02:41:08Z", "in 1s"),
        ("2026-11-15T02:41:07Z", "0s ago"),
        ("2026-11-15T02:31:07Z", "10m ago"),
        ("2026-11-18T02:41:07Z", "in 3d"),
    ],
)
def test_a_backup_expires_in_the_future_or_should_have_gone(end: str, text: str) -> None:
    cell = Shown("backups", [backup("one", expiration=end)]).cells("expires")["one"]
    assert (cell.text, cell.briefs) == (text, (text.removeprefix("in "),))


@pytest.mark.parametrize(
    ("done", "total", "text", "drawn"),
    [
        (None, None, "", ""),
        (0, 0, "", ""),
        (5, 0, "", ""),
        (0, 1, "0%", "──────   0%"),
        (1, 100, "1%", "╸─────   1%"),
        (1, 1, "100%", "━━━━━━ 100%"),
        (199, 200, "99%", "━━━━━╸  99%"),
        (7, 5, "140%", "━━━━━━ 140%"),
    ],
)
def test_progress_is_told_by_items(done: int | None, total: int | None, text: str, drawn: str) -> None:
    counted: dict[str, Any] = {} if total is None else {"progress": {"itemsBackedUp": done, "totalItems": total}}
    run = backup("one", "InProgress", started="02:00:00", **counted)
    cell = Shown("queue", [location(), run]).cells("items")["one"]
    assert cell.text == percent(run) == text
    assert "".join(piece.text for piece in pieces(cell, QueueView().column("items"), 11)).strip() == drawn


def test_a_bar_of_fewer_than_six_cells_is_not_drawn() -> None:
    bar = ShareBar(500)
    assert [piece.text for piece in bar.pieces("50%", Tone.PLAIN, 11, ascii=False)] == ["━━━", "───", "  50%"]
    assert [piece.text for piece in bar.pieces("50%", Tone.PLAIN, 11, ascii=True)] == ["===", "...", "  50%"]
    assert [piece.text for piece in bar.pieces("50%", Tone.PLAIN, 10, ascii=False)] == ["       50%"]


_ALL = {"itemsBackedUp": 1, "totalItems": 1}


@pytest.mark.parametrize(
    ("items", "volumes", "text"),
    [
        pytest.param({"itemsBackedUp": 1, "totalItems": 2}, [(1, 4, "")], "50%", id="items are not done"),
        pytest.param({"itemsBackedUp": 0, "totalItems": 0}, [(1, 4, "")], "", id="no item is known"),
        pytest.param(_ALL, [(199, 200, "")], "data 99%", id="bytes to the percent"),
        pytest.param(_ALL, [(4, 4, "02:30:00")], "100%", id="all volumes are done"),
        pytest.param(_ALL, [(4, 4, "02:30:00"), (0, 4, "")], "data 50%", id="one is done"),
        pytest.param(_ALL, [(4, 4, ""), (4, 4, ""), (0, 0, "")], "data 8 B+?", id="one of unknown size"),
        pytest.param(_ALL, [(8, 100, ""), (0, 0, "")], "data 8%+?", id="of the bytes and not of the volumes"),
        pytest.param(_ALL, [(5, 0, ""), (0, 0, "")], "data 5 B+?", id="bytes without a size"),
        pytest.param(_ALL, [(4, 4, ""), (0, 0, "02:30:00")], "data 100%", id="an empty one is done"),
        pytest.param(_ALL, [(0, 0, "")], "data 0 B", id="no size is known"),
    ],
)
def test_progress_is_told_by_bytes_where_only_volumes_are_left(
    items: dict[str, int], volumes: list[tuple[int, int, str]], text: str
) -> None:
    moving = [
        upload(
            f"up-{place}",
            "Completed" if end else "InProgress",
            of="one",
            created="02:41:00",
            completionTimestamp=at(end).isoformat() if end else None,
            progress={"bytesDone": done, "totalBytes": total},
        )
        for place, (done, total, end) in enumerate(volumes)
    ]
    run = backup("one", "InProgress", started="02:00:00", progress=items)
    table = Shown("queue", [location(), run, *moving])
    assert table.cells("items")["one"].text == text


def test_a_refused_backup_says_when_it_was_made_and_both_of_its_words() -> None:
    """It never starts: the column was empty, and the day is what is cut from a name."""
    refused = backup("crm-daily-20261115013003", "FailedValidation", created="01:30:03")
    shown = Shown("backups", [refused])
    assert shown.text("started") == [["✗", "01:30:03"]]
    told = [
        "".join(piece.text for piece in one.spans) for one in backup_pane(BackupRow(refused), shown.render_context())
    ]
    assert told[0] == "FailedValidation (refused)", "its name is in the title of the pane"
    assert "created 01:30:03Z" in told


@pytest.mark.parametrize(
    ("spec", "cell", "pane"),
    [
        ({}, "as it was", "the namespaces of the backup"),
        ({"includedNamespaces": ["*"]}, "as it was", "the namespaces of the backup"),
        ({"includedNamespaces": ["shop"]}, "shop", "shop"),
        ({"includedNamespaces": ["*"], "namespaceMapping": {"shop": "shop-old"}}, "shop → shop-old", "shop → shop-old"),
        (
            {"includedNamespaces": ["web", "shop"], "namespaceMapping": {"shop": "shop-old", "elsewhere": "lost"}},
            "web, shop → shop-old",
            "web and shop → shop-old",
        ),
        (
            {"excludedNamespaces": ["a"], "namespaceMapping": {"a": "b"}},
            "as it was",
            "the namespaces of the backup",
        ),
    ],
)
def test_a_restore_says_where_it_went(spec: dict[str, Any], cell: str, pane: str) -> None:
    body = {"metadata": {"name": "one", "namespace": "velero"}, "spec": {"backupName": "copy", **spec}}
    made = from_builtins(Restore, body)
    table = Shown("restores", [made])
    assert table.cells("into")["one"].text == cell
    said = restore_pane(made, table.render_context())[1]
    assert (said.label, "".join(piece.text for piece in said.spans)) == ("Into", pane)


def _file_copy(of: str, claim: str, phase: str = "Completed", size: int = 40_000_000_000) -> PodVolumeBackup:
    meta = {
        "name": f"{of}-{claim}",
        "namespace": "velero",
        "labels": {"velero.io/backup-name": of},
        "annotations": {"velero.io/pvc-name": claim},
    }
    status = {"phase": phase, "progress": {"bytesDone": size, "totalBytes": size}}
    return from_builtins(PodVolumeBackup, {"metadata": meta, "spec": {"pod": {"namespace": "shop"}}, "status": status})


def _with_movements(*objects: Resource) -> Shown:
    """As it is when the lists of movements have come whole."""
    table = Shown("backups", [*objects])
    for kind in (POD_VOLUME_BACKUP, DATA_UPLOAD):
        table.store.sink(WatchScope("prod", kind), table.clock).health(WatchHealth(WatchState.LIVE, NOW))
    table.model.pump()
    return table


def test_a_backup_shows_its_volumes_and_their_bytes_and_says_what_is_not_known() -> None:
    table = _with_movements(
        backup("files"),
        _file_copy("files", "data-0"),
        _file_copy("files", "data-1"),
        backup("torn"),
        _file_copy("torn", "data-0"),
        _file_copy("torn", "data-1", "Failed"),
        backup("snapshots", volumeSnapshotsAttempted=3, volumeSnapshotsCompleted=3),
        backup("bare"),
    )
    assert {row[1]: row[2:] for row in table.text("name", "volumes", "size")} == {
        "files": ["2/?", "80.0 GB"],
        "torn": ["1/?", "40.0 GB"],
        "snapshots": ["3/?", ""],
        "bare": ["", ""],
    }
    assert table.cells("volumes")["torn"].tone is Tone.WARN
    items = {item["name"]: item for item in table.items()}
    assert (items["files"]["volumesTaken"], items["files"]["bytes"], items["files"]["bytesUnknown"]) == (
        *(2, 80_000_000_000),
        None,
    )
    assert items["files"]["volumesUnknown"] == "its volume info was not fetched"
    assert items["snapshots"]["bytesUnknown"] == "nothing tells the size of a snapshot"
    assert table.names("size")[:2] == ["torn", "files"]


def test_a_volume_that_is_taken_meanwhile_shows_in_the_row_of_its_backup_alone() -> None:
    long = "a-schedule-with-a-name-that-is-longer-than-a-label-may-be-20261115010003"
    table = _with_movements(backup(long), backup("other"))
    derived = table.model.table.derived
    moved = _file_copy(long, "data-0")
    owner = {"apiVersion": "velero.io/v1", "kind": "Backup", "name": long, "uid": "1"}
    meta = {**to_builtins(moved.metadata), "labels": {"velero.io/backup-name": label_value(long)}}
    table.store.sink(WatchScope("prod", POD_VOLUME_BACKUP), table.clock).apply(
        "ADDED",
        from_builtins(PodVolumeBackup, {**to_builtins(moved), "metadata": {**meta, "ownerReferences": [owner]}}),
    )
    table.model.pump()
    assert table.cells("volumes")[long].text == "1/?"
    assert table.model.table.derived == derived + 1


def test_the_newest_copy_of_a_schedule_that_lacks_a_volume_is_to_be_looked_at() -> None:
    """Triage warned of it, and its own row called it good."""
    runs = [
        backup(f"nightly-{hour}", started=f"0{hour}:00:00", created=f"0{hour}:00:00", of="nightly") for hour in (0, 1)
    ]
    table = _with_movements(
        schedule("nightly", "0 * * * *"),
        *runs,
        *(_file_copy("nightly-0", "data-0"), _file_copy("nightly-0", "data-1"), _file_copy("nightly-1", "data-0")),
    )
    assert {row[1]: row[0] for row in table.text("name")} == {"nightly-0": "●", "nightly-1": "▲"}
    row = next(entry for key, entry in table.model.ordered() if key.name == "nightly-1")
    told = ["".join(piece.text for piece in one.spans) for one in backup_pane(row, table.render_context())]
    assert "1 volume fewer than nightly-0" in told
    sink = table.store.sink(WatchScope("prod", BACKUP), table.clock)
    sink.apply("ADDED", backup("nightly-2", started="02:00:00", created="02:00:00", of="nightly"))
    table.model.pump()
    assert {row[1]: row[0] for row in table.text("name")} == {"nightly-0": "●", "nightly-1": "●", "nightly-2": "▲"}
    table.store.sink(WatchScope("prod", POD_VOLUME_BACKUP), table.clock).apply(
        "ADDED", _file_copy("nightly-2", "data-0")
    )
    table.model.pump()
    assert {row[0] for row in table.text("name")} == {"●"}
