"""`foretop forecast`: when the coming backups of each schedule start and end, and which will be late or lost."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import NOT_JUDGED, judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, file_help, output_option, say, table, warn
from foretop_core.config.thresholds_from_settings import configured_window
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.coming_back import with_backlog
from foretop_core.rules.night.night import Fate, ForeseenRun, night
from foretop_core.rules.night.outlook import (
    LastEnd,
    Missing,
    Outlook,
    ScheduleOutlook,
    done_by_six,
)
from foretop_core.rules.night.ranges import SURE, Range, latest
from foretop_core.rules.night.window import Window, read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.tables.engine.json_items import unseen_item
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import printed_words

_NEEDED = frozenset({"", SCHEDULE.name, BACKUP.name, STORAGE.name})
"""Of what was not seen, the kinds that a night is foreseen from; "" is a whole cluster."""


def night_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds -f, --at and --hours: where a night is foreseen from, and how far; and --without, what is not missed."""

    @functools.wraps(command)
    def checked(*, source: str | None, at: str | None, without: Sequence[str], **options: Any) -> Any:
        if at is not None and source is None:
            raise click.UsageError("--at is for a file (-f)")
        return command(source=source, at=at, without=_left_out(without), **options)

    for option in (
        click.option(
            "--without",
            "without",
            multiple=True,
            metavar="WHAT",
            help=f"Do not fail for this: {', '.join(Missing)}; repeatable, or a list with commas.",
        ),
        click.option(
            "--hours", default=24, show_default=True, type=click.IntRange(1, 168), help="How far to look ahead."
        ),
        click.option("--at", "at", metavar="TIME", help="Foresee from this time on instead of now; with -f only."),
        click.option(
            "-f", "--file", "source", metavar="FILE", help=f"Foresee from this file instead of a cluster. {file_help}"
        ),
    ):
        checked = option(checked)
    return checked


def _left_out(words: Sequence[str]) -> frozenset[Missing]:
    """Reads --without: a list with commas each time; BadInput for a word that is none."""
    names = [word.strip() for text in words for word in text.split(",")]
    if unknown := next((word for word in names if word not in list(Missing)), None):
        raise BadInput(f"--without {unknown!r} is not known", "", f"choose from {', '.join(Missing)}")
    return frozenset(map(Missing, names))


@click.command("forecast", cls=OwnOptionsFirst, epilog=example("foretop forecast --window 06:00-07:30"))
@connection_options
@night_options
@click.option(
    "--window", "window", metavar="A-B", help="A stretch of the day to keep free, such as 06:00-07:30; off for none."
)
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of the window (UTC).")
@output_option
@judging
def command(
    session_options: SessionOptions,
    source: str | None,
    at: str | None,
    without: frozenset[Missing],
    hours: int,
    window: str | None,
    zone_name: str | None,
    form: str,
) -> int:
    """Foresee the coming backups of every schedule: when they start and end, and which are late or lost.

    Velero's schedules and queue are simulated many times, with lengths drawn from earlier runs. A start or end is the
    middle of these courses; "90% sure by" is its late end. Tenants go on asking for backups as they did before: none of
    these is told, and they hold the others up.
    """
    free = _kept_free(window, zone_name, session_options)
    if (looked_at := argument_values.looked_at(source, session_options)) is not None:
        return asyncio.run(
            _of_clusters(looked_at, argument_values.moment(at) if at else None, hours, free, form, without)
        )
    assert source is not None
    snapshot, read = argument_values.snapshot_in(source, session_options)
    warn(read.unreadable)
    nights = _foreseen([(snapshot, argument_values.as_of(at, source, read))], hours, free)
    return _print(nights, (), free, form, without, is_part=bool(read.unreadable))


