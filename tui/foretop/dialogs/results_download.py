"""Fetches the results of a backup or restore and gives them to the page that shows them."""

from __future__ import annotations

from collections.abc import Callable

from foretop.dialogs.download_screen import DownloadScreen
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import results_of
from foretop_core.dashboard.action_service import ActionService
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.results import Results

Keep = Callable[[ObjectRef, Results], None]


class ResultsDownload(DownloadScreen):
    """The window of the download; it closes when the results have arrived."""

    file = RunFile.RESULTS

    def __init__(self, service: ActionService, key: ObjectRef, ascii: bool, keep: Keep) -> None:
        super().__init__(service, key, ascii)
        self._keep = keep
        self._results = Results()

    async def get(self) -> None:
        self._results = await results_of(self.executor, self.item(), progress=self.came)

    def got(self) -> None:
        self._keep(self.key, self._results)
        self.action_leave()
