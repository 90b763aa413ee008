"""`python -m tests.tui.hostile_box`: the dashboard before a box in which all text of owners is hostile.

With `notify` it rings, notifies and sets the title, and a finding comes up after a while.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from foretop.commands.demo import _show
from foretop.commands.start_dashboard import DisplayFlags
from foretop_core.models.kinds import KINDS
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster

MARK = "own"
HOSTILE = (
    f"a\x1b[2J\x1b]0;{MARK}\x07\x1b]52;c;{MARK}\x1b\\\x9b31m\u202e\u2066\x07\x0e[bold red]x[/]\r\n\u200bé\u0301漢字"
)
_KEPT = ("name", "namespace", "uid", "resourceVersion", "apiVersion", "kind", "nacuuid", "controller-uid")
_SLOW = 0.001
"""The controllers of the box hardly move, so that what was made hostile stays so."""


_FINDING_AFTER = 6.0


def hostile_box() -> SimulatedCluster:
    """The default scene, with every text changed behind the back of its API server; times and names stay."""
    box = SimulatedCluster(find_scene("default"), ScenarioOptions(seed=1), FIXED_START, _SLOW)
    for kind in KINDS:
        for place, body in enumerate(box.storage.list(box.storage.kind(kind.name))):
            _spoil(body.get("spec"))
            _spoil(body.get("status"), keep_phase=place % 3 > 0)
            body["metadata"].setdefault("annotations", {})["example.com/note"] = HOSTILE
            body["metadata"].setdefault("labels", {})["example.com/note"] = HOSTILE
    return box


def _spoil(part: Any, *, keep_phase: bool = True) -> None:
    kept = (*_KEPT, "phase") if keep_phase else _KEPT
    steps = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for place, held in list(steps):
        if isinstance(held, dict | list):
            _spoil(held, keep_phase=keep_phase)
        elif isinstance(held, str) and place not in kept and not held[:4].isdigit():
            part[place] = f"{held}{HOSTILE}"


def _box_with_new_finding() -> SimulatedCluster:
    """At the speed of real time, for a finding must hold for a while before it is shown."""
    box = SimulatedCluster(find_scene("default"), ScenarioOptions(seed=1), FIXED_START, 1.0)

    def add_lost_storage() -> None:
        kind = box.storage.kind("BackupStorageLocation")
        spec = {"provider": "aws", "objectStorage": {"bucket": "gone"}}
        box.storage.create(kind, {"metadata": {"name": "late", "namespace": HOME}, "spec": spec})

    timer = threading.Timer(_FINDING_AFTER, add_lost_storage)
    timer.daemon = True
    timer.start()
    return box


if __name__ == "__main__":
    if sys.argv[1:] == ["notify"]:
        flags = DisplayFlags(bell=True, title=True, desktop="osc777")
        sys.exit(_show(_box_with_new_finding, 0, flags, False, 1.0))
    sys.exit(_show(hostile_box, 0, DisplayFlags(), False, 1.0))
