from __future__ import annotations

from datetime import timedelta

import pytest

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.store import ContextHealth
from foretop_core.view.marks import Mark
from foretop_core.view.status import status_line
from tests.objects import NOW


@pytest.mark.parametrize(
    ("health", "mark", "text"),
    [
        (ContextHealth(WatchState.LIVE, 9, 9), Mark.HEALTHY, "live"),
        (ContextHealth(WatchState.SYNCING, 3, 9), Mark.RUNNING, "syncing 3/9"),
        (
            ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=40), retry_at=NOW + timedelta(seconds=8)),
            Mark.LOOK,
            "stale 40s, again in 8s",
        ),
        (ContextHealth(WatchState.STALE, since=NOW - timedelta(minutes=3)), Mark.LOOK, "stale 3m"),
        (ContextHealth(WatchState.FORBIDDEN, forbidden=("a", "b")), Mark.LOOK, "2 kinds not allowed"),
        (ContextHealth(WatchState.SIGNED_OUT, error="run: \x1b]login"), Mark.LOOK, "signed out"),
        (
            ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=9), retry_at=NOW),
            Mark.LOOK,
            "stale 9s, trying",
        ),
        (ContextHealth(WatchState.NO_NAMESPACE, missing=("nowhere",)), Mark.LOOK, "no such namespace"),
    ],
)
def test_the_status_line_says_how_one_cluster_is_seen(health: ContextHealth, mark: Mark, text: str) -> None:
    assert status_line({"prod": health}, NOW) == (mark, text)


def test_of_many_clusters_it_says_how_many_are_live() -> None:
    contexts = {f"c{number}": ContextHealth(WatchState.LIVE) for number in range(38)}
    assert status_line(contexts, NOW) == (Mark.HEALTHY, "38 of 38 live")
    contexts |= {"stale": ContextHealth(WatchState.STALE), "out": ContextHealth(WatchState.SIGNED_OUT)}
    assert status_line(contexts, NOW) == (Mark.LOOK, "38 of 40 live")
