"""Fetches the list of what is in a backup, or was restored, and shows it."""

from __future__ import annotations

from foretop.dialogs.log_viewer import LogViewer
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import FileUnavailable, resources_of
from foretop_core.actions.run_logs import RunLog
from foretop_core.models import Backup, Restore


class ResourceListViewer(LogViewer):
    """The window of the list: it is searched, wrapped and saved as a log is."""

    file = RunFile.RESOURCES

    def begin(self) -> None:
        """No list is kept: it is fetched in a moment."""
        super(LogViewer, self).begin()

    async def get(self) -> None:
        item = self.item()
        if not isinstance(item, Backup | Restore):
            raise FileUnavailable(f"{item.name} has no {self.file.noun}", "Velero's own backup has it")
        found = await resources_of(self.executor, item, progress=self.came)
        self.fetched = RunLog(found.lines())

    @property
    def saved_as(self) -> str:
        return f"{self.key.name}-resources"
