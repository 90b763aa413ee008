"""The state of the connection in the few words of the status line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.store import ContextHealth
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.text import times

_SEEING = frozenset({WatchState.LIVE, WatchState.FORBIDDEN, WatchState.NO_NAMESPACE})


def status_line(contexts: Mapping[str, ContextHealth], now: datetime) -> tuple[StatusGlyph, str]:
    """One cluster in its own words; of several, how many are seen as they are now."""
    if len(contexts) == 1:
        return one_context(next(iter(contexts.values())), now)
    live = sum(health.state in _SEEING for health in contexts.values())
    mark = StatusGlyph.HEALTHY if live == len(contexts) else StatusGlyph.LOOK
    return mark, f"{live} of {len(contexts)} live"


def one_context(health: ContextHealth, now: datetime) -> tuple[StatusGlyph, str]:
    match health.state:
        case WatchState.LIVE | WatchState.NOT_INSTALLED:
            return StatusGlyph.HEALTHY, "live"
        case WatchState.SYNCING:
            return StatusGlyph.RUNNING, f"syncing {health.synced}/{health.watches}"
        case WatchState.STALE:
            since = f"stale {times.age(health.since, now)}"
            if health.retry_at is None:
                return StatusGlyph.LOOK, since
            waits = int((health.retry_at - now).total_seconds()) > 0
            return (
                StatusGlyph.LOOK,
                f"{since}, again {times.until(health.retry_at - now)}" if waits else f"{since}, trying",
            )
        case WatchState.FORBIDDEN:
            kinds = len(health.forbidden)
            return StatusGlyph.LOOK, f"{kinds} kind{'' if kinds == 1 else 's'} not allowed"
        case WatchState.NO_NAMESPACE:
            return StatusGlyph.LOOK, health.state.value
        case WatchState.SIGNED_OUT:
            return StatusGlyph.LOOK, health.state.value
    assert_never(health.state)
