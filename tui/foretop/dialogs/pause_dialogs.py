"""Dialogs that pause and unpause schedules."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence

from foretop.bindings import RESUME, key_name
from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_frame import WIDE
from foretop.dialogs.dialog_parts import RadioList
from foretop.dialogs.plan_screen import PlanScreen
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_record import ActionRecord, Field, TextField
from foretop_core.actions.planners.pausing import PauseRequest, end_as_typed, plan_pause, plan_unpause, read_end
from foretop_core.actions.plans import Plan, Planner, chosen
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import (
    PlanColumn,
    PlanTable,
    choice_axis,
    offered_choices,
    paused_sentence,
    plan_table,
    unpause_choices,
)
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import count_unpause, pause_note, skipped_ages
from foretop_core.rules.facts.schedule_facts import Choice, ScheduleFacts, schedule_facts
from foretop_core.rules.sentences import Text, render, sentence
from foretop_core.tables.engine.drawings import Piece

_LABELS = {
    Choice.SKIP: "Skip what is due",
    Choice.DO_NOT_SKIP: "Do not skip",
    Choice.LEAVE: "Its own setting",
}
_SEVERAL = (PlanColumn("CHOICE", 24), PlanColumn("WHAT HAPPENS NOW"))


class UnpauseDialog(PlanScreen):
    """Unpauses schedules: three values of spec.skipImmediately, and what each would do now."""

    actions = ("unpause",)
    _paused: Sequence[ScheduleFacts] = ()
    """Of the moment of the plan: what the choices, the sentence and the notes say agrees."""

    def fields(self) -> Iterable[RadioList]:
        self._look()
        self._choices_offered = offered_choices(self._paused)
        self._radio_list = RadioList(len(self._choices_offered))
        yield self._radio_list

    @property
    def choice(self) -> Choice:
        return self._choices_offered[self._radio_list.at]

    def planner(self) -> Planner:
        return chosen(plan_unpause, choice=self.choice)

    def make_plan(self) -> TrackedPlan:
        """Offers to skip where something is due, and else to leave the setting: what a person has chosen stays."""
        self._look()
        self._radio_list.offer(0 if self._is_due else self._choices_offered.index(Choice.LEAVE))
        self._radio_list.show(self._choice_table())
        return super().make_plan()

    def _look(self) -> None:
        self._paused = [facts for facts in facts_of(self.service, self.keys) if facts.schedule.spec.paused]

    @property
    def _is_due(self) -> bool:
        return any(facts.may_be_due for facts in self._paused)

    @property
    def title_line(self) -> str:
        if not self.targets.window:
            return super().title_line
        how_many = humanize.count(len(self.keys), self.spec.noun)
        return plan_text.title(f"Resume window {{}}: unpause {how_many}", self.targets.window, self.cells)

    def consequence(self, plan: Plan, table: PlanTable) -> Sequence[Piece]:
        """Tells who paused it, when and why, and how much it missed; of several what becomes of what is due."""
        is_alone = len(self.keys) == 1 and self._paused and self._paused[0].pause is not None
        return paused_sentence(self._paused[0]) if is_alone else table.sentence

    def more(self) -> list[Paragraph]:
        """Draws the choices of one on a time axis; tells who opened the window, and where there is nothing to skip."""
        paused = self._paused
        if not paused:
            return []
        first, paragraphs = paused[0], list[Paragraph]()
        if len(self.keys) == 1 and self.app.size.width >= WIDE:
            drawn = choice_axis(first, self.service.queue_line, self._choices_offered, self._labels(), self.cells)
            paragraphs += [*map(plan_text.sentence, drawn), *([paragraph("")] if drawn else [])]
        if first.pause is not None and self.targets.window:
            paragraphs.append(paragraph(render(pause_note(first.pause), first.now), label="Window"))
        if not self._is_due:
            paragraphs.append(paragraph("Nothing is due, so there is nothing to skip now."))
        if len(paused) > 1:
            oldest = age_after_skip(paused, self.choice)
            paragraphs += [paragraph(render(text, first.now), label="Copies") for text in oldest]
        return paragraphs + [paragraph(note, label="Note") for note in default_note(paused, self.choice)]

    def _choice_table(self) -> PlanTable:
        choices, labels = self._choices_offered, self._labels()
        if len(self.keys) == 1 and self._paused:
            return unpause_choices(self._paused[0], self.service.queue_line, choices, labels)
        rows = zip(labels, choices, strict=True)
        summed_up = tuple((Piece(label), Piece(choice_summary(self._paused, choice))) for label, choice in rows)
        return PlanTable((), _SEVERAL, summed_up)

    def _labels(self) -> list[str]:
        """To leave the field alone is named by what it comes to, where that is one and known."""
        own = {facts.own_choice for facts in self._paused}
        as_set = own.pop() if len(own) == 1 else Choice.LEAVE
        as_is = _LABELS[as_set] if as_set is Choice.LEAVE else f"{_LABELS[as_set]}, as set"
        return [as_is if choice is Choice.LEAVE else _LABELS[choice] for choice in self._choices_offered]


def facts_of(service: ActionService, keys: Sequence[ObjectRef]) -> list[ScheduleFacts]:
    """The facts of those that are still there."""
    return [
        schedule_facts(service.snapshot(key.context), item, service.now(key.context))
        for key in keys
        if isinstance(item := service.item(key), Schedule)
    ]


class PauseDialog(PlanScreen):
    """Pauses schedules, with a reason and a planned end for the next shift; of those paused already both change."""

    actions = ("pause", "change-pause")

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets) -> None:
        super().__init__(service, record, targets)
        self._batch = secrets.token_hex(3)
        facts = facts_of(service, self.keys)
        self._again = frozenset(each.snapshot.ref(each.schedule) for each in facts if each.pause is not None)
        """Paused when it was opened: one that is unpaused meanwhile is not paused again."""
        whys = {each.pause.why if each.pause is not None else "" for each in facts}
        ends = {end_as_typed(each.pause.until if each.pause is not None else None, self.opened) for each in facts}
        self._begun = tuple(texts.pop() if len(texts) == 1 else "" for texts in (whys, ends))
        """The texts that the fields begin with: what they have in common."""

    def on_mount(self) -> None:
        if not all(facts.noted_by for facts in facts_of(self.service, self.keys)):
            self.learn_users()

    def fields(self) -> Iterable[tuple[Field, Field]]:
        end = "+2h, 04:30 or 2h" if self._again else "04:30 or 2h"
        reason = TextField("reason", "Reason", "CHG-4711, disk swap", value=self._begun[0])
        until = TextField("until", "Until", end, value=self._begun[1])
        # What is changed of a pause is its end, mostly: who types at once must not type into the reason.
        yield (until, reason) if self._again.issuperset(self.keys) else (reason, until)

    @property
    def title_line(self) -> str:
        return self._both or super().title_line

    @property
    def confirm_label(self) -> str:
        return self._both or super().confirm_label

    @property
    def _both(self) -> str:
        """The title where some are paused and others are paused already; "" where it is one of both."""
        steps = self.steps
        changed = sum(step.target in self._again for step in steps)
        if not 0 < changed < len(steps):
            return ""
        return f"Pause {humanize.count(len(steps) - changed, self.spec.noun)}, change the pause of {changed}"

    def consequence(self, plan: Plan, table: PlanTable) -> Sequence[Piece]:
        if plan.steps:
            return plan_table(plan, self.service.queue_line).sentence
        paused = facts_of(self.service, self.keys)
        return paused_sentence(paused[0]) if len(paused) == 1 else ()

    def more(self) -> list[Paragraph]:
        lines = []
        if self._again:
            empty = "removes it" if any(self._begun) else "leaves it as it is"
            lines.append(f"+2h adds to the end that a pause has; an empty field {empty}.")
        if self.typed("until"):
            lines.append(
                f"Nothing resumes by itself: at the end Triage reminds you, and {key_name(RESUME)} resumes the window."
            )
        return [paragraph(note, label="Note") for note in lines]

    def outcome(self) -> Iterator[Paragraph]:
        """Tells what was done, and the way back."""
        yield from super().outcome()
        done = [report for report in self.reports() if report.is_done and not report.undone]
        paused = sum(report.result.step.target not in self._again for report in done)
        if paused:
            them = "this schedule" if paused == 1 else "these schedules"
            these = them if paused == len(done) else f"the {humanize.count(paused, self.spec.noun)} paused now"
            yield paragraph(f"{key_name(RESUME)} unpauses {these} again, and no other{'s' if paused > 1 else ''}.")

    def planner(self) -> Planner:
        """Changes of those paused already what differs from the text that a field began with."""
        reason, typed = self.typed("reason"), self.typed("until")
        was_reason, end = self._begun
        changes_end = typed != end
        if end and typed.startswith(f"{end}+"):
            typed = typed.removeprefix(end)
        request = PauseRequest(
            self.service.user(self.context),
            self._batch,
            reason,
            read_end(typed, self.now) if typed and changes_end else None,
            self.service.gap,
            self._again,
            reason != was_reason,
            changes_end,
        )
        return chosen(plan_pause, request=request)


def age_after_skip(schedules: Sequence[ScheduleFacts], choice: Choice) -> list[Text]:
    """How old the newest good backups of those that skip a run are when the next ones are made."""
    skipped = skipped_ages(schedules, choice)
    if not skipped:
        return []
    schedule, age = max(skipped, key=lambda one: one[1])
    if len(skipped) > 1:
        lead = "those that skip have a newest good backup of up to "
        return [sentence(lead, age, f" at the next run ({schedule.name})")]
    return [sentence(f"the newest good backup of {schedule.name} is ", age, " old at the next run")]


def default_note(schedules: Sequence[ScheduleFacts], choice: Choice) -> list[str]:
    """Tells what setting the field costs: a schedule that followed the server's default does not any more."""
    without = sum(facts.schedule.spec.skip_immediately is None for facts in schedules)
    if choice is Choice.LEAVE or not without:
        return []
    whose = "It" if len(schedules) == 1 else f"{without} of them"
    return [f"{whose} will no longer follow the server's default: this sets spec.skipImmediately"]


def choice_summary(schedules: Sequence[ScheduleFacts], choice: Choice) -> str:
    """Sums up what a choice would do to several now, in half a line."""
    counts = count_unpause(schedules, choice)
    fates = counts.fates(_slots(schedules, counts.at_once))
    return ", ".join(filter(None, (fates, f"{counts.not_due} not due" if counts.not_due else ""))) or "none is paused"


def _slots(schedules: Sequence[ScheduleFacts], at_once: int) -> str:
    """How many of them run at a time, where that is known and fewer than there are; else all start at once."""
    servers = {
        (facts.snapshot.context, facts.schedule.namespace): facts.snapshot.server(facts.schedule.namespace)
        for facts in schedules
    }
    numbers = [server.concurrency for server in servers.values()]
    slots = sum(number or 0 for number in numbers)
    return f", {slots} at a time" if all(numbers) and slots < at_once else " at once"
