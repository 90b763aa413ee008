"""The estimated start or end of an unfinished run. The same for its row and its pane."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.movement_rate import time_left
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_core.rules.queue import (
    Blocker,
    BlockerKind,
    OwnerKind,
    QueueItem,
    Run,
    WaitingVolume,
    owner_of,
    waiting_volume,
)
from foretop_core.rules.sentences import Text, sentence
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.text import times


class RunEta(msgspec.Struct, frozen=True):
    """`short` and `waits_for` for the row, `sentence` for the pane, "" where there is nothing to say."""

    short: str = ""
    sentence: Text = ""
    waits_for: str = ""


def run_eta(run: Run, render: RenderContext) -> RunEta:
    """A start or an end is told only where nothing speaks against it: a server without a pulse, or a run that
    waits for a volume or stands, has none."""
    found = render.queued(run)
    if found is None:
        return RunEta()
    beat = render.beat(run.namespace)
    if (silence := beat.silent_for(render.now)) is not None:
        awaited = beat.awaited_part(render.now)
        if not beat.still_submits(render.now):
            return RunEta(f"{beat.silence_word(render.now)} {times.short(silence)}", _unknown(found), awaited)
        # A run that was created meanwhile has not been held up for longer than it exists.
        held = min(silence, render.now - run.created) if run.created is not None else silence
        return RunEta(f"stalled {times.short(held)}", _unknown(found), awaited)
    if found.waits:
        return _start(found, render)
    if (volume := waiting_volume(render.snapshot.movements_of(run), render.now)) is not None:
        return _waits(found, volume, render)
    if (standing := render.stands_for(run)) is not None:
        least = "" if render.was_seen_moving(run) else "at least "
        return RunEta(
            f"stalled {times.short(standing)}",
            sentence(f"Stalled: neither items nor bytes have changed for {least}", standing, ", no estimated end."),
        )
    return _end(found, render)


def _start(found: QueueItem, render: RenderContext) -> RunEta:
    at = found.expected_start
    short = f"~{render.minute(at, found.run)}" if at else "not known"
    if found.refusal:
        when = sentence(" about ", at, ", in ", at - render.now) if at else ""
        told = sentence("Velero refuses it when it is its turn", when, f", while {found.refusal}.")
        return RunEta("refused", told, _hold(found.hold) if found.hold is not None else "")
    if at and found.hold is not None and found.hold.kind is BlockerKind.NAMESPACE:
        short = f"{short} held"
    waits_for = _hold(found.hold) if found.hold is not None else ""
    if at is None:
        return RunEta(short, _unknown(found), waits_for)
    told = sentence("Expected to start about ", at, ", in ", at - render.now, ".")
    return RunEta(short, told, waits_for)


def _unknown(found: QueueItem) -> Text:
    return sentence("No estimate: ", found.note, ".") if found.note else ""


def _hold(hold: Blocker) -> str:
    """By the owners' names, which are shorter and better known than those of their runs."""
    names = humanize.join([_called(run) for run in hold.by], 2)
    match hold.kind:
        case BlockerKind.SLOT:
            return "a free slot"
        case BlockerKind.TURN:
            return f"its turn, after {names}"
        case BlockerKind.NAMESPACE:
            return f"{names}: {hold.shared}"
    assert_never(hold.kind)


def _called(run: Run) -> str:
    owner = owner_of(run)
    match owner.kind:
        case OwnerKind.HAND:
            return run.name
        case OwnerKind.SCHEDULE:
            return owner.name
        case OwnerKind.NAB | OwnerKind.NAR:
            return f"{owner.namespace}/{owner.name}"
    assert_never(owner.kind)


def _waits(found: QueueItem, volume: WaitingVolume, render: RenderContext) -> RunEta:
    """A run whose other volumes move does not wait: only one of its volumes does."""
    length = render.now - volume.since
    where = f" on {volume.node}" if volume.node else ""
    taken = where or ", not picked up by a node,"
    moves = any(one.phase == "InProgress" for one in render.snapshot.movements_of(found.run))
    busy = render.snapshot.moved_before(volume.movement)
    so_far = f"{times.short(found.running_for)} " if found.running_for is not None else ""
    told = (
        sentence(f"Volume {volume.name} waits its turn for ", length, f": {busy}.")
        if busy
        else sentence(
            f"It waits for volume {volume.name}: {volume.phase}{taken} for ",
            length,
            ", with no data of it moved yet; no estimated end.",
        )
    )
    return RunEta(f"{so_far}→ ?" if moves else f"waits {times.short(length)}", told, f"volume {volume.name}{where}")


def _end(found: QueueItem, render: RenderContext) -> RunEta:
    """How long it has run, and until when it should."""
    at = found.expected_end
    so_far = times.short(found.running_for) if found.running_for is not None else ""
    if at is None and (moved := _moved_by(found, render)) is not None:
        told = sentence("Its volumes are moved by about ", moved, ", at their rate so far; it ends after that.")
        return RunEta(f"{so_far} → {render.minute(moved, found.run)}".lstrip(), told)
    if at is None:
        short = f"{so_far} finishing" if found.phase not in HOLDS_SLOT else f"{so_far} → ?"
        return RunEta(short.lstrip(), _unknown(found))
    told = sentence("Expected to end about ", at, f"{_basis(found)}.")
    return RunEta(f"{so_far} → {render.minute(at, found.run)}".lstrip(), told)


def _moved_by(found: QueueItem, render: RenderContext) -> datetime | None:
    """When the last of its volumes is moved; None where one of them has no time left to tell, or all are moved."""
    under_way = [one for one in render.snapshot.movements_of(found.run) if one.status.completion_timestamp is None]
    left = [time_left(one, render.now) for one in under_way]
    known = [one for one in left if one is not None]
    return render.now + max(known) if known and len(known) == len(left) else None


def _basis(found: QueueItem) -> str:
    """A NAB or NAR runs once: the runs are those of its namespace."""
    if not found.basis:
        return ""
    match found.owner.kind:
        case OwnerKind.NAB | OwnerKind.NAR:
            runs = humanize.count(found.basis, found.owner.kind.upper())
            return f", from the last {runs} of {found.owner.namespace}"
        case OwnerKind.SCHEDULE | OwnerKind.HAND:
            return f", from its last {humanize.count(found.basis, 'run')}"
    assert_never(found.owner.kind)
