"""The changes of the last hour; a recording plays, and goes to the moments beside the one that is shown."""

from __future__ import annotations

import asyncio
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
from foretop_core.rooms.archives.playback import TICK, Playback, playback_of
from foretop_core.rooms.archives.steps import StepTarget
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
    *(
        RoomAction(Action(id, (key,), shown, title, ActionGroup.TIME, words=words), after="zone", of_recording=True)
        for id, key, shown, title, words in (
            ("play", "T", "T", "play the recording, or stand still", ("pause", "time")),
            ("slower", "left_curly_bracket", "{", "play slower", ("speed",)),
            ("faster", "right_curly_bracket", "}", "play faster", ("speed",)),
            ("step_back", "comma", ",", "to the one before: finding, phase or change", ("earlier",)),
            ("step_on", "full_stop", ".", "to the next one: finding, phase or change", ("later",)),
            (
                "step_by",
                "equals_sign",
                "=",
                "what those two keys go to: findings, phases of the object, any change",
                ("step",),
            ),
        )
    ),
)
_MOST_LINES = 500
_JUDGED_EACH = 4
"""Ticks of a recording that plays."""


class ChangesScreen(TextScreen):
    """The changes of all clusters, the newest first."""

    def __init__(self, lines: Sequence[Paragraph]) -> None:
        head = Paragraph((Span("Changes of the last hour", BOLD), Span("   the newest first, esc/q close", DIM)))
        super().__init__([head, paragraph(""), *lines])


async def do_changes(host: ActionHost, _: ObjectRef | None) -> None:
    state = host.state
    assert state is not None
    kept = [(context, KeptChanges(state, context, state.now(context) - KEPT_FOR)) for context in state.contexts]
    lines = await in_thread(lambda: [line for context, changes in kept for line in _lines(state, context, changes)])
    host.app.push_screen(ChangesScreen(lines))


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


async def do_play(host: ActionHost, _: ObjectRef | None) -> None:
    """Plays, or stands still."""
    playback = _playback(host)
    if playback is None:
        return
    if playback.is_playing:
        playback.is_playing = False
    else:
        host.run_worker(_play(host, playback))


async def _play(host: ActionHost, playback: Playback) -> None:
    playing, ticks = asyncio.create_task(playback.play(), name="playing a recording"), 0
    while not playing.done():
        await asyncio.wait([playing], timeout=TICK)
        ticks += 1
        if ticks % _JUDGED_EACH:
            host.pulse()
        else:
            _show(host)
    playing.result()
    _show(host)


def _show(host: ActionHost) -> None:
    """Draws what there is now; findings too, which rest for a while between two looks at a cluster."""
    if host.state is not None and not host.state.is_moving:
        host.state.begin_frame()
        host.state.judge(at_once=True)
    host.pulse()


async def do_slower(host: ActionHost, _: ObjectRef | None) -> None:
    _change_speed(host, -1)


async def do_faster(host: ActionHost, _: ObjectRef | None) -> None:
    _change_speed(host, 1)


def _change_speed(host: ActionHost, by: int) -> None:
    if (playback := _playback(host)) is not None:
        playback.change_speed(by)
        host.pulse()


async def do_step_back(host: ActionHost, _: ObjectRef | None) -> None:
    _step(host, -1)


async def do_step_on(host: ActionHost, _: ObjectRef | None) -> None:
    _step(host, 1)


def _step(host: ActionHost, by: int) -> None:
    playback, state, page = _playback(host), host.state, host.page
    if playback is None or state is None or page is None:
        return
    playback.is_playing = False
    host.app.clear_notifications()
    target, key = playback.target, page.subject()
    if target is StepTarget.PHASE and key is None:
        host.app.notify("Phase: put the cursor on an object first")
        return

    async def step() -> None:
        if await playback.step(target, by, key, state.thresholds) is None:
            of = f" of {span(key.name).text}" if target is StepTarget.PHASE and key is not None else ""
            host.app.notify(f"No {'later' if by > 0 else 'earlier'} {target.value}{of} in the recording")
        _show(host)

    host.run_worker(step())


async def do_step_by(host: ActionHost, _: ObjectRef | None) -> None:
    """The next of findings, phases and changes."""
    if (playback := _playback(host)) is not None:
        targets = list(StepTarget)
        playback.target = targets[(targets.index(playback.target) + 1) % len(targets)]
        host.pulse()


def _playback(host: ActionHost) -> Playback | None:
    return playback_of(host.state.source.clusters.values()) if host.state is not None else None
