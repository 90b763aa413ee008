"""Files of a backup or restore, fetched from its storage: the request that makes Velero sign their URL."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import TypeAlias

from foretop_core.actions.action_record import EARLY, FIRST, ActionRecord
from foretop_core.actions.plans import Plan
from foretop_core.actions.step_builders import create_step, velero
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, Resource, Restore
from foretop_core.models.kinds import (
    BACKUP,
    DOWNLOAD_REQUEST,
    NAB,
    NAR,
    NONADMIN_DOWNLOAD,
    POD,
    RESTORE,
    RequiredPermission,
)
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import phases
from foretop_core.rules.snapshot import ClusterSnapshot

Run: TypeAlias = Backup | Restore
MOST_BYTES = 128 * 1024 * 1024


class RunFile(Enum):
    """Which file; the value is the end of the target's kind in a DownloadRequest."""

    LOG = "Log"
    RESULTS = "Results"
    RESOURCES = "ResourceList"
    VOLUMES = "VolumeInfos"

    @property
    def noun(self) -> str:
        return {RunFile.RESOURCES: "resource list", RunFile.VOLUMES: "volume info"}.get(self, self.value.lower())

    @property
    def is_one(self) -> bool:
        """True if its noun is a singular."""
        return self is not RunFile.RESULTS

    @property
    def most_bytes(self) -> int:
        """A log is shown line by line; the others are taken apart whole, which takes many times their size."""
        shares = {RunFile.LOG: 1, RunFile.RESOURCES: 2, RunFile.RESULTS: 8, RunFile.VOLUMES: 4}
        return MOST_BYTES // shares[self]

    def record(self, *, of_tenant: bool) -> ActionRecord:
        if self is RunFile.RESOURCES:
            return RESOURCES
        if self is RunFile.LOG:
            return NONADMIN_LOGS if of_tenant else LOGS
        return NONADMIN_RESULTS if of_tenant else RESULTS


def plan_download(snapshot: ClusterSnapshot, item: Run | NonAdmin, file: RunFile, now: datetime) -> Plan:
    """The request that would be made."""
    context = snapshot.context
    of_tenant = isinstance(item, NonAdmin)
    word = "Backup" if isinstance(item, Backup | NonAdminBackup) else "Restore"
    kind = NONADMIN_DOWNLOAD if of_tenant else DOWNLOAD_REQUEST
    target = ObjectRef(context, kind.name, item.namespace, f"{item.name[:240]}-{secrets.token_hex(5)}")
    spec = {"target": {"kind": f"{word}{file.value}", "name": item.name}}
    changes = (f"a {kind.name} for the {file.noun} of {item.name} is created; Velero removes it after ten minutes",)
    forecast = f"Velero signs a URL from which the {file.noun} {'is' if file.is_one else 'are'} fetched"
    verb = ("logs", item.name) if file is RunFile.LOG else ("describe", item.name, "--details")
    line = "" if of_tenant else velero(context, item.namespace, word.lower(), *verb)
    step = create_step(target, spec, changes, forecast, line)
    return Plan(file.record(of_tenant=of_tenant), now, (step,))


def _has_files(item: Resource, _moves: Callable[[], bool]) -> str:
    return phases.why_no_files(item.phase) if isinstance(item, Backup | Restore) else "it has no files"


def _has_begun(item: Resource, _moves: Callable[[], bool]) -> str:
    begun = isinstance(item, Backup | Restore) and item.phase not in phases.WAITING
    return "" if begun else "it has not begun"


def _has_led_somewhere(item: Resource, _moves: Callable[[], bool]) -> str:
    if isinstance(item, NonAdmin) and item.is_lost:
        return "its Velero object no longer exists"
    return "" if isinstance(item, NonAdmin) and item.velero.name else "it has no object of Velero's yet"


URL_OF_A_FILE = tuple(RequiredPermission(verb, DOWNLOAD_REQUEST) for verb in ("get", "watch"))
_URL_OF_A_TENANTS_FILE = tuple(RequiredPermission(verb, NONADMIN_DOWNLOAD) for verb in ("get", "watch"))

LOGS = ActionRecord(
    70,
    "logs",
    "Fetch its logs",
    "l",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    plan_download,
    applies=_has_begun,
    short="logs",
    footer=EARLY,
    hint="logs of {}",
    fetches=True,
    reads=(*URL_OF_A_FILE, RequiredPermission("list", POD), RequiredPermission("get", POD, "log")),
    purpose="fetch logs and results",
)
NONADMIN_LOGS = ActionRecord(
    80,
    "nonadmin-logs",
    "Fetch its logs",
    "l",
    (NAB, NAR),
    (RequiredPermission("create", NONADMIN_DOWNLOAD),),
    plan_download,
    applies=_has_led_somewhere,
    short="logs",
    footer=EARLY,
    hint="logs of {}",
    fetches=True,
    reads=_URL_OF_A_TENANTS_FILE,
    purpose="fetch logs and results of NABs and NARs",
)
RESULTS = ActionRecord(
    90,
    "fetch-results",
    "Fetch its results",
    "x",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    plan_download,
    only_in_results=True,
    instead_of=("results",),
    short="fetch results",
    footer=FIRST,
    fetches=True,
    reads=URL_OF_A_FILE,
)
NONADMIN_RESULTS = ActionRecord(
    100,
    "fetch-nonadmin-results",
    "Fetch its results",
    "x",
    (NAB, NAR),
    (RequiredPermission("create", NONADMIN_DOWNLOAD),),
    plan_download,
    only_in_results=True,
    instead_of=("results",),
    short="fetch results",
    footer=FIRST,
    fetches=True,
    reads=_URL_OF_A_TENANTS_FILE,
)
RESOURCES = ActionRecord(
    110,
    "resources",
    "List the resources in it",
    "",
    (BACKUP, RESTORE),
    (RequiredPermission("create", DOWNLOAD_REQUEST),),
    plan_download,
    applies=_has_files,
    words=("contents", "details", "items"),
    fetches=True,
    reads=URL_OF_A_FILE,
)
