"""Everything a key can do, as data: bindings, footer, help and palette are all made from this list.

An action is carried out by what the page on the screen has for its id in `handlers()`, or else the main screen and
those behind it; an action for which nobody has a handler, or whose page says `offers(id)` is false just now, is shown
nowhere. To add an action, add it here and its handler to one of those tables. The wishes are made from
`foretop_core.actions.intents`; each opens its dialog.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from foretop_core.actions import intents
from foretop_core.actions.intents import Intent

Handler = Callable[[], Awaitable[None] | None]
"""Carries an action out; what takes its time is waited for."""
KeyHints = tuple[tuple[str, str], ...]
"""Keys in a person's spelling, and in a word what they do."""


class ActionGroup(Enum):
    """The headings of the help."""

    OBJECT = "The object under the cursor"
    ACT = "Acting on it, or on what is marked"
    PAGE = "This page"
    TABLE = "The table"
    GO = "Going somewhere"
    SCREEN = "The screen"


@dataclass(frozen=True, slots=True)
class Action:
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


def _wish(intent: Intent, short: str, footer: int, *more_keys: str, words: tuple[str, ...] = ()) -> Action:
    """What a person can ask for of the clusters; `foretop.main_screen.write_actions` opens its dialog."""
    title = intent.title[0].lower() + intent.title[1:]
    keys = (intent.key, *more_keys) if intent.key else ()
    return Action(intent.id, keys, intent.key, title, ActionGroup.ACT, short, footer, words)


RESUME = "resume"
WRITE_ACTIONS: tuple[Action, ...] = (
    _wish(intents.PAUSE, "pause", 2),
    _wish(intents.UNPAUSE, "unpause", 2, intents.PAUSE.key),
    Action(RESUME, ("U",), "U", "unpause what one window paused, and nothing else", ActionGroup.ACT, "resume", 13),
    _wish(intents.BACK_UP_NOW, "back up now", 13),
    _wish(intents.RUN_AGAIN, "run again", 13),
    _wish(intents.RESTORE_FROM, "restore", 2),
    _wish(intents.LOGS, "logs", 2),
    _wish(intents.NONADMIN_LOGS, "logs", 2),
    _wish(intents.RESULTS, "fetch results", 1),
    _wish(intents.NONADMIN_RESULTS, "fetch results", 1),
    _wish(intents.CANCEL_MOVEMENTS, "cancel", 13),
    _wish(intents.CREATE_SCHEDULE, "create", 13),
    _wish(intents.DELETE_SCHEDULE, "delete", 13),
    _wish(intents.DELETE_BACKUP, "delete", 13),
    _wish(intents.DELETE_NAB, "delete", 13),
    _wish(intents.DELETE_NAR, "delete", 13),
    _wish(intents.DECIDE_STORAGE, "approve", 2, words=("approve", "reject")),
    _wish(intents.SERVER_DEFAULT, "server default", 0),
)
"""Where two share a key, the first that can be asked of what is chosen has it."""

