from __future__ import annotations

from datetime import timedelta

import pytest

from foretop_core.kube.sink import State
from foretop_core.store import ContextHealth
from foretop_core.view.marks import Mark
from foretop_core.view.status import status_line
from tests.objects import NOW


@pytest.mark.parametrize(
    ("health", "mark", "text"),
    [
        (ContextHealth(State.LIVE, 9, 9), Mark.HEALTHY, "live"),
        (ContextHealth(State.SYNCING, 3, 9), Mark.RUNNING, "syncing 3/9"),
        (
            ContextHealth(State.STALE, since=NOW - timedelta(seconds=40), retry_at=NOW + timedelta(seconds=8)),
            Mark.LOOK,
            "stale 40s, again in 8s",
        ),
        (ContextHealth(State.STALE, since=NOW - timedelta(minutes=3)), Mark.LOOK, "stale 3m"),
        (ContextHealth(State.FORBIDDEN, forbidden=("a", "b")), Mark.LOOK, "2 kinds not allowed"),
        (ContextHealth(State.SIGNED_OUT, error="run: \x1b]login"), Mark.LOOK, "signed out"),
        (ContextHealth(State.STALE, since=NOW - timedelta(seconds=9), retry_at=NOW), Mark.LOOK, "stale 9s, trying"),
        (ContextHealth(State.NO_NAMESPACE, missing=("nowhere",)), Mark.LOOK, "no such namespace"),
    ],
)
def test_the_status_line_says_how_one_cluster_is_seen(health: ContextHealth, mark: Mark, text: str) -> None:
    assert status_line({"prod": health}, NOW) == (mark, text)


def test_of_many_clusters_it_says_how_many_are_live() -> None:
    contexts = {f"c{number}": ContextHealth(State.LIVE) for number in range(38)}
    assert status_line(contexts, NOW) == (Mark.HEALTHY, "38 of 38 live")
    contexts |= {"stale": ContextHealth(State.STALE), "out": ContextHealth(State.SIGNED_OUT)}
    assert status_line(contexts, NOW) == (Mark.LOOK, "38 of 40 live")
