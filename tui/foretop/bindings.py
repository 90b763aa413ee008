"""Everything a key can do, as data: bindings, footer, help and palette are all made from this list.

An action is carried out by what the page on the screen has for its id in `handlers()`, or else the main screen and
those behind it; an action for which nobody has a handler, or whose page says `offers(id)` is false just now, is shown
nowhere. What acts on the cluster has its record beside its planner in `foretop_core.actions.planners`, and is made from
that by `python -m tests.write_tables`; it opens its dialog. To add another kind of action, add it here and
its handler to one of those tables. Two actions on one key in one view are an error when this is imported.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from enum import Enum
from itertools import combinations
from pathlib import Path

import msgspec
from msgspec.structs import replace

from foretop_core.models.kinds import SCHEDULE
from foretop_core.pages import PAGES, TABS, PageRecord

Handler = Callable[[], Awaitable[None] | None]
"""Carries an action out; what takes its time is waited for."""
KeyHints = tuple[tuple[str, str], ...]
"""Keys in a person's spelling, and in a word what they do."""


def handlers_by_name(carrier: object) -> dict[str, Handler]:
    """The methods `do_<id>` of whoever carries actions out, by the ids of the actions."""
    # Not with dir(): it sorts the thousand names of a screen.
    methods = {name for owner in type(carrier).__mro__ for name in vars(owner) if name.startswith("do_")}
    return {name.removeprefix("do_"): getattr(carrier, name) for name in methods}


class ActionGroup(Enum):
    """The headings of the help."""

    OBJECT = "The object under the cursor"
    ACT = "Actions on it, or on the marked rows"
    PAGE = "This page"
    TABLE = "The table"
    GO = "Navigation"
    SCREEN = "The screen"
    TIME = "The recording"


class Action(msgspec.Struct, frozen=True):
    """`keys` in Textual's spelling, `shown` in the person's; `footer` is its rank there, 0 for never."""

    id: str
    keys: tuple[str, ...]
    shown: str
    title: str
    group: ActionGroup
    short: str = ""
    footer: int = 0
    words: tuple[str, ...] = ()
    """What else finds it in the palette."""
    kinds: tuple[str, ...] = ()
    """The kinds, by their plurals, that it can be asked of; none for every view."""
    instead_of: tuple[str, ...] = ()
    """Actions whose key it takes over where it is offered."""
    disabled_reason: str = ""
    """What its key says where it does nothing; "" where it is left to others."""


class KeyConflict(Exception):
    """Two actions on one key in one view; raised when the program is imported."""


RESUME = "resume"
_RESUME = Action(
    RESUME,
    ("U",),
    "U",
    "unpause all that one window paused together, and no other",
    ActionGroup.ACT,
    "unpause window",
    2,
    kinds=(SCHEDULE.plural,),
)


WRITE_ACTIONS_FILE = Path(__file__).with_name("write_actions.json")
"""What acts on the cluster, written from the records of the actions: the first frame needs keys, not planners."""


def _write_actions() -> Iterator[Action]:
    for action in msgspec.json.decode(WRITE_ACTIONS_FILE.read_bytes(), type=tuple[Action, ...]):
        yield action
        if action.id == "unpause":
            yield _RESUME


WRITE_ACTIONS: tuple[Action, ...] = tuple(_write_actions())
"""Where two share a key, the first that can be asked of what is chosen has it."""


