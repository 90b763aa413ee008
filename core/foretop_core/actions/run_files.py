"""The files that a backup or restore leaves in its storage: asked for by a DownloadRequest, or why not."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from foretop_core.actions.plan_executor import Outcome, PlanExecutor
from foretop_core.actions.planners.downloads import Run, RunFile, plan_download
from foretop_core.actions.plans import Plan
from foretop_core.actions.signed_url_download import Progress, TlsTrust, fetch
from foretop_core.actions.step_builders import unavailable_storage
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.access.access_reviewer import permission
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.connection_errors import Unreachable
from foretop_core.kube.connection.list_watch_codec import read_event
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Restore, decode
from foretop_core.models.kinds import DOWNLOAD_REQUEST, NONADMIN_DOWNLOAD, kind_of_ref
from foretop_core.models.velero import DownloadRequest, DownloadStatus, NonAdminDownloadRequest
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.contents_facts import FetchedFiles
from foretop_core.rules.phases import why_no_files
from foretop_core.rules.results import ResourceList, Results, parse, parse_resource_list
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.volumes.evidence import KnownVolumes
from foretop_core.rules.volumes.volume_info import parse_volume_info

URL_WITHIN = 30.0


class FileUnavailable(ForetopError):
    """The file cannot be had; the reason, and what would help."""


async def run_file(
    executor: PlanExecutor, run: Run, file: RunFile, trust: TlsTrust | None, progress: Progress | None
) -> bytearray:
    """A file of one of Velero's own objects."""
    if executor.client.kept_file is not None:
        return await executor.client.kept_file(run, file)
    why_not = why_no_file(executor.snapshot(), run, file)
    if why_not:
        raise FileUnavailable(*why_not)
    return await _ask(executor, file_plan(executor, run, file), file, trust, progress)


async def tenant_file(
    executor: PlanExecutor, item: NonAdmin, file: RunFile, trust: TlsTrust | None, progress: Progress | None
) -> bytearray:
    """By a NonAdminDownloadRequest, which is granted where the backup lies in a location of the tenant's own."""
    if executor.client.kept_file is not None:
        return await executor.client.kept_file(item, file)
    return await _ask(executor, file_plan(executor, item, file), file, trust, progress)


async def results_of(
    executor: PlanExecutor, item: Run | NonAdmin, trust: TlsTrust | None = None, progress: Progress | None = None
) -> Results:
    """The results of a backup or restore, a tenant's included; raises where they cannot be had or read."""
    owner = await permitted_file_owner(executor, item, RunFile.RESULTS) if isinstance(item, NonAdmin) else item
    if isinstance(owner, NonAdmin):
        return parse(await tenant_file(executor, owner, RunFile.RESULTS, trust, progress))
    return parse(await run_file(executor, owner, RunFile.RESULTS, trust, progress))


async def resources_of(
    executor: PlanExecutor, run: Run, trust: TlsTrust | None = None, progress: Progress | None = None
) -> ResourceList:
    """The resources in a backup, or restored by a restore; raises where the list cannot be had or read."""
    return parse_resource_list(await run_file(executor, run, RunFile.RESOURCES, trust, progress))


async def volumes_of(
    executor: PlanExecutor, backup: Backup, trust: TlsTrust | None = None, progress: Progress | None = None
) -> KnownVolumes:
    """The volume info of a backup; raises where it cannot be had or read, or is of another by now."""
    body = await run_file(executor, backup, RunFile.VOLUMES, trust, progress)
    info = await asyncio.to_thread(parse_volume_info, body)
    now = next((item for item in executor.snapshot().backups if _name(item) == _name(backup)), None)
    if now is None or (now.metadata.uid, now.phase) != (backup.metadata.uid, backup.phase):
        raise FileUnavailable(f"The volume info of {backup.name} is of no use", "the backup has changed meanwhile")
    return KnownVolumes(backup.metadata.uid, backup.phase, info)


def _name(item: Backup) -> tuple[str, str]:
    return item.namespace, item.name


def files_together(item: Run | NonAdmin) -> tuple[RunFile, ...]:
    """The files that belong together: a backup's results, if it has any, and what it holds."""
    if not isinstance(item, Backup):
        return (RunFile.RESULTS,)
    has_results = item.status.errors or item.status.warnings
    return (*((RunFile.RESULTS,) if has_results else ()), RunFile.VOLUMES, RunFile.RESOURCES)


