"""Acknowledging findings: for oneself, or as an annotation on the object that everybody sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any

import msgspec

from foretop_core.actions.action_record import MIDDLE, ActionRecord, AskedOf, CommandLine
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import patch_step
from foretop_core.errors import BadInput
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, NAB, NABSL_REQUEST, NAR, RESTORE, SCHEDULE, STORAGE, RequiredPermission
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.acknowledging import LONGEST, annotation_of, statement
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

    def of(self, finding: Finding, at: datetime, context: str = "") -> Acknowledgement:
        """`context` names the cluster in the file of a person; in an annotation it is left out."""
        return Acknowledgement(
            finding=finding.id,
            by=self.by,
            at=at.replace(microsecond=0),
            severity=finding.severity,
            statement=statement(finding),
            reason=" ".join(self.reason.split()),
            until=self.until.replace(microsecond=0) if self.until is not None else None,
            context=context,
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


def cannot_be_shared(finding: Finding) -> str:
    """Why a finding can be acknowledged for oneself only; "" where all can see it."""
    if not finding.subject.name or not any(kind.name == finding.subject.kind for kind in ACKNOWLEDGE.kinds):
        return "it is about no object, so it cannot be shared; acknowledge it for yourself"
    return ""


def shared_subjects(findings: Iterable[Finding]) -> tuple[tuple[ObjectRef, ...], tuple[Refusal, ...]]:
    """The objects that carry what all see of these findings, and which of them can carry nothing."""
    objects: dict[ObjectRef, None] = {}
    refused = []
    for finding in findings:
        if why := cannot_be_shared(finding):
            refused.append(Refusal(finding.subject, why))
        else:
            objects[finding.subject] = None
    return tuple(objects), tuple(refused)


def plan_acknowledge(
    snapshot: ClusterSnapshot,
    items: Iterable[Resource],
    findings: Iterable[Finding],
    request: AcknowledgeRequest,
    now: datetime,
) -> Plan:
    """An annotation for each finding of these objects."""
    known = tuple(findings)
    until = f"until {humanize.time(request.until, now)}" if request.until is not None else "until it changes"
    steps: list[PlanStep] = []
    for item in items:
        mine = [finding for finding in known if finding.subject == snapshot.ref(item)]
        marks = {annotation_of(one): msgspec.json.encode(request.of(one, now)).decode() for one in mine}
        said = humanize.join([render(one.what, now) for one in mine])
        forecast = f"everybody sees {until} that this is known: {said}"
        steps += _step(snapshot, item, marks, forecast)
    return Plan(ACKNOWLEDGE, now, tuple(steps))


def plan_unacknowledge(
    snapshot: ClusterSnapshot, items: Iterable[Resource], findings: Iterable[Finding], now: datetime
) -> Plan:
    """The annotations of these findings go."""
    known = tuple(findings)
    steps: list[PlanStep] = []
    for item in items:
        mine = [finding for finding in known if finding.subject == snapshot.ref(item)]
        marks = {mark: None for one in mine if item.annotation(mark := annotation_of(one))}
        steps += _step(snapshot, item, marks, "everybody sees it among the open findings again")
    return Plan(UNACKNOWLEDGE, now, tuple(steps))


def record_for(findings: Iterable[Finding]) -> ActionRecord:
    """The action of one key on findings: it acknowledges those that are open; where none is, it takes that back."""
    return ACKNOWLEDGE if any(finding.acknowledged is None for finding in findings) else UNACKNOWLEDGE


def _step(snapshot: ClusterSnapshot, item: Resource, marks: dict[str, Any], forecast: str) -> tuple[PlanStep, ...]:
    if not marks:
        return ()
    held = {mark: text for mark in marks if (text := item.annotation(mark))}
    before = {"metadata": {"annotations": held}} if held else {}
    where = snapshot.ref(item)
    return (patch_step(where, item, {"metadata": {"annotations": marks}}, before, forecast),)


_CARRIES_ACKNOWLEDGEMENTS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NABSL_REQUEST, NAB, NAR)
ACKNOWLEDGE = ActionRecord(
    230,
    "acknowledge",
    "Acknowledge",
    "h",
    _CARRIES_ACKNOWLEDGEMENTS,
    tuple(RequiredPermission("patch", kind) for kind in _CARRIES_ACKNOWLEDGEMENTS),
    plan_acknowledge,
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    short="acknowledge",
    footer=MIDDLE,
    words=("known", "hide", "silence", "mute", "snooze"),
    commands=(
        CommandLine(
            "acknowledge", "foretop acknowledge schedule/nightly --for shift --reason 'the bucket is being moved'"
        ),
    ),
    purpose="acknowledge findings for everybody",
)
UNACKNOWLEDGE = ActionRecord(
    240,
    "unacknowledge",
    "Show as open again",
    "h",
    _CARRIES_ACKNOWLEDGEMENTS,
    ACKNOWLEDGE.rights,
    plan_unacknowledge,
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    instead_of=("acknowledge",),
    short="open again",
    footer=MIDDLE,
    words=("unacknowledge",),
    commands=(CommandLine("unacknowledge", "foretop unacknowledge schedule/nightly"),),
)
