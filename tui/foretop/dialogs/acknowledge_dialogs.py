"""Dialogs that acknowledge findings, and that take it back."""

from __future__ import annotations

from collections.abc import Iterable

from textual import work
from textual.widget import Widget

from foretop.dialogs.action_dialog import ActionDialog
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
)
from foretop_core.actions.plans import Plan, Planner
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding
from foretop_core.tables.resources.findings import subject_and_what, subject_text
from foretop_core.tables.text.terminal_text import cut_end, unsigned

_LENGTHS = ("1h", SHIFT, CHANGE)
_WORDS = ("an hour", "the end of the shift", "it changes")
_FEW = 3


class FindingsDialog(ActionDialog):
    """A dialog about findings, some of which may be about no object."""

    noun = "finding"

    def __init__(
        self, service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool, state: DashboardState
    ) -> None:
        super().__init__(service, record, targets, ascii)
        self._state = state

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.targets.findings

    @property
    def title_line(self) -> str:
        findings = self.findings
        what = subject_text(findings[0]) if len(findings) == 1 else humanize.count(len(findings), self.noun)
        return cut_end(unsigned(self.headline.format(what)), self.cells)

    @property
    def confirm_label(self) -> str:
        return self.verb

    def more(self) -> list[Paragraph]:
        """The sentences of the first few findings."""
        findings = self.findings
        lines = [
            subject_and_what(finding, render(finding.what, self._state.clock(finding.context)))
            for finding in findings[:_FEW]
        ]
        more = [f"and {len(findings) - _FEW} more"] if len(findings) > _FEW else []
        return [paragraph(text, label=" " if index else "Finding") for index, text in enumerate((*lines, *more))]

    def make_plan(self) -> TrackedPlan:
        """The plans of all clusters together; what is written is not the object that a finding is about."""
        planner = self.planner()
        parts = [planner(self.service.snapshot(name), (), self.service.now(name)) for name in self.contexts]
        steps = tuple(step for part in parts for step in part.steps)
        refused = tuple(refusal for part in parts for refusal in part.refused)
        return TrackedPlan(Plan(self.record, parts[0].at, steps, refused))


class AcknowledgeDialog(FindingsDialog):
    """Asks why, and until when."""

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

    def planner(self) -> Planner:
        findings, requests = self.findings, {context: self._request(context) for context in self.contexts}
        return lambda snapshot, items, now: plan_acknowledge(snapshot, items, findings, requests[snapshot.context], now)

    def _request(self, context: str) -> AcknowledgeRequest:
        length = _LENGTHS[self.query_one("#until", OptionCycler).at]
        until = acknowledgement_end(length, self.service.now(context), self._state.shift_ends, self._state.zone)
        return AcknowledgeRequest(self.service.user(context), self.query_one("#reason", Prompt).value, until)


class UnacknowledgeDialog(FindingsDialog):
    """Makes findings count again."""

    verb = "Open again"
    headline = "Open again: {}"

    def planner(self) -> Planner:
        findings = self.findings
        return lambda snapshot, items, now: plan_unacknowledge(snapshot, items, findings, now)
