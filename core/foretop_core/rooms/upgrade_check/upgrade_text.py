"""The effect of another release of Velero on the schedules, in lines for the command and the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foretop_core.rooms.upgrade_check.lost_copies import LostCopy
from foretop_core.rooms.upgrade_check.server_upgrades import ScheduleUpgrade, ServerUpgrade
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.cron_dialects.upgrade_effect import UpgradeKind
from foretop_core.rules.known_bugs import KNOWN_BUGS, bugs_of
from foretop_core.rules.snapshot import VisibilityGap

_MOST_COPIES = 20
_EFFECTS = {
    UpgradeKind.REFUSED: "is refused and makes no more backups",
    UpgradeKind.ACCEPTED: "is accepted, and creates a backup at once if a run was due since its creation",
    UpgradeKind.OTHER_TIMES: "runs at other times",
    UpgradeKind.EVERY_MINUTE: "starts a backup every minute",
}


def unknown_release_lines(servers: Sequence[ServerUpgrade]) -> Iterator[str]:
    """Nobody asks for a release that makes no difference."""
    for server in servers:
        if not server.verdict.is_certain and server.changes:
            yield (
                f"The Velero release in {_place(server)} is unknown ({server.before}): each result is shown by release."
            )


def upgrade_lines(
    servers: Sequence[ServerUpgrade], unseen: Sequence[VisibilityGap], to: str, beside: Sequence[str]
) -> Iterator[str]:
    """A block for each schedule that changes, what an upgrade does `beside`, sums by server, and what was not seen."""
    for server in servers:
        for change in server.changes:
            yield from _block(server, change, to, several=len(servers) > 1)
            yield ""
    yield from (*beside, *([""] if beside else ()))
    for server in servers:
        place = f"{_place(server)}: " if len(servers) > 1 else ""
        yield f"{place}{_summary(server, to)}"
    if not servers:
        yield "No schedules."
    for gap in unseen:
        yield gap.line


def _block(server: ServerUpgrade, change: ScheduleUpgrade, to: str, several: bool) -> Iterator[str]:
    schedule, effect = change.schedule, change.effect
    name = f"{server.context}/{schedule.namespace}" if several and server.context else schedule.namespace
    paused = "   paused: nothing changes until it is unpaused" if schedule.spec.paused else ""
    yield f"{'/'.join(filter(None, (name, schedule.name)))}   {effect.expression}   {_EFFECTS[effect.kind]}{paused}"
    yield f"  Velero {change.before}: {effect.meaning_before}"
    yield f"  Velero {to}: {effect.meaning_after}"
    yield f"  Runs in the next twelve months: {effect.runs_before:,} → {effect.runs_after:,}"
    if effect.first_difference is None:
        yield f"  First difference: none up to {effect.looked_until:%d %b %Y}"
    else:
        yield f"  First difference: {effect.first_difference:%a %d %b %Y %H:%M}Z"
    if effect.instead:
        yield f"  Write instead: {'   and   '.join(effect.instead)}"
    if effect.instead_note:
        yield f"  {effect.instead_note}"


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


def beside_schedules(servers: Sequence[ServerUpgrade], copies: Sequence[LostCopy], to: Release) -> list[str]:
    """The known bugs that the release has or ends, and the copies that it cannot restore."""
    before = {release for server in servers if (release := server.verdict.release) is not None}
    after = bugs_of(to)
    ended = [
        bug for bug in KNOWN_BUGS if bug.fixed and bug not in after and any(bug.is_in(release) for release in before)
    ]
    lines = [f"Velero {to} ends a known bug: {bug.line}" for bug in ended]
    lines += [f"Velero {to} has a known bug: {bug.line}" for bug in after]
    return [*lines, *lost_copy_lines(copies, to)]


def lost_copy_lines(lost: Sequence[LostCopy], to: Release) -> Iterator[str]:
    """The copies whose volumes the release cannot restore, by backup."""
    if not lost:
        return
    yield f"Velero {to} cannot restore volumes that restic copied; {humanize.count(len(lost), 'backup')} of today:"
    for copy in lost[:_MOST_COPIES]:
        volumes = humanize.count(copy.volumes, "volume")
        yield f"  {copy.namespace}/{copy.backup}: {volumes} of {humanize.join(copy.namespaces)}"
    if len(lost) > _MOST_COPIES:
        yield f"  and {len(lost) - _MOST_COPIES:,} more"
