"""The one record of each action: keys, palette, footer, help, pane hints, guard, doctor and commands are made from it.

A new action is its planner in this package, its dialog in `foretop.dialogs` and its record here. A key that is taken
(`foretop.bindings`) or a dialog that is missing (`foretop.dialogs.dialog_registry`) is an error at import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import TypeAlias

import msgspec

from foretop_core.models import Backup, NonAdmin, Resource, Restore, Schedule
from foretop_core.models.kinds import (
    BACKUP,
    CONFIG_MAP,
    DATA_UPLOAD,
    DELETE_REQUEST,
    DEPLOYMENT,
    DOWNLOAD_REQUEST,
    NAB,
    NABSL_REQUEST,
    NAMESPACE,
    NAR,
    NONADMIN_DOWNLOAD,
    POD,
    POD_VOLUME_BACKUP,
    RESOURCE_QUOTA,
    RESTORE,
    SCHEDULE,
    STORAGE,
    VELERO_DEPLOYMENT,
    Kind,
    RequiredPermission,
)
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rules import phases

Applies: TypeAlias = Callable[[Resource, Callable[[], bool]], str]
"""Why it cannot be asked of an object, "" where it can; the second tells whether data is being moved for it.

It is called for every key at every change of the screen, so it looks no further than it must.
"""


class FollowUp(Enum):
    """What is looked out for after the write; `foretop_core.dashboard.pickup_probes` has the probe of each."""

    NOTHING = auto()
    """The write itself is all there is to see."""
    SCHEDULE_RESUMED = auto()
    SCHEDULE_JUDGED = auto()
    SCHEDULE_EDITED = auto()
    BACKUP_BEGUN = auto()
    RESTORE_ENDED = auto()
    BACKUP_DELETED = auto()
    RESTORE_DELETED = auto()
    NONADMIN_DELETED = auto()


class AskedOf(Enum):
    """What the action is asked of."""

    CHOSEN = auto()
    """The marked rows, or the object under the cursor."""
    NEW = auto()
    """Nothing yet: it is made beside the object under the cursor."""
    SERVER = auto()
    """The Velero of the object under the cursor."""
    FINDING = auto()
    """The marked findings, or the one under the cursor, whether they are about an object or not."""


def _always(_item: Resource, _moves: Callable[[], bool]) -> str:
    return ""


class ActionRecord(msgspec.Struct, frozen=True):
    """One action on the cluster: where it can be asked, what it needs, and how it is shown and followed."""

    id: str
    title: str
    key: str
    """As Textual spells it; "" where it is in the palette only."""
    kinds: tuple[Kind, ...]
    rights: tuple[RequiredPermission, ...]
    """All that its plans write: a plan with any other write cannot be made."""
    reads: tuple[RequiredPermission, ...] = ()
    """What it reads that is not watched."""
    dangerous: bool = False
    """The dialog asks for the name."""
    many: bool = False
    """Can be asked of several objects at once."""
    applies: Applies = _always
    """Beyond the kind: where asking would only be refused, the key is not offered."""
    asked_of: AskedOf = AskedOf.CHOSEN
    page: str = ""
    """The only page that offers it; "" for every page with such objects."""
    only_in_results: bool = False
    """Offered only where an object's results are shown."""
    instead_of: tuple[str, ...] = ()
    """Actions whose key it takes over where it applies: any other action on the same key is an error."""
    short: str = ""
    """In the footer."""
    footer: int = 0
    """The rank there; 0 for never."""
    words: tuple[str, ...] = ()
    """What else finds it in the palette."""
    hint: str = ""
    """The sentence of a finding's pane, `{}` for the object; "" where the action is not a remedy.

    Deleting is one only for what a drill left.
    """
    fetches: bool = False
    """It fetches a file and changes nothing: a viewer takes the place of the dialog."""
    follow_up: FollowUp = FollowUp.NOTHING
    commands: tuple[str, ...] = ()
    """The words on the command line that do the same: group and verb."""
    for_administrators: bool = False
    """It acts on a whole cluster: no role for Velero's namespace or a tenant's has its rights."""
    purpose: str = ""
    """What the doctor says one can do with its rights; "" where another record with the same rights says it."""


# When they apply


def _is_unpaused(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Schedule) and not item.spec.paused else "it is already paused"


def _is_paused(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Schedule) and item.spec.paused else "it is not paused"


