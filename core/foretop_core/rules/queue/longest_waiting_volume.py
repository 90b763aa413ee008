"""The volume that a run waits for, and its state."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.models import DataMovement
from foretop_core.rules import humanize

NOT_MOVING_YET = frozenset({"", "New", "Accepted", "Prepared"})
"""The phases of a data movement before its first byte."""
PATIENCE = timedelta(minutes=1)
"""A node picks up a volume within seconds; after a minute it is what the run waits for."""


class WaitingVolume(msgspec.Struct, frozen=True):
    """A volume of which nothing has been transferred yet; `node` is "" if no node has accepted it."""

    name: str
    phase: str
    node: str
    since: datetime
    movement: DataMovement


def waiting_volume(movements: Iterable[DataMovement], now: datetime) -> WaitingVolume | None:
    """The volume that has waited longest, if that is longer than usual."""
    found = [one for one in movements if one.phase in NOT_MOVING_YET]
    waiting = [(since, one) for one in found if (since := waiting_since(one))]
    since, first = min(
        waiting, key=lambda pair: (pair[0], pair[1].name), default=(datetime.max.replace(tzinfo=UTC), None)
    )
    if first is None or now - since < PATIENCE:
        return None
    return WaitingVolume(first.volume or first.name, first.phase or "New", first.node, since, first)


def moved_before(waiting: DataMovement, moving: Iterable[DataMovement]) -> str:
    """What its node moves before it: `worker-2 moves volume videos of media-20261115022703`; "" for nothing.

    One that came later does not count: a node that moves it has passed the waiting one over.
    """
    since = waiting_since(waiting)
    ahead = [one for one in moving if since is not None and (at := waiting_since(one)) and at <= since + PATIENCE]
    names = [f"{one.volume or one.name} of {one.backup_name or one.restore_name}" for one in ahead]
    nouns = "volume" if len(names) == 1 else "volumes"
    return f"{waiting.node} moves {nouns} {humanize.join(names, 2)}" if names else ""


def waiting_since(movement: DataMovement) -> datetime | None:
    return movement.status.accepted_timestamp or movement.created
