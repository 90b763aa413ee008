"""Reports a write: plan, results and consequences, as text under way or as one JSON or YAML list at the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foretop.commands.output import emit, say_signed, say_to
from foretop_core.actions.plan_executor import Result
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.dashboard.plan_table import Lines, common_changes, plan_table
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.json_items import as_list

_TABLE_CELLS = 96
_SIGNS = {"done": "✓", "failed": "✗", "changed": "▲", "not sent": "✗", "unknown": "▲"}


class ActionReporter:
    """The output of a write: text as it happens; with JSON or YAML only the plan to confirm, on standard error."""

    def __init__(self, form: str, context: str, asks: bool) -> None:
        self._form = form
        self._silent = form != "text" and not asks
        self._context = context
        self._items: dict[ObjectRef, dict[str, Any]] = {}

    def plan(self, plan: Plan, lines: Lines | None = None) -> None:
        """Shows it; several with facts to compare as the table of the dashboard, by the `lines` of their servers."""
        count = len(plan.steps)
        what = f"{count} objects" if count != 1 else str(plan.steps[0].target)
        if count:
            self._say(f"{plan.record.title}: {what} in {self._context}")
        if lines is not None and count > 1 and all(step.effect is not None for step in plan.steps):
            self._table(plan, lines)
        else:
            for step in plan.steps:
                self._step(step, alone=count == 1)
        for warning in plan.warnings:
            self._say(f"  {warning}")
        for refusal in plan.refused:
            self._say(f"{refusal.target}: {refusal.why}", sign="  ✗ ")
            self._items[refusal.target] = {**_identity(refusal.target), "result": "refused", "error": refusal.why}

    def result(self, result: Result) -> None:
        target, outcome = result.step.target, result.outcome.value
        self._items[target] = _item(result.step, outcome, result.error)
        if result.again is not None:
            self._items[target]["again"] = _item(result.again, "planned", "")
        if self._form == "text":
            error = f": {result.error}" if result.error else ""
            say_to(f"{target} {outcome}{error}", sign=f"{_SIGNS[outcome]} ")

    def news(self, step: PlanStep, sentence: str) -> None:
        """Adds what the watches have told since."""
        self._items[step.target]["followed"] = sentence
        if self._form == "text":
            name = f"{step.target.name}: " if len(self._items) > 1 else ""
            say_to(f"  {name}{sentence}")

    def undone(self, step: PlanStep, sentence: str) -> None:
        """Adds that somebody else has undone it."""
        self._items[step.target]["undone"] = sentence
        if self._form == "text":
            say_to(f"{step.target}: {sentence}", sign="▲ ")

    def close(self, planned: Iterable[PlanStep] = ()) -> None:
        for step in planned:
            self._items[step.target] = _item(step, "planned", "")
        if self._form != "text":
            emit(as_list(self._items.values()), self._form)

    def _table(self, plan: Plan, lines: Lines) -> None:
        """A row for each, what is written to all of them once, and the command of each with what is its own."""
        table, common = plan_table(plan, lines), common_changes(plan.steps)
        for line in (table.text, *table.lines(_TABLE_CELLS)) if not self._silent else ():
            say_signed(f"  {line}", err=self._form != "text")
        self._say(f"  Writes, to each of {len(plan.steps)}:")
        for change in common:
            self._say(f"    {change}")
        for step in plan.steps:
            for change in step.changes:
                if change not in common:
                    self._say(f"    {step.target.name}: {change}")
            for warning in step.warnings:
                self._say(f"{step.target.name}: {warning}", sign="    ▲ ")
        for step in plan.steps:
            self._say(f"    {step.command}")

    def _step(self, step: PlanStep, alone: bool) -> None:
        if not alone:
            self._say(f"  {step.target.namespace}/{step.target.name}: {step.forecast_and_progress}")
        else:
            self._say(f"  {step.forecast_and_progress}")
        for change in step.changes:
            self._say(f"    {change}")
        for warning in step.warnings:
            self._say(warning, sign="    ▲ ")
        self._say(f"    {step.command}")

    def _say(self, line: str, *, sign: str = "") -> None:
        if not self._silent:
            say_to(line, err=self._form != "text", sign=sign)


def _item(step: PlanStep, result: str, error: str) -> dict[str, Any]:
    return {
        **_identity(step.target),
        "result": result,
        "error": error or None,
        "method": step.write.method,
        "patch": step.write.body,
        "changes": list(step.changes),
        "forecast": step.forecast_and_progress,
        "warnings": list(step.warnings),
        "command": step.command,
    }


def _identity(target: ObjectRef) -> dict[str, Any]:
    return {
        "context": target.context,
        "kind": target.kind,
        "namespace": target.namespace,
        "name": target.name,
    }
