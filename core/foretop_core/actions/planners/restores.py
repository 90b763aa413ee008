"""Restoring from a backup: what it holds, where it would go, and what is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from foretop_core.actions import validation
from foretop_core.actions.action_record import EARLY, LATE, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.plans import NamedSource, Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import (
    create_step,
    delete_step,
    restore_name,
    said,
    unavailable_storage,
    velero,
    waits_for_velero,
)
from foretop_core.actions.velero_pickup import follow_restore, follow_restore_deletion
from foretop_core.errors import BadInput
from foretop_core.models import Backup, BackupRepository, Resource, Restore, RestoreSpec
from foretop_core.models.kinds import BACKUP, RESTORE, RequiredPermission
from foretop_core.models.nonadmin import NAR_NAME_ANNOTATION, NAR_NAMESPACE_ANNOTATION
from foretop_core.models.wire import ObjectRef, as_json
from foretop_core.rules import humanize, phases
from foretop_core.rules.protection.copies import is_copy
from foretop_core.rules.protection.coverage import (
    Extent,
    VolumeMethod,
    cluster_scoped_text,
    is_without_volumes,
    template_coverage,
    volume_method,
)
from foretop_core.rules.schedule_history import began
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import unready_names, unready_repository, unready_sources

POLICIES = ("", "none", "update")
BESIDE = "-restored"
_ALL = ("*",)
_FLAGGED = frozenset({"includedNamespaces", "excludedNamespaces", "includedResources", "excludedResources"})
"""Fields of the rest of the spec that the command to copy has flags for."""
_LONGEST_NAMESPACE = 63


class RestoreRequest(msgspec.Struct, frozen=True):
    """The restore that is asked for: what to take from a backup, and where to put it."""

    name: str = ""
    mapping: Mapping[str, str] = msgspec.field(default_factory=dict)
    existing: str = ""
    """What becomes of what is there already: "" or `none` leaves it, `update` overwrites it."""
    volumes: bool | None = None
    """Whether volumes are restored too; None leaves it to Velero, which does."""
    more: RestoreSpec = msgspec.field(default_factory=RestoreSpec)
    """The rest of the spec: namespaces, resources, selectors."""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)


def copies_of(snapshot: ClusterSnapshot, namespace: str) -> tuple[Backup, ...]:
    """The backups that have something of a namespace and can be restored from, the newest first."""
    backups = (backup for backup in snapshot.backups if is_copy(backup))
    having = [backup for backup in backups if template_coverage(backup.spec, namespace).extent is not Extent.NONE]
    return tuple(sorted(having, key=began, reverse=True))


def offered_mapping(snapshot: ClusterSnapshot, names: Iterable[str]) -> dict[str, str]:
    """Each namespace beside itself, but for those that are gone: they come back as they were. A pattern is left out."""
    present = None if snapshot.namespaces is None else {item.name for item in snapshot.namespaces}
    return {name: beside(name) for name in names if "*" not in name and (present is None or name in present)}


def restored(backup: Backup, request: RestoreRequest, now: datetime) -> str:
    """The items of a backup that a request restores; the number of a part is not known, so the whole is named."""
    included, more, names = backup.spec.included_namespaces, request.more, _taken(backup, request)
    noun = "namespace" if len(names) == 1 else "namespaces"
    what = f"{noun} {humanize.join(names)}" if "*" not in names else "all namespaces"
    if "*" in names and more.excluded_namespaces:
        what = f"{what} without {humanize.join(more.excluded_namespaces)}"
    chosen = more.included_resources or more.excluded_resources or more.label_selector or more.or_label_selectors
    is_part = chosen or more.excluded_namespaces or set(names) != set(included or _ALL)
    items = f"{humanize.count(backup.status.progress.done, 'item')} " if backup.status.progress else ""
    if items:
        items = f"of {items}in the backup {'the chosen ones' if chosen else 'those'} of " if is_part else f"{items}of "
    when = f" as of {humanize.time(backup.started, now)}" if backup.started else ""
    faults = f", {humanize.count(backup.status.errors, 'error')}" if backup.status.errors else ""
    until = backup.status.expiration
    kept = f", kept until {humanize.time(until, now)}" if until else ""
    return f"{items}{what}{when} ({backup.phase}{faults}){kept}"


def copy_limits(backup: Backup, namespace: str) -> list[str]:
    """How little of one namespace a backup has, as far as it tells itself; each reads on after "it has"."""
    coverage = template_coverage(backup.spec, namespace)
    limits = [] if coverage.extent is Extent.ALL else [coverage.limits.replace("without ", "no ")]
    if backup.phase == "PartiallyFailed":
        limits.append(f"gaps where items failed ({humanize.count(backup.status.errors, 'error')})")
    if volume_method(backup.spec) is VolumeMethod.NONE:
        limits.append("no data of volumes")
    elif is_without_volumes(backup.spec):
        limits.append("no data of volumes, but of those that an annotation of a pod names")
    if cluster_scoped_text(backup.spec) == "none":
        limits.append("no cluster-scoped resources")
    return limits


def _taken(backup: Backup, request: RestoreRequest) -> tuple[str, ...]:
    """The namespaces that are restored; of a pattern nobody can say which these are."""
    chosen = request.more.included_namespaces
    source = backup.spec.included_namespaces if not chosen or chosen == _ALL else chosen
    return tuple(name for name in source or _ALL if name not in request.more.excluded_namespaces)


def only_namespace(backup: Backup, request: RestoreRequest) -> str:
    """The one namespace that is restored; "" where there are several, or a pattern stands for some."""
    names = _taken(backup, request)
    return names[0] if len(names) == 1 and "*" not in names[0] else ""


def targets(backup: Backup, request: RestoreRequest) -> tuple[str, ...]:
    """The namespaces that are written to, where they can be told."""
    return tuple(dict.fromkeys(request.mapping.get(name, name) for name in _taken(backup, request) if "*" not in name))


def plan_restore(
    snapshot: ClusterSnapshot,
    backups: Iterable[Backup],
    request: RestoreRequest,
    now: datetime,
    existing: Iterable[str] | None = None,
) -> Plan:
    """One Restore for each backup; `existing` are the namespaces there are, None where they may not be seen."""
    sources = tuple(backups)
    _check(request)
    _check_mapping(sources, request)
    present = None if existing is None else frozenset(existing)
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for backup in sources:
        if why := _why_not(snapshot, backup):
            refused.append(Refusal(snapshot.ref(backup), why))
        else:
            steps.append(_step(snapshot, backup, request, now, present))
    return Plan(RESTORE_FROM, now, tuple(steps), tuple(refused))


def plan_delete_restore(snapshot: ClusterSnapshot, restores: Iterable[Restore], now: datetime) -> Plan:
    """A plain delete: Velero removes the log and the results with it; what was restored stays."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for restore in restores:
        where = snapshot.ref(restore)
        if restore.phase == "InProgress" or restore.phase in phases.FINISHING:
            refused.append(Refusal(where, f"it is {restore.phase}: wait until it has ended"))
            continue
        warnings: tuple[str, ...] = ()
        if owner := restore.annotation(NAR_NAME_ANNOTATION):
            place = restore.annotation(NAR_NAMESPACE_ANNOTATION)
            warnings = (f"It belongs to the NAR {place}/{owner}, which would remain: delete that one instead.",)
        wait = waits_for_velero(snapshot, restore.namespace, "deleted", now)
        forecast = f"{wait}its log and results in storage are deleted with it; restored objects stay"
        steps.append(delete_step(where, restore, as_json(restore.spec), forecast, warnings))
    return Plan(DELETE_RESTORE, now, tuple(steps), tuple(refused))


