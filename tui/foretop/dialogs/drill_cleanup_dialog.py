"""The deletion of what a drill has left: object by object, and only of what the journal proves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from textual import work
from textual.widget import Widget

from foretop.dialogs import plan_text
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.drill_run import deletion_planner, leftovers, plan_deletion
from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.plans import Plan, Planner, PlanStep
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import Piece, PlanColumn, PlanTable
from foretop_core.rules import humanize
from foretop_core.rules.drills import DELETED_IN_ORDER, LeftDrill
from foretop_core.rules.failure_record import failure_line
from foretop_core.tables.engine.status_glyphs import Tone

_CHOICES = ("left alone", "deleted")
_GOING = "Its drill is still going, or was a few minutes ago: it deletes that itself."


class DrillCleanupDialog(ActionDialog):
    """Offers what is left of one drill; to leave each object alone is the default."""

    verb = "Delete"
    headline = "Delete what the drill left: {}"
    noun = "object"
    another_choice_helps = True

    def __init__(self, service: ActionService, intent: ActionRecord, targets: ActionTargets, ascii: bool) -> None:
        super().__init__(service, intent, targets, ascii)
        self._drill: LeftDrill | None = None
        self._proven: Plan | None = None
        """The deletion of all that is proven; None while the cluster is being asked."""
        self._unknown = ""

    @property
    def _cluster(self) -> str:
        return self.keys[0].context

    def fields(self) -> Iterable[Widget]:
        for kind in DELETED_IN_ORDER:
            yield DialogField(kind, OptionCycler(_CHOICES, kind.lower(), self.ascii))

    def on_mount(self) -> None:
        self._show_choices()
        self._look()

    @work
    async def _look(self) -> None:
        """At the server itself, and into the journal: neither the store nor the label alone proves anything."""
        executor = self.service.executor(self._cluster)
        try:
            found = await leftovers(executor)
            mine = [one for one in found if any(item.target == self.keys[0] for item in one.objects)]
            self._drill = mine[0] if mine else None
            over = [item for one in mine if not one.is_going for item in one.objects]
            self._proven = await plan_deletion(executor, over)
        except Exception as problem:
            self._unknown = failure_line(problem)
        self._show_choices()
        self.replan()
        self.start()

    def _show_choices(self) -> None:
        kinds = self._steps()
        for kind in DELETED_IN_ORDER:
            field = self.query_one(f"#{kind.lower()}", OptionCycler).parent
            assert isinstance(field, DialogField)
            field.display = kind in kinds

    def _steps(self) -> Mapping[str, PlanStep]:
        return {step.target.kind: step for step in self._proven.steps} if self._proven is not None else {}

    def planner(self) -> Planner:
        assert self._proven is not None
        return deletion_planner(self._proven)

    def make_plan(self) -> TrackedPlan:
        chosen = tuple(
            step
            for kind, step in self._steps().items()
            if self.query_one(f"#{kind.lower()}", OptionCycler).value == _CHOICES[1]
        )
        plan = Plan(self.intent, self.service.now(self._cluster), chosen)
        return TrackedPlan(plan, tuple(step.target for step in chosen))

    def more(self) -> list[Paragraph]:
        """Who made it, when and for what; and what cannot be proven, with the line that deletes it."""
        if self._unknown:
            return [paragraph(self._unknown, Tone.BAD)]
        if self._proven is None:
            return [paragraph("Looking at what is there …", Tone.DIM)]
        drill = self._drill
        if drill is None:
            return [paragraph("Nothing of it is there any more.")]
        said = []
        if drill.own:
            one, now = drill.own[-1], self.service.now(self._cluster)
            when = f"{humanize.time(one.at, now, self.service.zone)} " if one.at is not None else ""
            said.append(paragraph(f"{when}by {one.by}, with foretop", label="Created"))
        if drill.source:
            said.append(paragraph(drill.source, label="Source"))
        if drill.is_going:
            return [*said, plan_text.look(_GOING)]
        return [*said, *(plan_text.look(f"{one.target}: {one.why}") for one in self._proven.refused)]

    def table(self, plan: Plan) -> PlanTable:
        """All objects of a drill have the same name: they are told apart by kind."""
        rows = tuple((Piece(step.target.kind), Piece(step.forecast)) for step in plan.steps)
        return PlanTable((), (PlanColumn("KIND", 14), PlanColumn("RESULT")), rows)

    def _proposal(self, plan: Plan) -> list[Paragraph]:
        return [] if plan.steps or not self._steps() else [paragraph("Nothing is deleted yet: choose what to delete.")]

    def writes(self, plan: Plan, *, copies: bool) -> list[Paragraph]:
        if not plan.steps:
            return []
        return plan_text.written_lines("; ".join(step.changes[0] for step in plan.steps), self.cells, copies=copies)

    def outcome(self) -> Iterator[Paragraph]:
        if self.plan_run is None:
            return
        results = [told.result for told in self.plan_run.told]
        if done := [str(one.step.target) for one in results if one.outcome is Outcome.DONE]:
            yield paragraph(f"Deleted: {humanize.join(done)}.")
        for one in results:
            if one.outcome is not Outcome.DONE:
                yield paragraph(f"{one.step.target} is still there: {one.error or one.outcome.value}", Tone.BAD)
        if self.plan_run.problem:
            yield paragraph(self.plan_run.problem, Tone.BAD)
