"""The key of contents: what is inside a backup, and what differs from another or from now."""

from __future__ import annotations

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.main_screen.action_host import ActionHost
from foretop.rooms.contents.viewer import ContentsViewer
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef

ACTIONS = (
    RoomAction(
        Action(
            "inside",
            ("I",),
            "I",
            "look inside: its objects; compare them with another copy, or with now",
            ActionGroup.OBJECT,
            "inside",
            13,
            ("objects", "compare", "difference"),
            disabled_reason="Look inside: of a backup",
        ),
        after="results",
        kinds=(BACKUP.name,),
    ),
)


async def do_inside(host: ActionHost, key: ObjectRef | None) -> None:
    if key is not None:
        host.app.push_screen(ContentsViewer(host.service, key, host.display_options.ascii))
