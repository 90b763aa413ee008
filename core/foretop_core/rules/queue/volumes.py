"""How fast volumes move, when those of a run are moved, and the volume that it waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.models import DataMovement
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, estimate, sentence

NOT_MOVING_YET = frozenset({"", "New", "Accepted", "Prepared"})
"""The phases of a data movement before its first byte."""
PATIENCE = timedelta(minutes=1)
"""A node picks up a volume within seconds; after a minute it is what the run waits for."""

_SHORTEST = 1.0
"""Seconds that a movement must have run before its rate says anything."""

_LONGEST = 366 * 24 * 3600
"""Seconds; a movement that would take longer does not move."""


class WaitingVolume(msgspec.Struct, frozen=True):
    """A volume that has transferred nothing yet; `node` is "" if no node has accepted it."""

    name: str
    phase: str
    node: str
    since: datetime

    @classmethod
    def of(cls, movement: DataMovement) -> WaitingVolume | None:
        """None where nothing tells since when it waits."""
        since = waiting_since(movement)
        if since is None:
            return None
        return cls(movement.volume or movement.name, movement.phase or "New", movement.node, since)


def waiting_volume(movements: Iterable[DataMovement], now: datetime) -> WaitingVolume | None:
    """The volume that has waited longest, if that is longer than usual."""
    not_moving = [movement for movement in movements if movement.phase in NOT_MOVING_YET]
    waiting = [(since, movement) for movement in not_moving if (since := waiting_since(movement))]
    since, first = min(
        waiting, key=lambda pair: (pair[0], pair[1].name), default=(datetime.max.replace(tzinfo=UTC), None)
    )
    if first is None or now - since < PATIENCE:
        return None
    return WaitingVolume.of(first)


class NodeLoad(msgspec.Struct, frozen=True):
    """The unfinished movements of a node, and how many it moves at once; None where that is not known."""

    unfinished: tuple[DataMovement, ...] = ()
    limit: int | None = None

    @property
    def moving(self) -> list[DataMovement]:
        return [movement for movement in self.unfinished if movement.phase == "InProgress"]


def moved_before(waiting: DataMovement, node: NodeLoad) -> str:
    """Names what its node moves before it: `worker-2 moves volume videos of media-20261115022703`; "" for nothing.

    One that came later does not count: a node that moves it has passed the waiting one over. Nor does a node that
    could move one more.
    """
    since, moving, limit = waiting_since(waiting), node.moving, node.limit
    if limit is not None and len(moving) < limit:
        return ""
    ahead = [
        movement
        for movement in moving
        if since is not None and (moment := waiting_since(movement)) and moment <= since + PATIENCE
    ]
    names = [
        f"{movement.volume or movement.name} of {movement.backup_name or movement.restore_name}" for movement in ahead
    ]
    nouns = "volume" if len(names) == 1 else "volumes"
    at_a_time = "" if limit is None else ", one at a time" if limit == 1 else f", {limit} at a time"
    return f"{waiting.node} moves {nouns} {humanize.join(names, 2)}{at_a_time}" if names else ""


def waiting_since(movement: DataMovement) -> datetime | None:
    return movement.status.accepted_timestamp or movement.created


class VolumesEnd(msgspec.Struct, frozen=True, gc=False):
    """When the last volume of a run is moved, or why that is not known.

    `waiting` is the volume that it waits for, `turn_after` what its node moves before it, and `not_before` when that
    is done; `still` is a volume under way that does not move.
    """

    end: datetime | None = None
    not_before: datetime | None = None
    waiting: WaitingVolume | None = None
    turn_after: str = ""
    still: DataMovement | None = None
    is_turn_sure: bool = False
    """The limit of the node is known, so the turn comes then and not at any other time."""
    reason: Text = ""
    """Why the end is not known; "" where it is, or where the volumes do not tell."""


NOTHING_MOVES = VolumesEnd()


def volumes_end(
    movements: Iterable[DataMovement], on_node: Callable[[DataMovement], NodeLoad], now: datetime
) -> VolumesEnd:
    """`on_node` has the load of the node of a volume: one that waits has its turn after that."""
    under_way = [movement for movement in movements if movement.status.completion_timestamp is None]
    if not under_way:
        return NOTHING_MOVES
    lengths = {
        movement.name: time_left(movement, now) for movement in under_way if movement.phase not in NOT_MOVING_YET
    }
    latest = max((now + length for length in lengths.values() if length is not None), default=None)
    still = next((movement for movement in under_way if _stands_still(movement, now)), None)
    waiting = [movement for movement in under_way if movement.phase in NOT_MOVING_YET]
    queued = [(movement, turn) for movement in waiting if (turn := _turn(movement, on_node(movement), now)) is not None]
    if queued:
        bounds = [turn.at for _, turn in queued if turn.at is not None]
        first, turn = min(queued, key=lambda pair: (pair[1].at is None, -(pair[1].at or now).timestamp(), pair[0].name))
        waits = WaitingVolume.of(first)
        if waits is not None:
            not_before = max(bounds, default=None)
            until = sentence(", until about ", estimate(turn.at)) if turn.at is not None else ""
            text = sentence(f"volume {waits.name} waits its turn: {turn.behind}", until)
            is_sure = len(bounds) == len(queued) == len(waiting) and all(turn.is_sure for _, turn in queued)
            return VolumesEnd(None, not_before, waits, turn.behind, still, is_sure, text)
    if (waits := waiting_volume(under_way, now)) is not None:
        where = f" on {waits.node}" if waits.node else ", not picked up by a node"
        reason = f"volume {waits.name} is {waits.phase}{where}, and nothing of it has moved"
        return VolumesEnd(waiting=waits, reason=reason)
    if still is not None:
        return VolumesEnd(still=still, reason=sentence("volume ", stands_still(still, now)))
    if len(lengths) == len(under_way) and all(length is not None for length in lengths.values()):
        return VolumesEnd(latest)
    return NOTHING_MOVES


def stands_still(still: DataMovement, now: datetime) -> Text:
    """`pgdata is InProgress on worker-1 for 6 minutes, and nothing of it has moved yet`."""
    where = f" on {still.node}" if still.node else ""
    length = now - (still.status.start_timestamp or now)
    name = still.volume or still.name
    return sentence(f"{name} is {still.phase}{where} for ", length, ", and nothing of it has moved yet")


class _Turn(msgspec.Struct, frozen=True):
    """The volumes that a node moves before a waiting one, and when its turn comes; None where that is not known."""

    behind: str
    at: datetime | None
    is_sure: bool = False
    """Nothing waits before it whose length nobody knows, and the limit of the node is known."""


def _turn(waiting: DataMovement, node: NodeLoad, now: datetime) -> _Turn | None:
    """Its turn comes when so many of those under way are done as wait before it, and one more.

    How long another waiting one takes is not known before it starts, so this is the earliest time. Where more are under
    way than the node moves at once by now, as many more have to end.
    """
    moving = node.moving
    behind = moved_before(waiting, node)
    since = waiting_since(waiting)
    if not behind or since is None:
        return None
    ends = sorted(now + length for movement in moving if (length := time_left(movement, now)) is not None)
    if len(ends) < len(moving):
        return _Turn(behind, None)
    earlier = [
        moment
        for movement in node.unfinished
        if movement.phase in NOT_MOVING_YET and (moment := waiting_since(movement)) is not None
    ]
    before = sum(start < since for start in earlier) + len(moving) - (node.limit or len(moving))
    return _Turn(behind, ends[min(before, len(ends) - 1)], node.limit is not None and before < len(ends))


def _stands_still(movement: DataMovement, now: datetime) -> bool:
    started = movement.status.start_timestamp
    moves = movement.phase == "InProgress" and started is not None and now - started >= PATIENCE
    return moves and not movement.status.progress.bytes_done


def rate(movement: DataMovement, now: datetime) -> float | None:
    """Bytes a second since it started; None before there is anything to tell."""
    status = movement.status
    if status.start_timestamp is None or not status.progress.bytes_done:
        return None
    length = ((status.completion_timestamp or now) - status.start_timestamp).total_seconds()
    return status.progress.bytes_done / length if length >= _SHORTEST else None


def time_left(movement: DataMovement, now: datetime) -> timedelta | None:
    """At the rate so far; None for what has ended, does not move, or has no known size."""
    progress, speed = movement.status.progress, rate(movement, now)
    if movement.status.completion_timestamp is not None or movement.phase != "InProgress" or not speed:
        return None
    if progress.total_bytes <= progress.bytes_done:
        return None
    seconds = (progress.total_bytes - progress.bytes_done) / speed
    return timedelta(seconds=seconds) if seconds <= _LONGEST else None
