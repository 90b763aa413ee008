"""Who uses a storage location, and how it is told without its secret."""

from __future__ import annotations

from foretop.panes.storage_pane import place_pane
from foretop_core.models import Backup, BackupStorageLocation, Schedule, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.storage_facts import StorageFacts, credential_text, where_text
from foretop_core.rules.triage import Severity
from foretop_core.tables.engine.view import UnreadableRow
from tests.objects import NOW, location
from tests.unit.tables.test_views import Shown


def place(name: str, **spec: object) -> BackupStorageLocation:
    return from_builtins(BackupStorageLocation, {"metadata": {"name": name, "namespace": "velero"}, "spec": spec})


def schedule(name: str, location: str = "") -> Schedule:
    spec = {"schedule": "0 1 * * *", "template": {"storageLocation": location}}
    return from_builtins(Schedule, {"metadata": {"name": name, "namespace": "velero"}, "spec": spec})


def backup(name: str, location: str, namespace: str = "velero", phase: str = "Completed") -> Backup:
    meta = {"name": name, "namespace": namespace}
    status = {"phase": phase} if phase else {}
    return from_builtins(Backup, {"metadata": meta, "spec": {"storageLocation": location}, "status": status})


def test_what_names_no_location_uses_the_default_one() -> None:
    main, offsite = place("main", default=True), place("offsite")
    snapshot = assemble(
        [
            main,
            offsite,
            schedule("daily"),
            schedule("copy", "offsite"),
            backup("one", "main"),
            backup("two", ""),
            backup("three", "offsite"),
            backup("elsewhere", "main", "another-velero"),
        ]
    )
    used = [StorageFacts(one, NOW, snapshot) for one in (main, offsite)]
    assert [(one.schedules, one.backups) for one in used] == [(("daily",), 2), (("copy",), 1)]


def test_what_was_refused_or_waits_is_not_kept_there() -> None:
    offsite = place("offsite")
    phases = ("Completed", "Failed", "InProgress", "FailedValidation", "Queued", "")
    snapshot = assemble([offsite, *(backup(f"b-{phase}", "offsite", phase=phase) for phase in phases)])
    facts = StorageFacts(offsite, NOW, snapshot)
    assert (facts.backups, facts.running) == (2, 1)


def test_the_pane_says_apart_what_is_still_being_written() -> None:
    offsite = place("offsite")
    shown = Shown("storage", [offsite, backup("b-1", "offsite"), backup("b-2", "offsite", phase="Finalizing")])
    _, row = next(iter(shown.model.table))
    assert not isinstance(row, UnreadableRow)
    told = [piece.text for one in place_pane(row, shown.render_context()) for piece in one.spans]
    assert "1 backup kept there, 1 being written" in told


def test_bucket_prefix_region_and_the_names_of_the_credential() -> None:
    found = place(
        "main",
        provider="aws",
        objectStorage={"bucket": "backups", "prefix": "prod/"},
        config={"region": "eu-central-1", "s3Url": "https://minio.example"},
        credential={"name": "cloud", "key": "main"},
    )
    assert where_text(found.spec) == "aws bucket backups, prefix prod, region eu-central-1, at https://minio.example"
    assert credential_text(found.spec) == "secret cloud, key main"
    assert where_text(place("bare").spec) == "no provider bucket not set"
    assert credential_text(place("bare").spec) == "the server's own credentials"


def test_a_location_is_as_grave_as_the_worst_that_is_known_of_it() -> None:
    places = {
        "well": location(),
        "gone": location(phase="Unavailable"),
        "unchecked": location(checked="02:00:00"),
        "unsynced": location(synced="02:00:00"),
    }
    facts = {name: StorageFacts(one, NOW, assemble([one])) for name, one in places.items()}
    assert {name: one.severity for name, one in facts.items()} == {
        "well": None,
        "gone": Severity.ERROR,
        "unchecked": Severity.WARNING,
        "unsynced": Severity.WARNING,
    }
    shown = {name: Shown("storage", [one]).text("what")[0] for name, one in places.items()}
    assert {name: row[0] for name, row in shown.items()} == {
        "well": "●",
        "gone": "✗",
        "unchecked": "▲",
        "unsynced": "▲",
    }
    assert shown["unsynced"][1] == "not synced for 41 minutes"
