"""The failures of the dashboard itself: rows, panes and actions that failed, for as long as they may fail again."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_core.logs import logger
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.failure_record import Failure, problem_text
from foretop_core.store import Store

_log = logger(__name__)
_MOST = 50
_FORGOTTEN_AFTER = timedelta(minutes=10)
"""A failure at no object, such as an action's, is old news then."""


class FailureLog:
    """A failure at an object stays until the object changes; `revision` moves when there is a new one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[tuple[str, ObjectRef | None], tuple[Failure, Resource | None, datetime]] = {}
        self.revision = 0

    def note(self, what: str, context: str, subject: ObjectRef | None, problem: BaseException, at: datetime) -> Failure:
        failure = Failure(context, what, subject, problem_text(problem))
        known = self._kept.pop((what, subject), None)
        self._kept[what, subject] = (failure, self._store.get(subject) if subject else None, at)
        if known is None or known[0] != failure:
            self.revision += 1
            _log.error("%s", failure, exc_info=problem)
        while len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]
        return failure

    def of(self, context: str, now: datetime) -> tuple[Failure, ...]:
        """What still counts in one cluster."""
        for place, (failure, item, at) in list(self._kept.items()):
            changed = item is not None and failure.subject is not None and self._store.get(failure.subject) is not item
            if changed or (item is None and now - at > _FORGOTTEN_AFTER):
                del self._kept[place]
        return tuple(failure for failure, _, _ in self._kept.values() if failure.context == context)
