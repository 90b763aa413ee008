"""Sequences that tell a person who is looking elsewhere: the bell, a desktop notification, the window title.

Names of objects are in them, and a name can be hostile: what comes out is one line of printable characters between
our own introducer and terminator, whatever goes in.
"""

from __future__ import annotations

from foretop_core.tables.text.terminal_text import clean, cut_end

BELL = "\a"
KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"
"""The terminal keeps the title that it had, and gets it back at the end."""
_END = "\x1b\\"
_LONGEST = 120


def desktop_notice(text: str, protocol: str) -> str:
    """A desktop notification by OSC 9 (iTerm2, Windows Terminal) or OSC 777 (urxvt, foot, WezTerm)."""
    match protocol:
        case "osc9":
            return f"\x1b]9;{_payload(text)}{_END}"
        case "osc777":
            return f"\x1b]777;notify;foretop;{_payload(text)}{_END}"
        case _:
            return ""


def window_title(text: str) -> str:
    return f"\x1b]2;{_payload(text)}{_END}"


def _payload(text: str) -> str:
    """A semicolon separates the parts of such a sequence, and a leading number would be a command of OSC 9."""
    line = cut_end(clean(text), _LONGEST).replace(";", ",")
    return f" {line}" if line[:1].isdigit() else line
