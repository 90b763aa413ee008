"""The record of an action: all that the screen, the command line, the guard and the doctor know of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import Enum, auto
from typing import Any, TypeAlias

import msgspec

from foretop_core.models import Resource
from foretop_core.models.kinds import Kind, RequiredPermission
from foretop_core.rules.snapshot import ClusterSnapshot

Applies: TypeAlias = Callable[[Resource, Callable[[], bool]], str]
"""Why it cannot be asked of an object, "" where it can; the second tells whether data is being moved for it.

It is called for every key at every change of the screen, so it looks no further than it must.
"""
Follow: TypeAlias = Callable[[ClusterSnapshot, Resource | None, Any, datetime], Any]
"""The probe for a step, from the snapshot and the object as they were before it, and the moment of its plan."""

FIRST, EARLY, MIDDLE, LATE = 1, 2, 4, 13
"""Ranks in the footer, among those of the other keys in `foretop.bindings`."""


class AskedOf(Enum):
    """The objects that an action is asked of."""

    CHOSEN = auto()
    """The marked rows, or the object under the cursor."""
    NEW = auto()
    """Nothing yet: it is made beside the object under the cursor."""
    SERVER = auto()
    """The Velero of the object under the cursor."""
    FINDING = auto()
    """The marked findings, or the one under the cursor, whether they are about an object or not."""


class ChoiceField(msgspec.Struct, frozen=True):
    """A choice of the dialog, handed to the planner under its name."""

    name: str
    label: str
    options: tuple[tuple[str, Any], ...]
    """Each as a person reads it, and what the planner gets; the first is the default."""
    at: int = 0
    """The option that it begins with."""
    on_button: bool = False
    """The button says what is chosen."""
    served: tuple[Kind, tuple[str, ...]] | None = None
    """The field of a kind that every cluster concerned must serve; else it is not offered."""
    served_as: str = ""
    """The argument of the planner that tells whether it is offered."""
    unserved: str = ""
    """Why it is not offered, where a cluster does not serve the field."""


class TextField(msgspec.Struct, frozen=True):
    """A text of the dialog, read and handed to the planner under its name."""

    name: str
    label: str
    example: str = ""
    read: Callable[[str], Any] = str.strip
    default: str = ""
    """What nothing stands for."""
    value: str = ""
    """The text that it begins with."""


Field: TypeAlias = ChoiceField | TextField


class DialogSpec(msgspec.Struct, frozen=True):
    """The dialog of an action: its texts and fields."""

    headline: str
    """What the title says; `{}` stands for the name, or for how many."""
    verb: str = ""
    """The word on the button that sends."""
    titles: tuple[str, str] = ("", "")
    """What the button says of one, whose name `{}` stands for, and of several, where it stands for `2 schedules`."""
    noun: str = "schedule"
    """What several are counted as."""
    fields: tuple[Field, ...] = ()
    another_choice_helps: bool = False
    """What is refused with these choices may be possible with others: the form stays then."""
    planner: Callable[..., Any] | None = None
    """Takes the fields by name; None where the planner of the record does."""
    takes: tuple[str, ...] = ()
    """What else it takes: `named_at`, when the dialog was opened (the names that were shown are those that are made),
    `findings` that are chosen, `users` who act in each cluster, and the `shifts`."""
    together: Callable[[ClusterSnapshot, list[Any]], str] | None = None
    """The warning about what only all of them together lose: each object is planned alone."""
    current: Callable[[Any, datetime], str] | None = None
    """How one object is now; shown until there is a plan."""


class CommandLine(msgspec.Struct, frozen=True):
    """The same action on the command line."""

    words: str
    """Group and verb, or one word."""
    example: str = ""
    help: str = ""
    """The command is made from the record where this is given: it takes names, and nothing of its own."""


def _always(_item: Resource, _moves: Callable[[], bool]) -> str:
    return ""


def no_planner(*_given: Any, **_options: Any) -> Any:
    """Stands for a planner that was forgotten; the catalog refuses such a record when it is imported."""
    raise LookupError("an action without a planner")


class ActionRecord(msgspec.Struct, frozen=True):
    """One action on the cluster: where it can be asked, what it needs, how it is planned, shown and followed."""

    place: int
    """Its place in footer, help and palette; where two share a key, the first that can be asked has it."""
    id: str
    title: str
    key: str
    """As Textual spells it; "" where it is in the palette only."""
    kinds: tuple[Kind, ...]
    rights: tuple[RequiredPermission, ...]
    """All that its plans write: a plan with any other write cannot be made."""
    planner: Callable[..., Any] = no_planner
    """Makes its plan from a snapshot, objects, the moment `now`, and what its dialog asks for."""
    reads: tuple[RequiredPermission, ...] = ()
    """What it reads that is not watched."""
    dangerous: bool = False
    """The dialog asks for the name."""
    many: bool = False
    """Can be asked of several objects at once."""
    planned_together: bool = False
    """Its planner makes one step for each object, in their order, and what it says of one depends on the others."""
    applies: Applies = _always
    """Beyond the kind: where asking would only be refused, the key is not offered."""
    tries_copies: str = ""
    """Why it cannot be asked where namespaces may not be listed; "" for every action but one that tries the newest copy
    in reach of a namespace, also of a deleted one."""
    only_with: tuple[str, str] = ("", "")
    """The code of the finding that must be about the object, and why it cannot be asked of one without it."""
    asked_of: AskedOf = AskedOf.CHOSEN
    page: str = ""
    """The only page that offers it; "" for every page with such objects."""
    only_in_results: bool = False
    """Offered only where an object's results are shown."""
    instead_of: tuple[str, ...] = ()
    """Actions whose key it takes over where it applies: any other action on the same key is an error."""
    short: str = ""
    """In the footer."""
    about: str = ""
    """In the help and the palette, where the title alone does not tell it from other actions."""
    footer: int = 0
    """The rank there; 0 for never."""
    words: tuple[str, ...] = ()
    """What else finds it in the palette."""
    hint: str = ""
    """The sentence of a finding's pane, `{}` for the object; "" where the action is not a remedy."""
    fetches: bool = False
    """It fetches a file and changes nothing: a viewer takes the place of the dialog."""
    dialog: DialogSpec | None = None
    """None where it fetches a file."""
    follow: Follow | None = None
    """What is looked out for after the write; None where the write itself is all there is to see."""
    to_the_end: bool = False
    """It is followed to its end; all else is taken up by Velero soon or not at all."""
    commands: tuple[CommandLine, ...] = ()
    for_administrators: bool = False
    """It acts on a whole cluster: no role for Velero's namespace or a tenant's has its rights."""
    purpose: str = ""
    """What the doctor says one can do with its rights; "" where another record with the same rights says it."""
