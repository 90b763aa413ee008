"""`foretop upgrade-check`: what another release of Velero makes of the schedules, before it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.help_examples import example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, file_help, output_option, say, say_to, warn
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules import humanize
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import NEWEST_KNOWN, NONE_GIVEN
from foretop_core.rules.cron_dialects.upgrade_effect import UpgradeKind
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.upgrade_check import ScheduleUpgrade, ServerUpgrade, server_upgrades, target
from foretop_core.tables.resources.json_items import as_list, identity, unseen_item

_NEEDED = frozenset({"", "Schedule"})
"""Of what was not seen, the kinds that hold schedules; "" is a whole cluster."""
_EFFECTS = {
    UpgradeKind.REFUSED: "is refused and makes no more backups",
    UpgradeKind.ACCEPTED: "is accepted, and starts at once if a run was due between its creation and the upgrade",
    UpgradeKind.OTHER_TIMES: "runs at other times",
    UpgradeKind.EVERY_MINUTE: "starts a backup every minute",
}


@click.command("upgrade-check", epilog=example("foretop upgrade-check --to 1.18.3"))
@connection_options
@click.option(
    "--to", "release", default=NEWEST_KNOWN, show_default=True, metavar="VERSION", help="The release to upgrade to."
)
@click.option("-f", "--file", "source", metavar="FILE", help=f"Check this instead of a cluster. {file_help}")
@click.option("--at", "at", metavar="TIME", help="Count from this time instead of now.")
@output_option
def command(session_options: SessionOptions, release: str, source: str | None, at: str | None, form: str) -> int:
    """Which schedules an upgrade of Velero changes, how, and what to write instead.

    Exit code: 0 nothing changes, 1 something changes, 2 bad input or nothing readable, 3 nothing found but not
    everything seen.
    """
    target(release)
    now = argument_values.moment(at)
    if source is None:
        return asyncio.run(_of_clusters(session_options, release, now if at else None, form))
    read = argument_values.objects(source)
    given = session_options.velero_versions or NONE_GIVEN
    given.check(())
    snapshot = assemble((item for _, item in read.objects), given_versions=given.of(""))
    if not snapshot.schedules:
        raise BadInput(f"{source} contains no schedules", "it has no Schedule")
    return report_upgrades([(snapshot, now)], read.unreadable, release, form)


async def _of_clusters(session_options: SessionOptions, release: str, at: datetime | None, form: str) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
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
    servers = [server for snapshot, at in snapshots for server in server_upgrades(snapshot, dialect, at)]
    unseen = [gap for snapshot, _ in snapshots for gap in snapshot.unseen if gap.kind in _NEEDED]
    warn(lost)
    _say_what_is_open(servers, form)
    if form == "text":
        print_upgrades(servers, unseen, str(to))
    else:
        items = [_item(server, change, str(to)) for server in servers for change in server.changes]
        emit({**as_list(items), "notSeen": [unseen_item(gap) for gap in unseen]}, form)
    return upgrade_exit_code(servers, unseen, lost)


def upgrade_exit_code(
    servers: Sequence[ServerUpgrade], unseen: Sequence[VisibilityGap], lost: Sequence[ForetopError]
) -> int:
    if any(server.changes for server in servers):
        return 1
    return 3 if unseen or lost else 0


def _say_what_is_open(servers: Sequence[ServerUpgrade], form: str) -> None:
    """Nobody asks for a release that makes no difference."""
    for server in servers:
        if not server.verdict.is_certain and server.changes:
            say_to(
                f"The Velero release in {_place(server)} is unknown ({server.before}): each result is "
                "shown by release. Give the release with --velero-version.",
                err=form != "text",
            )


def print_upgrades(servers: Sequence[ServerUpgrade], unseen: Sequence[VisibilityGap], to: str) -> None:
    for server in servers:
        for change in server.changes:
            _block(server, change, to, several=len(servers) > 1)
            say()
    for server in servers:
        place = f"{_place(server)}: " if len(servers) > 1 else ""
        say(f"{place}{_summary(server, to)}")
    if not servers:
        say("No schedules.")
    for gap in unseen:
        say(f"Not visible: {' '.join(filter(None, (gap.context, gap.kind)))} ({gap.why()})")


def _block(server: ServerUpgrade, change: ScheduleUpgrade, to: str, several: bool) -> None:
    schedule, effect = change.schedule, change.effect
    name = f"{server.context}/{schedule.namespace}" if several and server.context else schedule.namespace
    paused = "   paused: nothing changes until it is unpaused" if schedule.spec.paused else ""
    say(f"{'/'.join(filter(None, (name, schedule.name)))}   {effect.expression}   {_EFFECTS[effect.kind]}{paused}")
    say(f"  Velero {change.before}: {effect.meaning_before}")
    say(f"  Velero {to}: {effect.meaning_after}")
    say(f"  Runs in the next twelve months: {effect.runs_before:,} → {effect.runs_after:,}")
    if effect.first_difference is None:
        say(f"  First difference: none up to {effect.looked_until:%d %b %Y}")
    else:
        say(f"  First difference: {effect.first_difference:%a %d %b %Y %H:%M}Z")
    if effect.instead:
        say(f"  Write instead: {'   and   '.join(effect.instead)}")
    if effect.instead_note:
        say(f"  {effect.instead_note}")


def _summary(server: ServerUpgrade, to: str) -> str:
    count = humanize.count(server.schedules, "schedule")
    if server.before == to:
        return f"Nothing changes for {count}: this is already Velero {to}."
    if not server.changes:
        return f"{count} {'is' if server.schedules == 1 else 'are'} read the same by Velero {server.before} and {to}."
    of_all = f"{server.changed} of {count} {'changes' if server.changed == 1 else 'change'}"
    if not server.losing_all:
        return f"{of_all}."
    return f"{of_all}; {server.losing_all} {'loses all its' if server.losing_all == 1 else 'lose all their'} backups."


def _place(server: ServerUpgrade) -> str:
    return "/".join(filter(None, (server.context, server.namespace))) or "the file"


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
