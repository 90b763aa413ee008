"""The logs of backups and restores: the whole from their storage, or what Velero's own pod has of it."""

from __future__ import annotations

import asyncio
import os
import string
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from foretop_core.actions.guard import ActionRefused
from foretop_core.actions.log_text import LogText
from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.planners.downloads import Run, RunFile
from foretop_core.actions.pod_log import pod_log
from foretop_core.actions.run_files import FileUnavailable, permitted_file_owner, run_file, tenant_file
from foretop_core.actions.signed_url_download import DownloadFailed, Progress, TlsTrust
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.connection_errors import ApiError, Unreachable
from foretop_core.models import NonAdmin
from foretop_core.rules.log_levels import LogLevel, log_level

_HARMLESS = frozenset(f"{string.ascii_letters}{string.digits}.-_")
_LONGEST_NAME = 200
MOST_LINES = 1_000_000


class RunLog(msgspec.Struct, frozen=True):
    """The lines of a log; partial where they come from Velero's pod, with the reason for that."""

    lines: Sequence[str]
    partial: bool = False
    why: str = ""
    levels: tuple[LogLevel, ...] = ()
    """Of each line, where they were looked for."""

    async def with_levels(self) -> RunLog:
        """The log with the level of each line; keys go on meanwhile, since half a million lines take seconds."""
        return replace(self, levels=await asyncio.to_thread(lambda: tuple(map(log_level, self.lines))))

    @property
    def size(self) -> int:
        """Bytes, or characters where that is not known."""
        return self.lines.size if isinstance(self.lines, LogText) else sum(map(len, self.lines))

    def search(self, text: str) -> Iterator[tuple[int, str]]:
        """The lines that hold a text, whatever its case, with their numbers from 1."""
        wanted = text.casefold()
        return ((at, line) for at, line in enumerate(self.lines, start=1) if wanted in line.casefold())

    def save(self, path: Path) -> None:
        """Into a new file that its owner alone can read; one that is there is left alone."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in self.lines)
        except OSError as problem:
            raise BadInput(f"{path} cannot be written", problem.strerror or str(problem)) from None


def log_file_name(name: str) -> str:
    """Where the log of an object is saved: in the folder itself, whatever a server says the object's name is."""
    kept = "".join(mark if mark in _HARMLESS else "_" for mark in name[:_LONGEST_NAME]).lstrip(".")
    return f"{kept or 'run'}.log"


async def log_of(
    executor: PlanExecutor, item: Run | NonAdmin, trust: TlsTrust | None = None, progress: Progress | None = None
) -> RunLog:
    """The log of a backup or restore, a tenant's included."""
    if not isinstance(item, NonAdmin):
        return await _run_log(executor, item, trust, progress)
    owner = await permitted_file_owner(executor, item, RunFile.LOG)
    if isinstance(owner, NonAdmin):
        return RunLog(await asyncio.to_thread(_lines, await tenant_file(executor, owner, RunFile.LOG, trust, progress)))
    return await _run_log(executor, owner, trust, progress)


async def _run_log(executor: PlanExecutor, run: Run, trust: TlsTrust | None, progress: Progress | None) -> RunLog:
    """The whole log, or what Velero's pod has of it, said to be partial."""
    try:
        return RunLog(await asyncio.to_thread(_lines, await run_file(executor, run, RunFile.LOG, trust, progress)))
    except (ActionRefused, FileUnavailable, DownloadFailed, ApiError, Unreachable) as problem:
        found = await _of_pod(executor, run, problem)
        if not found:
            raise FileUnavailable(str(problem), "nor does the log of Velero's pod mention it") from None
        return RunLog(found, partial=True, why=str(problem))


def _lines(text: bytes | bytearray) -> LogText:
    if text.count(b"\n") > MOST_LINES:
        raise DownloadFailed("The log is too long", f"more than {MOST_LINES:,} lines", "use velero's own command")
    return LogText(text)


async def _of_pod(executor: PlanExecutor, run: Run, problem: ForetopError) -> LogText:
    try:
        return await pod_log(executor.client, run.namespace, run.name)
    except ForetopError as second:
        raise FileUnavailable(str(problem), f"nor can Velero's own log be read: {second}") from None
