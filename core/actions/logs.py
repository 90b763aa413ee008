"""The logs of backups and restores: asked for by a DownloadRequest, and what to do where that cannot work."""

from __future__ import annotations

import asyncio
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from core.actions.download import Progress, Trust, Unfetched, fetch
from core.actions.execute import Outcome
from core.actions.guard import Refused
from core.actions.hand import Hand
from core.actions.intents import LOGS, NONADMIN_LOGS
from core.actions.plans import Plan, Target
from core.actions.podlog import pod_log
from core.actions.steps import create_step, kubectl, velero
from core.errors import BadInput, ForetopError, Unreadable
from core.kube import paths
from core.kube.access import right
from core.kube.envelope import read_event
from core.kube.failures import ApiError, Unreachable
from core.models import Backup, NonAdminBackup, Restore, decode
from core.models.download import DOWNLOAD_REQUEST, NONADMIN_DOWNLOAD, DownloadRequest, NonAdminDownloadRequest
from core.rules.world import World

READABLE = frozenset(
    {
        "Completed",
        "PartiallyFailed",
        "Failed",
        "WaitingForPluginOperations",
        "WaitingForPluginOperationsPartiallyFailed",
    }
)
"""Only in these phases has Velero uploaded a log."""
URL_WITHIN = 30.0


class NoLog(ForetopError):
    """The whole log cannot be had; the reason, and what would help."""


@dataclass(frozen=True, slots=True)
class Log:
    """The lines of a log; partial where they come from Velero's pod, with the reason for that."""

    lines: tuple[str, ...]
    partial: bool = False
    why: str = ""

    def search(self, text: str) -> tuple[tuple[int, str], ...]:
        """The lines that hold a text, whatever its case, with their numbers from 1."""
        wanted = text.casefold()
        return tuple((at, line) for at, line in enumerate(self.lines, start=1) if wanted in line.casefold())

    def save(self, path: Path) -> None:
        """Into a new file that its owner alone can read; one that is there is left alone."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self.lines)
        except OSError as problem:
            raise BadInput(f"{path} cannot be written", problem.strerror or str(problem)) from None


async def run_log(
    hand: Hand, item: Backup | Restore, trust: Trust | None = None, progress: Progress | None = None
) -> Log:
    """The whole log of a backup or restore, or what Velero's pod has of it, said to be partial."""
    tell = progress or (lambda done, total: None)
    try:
        why_not = why_no_log(hand.world(), item)
        if why_not:
            raise NoLog(*why_not)
        return Log(await _whole(hand, log_plan(hand, item), trust or Trust(), tell))
    except (Refused, NoLog, Unfetched, ApiError, Unreachable) as problem:
        found = await _of_pod(hand, item, problem)
        return Log(found, partial=True, why=str(problem))


async def nab_log(hand: Hand, nab: NonAdminBackup, trust: Trust | None = None, progress: Progress | None = None) -> Log:
    """By a NonAdminDownloadRequest where its rules allow; who may ask Velero itself gets it there."""
    tell = progress or (lambda done, total: None)
    backup = nab.velero
    if not backup.name:
        raise NoLog(f"{nab.name} has no log", "it has led to no Velero backup yet")
    phase = backup.status.phase if backup.status else ""
    if phase not in READABLE:
        raise NoLog(f"{nab.name} has no log yet", f"its backup is {phase or 'waiting'}", "wait until it has ended")
    if nab.spec.backup_spec.storage_location:
        return Log(await _whole(hand, nonadmin_log_plan(hand, nab), trust or Trust(), tell))
    live = hand.world().velero_backup(nab)
    allowed = await hand.access.verdict(right("create", DOWNLOAD_REQUEST, backup.namespace))
    if allowed.allowed and live is not None:
        return await run_log(hand, live, trust, progress)
    raise NoLog(
        f"The log of {nab.name} is not given to tenants",
        "it lies in the administrator's storage, and a NonAdminDownloadRequest is granted only for a backup in a "
        "NonAdminBackupStorageLocation of one's own",
        "ask the administrator",
    )


