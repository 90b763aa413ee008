"""The content of a backup of the box, and the objects of its restore: a small application in each namespace."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from foretop_core.models import Backup, Restore
from foretop_core.models.velero import BACKUP_LABEL, RESTORE_LABEL
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.status import ApiError

_APPLICATION: tuple[tuple[str, str, Json], ...] = (
    ("ServiceAccount", "app", {}),
    ("ConfigMap", "settings", {"data": {"colour": "green"}}),
    ("Secret", "credentials", {"data": {"token": "c2VjcmV0"}}),
    ("PersistentVolumeClaim", "data-db-0", {"spec": {"accessModes": ["ReadWriteOnce"]}}),
    ("Service", "web", {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}),
    ("Deployment", "web", {"spec": {"replicas": 2}}),
    ("StatefulSet", "db", {"spec": {"replicas": 1}}),
    ("CronJob", "nightly", {"spec": {"schedule": "0 1 * * *", "suspend": False}}),
    ("Pod", "db-0", {"spec": {"containers": [{"name": "db"}]}}),
)


def resource_list_text(storage: InProcessApi, backup: Backup) -> str:
    """The list of resources that Velero keeps beside a backup: names by kind."""
    found: dict[str, list[str]] = {}
    for namespace in _named(backup.spec.included_namespaces):
        found.setdefault("v1/Namespace", []).append(namespace)
        for kind, name, _ in _APPLICATION:
            found.setdefault(f"{storage.kind(kind).api_version}/{kind}", []).append(f"{namespace}/{name}")
    return json.dumps(found)


def restored_list_text(storage: InProcessApi, restore: Restore) -> str:
    """The list that Velero keeps of a restore: names by kind, each with what became of it."""
    found: dict[str, list[str]] = {}
    for kind, _, _ in _APPLICATION:
        served = storage.kind(kind)
        for body in storage.list(served):
            meta = body["metadata"]
            if meta.get("labels", {}).get(RESTORE_LABEL) == restore.name:
                entry = f"{meta['namespace']}/{meta['name']}(created)"
                found.setdefault(f"{served.api_version}/{kind}", []).append(entry)
    return json.dumps(found)


def restore_objects(storage: InProcessApi, restore: Restore, backup: Backup) -> None:
    """Makes what the restore takes from the backup; what is there already stays."""
    wanted = _named(restore.spec.included_namespaces) or _named(backup.spec.included_namespaces)
    for namespace in wanted:
        if namespace not in backup.spec.included_namespaces:
            continue
        target = restore.spec.namespace_mapping.get(namespace, namespace)
        _make(storage, "Namespace", {"metadata": {"name": target}})
        for kind, name, body in _taken(storage, restore):
            labels = {RESTORE_LABEL: restore.name, BACKUP_LABEL: backup.name}
            made = {**copy.deepcopy(body), "metadata": {"name": name, "namespace": target, "labels": labels}}
            _make(storage, kind, _modified(storage, restore, kind, made))


def _taken(storage: InProcessApi, restore: Restore) -> Iterator[tuple[str, str, Json]]:
    included = set(_plain(restore.spec.included_resources)) - {"*"}
    excluded = set(_plain(restore.spec.excluded_resources))
    for kind, name, body in _APPLICATION:
        plural = storage.kind(kind).plural
        if (not included or plural in included) and plural not in excluded:
            yield kind, name, body


def _modified(storage: InProcessApi, restore: Restore, kind: str, body: Json) -> Json:
    """By the merge patches of its resource modifiers, as far as their conditions name the kind."""
    served = storage.kind(kind)
    for rule in _modifiers(storage, restore):
        conditions = rule.get("conditions", {})
        name = str(body["metadata"]["name"])
        if conditions.get("groupResource") != served.resource:
            continue
        if not re.search(conditions.get("resourceNameRegex", ""), name):
            continue
        for patch in rule.get("mergePatches", ()):
            body = _merged(body, yaml.safe_load(patch["patchData"]))
    return body


def _modifiers(storage: InProcessApi, restore: Restore) -> Iterable[Json]:
    name = str(restore.spec.resource_modifier.get("name", ""))
    found = storage.find(storage.kind("ConfigMap"), restore.namespace, name) if name else None
    texts = (found or {}).get("data", {}).values()
    return [rule for text in texts for rule in yaml.safe_load(text).get("resourceModifierRules", ())]


def _merged(body: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    result = dict(body) if isinstance(body, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _make(storage: InProcessApi, kind: str, body: Json) -> None:
    try:
        storage.create(storage.kind(kind), body, manager="velero-server")
    except ApiError as refusal:
        if refusal.code != 409:
            raise


def _named(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if "*" not in name)


def _plain(names: Iterable[str]) -> Iterator[str]:
    return (name.partition(".")[0] for name in names)
