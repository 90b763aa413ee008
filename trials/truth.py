"""`python -m trials.truth --hours N [--seed S]`: random stories on a real Velero, every forecast judged.

A story is ten minutes of random actions on one server. Its seed is printed, and gives the same actions again.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from tests.velero.build import RELEASES, prepare_velero
from tests.velero.forecasts import TableRow, table, table_row
from tests.velero.judged_story import judged
from tests.velero.own_network import velero_port
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import TEAMS, ServerFlags, StorySteps

LENGTH = timedelta(minutes=10)
CRONS = ("* * * * *", "*/2 * * * *", "*/3 * * * *", "@every 90s", "@every 2m30s", "1-59/2 * * * *", "0 * * * *")


class RandomStory:
    """Random actions from one seed."""

    def __init__(self, cluster: RealVeleroCluster, seed: str) -> None:
        self._cluster = cluster
        self._steps = StorySteps(cluster)
        self._random = random.Random(seed)
        self._names: list[str] = []
        self._made = 0
        self._frozen = False

    def play(self, length: timedelta) -> None:
        flags = ServerFlags(self._random.choice(RELEASES), self._random.randint(1, 3))
        print(f"  Velero {flags.version}, {flags.concurrent_backups} at once", flush=True)
        self._cluster.start(flags)
        wait_until_available(self._steps)
        actions: tuple[tuple[int, Callable[[], None]], ...] = (
            (5, self._make),
            (3, self._pause),
            (3, self._unpause),
            (2, self._edit),
            (2, self._back_up),
            (2, self._freeze_or_unfreeze),
            (1, lambda: self._restart(flags)),
        )
        weights, acts = [weight for weight, _ in actions], [act for _, act in actions]
        end = self._cluster.now() + length
        while self._cluster.now() < end:
            self._random.choices(acts, weights)[0]()
            self._cluster.wait(self._random.uniform(2, 30))
        self._cluster.unfreeze_storage()

    def _make(self) -> None:
        if len(self._names) < 8:
            self._made += 1
            name = f"schedule-{self._made}"
            team, paused = self._random.choice(TEAMS), self._random.random() < 0.2
            self._steps.schedule(name, self._random.choice(CRONS), team, paused=paused)
            self._names.append(name)

    def _pause(self) -> None:
        if self._names:
            self._steps.change(self._random.choice(self._names), paused=True)

    def _unpause(self) -> None:
        if self._names:
            skip = self._random.choice((True, False))
            self._steps.change(self._random.choice(self._names), paused=False, skipImmediately=skip)

    def _edit(self) -> None:
        if self._names:
            self._steps.change(self._random.choice(self._names), schedule=self._random.choice(CRONS))

    def _back_up(self) -> None:
        self._made += 1
        self._steps.backup(f"by-hand-{self._made}", self._random.choice(TEAMS))

    def _freeze_or_unfreeze(self) -> None:
        if self._frozen:
            self._cluster.unfreeze_storage()
        else:
            self._cluster.freeze_storage()
        self._frozen = not self._frozen

    def _restart(self, flags: ServerFlags) -> None:
        self._cluster.kill()
        self._cluster.unfreeze_storage()
        self._frozen = False
        self._cluster.wait(self._random.uniform(1, 20))
        self._cluster.start(flags)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    options = parser.parse_args()
    end = time.monotonic() + options.hours * 3600
    rows: list[TableRow] = []
    kit = prepare_velero(print)
    with velero_port(waits=True), RealVeleroCluster(kit) as cluster:
        number = 0
        while (left := end - time.monotonic()) > 0:
            number += 1
            seed = f"{options.seed}-{number}"
            print(f"story {number}, seed {seed}", flush=True)
            cluster.clear()
            length = min(LENGTH, timedelta(seconds=left))
            found = judged(cluster, partial(RandomStory(cluster, seed).play, length))
            rows += [table_row(f"seed {seed}", verdict) for verdict in found]
    print(table(rows))
    return 1 if any(outcome == "broken" for _, _, outcome, _ in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
