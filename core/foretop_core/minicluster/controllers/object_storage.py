"""The object storage behind a box: buckets that hold backups, and that can stand still or be gone."""

from __future__ import annotations

from foretop_core.minicluster.controllers.event_queue import Action
from foretop_core.minicluster.kinds import Json


class ObjectStorage:
    """What Velero keeps outside the cluster. While it stands still, whoever asks it waits for the answer."""

    def __init__(self) -> None:
        self._buckets: dict[str, dict[str, Json]] = {}
        self._waiting: list[Action] = []
        self.answering = True

    def bucket(self, name: str) -> dict[str, Json] | None:
        """The backups in a bucket by name; None where there is no such bucket."""
        return self._buckets.get(name)

    def make(self, name: str) -> dict[str, Json]:
        return self._buckets.setdefault(name, {})

    def drop(self, name: str) -> None:
        self._buckets.pop(name, None)

    def stop(self) -> None:
        """Stand still: every request hangs from now on."""
        self.answering = False

    def answer(self) -> None:
        """Answer again, first those who wait."""
        self.answering = True
        waiting, self._waiting = self._waiting, []
        for resume in waiting:
            resume()

    def when_ready(self, resume: Action) -> None:
        if self.answering:
            resume()
        else:
            self._waiting.append(resume)
