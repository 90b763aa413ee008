"""The screen of what-if: the coming night as it is and as it would be, while a change is typed. It writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, tzinfo
from typing import assert_never

import msgspec
from textual import on, work
from textual.timer import Timer
from textual.widgets import Input

from foretop.dialogs.dialog_frame import DialogFrame, DialogText
from foretop.dialogs.dialog_parts import OptionCycler
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_record import ChoiceField, Field, TextField
from foretop_core.background import in_thread
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, ForetopError, Unforeseen
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.what_if.comparison import (
    NO_DIFFERENCE,
    Add,
    Change,
    Longer,
    Move,
    NightComparison,
    Pause,
    Slots,
    Stopped,
    Unpause,
    if_back_with,
    read_changes,
    read_number,
    read_pair,
    refuse_silence,
    what_if,
)
from foretop_core.rooms.what_if.numbers import nights_compared
from foretop_core.rules.night.coming_back import if_back
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import Text, render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import pad

_DRAWS = 20
"""As long as the calendar has none."""
_SETTLES = 0.4
"""Seconds after the last key before a change is played."""
_COLUMN = 24
_NEW_TAKES = timedelta(minutes=10)
"""The length of a run of a schedule that does not exist."""


class PlannedChange(msgspec.Struct, frozen=True):
    """A change that the ordinary dialog is opened with: another expression, a new schedule, or a pause or its end."""

    key: ObjectRef
    schedule: str = ""
    paused: bool | None = None
    new_name: str = ""
    """The name of the new schedule that is to have the expression."""

    @property
    def verb(self) -> str:
        return "Create schedule" if self.new_name else "Edit schedule" if self.schedule else "Make the change"


class WhatIfScreen(DialogFrame):
    """Fields for one lane, its server and other schedules; below them both nights and the difference."""

    def __init__(
        self, state: DashboardState, key: ObjectRef, take: Callable[[PlannedChange], None], draws: int
    ) -> None:
        """`draws` is how many the calendar has drawn: both tell the same night then."""
        super().__init__()
        self._state, self.key, self._take, self._draws = state, key, take, draws or _DRAWS
        resource = state.store.get(key)
        self._schedule = resource if isinstance(resource, Schedule) else None
        self._found: NightComparison | None = None
        self._problem = ""
        self._backs: tuple[Text, ...] = ()
        self._backs_after: tuple[Text, ...] = ()
        """What becomes of the backlog of a server of which nothing can be foreseen."""
        self._is_playing = False
        self._timer: Timer | None = None

    def fields(self) -> Iterable[Field]:
        if self._schedule is not None:
            yield TextField("cron", "Cron", "30 2 * * *", value=self._schedule.spec.schedule)
            other = "not paused" if self._schedule.spec.paused else "paused"
            yield ChoiceField("paused", "Pause", (("as it is", False), (other, True)))
            yield TextField("longer", "Times as long", "2 or 1.5", default="1")
        yield TextField("added", "New schedule", "audit=0 4 * * *, takes 10m", default="none")
        yield TextField("slots", "Slots", "3", default="as it is")
        yield TextField("stopped", "Velero stopped", "02:00-03:00", default="never")
        yield TextField("others", "Other schedules", "crm=30 3 * * *; mail=paused", default="as they are")

    def on_mount(self) -> None:
        self.draw()
        self._play()

    def changes(self) -> list[Change]:
        """The changes that the fields ask for; raises BadInput where one cannot be read."""
        changes: list[Change] = []
        if (schedule := self._schedule) is not None:
            cron, longer = self.typed("cron"), self.typed("longer")
            if cron and cron.split() != schedule.spec.schedule.split():
                changes.append(Move(schedule.name, cron))
            if self.cycler("paused").value:
                changes.append((Unpause if schedule.spec.paused else Pause)(schedule.name))
            if longer:
                changes.append(Longer(schedule.name, read_number(longer)))
        if added := self.typed("added"):
            changes.append(Add(*read_pair(added), _NEW_TAKES))
        if slots := self.typed("slots"):
            changes.append(Slots(int(read_number(slots))))
        if stopped := self.typed("stopped"):
            changes.append(Stopped(read_window(stopped, self._state.zone)))
        return changes + read_changes(self.typed("others"))

    @on(Input.Changed)
    @on(OptionCycler.Turned)
    def _changed(self) -> None:
        """Plays what is typed when the keys have settled."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_SETTLES, self._play)

    @work(exclusive=True)
    async def _play(self) -> None:
        snapshot, now = self._state.store.snapshot(self.key.context), self._state.now(self.key.context)
        zone = self._state.zone
        self._found, self._problem, self._backs, self._backs_after = None, "", (), ()
        try:
            refuse_silence(snapshot, self.key.namespace, now)
            if changes := self.changes():
                self._is_playing = True
                self.draw()
                self._found = await in_thread(
                    lambda: what_if(snapshot, self.key.namespace, now, changes, timedelta(days=1), self._draws, zone)
                )
        except Unforeseen as problem:
            self._problem = str(problem)
            self._backs = await in_thread(lambda: if_back(snapshot, self.key.namespace, now, zone))
            self._backs_after = await self._changed_backs(snapshot, now, zone)
        except ForetopError as problem:
            self._problem = str(problem)
        finally:
            self._is_playing = False
        self.draw()

    async def _changed_backs(self, snapshot: ClusterSnapshot, now: datetime, zone: tzinfo) -> tuple[Text, ...]:
        """The backlog with the changes, in words; a change that cannot be is told instead."""
        try:
            if not (changes := self.changes()):
                return ()
            return await in_thread(lambda: if_back_with(snapshot, self.key.namespace, now, changes, zone))
        except ForetopError as problem:
            return (str(problem),)

    def draw(self) -> None:
        name = self.key.name or "the server"
        place = f"{self.key.context}, {self.key.namespace}"
        planned, left_out = self._planned()
        note = (
            (paragraph(f"Only tried out, not written from here: {', '.join(left_out)}.", Tone.WARN),)
            if left_out
            else ()
        )
        self.say(DialogText(f"What if: {name}", place, said=tuple(self._told()), writes=note))
        self.go.say("Make the change" if planned is None else planned.verb, dead=planned is None)

    def _told(self) -> list[Paragraph]:
        if self._problem:
            now, zone = self._state.now(self.key.context), self._state.zone
            backs = (paragraph(f"{render(back, now, zone)}.", label="If back") for back in self._backs)
            changed = (
                paragraph(f"{render(back, now, zone)}.", Tone.BRIGHT, label="Then") for back in self._backs_after
            )
            return [paragraph(self._problem, Tone.BAD), *backs, *changed]
        if self._is_playing:
            return [paragraph("Both nights are played …", Tone.DIM)]
        if self._found is None:
            return [paragraph("Change a field to see the night as it would be: nothing is written.", Tone.DIM)]
        before, after, now = self._found.before, self._found.after, self._found.before.night.now
        lines = [paragraph(f"{pad('as it is', _COLUMN)}then", Tone.DIM, label=" ")]
        for label, was, then in nights_compared(before, after, self._state.zone):
            tone = Tone.PLAIN if was == then else Tone.BRIGHT
            lines.append(paragraph(f"{pad(was, _COLUMN)}{then}", tone, label=label))
        texts = [render(text, now, self._state.zone) for text in self._found.differences]
        return [
            *lines,
            *(paragraph(text, label="So" if not place else " ") for place, text in enumerate(texts)),
            *([] if texts else [paragraph(NO_DIFFERENCE, label="So")]),
        ]

    def _planned(self) -> tuple[PlannedChange | None, list[str]]:
        """The change that a dialog can make, and the names of those that it cannot, or not with it."""
        planned: PlannedChange | None = None
        left_out: list[str] = []
        try:
            changes = self.changes()
        except BadInput:
            changes = []
        for change in changes:
            planned_change: PlannedChange | None = None
            match change:
                case Move(changed, text):
                    planned_change, name = (
                        PlannedChange(self._key_of(changed), schedule=text),
                        self._called("cron", changed),
                    )
                case Pause(changed) | Unpause(changed):
                    key, name = self._key_of(changed), self._called("pause", changed)
                    planned_change = PlannedChange(key, paused=isinstance(change, Pause))
                case Add(new_name, text):
                    planned_change, name = PlannedChange(self.key, schedule=text, new_name=new_name), "new schedule"
                case Longer():
                    name = "times as long"
                case Slots():
                    name = "slots (--concurrent-backups of Velero)"
                case Stopped():
                    name = "the stop of Velero"
                case _:
                    assert_never(change)
            if planned is None and planned_change is not None:
                planned = planned_change
            else:
                left_out.append(name)
        return planned, left_out

    def _key_of(self, name: str) -> ObjectRef:
        return self.key._replace(name=name)

    def _called(self, what: str, name: str) -> str:
        return what if name == self.key.name else f"{what} of {name}"

    def action_press(self) -> None:
        """Closes, or goes on to the ordinary dialog with what was tried."""
        planned, _ = self._planned()
        if self.focused is self.cancel:
            self.action_leave()
        elif planned is None:
            self.app.notify(
                "Only another cron expression, a pause or a new schedule can be planned from here", severity="warning"
            )
        else:
            self.action_leave()
            self._take(planned)
