"""The fleet in the tour of all keys: there is one cluster, of which the page says that it is no fleet."""

from __future__ import annotations

from tests.tour.places import Place, reading, typed
from tests.tour.seen import Doing

_TO_THE_FLEET = ("colon", *typed("fleet"), "enter")
EFFECTS = {
    "enter_cluster": Doing(lambda before, after: after.where.page == "triage" and "(0 all)" in after.text, ("escape",))
}
PLACES = (
    Place(
        "the fleet of one cluster",
        "fleet",
        ("2", "home"),
        _TO_THE_FLEET,
        reading("One cluster is watched"),
        frozenset({"escape", "back"}),
        own=False,
        otherwise={
            action: Doing(lambda before, after: after.where.page == "schedules", _TO_THE_FLEET)
            for action in ("escape", "back")
        },
    ),
)
