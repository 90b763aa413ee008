"""The rows of the storage table and of the repositories, for objects in each state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foretop_core.models import (
    BackupRepository,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    Resource,
    from_builtins,
)
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.engine.view import View
from tests.objects import at, backup, condition, location, schedule
from tests.unit.tables.test_views import Shown

_BUCKET = {"provider": "aws", "objectStorage": {"bucket": "copies"}}


def tenants(name: str, phase: str = "Created", velero: dict[str, Any] | None = None, **more: Any) -> Resource:
    """A storage location of a tenant, with the status that Velero wrote into its own."""
    status = {"phase": phase, **({"veleroBackupStorageLocation": {"status": velero}} if velero else {}), **more}
    spec = {"backupStorageLocationSpec": _BUCKET}
    meta = {"name": name, "namespace": "team-a"}
    return from_builtins(NonAdminBackupStorageLocation, {"metadata": meta, "spec": spec, "status": status})


def request(name: str, phase: str = "", decision: str = "", asked_by: str = "") -> Resource:
    source = {"name": asked_by, "namespace": "team-a", "requestedSpec": _BUCKET}
    status = {"phase": phase, "nonAdminBackupStorageLocation": source}
    meta = {"name": name, "namespace": "velero"}
    body = {"metadata": meta, "spec": {"approvalDecision": decision}, "status": status}
    return from_builtins(NonAdminBackupStorageLocationRequest, body)


def repository(name: str, phase: str = "Ready", *, failed: str = "", maintained: str = "", **more: Any) -> Resource:
    kept = [{"result": "Failed", "message": failed}] if failed else []
    status = {"phase": phase, "recentMaintenance": kept, **more}
    body = {
        "metadata": {"name": name, "namespace": "velero"},
        "spec": {"volumeNamespace": f"of-{name}", "backupStorageLocation": "default", "repositoryType": "kopia"},
        "status": {**status, "lastMaintenanceTime": at(maintained).isoformat() if maintained else None},
    }
    return from_builtins(BackupRepository, body)


def standings(table: Shown) -> dict[str, StatusLabel | None]:
    """What the head of a group says of each row."""
    view: View[Any] = table.model.view
    return {key.name: view.standing(entry) for key, entry in table.model.table}


def test_each_kind_of_storage_says_how_it_is_and_why() -> None:
    objects: Iterable[Resource] = [
        location("a-ok", spec={"accessMode": "ReadOnly"}),
        location("b-new", phase="", checked="", synced=""),
        location("c-odd", phase="Defrosting"),
        tenants("d-ok", velero={"phase": "Available", "lastValidationTime": at("02:40:07").isoformat()}),
        tenants(
            "e-lost", velero={"phase": "Unavailable", "message": "denied", "lastSyncedTime": "2026-11-15T00:41:07Z"}
        ),
        tenants("f-refused", "BackingOff", conditions=[condition("Accepted", "False", "Bad", "no bucket")]),
        tenants("g-fresh", velero={"phase": ""}, conditions=[condition("Accepted", "True", "Good", "well")]),
        request("h-open", asked_by="theirs"),
        request("i-no", "Rejected", "reject", "theirs"),
        request("j-yes", "Approved", "approve"),
        request("k-bare"),
        repository("l-ok", maintained="02:11:07"),
        repository("m-broken", "NotReady", message="locked"),
        repository("n-failed", failed="disk full"),
    ]
    table = Shown("storage", objects)
    assert table.text("name", "kind", "phase", "checked", "synced", "mode", "default", "what") == [
        ["●", "a-ok", "location", "Available", "4s", "4s", "ReadOnly", "no", ""],
        ["○", "b-new", "location", "", "", "", "ReadWrite", "no", ""],
        ["·", "c-odd", "location", "Defrosting", "4s", "4s", "ReadWrite", "no", ""],
        ["●", "d-ok", "tenant", "Available", "1m", "", "ReadWrite", "", ""],
        ["✗", "e-lost", "tenant", "Unavailable", "", "2h", "ReadWrite", "", "denied"],
        ["✗", "f-refused", "tenant", "BackingOff", "", "", "ReadWrite", "", "no bucket"],
        ["●", "g-fresh", "tenant", "Created", "", "", "ReadWrite", "", ""],
        ["▲", "h-open", "request", "Pending", "", "", "", "", "asked for by team-a/theirs"],
        ["▲", "i-no", "request", "Rejected", "", "", "", "", "asked for by team-a/theirs, decision reject"],
        ["●", "j-yes", "request", "Approved", "", "", "", "", "approve"],
        ["▲", "k-bare", "request", "Pending", "", "", "", "", ""],
        ["●", "l-ok", "repository", "Ready", "30m", "", "", "", "volumes of of-l-ok in default"],
        ["✗", "m-broken", "repository", "NotReady", "", "", "", "", "locked"],
        ["▲", "n-failed", "repository", "Ready", "", "", "", "", "maintenance failed: disk full"],
    ]
    phases = table.cells("phase")
    assert {name: cell.tone for name, cell in phases.items() if cell.tone is Tone.DIM} == dict.fromkeys(
        ("a-ok", "c-odd", "d-ok", "g-fresh", "j-yes", "l-ok"), Tone.DIM
    )
    assert (phases["e-lost"].tone, phases["h-open"].tone, phases["n-failed"].tone) == (Tone.BAD, Tone.WARN, Tone.WARN)
    assert {name: text for name, (text,) in {n: c.briefs for n, c in table.cells("mode").items()}.items() if text} == {
        **dict.fromkeys(("b-new", "c-odd", "d-ok", "e-lost", "f-refused", "g-fresh"), "rw"),
        "a-ok": "ro",
    }
    assert table.cells("what")["n-failed"].briefs == ("disk full",)
    assert standings(table) == {
        **dict.fromkeys(("a-ok", "c-odd", "d-ok", "g-fresh", "j-yes", "l-ok", "n-failed")),
        "b-new": (StatusGlyph.WAITING, "new"),
        "e-lost": (StatusGlyph.BROKEN, "Unavailable"),
        "f-refused": (StatusGlyph.BROKEN, "BackingOff"),
        "h-open": (StatusGlyph.LOOK, "Pending"),
        "i-no": (StatusGlyph.LOOK, "Rejected"),
        "k-bare": (StatusGlyph.LOOK, "Pending"),
        "m-broken": (StatusGlyph.BROKEN, "NotReady"),
    }


def test_storage_is_listed_by_kind_first() -> None:
    table = Shown("storage", [repository("a"), request("b"), tenants("c"), location("d"), location("e")])
    assert table.names("name") == ["d", "e", "c", "b", "a"]


def test_storage_that_says_nothing_in_a_column_comes_last_in_its_order() -> None:
    table = Shown(
        "storage", [request("a"), location("b", message="denied"), location("c", spec={"accessMode": "ReadOnly"})]
    )
    assert table.names("mode") == ["c", "b", "a"]
    assert table.names("what")[0] == "b"


def test_the_item_of_a_storage_location_says_who_uses_it() -> None:
    objects: list[Resource] = [
        location("s3", spec={**_BUCKET, "credential": {"name": "keys", "key": "cloud"}}),
        schedule("daily", template={"storageLocation": "s3"}),
        schedule("other", template={"storageLocation": "elsewhere"}),
        backup("one", spec={"storageLocation": "s3"}),
        backup("two", spec={"storageLocation": "s3"}),
        tenants("theirs"),
        request("asked"),
    ]
    found = {item["name"]: item for item in Shown("storage", objects).items()}
    assert found["s3"] == {
        "context": "prod",
        "kind": "BackupStorageLocation",
        "namespace": "velero",
        "name": "s3",
        "phase": "Available",
        "checked": "2026-11-15T02:41:03Z",
        "synced": "2026-11-15T02:41:03Z",
        "accessMode": "ReadWrite",
        "default": False,
        "provider": "aws",
        "bucket": "copies",
        "message": None,
        "prefix": None,
        "region": None,
        "credential": {"secret": "keys", "key": "cloud"},
        "severity": None,
        "schedules": ["daily"],
        "backups": 2,
        "runningBackups": 0,
        "bytes": None,
        "bytesUnknown": "PodVolumeBackups and DataUploads were not read",
        "volumes": None,
    }
    assert "backups" not in found["theirs"]
    assert (found["asked"]["accessMode"], found["asked"]["provider"]) == (None, "aws")
    (default,) = Shown("storage", [location()]).items()
    assert (default["default"], default["credential"]) == (True, None)


def test_storage_is_found_by_what_it_is() -> None:
    table = Shown("storage", [location("s3", spec=_BUCKET), tenants("theirs"), repository("shop")])
    for text, found in (("kind:tenant", ["theirs"]), ("bucket:copies kind:location", ["s3"]), ("kopia", ["shop"])):
        table.model.narrow(text)
        assert [row.key.name for row in table.rows()] == found


def test_each_repository_says_how_it_is_and_when_it_was_maintained() -> None:
    table = Shown(
        "repositories",
        [
            repository("a-ok", maintained="02:11:07"),
            repository("b-broken", "NotReady", message="locked", failed="disk full"),
            repository("c-failed", failed="disk full"),
            repository("d-new", ""),
            repository("e-odd", "Marinating"),
        ],
    )
    assert table.text("name", "volumes", "storage", "type", "phase", "maintained", "what") == [
        ["●", "a-ok", "of-a-ok", "default", "kopia", "Ready", "30m", ""],
        ["✗", "b-broken", "of-b-broken", "default", "kopia", "NotReady", "", "locked"],
        ["▲", "c-failed", "of-c-failed", "default", "kopia", "Ready", "", "maintenance failed: disk full"],
        ["○", "d-new", "of-d-new", "default", "kopia", "New", "", ""],
        ["·", "e-odd", "of-e-odd", "default", "kopia", "Marinating", "", ""],
    ]
    assert [cell.tone for cell in table.cells("phase").values()] == [
        *(Tone.DIM, Tone.BAD, Tone.WARN, Tone.WAITING, Tone.DIM),
    ]
    assert standings(table) == {
        "a-ok": None,
        "b-broken": (StatusGlyph.BROKEN, "NotReady"),
        "c-failed": (StatusGlyph.LOOK, "maintenance failed"),
        "d-new": (StatusGlyph.WAITING, "New"),
        "e-odd": (StatusGlyph.UNSET, "Marinating"),
    }
    items = {item["name"]: item for item in table.items()}
    assert items["a-ok"] == {
        "context": "prod",
        "kind": "BackupRepository",
        "namespace": "velero",
        "name": "a-ok",
        "phase": "Ready",
        "volumeNamespace": "of-a-ok",
        "storageLocation": "default",
        "type": "kopia",
        "maintained": "2026-11-15T02:11:07Z",
        "message": None,
        "maintenanceFailed": None,
    }
    assert (items["d-new"]["phase"], items["b-broken"]["message"]) == (None, "locked")
    assert items["c-failed"]["maintenanceFailed"] == "disk full"
    bare = from_builtins(BackupRepository, {"metadata": {"name": "bare", "namespace": "velero"}})
    (item,) = Shown("repositories", [bare]).items()
    assert [item[name] for name in ("volumeNamespace", "storageLocation", "type")] == [None] * 3
    for text, found in (("phase:New", ["d-new"]), ("volumes:of-a-ok", ["a-ok"]), ("storage:default type:kopia", 5)):
        table.model.narrow(text)
        names = [row.key.name for row in table.rows()]
        assert (names if isinstance(found, list) else len(names)) == found