async def files_of(executor: PlanExecutor, item: Run | NonAdmin, progress: Progress | None) -> FetchedFiles:
    """Fetches all of them, one after the other; raises where the results cannot be had, and says so of the others."""
    files = files_together(item)
    if not isinstance(item, Backup):
        return FetchedFiles(await results_of(executor, item, progress=progress))
    fetched = FetchedFiles(Results())
    for file in files:
        try:
            match file:
                case RunFile.RESULTS:
                    fetched = replace(fetched, results=await results_of(executor, item, progress=progress))
                case RunFile.VOLUMES:
                    fetched = replace(fetched, volumes=await volumes_of(executor, item, progress=progress))
                case _:
                    fetched = replace(fetched, resources=await resources_of(executor, item, progress=progress))
        except ForetopError as problem:
            if file is files[0] and file is RunFile.RESULTS:
                raise
            fetched = replace(fetched, lacking=(*fetched.lacking, str(problem)))
            if len(fetched.lacking) == len(files):
                raise
    return fetched


def files_plan(executor: PlanExecutor, item: Run | NonAdmin) -> Plan:
    """The requests that would be made, each sent by itself."""
    plans = [file_plan(executor, item, file) for file in files_together(item)]
    return replace(plans[0], steps=tuple(step for plan in plans for step in plan.steps))


async def permitted_file_owner(executor: PlanExecutor, item: NonAdmin, file: RunFile) -> Run | NonAdmin:
    """Whose file it is that may be asked for: the tenant's own object's, or that of Velero's behind it."""
    snapshot = executor.snapshot()
    run = snapshot.velero_run(item)
    word = "backup" if isinstance(item, NonAdminBackup) else "restore"
    if not item.velero.name:
        raise FileUnavailable(f"{item.name} has no {file.noun}", f"it has no Velero {word} yet")
    if run is None and item.is_lost:
        raise FileUnavailable(f"{item.name} has no {file.noun} any more", f"its Velero {word} no longer exists")
    copied = item.velero.status.phase if item.velero.status else ""
    phase = run.phase if run is not None else copied
    if why_no_files(phase):
        raise FileUnavailable(*_unwritten(item.name, file, phase, f"its {word} is {phase or 'New'}"))
    if executor.client.kept_file is not None and run is not None:
        return run
    if has_own_storage(snapshot, item):
        return item
    allowed = await executor.access.verdict(permission("create", DOWNLOAD_REQUEST, item.velero.namespace))
    if allowed.allowed and run is not None:
        return run
    raise FileUnavailable(
        f"The {file.noun} of {item.name} {'is' if file.is_one else 'are'} not available to tenants",
        "the backup is in the administrator's storage, and a NonAdminDownloadRequest is granted only for a backup in "
        "your own NonAdminBackupStorageLocation",
        "ask the administrator",
    )


async def refusal(executor: PlanExecutor, item: Run | NonAdmin, file: RunFile) -> str:
    """Tells what stands against fetching it, "" where nothing does; nothing is written for this."""
    try:
        owner = await permitted_file_owner(executor, item, file) if isinstance(item, NonAdmin) else item
        if executor.client.kept_file is not None:
            return ""
        why_not = None if isinstance(owner, NonAdmin) else why_no_file(executor.snapshot(), owner, file)
        if why_not:
            raise FileUnavailable(*why_not)
        await executor.guard(file_plan(executor, owner, file))
    except ForetopError as problem:
        return str(problem)
    return ""


def likely_file_owner(snapshot: ClusterSnapshot, item: Run | NonAdmin) -> Run | NonAdmin | None:
    """The same as far as it can be told without asking for rights; None where Velero's object is not seen."""
    if isinstance(item, NonAdmin) and not has_own_storage(snapshot, item):
        return snapshot.velero_run(item)
    return item


def has_own_storage(snapshot: ClusterSnapshot, item: NonAdmin) -> bool:
    """True if the backup lies in a storage location of the tenant's own; a restore's is where its backup is."""
    nab = item if isinstance(item, NonAdminBackup) else None
    if isinstance(item, NonAdminRestore):
        backup = (item.namespace, item.spec.restore_spec.backup_name)
        nab = next((candidate for candidate in snapshot.nabs if (candidate.namespace, candidate.name) == backup), None)
    return nab is not None and bool(nab.spec.backup_spec.storage_location)