class RoomAction(msgspec.Struct, frozen=True, omit_defaults=True):
    """An action of a room: `do_<id>` of the module carries it out, or the page of the room."""

    action: Action
    after: str
    """The action that it follows in lists."""
    page: str = ""
    """The page on which it is offered whatever is under the cursor."""
    kinds: tuple[str, ...] = ()
    """The kinds of objects that it is asked of; with neither page nor object it always does something."""
    of_findings: bool = False
    """Whether it is asked of the object of any finding, and not only where a remedy names it."""
    of_run: bool = False
    """Whether it is asked of a backup or restore: that under the cursor, the newest copy, or that of a finding."""
    section: str = ""
    """The section of the page of an object that it opens, in which it is not offered."""
    of_cluster: bool = False
    """Whether it reads from the cluster of the object, which must be connected."""
    of_recording: bool = False
    """Whether it takes recordings to another moment: without one it is not there."""
    told: str = ""
    """What the pane of an object says that its key does, as `shows its log`; "" for nothing."""
    hint: str = ""
    """How the line of keys tells it, as `{} in the primer`; "" for not at all."""
    hint_kinds: tuple[str, ...] = ()
    """The kinds of which it does; none for all."""
    module: str = ""
    """Its module; "" where the page of the room carries it out."""


ROOM_ACTIONS_FILE = Path(__file__).with_name("room_actions.json")
ROOM_ACTIONS = msgspec.json.decode(ROOM_ACTIONS_FILE.read_bytes(), type=tuple[RoomAction, ...])
"""The actions of the rooms, written from them: the first frame needs keys, not rooms."""