def why_no_log(world: World, item: Backup | Restore) -> tuple[str, str, str] | None:
    """What, why and what next, where Velero would give no address for the log."""
    if item.phase not in READABLE:
        hint = "it was never run" if item.phase == "FailedValidation" else "wait until it has ended"
        return f"{item.name} has no log yet", f"it is {item.phase or 'New'}", hint
    backup = item if isinstance(item, Backup) else _backup_of(world, item)
    location = world.location(backup.namespace, backup.spec.storage_location) if backup else None
    if location is not None and location.phase == "Unavailable":
        why = f"the storage location {location.name} is Unavailable: {location.status.message or 'no reason given'}"
        return f"The log of {item.name} cannot be fetched", why, "mend the storage location"
    return None


def log_plan(hand: Hand, item: Backup | Restore) -> Plan:
    word = "Backup" if isinstance(item, Backup) else "Restore"
    context = hand.world().context
    target = Target(context, DOWNLOAD_REQUEST, item.namespace, _request_name(item.name))
    line = velero(context, item.namespace, word.lower(), "logs", item.name)
    return _plan(hand, target, f"{word}Log", item.name, line)


def nonadmin_log_plan(hand: Hand, nab: NonAdminBackup) -> Plan:
    context = hand.world().context
    target = Target(context, NONADMIN_DOWNLOAD, nab.namespace, _request_name(nab.name))
    line = kubectl(context, nab.namespace, "create", "-f", "-")
    return _plan(hand, target, "BackupLog", nab.name, line)


def _plan(hand: Hand, target: Target, kind: str, name: str, command: str) -> Plan:
    spec = {"target": {"kind": kind, "name": name}}
    changes = (f"a {target.kind.name} for the log of {name} is made; Velero removes it after ten minutes",)
    step = create_step(target, spec, changes, "Velero signs an address from which the log is fetched", command)
    intent = LOGS if target.kind is DOWNLOAD_REQUEST else NONADMIN_LOGS
    return Plan(intent, hand.clock.now(), (step,))


async def _whole(hand: Hand, plan: Plan, trust: Trust, progress: Progress) -> tuple[str, ...]:
    await hand.guard(plan)
    async for result in hand.carry_out(plan, lambda world, items, now: plan):
        if result.outcome is not Outcome.DONE:
            raise NoLog("The log cannot be asked for", result.error)
    url = await _address(hand, plan.steps[0].target)
    return await fetch(url, trust, progress)


async def _address(hand: Hand, target: Target) -> str:
    """Watches the request until it has an address; a broken storage location never gives one."""
    read = _url_of_nonadmin if target.kind is NONADMIN_DOWNLOAD else _url_of
    params = {"watch": "1", "fieldSelector": f"metadata.name={target.name}", "timeoutSeconds": str(int(URL_WITHIN))}
    collection = paths.collection(target.kind, target.namespace)
    try:
        async with asyncio.timeout(URL_WITHIN), hand.client.stream(collection, params, URL_WITHIN) as lines:
            async for line in lines:
                if url := read(bytes(read_event(line).object)):
                    return url
    except (TimeoutError, Unreachable, Unreadable):
        pass
    raise NoLog(
        "Velero gave no address for the log",
        f"it was asked {int(URL_WITHIN)} s ago",
        "see whether Velero runs and its storage location is Available",
    )


def _url_of(body: bytes) -> str:
    return decode(DownloadRequest, body).status.download_url


def _url_of_nonadmin(body: bytes) -> str:
    """The address, or the controller's reason for giving none."""
    status = decode(NonAdminDownloadRequest, body).status
    refused = next((one for one in status.conditions if one.status == "False"), None)
    if status.phase == "BackingOff" or refused is not None:
        why = refused.message or refused.reason if refused else "the non-admin controller refuses it"
        raise NoLog("The log is not given to tenants", why, "ask the administrator")
    return status.velero.status.download_url


async def _of_pod(hand: Hand, item: Backup | Restore, problem: ForetopError) -> tuple[str, ...]:
    try:
        return await pod_log(hand.client, item.namespace, item.name)
    except ForetopError as second:
        raise NoLog(str(problem), f"nor can Velero's own log be read: {second}") from None


def _backup_of(world: World, restore: Restore) -> Backup | None:
    wanted = (restore.namespace, restore.spec.backup_name)
    return next((one for one in world.backups if (one.namespace, one.name) == wanted), None)


def _request_name(name: str) -> str:
    return f"{name[:240]}-{secrets.token_hex(5)}"