def _why_not(snapshot: ClusterSnapshot, backup: Backup) -> str:
    if backup.phase not in phases.USABLE:
        return f"nothing can be restored from it: it is {backup.phase or 'New'}"
    unavailable = unavailable_storage(snapshot, backup)
    return f"{unavailable}; fix the storage location, then restore" if unavailable else ""


def _check(request: RestoreRequest) -> None:
    if request.existing not in POLICIES:
        raise BadInput(f"{request.existing!r} is not a valid policy for existing resources", "", "use none or update")
    if request.name:
        validation.name(request.name, "restore")
    chosen = (*request.more.included_namespaces, *request.more.excluded_namespaces)
    validation.namespaces((*request.mapping, *request.mapping.values(), *(name for name in chosen if name not in _ALL)))
    twice = [target for target in set(request.mapping.values()) if list(request.mapping.values()).count(target) > 1]
    if twice:
        raise BadInput(f"Two namespaces are mapped to {twice[0]}", "", "give each its own")
    if request.more.item_operation_timeout:
        validation.go_duration(request.more.item_operation_timeout, "The item operation timeout")


def _check_mapping(backups: Sequence[Backup], request: RestoreRequest) -> None:
    """A mapping of what is not restored would do nothing, and the rest would go where it came from."""
    taken = list(dict.fromkeys(name for backup in backups for name in _taken(backup, request)))
    if backups and not any("*" in name for name in taken):
        for name in request.mapping:
            if name not in taken:
                raise BadInput(
                    f"{name} is mapped to {request.mapping[name]} but not restored",
                    f"this restore takes {humanize.join(taken, 5) or 'no namespace'}",
                    "map one of these, or choose its namespace",
                )


