"""The text of a dialog: the plan before it is sent, and the result for each object afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import assert_never

import msgspec

from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_parts import NO_TABLE
from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, signed, span, wrap
from foretop.widgets.styles import BOLD, DIM, style_of_mark
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.plans import VERBS, Plan, PlanStep
from foretop_core.actions.velero_pickup import ProgressReport
from foretop_core.dashboard.plan_table import (
    Lines,
    PlanColumn,
    PlanTable,
    common_changes,
    plan_table,
    written,
)
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import cut, unsigned, width

_DONE_WORDS = {"patch": "patched", "create": "made", "delete": "deleted"}
_COPY = "c copy command"
_GAP = "  "
_SHORTEST_NAME = 12
_SHORTEST_RESULT = 16
_BESIDE_RESULT = 7
"""Cells beside a result: the sign of its outcome, the gaps and the margins."""
_MOST_DIFFERENCES = 3
_MARKS = {
    Outcome.FAILED: StatusGlyph.BROKEN,
    Outcome.CHANGED: StatusGlyph.LOOK,
    Outcome.UNKNOWN: StatusGlyph.LOOK,
    Outcome.NOT_SENT: StatusGlyph.WAITING,
}
_WORST_FIRST = (
    StatusGlyph.BROKEN,
    StatusGlyph.LOOK,
    StatusGlyph.WAITING,
    StatusGlyph.RUNNING,
    StatusGlyph.TRUE,
)


class StepReport(msgspec.Struct, frozen=True):
    """The outcome of one step, when it was sent, and what was seen of its object since."""

    result: Result
    at: datetime
    seen: ProgressReport | None = None
    undone: str = ""
    """`put back by argocd-controller`, where somebody did."""

    @property
    def name(self) -> str:
        return self.result.step.target.name

    @property
    def is_done(self) -> bool:
        return self.result.outcome is Outcome.DONE

    @property
    def sentence(self) -> str:
        """`patched 02:31:07Z · skips what was due`."""
        result = self.result
        match result.outcome:
            case Outcome.DONE:
                sent = f"{_DONE_WORDS[VERBS[result.step.write.method]]} {humanize.time(self.at, self.at)}"
                since = self.undone or (self.seen.sentence if self.seen else "")
                return " · ".join(filter(None, (sent, since, result.error)))
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

    @property
    def mark(self) -> StatusGlyph:
        if not self.is_done:
            return _MARKS[self.result.outcome]
        if self.undone:
            return StatusGlyph.LOOK
        if self.seen is not None and not self.seen.done:
            return StatusGlyph.RUNNING
        return StatusGlyph.TRUE if self.seen is None or self.seen.well else StatusGlyph.LOOK


def title(headline: str, name: str, cells: int) -> str:
    """The title of a dialog; a name that is too long loses its middle: the time at its end tells it apart."""
    return headline.format(cut(unsigned(name), max(_SHORTEST_NAME, cells - width(headline.format("")))))


def place(keys: Sequence[ObjectRef], cells: int) -> str:
    """The cluster and the namespace; a context that is too long loses its middle."""
    contexts = tuple(dict.fromkeys(key.context for key in keys))
    spaces = tuple(dict.fromkeys(key.namespace for key in keys))
    where = unsigned(f", {spaces[0]}" if len(spaces) == 1 else f", {len(spaces)} namespaces")
    if spaces == ("",):
        where = ""  # It is a namespace itself.
    return cut(unsigned(humanize.join(contexts, 2)), max(_SHORTEST_NAME, cells - width(where))) + where


def warnings(plan: Plan, targets: ActionTargets) -> list[Paragraph]:
    """All that speaks against it, which is read before anything else: each once, with the objects that it is about."""
    steps, refused = plan.steps, plan.refused
    lines = [f"{targets.hidden} of these {'is' if targets.hidden == 1 else 'are'} hidden by the filter."]
    lines = [*(lines if targets.hidden else []), *plan.warnings]
    for warning, names in _names_by((text, step.target.name) for step in steps for text in step.warnings).items():
        lines.append(warning if len(names) == len(steps) else f"{humanize.join(names)}: {warning}")
    alone = not steps and len(refused) == 1
    refusals = [
        f"Not possible: {why}."
        if alone
        else f"{humanize.join(names)} {'is' if len(names) == 1 else 'are'} left out: {why}."
        for why, names in _names_by((refusal.why, refusal.target.name) for refusal in refused).items()
    ]
    # In red where nothing is left to be done.
    left_out = map(look, refusals) if steps else (paragraph(text, Tone.BAD) for text in refusals)
    return [*map(look, lines), *left_out]


def _names_by(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """By what is said of them, the names of objects."""
    names: dict[str, list[str]] = {}
    for text, name in pairs:
        names.setdefault(text, []).append(name)
    return names


def proposal(plan: Plan) -> list[Paragraph]:
    """The result of a single change; of several the table tells it."""
    if not plan.steps:
        return [paragraph("Nothing to send.")]
    return [paragraph(plan.steps[0].forecast_and_progress, label="Then")] if len(plan.steps) == 1 else []


def table(plan: Plan, lines: Lines) -> PlanTable:
    """A row for each object, where there are several."""
    return plan_table(plan, lines) if len(plan.steps) > 1 else NO_TABLE


def sentence(pieces: Sequence[Piece], label: str = "") -> Paragraph:
    """A sentence of the core, each piece in its tone; a sign is a piece of its own."""
    return Paragraph(tuple((signed if piece.is_sign else span)(piece.text, piece.tone) for piece in pieces), label)


def skipped(targets: ActionTargets) -> list[str]:
    """How many of those marked it is not about, and why."""
    return [f"{count} left out: {why.removeprefix('it is ')}." for why, count in targets.skipped]


def listed(label: str, lines: Sequence[str]) -> list[Paragraph]:
    """A paragraph for each, the label before the first."""
    return [paragraph(text, label=" " if index else label) for index, text in enumerate(lines)]


def writes(steps: Sequence[PlanStep], cells: int, *, copies: bool = True) -> list[Paragraph]:
    """The lines on what is written, and how to copy the command."""
    return written_lines(written_by(steps), cells, copies=copies)


def written_by(steps: Sequence[PlanStep]) -> str:
    """All that is written, once for all objects; what differs is in the table."""
    if len(steps) < 2:
        return written(change for step in steps for change in step.changes)
    text = written(common_changes(steps))
    text = f"{text}, on each of {len(steps)}" if text else f"{len(steps)} changes, one for each"
    return "; ".join([text, *_own_changes(steps)])


def _own_changes(steps: Sequence[PlanStep]) -> list[str]:
    """The changes to some of them only, where the table tells facts in the place of changes."""
    if any(step.effect is None for step in steps):
        return []
    common = common_changes(steps)
    counted = Counter(written([change for change in step.changes if change not in common]) for step in steps)
    counted.pop("", None)
    changes = [f"{text}, on {number}" for text, number in counted.most_common(_MOST_DIFFERENCES)]
    rest = sum(counted.values()) - sum(number for _, number in counted.most_common(_MOST_DIFFERENCES))
    return [*changes, f"and other changes, on {rest}"] if rest else changes


def written_lines(text: str, cells: int, *, copies: bool = True) -> list[Paragraph]:
    """The lines of what is written, if anything; at the end of the last one, or below it, the key that copies it."""
    if not text:
        return []
    lines = [Paragraph(line) for line in wrap([paragraph(text, label="Writes")], cells)]
    if not copies:
        return lines
    free = cells - line_width(lines[-1].spans) - width(_COPY)
    if free < len(_GAP):
        lines.append(Paragraph(()))
        free = cells - width(_COPY)
    key, word = _COPY.split(" ", 1)
    how = (Span(" " * free), Span(key, BOLD), Span(f" {word}", DIM))
    return [*lines[:-1], Paragraph((*lines[-1].spans, *how))]


def commands(plan: Plan) -> str:
    """All the lines, to be copied."""
    return "\n".join(step.command for step in plan.steps)


def asked_again(result: Result) -> list[Paragraph]:
    """Why a person is asked again; nothing of what was done, or may have been."""
    before, after, name = result.step, result.again, result.step.target.name
    match result.outcome:
        case Outcome.FAILED:
            return [paragraph(f"{name} failed: {result.error}. Nothing was changed.", Tone.BAD)]
        case Outcome.NOT_SENT:
            return [paragraph(f"{name} was not sent: {result.error}.", Tone.BAD)]
        case Outcome.DONE | Outcome.UNKNOWN:
            return []
        case Outcome.CHANGED:
            how = result.error if before.source else f"{before.target} was {result.error}"
            lines = [look(f"{how}. Nothing was sent for it.")]
        case _:
            assert_never(result.outcome)
    if before.source:
        return lines
    if after is None:
        return [*lines, paragraph("The requested change is no longer possible.")]
    for old, new in ((before.changes, after.changes), ((before.forecast,), (after.forecast,))):
        if old != new:
            lines += [paragraph(", ".join(old), label="Was"), paragraph(", ".join(new), label="Now", bold=True)]
    return lines


def outcome(reports: Sequence[StepReport]) -> list[Paragraph]:
    """Tells what became of one object; of several how many were done, and each reason why not with its objects."""
    if len(reports) == 1:
        mark = reports[0].mark
        sign = Span(f"{mark.value} ", style_of_mark(mark))
        return [Paragraph((sign, span(reports[0].sentence)), indent=2)]
    undone = sum(bool(report.undone) for report in reports)
    unfinished = [report for report in reports if not report.is_done]
    done = len(reports) - len(unfinished) - undone
    others = ((undone, "undone"), (len(unfinished), "not"))
    head = f"{done} of {len(reports)} done{''.join(f', {number} {how}' for number, how in others if number)}."
    why = _names_by((report.sentence, report.name) for report in unfinished)
    reasons = (paragraph(f"{humanize.join(names, 5)}: {reason}.", Tone.BAD) for reason, names in why.items())
    return [paragraph(head, bold=True), *reasons]


def outcome_table(reports: Sequence[StepReport], cells: int) -> PlanTable:
    """The result of each, those that were not done first; a reason that they share stands above.

    A result that is longer than its column goes on in the next rows: it could be read nowhere else.
    """
    if len(reports) < 2:
        return NO_TABLE
    reasons = {report.sentence for report in reports if not report.is_done}
    size = min(40, max(24, *(width(unsigned(report.name)) for report in reports)))
    rows: list[tuple[Piece, ...]] = []
    for report in sorted(reports, key=lambda report: _WORST_FIRST.index(report.mark)):
        result = report.result.outcome.value if {report.sentence} == reasons else report.sentence
        lines = wrap([paragraph(result)], max(_SHORTEST_RESULT, cells - size - _BESIDE_RESULT))
        begin = Piece(report.mark.value, report.mark.tone), Piece(report.name)
        for line in lines:
            rows.append((*begin, Piece("".join(piece.text for piece in line))))
            begin = Piece(""), Piece("")
    return PlanTable((), (PlanColumn("", 1), PlanColumn("NAME", size), PlanColumn("RESULT")), tuple(rows))


def summary(reports: Sequence[StepReport], problem: str) -> str:
    """The same in one line, for a toast and the list of messages."""
    if problem:
        return problem
    if len(reports) == 1:
        name = reports[0].name
        return f"{name}: {reports[0].sentence.replace(f' · {name}: ', ' · ')}"
    if unfinished := [report for report in reports if not report.is_done]:
        names = humanize.join([report.name for report in unfinished])
        done = len(reports) - len(unfinished)
        return f"{done} of {len(reports)} done; not {names}: {unfinished[0].sentence}"
    well = sum(report.seen is None or report.seen.well for report in reports)
    return f"{well} of {len(reports)} done, picked up"


def look(text: str, indent: int = 0) -> Paragraph:
    return Paragraph(
        (Span(" " * indent), Span(f"{StatusGlyph.LOOK.value} ", style_of_mark(StatusGlyph.LOOK)), span(text)),
        indent=indent + 2,
    )
