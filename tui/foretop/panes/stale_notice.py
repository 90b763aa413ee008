"""What is said beside rows of which nothing new comes in: as of when they are, and why."""

from __future__ import annotations

from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.store import Key
from foretop_core.tables.engine.status_glyphs import Tone


def as_of(desk: DashboardState) -> str:
    """The clusters that are lost, and to which moment what is shown of them belongs."""
    seen = [context for context in desk.contexts if desk.store.revision(context)]
    lost = [(context, at) for context in seen if (at := desk.health(context).lost_at) is not None]
    several = len(desk.contexts) > 1
    return ", ".join(
        f"{f'{context} ' if several else ''}as of {humanize.time(at, desk.clock(context))}" for context, at in lost
    )


def stale_paras(desk: DashboardState, key: Key) -> tuple[Paragraph, ...]:
    """Above what a pane tells of an object that may be other by now."""
    if not desk.is_stale(key):
        return ()
    health = desk.health(key.context)
    since = health.lost_at or health.since
    at = f"As of {humanize.time(since, desk.clock(key.context))}, " if since else ""
    error = f": {health.error}" if health.error else ""
    return (paragraph(f"{at}{health.state.value}{error}", Tone.WARN, yields=True),)


def not_allowed(desk: DashboardState) -> str:
    """The kinds that may not be seen, which the header only counts."""
    contexts = (desk.focus.context,) if desk.focus.context else desk.contexts
    kinds = dict.fromkeys(kind for context in contexts for kind in desk.health(context).forbidden)
    return f"not allowed to see {humanize.join(tuple(kinds), 2)}" if kinds else ""
