"""Where J leads from an object: to what belongs to it, and only to what is there."""

from __future__ import annotations

from typing import Any

from foretop_core.clock import ManualClock
from foretop_core.dashboard.related_objects import related
from foretop_core.models import (
    Namespace,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    from_builtins,
)
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.store import Store
from tests.objects import NOW, backup, location, schedule


def names(objects: list[Resource], kind: str, namespace: str, name: str) -> list[str]:
    store = Store()
    store.fill("prod", objects, ManualClock(NOW))
    found = related(store, ObjectRef("prod", kind, namespace, name))
    return [f"{ref.kind} {ref.namespace}/{ref.name}" for ref in found]


SHOP: dict[str, Any] = {"includedNamespaces": ["shop"], "storageLocation": "default"}


def test_a_namespace_leads_to_its_newest_copy_and_what_backs_it_up_also_when_it_is_deleted() -> None:
    objects = [
        from_builtins(Namespace, {"metadata": {"name": "crm"}}),
        schedule("shop-daily", "0 3 * * *", template=SHOP),
        backup("shop-daily-1", ended="01:01:00", spec=SHOP),
        backup("shop-daily-2", ended="02:01:00", spec=SHOP),
    ]
    assert names(objects, "Namespace", "", "shop") == ["Backup velero/shop-daily-2", "Schedule velero/shop-daily"]
    assert names(objects, "Namespace", "", "crm") == []


def test_a_storage_location_leads_to_the_schedules_that_write_to_it() -> None:
    objects = [location(), schedule("shop-daily", "0 3 * * *", template=SHOP)]
    assert names(objects, "BackupStorageLocation", "velero", "default") == ["Schedule velero/shop-daily"]


def test_a_request_for_storage_leads_to_the_location_that_is_asked_for() -> None:
    asked = {"nonAdminBackupStorageLocation": {"namespace": "team-a", "name": "minio"}}
    objects: list[Resource] = [
        from_builtins(
            NonAdminBackupStorageLocationRequest,
            {"metadata": {"name": "r", "namespace": "openshift-adp"}, "status": asked},
        ),
        from_builtins(NonAdminBackupStorageLocation, {"metadata": {"name": "minio", "namespace": "team-a"}}),
    ]
    kind = "NonAdminBackupStorageLocationRequest"
    assert names(objects, kind, "openshift-adp", "r") == ["NonAdminBackupStorageLocation team-a/minio"]
    assert names(objects[:1], kind, "openshift-adp", "r") == []
