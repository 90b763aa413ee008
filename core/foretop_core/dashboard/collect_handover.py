"""The hand-over of a running dashboard: its findings, its clusters and the journal of the person."""

from __future__ import annotations

from collections.abc import Mapping

from foretop_core.actions.journal import Journal, JournalEntry, default_path
from foretop_core.dashboard.handover import Handover
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError


async def handover_of(state: DashboardState, environ: Mapping[str, str]) -> Handover:
    """As of now; a journal that cannot be read costs its own part only."""
    journal: tuple[JournalEntry, ...] = ()
    problem = ""
    try:
        journal = await Journal(default_path(environ)).read_in_thread()
    except ForetopError as found:
        problem = str(found)
    return Handover(
        tuple((state.store.snapshot(context), state.now(context)) for context in state.contexts),
        state.findings,
        state.acknowledged,
        state.unseen,
        tuple(entry for entry in journal if entry.context in state.contexts),
        problem,
    )