def _kept_free(window: str | None, zone_name: str | None, options: SessionOptions) -> Window | None:
    """The window that is asked for, else that of the configuration; `--window off` for none."""
    zone = argument_values.zone(zone_name)
    if window == "off":
        return None
    if window is None:
        return configured_window(options.window, options.time_zone, os.environ)
    return read_window(window, zone)


async def _of_clusters(
    session_options: SessionOptions,
    at: datetime | None,
    hours: int,
    window: Window | None,
    form: str,
    without: frozenset[Missing],
) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
        lost = (*unreadable(session), *bad)
        warn(lost)
        snapshots = [(session.snapshot(name), at or session.clock(name).now()) for name in good]
        unseen = [gap for snapshot, _ in snapshots for gap in not_seen(snapshot)]
        return _print(_foreseen(snapshots, hours, window), unseen, window, form, without, is_part=bool(lost))


def not_seen(snapshot: ClusterSnapshot) -> list[VisibilityGap]:
    """Finds what a night is foreseen from, and may be there, and was not seen."""
    return [gap for gap in snapshot.unseen if gap.kind in _NEEDED]


def _foreseen(
    snapshots: Sequence[tuple[ClusterSnapshot, datetime]], hours: int, window: Window | None
) -> list[ServerNight]:
    """As far as the end of the window at least: nobody may call it free who has not looked that far."""
    nights = []
    for snapshot, now in snapshots:
        ahead = timedelta(hours=hours)
        if window is not None:
            ahead = max(ahead, window.after(now)[1] - now)
        nights += [
            ServerNight(snapshot.context, with_backlog(night(snapshot, namespace, now, ahead), snapshot))
            for namespace in snapshot.velero_namespaces
        ]
    return nights


def _print(
    nights: Sequence[ServerNight],
    unseen: Sequence[VisibilityGap],
    window: Window | None,
    form: str,
    without: frozenset[Missing],
    *,
    is_part: bool,
) -> int:
    if form == "text":
        for place, shown in enumerate(nights):
            if place:
                say()
            _say(shown, window)
        if not nights:
            say("No Velero server was found.")
        for gap in unseen:
            say(gap.line)
    else:
        servers = [_item(shown, window) for shown in nights]
        emit({"servers": servers, "notSeen": [unseen_item(gap) for gap in unseen]}, form)
    is_overrun = window is not None and not all(shown.in_window(window).is_free for shown in nights)
    is_part = is_part or bool(unseen) or not nights
    return 1 if is_overrun else night_exit_code(*(one.outlook for one in nights), without=without, is_part=is_part)


def night_exit_code(*nights: Outlook, without: frozenset[Missing], is_part: bool) -> int:
    """1 where a backup is missing that is not left out; of some run it may be open whether it is made.

    `is_part` says that something was not read that nights are foreseen from.
    """
    if any(reason not in without for ahead in nights for reason in ahead.missing):
        return 1
    return NOT_JUDGED if is_part or any(ahead.is_unsure for ahead in nights) else 0


def _say(shown: ServerNight, window: Window | None) -> None:
    ahead, schedules = shown.night, shown.outlook.schedules
    place = f"{shown.context}/{ahead.namespace}" if shown.context else ahead.namespace
    say(f"Velero in {place}: {_time(ahead.now, ahead.now)} to {_time(ahead.until, ahead.now)}")
    if not ahead.unknown:
        slots = humanize.count(ahead.slots, "slot")
        late = f"{ahead.late_share:.0%} of the hand-overs in its queue are late"
        say(f"  {slots}, from {ahead.draws} simulated courses; {late}; times are UTC")
        if schedules:
            say()
            table(
                ("SCHEDULE", "DUE", "STARTS", "ENDS", f"{SURE.upper()} BY", "RUNS", "LATE", "LOST", "NOTE"),
                [_row(schedule, ahead.now) for schedule in schedules],
            )
        say()
    for line in printed_words(shown, ahead.now, UTC, window):
        say(f"  {line}")


