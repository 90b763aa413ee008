"""The screen of an upgrade: which schedules the newest known release of Velero reads otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from foretop.bindings import Action, ActionGroup, RoomAction
from foretop.dialogs.text_screens import TextScreen
from foretop.main_screen.action_host import ActionHost
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, DIM
from foretop_core.background import in_thread
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.upgrade_check.server_upgrades import NEEDED, server_upgrades, target
from foretop_core.rooms.upgrade_check.upgrade_text import beside_schedules, unknown_release_lines, upgrade_lines
from foretop_core.rules.cron_dialects import NEWEST_KNOWN

ACTIONS = (
    RoomAction(
        Action(
            "upgrade",
            (),
            "",
            "what an upgrade of Velero changes in the schedules",
            ActionGroup.GO,
            words=("upgrade-check", "release"),
        ),
        after="windows",
    ),
)


class UpgradeScreen(TextScreen):
    """The schedules that an upgrade of Velero changes."""

    def __init__(self, release: str, lines: Sequence[str]) -> None:
        title = Span(f"Upgrade to Velero {release}", BOLD)
        other = "   foretop upgrade-check --to VERSION for another release, esc/q close"
        said = [Paragraph((title, Span(other, DIM))), paragraph("")]
        super().__init__([*said, *(Paragraph((span(line),), indent=4) for line in lines)])


async def do_upgrade(host: ActionHost, _: ObjectRef | None) -> None:
    state = host.state
    assert state is not None
    release, dialect = target(NEWEST_KNOWN)
    snapshots = [(state.store.snapshot(context), state.now(context)) for context in state.contexts]

    def look() -> list[str]:
        servers = [server for snapshot, moment in snapshots for server in server_upgrades(snapshot, dialect, moment)]
        unseen = [gap for snapshot, _ in snapshots for gap in snapshot.unseen if gap.kind in NEEDED]
        beside = beside_schedules(servers, (), release)
        return [*unknown_release_lines(servers), *upgrade_lines(servers, unseen, str(release), beside)]

    host.app.push_screen(UpgradeScreen(str(release), await in_thread(look)))
