"""The resource policy of a backup in the box, read as Velero reads it: it refuses the run, or skips volumes."""

from __future__ import annotations

from foretop_core.models import Backup, PersistentVolume, PersistentVolumeClaim, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.protection.coverage import refused_because, resource_policy
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.policies import VolumeAction
from foretop_core.rules.volumes.run_plan import Deciders, RunPlan, run_plan
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json


def refused_by_policy(storage: InProcessApi, backup: Backup, release: Release) -> str:
    """The words in which Velero refuses the policy that a backup names; "" where it does not."""
    is_by_lists = bool(refused_because(backup.spec))
    return "" if is_by_lists or not resource_policy(backup.spec) else _plan(storage, backup, release).refused


def is_skipped(storage: InProcessApi, backup: Backup, release: Release, claim: Json) -> bool:
    """True if the policy of a backup skips the volume of a claim."""
    if not resource_policy(backup.spec):
        return False
    body = storage.find(storage.kind("PersistentVolume"), "", claim["spec"].get("volumeName", ""))
    volume = None if body is None else from_builtins(PersistentVolume, body)
    policies = _plan(storage, backup, release).of_run
    return policies.action(volume, from_builtins(PersistentVolumeClaim, claim)) is VolumeAction.SKIP


def _plan(storage: InProcessApi, backup: Backup, release: Release) -> RunPlan:
    name = resource_policy(backup.spec)
    body = storage.find(storage.kind("ConfigMap"), backup.namespace, name)
    held = {name: None if body is None else from_builtins(ConfigMap, body)}
    known = Deciders(backup.namespace, release=release, flags=VolumeFlags(), config_maps=held, locations=())
    return run_plan(backup.spec, known, backup.name)
