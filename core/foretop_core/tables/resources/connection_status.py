"""The state of the API connection and of the Velero servers, in the few words of the status line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import assert_never

import msgspec

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET, ServerFacts, ServerState
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
    if any(health.state in LOST for health in contexts.values()):
        mark = StatusGlyph.BROKEN
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
    servers: Sequence[ServerFacts]


def velero_status(clusters: Sequence[VeleroServers]) -> StatusLabel | None:
    """The state of Velero, told by its own traces; None where nobody can tell."""
    followed = [one for one in clusters if not (one.health.state in LOST and one.health.lost_at is not None)]
    missing = [one for one in followed if set(one.health.not_installed) >= _VELERO]
    if followed and len(missing) == len(followed) == len(clusters):
        return StatusGlyph.BROKEN, "not installed"
    servers = [server for one in followed if STORAGE.name not in one.health.stale for server in one.servers]
    silent = [(server.silent_for, server.word) for server in servers if server.silent_for is not None]
    if silent:
        some = f"{len(silent)} of {len(servers)} " if len(servers) > 1 else ""
        longest, word = max(silent)
        return StatusGlyph.BROKEN, f"{some}{word} {times.short(longest)}"
    if any(one.health.state is WatchState.SYNCING for one in followed):
        return StatusGlyph.UNSET, NOT_KNOWN_YET
    if any(server.state is ServerState.ACTIVE for server in servers):
        return StatusGlyph.HEALTHY, ServerState.ACTIVE.value
    if servers:
        return StatusGlyph.UNSET, servers[0].word
    unseen = any(STORAGE.name in (*one.health.forbidden, *one.health.stale) for one in followed)
    return (StatusGlyph.UNSET, "not found") if followed and not unseen else None
