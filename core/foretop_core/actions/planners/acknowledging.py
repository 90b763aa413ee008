"""Acknowledging findings: entries of a ConfigMap beside Velero, which everybody sees who may see Velero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo

import msgspec
from msgspec.structs import replace

from foretop_core.actions.action_record import (
    MIDDLE,
    ActionRecord,
    AskedOf,
    ChoiceField,
    CommandLine,
    DialogSpec,
    TextField,
)
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import create_plain_step, patch_step
from foretop_core.errors import BadInput
from foretop_core.models import Resource
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, CONFIG_MAP, RequiredPermission
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.acknowledging import (
    LONGEST,
    MOST_BYTES,
    MOST_ENTRIES,
    acknowledgement_map,
    acknowledgements_in,
    end_of,
    home_of,
    key_of_entry,
    size_of,
    statement,
)
from foretop_core.rules.triage.finding import Acknowledgement, Finding


def next_shift_end(ends: Sequence[str], now: datetime, zone: tzinfo) -> datetime:
    """The first of these times of day after now, as the clocks of the zone show them; `ends` has at least one."""
    today = now.astimezone(zone).date()
    moments = [
        datetime.combine(today + timedelta(days=day), time.fromisoformat(end), zone).astimezone(UTC)
        for day in (0, 1)
        for end in ends
    ]
    return min(moment for moment in moments if moment > now)


LONGEST_REASON = 500
SHIFT, CHANGE = "shift", "change"


class AcknowledgeRequest(msgspec.Struct, frozen=True):
    """An acknowledgement that is asked for: by whom, why, and until when; None is until the findings change."""

    by: str
    reason: str
    until: datetime | None = None

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise BadInput("A reason is needed", "", "say why it may wait")
        if len(self.reason) > LONGEST_REASON:
            raise BadInput("The reason is too long", f"at most {LONGEST_REASON} characters")

    def of(self, finding: Finding, at: datetime) -> Acknowledgement:
        """The entry of one finding, made at a moment."""
        return Acknowledgement(
            finding=finding.id,
            by=self.by,
            at=at.replace(microsecond=0),
            severity=finding.severity,
            statement=statement(finding),
            reason=" ".join(self.reason.split()),
            until=self.until.replace(microsecond=0) if self.until is not None else None,
        )


def acknowledgement_end(text: str, now: datetime, shift_ends: Sequence[str], zone: tzinfo) -> datetime | None:
    """`1h`, `shift` or `change` from now on; None for until it changes."""
    if text == CHANGE:
        return None
    if text == SHIFT:
        return next_shift_end(shift_ends, now, zone)
    length = read_duration(text)
    if length is None:
        raise BadInput(f"{text!r} is not valid", "", "write 1h, 30m, shift or change")
    if not timedelta() < length <= LONGEST:
        raise BadInput(f"{text!r} is out of range", f"at most {LONGEST.days * 24}h")
    return now + length


def plan_acknowledge(
    snapshot: ClusterSnapshot,
    _: Iterable[Resource],
    findings: Iterable[Finding],
    request: AcknowledgeRequest,
    now: datetime,
) -> Plan:
    """An entry for each finding of this cluster, in the ConfigMap beside its Velero; entries that have ended go."""
    at_home, refused = _by_home(snapshot, findings)
    until = f"until {humanize.time(request.until, now)}" if request.until is not None else "until it changes"
    steps: list[PlanStep] = []
    for home, some in at_home.items():
        listed = acknowledgements_in(snapshot, home)
        ended = {
            key_of_entry(acknowledgement.finding): None
            for acknowledgement in listed.entries.values()
            if now >= end_of(acknowledgement)
        }
        added = {key_of_entry(finding.id): msgspec.json.encode(request.of(finding, now)).decode() for finding in some}
        config_map = acknowledgement_map(snapshot, home)
        if why := listed.problem or _why_full(config_map, {**ended, **added}):
            text = f"ConfigMap {home}/{ACKNOWLEDGEMENTS} takes no entry: {why}"
            refused += [Refusal(finding.subject, text) for finding in some]
            continue
        text = humanize.join([render(finding.what, now) for finding in some])
        forecast = f"everybody sees {until} that this is known: {text}"
        steps.append(_step(snapshot, home, config_map, {**ended, **added}, forecast))
    return Plan(ACKNOWLEDGE, now, tuple(steps), tuple(refused))


def plan_unacknowledge(
    snapshot: ClusterSnapshot, _: Iterable[Resource], findings: Iterable[Finding], now: datetime
) -> Plan:
    """The entries of these findings go."""
    at_home, refused = _by_home(snapshot, findings)
    steps: list[PlanStep] = []
    for home, some in at_home.items():
        config_map = acknowledgement_map(snapshot, home)
        removed = {
            key: None
            for finding in some
            if config_map is not None and (key := key_of_entry(finding.id)) in config_map.data
        }
        if removed:
            forecast = "everybody sees it among the open findings again"
            steps.append(_step(snapshot, home, config_map, removed, forecast))
    return Plan(UNACKNOWLEDGE, now, tuple(steps), tuple(refused))


def _by_home(snapshot: ClusterSnapshot, findings: Iterable[Finding]) -> tuple[dict[str, list[Finding]], list[Refusal]]:
    """The findings of this cluster by the namespace of their entries, and those that have none."""
    at_home, refused = dict[str, list[Finding]](), list[Refusal]()
    for finding in findings:
        if finding.context != snapshot.context:
            continue
        if home := home_of(snapshot, finding.subject):
            at_home.setdefault(home, []).append(finding)
        else:
            several = len(snapshot.namespaces_with_velero_objects) > 1
            why = "it is of none of the Veleros" if several else "no Velero is seen in its cluster"
            refused.append(Refusal(finding.subject, f"{why}, beside which it would be acknowledged"))
    return at_home, refused


def _why_full(held: ConfigMap | None, changes: Mapping[str, str | None]) -> str:
    data = dict(held.data) if held is not None else {}
    kept = {key: text for key, text in {**data, **changes}.items() if text is not None}
    if len(kept) > MOST_ENTRIES:
        return f"{MOST_ENTRIES} findings are acknowledged there already"
    return f"it would have more than {MOST_BYTES // 1024} KiB" if size_of(kept) > MOST_BYTES else ""


def record_for(findings: Iterable[Finding]) -> ActionRecord:
    """The action of one key on findings: it acknowledges those that are open; where none is, it takes that back."""
    return ACKNOWLEDGE if any(finding.acknowledged is None for finding in findings) else UNACKNOWLEDGE


def _step(
    snapshot: ClusterSnapshot, home: str, held: ConfigMap | None, changes: Mapping[str, str | None], forecast: str
) -> PlanStep:
    where = ObjectRef(snapshot.context, CONFIG_MAP.name, home, ACKNOWLEDGEMENTS)
    if held is not None:
        before = {key: held.data[key] for key in changes if key in held.data}
        return patch_step(where, held, {"data": dict(changes)}, {"data": before} if before else {}, forecast)
    body = {"metadata": {"name": ACKNOWLEDGEMENTS, "namespace": home}, "data": dict(changes)}
    step = create_plain_step(where, body, (f"{where} is created",), forecast)
    return replace(step, changes=(*step.summary, *change_lines("POST", body, {})))


def _acknowledge(
    snapshot: ClusterSnapshot,
    items: Iterable[Resource],
    now: datetime,
    findings: Sequence[Finding],
    users: Mapping[str, str],
    shifts: tuple[Sequence[str], tzinfo],
    reason: str,
    until: str,
) -> Plan:
    """As its form says: `shifts` are the times of day at which they end, and the zone of these."""
    request = AcknowledgeRequest(users[snapshot.context], reason, acknowledgement_end(until, now, *shifts))
    return plan_acknowledge(snapshot, items, findings, request, now)


_LENGTHS = (("an hour", "1h"), ("the end of the shift", SHIFT), ("it changes", CHANGE))
ACKNOWLEDGE = ActionRecord(
    230,
    "acknowledge",
    "Acknowledge",
    "h",
    (CONFIG_MAP,),
    (RequiredPermission("patch", CONFIG_MAP, names=(ACKNOWLEDGEMENTS,)), RequiredPermission("create", CONFIG_MAP)),
    plan_acknowledge,
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    short="acknowledge",
    footer=MIDDLE,
    words=("known", "hide", "silence", "mute", "snooze"),
    dialog=DialogSpec(
        "Acknowledge {}",
        "Acknowledge",
        noun="finding",
        fields=(
            TextField("reason", "Reason", "known, disk swap on Monday"),
            ChoiceField("until", "Known until", _LENGTHS),
        ),
        planner=_acknowledge,
        takes=("findings", "users", "shifts"),
    ),
    commands=(
        CommandLine(
            "acknowledge", "foretop acknowledge schedule/nightly --for shift --reason 'the bucket is being moved'"
        ),
    ),
    purpose="acknowledge findings",
)
UNACKNOWLEDGE = ActionRecord(
    240,
    "unacknowledge",
    "Show as open again",
    "h",
    (CONFIG_MAP,),
    (RequiredPermission("patch", CONFIG_MAP, names=(ACKNOWLEDGEMENTS,)),),
    plan_unacknowledge,
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    instead_of=("acknowledge",),
    short="open again",
    footer=MIDDLE,
    words=("unacknowledge",),
    dialog=DialogSpec("Open again: {}", "Open again", noun="finding", takes=("findings",)),
    commands=(CommandLine("unacknowledge", "foretop unacknowledge schedule/nightly"),),
)
