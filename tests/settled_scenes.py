"""Scenes of the demo some time after they began, played once for all tests of a process."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache

from foretop_core.models.wire import Resource
from foretop_demo.scenarios import RUSHES, SCENES, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster

SCENE_NAMES = [name for name in SCENES if name not in ("large", *RUSHES)]


@cache
def settled(name: str, passed: timedelta) -> tuple[tuple[Resource, ...], datetime]:
    """The objects of a scene, and the moment at which they are so."""
    box = SimulatedCluster(SCENES[name], ScenarioOptions(seed=1), FIXED_START)
    box.settle(passed)
    return tuple(box.objects()), box.clock.now()
