"""Changes of a schedule: a merge patch of the edited fields of its spec, with what its runs do before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions import velero_pickup
from foretop_core.actions.action_record import MIDDLE, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.planners.schedules import check_schedule, described_by, doubts, meaning
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import patch_step
from foretop_core.actions.validation import comma_separated
from foretop_core.errors import BadInput
from foretop_core.models import BackupSpec, Resource, Schedule, from_builtins
from foretop_core.models.kinds import SCHEDULE, RequiredPermission
from foretop_core.models.velero import ScheduleSpec
from foretop_core.models.wire import Wire, as_json
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.undone import value_at

FIELDS: Mapping[str, tuple[str, ...]] = {
    "schedule": ("schedule",),
    "ttl": ("template", "ttl"),
    "included": ("template", "includedNamespaces"),
    "excluded": ("template", "excludedNamespaces"),
    "storage": ("template", "storageLocation"),
    "skip": ("skipImmediately",),
}
"""The fields that the form and the flags offer, and their places in the spec; an editor offers the rest."""
_LISTS = frozenset({"included", "excluded"})
_TRUTHS = {"true": True, "false": False}
_EVERYTHING = "*"


class ScheduleEdit(msgspec.Struct, frozen=True):
    """The edited fields of `spec` as a merge patch: a field that is None is removed, one that is absent stays."""

    spec: Mapping[str, Any]
    opened: Mapping[str, Any] | None = None
    """The spec that was shown to the person who edited it; None where it was not shown."""
    uid: str = ""
    """The uid of the schedule that was shown."""


# Specs, texts and patches


def texts_of(spec: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form, filled from a spec; what Velero's default stands for is empty."""
    return {name: _text(name, value_at(spec, path)) for name, path in FIELDS.items()}


def patch_from(texts: Mapping[str, str]) -> dict[str, Any]:
    """The merge patch of the fields that are given; an empty text removes its field."""
    patch: dict[str, Any] = {}
    for name, text in texts.items():
        *above, last = FIELDS[name]
        part = patch
        for key in above:
            part = part.setdefault(key, {})
        part[last] = _value(name, text.strip())
    return patch


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch that makes the one out of the other."""
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            if inner := merge_patch(before, value):
                patch[key] = inner
        elif key not in old or before != value:
            patch[key] = value
    return patch


def merged(spec: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with a merge patch applied."""
    made = dict(spec)
    for key, value in patch.items():
        before = made.get(key)
        if value is None:
            made.pop(key, None)
        elif isinstance(value, Mapping):
            made[key] = merged(before if isinstance(before, Mapping) else {}, value)
        else:
            made[key] = value
    return made


# The plan


def plan_edit_schedule(
    snapshot: ClusterSnapshot, schedules: Iterable[Schedule], edit: ScheduleEdit, now: datetime
) -> Plan:
    """Only what differs from the schedule as it is now is sent; `spec.paused` belongs to pause and unpause."""
    if "paused" in edit.spec:
        raise BadInput("spec.paused is not edited", "its notes would be missing", "use pause or unpause")
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for schedule in schedules:
        spec = _asvalue_at(schedule, edit.opened or {})
        if edit.uid and schedule.metadata.uid != edit.uid:
            refused.append(Refusal(snapshot.ref(schedule), "it was deleted and created again in the meantime"))
        elif patch := _effective(edit.spec, spec):
            steps.append(_step(snapshot, schedule, patch, spec, edit, now))
    return Plan(EDIT_SCHEDULE, now, tuple(steps), tuple(refused))


def edited(schedule: Schedule, patch: Mapping[str, Any]) -> Schedule:
    """The schedule with this patch of its spec; BadInput where a field has the wrong type."""
    spec = merged(as_json(schedule.spec), patch)
    named = {"name": schedule.name, "namespace": schedule.namespace}
    made = from_builtins(Schedule, {"metadata": named, "spec": spec})
    return msgspec.structs.replace(schedule, spec=made.spec)


def follow_edit(
    snapshot: ClusterSnapshot, before: Resource | None, step: PlanStep, at: datetime
) -> velero_pickup.Probe | None:
    """Follows an edit; `snapshot` and `before` are of the time before it."""
    if not isinstance(before, Schedule):
        return None
    after = edited(before, step.write.body["spec"])
    runs = snapshot.labelled_runs(before)
    facts = schedule_facts(snapshot, after, at)
    starts = facts.is_due_somehow and facts.blocker is None
    skips = after.spec.skip_immediately is True
    return velero_pickup.edit_probe(
        before,
        tuple(run.name for run in runs),
        was_due=facts.is_due_somehow,
        starts_or_skips=starts or skips,
    )


