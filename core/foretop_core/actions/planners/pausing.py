"""Pausing and unpausing schedules: one merge patch each, with the forecast of what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions.action_record import EARLY, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import patch_step
from foretop_core.actions.validation import days_in_hours
from foretop_core.actions.velero_pickup import Probe, unpause_probe
from foretop_core.cron.go_stdlib import GoError, parse_duration
from foretop_core.errors import BadInput
from foretop_core.models import Resource, Schedule
from foretop_core.models.kinds import SCHEDULE, RequiredPermission
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import ProtectionLimits
from foretop_core.rules.facts.pause_facts import others_going_on, pause_effect, unpause_effect
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.pauses import (
    MARKS,
    PAUSED_AT,
    PAUSED_BATCH,
    PAUSED_BY,
    PAUSED_UNTIL,
    PAUSED_WHY,
    noted_author,
    pause_info,
)
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot

_HOW = "write 04:30 (UTC), 2h, 2026-11-15T04:30:00Z, or +2h to add to the present end"
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)Z?")


class PauseRequest(msgspec.Struct, frozen=True):
    """Why and until when, for the next shift to see; the batch tells what one window paused."""

    by: str
    batch: str
    reason: str = ""
    until: datetime | timedelta | None = None
    """A length is added to the end that a pause has; to now where that is past, or there is none."""
    gap: timedelta = ProtectionLimits().gap
    """A good backup younger than this is recent enough; as Protection and Triage are configured."""
    again: frozenset[ObjectRef] = frozenset()
    """The schedules that were paused when it was asked for: they stay so, and get this reason or end at most."""
    changes_reason: bool = False
    changes_end: bool = False

    def end(self, now: datetime, held: datetime | None = None) -> datetime | None:
        if not isinstance(self.until, timedelta):
            return self.until
        try:
            return max(held or now, now) + self.until
        except OverflowError:
            raise BadInput(f"'+{self.until}' is out of range", "", _HOW) from None

    def marks(self, at: datetime) -> dict[str, str]:
        marks = {
            PAUSED_BY: self.by,
            PAUSED_AT: rfc3339(at) or "",
            PAUSED_WHY: self.reason,
            PAUSED_UNTIL: rfc3339(self.end(at)) or "",
            PAUSED_BATCH: self.batch,
        }
        return {key: value for key, value in marks.items() if value}


def read_end(text: str, now: datetime) -> datetime | timedelta:
    """The end of a pause: `04:30` in UTC, today or tomorrow, `2h` from now, or a whole date and time.

    `+2h` is a length, which is added to the end that a pause has already.
    """
    end_text = text.strip()
    if end_text.startswith("+"):
        return _read_more(end_text)
    if clock := _CLOCK.fullmatch(end_text):
        moment = now.astimezone(UTC).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return moment if moment > now else moment + timedelta(days=1)
    try:
        end = now + timedelta(microseconds=parse_duration(days_in_hours(end_text)) // 1000)
    except (GoError, OverflowError):
        end = _read_moment(end_text)
    if end <= now:
        raise BadInput(f"{end_text!r} is in the past", f"the cluster's time is {rfc3339(now)}")
    return end


def _read_more(text: str) -> timedelta:
    try:
        more = timedelta(microseconds=parse_duration(days_in_hours(text[1:])) // 1000)
        if more > timedelta():
            return more
    except (GoError, OverflowError):
        pass
    raise BadInput(f"{text!r} is not a valid end", "", _HOW)


def _read_moment(text: str) -> datetime:
    try:
        end = datetime.fromisoformat(text)
        return (end if end.tzinfo else end.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadInput(f"{text!r} is not a valid end", "", _HOW) from None


def end_as_typed(until: datetime | None, now: datetime) -> str:
    """An end as a person could have typed it: `04:30Z` within a day, else with its date; "" for none."""
    if until is None:
        return ""
    moment = until.astimezone(UTC)
    return f"{moment:%H:%MZ}" if timedelta() < moment - now <= timedelta(days=1) else f"{moment:%Y-%m-%dT%H:%MZ}"


def plan_pause(snapshot: ClusterSnapshot, schedules: Iterable[Schedule], request: PauseRequest, now: datetime) -> Plan:
    """Pauses schedules; of those that it is asked for again, the reason and the end of their pause change."""
    steps, refused = [], []
    for schedule in schedules:
        where = snapshot.ref(schedule)
        if where in request.again:
            if not schedule.spec.paused:
                refused.append(Refusal(where, "it is no longer paused"))
            elif marks := _changed_marks(schedule, request, now):
                steps.append(_change_step(snapshot, where, schedule, request, marks, now))
            continue
        if schedule.spec.paused:
            refused.append(Refusal(where, "it is already paused"))
            continue
        cleared = dict.fromkeys(key for key in MARKS if schedule.annotation(key))
        patch = {"metadata": {"annotations": {**cleared, **request.marks(now)}}, "spec": {"paused": True}}
        facts = schedule_facts(snapshot, schedule, now)
        step = _step(where, schedule, patch, render(facts.pausing, now))
        # Velero writes a status at every run: on a busy night one of many schedules would stay unpaused.
        effect = replace(
            pause_effect(facts, request.end(now), request.gap),
            others=others_going_on(snapshot, schedule.namespace, now),
            unpaused=snapshot.unpaused.get(schedule.namespace, 0),
        )
        steps.append(replace(step, basis=schedule.spec, effect=effect))
    record = CHANGE_PAUSE if steps and all("spec" not in step.write.body for step in steps) else PAUSE
    return Plan(record, now, tuple(steps), tuple(refused))


def _changed_marks(schedule: Schedule, request: PauseRequest, now: datetime) -> dict[str, str | None]:
    """The annotations that would be other than they are; None for one that goes."""
    marks: dict[str, str] = {}
    if request.changes_reason:
        marks[PAUSED_WHY] = request.reason
    if request.changes_end:
        marks[PAUSED_UNTIL] = rfc3339(request.end(now, pause_info(schedule).until)) or ""
    if any(marks.values()) and not noted_author(schedule):
        # Of a pause that others made: the note tells whose word this is, and of which pause.
        since = rfc3339(pause_info(schedule).since or now) or ""
        cleared: dict[str, str | None] = dict.fromkeys(key for key in MARKS if schedule.annotation(key))
        note = {PAUSED_BY: request.by, PAUSED_AT: since, PAUSED_BATCH: request.batch}
        return {**cleared, **{key: value for key, value in (marks | note).items() if value}}
    return {key: value or None for key, value in marks.items() if value != schedule.annotation(key)}


def _change_step(
    snapshot: ClusterSnapshot,
    where: ObjectRef,
    schedule: Schedule,
    request: PauseRequest,
    marks: dict[str, str | None],
    now: datetime,
) -> PlanStep:
    moment = pause_info(schedule).until
    end = request.end(now, moment) if PAUSED_UNTIL in marks else moment
    stays = f"it stays paused {f'until {humanize.time(end, now)}' if end is not None else 'without an end'}"
    if PAUSED_UNTIL not in marks:
        forecast = f"{stays}, for {'another' if pause_info(schedule).why else 'this'} reason"
    else:
        was = f", and not {'until ' if end is None else ''}{humanize.time(moment, now)}" if moment is not None else ""
        forecast = f"{stays}{was}"
    facts = schedule_facts(snapshot, schedule, now)
    effect = replace(pause_effect(facts, end, request.gap), is_change=True, was=moment)
    return replace(_step(where, schedule, {"metadata": {"annotations": marks}}, forecast), effect=effect)


def plan_unpause(snapshot: ClusterSnapshot, schedules: Iterable[Schedule], choice: Choice, now: datetime) -> Plan:
    steps, refused = [], []
    for schedule in schedules:
        where = snapshot.ref(schedule)
        if not schedule.spec.paused:
            refused.append(Refusal(where, "it is not paused"))
            continue
        steps.append(_unpause_step(snapshot, where, schedule, choice, now))
    return Plan(UNPAUSE, now, tuple(steps), tuple(refused))


def follow_unpause(snapshot: ClusterSnapshot, before: Resource | None, step: PlanStep, at: datetime) -> Probe | None:
    """Follows an unpausing by what it wrote; `snapshot` and `before` are of the time before it."""
    if not isinstance(before, Schedule):
        return None
    runs = snapshot.labelled_runs(before)
    written = step.write.body["spec"].get("skipImmediately")
    return unpause_probe(
        before,
        tuple(run.name for run in runs),
        was_due=schedule_facts(snapshot, before, at).is_due_somehow,
        skips=bool(before.spec.skip_immediately if written is None else written),
    )


def of_batch(schedules: Iterable[Schedule], batch: str) -> list[Schedule]:
    """The schedules that one window paused, and none that was paused before it."""
    return [item for item in schedules if item.spec.paused and item.annotation(PAUSED_BATCH) == batch]


def _unpause_step(
    snapshot: ClusterSnapshot, where: ObjectRef, schedule: Schedule, choice: Choice, now: datetime
) -> PlanStep:
    facts = schedule_facts(snapshot, schedule, now)
    spec: dict[str, Any] = {"paused": False}
    skips, skip = schedule.spec.skip_immediately, choice is Choice.SKIP
    if choice is not Choice.LEAVE and skips is not skip:
        spec["skipImmediately"] = skip
    marks: dict[str, str | None] = {key: None for key in MARKS if schedule.annotation(key)}
    if facts.owed_when_paused(ProtectionLimits().gap):
        # Nothing else tells afterwards that its copy was late before the pause.
        marks |= {PAUSED_AT: rfc3339(pause_info(schedule).since)}
        if marks[PAUSED_AT] == schedule.annotation(PAUSED_AT):
            del marks[PAUSED_AT]
    patch: dict[str, Any] = {"metadata": {"annotations": marks} if marks else {}, "spec": spec}
    effect = unpause_effect(facts, choice)
    return replace(_step(where, schedule, patch, render(effect.forecast.sentence, now)), effect=effect)


def _step(where: ObjectRef, schedule: Schedule, patch: dict[str, Any], forecast: str) -> PlanStep:
    before: dict[str, Any] = {
        "spec": {"paused": schedule.spec.paused, "skipImmediately": schedule.spec.skip_immediately}
    }
    marks = {key: value for key in MARKS if (value := schedule.annotation(key))}
    if marks:
        before["metadata"] = {"annotations": marks}
    return patch_step(where, schedule, patch, before, forecast)


def _is_unpaused(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Schedule) and not item.spec.paused else "it is already paused"


def _is_paused(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Schedule) and item.spec.paused else "it is not paused"


PAUSE = ActionRecord(
    10,
    "pause",
    "Pause",
    "s",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    plan_pause,
    many=True,
    applies=_is_unpaused,
    short="pause",
    about="pause: no further runs until somebody unpauses",
    footer=EARLY,
    words=("stop", "suspend"),
    hint="pause {}",
    dialog=DialogSpec("Pause {}", "Pause", ("Pause {}", "Pause {}")),
    commands=(CommandLine("schedule pause", "foretop schedule pause -l tier=gold --yes"),),
    purpose="pause and unpause schedules",
)
CHANGE_PAUSE = ActionRecord(
    15,
    "change-pause",
    "Change the pause",
    "s",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    plan_pause,
    many=True,
    applies=_is_paused,
    instead_of=("pause",),
    short="change pause",
    about="change the end or the reason of a pause",
    footer=EARLY,
    words=("extend", "window", "reason", "until"),
    hint="change the pause",
    dialog=DialogSpec("Change the pause of {}", "Change", ("Change the pause of {}", "Change the pause of {}")),
    commands=(CommandLine("schedule pause", "foretop schedule pause daily --until +2h --yes"),),
)
UNPAUSE = ActionRecord(
    20,
    "unpause",
    "Unpause",
    "u",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    plan_unpause,
    many=True,
    applies=_is_paused,
    short="unpause",
    about="unpause: choose what becomes of a run that is due",
    footer=EARLY,
    words=("resume", "continue"),
    hint="unpause {}",
    dialog=DialogSpec("Unpause {}", "Unpause", ("Unpause {}", "Unpause {}")),
    follow=follow_unpause,
    commands=(CommandLine("schedule unpause", "foretop schedule unpause daily --skip-immediately true --dry-run"),),
)
