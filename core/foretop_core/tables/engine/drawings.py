"""Bars and strips within a cell, drawn for the room that the cell has.

Lines are shares, blocks are times: `━━━╸───` is how much of a whole, `▆▆▆` how long something takes, `░░` how long it
waits, and `▁▃█` are the lengths of runs.
"""

from __future__ import annotations

from datetime import timedelta
from functools import lru_cache

import msgspec

from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import cut_end, pad, width

LEAST_BAR = 6
"""A bar of fewer cells tells nothing: its number stands alone."""
_NUMBER = 4
"""Room for the number after a bar."""
LENGTH = 6
"""Room for how long something took: `59m59s`."""
_LINE, _HALF, _TRACK = "━╸─"
_BLOCK, _QUARTERS = "█", ("", "▍", "▋", "▉")
_ASCII_LINE, _ASCII_HALF, _ASCII_TRACK = "=-."
_RUN, _WAIT, _SHORT_RUN = "▆░▎"
_ASCII_RUN, _ASCII_WAIT, _ASCII_SHORT_RUN = "#:'"

LEVELS = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS = dict(zip(LEVELS, "__--####", strict=True))
_LEVEL_ENDS = (0.3, 0.7, 1.3, 1.7, 2.2, 3.0, 4.0)
"""A run is at the first level whose share of the usual length it does not exceed, else at the last one."""
USUAL_LEVEL = LEVELS[2]
RUN_SIGNS = {"w": "w", "P": "P", "F": "F", "V": "V", "_": "×", "‖": "‖", "o": "○", "~": "◐"}
"""The signs in a strip of the runs that are not good, by the letters of the facts."""
_ASCII_SIGNS = {"×": "x", "‖": "=", "○": ".", "◐": "~"}
SIGN_TONES = {
    "w": Tone.WARN,
    "P": Tone.WARN,
    "F": Tone.BAD,
    "V": Tone.BAD,
    "×": Tone.BAD,
    "‖": Tone.PAUSED,
    "○": Tone.WAITING,
    "◐": Tone.RUNNING,
}


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A part of a cell in one tone."""

    text: str
    tone: Tone = Tone.PLAIN
    bold: bool = False

    @property
    def is_sign(self) -> bool:
        """True of bars and glyphs alone: no object has said any of it."""
        return not any(map(str.isalnum, self.text))


def line(permille: int, cells: int, tone: Tone, *, ascii: bool = False) -> tuple[Piece, ...]:
    """A share of so many thousandths in half cells over its track; only the whole is drawn full, and never more."""
    full, half, track = (_ASCII_LINE, _ASCII_HALF, _ASCII_TRACK) if ascii else (_LINE, _HALF, _TRACK)
    halves = max(0, min(2 * cells, permille * 2 * cells // 1000))
    if permille > 0:
        halves = max(1, halves)
    drawn = f"{full * (halves // 2)}{half * (halves % 2)}"
    rest = cells - len(drawn)
    return tuple(piece for piece in (Piece(drawn, tone), Piece(track * rest, Tone.FAINT)) if piece.text)


def large_line(permille: int, cells: int, tone: Tone) -> tuple[Piece, ...]:
    """The one large bar of a pane: a share in quarters of a cell over its track; only the whole is drawn full."""
    quarters = max(0, min(4 * cells, permille * 4 * cells // 1000))
    drawn = f"{_BLOCK * (quarters // 4)}{_QUARTERS[quarters % 4]}"
    return Piece(drawn, tone), Piece(_TRACK * (cells - len(drawn)), Tone.FAINT)


class ShareBar(msgspec.Struct, frozen=True, gc=False):
    """How much of a whole is done or used up, followed by its number."""

    permille: int
    tone: Tone = Tone.RUNNING

    def pieces(self, text: str, tone: Tone, cells: int, *, ascii: bool) -> tuple[Piece, ...]:
        room = cells - 1 - max(_NUMBER, width(text))
        if room < LEAST_BAR:
            return (Piece(pad(cut_end(text, cells), cells, right=True), tone),)
        return (
            *line(self.permille, room, self.tone, ascii=ascii),
            Piece(pad(text, cells - room, right=True), tone),
        )


class TimeBar(msgspec.Struct, frozen=True, gc=False):
    """A wait and a run on an axis that begins now, in thousandths of it; a run of its own begins at once."""

    wait: int
    run: int
    tone: Tone = Tone.DIM
    letter: str = ""

    def pieces(self, text: str, tone: Tone, cells: int, *, ascii: bool) -> tuple[Piece, ...]:
        number = f" {text}" if text else ""
        room = cells - len(self.letter) - width(number)
        if room < LEAST_BAR:
            return (Piece(pad(cut_end(text, cells), cells, right=True), tone),)
        runs, waits, short = (_ASCII_RUN, _ASCII_WAIT, _ASCII_SHORT_RUN) if ascii else (_RUN, _WAIT, _SHORT_RUN)
        before = min(room - 1, (self.wait * room + 500) // 1000)
        end = min(room, ((self.wait + self.run) * room + 500) // 1000)
        drawn = runs * (end - before) or short
        rest = room - before - len(drawn)
        pieces = (
            Piece(waits * before, Tone.WAITING),
            Piece(drawn, self.tone),
            Piece(self.letter, self.tone, bold=True),
            Piece(" " * rest),
            Piece(number, tone),
        )
        return tuple(piece for piece in pieces if piece.text)


class LengthBar(msgspec.Struct, frozen=True, gc=False):
    """How long something took against the longest in sight, in seconds, before its number; the number alone else."""

    length: float
    tone: Tone
    longest: float = 0.0

    def pieces(self, text: str, tone: Tone, cells: int, *, ascii: bool) -> tuple[Piece, ...]:
        number = pad(cut_end(text, cells), min(cells, LENGTH), right=True)
        if self.longest <= 0:
            return (Piece(pad(number, cells, right=True), tone),)
        share = round(1000 * min(1.0, self.length / self.longest))
        return TimeBar(0, share, self.tone).pieces(number, tone, cells, ascii=ascii)


class RunStrip(msgspec.Struct, frozen=True):
    """A mark for each of the last runs, the newest at the right edge; as many as the cell has room for."""

    marks: str

    def pieces(self, text: str, tone: Tone, cells: int, *, ascii: bool) -> tuple[Piece, ...]:
        shown = self.marks[-cells:] if cells > 0 else ""
        pieces = [Piece(" " * (cells - len(shown)))] if cells > len(shown) else []
        place = 0
        while place < len(shown):
            mark = shown[place]
            end = place + 1
            if mark in LEVELS:
                while end < len(shown) and shown[end] in LEVELS:
                    end += 1
                band = shown[place:end]
                pieces.append(Piece("".join(map(_ASCII_LEVELS.__getitem__, band)) if ascii else band, Tone.GOOD))
            else:
                while end < len(shown) and shown[end] == mark:
                    end += 1
                sign = _ASCII_SIGNS.get(mark, mark) if ascii else mark
                pieces.append(Piece(sign * (end - place), SIGN_TONES[mark], bold=True))
            place = end
        return tuple(pieces)


class Signs(msgspec.Struct, frozen=True):
    """Glyphs of states, each in its own colour."""

    glyphs: tuple[StatusGlyph, ...]

    def pieces(self, text: str, tone: Tone, cells: int, *, ascii: bool) -> tuple[Piece, ...]:
        shown = self.glyphs[:cells]
        return (*(Piece(glyph.value, glyph.tone) for glyph in shown), Piece(" " * (cells - len(shown))))


Drawing = ShareBar | TimeBar | LengthBar | RunStrip | Signs


def run_level(length: timedelta | None, usual: timedelta | None) -> str:
    """The mark of a good run: how long it took, against what is usual; the usual one where that is not known."""
    if length is None or not usual:
        return USUAL_LEVEL
    share = length / usual
    return LEVELS[sum(share > end for end in _LEVEL_ENDS)]


@lru_cache(maxsize=1024)
def run_marks(runs: tuple[tuple[str, timedelta | None], ...], usual: timedelta | None) -> str:
    """The marks of runs by letter and length, oldest first: a level for a good one, a sign for every other.

    Remembered, because they are drawn each second and seldom change.
    """
    return "".join(RUN_SIGNS.get(letter) or run_level(length, usual) for letter, length in runs)


def bar(done: int, total: int, cells: int) -> str:
    """To the nearest cell; but only what is done is drawn full. Never wider than `cells`, whatever the numbers are."""
    if total <= 0 or done <= 0:
        full = 0
    elif done >= total:
        full = cells
    else:
        full = min(cells - 1, (2 * cells * done + total) // (2 * total))
    return f"{'▇' * full}{'▁' * (cells - full)}"
