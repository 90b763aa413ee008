"""What an object says of itself within what foretop says: marked as its words, of bounded length, without our signs."""

from __future__ import annotations

import re

LONGEST_QUOTE = 400
"""Characters of somebody else's words within a sentence; the object itself has all of them."""
_SIGNS = re.compile("[\u2016\u21ba\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f300-\U0001faff]")
"""Lines, blocks, shapes, ticks and pictures: foretop tells states by them. Arrows and dots tell none."""
_NAME = re.compile(r"[\w.:/@+-]{1,253}", re.ASCII)


def without_signs(text: str) -> str:
    """The text with every sign that could be foretop's own spelt out, as `\\u2713`."""
    return text if text.isascii() else _SIGNS.sub(_spelt_out, text)


def quoted(text: str) -> str:
    """Somebody else's words for a sentence, in one line and in quotation marks that nothing in them ends."""
    line = without_signs(" ".join(text[: 2 * LONGEST_QUOTE].split())).replace('"', "'")
    return f'"{line}"' if len(line) <= LONGEST_QUOTE else f'"{line[: LONGEST_QUOTE - 1]}…"'


def named(text: str) -> str:
    """A name that an object gives for another: as it is, and in quotation marks where it is none."""
    return text if _NAME.fullmatch(text) else quoted(text)


def _spelt_out(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
