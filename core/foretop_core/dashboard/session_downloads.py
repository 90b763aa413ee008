"""What was agreed to and fetched in this session, so that neither is asked for twice."""

from __future__ import annotations

from foretop_core.actions.planners.downloads import Run
from foretop_core.actions.run_logs import RunLog
from foretop_core.models import NonAdmin
from foretop_core.models.wire import ObjectRef

_MOST_CHARACTERS = 64_000_000
"""Of all logs together; the oldest go first, and one that is longer is fetched again when it is wanted again."""


class SessionDownloads:
    """Consent to create DownloadRequests, cluster by cluster, and the logs that have come."""

    def __init__(self) -> None:
        self._agreed: dict[str, frozenset[str]] = {}
        self._logs: dict[ObjectRef, tuple[object, RunLog]] = {}

    def agree(self, context: str, confirmed: frozenset[str] = frozenset()) -> None:
        """From now on DownloadRequests are created in this cluster without asking, by the names that were typed."""
        self._agreed[context] = confirmed

    def is_agreed(self, context: str, wanted: str) -> bool:
        """Whether they are, also where this name is to be typed: a cluster may have become protected since."""
        return context in self._agreed and (not wanted or wanted in self._agreed[context])

    def confirmed(self, context: str) -> frozenset[str]:
        return self._agreed.get(context, frozenset())

    def keep_log(self, key: ObjectRef, item: Run | NonAdmin, log: RunLog) -> None:
        """A partial log is not kept: more of it may come."""
        if log.partial:
            return
        self._logs.pop(key, None)
        self._logs[key] = (_version(item), log)
        while sum(kept.size for _, kept in self._logs.values()) > _MOST_CHARACTERS:
            del self._logs[next(iter(self._logs))]

    def log(self, key: ObjectRef, item: Run | NonAdmin | None) -> RunLog | None:
        """The log that was fetched before, unless the object has changed since."""
        found = self._logs.get(key)
        return found[1] if found is not None and item is not None and found[0] == _version(item) else None


def _version(item: Run | NonAdmin) -> object:
    status = (item.state, item.velero.status) if isinstance(item, NonAdmin) else item.status
    return item.metadata.uid, status
