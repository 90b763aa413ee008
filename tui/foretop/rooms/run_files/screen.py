"""The keys of the files of runs: what failed, what is inside a backup, and the log of a pod."""

from __future__ import annotations

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.main_screen.action_host import ActionHost
from foretop.pages.page import PageAddress
from foretop.rooms.run_files.contents_viewer import ContentsViewer
from foretop.rooms.run_files.dialogs import PodLogViewer
from foretop.rooms.run_files.section import SECTION, why_not_fetch
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import BACKUP, NAB, NAR, POD
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import DETAIL

ACTIONS = (
    RoomAction(
        Action(
            "results",
            ("x",),
            "x",
            "its results: what failed",
            ActionGroup.OBJECT,
            "results",
            13,
            ("errors", "warnings"),
            disabled_reason="Only Velero's backups and restores have results",
        ),
        after="describe",
        of_run=True,
        section=SECTION.name,
        hint="results of {}",
    ),
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
        after="describe",
        kinds=(BACKUP.name,),
    ),
    RoomAction(
        Action("pod_log", ("l",), "l", "its log", ActionGroup.OBJECT, "log", 2, kinds=(POD.plural,)),
        after="describe",
        kinds=(POD.name,),
        of_findings=True,
        of_cluster=True,
        told="shows its log",
    ),
)


async def do_results(host: ActionHost, key: ObjectRef | None) -> None:
    """Opens the results and fetches their list, which may ask first."""
    state, page, in_detail = host.state, host.page, host.current == DETAIL
    if key is None or state is None or page is None:
        return
    place = PageAddress(DETAIL, key=key, section=SECTION.name, jumped=in_detail)
    await host.go(place, remember=not in_detail or key != page.subject())
    if host.page is not None and host.page.lacks_list:
        host.run_worker(_fetch_list(host, state, key))


async def _fetch_list(host: ActionHost, state: DashboardState, key: ObjectRef) -> None:
    """As the key does that fetches it; where that would be refused, the page says why."""
    if await why_not_fetch(state, key):
        return
    page = host.page
    if page is not None and page.lacks_list and key == page.subject() and host.app.screen is page.screen:
        await host.action_do(RunFile.RESULTS.record(of_tenant=key.kind in (NAB.name, NAR.name)).id)


async def do_inside(host: ActionHost, key: ObjectRef | None) -> None:
    if key is not None:
        host.app.push_screen(ContentsViewer(host.service, key))


async def do_pod_log(host: ActionHost, key: ObjectRef | None) -> None:
    if key is not None:
        host.app.push_screen(PodLogViewer(host.service, key))