def why_no_file(snapshot: ClusterSnapshot, run: Run, file: RunFile) -> tuple[str, str, str] | None:
    """Tells what, why and what next, where Velero would give no address for it."""
    if why_no_files(run.phase):
        return _unwritten(run.name, file, run.phase, f"it is {run.phase or 'New'}")
    backup = run if isinstance(run, Backup) else _backup_of(snapshot, run)
    if backup is not None and (why := unavailable_storage(snapshot, backup)):
        return f"The {file.noun} of {run.name} cannot be fetched", why, "fix the storage location"
    return None


def file_plan(executor: PlanExecutor, item: Run | NonAdmin, file: RunFile) -> Plan:
    """The request that would be made."""
    return plan_download(executor.snapshot(), item, file, executor.clock.now())


async def _ask(
    executor: PlanExecutor, plan: Plan, file: RunFile, trust: TlsTrust | None, progress: Progress | None
) -> bytearray:
    await executor.guard(plan)
    async for result in executor.carry_out(plan, lambda snapshot, items, now: plan):
        if result.outcome is not Outcome.DONE:
            raise FileUnavailable(f"The {file.noun} cannot be requested", result.error)
    url = await _address(executor, plan.steps[0].target, file)
    return await fetch(url, trust or TlsTrust(), progress or (lambda done, total: None), file.most_bytes)


async def _address(executor: PlanExecutor, target: ObjectRef, file: RunFile) -> str:
    """Watches the request until it has an address; a broken storage location never gives one."""
    read = _url_of_nonadmin if target.kind == NONADMIN_DOWNLOAD.name else _url_of
    params = {"watch": "1", "fieldSelector": f"metadata.name={target.name}", "timeoutSeconds": str(int(URL_WITHIN))}
    collection = api_paths.collection(kind_of_ref(target), target.namespace)
    try:
        async with asyncio.timeout(URL_WITHIN), executor.client.stream(collection, params, URL_WITHIN) as lines:
            async for line in lines:
                if url := read(bytes(read_event(line).object), file):
                    return url
    except (TimeoutError, Unreachable, Unreadable):
        pass
    raise FileUnavailable(
        f"Velero did not return a URL for the {file.noun}",
        f"requested {int(URL_WITHIN)} s ago",
        "check that Velero is running and its storage location is Available",
    )


def _url_of(body: bytes, file: RunFile) -> str:
    """The address; a release that says that there will be none is taken at its word."""
    return _signed(decode(DownloadRequest, body).status, file)


def _signed(status: DownloadStatus, file: RunFile) -> str:
    if status.phase == "Failed" and not status.download_url:
        why = status.message or "its request has failed, and nothing says why"
        raise FileUnavailable(f"Velero cannot sign a URL for the {file.noun}", why, "read the log of Velero's pod")
    return status.download_url


def _url_of_nonadmin(body: bytes, file: RunFile) -> str:
    """The address, or the controller's reason for giving none: it says so by a condition whose reason is Error."""
    status = decode(NonAdminDownloadRequest, body).status
    if url := _signed(status.velero.status, file):
        return url
    refused = next(
        (condition for condition in status.conditions if condition.status == "False" or condition.reason == "Error"),
        None,
    )
    if status.phase == "BackingOff" or refused is not None:
        why = refused.message or refused.reason if refused else "the non-admin controller refuses it"
        raise FileUnavailable(f"The request for the {file.noun} is refused", why, "ask the administrator")
    return ""


def _unwritten(name: str, file: RunFile, phase: str, state: str) -> tuple[str, str, str]:
    """Tells what, why and what next; a run that Velero refused will never have one."""
    if phase == "FailedValidation":
        return (
            f"{name} has no {file.noun} and will never have {'one' if file.is_one else 'any'}",
            state,
            "it was never run",
        )
    if phase == "Deleting":
        return f"{name} has no {file.noun} any more", state, "read those of another backup"
    return f"{name} has no {file.noun} yet", state, "wait until it has ended"


def _backup_of(snapshot: ClusterSnapshot, restore: Restore) -> Backup | None:
    key = (restore.namespace, restore.spec.backup_name)
    return next((backup for backup in snapshot.backups if (backup.namespace, backup.name) == key), None)
