"""The text of a dialog: the plan before it is sent, and the result for each object afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec.structs import replace

from foretop.dialogs.action_targets import ActionTargets
from foretop.widgets.paragraphs import LABEL, Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, DIM, style_of_mark
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.plans import VERBS, Plan, PlanStep, Refusal
from foretop_core.actions.velero_pickup import ProgressReport
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import clean, cut, cut_end, width

_DONE_WORDS = {"patch": "patched", "create": "made", "delete": "deleted"}
_COPY = "  c copy"
_GAP = "   "
_SHORTEST_NAME = 12
_BESIDE = 62
"""A line of the smallest dialog, beside its label."""


class StepReport(msgspec.Struct, frozen=True):
    """The outcome of one step, when it was sent, and what was seen of its object since."""

    result: Result
    at: datetime
    seen: ProgressReport | None = None

    def after(self, seen: ProgressReport) -> StepReport:
        return replace(self, seen=seen)


def title(headline: str, name: str, cells: int) -> str:
    """What is done to what; a name that is too long loses its middle: the time at its end tells it apart."""
    return headline.format(cut(clean(name), max(_SHORTEST_NAME, cells - width(headline.format("")))))


def place(keys: Sequence[ObjectRef], cells: int) -> str:
    """The cluster and the namespace, on a line of their own; a context that is too long loses its middle."""
    contexts = tuple(dict.fromkeys(key.context for key in keys))
    spaces = tuple(dict.fromkeys(key.namespace for key in keys))
    where = clean(f", namespace {spaces[0]}" if len(spaces) == 1 else f", {len(spaces)} namespaces")
    if spaces == ("",):
        where = ""  # It is a namespace itself.
    return cut(clean(humanize.join(contexts, 2)), max(_SHORTEST_NAME, cells - width(where))) + where


def proposal(plan: Plan, targets: ActionTargets, cells: int, *, copies: bool = True) -> list[Paragraph]:
    """The warnings, what the changes lead to, the changes, and the line that does the same, with the key to copy it.

    In a small window the end is out of sight.
    """
    said: list[Paragraph] = []
    if targets.hidden:
        said.append(look(f"{targets.hidden} of these {'is' if targets.hidden == 1 else 'are'} hidden by the filter."))
    if plan.steps:
        said += map(look, plan.warnings)
        said += _one(plan.steps[0]) if len(plan.steps) == 1 else _many(plan.steps)
    said += [_refused(refusal, plan) for refusal in plan.refused]
    if not plan.steps:
        said += map(look, plan.warnings)
    if not plan.steps:
        return [*said, paragraph("Nothing to send.")]
    return [*said, command_line(plan.steps, cells, copies=copies)]


def counted(plan: Plan, targets: ActionTargets, noun: str) -> list[str]:
    """How many objects it is about, and how many of those marked it is not about; nothing where it is just one."""
    if len(plan.steps) < 2 and not targets.skipped:
        return []
    many = [humanize.count(len(plan.steps), noun)]
    return many + [f"{count} skipped: {why.removeprefix('it is ')}" for why, count in targets.skipped]


def _refused(refusal: Refusal, plan: Plan) -> Paragraph:
    """In red where nothing is left to be done."""
    alone = not plan.steps and len(plan.refused) == 1
    text = f"Not possible: {refusal.why}." if alone else f"{refusal.target.name} is skipped: {refusal.why}."
    return look(text) if plan.steps else paragraph(text, Tone.BAD)


def command_line(steps: Sequence[PlanStep], cells: int, *, copies: bool = True) -> Paragraph:
    line = clean(steps[0].command)
    if len(steps) > 1:
        line = f"({len(steps)} lines) {line}"
    room = cells - LABEL - len(_COPY)
    how = (Span(_COPY, BOLD),) if copies else ()
    return Paragraph((Span(cut_end(line, room), DIM), *how), "Command")


def commands(plan: Plan) -> str:
    """All the lines, to be copied."""
    return "\n".join(step.command for step in plan.steps)


def changed(result: Result) -> list[Paragraph]:
    """Why a person is asked again."""
    before, after = result.step, result.again
    how = result.error if before.source else f"{before.target} was {result.error}"
    said = [look(f"{how}. Nothing was sent for it.")]
    if before.source:
        return said
    if after is None:
        return [*said, paragraph("The requested change is no longer possible.")]
    for old, new in ((before.changes, after.changes), ((before.forecast,), (after.forecast,))):
        if old != new:
            said += [paragraph(", ".join(old), label="Was"), paragraph(", ".join(new), label="Now", bold=True)]
    return said


def outcome(told: Sequence[StepReport]) -> list[Paragraph]:
    """Object by object, and in one line before them where there are several."""
    if len(told) == 1:
        return _told(told[0], named=False)
    done = sum(one.result.outcome is Outcome.DONE for one in told)
    rest = len(told) - done
    head = f"{done} of {len(told)} done" + (f", {rest} not." if rest else ".")
    return [paragraph(head, bold=True), *(line for one in told for line in _told(one, named=True))]


def summary(told: Sequence[StepReport], problem: str) -> str:
    """The same in one line, for a toast."""
    if problem:
        return problem
    if len(told) == 1:
        name = told[0].result.step.target.name
        return f"{name}: {_result(told[0]).replace(f' · {name}: ', ' · ')}"
    well = sum(one.result.outcome is Outcome.DONE and (one.seen is None or one.seen.well) for one in told)
    return f"{well} of {len(told)} done, picked up"


def _one(step: PlanStep) -> list[Paragraph]:
    """What speaks against it, what it leads to, and then what is written."""
    result = paragraph(step.forecast_and_progress, label="Result")
    return [*map(look, step.warnings), result, *_written(step.changes)]


def _written(changes: Sequence[str]) -> list[Paragraph]:
    """Short ones beside each other, long ones below each other."""
    lines: list[str] = []
    for change in changes:
        if lines and width(lines[-1]) + width(change) + len(_GAP) <= _BESIDE:
            lines[-1] += f"{_GAP}{change}"
        else:
            lines.append(change)
    return [paragraph(line, label=" " if at else "Write") for at, line in enumerate(lines)]


def _many(steps: Sequence[PlanStep]) -> list[Paragraph]:
    """What they all lead to and what is written to all of them once, and for each what is its own.

    Long changes of single ones come last: they would drown what the action leads to.
    """
    common = [change for change in steps[0].changes if all(change in step.changes for step in steps)]
    own = [", ".join(change for change in step.changes if change not in common) for step in steps]
    is_brief = all(width(text) <= _BESIDE for text in own)
    forecasts = {step.forecast_and_progress for step in steps}
    said = [paragraph(step.forecast_and_progress, label="Each") for step in steps[:1] if len(forecasts) == 1]
    said += _written(common)
    wide = min(28, max(len(step.target.name) for step in steps))
    for step, changes in zip(steps, own, strict=True):
        forecast = step.forecast_and_progress if len(forecasts) > 1 else ""
        extra = f"({changes})" if changes and is_brief else ""
        said.append(_named(step, " ".join(filter(None, (forecast, extra))), wide))
        said += [look(warning, wide + 2) for warning in step.warnings]
    if is_brief:
        return said
    written = [_named(step, changes, 0, indent=4) for step, changes in zip(steps, own, strict=True)]
    return [*said, paragraph("for each of them:", label="Write"), *written]


def _named(step: PlanStep, text: str, wide: int, *, indent: int = 0) -> Paragraph:
    return Paragraph((span(f"{step.target.name:<{wide}}  ", bold=True), span(text)), indent=indent or wide + 2)


def _told(told: StepReport, *, named: bool) -> list[Paragraph]:
    result = told.result
    mark = _mark(told)
    words_said = _result(told)
    name = (span(f"{result.step.target.name}  ", bold=True),) if named else ()
    return [Paragraph((Span(f"{mark.value} ", style_of_mark(mark)), *name, span(words_said)), indent=2)]


def _result(told: StepReport) -> str:
    result = told.result
    match result.outcome:
        case Outcome.DONE:
            plan_run = f"{_DONE_WORDS[VERBS[result.step.write.method]]} {humanize.time(told.at, told.at)}"
            return " · ".join(filter(None, (plan_run, told.seen.sentence if told.seen else "", result.error)))
        case Outcome.FAILED:
            return f"failed: {result.error}"
        case Outcome.CHANGED:
            return f"{result.error}, nothing was sent"
        case Outcome.NOT_SENT:
            return f"not sent: {result.error}"
        case Outcome.UNKNOWN:
            return f"result unknown: {result.error}"
        case _:
            assert_never(result.outcome)


def _mark(told: StepReport) -> StatusGlyph:
    match told.result.outcome:
        case Outcome.DONE:
            if told.seen is None:
                return StatusGlyph.TRUE
            if not told.seen.done:
                return StatusGlyph.RUNNING
            return StatusGlyph.TRUE if told.seen.well else StatusGlyph.LOOK
        case Outcome.FAILED:
            return StatusGlyph.BROKEN
        case Outcome.CHANGED | Outcome.UNKNOWN:
            return StatusGlyph.LOOK
        case Outcome.NOT_SENT:
            return StatusGlyph.WAITING
        case _:
            assert_never(told.result.outcome)


def look(text: str, indent: int = 0) -> Paragraph:
    return Paragraph(
        (Span(" " * indent), Span(f"{StatusGlyph.LOOK.value} ", style_of_mark(StatusGlyph.LOOK)), span(text)),
        indent=indent + 2,
    )
