"""The coming hours of one server, foreseen in slices: the likely course at once, its ranges draw by draw."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from random import Random

from foretop_core.rules.night.course import Course, play
from foretop_core.rules.night.night import FEWEST_DRAWS, Night, foresee, server_model
from foretop_core.rules.snapshot import ClusterSnapshot

_SEED = 1


class Foresight:
    """Reads the state of a server once; `play` then adds courses, and `night` puts all of them together."""

    def __init__(
        self, snapshot: ClusterSnapshot, namespace: str, now: datetime, length: timedelta, zone: tzinfo
    ) -> None:
        beat = snapshot.heartbeat(namespace)
        self._unknown: Night | None = None
        self._draws: list[Course] = []
        if beat.silence(now):
            self._unknown = Night(namespace, now, now + length, unknown=f"Velero is {beat.silence_word(now)}")
            return
        self._model = server_model(snapshot, namespace, now, now + length, zone)
        self._likely = play(self._model.state, self._model.draw(None))
        self._random = Random(_SEED)

    @property
    def is_complete(self) -> bool:
        return self._unknown is not None or len(self._draws) >= FEWEST_DRAWS

    def likely(self) -> Night:
        """From the likely course alone."""
        return self._unknown or foresee(self._model, (), self._likely)

    def play(self, courses: int = 1) -> None:
        for _ in range(courses):
            self._draws.append(play(self._model.state, self._model.draw(self._random)))

    def night(self) -> Night:
        """From all courses so far."""
        return self._unknown or foresee(self._model, self._draws, self._likely)