def _step(
    snapshot: ClusterSnapshot,
    schedule: Schedule,
    patch: dict[str, Any],
    held: Mapping[str, Any],
    edit: ScheduleEdit,
    now: datetime,
) -> PlanStep:
    if not patch.get("schedule", schedule.spec.schedule):
        raise BadInput("A schedule needs a cron expression")
    after = edited(schedule, patch)
    candidates = snapshot.verdict(schedule.namespace).candidates
    request, was = described_by(after, after.namespace), described_by(schedule, schedule.namespace)
    read = check_schedule(request, candidates)
    # A doubt about an expression that stays is not news; a location that does not exist is, as long as it is there.
    old_doubts = doubts(snapshot, replace(was, template=BackupSpec()), snapshot.readings(schedule))
    warnings = [doubt for doubt in doubts(snapshot, request, read) if doubt not in old_doubts]
    warnings += _contradictions(after.spec.template)
    if moved := _moved_meanwhile(patch, edit.opened, held):
        warnings.insert(0, f"Someone else changed it while it was being edited: {', '.join(moved)}.")
    forecast = _forecast(snapshot, schedule, after, now)
    before = {"spec": _at_leaves(patch, held)}
    step = patch_step(snapshot.ref(schedule), schedule, {"spec": patch}, before, forecast, tuple(warnings))
    if "schedule" not in patch:
        return step
    means, *others = meaning(read, now)
    lead = means if len(read) > 1 else f"means {means}"
    index = next(place for place, line in enumerate(step.changes, start=1) if line.startswith("spec.schedule "))
    return replace(step, changes=(*step.changes[:index], lead, *others, *step.changes[index:]))


def _forecast(snapshot: ClusterSnapshot, before: Schedule, after: Schedule, now: datetime) -> str:
    """A change is looked at at once: a schedule that runs does what one that is unpaused at this moment does."""
    facts = schedule_facts(snapshot, before, now)
    is_moved = before.spec.schedule != after.spec.schedule and not after.spec.paused
    is_new = is_moved and not facts.is_due_somehow
    coming = schedule_facts(snapshot, after, now).unpausing(Choice.LEAVE, is_new=is_new)
    text = render(coming.sentence, now)
    if after.spec.paused:
        text = f"no backup until it is unpaused; unpaused now: {text}"
    elif is_moved:
        was = facts.by_reading[-1].next_run
        then = now if coming.at_once else coming.next_run
        if coming.predictable and not coming.silence and (was or then):
            text = f"next run {_when(was, now)} → {_when(then, now)}; {text}"
    kept = snapshot.labelled_runs(before)
    if kept and before.spec.template != after.spec.template:
        text += f"; {humanize.count(len(kept), 'existing backup')} {'stays' if len(kept) == 1 else 'stay'} unchanged"
    return text


def _when(run: datetime | None, now: datetime) -> str:
    if run is None:
        return "none"
    return "now" if run <= now else humanize.time(run, now)


def _contradictions(template: BackupSpec) -> list[str]:
    """Velero validates a backup and not its template: such a schedule is accepted, and its backups are not."""
    included, excluded = template.included_namespaces, template.excluded_namespaces
    both = [name for name in included if name in excluded]
    contradictions = []
    if both:
        verb = "is" if len(both) == 1 else "are"
        contradictions.append(f"{humanize.join(both)} {verb} both included and excluded: its backups fail validation.")
    if _EVERYTHING in excluded:
        contradictions.append("* cannot be excluded: its backups fail validation.")
    if _EVERYTHING in included and len(included) > 1:
        contradictions.append("* is included beside other namespaces: its backups fail validation.")
    return contradictions


def _moved_meanwhile(
    patch: Mapping[str, Any], opened: Mapping[str, Any] | None, held: Mapping[str, Any]
) -> tuple[str, ...]:
    """The fields about to be written that no longer have the value that was shown."""
    if opened is None:
        return ()
    shown = _at_leaves(patch, opened)
    moved = _effective(_at_leaves(patch, held), shown)
    return change_lines("PATCH", {"spec": moved}, {"spec": shown}) if moved else ()


def _effective(patch: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a merge patch that changes something."""
    effective: dict[str, Any] = {}
    for key, value in patch.items():
        before = spec.get(key)
        if isinstance(value, Mapping) and value:
            if inner := _effective(value, before if isinstance(before, Mapping) else {}):
                effective[key] = inner
        elif value != before:
            effective[key] = value
    return effective


def _at_leaves(patch: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Looks up what a spec has where a patch sets something; None where it has nothing."""
    leaves: dict[str, Any] = {}
    for key, value in patch.items():
        before = spec.get(key)
        inside = isinstance(before, Mapping) and isinstance(value, Mapping) and value
        leaves[key] = _at_leaves(value, before or {}) if inside else before
    return leaves


def _asvalue_at(schedule: Schedule, opened: Mapping[str, Any]) -> dict[str, Any]:
    """Its spec now; fields of a newer Velero, which the store does not have, are as they were shown."""
    spec = as_json(schedule.spec)
    template = {**_unmodelled(opened.get("template") or {}, BackupSpec), **spec.get("template", {})}
    return {**_unmodelled(opened, ScheduleSpec), **spec, "template": template}


def _unmodelled(part: Mapping[str, Any], model: type[Wire]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in model.__struct_encode_fields__}


def _text(name: str, value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(map(str, value))
        case _ if name == "ttl" and read_duration(str(value)) == timedelta():
            return ""
        case _:
            return str(value)


def _value(name: str, text: str) -> Any:
    if name in _LISTS:
        return list(comma_separated(text)) or None
    return _TRUTHS.get(text) if name == "skip" else text or None


EDIT_SCHEDULE = ActionRecord(
    140,
    "edit-schedule",
    "Edit the schedule",
    "e",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    plan_edit_schedule,
    short="edit",
    footer=MIDDLE,
    words=("change", "cron", "ttl", "editor"),
    hint="edit {}",
    dialog=DialogSpec("Edit {}", "Change", ("Change {}", "Change {}")),
    follow=follow_edit,
    commands=(
        CommandLine("schedule edit", "foretop schedule edit nightly --schedule '0 3 * * *' --ttl 720h --dry-run"),
    ),
)
