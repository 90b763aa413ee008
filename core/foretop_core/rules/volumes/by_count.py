"""The volumes that a backup was to take by snapshots: with them the number of its snapshots tells whose they are.

What decides is read now, and the backup was made then. So what was made or changed since, and each claim that is known
to be gone, leaves it open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from foretop_core.models import Backup, DataMovement, DataUpload, PersistentVolume, PersistentVolumeClaim, Pod, Resource
from foretop_core.rules.protection.copies import is_later, is_of_storage
from foretop_core.rules.protection.coverage import VolumeMethod, resource_policy
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.volumes.evidence import (
    GLOBAL_POLICIES,
    ClaimedVolume,
    ExpectedSnapshots,
    LeftOutVolume,
    is_newer,
    may_have_others,
)
from foretop_core.rules.volumes.foretold import NO_LOCATION_KNOWS, NamespaceVolumes, foretold_volumes
from foretop_core.rules.volumes.run_plan import Deciders, run_plan

MOST_COUNTED = 2000
"""Claims of all namespaces of a backup; to foretell each of more at every change takes too long."""


def expected_snapshots(
    backup: Backup,
    deciders: Deciders,
    spaces: Mapping[str, NamespaceVolumes],
    moved: Mapping[tuple[str, str], DataMovement],
    volumes: Iterable[PersistentVolume],
) -> ExpectedSnapshots:
    """By the claims of all namespaces of a backup; `volumes` are those of the cluster, of claims too that are gone."""
    if sum(len(one.claims) for one in spaces.values()) > MOST_COUNTED:
        return ExpectedSnapshots(unknown=f"its namespaces have more than {MOST_COUNTED:,} claims")
    if any(isinstance(movement, DataUpload) for movement in moved.values()):
        return ExpectedSnapshots(unknown="some of them were moved to the storage")
    if changed := _changed_since(backup, deciders):
        return ExpectedSnapshots(unknown=changed)
    claims = {(space, claim.name): claim for space, one in spaces.items() for claim in one.claims}
    if gone := _gone(claims, None if may_have_others(backup) else spaces.keys(), moved, volumes):
        return ExpectedSnapshots(unknown=gone)
    plan = run_plan(backup.spec, deciders, backup.name, backup.metadata.annotations)
    if plan.refused:
        return ExpectedSnapshots(unknown=f"Velero would refuse it now ({plan.refused})")
    taken: set[tuple[str, str]] = set()
    left_out: dict[tuple[str, str], LeftOutVolume] = {}
    for space, objects in spaces.items():
        found = foretold_volumes(plan, deciders, objects)
        for unclear in found.open:
            if (space, unclear.name) not in moved:
                return ExpectedSnapshots(unknown=f"of {space}/{unclear.name} it is not known: {unclear.why}")
        left_out.update({(space, one.name): one for one in found.left_out})
        taken.update((space, one.name) for one in found.taken if one.method is VolumeMethod.SNAPSHOT)
    explained = sum(one.why.startswith(NO_LOCATION_KNOWS) for one in left_out.values())
    had_problems = backup.status.errors > 0 or backup.status.warnings > explained
    for space, name in sorted(taken):
        claim = claims[space, name]
        volume = (spaces[space].volumes or {}).get(claim.spec.volume_name)
        if claim.created is None or is_newer(ClaimedVolume(claim, volume), submitted(backup)):
            return ExpectedSnapshots(unknown=f"{space}/{name} was made later")
        if had_problems and not _has_pod_of_then(name, spaces[space].pods or (), backup):
            # A pod that asked for a file copy, which failed, may be gone.
            return ExpectedSnapshots(unknown=f"{space}/{name} has no pod that is as old")
    return ExpectedSnapshots(frozenset(taken - moved.keys()), left_out)


def _has_pod_of_then(claim: str, pods: Iterable[Pod], backup: Backup) -> bool:
    return any(
        volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == claim
        for pod in pods
        if pod.created is not None and not is_later(pod.created, backup)
        for volume in pod.spec.volumes
    )


def _changed_since(backup: Backup, deciders: Deciders) -> str:
    """The decider that was another then, or may have been, as far as that is seen; "" where none was."""
    if is_of_storage(backup):
        return "it was read from storage, and may be of another cluster"
    flags = deciders.flags
    of_server = flags.volume_policies if flags is not None else ""
    if backup.annotation(GLOBAL_POLICIES) not in ("", of_server):
        return "the volume policies of its server are others now"
    for name in (resource_policy(backup.spec), of_server):
        held = deciders.config_maps.get(name)
        if held is not None and is_later(held.changed, backup):
            return f"the policies in {name} were changed later"
    others: Iterable[Resource] = (
        *(deciders.locations or ()),
        *(deciders.storage_classes or {}).values(),
        *(deciders.snapshot_classes or ()),
    )
    later = next((one for one in others if is_later(one.created, backup)), None)
    return f"the {type(later).__name__} {later.name} was made later" if later is not None else ""


def _gone(
    claims: Mapping[tuple[str, str], PersistentVolumeClaim],
    spaces: Collection[str] | None,
    moved: Mapping[tuple[str, str], DataMovement],
    volumes: Iterable[PersistentVolume],
) -> str:
    """A claim of these namespaces, or None for all, that is gone or was made again; "" where none is known to be.

    One of the snapshots may be of it.
    """
    for volume in volumes:
        reference = volume.spec.claim_ref
        if spaces is not None and reference.namespace not in spaces:
            continue
        if not reference.name:
            return f"{volume.name} belongs to no claim"
        if not _is_there(claims.get((reference.namespace, reference.name)), reference.uid):
            return f"the claim {reference.namespace}/{reference.name} of {volume.name} is gone"
    lost = next((key for key in moved if key not in claims and (spaces is None or key[0] in spaces)), None)
    return f"its claim {lost[0]}/{lost[1]} is gone" if lost is not None else ""


def _is_there(claim: PersistentVolumeClaim | None, uid: str) -> bool:
    return claim is not None and (not (uid and claim.metadata.uid) or claim.metadata.uid == uid)
