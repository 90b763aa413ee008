"""The steps that planners make: a patch, a new object or a deletion, with its kubectl line and who owns the object.

Also what stands in the way: storage that cannot be used just now, and a Velero that is silent.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.plans import NamedSource, PlanStep, Write
from foretop_core.foreign_text import quoted
from foretop_core.kube.connection import api_paths
from foretop_core.models import Backup, Resource
from foretop_core.models.kinds import kind_of_ref
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot

_ARGO_CD = ("Argo CD", "change it in the Git repository that the application follows")
_FLUX = ("Flux", "change it in the Git repository that the kustomization follows")
_FLUX_HELM = ("Flux", "change the values of its HelmRelease")
_MARKS = {
    "argocd.argoproj.io/tracking-id": _ARGO_CD,
    "argocd.argoproj.io/instance": _ARGO_CD,
    "kustomize.toolkit.fluxcd.io/name": _FLUX,
    "helm.toolkit.fluxcd.io/name": _FLUX_HELM,
    "meta.helm.sh/release-name": ("Helm", "change the values of its release"),
    "oadp.openshift.io/oadp": ("the OADP operator", "change the DataProtectionApplication"),
}
_PROGRAMS = {
    "argocd-controller": _ARGO_CD,
    "argocd-application-controller": _ARGO_CD,
    "kustomize-controller": _FLUX,
    "helm-controller": _FLUX_HELM,
}
"""The names under which programs that follow Git write."""


def gitops_manager(item: Resource) -> tuple[str, str, str] | None:
    """The program that follows Git and has written the object: its name, whose it is, and where to change it."""
    names = [entry.manager for entry in item.metadata.managed_fields]
    return next(((name, *_PROGRAMS[name]) for name in names if name in _PROGRAMS), None)


def owner_warning(item: Resource) -> str:
    """One sentence that names the owner and where to change the object for good; "" where nobody owns it."""
    controller = next((owner for owner in item.metadata.owner_references if owner.controller), None)
    if controller is not None:
        owner = f"{controller.kind} {controller.name}"
        return f"It belongs to {owner}, which may undo this: change it there to make it permanent."
    for mark, (owner, remedy) in _MARKS.items():
        value = item.annotation(mark) or item.label(mark)
        if value:
            return f"It is managed by {owner} ({value}), which may undo this: {remedy} to make it permanent."
    if (program := gitops_manager(item)) is not None:
        name, owner, remedy = program
        return f"It is managed by {owner} ({name} has written it), which may undo this: {remedy} to make it permanent."
    manager = item.label("app.kubernetes.io/managed-by")
    if manager in {"Helm", "argocd", "flux", "oadp-operator"}:
        return f"It is managed by {manager}, which may undo this: change it there to make it permanent."
    return ""


_STAMP = re.compile(r"-\d{14}$")
_LONGEST_NAME = 253


def stamped(name: str, now: datetime) -> str:
    """`<name>-<YYYYMMDDhhmmss>`, as Velero names what it makes; an older stamp gives way to the new one."""
    base = _STAMP.sub("", name)[: _LONGEST_NAME - 15]
    return f"{base}-{now.astimezone(UTC):%Y%m%d%H%M%S}"


def restore_name(backup: str, now: datetime) -> str:
    """`<backup>-<YYYYMMDDhhmmss>`, as Velero's own command names a restore: the backup's stamp stays in it."""
    return f"{backup[: _LONGEST_NAME - 15]}-{now.astimezone(UTC):%Y%m%d%H%M%S}"


def patch_step(
    where: ObjectRef,
    item: Resource,
    patch: Mapping[str, Any],
    before: Mapping[str, Any],
    forecast: str,
    warnings: tuple[str, ...] = (),
    of: str = "",
) -> PlanStep:
    """A merge patch that holds only for the object and version looked at; `of` names an object that was not chosen."""
    meta = {**patch.get("metadata", {}), **identity(item)}
    shown = {key: value for key, value in patch.items() if value}
    line = kubectl(where.context, where.namespace, "patch", api_paths.title(kind_of_ref(where)), where.name)
    command = f"{line} --type merge -p {shlex.quote(compact_json(shown))}"
    write = Write("PATCH", {**patch, "metadata": meta}, dict(before))
    changes = change_lines(write.method, write.body, write.before, of)
    return PlanStep(where, write, changes, forecast, command, (*_owner(item), *warnings))


def create_step(
    where: ObjectRef,
    spec: Mapping[str, Any],
    summary: tuple[str, ...],
    forecast: str,
    command: str = "",
    warnings: tuple[str, ...] = (),
    meta: Mapping[str, Any] | None = None,
    source: NamedSource | None = None,
    untold: Collection[str] = (),
) -> PlanStep:
    """A new object; `summary` says that it is made and what that means, and of which fields of the spec nothing more.

    `meta` adds labels and the like, and may ask for a generated name in the place of the name.
    """
    named = {} if meta and "generateName" in meta else {"name": where.name}
    extra = {key: value for key, value in (meta or {}).items() if value}
    body = {
        "apiVersion": kind_of_ref(where).api_version,
        "kind": where.kind,
        "metadata": {**named, "namespace": where.namespace, **extra},
        "spec": dict(spec),
    }
    line = command or f"{kubectl(where.context, '', 'create', '-f', '-')} <<<{shlex.quote(compact_json(body))}"
    shown = {**body, "spec": {field: value for field, value in spec.items() if field not in untold}}
    changes = (*summary, *change_lines("POST", shown, {}))
    return PlanStep(where, Write("POST", body), changes, forecast, line, warnings, source, summary=summary)


def create_plain_step(where: ObjectRef, parts: Mapping[str, Any], summary: tuple[str, ...], forecast: str) -> PlanStep:
    """A new object of a built-in kind, which has no spec of ours; the summary is all that is said of it."""
    body = {"apiVersion": kind_of_ref(where).api_version, "kind": where.kind, **parts}
    command = f"{kubectl(where.context, '', 'create', '-f', '-')} <<<{shlex.quote(compact_json(body))}"
    return PlanStep(where, Write("POST", body), summary, forecast, command, summary=summary)


def delete_step(
    where: ObjectRef, item: Resource, spec: Mapping[str, Any], forecast: str, warnings: tuple[str, ...] = ()
) -> PlanStep:
    """A deletion of this very object as it was looked at, not of a namesake made later."""
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": identity(item),
    }
    kept = {"labels": item.metadata.labels, "annotations": item.metadata.own_annotations}
    before = {"metadata": {key: dict(value) for key, value in kept.items() if value}, "spec": dict(spec)}
    command = kubectl(where.context, where.namespace, "delete", api_paths.title(kind_of_ref(where)), where.name)
    changes = (f"{where} is deleted",)
    return PlanStep(where, Write("DELETE", body, before), changes, forecast, command, (*_owner(item), *warnings))


def identity(item: Resource) -> dict[str, str]:
    """The part of a patch that makes it hold for this very object: a namesake made later has another uid."""
    meta = item.metadata
    return {**({"uid": meta.uid} if meta.uid else {}), "resourceVersion": meta.resource_version}


def kubectl(context: str, namespace: str, *words: str) -> str:
    return _line("kubectl", "--context", context, namespace, words)


def velero(context: str, namespace: str, *words: str) -> str:
    return _line("velero", "--kubecontext", context, namespace, words)


def said(value: bool | None) -> str:
    return "absent" if value is None else "true" if value else "false"


def _line(program: str, flag: str, context: str, namespace: str, words: tuple[str, ...]) -> str:
    place = (*((flag, context) if context else ()), *(("-n", namespace) if namespace else ()))
    return shlex.join((program, *place, *words))


def compact_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _owner(item: Resource) -> tuple[str, ...]:
    warning = owner_warning(item)
    return (warning,) if warning else ()


def unavailable_storage(snapshot: ClusterSnapshot, backup: Backup) -> str:
    """Why nothing can be read from where the backup is kept; "" where nothing is known against it."""
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None or location.phase != "Unavailable":
        return ""
    message = location.status.message
    return f"the storage location {location.name} is Unavailable: {quoted(message) if message else 'no reason given'}"


def waits_for_velero(snapshot: ClusterSnapshot, namespace: str, done: str, now: datetime) -> str:
    """`nothing is deleted until Velero is back (no sign of activity from Velero since 02:16:03Z), then `, or ""."""
    beat = snapshot.heartbeat(namespace)
    silence = beat.silence(now)
    return f"nothing is {done} until {beat.awaited(now)} ({render(silence, now)}), then " if silence else ""
