"""The records of drills in the journal, for Triage: read only while something in a cluster has the label of a drill."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from foretop_core.actions.journal import Journal, default_path
from foretop_core.errors import ForetopError
from foretop_core.rooms.drills.findings import left_over_drills
from foretop_core.rooms.drills.leftovers import DrillRecord, labelled_objects
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.guarded import Rule

# Deferred imports: the actions are loaded after the first rows.

_EACH = 5.0
"""Seconds between two readings; another foretop of the same person may have written."""


class DrillJournal:
    """The journal of one person; a screen reads it in a thread, because a file may take its time."""

    def __init__(self, environ: Mapping[str, str], *, waits: bool) -> None:
        """`waits` is for a command, which has nothing else to do meanwhile."""
        self._journal = Journal(default_path(environ))
        self._waits = waits
        self._held: Sequence[DrillRecord] | None = None
        self._next = 0.0
        self._reader: threading.Thread | None = None

    def rules(self, snapshot: ClusterSnapshot) -> tuple[Rule, ...]:
        """The rule by the records as they were read last; none before that, and where nothing has the label of a drill.

        A journal that cannot be read proves nothing.
        """
        if next(labelled_objects(snapshot), None) is None:
            return ()
        if time.monotonic() >= self._next and (self._reader is None or not self._reader.is_alive()):
            self._next = time.monotonic() + _EACH
            self._reader = threading.Thread(target=self._read, name="drill journal", daemon=True)
            self._reader.start()
            if self._waits:
                self._reader.join()
        return (left_over_drills(self._held),) if self._held is not None else ()

    def _read(self) -> None:
        from foretop_core.rooms.drills.planners import drill_records

        try:
            self._held = drill_records(self._journal.read())
        except ForetopError:
            self._held = ()


READ = DrillJournal
