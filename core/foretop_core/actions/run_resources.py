"""What is in a backup, or was restored, object by object: a file in its storage, fetched and taken apart."""

from __future__ import annotations

from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.run_files import Run, RunFile, run_file
from foretop_core.actions.signed_url_download import Progress, TlsTrust
from foretop_core.rules.results import ResourceList, parse_resource_list


async def resources_of(
    executor: PlanExecutor, run: Run, trust: TlsTrust | None = None, progress: Progress | None = None
) -> ResourceList:
    """Raises where the list cannot be had or read."""
    return parse_resource_list(await run_file(executor, run, RunFile.RESOURCES, trust, progress))
