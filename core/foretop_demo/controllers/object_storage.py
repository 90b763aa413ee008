"""The object storage behind a box: buckets of backups, which can hang or be missing."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.event_queue import Action
from foretop_demo.kinds import Json


class ObjectStorage:
    """The files that Velero keeps outside the cluster. While it hangs, every request waits for its answer."""

    def __init__(self) -> None:
        self._buckets: dict[str, dict[str, Json]] = {}
        self._waiting: list[Action] = []
        self.answering = True
        self.removal_takes = timedelta()
        """How long the data of one backup takes to be removed."""

    def bucket(self, name: str) -> dict[str, Json] | None:
        """The backups in a bucket by name; None if there is no such bucket."""
        return self._buckets.get(name)

    def make(self, name: str) -> dict[str, Json]:
        return self._buckets.setdefault(name, {})

    def drop(self, name: str) -> None:
        self._buckets.pop(name, None)

    def forget(self, backup: str) -> None:
        """Lose the data of a backup, in whichever bucket it is."""
        for bucket in self._buckets.values():
            bucket.pop(backup, None)

    def stop(self) -> None:
        """Hang: every request waits from now on."""
        self.answering = False

    def answer(self) -> None:
        """Answer again, waiting requests first."""
        self.answering = True
        waiting, self._waiting = self._waiting, []
        for resume in waiting:
            resume()

    def when_ready(self, resume: Action) -> None:
        if self.answering:
            resume()
        else:
            self._waiting.append(resume)
