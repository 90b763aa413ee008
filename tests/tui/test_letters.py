"""One letter, one meaning, on all pages and in all windows: who has learnt a key on one page knows it on the next."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from textual.binding import Binding
from textual.dom import DOMNode

import foretop
from foretop.bindings import ACTIONS
from foretop.main_screen.main_screen import MainScreen
from tests.rooms import samples

_LETTER = re.compile(r"(ctrl\+)?[A-Za-z]|f\d+")
_SAME: Mapping[str, tuple[str, ...]] = {
    "move": ("move", "by", "scroll", "scroll_by", "page", "edge", "highlight"),
    "leave": ("leave", "back", "drop", "leave_by_letter", "app.leave"),
    "copy": ("copy", "copy_name", "copy_finding", "copy_text"),
    "pause": ("pause", "change-pause"),
    "run it now": ("back-up-now", "run-again"),
    "delete": ("delete-schedule", "delete-backup", "delete-restore", "delete-nab", "delete-nar"),
    "acknowledge": ("acknowledge", "unacknowledge"),
    "only what is wrong": ("faults",),
    "reload": ("relist",),
}
"""What several actions are to a person."""
_MEANING = {action: meaning for meaning, actions in _SAME.items() for action in actions}
for _meanings_of_room in samples("MEANINGS"):
    _MEANING |= _meanings_of_room
_TWO_MEANINGS: Mapping[str, tuple[set[str], str]] = {
    "a": (
        {"create-schedule", "cover-namespace", "decide-storage"},
        "add and approve: no page has schedules and storage requests, and a namespace gets a schedule too",
    ),
    "m": ({"messages", "leave"}, "the key that opens the messages closes them"),
    **{letter: meanings for room in samples("TWO_MEANINGS") for letter, meanings in room.items()},
}


def _bound() -> Iterator[tuple[str, str]]:
    """Each key that a page, a window or a widget binds, with the name of its action."""
    for module in pkgutil.walk_packages(foretop.__path__, "foretop."):
        if module.name.endswith("__main__"):
            continue
        for one in vars(importlib.import_module(module.name)).values():
            is_own = isinstance(one, type) and issubclass(one, DOMNode) and one.__module__ == module.name
            for binding in vars(one).get("BINDINGS", ()) if is_own and one is not MainScreen else ():
                assert isinstance(binding, Binding)
                done = re.sub(r"^screen\.do\('(.*)'\)$", r"\1", binding.action).partition("(")[0]
                yield from ((key, done) for key in binding.key.split(","))


def _meanings() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    acting = ((key, action.id) for action in ACTIONS for key in action.keys)
    for key, action in (*acting, *_bound()):
        if _LETTER.fullmatch(key):
            found[key].add(_MEANING.get(action, action))
    return found


def test_a_letter_has_one_meaning_or_a_reason_for_two() -> None:
    found = _meanings()
    several = {key: meanings for key, meanings in found.items() if len(meanings) > 1}
    # Of two rooms that share a letter one may be gone.
    assert several == {key: meanings for key, (meanings, _) in _TWO_MEANINGS.items() if meanings <= found[key]}


def test_what_is_one_meaning_has_one_key() -> None:
    """But for keys with more than one spelling, and those that move and leave."""
    keys: dict[str, set[str]] = defaultdict(set)
    for action in ACTIONS:
        keys[_MEANING.get(action.id, action.id)].update(key for key in action.keys if _LETTER.fullmatch(key))
    more = {meaning: found for meaning, found in keys.items() if len(found) > 1 and meaning != "leave"}
    assert more == {}
