"""Trying a restore and deleting what it left: the dialogs of drills, and the drill under way that outlives its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec
from textual import work

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_frame import DialogText
from foretop.dialogs.dialog_parts import NO_TABLE, DialogField
from foretop.dialogs.plan_screen import DialogState, PlanScreen
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_record import ActionRecord, ChoiceField, Field, TextField
from foretop_core.actions.plan_executor import Outcome, PlanExecutor
from foretop_core.actions.plans import Plan, Planner, PlanStep
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.dashboard.plan_table import PlanColumn, PlanTable
from foretop_core.errors import BadInput, ForetopError
from foretop_core.models import Backup
from foretop_core.rooms.drills.leftovers import DELETED_IN_ORDER, LeftDrill
from foretop_core.rooms.drills.planners import (
    LONGEST_LIMIT,
    USUAL_LIMIT,
    DrillRequest,
    MadeObject,
    drill_name,
    drill_source,
    plan_drill,
    plan_later_cleanup,
)
from foretop_core.rooms.drills.run import (
    DrillResult,
    DrillRun,
    delete_made,
    deletion_planner,
    leftovers,
    plan_deletion,
    quota_sentence,
    quotas_of,
    require_journal,
)
from foretop_core.rules import humanize
from foretop_core.rules.own_failures import failure_line
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.status_glyphs import Tone


class DrillProgress(msgspec.Struct):
    """Notifies its dialog of every step, and calls `afterwards` where the dialog was closed."""

    service: ActionService
    plan: Plan
    backup: Backup
    request: DrillRequest
    limit: timedelta
    afterwards: Callable[[DrillProgress], None]
    news: str = "Creating …"
    result: DrillResult | None = None
    problem: str = ""
    deletion: Plan | None = None
    """Deletes what is left of it; None where nothing is."""
    undeleted: list[str] = msgspec.field(default_factory=list)
    deleted: str = ""
    is_running: bool = True
    listener: Callable[[], None] | None = None
    made: list[MadeObject] = msgspec.field(default_factory=list)

    @property
    def executor(self) -> PlanExecutor:
        return self.service.executor(self.plan.steps[0].target.context)

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        if self.result is None:
            return self.problem or f"Drill of {self.request.namespace}: {self.news}"
        return self.result.sentence(self.request.namespace, self.backup.name)

    async def run(self) -> None:
        """The drill itself; what it made is known afterwards, however it ended."""
        await self.service.learn_user(self.plan.steps[0].target.context)
        executor = self.executor
        run = DrillRun(executor, self.backup, self.request, self.made)
        try:
            await executor.guard(self.plan)
            await require_journal(executor, self.request.namespace)
            self.result = await run.carry_out(self.plan, self.limit, lambda news: self._tell(f"Restore: {news}"))
        except Exception as problem:
            self.problem = failure_line(problem)
        await self._look_for_rest()

    async def delete(self) -> None:
        """Deletes what was made, after a person has agreed to it."""
        plan, self.is_running = self.deletion, True
        if plan is None:
            return
        self._tell("Deleting …")
        executor = self.executor
        try:
            await executor.guard(plan)
            self.undeleted = await delete_made(executor, plan)
        except Exception as problem:
            self.undeleted = [failure_line(problem)]
        self.deleted = "" if self.undeleted else _targets(plan)
        await self._look_for_rest()

    async def _look_for_rest(self) -> None:
        try:
            plan = await plan_deletion(self.executor, self.made)
            self.deletion = plan if plan.steps else None
            self.undeleted += [f"{refusal.target} is still there: {refusal.why}" for refusal in plan.refused]
        except Exception as problem:
            names = humanize.join([f"{item.kind.lower()} {item.name}" for item in self.made], 6)
            self.undeleted = [f"{names} may still be there: {failure_line(problem)}"]
        self.is_running = False
        if self.listener is not None:
            self.listener()
        else:
            self.afterwards(self)

    def _tell(self, news: str) -> None:
        self.news = news
        if self.listener is not None:
            self.listener()


_SECRETS = ChoiceField(
    "secrets",
    "Secrets",
    (("left out", False), ("restored too: who may read them there can read a second copy of them meanwhile", True)),
)
_OFFERED = "Triage offers to delete it."


def _read_limit(text: str) -> timedelta:
    typed = text.strip() or str(USUAL_LIMIT)
    minutes = int(typed) if typed.isdecimal() and len(typed) < 6 else 0
    if not 1 <= minutes <= LONGEST_LIMIT:
        raise BadInput(f"{typed!r} is not a valid time limit", "", f"give minutes from 1 to {LONGEST_LIMIT}")
    return timedelta(minutes=minutes)


class DrillDialog(PlanScreen):
    """Restores the newest good copy of a namespace beside it, and offers to delete that again."""

    actions = ("drill",)

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets) -> None:
        super().__init__(service, record, targets)
        self.progress: DrillProgress | None = None
        self._left: tuple[LeftDrill, ...] = ()
        self._quotas = ""
        self._namespace = self.keys[0].name
        self._drill_id = DrillRequest("", "").id

    # Asking

    def fields(self) -> Iterable[Field]:
        yield TextField("into", "Into", default=drill_name(self._namespace, self.opened))
        yield _SECRETS
        yield TextField("limit", "Time limit", read=_read_limit, default=f"{USUAL_LIMIT} minutes")

    def on_mount(self) -> None:
        self._look()

    def planner(self) -> Planner:
        values = self.values()
        into = values["into"] or drill_name(self._namespace, self.opened)
        self._request = DrillRequest(self._namespace, into, values["secrets"], self._drill_id)
        self._limit = values["limit"]
        self._backup = drill_source(self.snapshot, self._namespace)
        request, backup = self._request, self._backup
        return lambda snapshot, _items, now: plan_drill(snapshot, backup, request, now)

    def make_plan(self) -> TrackedPlan:
        """Nothing is there yet that it could be asked of, and the namespace itself may be gone."""
        return self.service.plan_beside(self.record, self.planner(), self.contexts)

    @work
    async def _look(self) -> None:
        """At what an earlier drill has left, and at the quotas: neither is watched."""
        executor = self.service.executor(self.context)
        self._quotas = quota_sentence(self._namespace, await quotas_of(executor.client, self._namespace))
        self.draw()
        self._left = await leftovers(executor)
        self.draw()

    async def refusal(self, plan: Plan) -> str:
        """Asks also for the rights to delete: who may not do that is told before anything is made."""
        return await super().refusal(plan) or await super().refusal(plan_later_cleanup(plan))

    def more(self) -> list[Paragraph]:
        """Other drills are named, and left alone."""
        going = [str(drill.objects[-1].target) for drill in self._left if drill.is_going]
        over = [str(drill.objects[-1].target) for drill in self._left if not drill.is_going]
        return [
            *([plan_text.look(f"Another drill is still going: {humanize.join(going)}.")] if going else []),
            *([plan_text.look(f"Left over from drills: {humanize.join(over)}; see Triage.")] if over else []),
        ]

    def table(self, plan: Plan) -> PlanTable:
        """All that a drill makes has one name: there is nothing to tell apart."""
        return NO_TABLE

    def warnings(self, plan: Plan) -> list[Paragraph]:
        """Tells what is wrong with the copy, and with the room for it."""
        return [*super().warnings(plan), *([plan_text.look(self._quotas)] if self._quotas and plan.steps else [])]

    def consequence(self, plan: Plan, table: PlanTable) -> Sequence[Piece]:
        if not plan.steps:
            return ()
        text = f"{plan.steps[-1].forecast}. foretop compares it with the backup, asks you, and deletes it."
        return (Piece(humanize.capitalized(text), Tone.BRIGHT),)

    def proposal(self, plan: Plan) -> list[Paragraph]:
        """All that is created, each in a sentence."""
        lines = [": ".join(step.summary) for step in plan.steps]
        return plan_text.listed("Makes", lines) if lines else super().proposal(plan)

    def writes(self, plan: Plan) -> str:
        """The names of all that is created."""
        return f"{_targets(plan)} are created" if plan.steps else ""

    # Under way, and afterwards

    def send(self, planned: TrackedPlan) -> Coroutine[Any, Any, None] | None:
        try:
            self.planner()
        except ForetopError:
            self.replan()  # It says what has changed since.
            return None
        notify: Callable[[str], None] = self.app.notify

        def tell(progress: DrillProgress) -> None:
            """For when the dialog is gone."""
            kept = f" {_targets(progress.deletion)}: still there. {_OFFERED}" if progress.deletion is not None else ""
            notify(f"{progress.sentence}{kept}")

        self.progress = DrillProgress(
            self.confirmed_service, planned.plan, self._backup, self._request, self._limit, tell
        )
        return self._go_on(self.progress, self.progress.run())

    def press_again(self) -> None:
        if self.progress is not None and self.progress.deletion is not None:
            self.app.run_worker(self._go_on(self.progress, self.progress.delete()))

    def _go_on(self, progress: DrillProgress, work: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
        self.dialog_state = DialogState.SENDING
        progress.listener = self._moved
        self.show_fields(False)
        self.cancel.focus()
        self.draw()
        return work

    def _moved(self) -> None:
        if self.progress is not None and not self.progress.is_running:
            self.dialog_state = DialogState.DONE
        self.draw()

    def under_way(self) -> DialogText:
        return self.page_of(said=tuple(self._course()))

    def result(self) -> DialogText:
        return self.under_way()

    def _course(self) -> Iterator[Paragraph]:
        progress = self.progress
        if progress is None:
            return
        if self.dialog_state is DialogState.SENDING:
            yield paragraph(progress.news, bold=True)
            yield paragraph("Closing this window does not stop it; a message tells how it ended.", Tone.DIM)
        yield from _outcome(progress)
        if self.dialog_state is DialogState.DONE and progress.deletion is not None:
            yield paragraph(f"Still there: {_targets(progress.deletion)}.")

    def show_knobs(self) -> None:
        super().show_knobs()
        if self.dialog_state is DialogState.DONE and self.progress is not None:
            asks = self.progress.deletion is not None
            self.go.display = asks
            self.go.say("Delete it")
            self.cancel.say("Keep it" if asks else "Close")
            self._show_edges()

    def action_leave(self) -> None:
        if self.progress is not None:
            self.progress.listener = None
        super().action_leave()
        if self.progress is not None and self.progress.deletion is not None and not self.progress.is_running:
            self.app.notify(f"Kept: {_targets(self.progress.deletion)}. {_OFFERED}")


def _outcome(progress: DrillProgress) -> Iterator[Paragraph]:
    """By kind what came, in one line whether it was all, and what became of the deletion."""
    result = progress.result
    if result is not None:
        for place, count in enumerate(result.report.counts):
            counts = f"{count.kind}: {count.restored} of {count.expected}{count.ended_text}"
            yield paragraph(counts, _tone(count.is_short), label=" " if place else "Restored")
        if result.report.left_out:
            yield paragraph(humanize.join(result.report.left_out, 12), label="Left out")
        yield paragraph(progress.sentence, _tone(bool(result.report.failed)), bold=True)
        if result.not_noted:
            yield plan_text.look(f"The outcome is not on the backup: {result.not_noted}")
    yield from (paragraph(line, Tone.BAD) for line in (progress.problem, *progress.undeleted) if line)
    if progress.deleted:
        yield paragraph(f"Deleted: {progress.deleted}.")


def _tone(is_bad: bool) -> Tone:
    return Tone.BAD if is_bad else Tone.PLAIN


def _targets(plan: Plan) -> str:
    return humanize.join([str(step.target) for step in plan.steps], 6)


_GOING = "Its drill is still going, or was a few minutes ago: it deletes that itself."


class DrillCleanupDialog(PlanScreen):
    """Offers to delete what is left of one drill and is proven; each object can be left alone."""

    actions = ("drill-cleanup",)

    def __init__(self, service: ActionService, record: ActionRecord, targets: ActionTargets) -> None:
        super().__init__(service, record, targets)
        self._drill: LeftDrill | None = None
        self._proven: Plan | None = None
        """The deletion of all that is proven; None while the cluster is being asked."""
        self._unknown = ""

    def fields(self) -> Iterable[Field]:
        for kind in DELETED_IN_ORDER:
            yield ChoiceField(kind.lower(), kind, (("deleted", True), ("left alone", False)))

    def on_mount(self) -> None:
        self._show_choices()
        self._look()

    @work
    async def _look(self) -> None:
        """At the server itself, and into the journal: neither the store nor the label alone proves anything."""
        executor = self.service.executor(self.context)
        try:
            drills = await leftovers(executor)
            mine = [drill for drill in drills if any(item.target == self.keys[0] for item in drill.objects)]
            self._drill = mine[0] if mine else None
            over = [item for drill in mine if not drill.is_going for item in drill.objects]
            self._proven = await plan_deletion(executor, over)
        except Exception as problem:
            self._unknown = failure_line(problem)
        self._show_choices()
        self.replan()
        self.start()

    @property
    def _steps(self) -> Sequence[PlanStep]:
        return self._proven.steps if self._proven is not None else ()

    def _show_choices(self) -> None:
        kinds = {step.target.kind for step in self._steps}
        for node in self._fields.walk_children(DialogField):
            node.display = node.field.label in kinds

    def planner(self) -> Planner:
        assert self._proven is not None
        return deletion_planner(self._proven)

    def make_plan(self) -> TrackedPlan:
        values = self.values()
        steps = tuple(step for step in self._steps if values[step.target.kind.lower()])
        return TrackedPlan(Plan(self.record, self.now, steps), tuple(step.target for step in steps))

    def more(self) -> list[Paragraph]:
        """Tells who made it, when and for what; and what cannot be proven, with the line that deletes it."""
        if self._unknown:
            return [paragraph(self._unknown, Tone.BAD)]
        if self._proven is None:
            return [paragraph("Looking at what is there …", Tone.DIM)]
        drill = self._drill
        if drill is None:
            return [paragraph("Nothing of it is there any more.")]
        paragraphs = []
        if drill.own:
            left_object = drill.own[-1]
            at = left_object.at
            when = f"{humanize.time(at, self.now, self.service.zone)} " if at is not None else ""
            paragraphs.append(paragraph(f"{when}by {left_object.by}, with foretop", label="Created"))
        if drill.source:
            paragraphs.append(paragraph(drill.source, label="Source"))
        unproven = [_GOING] if drill.is_going else [f"{each.target}: {each.why}" for each in self._proven.refused]
        return [*paragraphs, *map(plan_text.look, unproven)]

    def table(self, plan: Plan) -> PlanTable:
        """All objects of a drill have the same name: they are told apart by kind."""
        rows = tuple((Piece(step.target.kind), Piece(step.forecast)) for step in plan.steps)
        return PlanTable((), (PlanColumn("KIND", 14), PlanColumn("RESULT")), rows)

    def proposal(self, plan: Plan) -> list[Paragraph]:
        return [] if plan.steps or not self._steps else [paragraph("Nothing is deleted: all of it is left alone.")]

    def writes(self, plan: Plan) -> str:
        return "; ".join(step.changes[0] for step in plan.steps)

    def outcome(self) -> Iterator[Paragraph]:
        if self.plan_run is None:
            return
        results = [report.result for report in self.plan_run.told]
        if done := [str(result.step.target) for result in results if result.outcome is Outcome.DONE]:
            yield paragraph(f"Deleted: {humanize.join(done)}.")
        for result in results:
            if result.outcome is not Outcome.DONE:
                why = result.error or result.outcome.value
                yield paragraph(f"{result.step.target} is still there: {why}", Tone.BAD)
        if self.plan_run.problem:
            yield paragraph(self.plan_run.problem, Tone.BAD)
