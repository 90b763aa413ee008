from __future__ import annotations

from datetime import timedelta

import pytest

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.store import ContextHealth
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.resources.connection_status import status_line
from tests.objects import NOW


@pytest.mark.parametrize(
    ("health", "mark", "text"),
    [
        (ContextHealth(WatchState.LIVE, 9, 9), StatusGlyph.HEALTHY, "live"),
        (ContextHealth(WatchState.SYNCING, 3, 9), StatusGlyph.RUNNING, "syncing 3/9"),
        (
            ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=40), retry_at=NOW + timedelta(seconds=8)),
            StatusGlyph.LOOK,
            "stale 40s, again in 8s",
        ),
        (ContextHealth(WatchState.STALE, since=NOW - timedelta(minutes=3)), StatusGlyph.LOOK, "stale 3m"),
        (ContextHealth(WatchState.FORBIDDEN, forbidden=("a", "b")), StatusGlyph.LOOK, "2 kinds not allowed"),
        (ContextHealth(WatchState.SIGNED_OUT, error="run: \x1b]login"), StatusGlyph.LOOK, "signed out"),
        (
            ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=9), retry_at=NOW),
            StatusGlyph.LOOK,
            "stale 9s, trying",
        ),
        (ContextHealth(WatchState.NO_NAMESPACE, missing=("nowhere",)), StatusGlyph.LOOK, "no such namespace"),
    ],
)
def test_the_status_line_shows_the_state_of_one_cluster(health: ContextHealth, mark: StatusGlyph, text: str) -> None:
    assert status_line({"prod": health}, NOW) == (mark, text)


def test_the_status_line_counts_the_live_ones_of_many_clusters() -> None:
    contexts = {f"c{number}": ContextHealth(WatchState.LIVE) for number in range(38)}
    assert status_line(contexts, NOW) == (StatusGlyph.HEALTHY, "38 of 38 live")
    contexts |= {"stale": ContextHealth(WatchState.STALE), "out": ContextHealth(WatchState.SIGNED_OUT)}
    assert status_line(contexts, NOW) == (StatusGlyph.LOOK, "38 of 40 live")
