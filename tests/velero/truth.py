"""`python -m tests.velero.truth --hours N [--seed S]`: random chapters on a real Velero, every forecast judged.

A chapter is ten minutes of random deeds on one server. Its seed is printed, and makes the same deeds again.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections.abc import Callable
from datetime import timedelta

from tests.velero.build import RELEASES, prepare_velero
from tests.velero.forecasts import ForetopWatch, Verdict, judge, of_schedules, table
from tests.velero.place import HOME, TEAMS, Hands, ServerFlags
from tests.velero.real_place import RealPlace
from tests.velero.stories import until_available

CHAPTER = timedelta(minutes=10)
CRONS = ("* * * * *", "*/2 * * * *", "*/3 * * * *", "@every 90s", "@every 2m30s", "1-59/2 * * * *", "0 * * * *")


class Chapter:
    """Random deeds from one seed."""

    def __init__(self, place: RealPlace, seed: str) -> None:
        self._place = place
        self._at = Hands(place)
        self._random = random.Random(seed)
        self._names: list[str] = []
        self._made = 0
        self._holds = False

    def play(self, length: timedelta) -> None:
        flags = ServerFlags(self._random.choice(RELEASES), self._random.randint(1, 3))
        print(f"  Velero {flags.version}, {flags.concurrent_backups} at once", flush=True)
        self._place.start(flags)
        until_available(self._at)
        deeds: tuple[tuple[int, Callable[[], None]], ...] = (
            (5, self._make),
            (3, self._pause),
            (3, self._unpause),
            (2, self._edit),
            (2, self._back_up),
            (2, self._hold_or_release),
            (1, lambda: self._restart(flags)),
        )
        weights, acts = [weight for weight, _ in deeds], [act for _, act in deeds]
        end = self._place.now() + length
        while self._place.now() < end:
            self._random.choices(acts, weights)[0]()
            self._place.wait(self._random.uniform(2, 30))
        self._place.release_storage()

    def _make(self) -> None:
        if len(self._names) < 8:
            self._made += 1
            name = f"schedule-{self._made}"
            team, paused = self._random.choice(TEAMS), self._random.random() < 0.2
            self._at.schedule(name, self._random.choice(CRONS), team, paused=paused)
            self._names.append(name)

    def _pause(self) -> None:
        if self._names:
            self._at.change(self._random.choice(self._names), paused=True)

    def _unpause(self) -> None:
        if self._names:
            skip = self._random.choice((True, False))
            self._at.change(self._random.choice(self._names), paused=False, skipImmediately=skip)

    def _edit(self) -> None:
        if self._names:
            self._at.change(self._random.choice(self._names), schedule=self._random.choice(CRONS))

    def _back_up(self) -> None:
        self._made += 1
        self._at.backup(f"by-hand-{self._made}", self._random.choice(TEAMS))

    def _hold_or_release(self) -> None:
        if self._holds:
            self._place.release_storage()
        else:
            self._place.hold_storage()
        self._holds = not self._holds

    def _restart(self, flags: ServerFlags) -> None:
        self._place.kill()
        self._place.release_storage()
        self._holds = False
        self._place.wait(self._random.uniform(1, 20))
        self._place.start(flags)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    wishes = parser.parse_args()
    end = time.monotonic() + wishes.hours * 3600
    verdicts: list[tuple[str, Verdict]] = []
    with RealPlace(prepare_velero(print)) as place:
        number = 0
        while (left := end - time.monotonic()) > 0:
            number += 1
            seed = f"{wishes.seed}-{number}"
            print(f"chapter {number}, seed {seed}", flush=True)
            place.clear()
            watch = ForetopWatch("schedules", place.cluster.kubeconfig("admin", HOME))
            try:
                Chapter(place, seed).play(min(CHAPTER, timedelta(seconds=left)))
            finally:
                watch.close()
            found = judge(of_schedules(watch.rows), place.heard, place.deeds, place.now())
            verdicts += [(f"chapter {seed}", verdict) for verdict in found]
    print(table(verdicts))
    return 1 if any(verdict.outcome == "broken" for _, verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
