"""The log of a pod, full screen, of this run or of the one before its last restart."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from foretop.dialogs.log_viewer import LogViewer
from foretop.widgets.log_lines import LogLines
from foretop.widgets.paragraphs import paragraph
from foretop_core.actions.pod_log import container_log
from foretop_core.actions.run_logs import RunLog
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import ForetopError
from foretop_core.models import Pod
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.velero_pods import main_container, restarts
from foretop_core.tables.engine.status_glyphs import Tone


class PodLogViewer(LogViewer):
    """Reads it from the API server: nothing is written, so nothing is asked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "previous", show=False),
        Binding("r", "reload", show=False),
    ]

    def __init__(self, service: ActionService, key: ObjectRef, ascii: bool) -> None:
        super().__init__(service, key, ascii)
        self._previous = False

    def begin(self) -> None:
        pod = self._pod()
        waits = pod is not None and any(one.state.running is None for one in pod.status.container_statuses)
        self._previous = waits and pod is not None and restarts(pod) > 0
        self._fetch()

    def _pod(self) -> Pod | None:
        found = self.service.item(self.key)
        return found if isinstance(found, Pod) else None

    async def get(self) -> None:
        pod = self._pod()
        if pod is None:
            raise ForetopError(f"{self.key.name} has no log", "it no longer exists")
        client = self.service.client(self.key.context)
        container = main_container(pod)
        lines = await container_log(client, self.key.namespace, self.key.name, container, previous=self._previous)
        self.fetched = await RunLog(lines).with_levels()

    def got(self) -> None:
        self.said = [paragraph(_BEFORE, Tone.WARN)] if self._previous else []
        super().got()
        # Once it has its size.
        self.call_after_refresh(self._arrange)

    def _arrange(self) -> None:
        """Whole where it fits; else from its end, for the newest lines are those that are wanted."""
        lines = self.query_one(LogLines)
        lines.wrap_where_it_fits()
        lines.to_end()

    def more_keys(self) -> list[tuple[str, str]]:
        pod = self._pod()
        is_restarted = pod is not None and restarts(pod) > 0
        return [("p", "this run" if self._previous else "previous run")] if is_restarted else []

    def rarer_keys(self) -> list[tuple[str, str]]:
        return [("r", "reload")]

    def action_previous(self) -> None:
        self._previous = not self._previous
        self._fetch()

    def action_reload(self) -> None:
        self._fetch()


_BEFORE = "The run before the last restart."