def _step(
    snapshot: ClusterSnapshot, backup: Backup, request: RestoreRequest, now: datetime, present: frozenset[str] | None
) -> PlanStep:
    name = request.name or restore_name(backup.name, now)
    where = ObjectRef(snapshot.context, RESTORE.name, backup.namespace, name)
    spec = {"includedNamespaces": ["*"], **as_json(request.more), "backupName": backup.name}
    if request.mapping:
        spec["namespaceMapping"] = dict(request.mapping)
    if request.existing:
        spec["existingResourcePolicy"] = request.existing
    if request.volumes is not None:
        spec["restorePVs"] = request.volumes
    places = targets(backup, request)
    unready = unready_sources(snapshot, backup, request.more) if request.volumes is not False else ()
    moved = [f"{old} → {new}" for old, new in request.mapping.items()]
    changes = (
        f"{where} is created from {backup.name}",
        f"into {', '.join(places) or 'its original namespaces'}{f' ({humanize.join(moved)})' if moved else ''}: "
        f"{restored(backup, request, now)}",
        f"existing resources {_policy(request.existing)}; {_volumes(request.volumes, unready)}",
    )
    warnings = (*unready_warnings(unready), *_warnings(backup, request, places, present))
    command = _command(snapshot, backup, request, name)
    beat = snapshot.heartbeat(backup.namespace)
    silence = beat.silence(now)
    forecast = (
        f"nothing is restored until {beat.awaited(now)}: {render(silence, now)}"
        if silence
        else "Velero starts it at once, or after the restores ahead of it"
    )
    source = NamedSource(snapshot.ref(backup), backup.metadata.uid)
    return create_step(where, spec, changes, forecast, command, warnings, {"labels": dict(request.labels)}, source)


def _policy(existing: str) -> str:
    return "are overwritten with the backup" if existing == "update" else "stay unchanged"


def _volumes(wanted: bool | None, unready: Iterable[BackupRepository]) -> str:
    if wanted is False:
        return "volumes are not restored"
    names = [repository.name for repository in unready]
    default = " (Velero's default)" if wanted is None else ""
    return f"volumes are restored{default}{f', but none from {humanize.join(names)}' if names else ''}"


def unready_warnings(unready: Iterable[BackupRepository]) -> tuple[str, ...]:
    """The reason for each repository that volumes cannot be restored from."""
    return tuple(f"{unready_names([repository])}: {unready_repository(repository)}" for repository in unready)


