"""The keys of files that change nothing: what is inside a backup, and the log of a pod."""

from __future__ import annotations

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.main_screen.action_host import ActionHost
from foretop.rooms.run_files.contents_viewer import ContentsViewer
from foretop.rooms.run_files.dialogs import PodLogViewer
from foretop_core.models.kinds import BACKUP, POD
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
    RoomAction(
        Action("pod_log", ("l",), "l", "its log", ActionGroup.OBJECT, "log", 2, kinds=(POD.plural,)),
        after="results",
        kinds=(POD.name,),
        of_findings=True,
        of_cluster=True,
        told="shows its log",
    ),
)


async def do_inside(host: ActionHost, key: ObjectRef | None) -> None:
    if key is not None:
        host.app.push_screen(ContentsViewer(host.service, key, host.display_options.ascii))


async def do_pod_log(host: ActionHost, key: ObjectRef | None) -> None:
    if key is not None:
        host.app.push_screen(PodLogViewer(host.service, key, host.display_options.ascii))
