"""`foretop upgrade-check`: what another release of Velero makes of the schedules, before it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import NOT_JUDGED, judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, file_help, output_option, say, say_to, warn
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import POD_VOLUME_BACKUP
from foretop_core.rooms.upgrade_check.lost_copies import loses_restic, lost_copies
from foretop_core.rooms.upgrade_check.server_upgrades import (
    NEEDED,
    ScheduleUpgrade,
    ServerUpgrade,
    server_upgrades,
    target,
)
from foretop_core.rooms.upgrade_check.upgrade_text import beside_schedules, unknown_release_lines, upgrade_lines
from foretop_core.rules.cron_dialects import NEWEST_KNOWN
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.known_bugs import bugs_of
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.tables.engine.json_items import as_list, identity, unseen_item


@click.command("upgrade-check", cls=OwnOptionsFirst, epilog=example("foretop upgrade-check --to 1.18.3"))
@connection_options
@click.option(
    "--to", "release", default=NEWEST_KNOWN, show_default=True, metavar="VERSION", help="The release to upgrade to."
)
@click.option("-f", "--file", "source", metavar="FILE", help=f"Check this instead of a cluster. {file_help}")
@click.option("--at", "at", metavar="TIME", help="Count from this time instead of now.")
@output_option
@judging
def command(session_options: SessionOptions, release: str, source: str | None, at: str | None, form: str) -> int:
    """Which schedules an upgrade of Velero changes, how, and what to write instead.

    Also the known bugs that the release has or ends, and the copies that it cannot restore.
    """
    target(release)
    given = argument_values.moment(at) if at else None
    if (looked_at := argument_values.looked_at(source, session_options)) is not None:
        return asyncio.run(_of_clusters(looked_at, release, given, form))
    assert source is not None
    snapshot, read = argument_values.snapshot_in(source, session_options)
    if not snapshot.schedules:
        raise BadInput(f"{source} contains no schedules", "it has no Schedule")
    now = argument_values.as_of(at, source, read)
    return report_upgrades([(snapshot, now)], read.unreadable, release, form)


async def _of_clusters(session_options: SessionOptions, release: str, at: datetime | None, form: str) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
        if loses_restic(target(release)[0]):
            session.watch_on_demand(frozenset({POD_VOLUME_BACKUP.name}))
            await wait_synced(session)
        snapshots = [(session.snapshot(name), at or session.clock(name).now()) for name in good]
        return report_upgrades(snapshots, (*unreadable(session), *bad), release, form)


def report_upgrades(
    snapshots: Sequence[tuple[ClusterSnapshot, datetime]],
    lost: Sequence[ForetopError | Unreadable],
    release: str,
    form: str,
) -> int:
    """Prints what changes on some clusters, and answers with the exit code."""
    to, dialect = target(release)
    copies = [copy for snapshot, _ in snapshots for copy in lost_copies(snapshot, to)]
    servers = [server for snapshot, moment in snapshots for server in server_upgrades(snapshot, dialect, moment)]
    needed = NEEDED | ({POD_VOLUME_BACKUP.name} if loses_restic(to) else set())
    unseen = [gap for snapshot, _ in snapshots for gap in snapshot.unseen if gap.kind in needed]
    warn(lost)
    _say_what_is_open(servers, form)
    if form == "text":
        print_upgrades(servers, unseen, str(to), beside_schedules(servers, copies, to))
    else:
        items = [_item(server, change, str(to)) for server in servers for change in server.changes]
        known_bugs = [
            {
                "issue": bug.issue,
                "sign": bug.sign,
                "seenFrom": str(bug.first),
                "seenTo": str(bug.last),
                "fixedIn": bug.fixed or None,
            }
            for bug in bugs_of(to)
        ]
        more = {"knownBugs": known_bugs, "lostCopies": [to_builtins(copy) for copy in copies]}
        emit({**as_list(items), "notSeen": [unseen_item(gap) for gap in unseen], **more}, form)
    return 1 if copies else upgrade_exit_code(servers, unseen, lost)


def upgrade_exit_code(
    servers: Sequence[ServerUpgrade], unseen: Sequence[VisibilityGap], lost: Sequence[ForetopError]
) -> int:
    if any(server.changes for server in servers):
        return 1
    return NOT_JUDGED if unseen or lost else 0


def _say_what_is_open(servers: Sequence[ServerUpgrade], form: str) -> None:
    for line in unknown_release_lines(servers):
        say_to(f"{line} Give the release with --velero-version.", err=form != "text")


def print_upgrades(
    servers: Sequence[ServerUpgrade], unseen: Sequence[VisibilityGap], to: str, beside: Sequence[str]
) -> None:
    for line in upgrade_lines(servers, unseen, to, beside):
        say(line)


def _item(server: ServerUpgrade, change: ScheduleUpgrade, to: str) -> dict[str, Any]:
    effect = change.effect
    return {
        **identity(server.context, change.schedule),
        "schedule": effect.expression,
        "paused": change.schedule.spec.paused,
        "effect": effect.kind.value,
        "from": change.before,
        "to": to,
        "meaningBefore": effect.meaning_before,
        "meaningAfter": effect.meaning_after,
        "runsBefore": effect.runs_before,
        "runsAfter": effect.runs_after,
        "firstDifference": rfc3339(effect.first_difference),
        "instead": list(effect.instead),
        "insteadNote": effect.instead_note,
    }