def _warnings(
    backup: Backup, request: RestoreRequest, places: tuple[str, ...], present: frozenset[str] | None
) -> tuple[str, ...]:
    warnings = []
    if backup.phase == "PartiallyFailed":
        warnings.append("The backup failed partially: some data may be missing.")
    included = backup.spec.included_namespaces
    if included and not any("*" in name for name in included):
        lacking = [
            namespace
            for namespace in request.more.included_namespaces
            if "*" not in namespace and namespace not in included
        ]
        if lacking:
            warnings.append(f"The backup does not include {humanize.join(lacking)}: nothing is restored from there.")
    if not places:
        warnings.append("The backup does not list its namespaces: it restores into every namespace in it.")
    if present is None:
        warnings.append("You are not allowed to see which target namespaces already exist.")
        return tuple(warnings)
    existing = [name for name in places if name in present]
    if existing:
        alone = len(existing) == 1
        inside = f"what is in {'it' if alone else 'them'}"
        fate = (
            f"{inside} is overwritten" if request.existing == "update" else f"{inside} stays, what is missing is added"
        )
        # Where one namespace is restored its new name says all.
        pairs = ",".join(f"{name}:{beside(name)}" for name in existing)
        offer = f"it: into {beside(existing[0])}" if len(places) == 1 else f"{'it' if alone else 'them'}, map {pairs}"
        how = f" (to restore next to {offer})" if not request.mapping else ""
        warnings.append(f"{humanize.join(existing)} {'exists' if alone else 'exist'} already: {fate}{how}.")
    return tuple(warnings)


def _command(snapshot: ClusterSnapshot, backup: Backup, request: RestoreRequest, name: str) -> str:
    """Velero's own command where its flags say all of it, else ""."""
    if request.labels or set(as_json(request.more)) - _FLAGGED:
        return ""
    flags = ["--from-backup", backup.name]
    if request.mapping:
        flags += ["--namespace-mappings", ",".join(f"{old}:{new}" for old, new in request.mapping.items())]
    if request.existing:
        flags += ["--existing-resource-policy", request.existing]
    if request.volumes is not None:
        flags.append(f"--restore-volumes={said(request.volumes)}")
    for flag, names in (
        ("--include-namespaces", request.more.included_namespaces),
        ("--exclude-namespaces", request.more.excluded_namespaces),
        ("--include-resources", request.more.included_resources),
        ("--exclude-resources", request.more.excluded_resources),
    ):
        if names:
            flags += [flag, ",".join(names)]
    return velero(snapshot.context, backup.namespace, "restore", "create", name, *flags)


def beside(name: str) -> str:
    """The name of a namespace next to another one."""
    return f"{name[: _LONGEST_NAMESPACE - len(BESIDE)]}{BESIDE}"


def _is_usable(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Backup) and item.phase in phases.USABLE else "there is nothing to restore from it"


RESTORE_FROM = ActionRecord(
    60,
    "restore",
    "Restore from it",
    "r",
    (BACKUP,),
    (RequiredPermission("create", RESTORE),),
    plan_restore,
    applies=_is_usable,
    short="restore",
    footer=EARLY,
    hint="restore from {}",
    dialog=DialogSpec("Restore from {}", "Restore", ("Restore from {}", "Restore from {}"), "backup"),
    follow=follow_restore,
    to_the_end=True,
    commands=(CommandLine("restore create", "foretop restore create --from-backup nightly-20261115010012"),),
    purpose="restore",
)
DELETE_RESTORE = ActionRecord(
    180,
    "delete-restore",
    "Delete the restore",
    "ctrl+d",
    (RESTORE,),
    (RequiredPermission("delete", RESTORE),),
    plan_delete_restore,
    dangerous=True,
    many=True,
    short="delete",
    footer=LATE,
    dialog=DialogSpec("Delete restore {}", "Delete", ("Delete restore {}", "Delete {}"), "restore"),
    follow=follow_restore_deletion,
    commands=(
        CommandLine(
            "restore delete",
            "foretop restore delete shop-again",
            "Delete restores with their logs and results; what they have restored stays.",
        ),
    ),
    purpose="delete restores",
)
