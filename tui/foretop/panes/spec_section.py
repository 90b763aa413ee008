"""The spec of a schedule, backup, restore or storage location, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import (
    Backup,
    BackupStorageLocation,
    NonAdminBackup,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
)
from foretop_core.models.velero import BackupSpec, RestoreSpec, RunStatus
from foretop_core.models.wire import NONE, ObjectRef, Wire, as_json
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import credential_text, where_text
from foretop_core.rules.humanize import duration_setting
from foretop_core.tables.engine.status_glyphs import Tone

_LABEL = 20
_OPERATORS = {"In": "in", "NotIn": "notin"}
_TOLD = frozenset(
    {
        "includedNamespaces",
        "excludedNamespaces",
        "includedResources",
        "excludedResources",
        "includedNamespaceScopedResources",
        "excludedNamespaceScopedResources",
        "includedClusterScopedResources",
        "excludedClusterScopedResources",
        "labelSelector",
        "orLabelSelectors",
        "storageLocation",
        "ttl",
        "hooks",
        "backupName",
        "scheduleName",
        "namespaceMapping",
        "metadata",
    }
)
"""The fields that have words of their own here; the others are shown as they are written."""
_DURATIONS = frozenset({"csiSnapshotTimeout", "itemOperationTimeout"})


def spec_section(_state: DashboardState, _key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    paragraphs = [_line(label, text) for label, text in spec_lines(resource) if text]
    return paragraphs or [paragraph("It has no spec that foretop reads.", Tone.DIM)]


def spec_lines(resource: Resource) -> Iterator[tuple[str, str]]:
    """The label and the text of each field; "" where it is not set."""
    match resource:
        case Schedule():
            spec = resource.spec
            yield "Cron", spec.schedule
            yield "Paused", "yes" if spec.paused else "no"
            yield "Skip immediately", "" if spec.skip_immediately is None else str(spec.skip_immediately).lower()
            yield "Backups owned by it", "yes" if spec.use_owner_references_in_backup else ""
            yield from _backup(spec.template)
        case Backup():
            yield from _backup(resource.spec)
            yield from _hooks_run(resource.status)
        case Restore():
            yield from _restore(resource.spec)
            yield from _hooks_run(resource.status)
        case NonAdminBackup():
            # The controller adds the tenant's own namespace, and allows no other.
            yield from _backup(resource.spec.backup_spec, resource.namespace)
            yield from _hooks_run(resource.velero.status)
        case NonAdminRestore():
            yield from _restore(resource.spec.restore_spec)
            yield from _hooks_run(resource.velero.status)
        case BackupStorageLocation():
            yield "Provider", resource.spec.provider
            yield "Bucket", resource.spec.object_storage.bucket
            yield "Prefix", resource.spec.object_storage.prefix
            yield "Default", "yes" if resource.spec.default else "no"
            yield "Access", resource.spec.access_mode
            yield "Checked every", duration_setting(resource.spec.validation_frequency)
            yield "Credential", credential_text(resource.spec)
            yield "Config", ", ".join(f"{key}={value}" for key, value in sorted(resource.spec.config.items()))
        case PreScaledCronJob():
            yield "Cron", resource.spec.cron_job.spec.schedule
            yield "Time zone", resource.spec.cron_job.spec.time_zone
            yield "Suspended", "yes" if resource.spec.cron_job.spec.suspend else "no"
            yield "Warm-up", humanize.count(resource.spec.warm_up_time_mins, "minute")
            yield "Primer schedule", resource.spec.primer_schedule
        case NonAdminBackupStorageLocationRequest():
            asked = resource.status.non_admin_backup_storage_location
            yield "Asked for by", f"{asked.namespace}/{asked.name}"
            yield "Decision", resource.spec.approval_decision
            yield "Where", where_text(asked.requested_spec)
            yield "Credential", credential_text(asked.requested_spec)
        case _:
            return


def _backup(spec: BackupSpec, unless_named: str = "all") -> Iterator[tuple[str, str]]:
    yield "Storage location", spec.storage_location or "the default location"
    yield "TTL", duration_setting(spec.ttl)
    yield from _chosen(spec, unless_named)
    yield (
        "Namespaced resources",
        _kept(spec.included_namespace_scoped_resources, spec.excluded_namespace_scoped_resources, ""),
    )
    yield "Cluster resources", _cluster_resources(spec)
    yield from _rest(spec)


def _cluster_resources(spec: BackupSpec) -> str:
    """With an exclusion alone, Velero takes no cluster-scoped resource by itself."""
    included, excluded = spec.included_cluster_scoped_resources, spec.excluded_cluster_scoped_resources
    if not included and not excluded:
        return ""
    return _kept(included, excluded, "all" if included else "only those that namespaced ones need")


def _restore(spec: RestoreSpec) -> Iterator[tuple[str, str]]:
    yield "From backup", spec.backup_name
    yield "From schedule", spec.schedule_name
    yield from _chosen(spec)
    yield "Namespaces renamed", ", ".join(f"{old} to {new}" for old, new in sorted(spec.namespace_mapping.items()))
    yield from _rest(spec)


def _chosen(spec: BackupSpec | RestoreSpec, unless_named: str = "all") -> Iterator[tuple[str, str]]:
    """`unless_named` is told where no namespace is included by name."""
    yield "Namespaces", _kept(spec.included_namespaces, spec.excluded_namespaces, unless_named)
    yield "Resources", _kept(spec.included_resources, spec.excluded_resources, "all")
    yield "Selector", selector_text(spec.label_selector or NONE)
    yield "Or selectors", " or ".join(selector_text(selector) for selector in spec.or_label_selectors)
    for number, hook in enumerate(_hooks(spec.hooks)):
        yield "Hooks" if not number else "", hook


def _kept(included: Sequence[str], excluded: Sequence[str], everything: str) -> str:
    taken = everything if not included or "*" in included else ", ".join(included)
    return f"{taken or 'all'}, without {', '.join(excluded)}" if excluded else taken


def selector_text(selector: Mapping[str, Any]) -> str:
    """A label selector as `-l` takes it."""
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, sign = expression.get("key", ""), expression.get("operator", "")
        if sign in _OPERATORS:
            parts.append(f"{key} {_OPERATORS[sign]} ({', '.join(expression.get('values') or ())})")
        else:
            parts.append(f"!{key}" if sign == "DoesNotExist" else key)
    return ",".join(parts)


def _hooks(hooks: Mapping[str, Any]) -> Iterator[str]:
    for hook in hooks.get("resources") or ():
        where = ", ".join(hook.get("includedNamespaces") or ()) or "all namespaces"
        labels = selector_text(hook.get("labelSelector") or {})
        chosen = f"{where}, {labels}" if labels else where
        for when, key in (("before", "pre"), ("after", "post"), ("after", "postHooks")):
            for step in hook.get(key) or ():
                yield f"{hook.get('name', '')}: {when}, in {chosen}: {_hook_step(step)}"


def _hook_step(step: Mapping[str, Any]) -> str:
    run = step.get("exec")
    if not isinstance(run, Mapping):
        return "init containers" if "init" in step else json.dumps(step, sort_keys=True)
    container = f" in container {run['container']}" if run.get("container") else ""
    failing = run.get("onError")
    limit = run.get("timeout") or run.get("execTimeout")
    more = [f"on error {failing}" if failing else "", f"timeout {limit}" if limit else ""]
    return ", ".join([f"{' '.join(map(str, run.get('command') or ()))}{container}", *filter(None, more)])


def _hooks_run(status: RunStatus | None) -> Iterator[tuple[str, str]]:
    hooks = status.hook_status if status is not None else None
    if hooks is not None and hooks.hooks_attempted:
        yield "Hooks run", f"{humanize.count(hooks.hooks_attempted, 'hook')}, {hooks.hooks_failed} failed"


def _rest(spec: Wire) -> Iterator[tuple[str, str]]:
    for name, value in as_json(spec).items():
        if name in _DURATIONS:
            yield name, duration_setting(value)
        elif name not in _TOLD:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _line(label: str, text: str) -> Paragraph:
    lead = f"{label:<{_LABEL}} " if label else " " * (_LABEL + 1)
    return Paragraph((Span(lead, BOLD), span(text)), indent=_LABEL + 1)
