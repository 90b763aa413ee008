"""One drill being carried out, with what it has left to delete. It outlives its dialog."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from foretop_core.actions.drill_run import DrillResult, DrillRun, delete_made, plan_deletion, require_journal
from foretop_core.actions.planners.drills import DrillRequest, MadeObject
from foretop_core.actions.plans import Plan
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import ForetopError
from foretop_core.models import Backup
from foretop_core.rules import humanize


class DrillProgress:
    """Notifies its dialog of every step, and calls `afterwards` where the dialog was closed."""

    def __init__(
        self,
        service: ActionService,
        plan: Plan,
        backup: Backup,
        request: DrillRequest,
        limit: timedelta,
        afterwards: Callable[[DrillProgress], None],
    ) -> None:
        self.news = "Creating …"
        self.result: DrillResult | None = None
        self.problem = ""
        self.deletion: Plan | None = None
        """What can be deleted now; None where nothing is left of it."""
        self.undeleted: list[str] = []
        self.deleted = ""
        self.is_running = True
        self.listener: Callable[[], None] | None = None
        self._service = service
        self._context = plan.steps[0].target.context
        self._plan = plan
        self._request = request
        self._backup = backup
        self._limit = limit
        self._afterwards = afterwards
        self._made: list[MadeObject] = []

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        if self.result is None:
            return self.problem or f"Drill of {self._request.namespace}: {self.news}"
        return self.result.sentence(self._request.namespace, self._backup.name)

    async def run(self) -> None:
        """The drill itself; what it made is known afterwards, however it ended."""
        await self._service.learn_user(self._context)
        executor = self._service.executor(self._context)
        run = DrillRun(executor, self._backup, self._request)
        try:
            await executor.guard(self._plan)
            await require_journal(executor, self._request.namespace)
            self.result = await run.carry_out(self._plan, self._limit, lambda news: self._tell(f"Restore: {news}"))
        except Exception as problem:
            self.problem = _told(problem)
        self._made = run.made
        await self._look_for_rest()

    async def delete(self) -> None:
        """What was made, after a person has agreed to it."""
        plan, self.is_running = self.deletion, True
        if plan is None:
            return
        self._tell("Deleting …")
        executor = self._service.executor(self._context)
        try:
            await executor.guard(plan)
            self.undeleted = await delete_made(executor, plan)
        except Exception as problem:
            self.undeleted = [_told(problem)]
        self.deleted = "" if self.undeleted else humanize.join([str(step.target) for step in plan.steps], 6)
        await self._look_for_rest()

    async def _look_for_rest(self) -> None:
        try:
            found = await plan_deletion(self._service.executor(self._context), self._made)
            self.deletion = found if found.steps else None
            self.undeleted += [f"{one.target} is still there: {one.why}" for one in found.refused]
        except Exception as problem:
            names = humanize.join([f"{item.kind.lower()} {item.name}" for item in self._made], 6)
            self.undeleted = [f"{names} may still be there: {_told(problem)}"]
        self._end()

    def _end(self) -> None:
        self.is_running = False
        if self.listener is not None:
            self.listener()
        else:
            self._afterwards(self)

    def _tell(self, news: str) -> None:
        self.news = news
        if self.listener is not None:
            self.listener()


def _told(problem: Exception) -> str:
    if isinstance(problem, ForetopError):
        return str(problem)
    return f"Internal error in foretop: {type(problem).__name__}: {problem}"
