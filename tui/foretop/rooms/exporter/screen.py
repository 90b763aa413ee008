"""The key of the fleet: it leads into a cluster."""

from __future__ import annotations

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop_core.rooms.exporter import PAGE

ACTIONS = (
    RoomAction(
        Action(
            "enter_cluster",
            (),
            "enter",
            "only this cluster, and what is wrong in it; esc comes back to the fleet",
            ActionGroup.PAGE,
            "this cluster",
            1,
        ),
        after="open_day",
        page=PAGE.id,
    ),
)
