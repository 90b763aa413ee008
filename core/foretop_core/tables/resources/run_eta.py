"""The start or end of an unfinished run in the few characters of a row; its facts have the sentence of the pane."""

from __future__ import annotations

from typing import assert_never

from foretop_core.rules.facts.run_facts import Run, RunFacts, RunState
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.text import times


def run_eta(run: Run, render: RenderContext) -> str:
    """`~02:46`, `5m → 02:46`, `5m → after 03:37`, `stalled 18m`; "" for a run that has ended."""
    facts = render.facts(run)
    held = times.short(facts.held_for) if facts.held_for is not None else ""
    match facts.state:
        case RunState.ENDED:
            return ""
        case RunState.NOT_KNOWN:
            return NOT_KNOWN_YET
        case RunState.SERVER_SILENT:
            return f"{facts.server.word} {held}"
        case RunState.STORAGE_HANGS | RunState.STALLED:
            return f"stalled {held}"
        case RunState.REFUSED:
            return "refused"
        case RunState.WAITS:
            return _start(facts, render)
        case RunState.WAITS_FOR_VOLUME:
            return _after_volume(facts, held, render)
        case RunState.RUNS:
            return _end(facts, render)
    assert_never(facts.state)


def _start(facts: RunFacts, render: RenderContext) -> str:
    at, item = facts.expected_start, facts.item
    if at is None:
        return "not known"
    held = " held" if item is not None and item.is_held_by_namespace else ""
    return f"~{render.estimate(at, facts.run)}{held}"


def _after_volume(facts: RunFacts, held: str, render: RenderContext) -> str:
    """A run whose other volumes move does not wait: only one of its volumes does."""
    so_far = _so_far(facts)
    if facts.not_before is not None:
        return f"{so_far}→ after {render.estimate(facts.not_before, facts.run)}"
    return f"{so_far}→ ?" if facts.data.moving else f"waits {held}"


def _end(facts: RunFacts, render: RenderContext) -> str:
    """How long it has run, and until when it should."""
    so_far, at = _so_far(facts), facts.expected_end
    if at is not None:
        return f"{so_far}→ {render.estimate(at, facts.run)}"
    return f"{so_far}finishing" if facts.run.phase not in HOLDS_SLOT else f"{so_far}→ ?"


def _so_far(facts: RunFacts) -> str:
    length = facts.item.running_for if facts.item is not None else None
    return f"{times.short(length)} " if length is not None else ""
