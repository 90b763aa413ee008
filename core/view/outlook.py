"""What is to be expected of an unfinished run: the same for its row and for its pane."""

from __future__ import annotations

from dataclasses import dataclass

from core.rules import words
from core.rules.phases import HOLDS_SLOT
from core.rules.queue import HoldKind, QueueItem, Run, WaitingVolume, waiting_volume
from core.view import times
from core.view.scene import Scene


@dataclass(frozen=True, slots=True)
class Outlook:
    """`short` for the row, `sentence` for the pane, "" where there is nothing to say."""

    short: str = ""
    sentence: str = ""


def outlook(run: Run, scene: Scene) -> Outlook:
    """A start or an end is told only where nothing speaks against it: a server without a pulse, or a run that
    waits for a volume or stands, has none."""
    found = scene.queued(run)
    if found is None:
        return Outlook()
    silence = scene.beat(run.namespace).silent_for(scene.now)
    if silence is not None:
        return Outlook(f"no pulse {times.short(silence)}", f"No time can be told: {found.note}.")
    if found.waits:
        return _start(found, scene)
    if (volume := waiting_volume(scene.world.movements_of(run), scene.now)) is not None:
        return _waits(volume, scene)
    if (standing := scene.stands_for(run)) is not None:
        least = "" if scene.was_seen_moving(run) else "at least "
        return Outlook(
            f"stands {times.short(standing)}",
            f"It stands: neither items nor bytes have moved for {least}{words.span(standing)}, so no end can be told.",
        )
    return _end(found, scene)


def _start(found: QueueItem, scene: Scene) -> Outlook:
    at = found.expected_start
    short = f"~{scene.minute(at, found.run)}" if at else "not known"
    if found.hold is not None and found.hold.kind is HoldKind.NAMESPACE:
        short = f"{short}, after {', '.join(run.name for run in found.hold.by)}"
    if at is None:
        return Outlook(short, f"No time can be told: {found.note}." if found.note else "")
    wait = words.span(at - scene.now)
    return Outlook(short, f"Expected to start about {words.moment(at, scene.now)}, in {wait}{_basis(found)}.")


def _waits(volume: WaitingVolume, scene: Scene) -> Outlook:
    length = scene.now - volume.since
    where = f" on {volume.node}" if volume.node else ""
    taken = where or ", taken by no node,"
    return Outlook(
        f"{volume.name} waits{where} {times.short(length)}",
        f"It waits for volume {volume.name}: {volume.phase}{taken} for {words.span(length)}, and none of it has been "
        "moved; no end can be told before.",
    )


def _end(found: QueueItem, scene: Scene) -> Outlook:
    at = found.expected_end
    if at is None:
        short = "finishing" if found.phase not in HOLDS_SLOT else ""
        return Outlook(short, f"No time can be told: {found.note}." if found.note else "")
    when = f"{words.moment(at, scene.now)}{_basis(found)}"
    if at < scene.now:
        return Outlook(f"late, ~{scene.minute(at, found.run)}", f"Should have ended about {when}.")
    return Outlook(f"ends ~{scene.minute(at, found.run)}", f"Expected to end about {when}.")


def _basis(found: QueueItem) -> str:
    return f", from its last {words.count(found.basis, 'run')}" if found.basis else ""
