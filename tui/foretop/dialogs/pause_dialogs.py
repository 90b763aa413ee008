"""Dialogs that pause and unpause schedules."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime

from textual import work
from textual.widget import Widget

from foretop.bindings import RESUME, key_name
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.dialog_parts import ChoiceRow, DialogField, RadioList
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause, plan_unpause, read_end
from foretop_core.actions.plans import Plan, Planner
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import count_unpause, next_to_be_missed, pause_note, skipped_ages
from foretop_core.rules.facts.schedule_facts import Choice, ScheduleFacts, UnpauseForecast, schedule_facts
from foretop_core.rules.sentences import Text, render, sentence
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import clean

_CHOICES = (Choice.SKIP, Choice.DO_NOT_SKIP, Choice.LEAVE)
_LABELS = {
    Choice.SKIP: "Skip what is overdue",
    Choice.DO_NOT_SKIP: "Do not skip",
    Choice.LEAVE: "Schedule's own setting",
}
_FEW = 12
"""Of more than these the sentences fill the dialog, whichever way is chosen."""


class UnpauseDialog(ActionDialog):
    """Unpauses schedules: three values of spec.skipImmediately, and what each would do now."""

    verb = "Unpause"
    headline = "Unpause {}"
    titles = ("Unpause {}", "Unpause {}")

    def fields(self) -> Iterable[Widget]:
        yield RadioList(len(_CHOICES), self.ascii)

    @property
    def choice(self) -> Choice:
        choices = self.query_one(RadioList)
        return _CHOICES[choices.at] if choices.display else Choice.LEAVE

    def planner(self) -> Planner:
        return _unpausing(self.choice)

    def make_plan(self) -> TrackedPlan:
        """Skipping is offered where something is due; where nothing is, all choices come to the same."""
        choices = self.query_one(RadioList)
        due = any(facts.may_be_due for facts in self._paused())
        choices.offer(_CHOICES.index(Choice.SKIP))
        had_focus = choices.has_focus
        choices.display = due
        self.show_fields(due)
        if had_focus and not due:
            self.cancel.focus()
        return super().make_plan()

    @property
    def title_line(self) -> str:
        if not self.targets.window:
            return super().title_line
        return f"Resume window {clean(self.targets.window)}: unpause {humanize.count(len(self.keys), self.noun)}"

    def more(self) -> list[Paragraph]:
        """Who paused it and why, and where there is nothing to choose, that."""
        paused = self._paused()
        said = []
        if paused and paused[0].pause is not None and (len(self.keys) == 1 or self.targets.window):
            note = render(pause_note(paused[0].pause), paused[0].now)
            said.append(paragraph(note, label="Window" if self.targets.window else "Paused"))
        if paused and not self.query_one(RadioList).display:
            said.append(paragraph("Nothing is due, so there is nothing to skip."))
        said += [paragraph(render(told, paused[0].now), label="Copies") for told in age_after_skip(paused, self.choice)]
        return said + [paragraph(note, label="Note") for note in default_note(paused, self.choice)]

    def alternative_plans(self) -> list[Plan]:
        few = len(self.keys) <= _FEW and self.query_one(RadioList).display
        others = (choice for choice in _CHOICES if choice is not self.choice) if few else ()
        return [self.service.plan(self.intent, _unpausing(choice), self.keys).plan for choice in others]

    def update_choices(self) -> None:
        schedules = self._paused()
        self.query_one(RadioList).show(
            [ChoiceRow(_LABELS[choice], choice_summary(schedules, choice)) for choice in _CHOICES]
        )

    def _paused(self) -> list[ScheduleFacts]:
        return [facts for facts in facts_of(self.service, self.keys) if facts.schedule.spec.paused]


def facts_of(service: ActionService, keys: Sequence[ObjectRef]) -> list[ScheduleFacts]:
    """The facts of those that are still there."""
    return [
        schedule_facts(service.snapshot(key.context), item, service.now(key.context))
        for key in keys
        if isinstance(item := service.item(key), Schedule)
    ]


def _unpausing(choice: Choice) -> Planner:
    return lambda snapshot, items, now: plan_unpause(snapshot, items, choice, now)


class PauseDialog(ActionDialog):
    """Pauses schedules, with a reason and a planned end for the next shift."""

    verb = "Pause"
    headline = "Pause {}"
    titles = ("Pause {}", "Pause {}")
    _noted: PauseRequest
    """What the plan on the screen was made with: the fields may have moved on by a letter."""

    def on_mount(self) -> None:
        self._batch = secrets.token_hex(3)
        if not all(map(self.service.knows_user, self.contexts)):
            self.waits_for = "Asking the cluster who you are…"
            self._learn_users()

    @work
    async def _learn_users(self) -> None:
        """Who paused it is written on the schedule: nothing is shown to be written before that is known."""
        try:
            for context in self.contexts:
                await self.service.learn_user(context)
        finally:
            self.waits_for = ""
            self.replan()

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Reason", Prompt(placeholder="for the next shift, optional", id="reason"))
        yield DialogField("Until", Prompt(placeholder="e.g. 04:30 or 2h; a reminder, it resumes nothing", id="until"))

    def planner(self) -> Planner:
        planner = self._noted = self._window()
        return lambda snapshot, items, now: plan_pause(snapshot, items, planner, now)

    def summary(self, plan: Plan) -> list[str]:
        """Of several, which run is the first that will be missed."""
        running = (facts for facts in facts_of(self.service, self.keys) if not facts.schedule.spec.paused)
        first = next_to_be_missed(running)
        if first is None:
            return []
        schedule, run = first
        return [f"next to be missed: {schedule.name} {humanize.time(run, self.service.now(self.keys[0].context))}"]

    def more(self) -> list[Paragraph]:
        """The way back."""
        if self.planned is None:
            return []
        return [
            paragraph(f"{key_name(RESUME)} resumes exactly what this window ({self._noted.batch}) pauses", label="Note")
        ]

    def _window(self) -> PauseRequest:
        context = self.keys[0].context
        typed = self.query_one("#until", Prompt).value.strip()
        until = read_end(typed, self.service.now(context)) if typed else None
        return PauseRequest(
            self.service.user(context), self._batch, self.query_one("#reason", Prompt).value.strip(), until
        )


def age_after_skip(schedules: Sequence[ScheduleFacts], choice: Choice) -> list[Text]:
    """How old the newest good backup is when the next one is made, of several schedules the oldest."""
    skipped = skipped_ages(schedules, choice)
    if not skipped:
        return []
    schedule, age = max(skipped, key=lambda one: one[1])
    whose = "the newest good backup" if len(schedules) == 1 else f"the newest good backup of {schedule.name}"
    return [sentence(f"{whose} is ", age, " old at the next run")]


def default_note(schedules: Sequence[ScheduleFacts], choice: Choice) -> list[str]:
    """What setting the field costs: a schedule that followed the server's default does not any more."""
    written = (facts for facts in schedules if choice is not Choice.SKIP or not facts.has_nothing_to_skip)
    without = sum(facts.schedule.spec.skip_immediately is None for facts in written)
    if choice is Choice.LEAVE or not without:
        return []
    whose = "it" if len(schedules) == 1 else f"{without} of them"
    return [f"spec.skipImmediately stays set for {whose}: the server's default no longer counts"]


