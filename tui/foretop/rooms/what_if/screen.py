"""The key of what if: its window opens above the calendar, and goes on to the ordinary dialog."""

from __future__ import annotations

from functools import partial

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.dialogs.schedule_dialogs import CreateScheduleDialog, EditScheduleDialog
from foretop.main_screen.action_host import ActionHost
from foretop.pages.calendar_page import CalendarPage
from foretop.pages.page import PageAddress
from foretop.rooms.what_if.dialog import PlannedChange, WhatIfScreen
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef

ACTIONS = (
    RoomAction(
        Action(
            "what_if",
            ("W",),
            "W",
            "what if: try another time, a pause, more slots; nothing is written",
            ActionGroup.PAGE,
            "what if",
            11,
            ("forecast", "try"),
            disabled_reason="What if: of a schedule, or in the calendar (:calendar)",
        ),
        after="collisions",
        page="calendar",
        kinds=(SCHEDULE.name,),
    ),
)


async def do_what_if(host: ActionHost, key: ObjectRef | None) -> None:
    """Tries a change of the lane under the cursor, or of its server; first a schedule gets the cursor."""
    if key is not None:
        await host.go(PageAddress("calendar", filter="", key=key, jumped=True))
    page = host.page
    if not isinstance(page, CalendarPage):
        return
    state, timeline, lane = page.state, page.timeline, page.lanes.cursor
    if state is None or timeline is None or lane is None:
        return
    server = timeline.server_of(lane)
    if server is None:
        host.app.notify("No Velero server was found")
        return
    if lane.kind != SCHEDULE.name:
        lane = ObjectRef(server[0], SCHEDULE.name, server[1], "")
    shown = timeline.nights.get(server)
    draws = shown.night.draws if shown is not None else 0
    take = partial(_plan, host, page)
    host.app.push_screen(WhatIfScreen(state, lane, take, draws))


def _plan(host: ActionHost, page: CalendarPage, planned: PlannedChange) -> None:
    """Goes on to the ordinary dialog, with what was tried."""
    if planned.new_name:
        host.run_worker(_create(host, page, planned))
    elif planned.schedule:
        host.run_worker(_edit(host, page, planned))
    else:
        host.run_worker(_ask(host, page, "pause" if planned.paused else "unpause", planned.key))


async def _ask(host: ActionHost, page: CalendarPage, action: str, key: ObjectRef) -> None:
    if page.lanes.go_to(key):
        await host.action_do(action)


async def _edit(host: ActionHost, page: CalendarPage, planned: PlannedChange) -> None:
    await _ask(host, page, "edit-schedule", planned.key)
    dialog = host.app.screen
    if isinstance(dialog, EditScheduleDialog) and dialog.keys == (planned.key,):
        dialog.call_after_refresh(dialog.propose, schedule=planned.schedule)


async def _create(host: ActionHost, page: CalendarPage, planned: PlannedChange) -> None:
    """Goes on to the page of the schedules: a new one is created there, beside those of its server."""
    assert page.state is not None
    context, namespace = planned.key.context, planned.key.namespace
    snapshot = page.state.store.snapshot(context)
    beside = [snapshot.ref(schedule) for schedule in snapshot.schedules_by_namespace.get(namespace, ())]
    key = planned.key if planned.key.name or not beside else beside[0]
    await host.go(PageAddress("schedules", filter="", key=key, jumped=True))
    await host.action_do("create-schedule")
    dialog = host.app.screen
    if isinstance(dialog, CreateScheduleDialog) and dialog.keys[0].namespace == namespace:
        dialog.call_after_refresh(dialog.propose, name=planned.new_name, cron=planned.schedule)
