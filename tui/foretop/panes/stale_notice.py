"""The notice beside stale rows: the time of the last update, and why there is none since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo

from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text import times


def _lost(state: DashboardState) -> Iterator[tuple[str, str, datetime]]:
    """The clusters that are lost, each by its name where there are several, and since when."""
    several = len(state.contexts) > 1
    for context in state.contexts:
        moment = state.health(context).lost_at if state.store.revision(context) else None
        if moment is not None:
            yield context, f"{context} " if several else "", moment


def as_of(state: DashboardState) -> str:
    """The clusters that are lost, and to which moment what is shown of them belongs."""
    return ", ".join(
        f"{name}as of {humanize.time(moment, state.clock(context), state.zone)}"
        for context, name, moment in _lost(state)
    )


def seen_ago(state: DashboardState) -> str:
    """`seen 4m ago`: how old what is shown of a lost cluster is; "" where none is lost."""
    return ", ".join(
        f"{name}seen {times.age(moment, state.clock(context))} ago" for context, name, moment in _lost(state)
    )


def stale_paras(state: DashboardState, key: ObjectRef, zone: tzinfo) -> tuple[Paragraph, ...]:
    """Above what a pane tells of an object that may be other by now."""
    if not state.is_stale(key):
        return ()
    health = state.health(key.context)
    since = health.lost_at or health.since
    stamp = f"As of {humanize.time(since, state.clock(key.context), zone)}, " if since else ""
    error = f": {health.error}" if health.error else ""
    return (paragraph(f"{stamp}{health.state.value}{error}", Tone.WARN, yields=True),)


def not_allowed(state: DashboardState) -> str:
    """The kinds that may not be seen, which the header only counts."""
    contexts = (state.focus.context,) if state.focus.context else state.contexts
    kinds = {by_name(name) for context in contexts for name in state.health(context).forbidden}
    plurals = sorted(kind.plural for kind in kinds if kind is not None)
    return f"not allowed to see {humanize.join(plurals, 2)}" if plurals else ""