def _row(schedule: ScheduleOutlook, now: datetime) -> tuple[str, ...]:
    run = schedule.next or schedule.runs[0]
    return (
        schedule.name,
        _time(run.due, now) if run.due else "",
        _time(run.start.likely, now) if run.start else "not known",
        _time(run.end.likely, now) if run.end else "" if run.fate is Fate.REFUSED else "not known",
        _time(latest(run.end), now) if run.end else "",
        str(len(schedule.runs)),
        str(schedule.count(Fate.LATE) or ""),
        str(schedule.count(Fate.LOST) or ""),
        _note(run),
    )


def _note(run: ForeseenRun) -> str:
    if run.fate is Fate.REFUSED:
        return "refused"
    if run.fate is Fate.UNKNOWN:
        return f"{run.reason}"
    return "length is a guess" if run.is_borrowed else ""


def _time(at: datetime, now: datetime) -> str:
    """To the minute, rounded, with the day where it is not that of the forecast."""
    rounded = (at + timedelta(seconds=30)).replace(second=0, microsecond=0)
    same_day = rounded.date() == now.date()
    return f"{rounded:%H:%M}Z" if same_day else f"{rounded:%d %b %H:%M}Z"


def _item(shown: ServerNight, window: Window | None) -> dict[str, Any]:
    ahead, one = shown.night, shown.outlook
    item: dict[str, Any] = {
        "context": shown.context,
        "namespace": ahead.namespace,
        "from": rfc3339(ahead.now),
        "until": rfc3339(ahead.until),
        "unknown": render(ahead.unknown, ahead.now) or None,
        "ifResumed": render(ahead.if_resumed, ahead.now) or None,
        "ifBack": [render(back, ahead.now) for back in ahead.if_back],
        "slots": ahead.slots,
        "courses": ahead.draws,
        "lateHandovers": round(ahead.late_share, 3),
        "nightDone": last_end_item(one.night_done),
        "allDone": _range_item(one.done),
        "bySix": None if ahead.unknown else done_by_six(one, UTC),
        "withoutKnownEnd": list(ahead.without_end),
        "open": [{"backup": run.name, "isRunning": run.is_running, **_run_item(run)} for run in ahead.runs if run.name],
        "runs": [_run_item(run) for schedule in one.schedules for run in schedule.runs],
        "leftOut": dict(ahead.left_out),
        "missing": list(one.missing),
        "skippedTonight": list(shown.by_six(UTC).skipped),
    }
    if window is not None:
        kept = shown.in_window(window)
        item["window"] = {
            "from": rfc3339(kept.begins),
            "until": rfc3339(kept.ends),
            "free": kept.is_free,
            "notFreeBy": [run.called for run in kept.runs],
            "atWorkAtBegin": [run.called for run in kept.at_work],
            "waitingAtBegin": [run.called for run in kept.waiting],
            "perhapsOpenAtBegin": [run.called for run in kept.perhaps_open],
            "lastEndBefore": last_end_item(kept.last_before),
        }
    return item


def last_end_item(last: LastEnd | None) -> dict[str, Any] | None:
    if last is None:
        return None
    return {
        "run": last.run.called,
        "likely": rfc3339(last.likely),
        "nineInTenBy": rfc3339(last.by) if last.by else None,
    }


def _run_item(run: ForeseenRun) -> dict[str, Any]:
    return {
        "schedule": run.owner.name or None,
        "due": rfc3339(run.due) if run.due else None,
        "submitted": rfc3339(run.submitted) if run.submitted else None,
        "start": _range_item(run.start),
        "end": _range_item(run.end),
        "fate": run.fate.value,
        "shareLost": round(run.share_lost, 3),
        "lengthIsAGuess": run.is_borrowed,
    }


def _range_item(found: Range | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "likely": rfc3339(found.likely),
        "half": [rfc3339(moment) for moment in found.half],
        "nineInTen": [rfc3339(moment) for moment in found.most],
    }