_NO_OBJECT = "No single object is selected"
_OF_THE_CORE: tuple[Action, ...] = (
    Action("open", ("enter",), "enter", "open it: overview, conditions, events, YAML", ActionGroup.OBJECT, "open", 1),
    *WRITE_ACTIONS,
    Action(
        "jump",
        ("J",),
        "J",
        "jump to its owner or to related objects",
        ActionGroup.OBJECT,
        "jump",
        4,
        disabled_reason="Nothing is related to it",
    ),
    Action("yaml", ("y",), "y", "its YAML", ActionGroup.OBJECT, "yaml", 10, disabled_reason=_NO_OBJECT),
    Action(
        "describe",
        ("d",),
        "d",
        "describe it",
        ActionGroup.OBJECT,
        "describe",
        9,
        ("details",),
        disabled_reason=_NO_OBJECT,
    ),
    Action(
        "copy_finding",
        ("c",),
        "c",
        "copy the finding as text, for a ticket",
        ActionGroup.OBJECT,
        "copy",
        11,
        ("ticket",),
        instead_of=("copy_name",),
    ),
    Action(
        "acknowledged",
        ("H",),
        "H",
        "show acknowledged findings too, or only open ones",
        ActionGroup.PAGE,
        "acknowledged",
        13,
        ("known", "hidden"),
        disabled_reason="No acknowledged findings here",
    ),
    Action("copy_name", ("c",), "c", "copy its name", ActionGroup.OBJECT, "copy", 11),
    Action("copy_namespace", ("n",), "n", "copy its namespace", ActionGroup.OBJECT),
    Action(
        "horizon",
        ("z",),
        "z",
        "how far ahead: the night, 24h, 7d or the next hours; back to now",
        ActionGroup.PAGE,
        "night 24h 7d",
        2,
        disabled_reason="How far ahead: only in the calendar (:calendar)",
    ),
    Action(
        "collisions",
        ("o",),
        "o",
        "all that start together, and when",
        ActionGroup.PAGE,
        "together",
        3,
        ("collide",),
        disabled_reason="Who starts together: only in the calendar (:calendar)",
    ),
    Action("move_in_time", (), "left right", "earlier and later", ActionGroup.PAGE, "move in time", 4),
    Action("open_day", (), "enter", "open the day of the week under the cursor", ActionGroup.PAGE, "open the day", 1),
    Action("section", (), "left right", "another section", ActionGroup.PAGE, "section", 2),
    Action(
        "filter",
        ("slash",),
        "/",
        "filter: text (no regular expression), !text, -l label=x, -f fuzzy, COLUMN:text with * (phase:*Failed)",
        ActionGroup.TABLE,
        "filter",
        3,
    ),
    Action(
        "search",
        ("slash",),
        "/",
        "search the text; enter goes to the next match",
        ActionGroup.PAGE,
        "search",
        5,
        instead_of=("filter",),
    ),
    Action(
        "mark",
        ("space",),
        "space",
        "mark it and move to the next",
        ActionGroup.TABLE,
        "mark",
        6,
        disabled_reason="Nothing to mark here: schedules are marked on their page (:schedules)",
    ),
    Action(
        "mark_range",
        ("ctrl+@", "ctrl+space"),
        "ctrl+space",
        "mark all rows from the last mark to here",
        ActionGroup.TABLE,
    ),
    Action("mark_all", ("asterisk",), "*", "mark all visible rows", ActionGroup.TABLE),
    Action(
        "clear_marks",
        ("ctrl+backslash",),
        "ctrl+\\",
        "clear all marks",
        ActionGroup.TABLE,
        disabled_reason="Nothing is marked",
    ),
    Action("sort_before", ("less_than_sign",), "<", "sort by the column before this one", ActionGroup.TABLE),
    Action("sort_after", ("greater_than_sign",), ">", "sort by the next column", ActionGroup.TABLE),
    Action(
        "sort_selected",
        ("O",),
        "O",
        "sort by the selected column; again: the other way; then as at first",
        ActionGroup.TABLE,
        words=("order", "reverse"),
    ),
    Action(
        "fold",
        ("enter",),
        "enter",
        "fold or unfold the group",
        ActionGroup.TABLE,
        "fold",
        1,
        instead_of=("open",),
    ),
    Action(
        "group",
        ("b",),
        "b",
        "group by namespace, or one list",
        ActionGroup.TABLE,
        "group",
        13,
        disabled_reason="Nothing to group here",
    ),
    Action("faults", ("ctrl+z",), "ctrl+z", "only faults, or all", ActionGroup.TABLE, "faults", 12),
    Action(
        "all_namespaces",
        ("0",),
        "0",
        "show all namespaces and contexts",
        ActionGroup.TABLE,
        "show all",
        2,
        disabled_reason="All namespaces and contexts are shown",
    ),
    Action("wide", ("ctrl+w",), "ctrl+w", "more or fewer columns", ActionGroup.TABLE),
    Action("save", ("ctrl+s",), "ctrl+s", "save the table as CSV or JSON", ActionGroup.TABLE),
    Action("palette", ("colon", "ctrl+p"), ":", "go to a view or run a command", ActionGroup.GO, "go to", 5),
    Action(
        "windows",
        (),
        "",
        "pause windows: who paused what, why and until when",
        ActionGroup.GO,
        words=("pauses", "maintenance"),
    ),
    Action(
        "handover",
        ("ctrl+o",),
        "ctrl+o",
        "hand-over to the next shift, to read and copy",
        ActionGroup.GO,
        words=("shift", "handoff"),
    ),
    Action("previous", ("left_square_bracket",), "[", "back", ActionGroup.GO, disabled_reason="This is the first view"),
    Action(
        "next", ("right_square_bracket",), "]", "forward again", ActionGroup.GO, disabled_reason="This is the last view"
    ),
    Action("last", ("minus",), "-", "toggle between the last two views", ActionGroup.GO),
    Action("escape", ("escape",), "esc", "back: close the detail, clear the filter", ActionGroup.GO),
    Action("back", ("q",), "q", "back; on a main page, pressed twice, quit", ActionGroup.GO, "back", 8),
    Action("help", ("question_mark",), "?", "this help", ActionGroup.SCREEN, "help", 7),
    Action("zone", ("Z",), "Z", "time zone: UTC, local, or the cron expression's", ActionGroup.SCREEN),
    Action("relist", ("ctrl+r",), "ctrl+r", "reload: retry failed connections now", ActionGroup.SCREEN),
    Action(
        "sign_in",
        ("i",),
        "i",
        "sign in: the plugin prompts you in the terminal",
        ActionGroup.SCREEN,
        "sign in",
        1,
        ("login",),
    ),
    Action("full", ("f",), "f", "full screen, without header and footer", ActionGroup.SCREEN),
    Action("messages", ("m",), "m", "message history", ActionGroup.SCREEN, words=("log", "toasts")),
    Action(
        "mouse",
        ("ctrl+e",),
        "ctrl+e",
        "mouse on or off (on disables the terminal's own selection)",
        ActionGroup.SCREEN,
    ),
    Action(
        "theme",
        ("ctrl+t",),
        "ctrl+t",
        "next theme: the terminal's colours, dark, light, high-contrast, colour-blind, your own",
        ActionGroup.SCREEN,
        words=("colours", "skin"),
    ),
    Action("suspend", (), "", "suspend to the shell; fg returns", ActionGroup.SCREEN),
    Action(
        "leave",
        ("ctrl+c",),
        "ctrl+c",
        "close the dialog, or quit",
        ActionGroup.SCREEN,
        words=("quit", "exit"),
    ),
)
ACTIONS: tuple[Action, ...] = tuple(
    listed
    for action in _OF_THE_CORE
    for listed in (action, *(room.action for room in ROOM_ACTIONS if room.after == action.id))
)

