"""Scenarios: the objects of a box when it is opened, and who acts in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec

from foretop_core.errors import BadInput
from foretop_demo.scenarios import (
    busy,
    contents,
    dead,
    default,
    design_examples,
    gitops,
    large,
    maintenance,
    outage,
    protection,
    quiet,
    volumes,
)
from foretop_demo.scenarios.scenario_builder import ScenarioBuilder, ScenarioOptions

__all__ = ["RUSHES", "SCENES", "SHOWN_FIRST", "Scenario", "ScenarioBuilder", "ScenarioOptions", "find_scene"]


class Scenario(msgspec.Struct, frozen=True):
    """A name, a description, the setup, and how long it has been running when it is shown."""

    name: str
    shows: str
    set_up: Callable[[ScenarioBuilder], None]
    warm_up: timedelta = timedelta(minutes=10)


_SHORT, _HALF_HOUR = timedelta(minutes=4), timedelta(minutes=30)

SCENES: dict[str, Scenario] = {
    scene.name: scene
    for scene in (
        Scenario(
            "default", "a busy cluster: a queue that moves, tenants, and a handful of troubles", default.set_up, _SHORT
        ),
        Scenario("quiet", "everything is well and little happens", quiet.set_up, timedelta(minutes=3)),
        Scenario("outage", "object storage does not answer, the queue is stuck", outage.set_up, timedelta(minutes=15)),
        Scenario("volumes", "volumes that move, wait and fail", volumes.set_up, timedelta(minutes=15)),
        Scenario("dead", "the Velero server is gone", dead.set_up, timedelta(minutes=20)),
        Scenario("maintenance", "everything is paused, several are due", maintenance.set_up, timedelta(minutes=3)),
        Scenario("gitops", "schedules kept in Git, and put back when they are changed", gitops.set_up, _SHORT),
        Scenario(
            "protection",
            "namespaces in every state of protection, one of them deleted",
            protection.set_up,
            timedelta(minutes=2),
        ),
        Scenario(
            "contents",
            "copies with all volumes of a namespace, some or none, and how large they are",
            contents.set_up,
            timedelta(minutes=2),
        ),
        Scenario("large", "ten thousand non-admin backups", large.set_up, timedelta(minutes=2)),
        Scenario("skip-immediately", "who skips what is due, and who does not", design_examples.skip_immediately),
        Scenario("nonadmin-status", "non-admin objects at every place of their chart", design_examples.nonadmin_status),
        Scenario("primed-cron", "primed schedules, right and wrong", design_examples.primed_cron, timedelta(minutes=2)),
        Scenario(
            "busy",
            "the default one with tenants who ask as they did the day before, most of them by day",
            busy.set_up,
            _SHORT,
        ),
        Scenario(
            "short-rush", "tenants fill the queue for an hour, half of which is over", busy.short_rush, _HALF_HOUR
        ),
        Scenario(
            "long-rush",
            "tenants fill the queue for almost three hours, half an hour of which is over",
            busy.long_rush,
            _HALF_HOUR,
        ),
    )
}


SHOWN_FIRST = "busy"
"""The scene of who names none."""
RUSHES = ("short-rush", "long-rush")
"""The same cluster as it, fuller for a while."""


def find_scene(name: str) -> Scenario:
    scene = SCENES.get(name)
    if scene is None:
        raise BadInput(f"scene {name!r} does not exist", "", f"the scenes are {', '.join(SCENES)}")
    return scene
