"""Dialogs that acknowledge findings, for oneself or for everybody, and that take it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from msgspec.structs import replace
from textual import work
from textual.widget import Widget

from foretop.bindings import key_name
from foretop.dialogs.action_dialog import ActionDialog, DialogState
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop.widgets.prompt import Prompt, hint
from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.planners.acknowledging import (
    CHANGE,
    SHIFT,
    AcknowledgeRequest,
    acknowledgement_end,
    plan_acknowledge,
    plan_unacknowledge,
    shared_subjects,
)
from foretop_core.actions.plans import Plan, Planner
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.findings import key_of, subject_and_what, subject_text
from foretop_core.tables.text.terminal_text import clean, cut_end

_LENGTHS = ("1h", SHIFT, CHANGE)
_WORDS = ("an hour", "the end of the shift", "it changes")
_FOR_ME, _FOR_ALL = "me", "everybody (an annotation on the object)"
_FEW = 3


class FindingsDialog(ActionDialog):
    """A dialog about findings, some of which may be about no object."""

    noun = "finding"
    another_choice_helps = True

    def __init__(
        self, service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool, state: DashboardState
    ) -> None:
        super().__init__(service, record, targets, ascii)
        self._state = state

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are still asked about: of some, what everybody sees may be written already."""
        wanted = frozenset(self.keys)
        return tuple(one for one in self.targets.findings if key_of(one) in wanted or one.subject in wanted)

    @property
    def title_line(self) -> str:
        found = self.findings
        what = subject_text(found[0]) if len(found) == 1 else humanize.count(len(found), self.noun)
        return cut_end(clean(self.headline.format(what)), self.cells)

    @property
    def confirm_label(self) -> str:
        return self.verb

    def sentences(self) -> list[Paragraph]:
        """The sentences of the first few findings."""
        found = self.findings
        said = [f"{subject_and_what(one, render(one.what, self._state.clock(one.context)))}" for one in found[:_FEW]]
        more = [f"and {len(found) - _FEW} more"] if len(found) > _FEW else []
        return [paragraph(text, label=" " if at else "Finding") for at, text in enumerate((*said, *more))]

    def shared_plan(self, findings: Sequence[Finding]) -> TrackedPlan:
        """Plans what is written on the objects of these findings; those that have none are refused."""
        objects, refused = shared_subjects(findings)
        if not objects:
            return TrackedPlan(Plan(self.record, self.service.now(self.keys[0].context), (), refused))
        planned = self.service.plan(self.record, self.planner(), objects)
        return replace(planned, plan=replace(planned.plan, refused=(*planned.plan.refused, *refused)))

    @work(exclusive=True, group="keeping")
    async def keep(self, keeping: Awaitable[None], done: Callable[[], None]) -> None:
        """Waits for the file of one's own; where it cannot be written the dialog says why and stays."""
        self.dialog_state, self._news = DialogState.SENDING, []
        try:
            await keeping
        except Exception as problem:
            self._news = [paragraph(failure_line(problem), Tone.BAD)]
        self.dialog_state = DialogState.ASKING
        if self._news:
            self.draw()
        else:
            done()

    def finish(self, told: str) -> None:
        self.app.notify(told)
        self.dismiss(None)


