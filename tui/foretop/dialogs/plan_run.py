"""One plan being executed: sent object by object, then followed. It outlives its dialog."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from foretop.dialogs.plan_text import StepReport, summary
from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.plans import Planner
from foretop_core.actions.velero_pickup import PICKED_UP_WITHIN, Probe, ProgressReport, follow_write
from foretop_core.dashboard.action_service import ActionService, TrackedPlan
from foretop_core.errors import ForetopError
from foretop_core.logs import logger
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.own_failures import failure_line

_log = logger(__name__)


class PlanRun:
    """A plan in execution; it notifies its dialog of progress, and calls `afterwards` where the dialog was closed."""

    def __init__(
        self, service: ActionService, planned: TrackedPlan, planner: Planner, afterwards: Callable[[PlanRun], None]
    ) -> None:
        self.planned = planned
        self.told: list[StepReport] = []
        self.problem = ""
        self.is_sent = False
        self.listener: Callable[[], None] | None = None
        self._service = service
        self._planner = planner
        self._afterwards = afterwards

    async def run(self) -> None:
        """Sends and follows; what fails is in `problem`, or in what was seen of its object: the dialog shows both.

        What Velero makes of a write may be there before its answer: the time that is told is that of the request.
        """
        plan, service = self.planned.plan, self._service
        probes = [self._probe(place) for place in range(len(plan.steps))]
        try:
            self.problem = await service.refusal(plan, confirmed=True)
            for context in () if self.problem else plan.contexts:
                await service.learn_user(context)
                service.note_sending(plan.part(context))
                sent = service.now(context)
                async for result in service.executor(context).carry_out(plan.part(context), self._planner):
                    self.told.append(StepReport(result, sent))
                    sent = service.now(context)
                    if result.outcome is Outcome.DONE:
                        service.note_done(result)
                    self._tell()
        except Exception as problem:
            if not isinstance(problem, ForetopError):
                _log.exception("sending a plan failed: %s", plan.record.id)
            self.problem = failure_line(problem)
        self.is_sent = True
        was_heard = self.listener is not None
        self._tell()
        by_step = {id(step): probe for step, probe in zip(plan.steps, probes, strict=True)}
        async with asyncio.TaskGroup() as group:
            for place, report in enumerate(self.told):
                probe = by_step.get(id(report.result.step))
                if probe is not None and report.result.outcome is Outcome.DONE:
                    group.create_task(self._follow(place, probe))
        if self.listener is None and (not was_heard or any(report.seen for report in self.told)):
            self._afterwards(self)

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        return summary(self.told, self.problem)

    @property
    def rest(self) -> tuple[ObjectRef, ...]:
        """The objects whose step was not done and may be tried again; where nobody knows, nothing is done twice."""
        steps = [
            report.result.step for report in self.told if report.result.outcome not in (Outcome.DONE, Outcome.UNKNOWN)
        ]
        origins = (self.planned.origin(step) for step in steps)
        return tuple(dict.fromkeys(key for key in origins if key is not None))

    def _probe(self, place: int) -> Probe | None:
        """Made before anything is sent: what is new afterwards is told by what was there before."""
        plan = self.planned.plan
        step = plan.steps[place]
        origin = self.planned.origins[place] if self.planned.origins else None
        try:
            before = self._service.item(origin) if origin else None
            follow = plan.record.follow
            return follow and follow(self._service.snapshot(step.target.context), before, step, plan.at)
        except Exception as problem:
            _log.exception("the probe for %s failed", step.target)
            report = _not_followed(problem)
            return lambda _: report

    async def _follow(self, place: int, probe: Probe) -> None:
        context = self.told[place].result.step.target.context
        within = None if self.planned.plan.record.to_the_end else PICKED_UP_WITHIN
        try:
            async for progress in follow_write(self._service.source.store, context, probe, within):
                self.told[place] = replace(self.told[place], seen=progress)
                self._tell()
        except Exception as problem:
            _log.exception("following %s failed", self.told[place].result.step.target)
            self.told[place] = replace(self.told[place], seen=_not_followed(problem))
            self._tell()

    def _tell(self) -> None:
        """A dialog that cannot be drawn does not keep the rest from being sent."""
        try:
            if self.listener is not None:
                self.listener()
        except Exception:
            _log.exception("drawing the dialog of %s failed", self.planned.plan.record.id)


def _not_followed(problem: Exception) -> ProgressReport:
    return ProgressReport(f"Not followed: {failure_line(problem)}", done=True, well=False)
