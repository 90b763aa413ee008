"""The keys of the primer: an expression goes into it, is edited there, and comes out primed."""

from __future__ import annotations

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.main_screen.action_host import ActionHost
from foretop.pages.page import PageAddress
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.primer import PAGE

ACTIONS = (
    RoomAction(
        Action(
            "prime",
            ("p",),
            "p",
            "its expression in the primer",
            ActionGroup.OBJECT,
            "primer",
            13,
            ("warm-up",),
            disabled_reason="Only schedules and cron jobs have an expression",
        ),
        after="copy_namespace",
        kinds=(SCHEDULE.name, PRESCALED.name, CRON_JOB.name),
        of_findings=True,
        hint="{} in the primer",
        hint_kinds=(PRESCALED.name,),
    ),
    RoomAction(
        Action("edit", (), "enter", "edit the expression; esc closes the field", ActionGroup.PAGE, "edit", 1),
        after="open_day",
        page=PAGE.id,
    ),
    RoomAction(
        Action("edit_minutes", (), "tab", "edit the minutes", ActionGroup.PAGE, "minutes", 2),
        after="open_day",
        page=PAGE.id,
    ),
    RoomAction(
        Action(
            "take",
            ("p",),
            "p",
            "use the expression of an object in the cluster",
            ActionGroup.PAGE,
            "take from",
            3,
            instead_of=("prime",),
        ),
        after="section",
        page=PAGE.id,
    ),
    RoomAction(
        Action("copy_primed", (), "c", "copy the primed expressions", ActionGroup.PAGE, "copy", 4),
        after="section",
        page=PAGE.id,
    ),
)


async def do_prime(host: ActionHost, key: ObjectRef | None) -> None:
    """The primer takes the expression of what is under the cursor."""
    await host.go(PageAddress(PAGE.id, key=key, jumped=True))