class AcknowledgeDialog(FindingsDialog):
    """Asks why, until when and for whom."""

    verb = "Acknowledge"
    headline = "Acknowledge {}"

    def on_mount(self) -> None:
        self._learn_users()

    @work
    async def _learn_users(self) -> None:
        """Asks who acts: that is shown to the others."""
        for context in self.contexts:
            await self.service.learn_user(context)
        self.replan()

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Reason", Prompt(placeholder=hint(example="known, disk swap on Monday"), id="reason"))
        yield DialogField("Known until", OptionCycler(_WORDS, "until", self.ascii))
        yield DialogField("Known to", OptionCycler((_FOR_ME, _FOR_ALL), "for", self.ascii))

    @property
    def is_shared(self) -> bool:
        return self.query_one("#for", OptionCycler).at == 1

    @property
    def is_read_only(self) -> bool:
        return self.is_shared and super().is_read_only

    @property
    def is_confirmed(self) -> bool:
        """Needs no name for what is kept on this machine: it changes nothing in production."""
        return not self.is_shared or super().is_confirmed

    def is_worth_sending(self, plan: Plan) -> bool:
        return not self.is_shared or super().is_worth_sending(plan)

    def update_choices(self) -> None:
        for part in self.query("#wanted, .confirm"):
            part.display = self.is_shared and bool(self.wanted)

    def request(self, context: str) -> AcknowledgeRequest:
        length = _LENGTHS[self.query_one("#until", OptionCycler).at]
        until = acknowledgement_end(length, self.service.now(context), self._state.shift_ends, self._state.zone)
        return AcknowledgeRequest(self.service.user(context), self.query_one("#reason", Prompt).value, until)

    def planner(self) -> Planner:
        findings, request = self.findings, self.request(self.keys[0].context)
        return lambda snapshot, items, now: plan_acknowledge(snapshot, items, findings, request, now)

    def make_plan(self) -> TrackedPlan:
        if self.is_shared:
            return self.shared_plan(self.findings)
        self._refusal, self._asked_rights = "", False
        self.request(self.keys[0].context)
        return TrackedPlan(Plan(self.record, self.service.now(self.keys[0].context), ()))

    def more(self) -> list[Paragraph]:
        return self.sentences()

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        if self.is_shared:
            return super()._proposal(plan)
        context = self.keys[0].context
        until, now = self.request(context).until, self.service.now(context)
        end = f"until {humanize.time(until, now, self._state.zone)}" if until is not None else "until it says otherwise"
        return [
            paragraph(
                f"You do not see it {end}, unless it gets worse; {key_name('acknowledged')} shows it.", label="Then"
            ),
            paragraph("Nothing is written to the cluster.", label=" "),
        ]

    def send(self, planned: TrackedPlan) -> Coroutine[Any, Any, None] | None:
        if self.is_shared:
            return super().send(planned)
        found = self.findings
        new = [self.request(one.context).of(one, self.service.now(one.context), one.context) for one in found]

        def done() -> None:
            key = key_name("acknowledged")
            self.finish(f"{humanize.count(len(found), self.noun)} acknowledged; {key} shows what is acknowledged")

        self.keep(self._state.acknowledge(new), done)
        return None


class UnacknowledgeDialog(FindingsDialog):
    """Makes findings count again: one's own at once, those that everybody sees by taking the annotation off."""

    verb = "Open again"
    headline = "Open again: {}"

    @property
    def _own(self) -> list[Finding]:
        return [one for one in self.findings if one.acknowledged is not None and not one.acknowledged.shared]

    @property
    def is_read_only(self) -> bool:
        plan = self.planned.plan if self.planned is not None else None
        return plan is not None and bool(plan.steps) and super().is_read_only

    def is_worth_sending(self, plan: Plan) -> bool:
        return bool(self._own) or super().is_worth_sending(plan)

    def planner(self) -> Planner:
        findings = self.findings
        return lambda snapshot, items, now: plan_unacknowledge(snapshot, items, findings, now)

    def make_plan(self) -> TrackedPlan:
        return self.shared_plan([one for one in self.findings if one not in self._own])

    def more(self) -> list[Paragraph]:
        return self.sentences()

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        own = len(self._own)
        mine = (
            [paragraph(f"{humanize.count(own, self.noun)} of yours: open again at once.", label="Then")] if own else []
        )
        return [*mine, *(super()._proposal(plan) if plan.steps or plan.refused else [])]

    def send(self, planned: TrackedPlan) -> Coroutine[Any, Any, None] | None:
        own, send = self._own, super().send

        def done() -> None:
            if planned.plan.steps and (work := send(planned)) is not None:
                self.app.run_worker(work)
            else:
                self.finish(f"{humanize.count(len(own), self.noun)} open again")

        self.keep(self._state.unacknowledge([(one.context, one.id) for one in own]), done)
        return None
