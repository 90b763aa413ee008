"""The places of the tour: situations, the keys that lead to them, and how one sees that one is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from foretop_core.pages import PAGES
from tests.tour.seen import Doing, Seen, Step

EVERYTHING = None


@dataclass(frozen=True, slots=True)
class Place:
    """A situation: the keys that lead to it, and how one sees that one is there."""

    name: str
    kind: str
    """Places of one kind have the same keys of their own."""
    base: tuple[str, ...]
    """Leads from anywhere to a tab and perhaps a row of it; places that share it follow upon one another."""
    way: tuple[str, ...]
    """Leads on from there."""
    arrived: Callable[[Seen], bool]
    only: frozenset[str] | None = EVERYTHING
    """The actions that are tried there; what another place tries just so is left out."""
    own: bool = True
    without: frozenset[str] = frozenset()
    """What is bound there and does nothing yet."""
    otherwise: Mapping[str, Doing] = field(default_factory=dict)
    """Actions that promise something else there."""
    extra: tuple[Step, ...] = ()
    leave: tuple[str, ...] = ()
    time_goes_on: bool = False
    """Something has to happen in the cluster on the way."""
    onward: tuple[str, ...] = ()
    """From there to the place itself."""
    really: Callable[[Seen], bool] = lambda seen: True


def typed(text: str) -> tuple[str, ...]:
    return tuple({" ": "space", "/": "slash", "-": "minus", ":": "colon"}.get(sign, sign) for sign in text)


def filtered(digit: str, text: str) -> tuple[str, ...]:
    return (digit, "slash", *typed(text), "enter")


def in_page(page: str) -> Callable[[Seen], bool]:
    return lambda seen: (
        seen.where.page == page
        and not seen.where.window
        and (bool(seen.where.cursor) or bool(PAGES[page].room))
        and ("API ●" in seen.lines[0] or "✗" in seen.lines[0])  # At 40 columns the counts alone are left.
        and "Loading…" not in seen.text
    )


def reading(*words: str) -> Callable[[Seen], bool]:
    return lambda seen: all(word in seen.text for word in words)


def on(*words: str) -> Callable[[Seen], bool]:
    """The cursor is on an object of which the key has all these in it."""
    return lambda seen: not seen.where.field and all(word in seen.where.cursor for word in words)


def window(window: str, *words: str, focus: str = "") -> Callable[[Seen], bool]:
    return lambda seen: (
        seen.where.window == window and focus in seen.where.focus and all(word in seen.text for word in words)
    )


def is_chosen(before: Seen, after: Seen) -> bool:
    """Another line of the list is lit."""
    return before.lit != after.lit and before.where.window == after.where.window
