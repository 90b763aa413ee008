"""The state of the API connection and of the Velero servers, in the few words of the status line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import assert_never

import msgspec

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.store import ContextHealth
from foretop_core.store.health import LOST
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel
from foretop_core.tables.text import times

_SEEING = frozenset({WatchState.LIVE, WatchState.FORBIDDEN, WatchState.NO_NAMESPACE})
_VELERO = frozenset({SCHEDULE.name, BACKUP.name, STORAGE.name})
"""Without these kinds there is no Velero."""


def status_line(
    contexts: Mapping[str, ContextHealth], now: datetime, unreached: frozenset[str] = frozenset()
) -> StatusLabel:
    """One cluster in its own words; of several, how many are seen as they are now.

    Of the `unreached` ones nothing was ever seen.
    """
    if len(contexts) == 1:
        name, health = next(iter(contexts.items()))
        return one_context(health, now, reached=name not in unreached)
    live = sum(health.state in _SEEING for health in contexts.values())
    mark = StatusGlyph.HEALTHY if live == len(contexts) else StatusGlyph.LOOK
    return mark, f"{live} of {len(contexts)} live"


def one_context(health: ContextHealth, now: datetime, *, reached: bool = True) -> StatusLabel:
    match health.state:
        case WatchState.LIVE | WatchState.NOT_INSTALLED:
            return StatusGlyph.HEALTHY, "live"
        case WatchState.SYNCING:
            return StatusGlyph.RUNNING, f"syncing {health.synced}/{health.watches}"
        case WatchState.STALE:
            since = f"stale {times.age(health.since, now)}" if reached else "cannot connect"
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


class VeleroServers(msgspec.Struct, frozen=True):
    """The Velero servers of one cluster, as far as the cluster shows them."""

    health: ContextHealth
    beats: Sequence[Heartbeat]
    now: datetime


def velero_status(clusters: Sequence[VeleroServers]) -> StatusLabel | None:
    """Whether Velero works, told by its own traces; None where nobody can tell."""
    seen = [one for one in clusters if _is_seen(one.health)]
    missing = [one for one in seen if set(one.health.not_installed) >= _VELERO]
    if seen and len(missing) == len(seen) == len(clusters):
        return StatusGlyph.BROKEN, "not installed"
    beats = [(beat, one.now) for one in seen for beat in one.beats]
    silent = [(silence, beat.silence_word(now)) for beat, now in beats if (silence := beat.silent_for(now)) is not None]
    if silent:
        some = f"{len(silent)} of {len(beats)} " if len(beats) > 1 else ""
        longest, word = max(silent)
        return StatusGlyph.BROKEN, f"{some}{word} {times.short(longest)}"
    if any(beat.pulse is not None for beat, _ in beats):
        return StatusGlyph.HEALTHY, "active"
    return (StatusGlyph.UNSET, "no activity seen" if beats else "not found") if seen else None


def _is_seen(health: ContextHealth) -> bool:
    """Whether what Velero leaves in the cluster comes in."""
    if health.state in LOST and health.lost_at is not None:
        return False
    return health.state is not WatchState.SYNCING and STORAGE.name not in (*health.forbidden, *health.stale)
