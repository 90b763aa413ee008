"""The pane of the queue: what holds a run, when it should start or end, and how that is known."""

from __future__ import annotations

from core.models import Backup
from core.rules import words
from core.rules.queue import Run
from core.view.marks import Tone
from core.view.scene import Scene
from tui.prose import Para, para, span


def queue_pane(run: Run, scene: Scene) -> tuple[Para, ...]:
    found = scene.queued(run)
    owner = f", made for {found.owner}" if found else ""
    head = Para((span(run.name, bold=True), span(f": {run.phase or 'waiting'}{owner}")))
    return head, *waiting_for(run, scene), *_scope(run), *progress(run, scene), _totals(run, scene)


def waiting_for(run: Run, scene: Scene) -> tuple[Para, ...]:
    """Who must go first, and when its turn comes."""
    found = scene.queued(run)
    if found is None:
        return ()
    said: list[Para] = []
    if found.hold is not None:
        overtaken = "; others may overtake it" if found.may_be_overtaken else ""
        said.append(para(f"It {found.hold}{overtaken}.", Tone.WAITING))
    basis = f", from its last {words.count(found.basis, 'run')}" if found.basis else ""
    if found.waits and found.expected_start is not None:
        when = words.moment(found.expected_start, scene.now)
        wait = words.span(found.expected_start - scene.now)
        said.append(para(f"Expected to start about {when}, in {wait}{basis}."))
    elif not found.waits and found.expected_end is not None:
        late = found.expected_end < scene.now
        when = words.moment(found.expected_end, scene.now)
        said.append(para(f"{'Should have ended' if late else 'Expected to end'} about {when}{basis}."))
    elif found.note:
        said.append(para(f"No time can be told: {found.note}."))
    return tuple(said)


def progress(run: Run, scene: Scene) -> tuple[Para, ...]:
    done, started = run.status.progress, run.status.start_timestamp
    if done is None or not done.total_items:
        return ()
    length = f" in {words.span((run.status.completion_timestamp or scene.now) - started)}" if started else ""
    moved = scene.world.seen.moved.get((type(run).__name__, run.namespace, run.name))
    stands = ""
    if moved is not None and run.status.completion_timestamp is None:
        stands = f"; unchanged for {words.span(scene.now - moved)}"
    return (para(f"{done.done:,} of {done.total_items:,} items{length}{stands}.", label="Items"),)


def _scope(run: Run) -> tuple[Para, ...]:
    if not isinstance(run, Backup):
        return (para(run.spec.backup_name or run.spec.schedule_name or "not said", label="From"),)
    names = run.spec.included_namespaces
    return (para("all namespaces" if not names or "*" in names else words.listed(names, 6), label="Takes"),)


def _totals(run: Run, scene: Scene) -> Para:
    """How many are at work and how many wait, of the same kind on the same server."""
    others = [item for item in scene.unfinished(run.namespace) if type(item) is type(run)]
    items = [found for other in others if (found := scene.queued(other)) is not None]
    waiting = sum(item.waits for item in items)
    slots = scene.world.server(run.namespace).concurrency if isinstance(run, Backup) else 1
    at_once = f"{slots} at a time, " if slots else ""
    noun = "restores" if not isinstance(run, Backup) else "backups"
    return para(f"{at_once}{len(items) - waiting} {noun} at work, {waiting} waiting", Tone.DIM)
