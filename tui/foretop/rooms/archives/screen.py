"""The changes of the last hour, on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.dialogs.text_screens import TextScreen
from foretop.main_screen.action_host import ActionHost
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, DIM
from foretop_core.background import in_thread
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.archives.kept_changes import KeptChanges, beginning, cells
from foretop_core.store.change_history import KEPT_FOR
from foretop_core.tables.engine.status_glyphs import Tone

ACTIONS = (
    RoomAction(
        Action(
            "changes",
            (),
            "",
            "what changed in the last hour, and who did it",
            ActionGroup.GO,
            words=("changes",),
        ),
        after="windows",
    ),
)
_MOST_LINES = 500


class ChangesScreen(TextScreen):
    """The changes of all clusters, the newest first."""

    def __init__(self, lines: Sequence[Paragraph], ascii: bool) -> None:
        head = Paragraph((Span("Changes of the last hour", BOLD), Span("   the newest first, esc/q close", DIM)))
        super().__init__([head, paragraph(""), *lines], ascii)


async def do_changes(host: ActionHost, _: ObjectRef | None) -> None:
    state = host.state
    assert state is not None
    kept = [(context, KeptChanges(state, context, state.now(context) - KEPT_FOR)) for context in state.contexts]
    lines = await in_thread(lambda: [line for context, changes in kept for line in _lines(state, context, changes)])
    host.app.push_screen(ChangesScreen(lines, host.display_options.ascii))


def _lines(state: DashboardState, context: str, kept: KeptChanges) -> Iterator[Paragraph]:
    now, zone = state.now(context), state.zone
    changes = kept.listed()
    if len(state.contexts) > 1:
        yield paragraph(context, bold=True)
    for change in changes.changes[:_MOST_LINES]:
        at, subject, text, by = cells(change, now, zone)
        yield Paragraph(
            (Span(f"{at}  ", DIM), span(f"{subject}  "), span(" ".join(filter(None, (text, by))))), indent=4
        )
    if not changes.changes:
        yield Paragraph((span("No changes."),), indent=4)
    if (more := len(changes.changes) - _MOST_LINES) > 0:
        yield Paragraph((span(f"and {more:,} more: foretop get changes prints all"),), indent=4)
    if said := beginning(changes, now - KEPT_FOR, zone):
        yield Paragraph((span(said, Tone.DIM),), indent=4)
