"""A drill at a cluster that is protected, by whatever name it is reached."""

from __future__ import annotations

from foretop.cli import run
from foretop_core.models.velero import DRILL_LABEL
from tests.wire.action_fixtures import Wire, wire
from tests.wire.command_fixtures import foretop, home
from tests.wire.test_actions_refused import changed_by
from tests.wire.test_protected_clusters import Place, box, place, taken

__all__ = ["box", "foretop", "home", "place", "wire"]


def test_nothing_is_cleaned_up_in_production_without_its_name(place: Place, wire: Wire) -> None:
    taken(place, "its own name")
    left = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "left", "labels": {DRILL_LABEL: "x"}}}
    place.box.storage.create(place.box.storage.kind("Namespace"), left)
    assert run(["drill", "shop", "--yes", "--context", "prod"]) in (2, 3)
    assert changed_by(wire) == []
    assert place.box.storage.find(place.box.storage.kind("Namespace"), "", "left") is not None
