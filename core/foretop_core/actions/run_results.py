"""What went wrong in a backup or restore, item by item: a file in its storage, fetched and taken apart."""

from __future__ import annotations

from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.run_files import Run, RunFile, permitted_file_owner, run_file, tenant_file
from foretop_core.actions.signed_url_download import Progress, TlsTrust
from foretop_core.models import NonAdmin
from foretop_core.rules.results import Results, parse


async def results_of(
    executor: PlanExecutor, item: Run | NonAdmin, trust: TlsTrust | None = None, progress: Progress | None = None
) -> Results:
    """The results of a backup or restore, a tenant's included; raises where they cannot be had or read."""
    owner = await permitted_file_owner(executor, item, RunFile.RESULTS) if isinstance(item, NonAdmin) else item
    if isinstance(owner, NonAdmin):
        return parse(await tenant_file(executor, owner, RunFile.RESULTS, trust, progress))
    return parse(await run_file(executor, owner, RunFile.RESULTS, trust, progress))
