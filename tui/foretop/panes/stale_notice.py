"""The notice beside stale rows: the time of the last update, and why there is none since."""

from __future__ import annotations

from datetime import tzinfo

from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.status_glyphs import Tone


def as_of(state: DashboardState) -> str:
    """The clusters that are lost, and to which moment what is shown of them belongs."""
    seen = [context for context in state.contexts if state.store.revision(context)]
    lost = [(context, at) for context in seen if (at := state.health(context).lost_at) is not None]
    several = len(state.contexts) > 1
    return ", ".join(
        f"{f'{context} ' if several else ''}as of {humanize.time(at, state.clock(context), state.zone)}"
        for context, at in lost
    )


def stale_paras(state: DashboardState, key: ObjectRef, zone: tzinfo) -> tuple[Paragraph, ...]:
    """Above what a pane tells of an object that may be other by now."""
    if not state.is_stale(key):
        return ()
    health = state.health(key.context)
    since = health.lost_at or health.since
    at = f"As of {humanize.time(since, state.clock(key.context), zone)}, " if since else ""
    error = f": {health.error}" if health.error else ""
    return (paragraph(f"{at}{health.state.value}{error}", Tone.WARN, yields=True),)


def not_allowed(state: DashboardState) -> str:
    """The kinds that may not be seen, which the header only counts."""
    contexts = (state.focus.context,) if state.focus.context else state.contexts
    kinds = {by_name(name) for context in contexts for name in state.health(context).forbidden}
    plurals = sorted(kind.plural for kind in kinds if kind is not None)
    return f"not allowed to see {humanize.join(plurals, 2)}" if plurals else ""