ACTIONS: tuple[Action, ...] = (
    Action("open", ("enter",), "enter", "open it: overview, conditions, events, YAML", ActionGroup.OBJECT, "open", 1),
    *WRITE_ACTIONS,
    Action("jump", ("J",), "J", "jump to its owner, or to what belongs to it", ActionGroup.OBJECT, "jump", 4),
    Action("yaml", ("y",), "y", "its YAML", ActionGroup.OBJECT, "yaml", 10),
    Action("describe", ("d",), "d", "describe it", ActionGroup.OBJECT, "describe", 9, ("details",)),
    Action(
        "results",
        ("e",),
        "e",
        "its results: what failed in it",
        ActionGroup.OBJECT,
        "results",
        13,
        ("errors", "warnings"),
    ),
    Action("copy_name", ("c",), "c", "copy its name", ActionGroup.OBJECT, "copy", 11),
    Action("copy_namespace", ("n",), "n", "copy its namespace", ActionGroup.OBJECT),
    Action("prime", ("p",), "p", "its expression in the primer", ActionGroup.OBJECT, "primer", 13, ("warm-up",)),
    Action("horizon", ("z",), "z", "how far ahead: 6 h, 24 h or 7 d", ActionGroup.PAGE, "6h 24h 7d", 2),
    Action("edit", (), "enter", "edit the expression; esc leaves the field", ActionGroup.PAGE, "edit", 1),
    Action("edit_minutes", (), "tab", "edit the minutes", ActionGroup.PAGE, "minutes", 2),
    Action("section", (), "left right", "another section of it", ActionGroup.PAGE, "section", 2),
    Action("take", ("o",), "o", "take the expression of an object of the cluster", ActionGroup.PAGE, "take from", 3),
    Action("copy_primed", (), "c", "copy the primed expressions", ActionGroup.PAGE, "copy", 4),
    Action(
        "filter",
        ("slash",),
        "/",
        "filter: text, !text, -l label=x, -f fuzzy, and COLUMN:text for any column (phase:Failed)",
        ActionGroup.TABLE,
        "filter",
        3,
    ),
    Action("mark", ("space",), "space", "mark it, and go on to the next", ActionGroup.TABLE, "mark", 6),
    Action(
        "mark_range", ("ctrl+@", "ctrl+space"), "ctrl+space", "mark all from the last mark to here", ActionGroup.TABLE
    ),
    Action("mark_all", ("asterisk",), "*", "mark all rows that are shown", ActionGroup.TABLE),
    Action("clear_marks", ("ctrl+backslash",), "ctrl+\\", "clear all marks", ActionGroup.TABLE),
    Action("sort_selected", ("O",), "O", "sort by the selected column (left and right select one)", ActionGroup.TABLE),
    Action("fold", ("enter",), "enter", "fold the group, or open it again", ActionGroup.TABLE, "fold", 1),
    Action("group", ("b",), "b", "by namespace, or in one list again", ActionGroup.TABLE, "group", 13),
    Action("faults", ("ctrl+z",), "ctrl+z", "only what is faulty, or all again", ActionGroup.TABLE, "faults", 12),
    Action("all_namespaces", ("0",), "0", "all namespaces and contexts again", ActionGroup.TABLE, "show all", 2),
    Action("wide", ("ctrl+w",), "ctrl+w", "more columns, or fewer", ActionGroup.TABLE),
    Action("save", ("ctrl+s",), "ctrl+s", "save the table as CSV or JSON", ActionGroup.TABLE),
    Action("palette", ("colon", "ctrl+p"), ":", "go to a view, or find any command", ActionGroup.GO, "go to", 5),
    Action("previous", ("left_square_bracket",), "[", "back to where you were", ActionGroup.GO),
    Action("next", ("right_square_bracket",), "]", "forward again", ActionGroup.GO),
    Action("last", ("minus",), "-", "to and fro between the last two places", ActionGroup.GO),
    Action("escape", ("escape",), "esc", "back: out of the filter, the detail, the narrowing", ActionGroup.GO),
    Action("back", ("q",), "q", "back, and in a tab out of foretop", ActionGroup.GO, "back", 8),
    Action("help", ("question_mark",), "?", "this help", ActionGroup.SCREEN, "help", 7),
    Action("zone", ("Z",), "Z", "zone of the times: UTC, mine, the cron expression's", ActionGroup.SCREEN),
    Action("relist", ("ctrl+r",), "ctrl+r", "list again: whatever waits to try again tries now", ActionGroup.SCREEN),
    Action(
        "sign_in",
        ("i",),
        "i",
        "sign in: the plugin asks you on the plain terminal",
        ActionGroup.SCREEN,
        "sign in",
        1,
        ("login",),
    ),
    Action("full", ("f",), "f", "full screen, without the frame", ActionGroup.SCREEN),
    Action("messages", ("m",), "m", "the messages so far", ActionGroup.SCREEN, words=("log", "toasts")),
    Action(
        "mouse",
        ("ctrl+e",),
        "ctrl+e",
        "mouse on or off (on takes the terminal's own selection away)",
        ActionGroup.SCREEN,
    ),
    Action("suspend", (), "", "to the shell; fg comes back", ActionGroup.SCREEN),
    Action(
        "leave",
        ("ctrl+c",),
        "ctrl+c",
        "out of a dialog, else out of foretop",
        ActionGroup.SCREEN,
        words=("quit", "exit"),
    ),
)

BY_ID = {action.id: action for action in ACTIONS}

UNLISTED = (
    ("up down j k", "move; page up and down, g and G for the ends"),
    ("shift+up down", "scroll the pane"),
    ("left right", "select a column"),
    ("1 … 9", "the tabs"),
)
"""Keys of the table itself, for the help."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "triage": ("triage", "findings"),
    "schedules": ("schedules", "schedule", "sched"),
    "nonadmin": ("nab", "nar", "nonadmin"),
    "queue": ("queue",),
    "calendar": ("calendar", "cal"),
    "primer": ("primer",),
    "backups": ("backups", "backup"),
    "restores": ("restores", "restore"),
    "storage": ("bsl", "storage"),
}
"""Page by page, what one types after the colon."""


def footer_order(actions: Iterable[Action]) -> list[Action]:
    return sorted((action for action in actions if action.footer), key=lambda action: action.footer)
