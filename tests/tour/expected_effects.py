"""Key by key, what it promises, and the keys that undo it: by the actions of the registry, and by what pages bind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from foretop.bindings import ROOM_ACTIONS, WRITE_ACTIONS
from foretop.dialogs.dialog_registry import screen_of
from foretop_core.actions.action_catalog import BY_ID
from tests.rooms import samples
from tests.tour.seen import (
    Doing,
    Promise,
    Seen,
    Step,
    changes,
    changes_the_head,
    closes,
    copies,
    copies_and_says_so,
    goes_elsewhere,
    goes_to_section,
    leaves_the_field,
    moves,
    opens,
    scrolls,
    shows,
    sorts,
    stays,
    tells,
    types_into,
)
from tests.tour.stepped_dashboard import STAYED, Where


def _toast(words: str, *undo: str) -> Doing:
    return Doing(tells(words), undo, undo)


def _window(window: str, words: str) -> Doing:
    return Doing(opens(window, words))


def _section(section: str, words: str, key: str) -> Doing:
    """From the detail the key leads to the section and back."""
    return Doing(goes_to_section(section, words), in_detail=(key,))


def _opens(before: Seen, after: Seen) -> bool:
    """An object, the objects that a finding is about, or where they wait."""
    opened = after.where.page == "detail" and "Overview" in after.text
    chosen = after.where.window == "ChoicePicker" and "Jump to" in after.text
    return (before.where.page == "triage" and (chosen or after.where.page == "queue")) or opened


def _jumps(before: Seen, after: Seen) -> bool:
    return opens("ChoicePicker", "Jump to")(before, after) or goes_elsewhere(before, after)


def _out_of_jump(after: Seen) -> tuple[str, ...]:
    return ("escape",) if after.where.window else ("left_square_bracket",)


def _widens(before: Seen, after: Seen) -> bool:
    """Where columns are hidden at all."""
    return changes_the_head(before, after) or before.where.hidden == 0


def _backs_out(before: Seen, after: Seen) -> bool:
    """Out of the detail; at the top there is nothing to go back from."""
    return before.where.page != after.where.page if before.where.page == "detail" else stays(before, after)


def _backs_or_ends(before: Seen, after: Seen) -> bool:
    return _backs_out(before, after) and (
        before.where.page == "detail" or tells("q again to quit")(before, after) or tells(STAYED)(before, after)
    )


def _resumes(before: Seen, after: Seen) -> bool:
    return opens("ChoicePicker", "Resume which window")(before, after) or opens("UnpauseDialog", "Unpause ")(
        before, after
    )


def _lists_collisions(before: Seen, after: Seen) -> bool:
    return opens("ChoicePicker", "Starting in the same minute")(before, after) or tells("No two schedules")(
        before, after
    )


def _write_actions() -> Iterator[tuple[str, Doing]]:
    for action in WRITE_ACTIONS:
        record = BY_ID.get(action.id)
        if record is not None and record.dialog is not None:
            yield action.id, _window(screen_of(record).__name__, record.dialog.headline.partition("{}")[0])
    for action_id in ("delete-nab", "delete-nar"):
        # One key for both: sorted anew, the row under the cursor may be of the other kind.
        yield action_id, _window("PlanScreen", "Delete NA")
    yield "resume", Doing(_resumes)


PROMISES: Mapping[str, Doing] = {
    **dict(_write_actions()),
    "open": Doing(_opens),
    "jump": Doing(_jumps, _out_of_jump, _out_of_jump),
    "yaml": _section("yaml", "apiVersion: ", "y"),
    "describe": _section("describe", "Name  ", "d"),
    "copy_finding": Doing(copies_and_says_so, (), ()),
    "copy_name": Doing(copies_and_says_so, (), ()),
    "copy_namespace": Doing(copies_and_says_so, (), ()),
    "collisions": Doing(_lists_collisions),
    "horizon": Doing(changes, ("z", "z", "z")),
    "filter": Doing(types_into("filter")),
    "search": Doing(types_into("search")),
    "mark": Doing(lambda before, after: after.where.marked == before.where.marked + 1, ("ctrl+backslash", "up")),
    "mark_range": Doing(lambda before, after: after.where.marked > before.where.marked, ("ctrl+backslash",)),
    "mark_all": Doing(lambda before, after: after.where.marked > before.where.marked + 1, ("ctrl+backslash",)),
    "clear_marks": Doing(lambda before, after: after.where.marked == 0 < before.where.marked, None),
    "sort_before": Doing(sorts, ("O", "O")),
    "sort_after": Doing(sorts, ("O", "O")),
    "sort_selected": Doing(sorts, ("O", "O"), first=("right",)),
    "fold": Doing(changes, ("enter",)),
    "group": Doing(changes, ("b", "home")),
    "faults": Doing(shows("only faults"), ("ctrl+z", "home")),
    "all_namespaces": Doing(lambda before, after: "0 all" in before.text and "0 all" not in after.text, None),
    "wide": Doing(_widens, ("ctrl+w",)),
    "save": _window("ChoicePicker", "rows as"),
    "palette": _window("CommandPalette", "schedules  nab  queue"),
    "previous": Doing(goes_elsewhere, ("right_square_bracket",), ("right_square_bracket",)),
    "next": Doing(goes_elsewhere, ("left_square_bracket",), ("left_square_bracket",)),
    "last": Doing(goes_elsewhere, ("minus",), ("minus",)),
    "escape": Doing(_backs_out, (), ("enter",)),
    "back": Doing(_backs_or_ends, (), ("enter",)),
    "help": _window("HelpScreen", "Keys"),
    "handover": _window("HandoverScreen", "Hand-over at "),
    "theme": _toast("Theme ", *["ctrl+t"] * 4),
    "zone": Doing(tells("Times in"), ("Z", "Z"), ("Z", "Z")),
    "relist": _toast("Retrying now"),
    "full": Doing(lambda before, after: before.is_framed and not after.is_framed, ("f",), ("f",)),
    "messages": _window("MessagesScreen", "newest first"),
    "mouse": _toast("Mouse o", "ctrl+e"),
    "leave": _toast(STAYED),
    **{
        action: Doing(opens(window, text), None, out)
        for windows in samples("WINDOWS")
        for action, (window, text, out) in windows.items()
    },
    **{action: doing for room in samples("EFFECTS", "tour") for action, doing in room.items()},
}
ELSEWHERE: Mapping[str, str] = {
    "acknowledged": "wants one that is known: test_a_finding_is_hidden_for_the_shift_with_a_reason_and_shown_again",
    "unacknowledge": "wants one that is known: test_a_finding_is_hidden_for_the_shift_with_a_reason_and_shown_again",
    "sign_in": "wants one who is signed out: test_a_plugin_that_needs_a_person_gets_the_terminal",
    **{action: why for room in samples("ELSEWHERE") for action, why in room.items()},
    **{room.action.id: "wants a recording: test_every_key_of_it" for room in ROOM_ACTIONS if room.of_recording},
}
"""Actions that no view of the tour's cluster offers, and what presses their keys instead."""


