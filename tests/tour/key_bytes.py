"""What terminals send for a key."""

from __future__ import annotations

from collections.abc import Sequence

_ARROWS = {"up": "A", "down": "B", "right": "C", "left": "D"}
_SIGNS = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "space": " ",
    "minus": "-",
    "asterisk": "*",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "ctrl+@": "\0",
    "ctrl+space": "\0",
    "ctrl+backslash": "\x1c",
    "backspace": "\x7f",
}
_SEQUENCES: dict[str, tuple[str, ...]] = {
    **{name: (f"\x1b[{letter}", f"\x1bO{letter}") for name, letter in _ARROWS.items()},
    **{f"shift+{name}": (f"\x1b[1;2{letter}",) for name, letter in _ARROWS.items()},
    **{f"ctrl+{name}": (f"\x1b[1;5{letter}",) for name, letter in _ARROWS.items()},
    "home": ("\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"),
    "end": ("\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"),
    "pageup": ("\x1b[5~",),
    "pagedown": ("\x1b[6~",),
    "delete": ("\x1b[3~",),
}


def sent_as(key: str) -> Sequence[str]:
    """All that terminals are known to send for a key."""
    if key in _SEQUENCES:
        return _SEQUENCES[key]
    if key in _SIGNS:
        return (_SIGNS[key],)
    if key.startswith("ctrl+") and len(key) == 6:
        return (chr(ord(key[-1]) & 0x1F),)
    assert len(key) == 1, f"nobody knows what a terminal sends for {key}"
    return (key,)
