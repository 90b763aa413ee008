"""The line of a recording above the keys: whether it plays, its moment, its span, and where in that one is."""

from __future__ import annotations

from foretop.bindings import key_name
from foretop.pages.page import WIDE
from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.rooms.archives.playback import playback_of
from foretop_core.tables.engine.drawings import line
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import cut, pad

_LEAST_BAR = 6


def time_line(state: DashboardState, cells: int) -> Line:
    """Nothing where no recording is shown."""
    playback = playback_of(state.source.clusters.values())
    if playback is None:
        return ()
    begin, now, end = (moment.astimezone(state.zone) for moment in (playback.begin, playback.now, playback.end))
    form = "%H:%M:%S" if begin.date() == end.date() else "%d %b %H:%M:%S"
    sign, tone = ("▸", Tone.RUNNING) if playback.is_playing else ("‖", Tone.PAUSED)
    left = (Span(f" {sign} ×{playback.speed:<5}", style_of(tone)), Span(f"{now:{form}}", BOLD), Span("  "))
    steps = f"{key_name('step_back')} {key_name('step_on')} {playback.target.value}"
    keys: Line = (Span(f"  {steps}", DIM),)
    if cells >= WIDE:
        does = "stand still" if playback.is_playing else "play"
        others = f"{key_name('step_by')} others  {key_name('play')} {does}"
        keys = (*keys, Span(f"  {others}  {key_name('slower')} {key_name('faster')} pace ", DIM))
    share = (now - begin) / (end - begin) if end > begin else 1.0
    place = (Span(f" {int(share * 100):>3}%  "), Span(f"{begin:{form}}–{end:{form}}"))
    if playback.here:
        room = cells - sum(map(line_width, (left, place)))
        return (*left, span(pad(cut(playback.here, room), room), bold=True), *place)
    room = cells - sum(map(line_width, (left, place, keys)))
    if room < _LEAST_BAR:
        keys, room = (), cells - sum(map(line_width, (left, place)))
    bar = line(int(share * 1000), max(room, 0), tone)
    return (*left, *(Span(piece.text, style_of(piece.tone)) for piece in bar), *place, *keys)
