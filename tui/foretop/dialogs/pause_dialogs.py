"""Dialogs that pause and unpause schedules."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from textual import work
from textual.widget import Widget

from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.dialog_parts import ChoiceRow, DialogField, RadioList
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.pausing import PauseRequest, plan_pause, plan_unpause
from foretop_core.actions.plans import Plan, Planner
from foretop_core.cron.go_compat import GoError, parse_duration
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.errors import BadInput
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.forecast import Choice, UnpauseForecast, may_be_due, unpause_as_read
from foretop_core.rules.pauses import PAUSED_AT, PAUSED_BY, PAUSED_WHY
from foretop_core.rules.snapshot import ClusterSnapshot

_CHOICES = (Choice.SKIP, Choice.DO_NOT_SKIP, Choice.LEAVE)
_LABELS = {
    Choice.SKIP: "Skip what is overdue",
    Choice.DO_NOT_SKIP: "Do not skip",
    Choice.LEAVE: "Schedule's own setting",
}
_FEW = 12
"""Of more than these the sentences fill the dialog, whichever way is chosen."""
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)Z?")


class UnpauseDialog(ActionDialog):
    """Three ways with spec.skipImmediately, and what each would do now."""

    verb: ClassVar[str] = "Unpause"
    headline: ClassVar[str] = "Unpause {}"
    deeds: ClassVar[tuple[str, str]] = ("Unpause {}", "Unpause {}")

    def fields(self) -> Iterable[Widget]:
        yield RadioList(len(_CHOICES), self.ascii)

    @property
    def choice(self) -> Choice:
        return _CHOICES[self.query_one(RadioList).at]

    def wish(self) -> Planner:
        return _unpausing(self.choice)

    def make_plan(self) -> TrackedPlan:
        """Skipping is offered where something is due; where nothing is, there is nothing to write for it."""
        due = any(may_be_due(item, now, snapshot.readings(item)) for snapshot, item, now in self._paused())
        self.query_one(RadioList).offer(_CHOICES.index(Choice.SKIP if due else Choice.LEAVE))
        return super().make_plan()

    def rivals(self) -> list[Plan]:
        others = (choice for choice in _CHOICES if choice is not self.choice) if len(self.keys) <= _FEW else ()
        return [self.service.plan(self.intent, _unpausing(choice), self.keys).plan for choice in others]

    def outlook(self) -> None:
        schedules = self._paused()
        self.query_one(RadioList).show([ChoiceRow(_LABELS[choice], _brief(schedules, choice)) for choice in _CHOICES])

    def _paused(self) -> list[tuple[ClusterSnapshot, Schedule, datetime]]:
        return [
            (self.service.snapshot(key.context), item, self.service.now(key.context))
            for key in self.keys
            if isinstance(item := self.service.item(key), Schedule) and item.spec.paused
        ]


def _unpausing(choice: Choice) -> Planner:
    return lambda snapshot, items, now: plan_unpause(snapshot, items, choice, now)


class PauseDialog(ActionDialog):
    """Why and until when, for the next shift to see."""

    verb: ClassVar[str] = "Pause"
    headline: ClassVar[str] = "Pause {}"
    deeds: ClassVar[tuple[str, str]] = ("Pause {}", "Pause {}")
    _noted: PauseRequest
    """What the plan on the screen was made with: the fields may have moved on by a letter."""

    def on_mount(self) -> None:
        self._batch = secrets.token_hex(3)
        self._learn_users()

    @work(exit_on_error=False)
    async def _learn_users(self) -> None:
        """Who paused it is written on the schedule."""
        for context in self.contexts:
            await self.service.learn_user(context)
        self.replan()

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Reason", Prompt(placeholder="for the next shift, optional", id="reason"))
        yield DialogField(
            "Until", Prompt(placeholder="04:30 or 2h, reminder only, nothing resumes automatically", id="until")
        )

    def wish(self) -> Planner:
        wish = self._noted = self._window()
        return lambda snapshot, items, now: plan_pause(snapshot, items, wish, now)

    def more(self) -> list[Paragraph]:
        """The way back."""
        if self.planned is None:
            return []
        return [paragraph(f"U resumes exactly what this window ({self._noted.batch}) pauses", label="Note")]

    def _window(self) -> PauseRequest:
        context = self.keys[0].context
        until = end_of_pause(self.query_one("#until", Prompt).value, self.service.now(context))
        return PauseRequest(
            self.service.user(context), self._batch, self.query_one("#reason", Prompt).value.strip(), until
        )


def end_of_pause(text: str, now: datetime) -> datetime | None:
    """`04:30` in UTC, today or tomorrow, or `2h` from now."""
    wanted = text.strip()
    if not wanted:
        return None
    if clock := _CLOCK.fullmatch(wanted):
        at = now.astimezone(UTC).replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return at if at > now else at + timedelta(days=1)
    try:
        return now + timedelta(microseconds=parse_duration(wanted) // 1000)
    except (GoError, OverflowError):
        raise BadInput(f"{wanted!r} is not a valid end", "", "write 04:30 (UTC) or 2h") from None


def _brief(schedules: Sequence[tuple[ClusterSnapshot, Schedule, datetime]], choice: Choice) -> str:
    """What a choice would do now, in half a line."""
    found = [(_forecast(snapshot, item, choice, now), item, now, snapshot) for snapshot, item, now in schedules]
    if len(found) == 1:
        forecast, item, now, snapshot = found[0]
        lead = f"{_field(item, snapshot)}: " if choice is Choice.LEAVE else ""
        return f"{lead}{_fate(forecast, now, short=bool(lead))}"
    at_once = sum(forecast.at_once for forecast, *_ in found)
    rest = len(found) - at_once
    parts = [
        f"{humanize.count(at_once, 'backup')} at once" if at_once else "",
        f"{rest} wait for the next run" if rest else "",
    ]
    return ", ".join(part for part in parts if part) or "none is paused"


def _forecast(snapshot: ClusterSnapshot, schedule: Schedule, choice: Choice, now: datetime) -> UnpauseForecast:
    return unpause_as_read(
        schedule,
        now,
        choice,
        snapshot.server(schedule.namespace).skip_immediately,
        snapshot.readings(schedule),
        beat=snapshot.heartbeat(schedule.namespace),
        backups=snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ()),
    )


def _fate(forecast: UnpauseForecast, now: datetime, *, short: bool) -> str:
    if forecast.at_once:
        when = "once Velero is back" if forecast.silence else "at once"
        return f"one {when}" if short else f"one backup starts {when}"
    run = forecast.starts or forecast.next_run
    if run is None or run < now:
        return forecast.sentence
    return (
        f"next {humanize.time(run, now)}"
        if short
        else f"next backup {humanize.time(run, now)}, in {humanize.duration(run - now)}"
    )


def _field(schedule: Schedule, snapshot: ClusterSnapshot) -> str:
    said = schedule.spec.skip_immediately
    if said is not None:
        return f"field {'true' if said else 'false'}"
    default = snapshot.server(schedule.namespace).skip_immediately
    word = "unknown" if default is None else "yes" if default else "no"
    return f"field absent, server {word}"


def window_line(service: ActionService, batch: str, keys: Sequence[ObjectRef]) -> str:
    """A window as its next shift knows it: when, by whom, why, and how many."""
    item = service.item(keys[0])
    if not isinstance(item, Schedule):
        return batch
    parts = [item.annotation(mark) for mark in (PAUSED_AT, PAUSED_BY, PAUSED_WHY)]
    return "  ".join([humanize.count(len(keys), "schedule"), *filter(None, parts), f"({batch})"])