def choice_summary(schedules: Sequence[ScheduleFacts], choice: Choice) -> str:
    """What a choice would do now, in half a line."""
    if len(schedules) == 1:
        facts = schedules[0]
        why = f" ({_field(facts)})" if choice is Choice.LEAVE else ""
        return f"{_fate(facts.unpausing(choice), facts.now)}{why}"
    counts = count_unpause(schedules, choice)
    parts = [
        f"{humanize.count(counts.at_once, 'backup')}{_slots(schedules, counts.at_once)}" if counts.at_once else "",
        f"{humanize.count(counts.skipped, 'due run')} skipped" if counts.skipped else "",
        f"{counts.held} after a running backup" if counts.held else "",
        f"{counts.refused} created and refused" if counts.refused else "",
        f"{counts.not_due} not due" if counts.not_due else "",
    ]
    return ", ".join(part for part in parts if part) or "none is paused"


def _slots(schedules: Sequence[ScheduleFacts], at_once: int) -> str:
    """How many of them run at a time, where that is known and fewer than there are; else all start at once."""
    servers = {
        (one.snapshot.context, one.schedule.namespace): one.snapshot.server(one.schedule.namespace) for one in schedules
    }
    known = [server.concurrency for server in servers.values()]
    slots = sum(one or 0 for one in known)
    return f", {slots} at a time" if all(known) and slots < at_once else " at once"


def _fate(forecast: UnpauseForecast, now: datetime) -> str:
    if forecast.at_once:
        if forecast.creates_only:
            return "one backup is created at once but stalls"
        if forecast.refusal:
            return "one backup is created at once and refused"
        return f"one backup starts {'once Velero is back' if forecast.silence else 'at once'}"
    run = forecast.starts or forecast.next_run
    if run is None or run < now:
        return render(forecast.sentence, now)
    refused = ", refused" if forecast.refusal else ""
    return f"next backup {humanize.time(run, now)}, {times.until(run - now)}{refused}"


def _field(facts: ScheduleFacts) -> str:
    """Where the schedule's own setting comes from."""
    said = facts.schedule.spec.skip_immediately
    if said is not None:
        return f"its field is {'true' if said else 'false'}"
    default = facts.snapshot.server(facts.schedule.namespace).skip_immediately
    return "server unknown" if default is None else f"server: {'skip' if default else 'no skip'}"
