"""`foretop whatif`: the coming night with and without a change that nobody has made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import judging
from foretop.commands.forecast import last_end_item, night_exit_code, night_options, not_seen
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, output_option, say, warn
from foretop_core.errors import BadInput, Unforeseen
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.what_if.comparison import (
    NO_DIFFERENCE,
    Add,
    Change,
    Longer,
    Move,
    NightComparison,
    Pause,
    Slots,
    Stopped,
    Unpause,
    if_back_with,
    read_number,
    read_pair,
    what_if,
)
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.coming_back import if_back
from foretop_core.rules.night.night import Fate
from foretop_core.rules.night.outlook import Missing, Outlook
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.json_items import unseen_item
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import printed_words

Judge = Callable[[ClusterSnapshot, str, datetime, bool], int]
"""Gets the snapshot, the namespace of the server, the moment, and whether some of it was not read; its answer is the
exit code."""


@click.command(
    "whatif", cls=OwnOptionsFirst, epilog=example("foretop whatif --move daily='30 2 * * *' --concurrent-backups 3")
)
@connection_options
@night_options
@click.option("--move", "moves", multiple=True, metavar="NAME=CRON", help="Another expression for a schedule.")
@click.option("--pause", "pauses", multiple=True, metavar="NAME", help="Pause a schedule.")
@click.option("--unpause", "unpauses", multiple=True, metavar="NAME", help="Unpause a schedule.")
@click.option("--concurrent-backups", "slots", type=int, metavar="N", help="Let Velero run so many at a time.")
@click.option("--add", "adds", multiple=True, metavar="NAME=CRON", help="A schedule that does not exist yet.")
@click.option(
    "--length", "minutes", type=float, default=10.0, show_default=True, metavar="MINUTES", help="Of a run of --add."
)
@click.option("--longer", "longer", multiple=True, metavar="NAME=N", help="Runs of a schedule take N times as long.")
@click.option("--stopped", "stopped", metavar="A-B", help="Velero does not run then, such as 02:00-03:00.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of --stopped (UTC).")
@output_option
@judging
def command(
    session_options: SessionOptions,
    source: str | None,
    at: str | None,
    without: frozenset[Missing],
    hours: int,
    moves: Sequence[str],
    pauses: Sequence[str],
    unpauses: Sequence[str],
    slots: int | None,
    adds: Sequence[str],
    minutes: float,
    longer: Sequence[str],
    stopped: str | None,
    zone_name: str | None,
    form: str,
) -> int:
    """Compare the coming night with what it would be after a change. Nothing is written.

    Both are simulated with the same draws, so that they differ in the change alone.
    """
    zone = argument_values.zone(zone_name)
    changes: list[Change] = [
        *(Move(name, text) for name, text in map(read_pair, moves)),
        *map(Pause, pauses),
        *map(Unpause, unpauses),
        *(Add(name, text, timedelta(minutes=minutes)) for name, text in map(read_pair, adds)),
        *(Longer(name, read_number(text)) for name, text in map(read_pair, longer)),
    ]
    if slots is not None:
        changes.append(Slots(slots))
    if stopped is not None:
        changes.append(Stopped(read_window(stopped, zone)))

    def judge(snapshot: ClusterSnapshot, namespace: str, now: datetime, is_part: bool) -> int:
        try:
            comparison = what_if(snapshot, namespace, now, changes, timedelta(hours=hours))
        except Unforeseen:
            backs = [render(back, now) for back in if_back(snapshot, namespace, now, UTC)]
            after = [render(back, now) for back in if_back_with(snapshot, namespace, now, changes)]
            if form == "text":
                for back, changed in zip(backs, after, strict=True):
                    say(f"If back   {back}")
                    say("  The same with the change." if changed == back else f"  With the change, {changed}.")
            else:
                found = {"before": None, "after": None, "differences": [], "ifBack": backs, "ifBackAfter": after}
                emit(found, form)
            raise
        unseen = not_seen(snapshot)
        if form == "text":
            _say(comparison)
            for gap in unseen:
                say(gap.line)
        else:
            nights = {"before": _night_item(comparison.before), "after": _night_item(comparison.after)}
            differences = [render(text, now) for text in comparison.differences]
            emit({**nights, "differences": differences, "notSeen": [unseen_item(gap) for gap in unseen]}, form)
        # A pause that was asked for is not missed.
        asked = {Missing.PAUSED} if set(comparison.after.night.paused) <= set(pauses) else set()
        return night_exit_code(comparison.after, without=without | asked, is_part=is_part or bool(unseen))

    if (looked_at := argument_values.looked_at(source, session_options)) is not None:
        return asyncio.run(_of_cluster(looked_at, argument_values.moment(at) if at else None, judge))
    assert source is not None
    snapshot, read = argument_values.snapshot_in(source, session_options)
    warn(read.unreadable)
    namespace = _namespace(snapshot, session_options.velero_namespace)
    return judge(snapshot, namespace, argument_values.as_of(at, source, read), bool(read.unreadable))


async def _of_cluster(options: SessionOptions, at: datetime | None, judge: Judge) -> int:
    async with running_session(replace(options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
        lost = (*unreadable(session), *bad)
        warn(lost)
        if len(good) > 1:
            raise BadInput("A change is of one cluster", f"{len(good)} are given", "choose one with --context")
        snapshot = session.snapshot(good[0])
        namespace = _namespace(snapshot, options.velero_namespace)
        return judge(snapshot, namespace, at or session.clock(good[0]).now(), bool(lost))


def _namespace(snapshot: ClusterSnapshot, wanted: str) -> str:
    """The server that is asked for; BadInput where there is none, or several and none is named."""
    places = snapshot.velero_namespaces
    if not wanted and len(places) != 1:
        what = f"There are {len(places)} Velero servers" if places else "No Velero server was found"
        raise BadInput(what, "", f"choose one with --velero-namespace: {', '.join(places)}" if places else "")
    if wanted and wanted not in places:
        raise BadInput(f"There is no Velero in {wanted}", "", f"there is {', '.join(places) or 'none'}")
    return wanted or places[0]


def _say(comparison: NightComparison) -> None:
    """The two nights in words, and the difference."""
    before, after = comparison.before, comparison.after
    for head, outlook in (("As it is, in UTC:", before), ("After the change:", after)):
        say(head)
        for line in printed_words(ServerNight("", outlook.night), outlook.night.now, UTC):
            say(f"  {line}")
        say()
    say("The difference:")
    for difference in comparison.differences or (NO_DIFFERENCE,):
        say(f"  {render(difference, before.night.now)}")


def _count(one: Outlook, fate: Fate) -> int:
    return sum(schedule.count(fate) for schedule in one.schedules)


def _night_item(one: Outlook) -> dict[str, Any]:
    """A night in a few numbers, for scripts."""
    done = one.done
    return {
        "slots": one.night.slots,
        "mostAtOnce": one.at_work.count if one.at_work else 0,
        "mostWaiting": one.waiting.count if one.waiting else 0,
        "nightDone": last_end_item(one.night_done),
        "allDone": rfc3339(done.likely) if done else None,
        "allDoneNineInTen": rfc3339(one.done_by) if one.done_by else None,
        "withoutKnownEnd": list(one.night.without_end),
        "late": _count(one, Fate.LATE),
        "lost": _count(one, Fate.LOST),
        "refused": _count(one, Fate.REFUSED),
        "courses": one.night.draws,
    }
