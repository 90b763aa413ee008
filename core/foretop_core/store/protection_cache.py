"""The protection of the namespaces of each cluster, kept up change by change from the first time it is asked for."""

from __future__ import annotations

from foretop_core.logs import logger
from foretop_core.models.kinds import BACKUP, NAB, NAMESPACE, REPOSITORY, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import Resource, UnreadableObject
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.store.change_feed import Feed, Subscription

_log = logger(__name__)
_KINDS = frozenset(kind.name for kind in (NAMESPACE, BACKUP, SCHEDULE, RESTORE, NAB, REPOSITORY, STORAGE))


class ProtectionCache:
    """One index for each cluster; made anew where servers read expressions otherwise, or namespaces come in sight."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._changes: Subscription | None = None
        self._held: dict[str, tuple[object, ProtectionIndex]] = {}

    def of(self, snapshot: ClusterSnapshot) -> ProtectionIndex:
        """As of this snapshot, which must be the store's last one."""
        self._keep_up()
        basis = (snapshot.verdicts, snapshot.namespaces is not None)
        held = self._held.get(snapshot.context)
        if held is None or held[0] != basis:
            held = self._held[snapshot.context] = (basis, protection_index(snapshot))
        return held[1]

    def _keep_up(self) -> None:
        if self._changes is None:
            self._changes = self._feed.subscribe(_KINDS)
        for key, change in self._changes.drain().items():
            held = self._held.get(key.context)
            if held is None:
                continue
            try:
                held[1].apply(_readable(change.before), _readable(change.after))
            except Exception:
                _log.exception("the protection index cannot take %s in", key)
                # One that cannot be taken in costs a look at all, and not the truth of the rest.
                del self._held[key.context]


def _readable(item: Resource | None) -> Resource | None:
    return None if isinstance(item, UnreadableObject) else item
