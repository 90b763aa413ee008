"""The primer in the tour of all keys."""

from __future__ import annotations

from foretop.bindings import WRITE_ACTIONS
from tests.tour.places import Place, filtered, is_chosen, on, reading, typed, window
from tests.tour.seen import Doing, Step, closes, copies_and_says_so, leaves_the_field, opens, types_into

WAYS = {"primer": ("p", *typed("etcd"), "enter")}
"""From the tab on, to something that all of its keys work on."""
EFFECTS = {
    "prime": Doing(
        lambda before, after: after.where.page == "primer" and "taken from" in after.text,
        ("left_square_bracket",),
        ("left_square_bracket",),
    ),
    "edit": Doing(types_into("expression")),
    "edit_minutes": Doing(types_into("minutes")),
    "take": Doing(opens("SearchPicker", "Take an expression")),
    "copy_primed": Doing(copies_and_says_so, ()),
}
PLACES = (
    Place(
        "a primed job",
        "row",
        filtered("1", "friday"),
        (),
        on("friday-close"),
        frozenset(action.id for action in WRITE_ACTIONS),
        own=False,
    ),
    Place(
        "an expression that is primed",
        "primer",
        ("6",),
        ("p", *typed("etcd"), "enter"),
        reading("taken from"),
        frozenset({"copy_primed", "create-warm-up", "set-warm-up"}),
    ),
    Place(
        "taking an expression",
        "pick",
        ("6",),
        ("p",),
        window("SearchPicker", focus="Prompt"),
        extra=(Step("down", "down in a pick", is_chosen, ("up",)), Step("enter", "taking", closes, None)),
    ),
    Place(
        "typing an expression",
        "expression",
        ("6",),
        ("enter",),
        lambda seen: seen.where.field == "expression",
        frozenset({"relist", "palette"}),
        without=frozenset({"screen.do('edit_minutes')"}),
        extra=(
            Step("tab", "tab in a field", types_into("minutes"), ("shift+tab",)),
            Step("enter", "enter in an expression", leaves_the_field, None),
        ),
    ),
)
