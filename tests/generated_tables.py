"""The tables that are made from the records and commands: words that the shell completes, keys of actions, and the
names that the configuration has for them. `python -m tests.write_tables` writes them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from string import ascii_letters
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from foretop.bindings import (
    ACTIONS,
    KEYS_OF_THE_TABLE,
    ROOM_ACTIONS,
    ROOM_ACTIONS_FILE,
    WRITE_ACTIONS_FILE,
    Action,
    ActionGroup,
    KeyConflict,
    check_keys,
)
from foretop.cli import COMMANDS, foretop
from foretop.commands.complete_words import TABLE
from foretop.panes.page_records import SCREEN_PAGES, check_parts
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord, AskedOf
from foretop_core.config.allowed_names import ACTION_NAMES_FILE
from foretop_core.pages import PAGES, ROOM_PAGES_FILE
from foretop_core.room_finder import room_modules, rooms

_BY_NAME = {
    "contexts": "context",
    "namespaces": "namespace",
    "velero_namespace": "namespace",
    "kube_cluster": "cluster",
    "kube_user": "user",
    "kubeconfig": "file",
    "certificate_authority": "file",
    "cacert": "file",
}
_BY_METAVAR = {
    "FILE": "file",
    "SCHEDULE": "object:schedule",
    "BACKUP": "object:backup",
    "SCHEDULE|BACKUP": "object:schedule",
}
_NAMED = ("name", "names")
_OF_A_ROOMS_PAGE = {room.action.id for room in ROOM_ACTIONS if room.page and not room.action.keys}
_FIXED = {"section", "escape", "leave", *_OF_A_ROOMS_PAGE}
"""Actions whose keys stay as they are."""


def table() -> dict[str, Any]:
    """All commands with their words, options and arguments; options that are alike are kept once."""
    options: list[dict[str, Any]] = []
    return {"commands": dict(_commands("", foretop, options)), "options": options}


def _commands(path: str, command: click.Command, options: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    inner: dict[str, click.Command] = {}
    about: dict[str, str] = {}
    if command is foretop:
        for name, (_, line) in COMMANDS.items():
            found = foretop.get_command(click.Context(foretop), name)
            assert found is not None
            inner[name], about[name] = found, line
    elif isinstance(command, click.Group):
        inner = {name: one for name, one in command.commands.items() if not one.hidden}
        about = {name: one.get_short_help_str(80) for name, one in inner.items()}
    taken = [param for param in command.params if isinstance(param, click.Argument)]
    entry = {
        "commands": about,
        "options": {
            word: _place(options, param)
            for param in command.params
            if isinstance(param, click.Option) and not param.hidden
            for word in (*param.opts, *param.secondary_opts)
        },
        "arguments": [_value(param, path) for param in taken],
        "repeats": any(param.nargs < 0 for param in taken),
    }
    further = [pair for name, one in inner.items() for pair in _commands(f"{path} {name}".strip(), one, options)]
    return [(path, entry), *further]


def _place(options: list[dict[str, Any]], param: click.Option) -> int:
    about = (param.help or "").split(". ")[0].strip()
    spec = {"help": about, "value": None if param.is_flag or param.count else _value(param, "")}
    if spec not in options:
        options.append(spec)
    return options.index(spec)


def _value(param: click.Parameter, path: str) -> Any:
    """What completes it: a list of words, a kind of name, `file`, or nothing."""
    if isinstance(param.type, click.Choice):
        return list(param.type.choices)
    if param.name in _BY_NAME:
        return _BY_NAME[param.name]
    if isinstance(param, click.Option):
        return _BY_METAVAR.get(param.metavar or "", "")
    if param.name not in _NAMED or path.endswith(" create"):
        return ""
    return "object:?" if path == "describe" else f"object:{path.partition(' ')[0]}"


def text() -> str:
    made = table()
    lines = [
        f"    {json.dumps(path)}: {json.dumps(entry, ensure_ascii=False)}" for path, entry in made["commands"].items()
    ]
    kept = [f"    {json.dumps(spec, ensure_ascii=False)}" for spec in made["options"]]
    return '{\n  "commands": {\n' + ",\n".join(lines) + '\n  },\n  "options": [\n' + ",\n".join(kept) + "\n  ]\n}\n"


def action_names() -> str:
    """The names that the configuration has for actions, as the palette has them."""
    return json.dumps([action.id.replace("_", "-") for action in ACTIONS if action.id not in _FIXED], indent=2) + "\n"


def offered_records() -> list[ActionRecord]:
    """Those that have a key: what fetches a file needs a room that shows it."""
    shown = {action for module in room_modules("foretop", "dialogs") for action in getattr(module, "VIEWERS", ())}
    return [record for record in RECORDS if not record.fetches or record.id in shown]


def action_of(record: ActionRecord) -> Action:
    """What a person can ask for of the clusters; `foretop.main_screen.write_actions` opens its dialog."""
    return Action(
        record.id,
        (record.key,) if record.key else (),
        record.key,
        record.about or record.title[0].lower() + record.title[1:],
        ActionGroup.ACT,
        record.short,
        record.footer,
        record.words,
        # A finding may be about any kind: its keys meet all others.
        () if record.asked_of is AskedOf.FINDING else tuple(kind.plural for kind in record.kinds),
        record.instead_of,
    )


def write_actions() -> str:
    """The keys and words of what acts on the cluster, from the records; what is empty is left out."""
    made = (msgspec.to_builtins(action_of(record)) for record in offered_records())
    kept = ({name: given for name, given in one.items() if given or name in ("keys", "shown")} for one in made)
    lines = (json.dumps(one, ensure_ascii=False) for one in kept)
    return "[\n  " + ",\n  ".join(lines) + "\n]\n"


def room_actions() -> str:
    """The actions of the rooms, each with its module."""
    made = [
        msgspec.to_builtins(
            replace(action, module=module.__name__ if hasattr(module, f"do_{action.action.id}") else "")
        )
        for module in room_modules("foretop", "screen")
        for action in module.ACTIONS
    ]
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def room_pages() -> str:
    """The pages of the rooms, each with its room."""
    pages = (
        replace(room.PAGE, room=room.__name__.rpartition(".")[2])
        for room in rooms("foretop_core")
        if hasattr(room, "PAGE")
    )
    return json.dumps([msgspec.to_builtins(page) for page in pages], indent=2, ensure_ascii=False) + "\n"


def check_records() -> None:
    """Raises where a record lacks a part or has what is another's, before a file is written that nothing could import.

    A KeyConflict is of a key that is taken, a PageConflict of a page whose view or pane cannot be loaded, and a
    LookupError of an action without a dialog.
    """
    check_parts(PAGES.values(), SCREEN_PAGES.values())
    written = [action_of(record) for record in offered_records()]
    names = {action.id for action in written}
    every = (*(action for action in ACTIONS if action.id not in names), *written)
    try:
        check_keys(every)
    except KeyConflict as problem:
        raise KeyConflict(f"{problem}; no action has {', '.join(free_keys(every))}") from None
    importlib.import_module("foretop.dialogs.dialog_registry")


def free_keys(actions: Iterable[Action]) -> list[str]:
    """The letters that no action has."""
    taken = {key for action in actions for key in action.keys} | KEYS_OF_THE_TABLE
    return [letter for letter in ascii_letters if letter not in taken]


def write() -> bool:
    """Writes the tables; false where it has to be called once more, in a new process.

    The others are made from the bindings, which were imported with the old keys.
    """
    if WRITE_ACTIONS_FILE.read_text(encoding="utf-8") != (made := write_actions()):
        WRITE_ACTIONS_FILE.write_text(made, encoding="utf-8")
        return False
    if ROOM_PAGES_FILE.read_text(encoding="utf-8") != (made := room_pages()):
        ROOM_PAGES_FILE.write_text(made, encoding="utf-8")
        return False
    if ROOM_ACTIONS_FILE.read_text(encoding="utf-8") != (made := room_actions()):
        ROOM_ACTIONS_FILE.write_text(made, encoding="utf-8")
        return False
    TABLE.write_text(text(), encoding="utf-8")
    ACTION_NAMES_FILE.write_text(action_names(), encoding="utf-8")
    return True
