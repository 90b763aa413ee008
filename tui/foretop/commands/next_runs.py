"""`foretop next`: when an expression, or the schedules in a file, run next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Any

import click
import msgspec

from foretop.commands import argument_values
from foretop.commands.exit_codes import NOT_JUDGED, judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, file_help, output_option, say, version_option, warn
from foretop_core.cron import CronError, CronSchedule, Dialect, shown
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.models.manifest_reader import Manifest
from foretop_core.rules import humanize
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import ALL_DIALECTS, Reading, Release, read_release, readings, releases_of
from foretop_core.rules.facts.schedule_facts import runs_to_come, schedule_facts
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.json_items import as_list, identity

NEVER = (
    "It matches no date. Velero treats such a schedule as always due and starts a backup almost every minute: "
    "do not use it."
)
SELDOM = (
    "It does not run within the next five years, which is as far as Velero looks. Velero treats such a schedule as "
    "always due and starts a backup almost every minute: do not use it."
)
_TIMED = (SCHEDULE, CRON_JOB, PRESCALED)
_KUBERNETES = (Dialect.ROBFIG,)


@click.command("next", cls=OwnOptionsFirst, epilog=example("foretop next '30 2 * * 1-5' --tz Europe/Berlin"))
@click.argument("expression", required=False)
@click.option("-f", "--file", "source", metavar="FILE", help=file_help)
@click.option("--from", "since", metavar="TIME", help="Show runs from this time on instead of from now on.")
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 1000), help="Number of runs.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of an expression without one (Velero: UTC).")
@version_option
@output_option
@judging
def command(
    expression: str | None,
    source: str | None,
    since: str | None,
    count: int,
    zone_name: str | None,
    version: str | None,
    form: str,
) -> int:
    """When EXPRESSION runs next, as Velero and Kubernetes count it; each answer where releases of Velero differ."""
    if (expression is None) == (source is None):
        raise click.UsageError("give either an expression or -f FILE")
    zone = argument_values.zone(zone_name)
    asked = Asked(argument_values.moment(since, zone), count, zone)
    release = read_release(version) if version else None
    if source is not None:
        return _of_file(source, asked, release, form, is_from=since is not None)
    text = expression or ""
    read = readings(text, release.dialects if release else ALL_DIALECTS)
    if all(isinstance(reading.parsed, CronError) for reading in read):
        argument_values.cron(text, read[-1].dialect)
    if form == "text":
        _print(text, read, asked)
    else:
        emit(_answer(text, read, asked), form)
    return next_exit_code([read])


def next_exit_code(expressions: Sequence[tuple[Reading, ...]]) -> int:
    """1 where one is refused or never fires in every reading; not judged where the release decides that."""
    verdicts = [
        {isinstance(reading.parsed, CronError) or reading.parsed.never_fires for reading in read}
        for read in expressions
    ]
    return 1 if {True} in verdicts else NOT_JUDGED if {True, False} in verdicts else 0


class Asked(msgspec.Struct, frozen=True):
    """Which runs are asked for, and in which zone an expression that names none runs."""

    start: datetime
    count: int
    zone: tzinfo

    def runs(self, parsed: CronSchedule) -> list[datetime]:
        moments = runs_to_come(parsed, self.start.astimezone(self.zone))
        return [run.astimezone(UTC) for run in islice(moments, self.count)]


def _answer(text: str, found: tuple[Reading, ...], asked: Asked) -> dict[str, Any]:
    """The answer of the newest release, and beside it all of them where they differ."""
    newest = found[-1].parsed
    return {
        "expression": text,
        "zone": str((newest.zone if isinstance(newest, CronSchedule) else None) or asked.zone),
        "from": rfc3339(asked.start),
        **_runs_and_meaning(newest, asked),
        **_all_readings(found, asked),
    }


def _runs_and_meaning(parsed: CronSchedule | CronError, asked: Asked) -> dict[str, Any]:
    if isinstance(parsed, CronError):
        return {"runs": [], "description": "", "note": "", "error": str(parsed)}
    moments = asked.runs(parsed)
    return {
        "runs": [rfc3339(run) for run in moments],
        "description": parsed.describe(),
        "note": _note(parsed, moments),
    }


def _all_readings(found: tuple[Reading, ...], asked: Asked) -> dict[str, Any]:
    """Nothing where there is but one."""
    if len(found) == 1:
        return {}
    return {
        "readings": [
            {
                "releases": reading.releases,
                "description": "" if isinstance(reading.parsed, CronError) else reading.meaning,
                "error": str(reading.parsed) if isinstance(reading.parsed, CronError) else None,
                "next": []
                if isinstance(reading.parsed, CronError)
                else [rfc3339(run) for run in asked.runs(reading.parsed)],
            }
            for reading in found
        ]
    }


def _note(parsed: CronSchedule, found: list[datetime]) -> str:
    if parsed.never_fires:
        return NEVER
    if not found:
        return SELDOM
    if parsed.every is not None:
        return "It counts from the actual last run, so it drifts."
    return ""


def _print(text: str, found: tuple[Reading, ...], asked: Asked) -> None:
    if len(found) == 1:
        _print_runs(text, found[0], asked)
        return
    say(f"{text}   is read differently by different Velero releases")
    for reading in found:
        if isinstance(reading.parsed, CronError):
            say(f"{reading.releases}   {reading.meaning}")
        else:
            _print_runs(reading.releases, reading, asked)
    if any(Dialect.ROBFIG in reading.dialects for reading in found):
        say(f"Kubernetes reads a CronJob as {releases_of((Dialect.ROBFIG,))} does.")


def _print_runs(title: str, reading: Reading, asked: Asked) -> None:
    parsed = reading.parsed
    assert isinstance(parsed, CronSchedule)
    shown_in = parsed.zone or asked.zone
    moments = asked.runs(parsed)
    say(f"{title}   {parsed.describe()}{reading.skipped_times} ({shown_in})")
    for run in moments:
        end = "Z" if shown_in is UTC else f"   {run:%H:%M:%S}Z"
        say(f"  {run.astimezone(shown_in):%a %d %b %Y %H:%M:%S}{end}   in {humanize.duration(run - asked.start)}")
    if note := _note(parsed, moments):
        say(note)


def _of_file(source: str, asked: Asked, release: Release | None, form: str, *, is_from: bool) -> int:
    if (archive := argument_values.looked_at(source, SessionOptions())) is not None:
        read, now = asyncio.run(_in_archive(archive))
        asked = asked if is_from else msgspec.structs.replace(asked, start=now)
    else:
        read = argument_values.objects(source)
        if not is_from:
            asked = msgspec.structs.replace(asked, start=argument_values.as_of(None, source, read))
    snapshot = assemble((item for _, item in read.objects), given_versions={"": str(release)} if release else {})
    timed = [(item, text) for _, item in read.objects if (text := _expression_of(item)) is not None]
    if not timed:
        raise BadInput(f"{source} contains no schedules", "it has no Schedule, CronJob or PreScaledCronJob")
    items = [_item(snapshot, item, text, asked) for item, text in timed]
    warn(read.unreadable)
    if form == "text":
        for item in items:
            _print_item(item)
    else:
        emit(as_list(items), form)
    code = next_exit_code([_readings_of(snapshot, item, text) for item, text in timed])
    return NOT_JUDGED if read.unreadable and code == 0 else code


async def _in_archive(options: SessionOptions) -> tuple[Manifest, datetime]:
    """Reads all that runs by a clock, and the time of the archive."""
    async with running_session(options, _TIMED) as session:
        (context,) = session.contexts
        await wait_synced(session)
        items = [(kind, item) for kind in _TIMED for item in session.store.all(context, kind.model)]
        return Manifest(tuple(items), unreadable(session), 0), session.clock(context).now()


def _readings_of(snapshot: ClusterSnapshot, item: Resource, text: str) -> tuple[Reading, ...]:
    """A Schedule is read as its server does, as far as that is known; everything else as Kubernetes does."""
    return (
        snapshot.verdict(item.namespace).readings(text) if isinstance(item, Schedule) else readings(text, _KUBERNETES)
    )


def _expression_of(item: Resource) -> str | None:
    match item:
        case Schedule():
            return item.spec.schedule
        case CronJob():
            text = item.spec.schedule
            return f"CRON_TZ={item.spec.time_zone} {text}" if item.spec.time_zone else text
        case PreScaledCronJob():
            return item.spec.cron_job.spec.schedule
        case _:
            return None


def _item(snapshot: ClusterSnapshot, item: Resource, text: str, asked: Asked) -> dict[str, Any]:
    read = _readings_of(snapshot, item, text)
    newest = read[-1].parsed
    return {
        **identity("", item),
        "schedule": text,
        **_next_run(snapshot, item, read, asked),
        **_runs_and_meaning(newest, asked),
        **_all_readings(read, asked),
    }


def _next_run(snapshot: ClusterSnapshot, item: Resource, found: tuple[Reading, ...], asked: Asked) -> dict[str, Any]:
    """The run that Velero works towards, which may be due; the one after now where nothing tells its base."""
    if isinstance(item, Schedule):
        facts = schedule_facts(snapshot, item, asked.start, zone=asked.zone)
        if facts.base is not None:
            paused = {"paused": True} if item.spec.paused else {}
            return {"nextRun": rfc3339(facts.next_run), "due": facts.due, **paused}
    newest = found[-1].parsed
    is_open = len(found) > 1 or isinstance(newest, CronError)
    run = None if is_open or isinstance(newest, CronError) else next(iter(asked.runs(newest)), None)
    return {"nextRun": rfc3339(run), "due": None if is_open else False}


def _print_item(item: dict[str, Any]) -> None:
    name = "/".join(part for part in (item["namespace"], item["name"]) if part)
    if "readings" in item:
        say(f"{item['kind']} {name}   {shown(item['schedule'])}   depends on the Velero release: give --velero-version")
        for reading in item["readings"]:
            _print_reading(reading)
        return
    say(f"{item['kind']} {name}   {shown(item['schedule'])}   {item['description']}")
    if "error" in item:
        say(f"  invalid: {item['error']}")
        return
    if item["due"] and item["nextRun"]:
        suffix = ", but it is paused" if item.get("paused") else ""
        say(f"  due since {item['nextRun']}{suffix}")
    else:
        say(f"  next run {item['nextRun'] or 'never'}")
    for run in islice(item["runs"], 5):
        say(f"    {run}")
    if item["note"]:
        say(f"  {item['note']}")


def _print_reading(reading: dict[str, Any]) -> None:
    meaning = f"refused: {reading['error']}" if reading["error"] is not None else reading["description"]
    say(f"  {reading['releases']}: {meaning}")
    for run in islice(reading["next"], 5):
        say(f"    {run}")
