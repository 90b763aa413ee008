"""The errors that foretop shows to people: what, why, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterable

# Deferred imports: words are compared only where one is wrong.

_FEW = 9
_LONGEST_COMPARED = 40


class ForetopError(Exception):
    """A failed operation; the message is one line that a person can act on."""

    def __init__(self, what: str, why: str = "", hint: str = "") -> None:
        super().__init__(what, why, hint)
        self.what = what
        self.why = why
        self.hint = hint

    def __str__(self) -> str:
        line = f"{self.what}: {self.why}" if self.why else self.what
        return " ".join(f"{line} ({self.hint})".split()) if self.hint else " ".join(line.split())


class BadInput(ForetopError):
    """Invalid input from a person or a file."""


class Unforeseen(ForetopError):
    """Nothing can be foreseen of a server now; the input is not at fault."""


class ActionRefused(ForetopError):
    """The action was refused, and nothing was sent."""


class Unreadable(ForetopError):
    """An object from a cluster or a manifest with a shape that foretop cannot read."""


def let_through(problem: Exception) -> None:
    """Raises a fault that a guard has caught, where FORETOP_STRICT=1 asks to see it where it happens.

    An error that is meant for people is not a fault, and stays with the guard.
    """
    if os.environ.get("FORETOP_STRICT") == "1" and not isinstance(problem, ForetopError):
        raise problem


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or all possible words where none is close and they are few; else nothing."""
    from difflib import get_close_matches

    words = list(known)
    folded = {_folded(one): one for one in words if len(one) <= _LONGEST_COMPARED}
    close = get_close_matches(_folded(word), folded, 1, 0.6) if len(word) <= _LONGEST_COMPARED else []
    if close:
        return f"; did you mean {folded[close[0]]}?"
    return f"; use {', '.join(words)}" if 0 < len(words) <= _FEW else ""


def _folded(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")
