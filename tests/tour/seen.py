"""What a person sees of the screen, wherever it is drawn, and what keys promise in terms of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.tour.stepped_dashboard import Where

_TABS = re.compile(r" 1.* 9")


@dataclass(frozen=True, slots=True)
class Seen:
    """The lines, what of them stands in reverse video, what was copied so far, and where the program says it is."""

    lines: tuple[str, ...]
    lit: tuple[str, ...]
    """Line by line; blanks where nothing is lit, and blocks for blanks that are."""
    copied: tuple[str, ...]
    where: Where

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_framed(self) -> bool:
        """Tabs, by name or by digit alone, and the keys at the bottom."""
        return _TABS.match(self.lines[1]) is not None and bool(self.lines[-1].strip())

    @property
    def _top(self) -> int:
        """The first line of the page's own text: in a wide terminal the top of a frame is above it."""
        return 3 if self.lines[2].startswith("┌") else 2

    @property
    def head(self) -> tuple[str, str]:
        """The titles of the columns, where there is a table."""
        return self.lines[self._top].rstrip(), self.lit[self._top]

    @property
    def page(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Without the line above the keys, where messages come and go."""
        return self.lines[self._top : -2], self.lit[self._top : -2]

    @property
    def at(self) -> tuple[object, ...]:
        """Where one is back at when what a key did has been undone."""
        here = self.where
        inside = here.focus if here.window else ""
        return here.place, here.cursor, here.window, here.field, here.order, here.marked, inside


Promise = Callable[[Seen, Seen], bool]
"""Of what is seen before a key and after it: whether the key has done what it promises."""


def shows(word: str) -> Promise:
    return lambda before, after: word in after.text and word not in before.text


_NUMBER = re.compile(r"№\d+")


def tells(word: str) -> Promise:
    """In a toast that was not there before; they are numbered."""

    def is_so(before: Seen, after: Seen) -> bool:
        return word in after.text and not set(_NUMBER.findall(after.text)) <= set(_NUMBER.findall(before.text))

    return is_so


def hides(word: str) -> Promise:
    return lambda before, after: word in before.text and word not in after.text


def opens(window: str, word: str) -> Promise:
    return lambda before, after: after.where.window == window != before.where.window and word in after.text


def closes(before: Seen, after: Seen) -> bool:
    return bool(before.where.window) and not after.where.window


def types_into(field: str) -> Promise:
    return lambda before, after: after.where.field == field != before.where.field


def leaves_the_field(before: Seen, after: Seen) -> bool:
    return bool(before.where.field) and not after.where.field


def goes_to_section(section: str, word: str) -> Promise:
    wanted = f"section='{section}'"
    return lambda before, after: wanted in after.where.place and wanted not in before.where.place and word in after.text


def copies(before: Seen, after: Seen) -> bool:
    return len(after.copied) == len(before.copied) + 1 and bool(after.copied[-1])


def copies_and_says_so(before: Seen, after: Seen) -> bool:
    """Something more was copied, and a toast shows it."""
    return (
        copies(before, after)
        and tells("Copied by")(before, after)
        and after.copied[-1].split("\n")[0][:20] in after.text
    )


def moves(before: Seen, after: Seen) -> bool:
    """Another object is under the cursor, and something else is lit."""
    return before.where.cursor != after.where.cursor and before.lit != after.lit


def changes(before: Seen, after: Seen) -> bool:
    return before.page != after.page


def changes_the_head(before: Seen, after: Seen) -> bool:
    return before.head != after.head


def goes_elsewhere(before: Seen, after: Seen) -> bool:
    return before.where.place != after.where.place and changes(before, after)


def scrolls(before: Seen, after: Seen) -> bool:
    """Where there is more to read than fits."""
    return not after.where.scrolls or changes(before, after)


def sorts(before: Seen, after: Seen) -> bool:
    """The arrow stands behind another title, or points the other way."""
    return before.where.order != after.where.order and changes_the_head(before, after)


def stays(before: Seen, after: Seen) -> bool:
    return before.at == after.at


Undo = tuple[str, ...] | Callable[[Seen], tuple[str, ...]] | None
"""Keys; keys by what is seen after the step; None where one goes there anew."""


@dataclass(frozen=True, slots=True)
class Step:
    """`first` is pressed before it, for a key that would do nothing otherwise."""

    key: str
    what: str
    promise: Promise
    undo: Undo = ("escape",)
    first: tuple[str, ...] = ()
    is_own: bool = True
    """Bound by what has the focus, and so the same in every view of a kind."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What a key promises. In the detail of an object it may be undone in another way."""

    promise: Promise
    undo: Undo = ("escape",)
    in_detail: Undo = ("escape",)
    first: tuple[str, ...] = ()