# What pages, tables and windows bind themselves


def _goes_on(before: Seen, after: Seen) -> bool:
    """To another knob or field of the same window."""
    return before.where.focus != after.where.focus and before.where.window == after.where.window


_BY = re.compile(r"(\w+)\((-?)\d+\)")
_TO_AND_FRO: Mapping[str, Promise] = {
    "move": moves,
    "page": moves,
    "edge": moves,
    "column": changes_the_head,
    "scroll_pane": scrolls,
    "scroll_text": scrolls,
    "scroll_by": scrolls,
    "by": scrolls,
    "aside": scrolls,
    "scroll": scrolls,
    "section": goes_elsewhere,
    "step": changes,
    "turn": changes,
    "highlight": changes,
    "next": scrolls,
}
_READ_WINDOWS = frozenset(
    {*samples("READ_WINDOW", "tour"), "HelpScreen", "ExplanationScreen", "HandoverScreen", "MessagesScreen"}
)
"""Windows of text, in which a page is scrolled and no cursor moves."""
_OWN: Mapping[str, Doing] = {
    "knob('go')": Doing(_goes_on, ("left",)),
    "knob('cancel')": Doing(_goes_on, (), first=("right",)),
    "settle": Doing(_goes_on, None),
    "open_day": Doing(_opens),
    "turn": Doing(changes, None),
    "leave": Doing(closes, None),
    "step_back": Doing(closes, None),
    "leave_by_letter": Doing(closes, None),
    "screen.press": Doing(closes, None),
    "read_pane": Doing(_goes_on, ("tab",)),
    "drop": Doing(leaves_the_field, None),
    "copy": Doing(copies, ()),
    "fold": Doing(changes, ("space",)),
    "search": Doing(types_into("search")),
    "save": Doing(tells("aved"), ()),
    "wrap": Doing(changes, ("w",)),
    "topics": Doing(opens("ChoicePicker", "due")),
    "help": Doing(opens("LogHelpScreen", "Keys of the log")),
}


def own_step(key: str, action: str, here: Where) -> Step:
    """A key that goes to and fro is undone by the one that goes the other way; the way back goes there first."""
    if found := _BY.fullmatch(action):
        name, back = found[1], bool(found[2])
        assert name in _TO_AND_FRO, f"{key} ({action}) wants a promise"
        is_text = here.window in _READ_WINDOWS or here.focus.startswith("ReadablePane")
        promise = scrolls if is_text else _TO_AND_FRO[name]
        opposite = _opposite(action, here)
        return Step(key, action, promise, () if back else (opposite,), (opposite,) if back else ())
    if action.startswith("screen.do("):
        return registered_step(key, action.split("'")[1], here)
    if action == "other_knob":
        return Step(key, action, _goes_on, (key,))
    if action == "read_pane" and here.field:
        return Step(key, f"{action} from a field", leaves_the_field, None)
    assert action in _OWN, f"{key} ({action}) wants a promise"
    doing = _OWN[action]
    return Step(key, action, doing.promise, doing.undo, doing.first)


def _opposite(action: str, here: Where) -> str:
    name, _, argument = action.partition("(")
    wanted = f"{name}({argument[1:]}" if argument.startswith("-") else f"{name}(-{argument}"
    return next(key for key, bound in here.own.items() if bound == wanted)


def registered_step(key: str, action_id: str, here: Where) -> Step:
    assert action_id in PROMISES, f"{key} ({action_id}) wants a promise"
    doing = PROMISES[action_id]
    undo = doing.in_detail if here.page == "detail" else doing.undo
    return Step(key, action_id, doing.promise, undo, doing.first, is_own=False)
