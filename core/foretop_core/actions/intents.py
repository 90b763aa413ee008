"""What a person can ask for, as data: bindings, palette, help, guards and commands are all made from these."""

from __future__ import annotations

from dataclasses import dataclass

from foretop_core.models.download import DOWNLOAD_REQUEST, NONADMIN_DOWNLOAD
from foretop_core.models.kinds import (
    BACKUP,
    DELETE_REQUEST,
    DEPLOYMENT,
    MOVEMENTS,
    NAB,
    NABSL_REQUEST,
    NAR,
    RESTORE,
    SCHEDULE,
    Kind,
)


@dataclass(frozen=True, slots=True)
class RequiredPermission:
    """A verb on a kind that an intent needs."""

    verb: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Intent:
    """One wish: on which kinds it can be made, what it needs, and how careful the dialog must be."""

    id: str
    title: str
    key: str
    kinds: tuple[Kind, ...]
    rights: tuple[RequiredPermission, ...]
    dangerous: bool = False
    """The dialog asks for the name."""
    many: bool = False
    """Can be asked of several objects at once."""


PAUSE = Intent("pause", "Pause", "s", (SCHEDULE,), (RequiredPermission("patch", SCHEDULE),), many=True)
UNPAUSE = Intent("unpause", "Unpause", "u", (SCHEDULE,), (RequiredPermission("patch", SCHEDULE),), many=True)
CREATE_SCHEDULE = Intent(
    "create-schedule", "Create a schedule", "a", (SCHEDULE,), (RequiredPermission("create", SCHEDULE),)
)
DELETE_SCHEDULE = Intent(
    "delete-schedule",
    "Delete the schedule",
    "ctrl+d",
    (SCHEDULE,),
    (RequiredPermission("delete", SCHEDULE),),
    True,
    True,
)
BACK_UP_NOW = Intent("back-up-now", "Back up now", "t", (SCHEDULE,), (RequiredPermission("create", BACKUP),), many=True)
RUN_AGAIN = Intent("run-again", "Run again", "t", (BACKUP,), (RequiredPermission("create", BACKUP),))
RESTORE_FROM = Intent("restore", "Restore from it", "r", (BACKUP,), (RequiredPermission("create", RESTORE),))
DELETE_BACKUP = Intent(
    "delete-backup",
    "Delete the backup",
    "ctrl+d",
    (BACKUP,),
    (RequiredPermission("create", DELETE_REQUEST),),
    True,
    True,
)
DELETE_NAB = Intent("delete-nab", "Delete the NAB", "ctrl+d", (NAB,), (RequiredPermission("patch", NAB),), True, True)
DELETE_NAR = Intent("delete-nar", "Delete the NAR", "ctrl+d", (NAR,), (RequiredPermission("delete", NAR),), True, True)
CANCEL_MOVEMENTS = Intent(
    "cancel-movements",
    "Cancel its data movements",
    "x",
    (BACKUP,),
    tuple(RequiredPermission("patch", kind) for kind in MOVEMENTS),
    dangerous=True,
)
SERVER_DEFAULT = Intent(
    "server-default",
    "Set the server's skip default",
    "",
    (DEPLOYMENT,),
    (RequiredPermission("patch", DEPLOYMENT),),
    dangerous=True,
)

DECIDE_STORAGE = Intent(
    "decide-storage",
    "Approve or reject the storage request",
    "a",
    (NABSL_REQUEST,),
    (RequiredPermission("patch", NABSL_REQUEST),),
    many=True,
)
LOGS = Intent("logs", "Fetch its logs", "l", (BACKUP, RESTORE), (RequiredPermission("create", DOWNLOAD_REQUEST),))
NONADMIN_LOGS = Intent(
    "nonadmin-logs", "Fetch its logs", "l", (NAB, NAR), (RequiredPermission("create", NONADMIN_DOWNLOAD),)
)
RESULTS = Intent(
    "fetch-results", "Fetch its results", "e", (BACKUP, RESTORE), (RequiredPermission("create", DOWNLOAD_REQUEST),)
)
NONADMIN_RESULTS = Intent(
    "fetch-nonadmin-results", "Fetch its results", "e", (NAB, NAR), (RequiredPermission("create", NONADMIN_DOWNLOAD),)
)

INTENTS = (
    PAUSE,
    UNPAUSE,
    CREATE_SCHEDULE,
    DELETE_SCHEDULE,
    BACK_UP_NOW,
    RUN_AGAIN,
    RESTORE_FROM,
    DELETE_BACKUP,
    DELETE_NAB,
    DELETE_NAR,
    CANCEL_MOVEMENTS,
    SERVER_DEFAULT,
    DECIDE_STORAGE,
    LOGS,
    NONADMIN_LOGS,
    RESULTS,
    NONADMIN_RESULTS,
)