def _is_of_drill(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if item.label(DRILL_LABEL) else "no drill made it"


def _has_ended(item: Resource, _moves: Callable[[], bool]) -> str:
    ended = isinstance(item, Backup) and item.phase in phases.ENDED and item.phase != "Deleting"
    return "" if ended else "it has not ended"


def _has_files(item: Resource, _moves: Callable[[], bool]) -> str:
    return phases.why_no_files(item.phase) if isinstance(item, Backup | Restore) else "it has no files"


def _is_usable(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if isinstance(item, Backup) and item.phase in phases.USABLE else "there is nothing to restore from it"


def _is_kept(item: Resource, _moves: Callable[[], bool]) -> str:
    phase = item.phase if isinstance(item, Backup) else ""
    if item.metadata.deletion_timestamp is not None or phase == "Deleting":
        return "it is being deleted"
    return "" if phase in phases.USABLE else f"there is nothing to keep in it ({phase or 'New'})"


def _has_begun(item: Resource, _moves: Callable[[], bool]) -> str:
    begun = isinstance(item, Backup | Restore) and item.phase not in phases.WAITING
    return "" if begun else "it has not begun"


def _has_led_somewhere(item: Resource, _moves: Callable[[], bool]) -> str:
    if isinstance(item, NonAdmin) and item.is_lost:
        return "its Velero object no longer exists"
    return "" if isinstance(item, NonAdmin) and item.velero.name else "it has no object of Velero's yet"


def _has_movements(_item: Resource, moves: Callable[[], bool]) -> str:
    return "" if moves() else "nothing of it is being moved"


_URL_OF_A_FILE = tuple(RequiredPermission(verb, DOWNLOAD_REQUEST) for verb in ("get", "watch"))
_URL_OF_A_TENANTS_FILE = tuple(RequiredPermission(verb, NONADMIN_DOWNLOAD) for verb in ("get", "watch"))

_FIRST, _EARLY, _MIDDLE, _LATE = 1, 2, 4, 13
"""Ranks in the footer, among those of the other keys in `foretop.bindings`."""

# The records, in the order of footer, help and palette

PAUSE = ActionRecord(
    "pause",
    "Pause",
    "s",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    many=True,
    applies=_is_unpaused,
    short="pause",
    footer=_EARLY,
    words=("stop", "suspend"),
    hint="pause {}",
    commands=("schedule pause",),
    purpose="pause and unpause schedules",
)
UNPAUSE = ActionRecord(
    "unpause",
    "Unpause",
    "u",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    many=True,
    applies=_is_paused,
    short="unpause",
    footer=_EARLY,
    words=("resume", "continue"),
    hint="unpause {}",
    follow_up=FollowUp.SCHEDULE_RESUMED,
    commands=("schedule unpause",),
)
BACK_UP_NOW = ActionRecord(
    "back-up-now",
    "Back up now",
    "t",
    (SCHEDULE,),
    (RequiredPermission("create", BACKUP),),
    many=True,
    short="back up now",
    footer=_LATE,
    words=("backup now", "run now"),
    hint="back {} up now",
    follow_up=FollowUp.BACKUP_BEGUN,
    commands=("backup create",),
    purpose="back up now",
)
RUN_AGAIN = ActionRecord(
    "run-again",
    "Run again",
    "t",
    (BACKUP,),
    (RequiredPermission("create", BACKUP),),
    applies=_has_ended,
    short="run again",
    footer=_LATE,
    words=("backup now",),
    hint="run {} again",
    follow_up=FollowUp.BACKUP_BEGUN,
    commands=("backup create",),
)
RESTORE_FROM = ActionRecord(
    "restore",
    "Restore from it",
    "r",
    (BACKUP,),
    (RequiredPermission("create", RESTORE),),
    applies=_is_usable,
    short="restore",
    footer=_EARLY,
    hint="restore from {}",
    follow_up=FollowUp.RESTORE_ENDED,
    commands=("restore create",),
    purpose="restore",
)
LOGS = ActionRecord(
    "logs",
    "Fetch its logs",
    "l",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    applies=_has_begun,
    short="logs",
    footer=_EARLY,
    hint="logs of {}",
    fetches=True,
    reads=(*_URL_OF_A_FILE, RequiredPermission("list", POD), RequiredPermission("get", POD, "log")),
    purpose="fetch logs and results",
)
NONADMIN_LOGS = ActionRecord(
    "nonadmin-logs",
    "Fetch its logs",
    "l",
    (NAB, NAR),
    (RequiredPermission("create", NONADMIN_DOWNLOAD),),
    applies=_has_led_somewhere,
    short="logs",
    footer=_EARLY,
    hint="logs of {}",
    fetches=True,
    reads=_URL_OF_A_TENANTS_FILE,
    purpose="fetch logs and results of NABs and NARs",
)
RESULTS = ActionRecord(
    "fetch-results",
    "Fetch its results",
    "e",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    only_in_results=True,
    instead_of=("results",),
    short="fetch results",
    footer=_FIRST,
    fetches=True,
    reads=_URL_OF_A_FILE,
)
NONADMIN_RESULTS = ActionRecord(
    "fetch-nonadmin-results",
    "Fetch its results",
    "e",
    (NAB, NAR),
    (RequiredPermission("create", NONADMIN_DOWNLOAD),),
    only_in_results=True,
    instead_of=("results",),
    short="fetch results",
    footer=_FIRST,
    fetches=True,
    reads=_URL_OF_A_TENANTS_FILE,
)
RESOURCES = ActionRecord(
    "resources",
    "List the resources in it",
    "",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    applies=_has_files,
    words=("contents", "details", "items"),
    fetches=True,
    reads=_URL_OF_A_FILE,
)
CANCEL_MOVEMENTS = ActionRecord(
    "cancel-movements",
    "Cancel its data movements",
    "x",
    (BACKUP,),
    (RequiredPermission("patch", POD_VOLUME_BACKUP), RequiredPermission("patch", DATA_UPLOAD)),
    dangerous=True,
    applies=_has_movements,
    short="cancel",
    footer=_LATE,
    words=("stop",),
    hint="cancel the data movements of {}",
    commands=("backup cancel",),
    purpose="cancel data movements",
)
CREATE_SCHEDULE = ActionRecord(
    "create-schedule",
    "Create a schedule",
    "a",
    (SCHEDULE,),
    (RequiredPermission("create", SCHEDULE),),
    asked_of=AskedOf.NEW,
    page="schedules",
    short="create",
    footer=_LATE,
    words=("new", "add"),
    follow_up=FollowUp.SCHEDULE_JUDGED,
    commands=("schedule create",),
    purpose="create schedules",
)
EDIT_SCHEDULE = ActionRecord(
    "edit-schedule",
    "Edit the schedule",
    "e",
    (SCHEDULE,),
    (RequiredPermission("patch", SCHEDULE),),
    short="edit",
    footer=_MIDDLE,
    words=("change", "cron", "ttl", "editor"),
    hint="edit {}",
    follow_up=FollowUp.SCHEDULE_EDITED,
    commands=("schedule edit",),
)
DELETE_SCHEDULE = ActionRecord(
    "delete-schedule",
    "Delete the schedule",
    "ctrl+d",
    (SCHEDULE,),
    (RequiredPermission("delete", SCHEDULE),),
    dangerous=True,
    many=True,
    short="delete",
    footer=_LATE,
    commands=("schedule delete",),
    purpose="delete schedules",
)
DELETE_BACKUP = ActionRecord(
    "delete-backup",
    "Delete the backup",
    "ctrl+d",
    (BACKUP,),
    (RequiredPermission("create", DELETE_REQUEST),),
    dangerous=True,
    many=True,
    short="delete",
    footer=_LATE,
    follow_up=FollowUp.BACKUP_DELETED,
    commands=("backup delete",),
    purpose="delete backups",
)
EXTEND_BACKUP = ActionRecord(
    "extend-backup",
    "Extend its life",
    "v",
    (BACKUP,),
    (RequiredPermission("patch", BACKUP),),
    many=True,
    applies=_is_kept,
    short="extend",
    footer=_LATE,
    words=("ttl", "expiration", "keep"),
    commands=("backup extend",),
    purpose="extend the life of backups",
)
DELETE_RESTORE = ActionRecord(
    "delete-restore",
    "Delete the restore",
    "ctrl+d",
    (RESTORE,),
    (RequiredPermission("delete", RESTORE),),
    dangerous=True,
    many=True,
    short="delete",
    footer=_LATE,
    follow_up=FollowUp.RESTORE_DELETED,
    commands=("restore delete",),
    purpose="delete restores",
)
DELETE_NAB = ActionRecord(
    "delete-nab",
    "Delete the NAB",
    "ctrl+d",
    (NAB,),
    (RequiredPermission("patch", NAB),),
    dangerous=True,
    many=True,
    short="delete",
    footer=_LATE,
    follow_up=FollowUp.NONADMIN_DELETED,
    commands=("nab delete",),
    purpose="delete NABs",
)
DELETE_NAR = ActionRecord(
    "delete-nar",
    "Delete the NAR",
    "ctrl+d",
    (NAR,),
    (RequiredPermission("delete", NAR),),
    dangerous=True,
    many=True,
    short="delete",
    footer=_LATE,
    follow_up=FollowUp.NONADMIN_DELETED,
    commands=("nar delete",),
    purpose="delete NARs",
)
DECIDE_STORAGE = ActionRecord(
    "decide-storage",
    "Approve or reject the storage request",
    "a",
    (NABSL_REQUEST,),
    (RequiredPermission("patch", NABSL_REQUEST),),
    many=True,
    short="approve",
    footer=_EARLY,
    words=("approve", "reject"),
    hint="approve or reject {}",
    commands=("storage-request approve", "storage-request reject"),
    purpose="approve and reject storage requests",
)
SERVER_DEFAULT = ActionRecord(
    "server-default",
    "Set the server's skip default",
    "",
    (DEPLOYMENT,),
    (RequiredPermission("patch", DEPLOYMENT, names=(VELERO_DEPLOYMENT,)),),
    dangerous=True,
    asked_of=AskedOf.SERVER,
    page="schedules",
    short="server default",
    commands=("server set",),
    purpose="set the server's skip default",
)
_CARRIES_ACKNOWLEDGEMENTS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NABSL_REQUEST, NAB, NAR)
ACKNOWLEDGE = ActionRecord(
    "acknowledge",
    "Acknowledge",
    "h",
    _CARRIES_ACKNOWLEDGEMENTS,
    tuple(RequiredPermission("patch", kind) for kind in _CARRIES_ACKNOWLEDGEMENTS),
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    short="acknowledge",
    footer=_MIDDLE,
    words=("known", "hide", "silence", "mute", "snooze"),
    commands=("acknowledge",),
    purpose="acknowledge findings for everybody",
)
UNACKNOWLEDGE = ActionRecord(
    "unacknowledge",
    "Show as open again",
    "h",
    _CARRIES_ACKNOWLEDGEMENTS,
    ACKNOWLEDGE.rights,
    many=True,
    asked_of=AskedOf.FINDING,
    page="triage",
    instead_of=("acknowledge",),
    short="open again",
    footer=_MIDDLE,
    words=("unacknowledge",),
    commands=("unacknowledge",),
)

DRILL = ActionRecord(
    "drill",
    "Drill",
    "t",
    (NAMESPACE,),
    (
        RequiredPermission("create", NAMESPACE),
        RequiredPermission("create", CONFIG_MAP),
        RequiredPermission("create", RESTORE),
        RequiredPermission("create", DOWNLOAD_REQUEST),
        RequiredPermission("patch", BACKUP),
    ),
    reads=(RequiredPermission("list", CONFIG_MAP), RequiredPermission("list", RESOURCE_QUOTA), *_URL_OF_A_FILE),
    dangerous=True,
    short="drill",
    footer=_EARLY,
    words=("try", "test", "rehearse"),
    for_administrators=True,
    commands=("drill",),
    purpose="drill a restore",
)
NOT_FOR_TENANTS = (
    "you are not allowed to list namespaces",
    "a drill is for administrators; a tenant restores in place with a NonAdminRestore",
)
"""Why somebody cannot drill, and what one can do instead."""
DRILL_CLEANUP = ActionRecord(
    "drill-cleanup",
    "Delete what the drill made",
    "ctrl+d",
    (NAMESPACE,),
    (
        RequiredPermission("delete", NAMESPACE),
        RequiredPermission("delete", CONFIG_MAP),
        RequiredPermission("delete", RESTORE),
    ),
    reads=(RequiredPermission("list", CONFIG_MAP),),
    dangerous=True,
    applies=_is_of_drill,
    short="delete",
    footer=_LATE,
    hint="delete what its drill left",
    words=("left over", "clean up"),
    for_administrators=True,
    commands=("drill",),
    purpose="clean up after a drill",
)

INTENTS = (
    PAUSE,
    UNPAUSE,
    BACK_UP_NOW,
    RUN_AGAIN,
    RESTORE_FROM,
    LOGS,
    NONADMIN_LOGS,
    RESULTS,
    NONADMIN_RESULTS,
    RESOURCES,
    CANCEL_MOVEMENTS,
    CREATE_SCHEDULE,
    EDIT_SCHEDULE,
    DELETE_SCHEDULE,
    DELETE_BACKUP,
    EXTEND_BACKUP,
    DELETE_RESTORE,
    DELETE_NAB,
    DELETE_NAR,
    DECIDE_STORAGE,
    SERVER_DEFAULT,
    ACKNOWLEDGE,
    UNACKNOWLEDGE,
    DRILL,
    DRILL_CLEANUP,
)
"""Where two share a key, the first that can be asked of what is chosen has it."""


def told_rights(
    intents: Iterable[ActionRecord] = INTENTS,
) -> Iterator[tuple[RequiredPermission, Kind, str]]:
    """The rights that the doctor looks at, each once, with the kind that the first action that needs it is asked of
    and what one can do with it."""
    told: set[RequiredPermission] = set()
    for intent in intents:
        for needed in (*intent.rights, *intent.reads) if intent.purpose else ():
            if needed not in told:
                told.add(needed)
                asked_of = needed.kind if needed.kind in intent.kinds else intent.kinds[0]
                yield needed, asked_of, intent.purpose
