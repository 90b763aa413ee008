"""The kind of terminal: which signs it has, how wide it draws them, and whether it is far away."""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
from collections.abc import Mapping

import msgspec

# Deferred imports: termios is missing on Windows, where the commands still work.

_PLAIN = frozenset({"linux", "dumb", "vt100", "vt220", "cons25"})
_C_LOCALES = frozenset({"C", "POSIX"})
_ANSWER = re.compile(rb"\x1b\[\d+;(\d+)R")
_PATIENCE = 0.25
_SAMPLE = "●"


def needs_ascii(environ: Mapping[str, str], encoding: str | None) -> bool:
    """The locale is not UTF-8, or the terminal's own font has not these signs."""
    try:
        utf8 = codecs.lookup(encoding or "ascii").name == "utf-8"
    except LookupError:
        utf8 = False
    return not utf8 or _is_c_locale(environ) or environ.get("TERM", "") in _PLAIN


def _is_c_locale(environ: Mapping[str, str]) -> bool:
    """Asked for by name; Python itself then takes UTF-8, and sets LC_CTYPE to C.UTF-8 where only LANG says C."""
    if every := environ.get("LC_ALL"):
        return every in _C_LOCALES
    letters, language = environ.get("LC_CTYPE", ""), environ.get("LANG", "")
    return letters in _C_LOCALES or (letters in ("", "C.UTF-8") and language in _C_LOCALES)


def is_ssh(environ: Mapping[str, str]) -> bool:
    """Over SSH every byte counts, and what blinks for a moment may arrive as two."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


class TerminalProbe(msgspec.Struct, frozen=True):
    """The terminal's answer, and what was typed meanwhile."""

    wide: bool = False
    typed: bytes = b""


def ask_width() -> TerminalProbe:
    """Asks the terminal itself: prints a sign of ambiguous width, and reads where the cursor then stands."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return TerminalProbe()
    try:
        import termios
        import tty
    except ImportError:
        return TerminalProbe()
    source, target = sys.stdin.fileno(), sys.stderr.fileno()
    try:
        before = termios.tcgetattr(source)
    except termios.error:
        return TerminalProbe()
    try:
        tty.setcbreak(source, termios.TCSANOW)
        os.write(target, b"\r" + _SAMPLE.encode() + b"\x1b[6n")
        answer = _read_answer(source)
    finally:
        os.write(target, b"\r\x1b[K")
        termios.tcsetattr(source, termios.TCSANOW, before)
    return TerminalProbe(column_of(answer) == 3, typed_in(answer))


def column_of(answer: bytes) -> int | None:
    """The column in a cursor report; None where there is none."""
    match = _ANSWER.search(answer)
    return int(match[1]) if match else None


def typed_in(answer: bytes) -> bytes:
    """The keys in an answer, which are all but the report. Line mode makes a line feed of enter."""
    return _ANSWER.sub(b"", answer, count=1).replace(b"\n", b"\r")


def _read_answer(source: int) -> bytes:
    """A terminal that does not answer is waited for a quarter of a second and no longer."""
    answer = b""
    while _ANSWER.search(answer) is None and select.select([source], [], [], _PATIENCE)[0]:
        piece = os.read(source, 4096)
        if not piece:
            break
        answer += piece
    return answer
