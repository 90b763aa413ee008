"""Scenes: what is in a box when it is opened, and who acts in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from foretop_core.errors import BadInput
from foretop_core.minicluster.scenes import dead, default, large, maintenance, outage, quiet, seeds, volumes
from foretop_core.minicluster.scenes.stage import Stage, Wishes

__all__ = ["SCENES", "Scene", "Stage", "Wishes", "find_scene"]


@dataclass(frozen=True, slots=True)
class Scene:
    """A name, what it shows, how it is set up, and for how long it has been going on when it is shown."""

    name: str
    shows: str
    set_up: Callable[[Stage], None]
    warm_up: timedelta = timedelta(minutes=10)


_SHORT = timedelta(minutes=4)

SCENES: dict[str, Scene] = {
    scene.name: scene
    for scene in (
        Scene(
            "default", "a busy cluster: a queue that moves, tenants, and a handful of troubles", default.set_up, _SHORT
        ),
        Scene("quiet", "everything is well and little happens", quiet.set_up, timedelta(minutes=3)),
        Scene("outage", "object storage does not answer, the queue is stuck", outage.set_up, timedelta(minutes=15)),
        Scene("volumes", "volumes that move, wait and fail", volumes.set_up, timedelta(minutes=15)),
        Scene("dead", "the Velero server is gone", dead.set_up, timedelta(minutes=20)),
        Scene("maintenance", "everything is paused, several are due", maintenance.set_up, timedelta(minutes=3)),
        Scene("large", "ten thousand non-admin backups", large.set_up, timedelta(minutes=2)),
        Scene("skip-immediately", "who skips what is due, and who does not", seeds.skip_immediately),
        Scene("nonadmin-status", "non-admin objects at every place of their chart", seeds.nonadmin_status),
        Scene("primed-cron", "primed schedules, right and wrong", seeds.primed_cron, timedelta(minutes=2)),
    )
}


def find_scene(name: str) -> Scene:
    scene = SCENES.get(name)
    if scene is None:
        raise BadInput(f"there is no scene {name!r}", "", f"the scenes are {', '.join(SCENES)}")
    return scene
