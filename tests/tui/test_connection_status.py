from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop.main_screen.status_line_text import VeleroServers, status_line, velero_status
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE
from foretop_core.rules.facts.server_facts import judge_server
from foretop_core.rules.heartbeat import Heartbeat, LifeSign
from foretop_core.store import ContextHealth
from foretop_core.tables.engine.status_glyphs import StatusGlyph
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
        (
            ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=9), retry_at=NOW + timedelta(seconds=1)),
            StatusGlyph.LOOK,
            "stale 9s, again in 1s",
        ),
        (ContextHealth(WatchState.FORBIDDEN, forbidden=("a",)), StatusGlyph.LOOK, "1 kind not allowed"),
        (ContextHealth(WatchState.NOT_INSTALLED), StatusGlyph.HEALTHY, "live"),
        (ContextHealth(WatchState.NO_NAMESPACE, missing=("nowhere",)), StatusGlyph.LOOK, "no such namespace"),
    ],
)
def test_the_status_line_shows_the_state_of_one_cluster(health: ContextHealth, mark: StatusGlyph, text: str) -> None:
    assert status_line({"prod": health}, NOW) == (mark, text)


def test_the_status_line_counts_the_live_ones_of_many_clusters() -> None:
    contexts = {f"c{number}": ContextHealth(WatchState.LIVE) for number in range(38)}
    assert status_line(contexts, NOW) == (StatusGlyph.HEALTHY, "38 of 38 live")
    contexts |= {"stale": ContextHealth(WatchState.STALE), "out": ContextHealth(WatchState.SIGNED_OUT)}
    assert status_line(contexts, NOW) == (StatusGlyph.BROKEN, "38 of 40 live")


def test_a_cluster_that_was_never_reached_is_not_stale() -> None:
    lost = ContextHealth(WatchState.STALE, since=NOW - timedelta(seconds=3), retry_at=NOW + timedelta(seconds=8))
    assert status_line({"prod": lost}, NOW, frozenset({"prod"})) == (StatusGlyph.LOOK, "cannot connect, again in 8s")


_LIVE = ContextHealth(WatchState.LIVE, 9, 9)
_MINUTE = timedelta(minutes=1)
_BEATS, _SILENT = Heartbeat(pulse=NOW, period=_MINUTE), Heartbeat(pulse=NOW - 12 * _MINUTE, period=_MINUTE)
_VELERO = (BACKUP.name, SCHEDULE.name, STORAGE.name)


@pytest.mark.parametrize(
    ("health", "beats", "found"),
    [
        (_LIVE, [_BEATS], (StatusGlyph.HEALTHY, "active")),
        (_LIVE, [_SILENT], (StatusGlyph.BROKEN, "silent 12m")),
        (_LIVE, [_BEATS, _SILENT], (StatusGlyph.BROKEN, "1 of 2 silent 12m")),
        (_LIVE, [replace(_SILENT, is_down=True)], (StatusGlyph.BROKEN, "down 12m")),
        (_LIVE, [replace(_SILENT, worked=(LifeSign(NOW),))], (StatusGlyph.BROKEN, "storage hangs 12m")),
        (_LIVE, [Heartbeat()], (StatusGlyph.UNSET, "not known")),
        (_LIVE, [], (StatusGlyph.UNSET, "not found")),
        (ContextHealth(WatchState.LIVE, not_installed=_VELERO), [], (StatusGlyph.BROKEN, "not installed")),
        (ContextHealth(WatchState.STALE, lost_at=NOW), [_BEATS], None),
        (ContextHealth(WatchState.STALE, stale=(BACKUP.name,)), [_BEATS], (StatusGlyph.HEALTHY, "active")),
        (ContextHealth(WatchState.STALE, stale=(STORAGE.name,)), [_BEATS], None),
        (ContextHealth(WatchState.SYNCING), [], (StatusGlyph.UNSET, "not known yet")),
        (ContextHealth(WatchState.SYNCING), [_BEATS], (StatusGlyph.UNSET, "not known yet")),
        (ContextHealth(WatchState.FORBIDDEN, forbidden=(STORAGE.name,)), [], None),
    ],
)
def test_velero_is_told_apart_from_the_connection(
    health: ContextHealth, beats: list[Heartbeat], found: tuple[StatusGlyph, str] | None
) -> None:
    assert velero_status([VeleroServers(health, [judge_server(beat, NOW) for beat in beats])]) == found


def test_of_several_clusters_the_silent_server_is_told() -> None:
    clusters = [VeleroServers(_LIVE, [judge_server(beat, NOW)]) for beat in (_BEATS, _SILENT, _BEATS)]
    assert velero_status(clusters) == (StatusGlyph.BROKEN, "1 of 3 silent 12m")