BY_ID = {action.id: action for action in ACTIONS}
_keys_in_use = {action.id: action.shown for action in ACTIONS}
_digits_in_use = {tab.id: f"{tab.digit}" for tab in TABS}

KEYS_OF_THE_TABLE = frozenset(("j", "k", "g", "G", "up", "down", "left", "right", *"123456789"))

UNLISTED = (
    ("up down j k", "move; page up and down; g and G go to the ends"),
    ("shift+up down", "scroll the pane"),
    ("left right", "select a column"),
    ("1 … 9", "the tabs"),
)
"""Keys of the table itself, for the help."""


def use_keys(actions: Iterable[Action]) -> None:
    """From now on sentences name these keys; there is one dashboard in a process."""
    _keys_in_use.update({action.id: action.shown for action in actions})


def use_tabs(tabs: Iterable[PageRecord]) -> None:
    """From now on sentences name the digits of these tabs."""
    _digits_in_use.clear()
    _digits_in_use.update({tab.id: f"{tab.digit}" for tab in tabs})


def page_key(page_id: str) -> str:
    """The digit of a page's tab, or the command that leads to it."""
    return _digits_in_use.get(page_id) or f":{PAGES[page_id].commands[0]}"


def key_name(action_id: str) -> str:
    """The key that an action has now, as a person writes it: a configuration may have changed it."""
    return _keys_in_use[action_id]


def footer_order(actions: Iterable[Action]) -> list[Action]:
    return sorted((action for action in actions if action.footer), key=lambda action: action.footer)


def check_keys(actions: Iterable[Action]) -> None:
    """Two actions on one key that meet in a view are a mistake, unless one of them says that it takes the key over."""
    for action in (given := tuple(actions)):
        if taken := KEYS_OF_THE_TABLE.intersection(action.keys):
            raise KeyConflict(f"{action.id} is on {', '.join(sorted(taken))}, which is a key of every table")
    for action, other in combinations(given, 2):
        shared = set(action.keys) & set(other.keys)
        meet = not action.kinds or not other.kinds or set(action.kinds) & set(other.kinds)
        if shared and meet and action.id not in other.instead_of and other.id not in action.instead_of:
            raise KeyConflict(f"{action.id} and {other.id} are both on {', '.join(sorted(shared))}")


def with_keys(actions: Iterable[Action], wanted: Mapping[str, tuple[str, str]]) -> tuple[Action, ...]:
    """The actions with some on other keys, in Textual's spelling and a person's; raises KeyConflict for a taken one."""
    changed = tuple(
        replace(action, keys=(wanted[action.id][0],), shown=wanted[action.id][1]) if action.id in wanted else action
        for action in actions
    )
    check_keys(changed)
    return changed


check_keys(ACTIONS)
