"""`python -m tests.agreement.beside_velero [--minutes N] [--seed S]`: do all places agree on what a real Velero writes?

Random actions of people on a real server, and beside them every object asked about again and again. It builds nothing:
`python -m tests.velero.build` does.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from foretop_core.models import from_builtins
from foretop_core.models.kinds import DEFINITION, KINDS, Kind
from tests.agreement.comparison import Tally
from tests.agreement.situations import Situation, manifest
from tests.real.api import Api
from tests.velero.build import NOT_CACHED, missing, prepare_velero
from tests.velero.own_network import velero_port
from tests.velero.real_cluster import RealVeleroCluster
from trials.truth import LENGTH, RandomStory

_ASKED = tuple(kind for kind in KINDS if kind is not DEFINITION)
"""The Deployment tells the release already; definitions are megabytes."""
_REST = 0.5
"""Seconds between two situations, so that Velero comes to work on a small machine."""


def listed(api: Api, story: str, step: str) -> Situation:
    """All objects of a cluster as they are now; a kind that it does not have is left out."""
    held = [(kind, body) for kind in _ASKED for body in _items(api, kind)]
    return Situation(
        story,
        step,
        datetime.now(UTC),
        tuple(from_builtins(kind.model, body) for kind, body in held),
        tuple(manifest(kind, body) for kind, body in held),
    )


def _items(api: Api, kind: Kind) -> list[dict[str, object]]:
    answer = api.get(f"{'/apis' if kind.group else '/api'}/{kind.api_version}/{kind.plural}")
    return [] if answer.status == 404 else list(answer.expect(200)["items"])


def observe(cluster: RealVeleroCluster, playing: Future[None], story: str, tally: Tally, chance: random.Random) -> None:
    """Asks until the story has ended; an error of the story is an error here."""
    while not playing.done():
        tally.ask(listed(cluster.api_server.admin, story, f"at {datetime.now(UTC):%H:%M:%S}"), chance)
        time.sleep(_REST)
    playing.result()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=15.0)
    options.add_argument("--seed", default=secrets.token_hex(4))
    asked = options.parse_args()
    if absent := missing():
        print(f"Not built yet: {', '.join(absent)}; build it with python -m tests.velero.build", file=sys.stderr)
        return NOT_CACHED
    tally, chance = Tally(), random.Random(asked.seed)
    end, number = time.monotonic() + asked.minutes * 60, 0
    # The network is that of this thread and of those that it starts.
    with velero_port(waits=True), RealVeleroCluster(prepare_velero(print)) as cluster, ThreadPoolExecutor(1) as player:
        while (left := end - time.monotonic()) > 0:
            number += 1
            story = f"seed {asked.seed}-{number}"
            print(story, flush=True)
            cluster.clear()
            length = min(LENGTH, timedelta(seconds=left))
            playing = player.submit(RandomStory(cluster, f"{asked.seed}-{number}").play, length)
            observe(cluster, playing, story, tally, chance)
            print(f"  {tally.comparisons:,} comparisons, {len(tally.contradictions):,} failed", flush=True)
    print("\n".join((*tally.table(), *tally.failures())))
    return 1 if tally.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
