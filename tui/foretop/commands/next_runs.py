"""`foretop next`: when an expression, or the schedules in a file, run next."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Any

import click

from foretop.commands import inputs
from foretop.commands.output import emit, file_help, output_option, say, warn
from foretop_core.cron import CronError, CronSchedule, parse
from foretop_core.errors import BadInput
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.rules import words
from foretop_core.rules.forecast import base_time
from foretop_core.rules.words import rfc3339
from foretop_core.view.items import as_list, identity

NEVER = (
    "It matches no date. Velero takes such a schedule for always due and makes a backup nearly every minute: "
    "do not use it."
)


@click.command("next")
@click.argument("expression", required=False)
@click.option("-f", "--file", "source", metavar="FILE", help=file_help)
@click.option("--from", "since", metavar="TIME", help="Runs after this time instead of now.")
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 1000), help="How many runs.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Where an expression that names no zone runs (Velero: UTC).")
@output_option
def command(
    expression: str | None, source: str | None, since: str | None, count: int, zone_name: str | None, form: str
) -> int:
    """When EXPRESSION runs next, as Velero and Kubernetes count it."""
    if (expression is None) == (source is None):
        raise click.UsageError("give either an expression or -f FILE")
    zone = inputs.zone(zone_name)
    start = inputs.moment(since, zone)
    if source is not None:
        return _of_file(source, start, count, zone, form)
    parsed = inputs.cron(expression or "")
    found = runs(parsed, start, count, zone)
    if form == "text":
        _print(parsed, found, start, zone)
    else:
        emit(_answer(parsed, found, start, zone), form)
    return 0


def runs(parsed: CronSchedule, after: datetime, count: int, zone: tzinfo) -> list[datetime]:
    found: list[datetime] = []
    run = parsed.next(after.astimezone(zone))
    while run is not None and len(found) < count:
        found.append(run.astimezone(UTC))
        run = parsed.next(run)
    return found


def _answer(parsed: CronSchedule, found: list[datetime], start: datetime, zone: tzinfo) -> dict[str, Any]:
    return {
        "expression": parsed.expression,
        "zone": str(parsed.zone or zone),
        "from": rfc3339(start),
        "runs": [rfc3339(run) for run in found],
        "description": parsed.describe(),
        "note": _note(parsed, found),
    }


def _note(parsed: CronSchedule, found: list[datetime]) -> str:
    if parsed.never_fires:
        return NEVER
    if not found:
        return "It does not run within the next five years, which is as far as Velero looks."
    if parsed.every is not None:
        return "It counts from the actual last run, so it drifts."
    return ""


def _print(parsed: CronSchedule, found: list[datetime], start: datetime, zone: tzinfo) -> None:
    shown_in = parsed.zone or zone
    say(f"{parsed.expression}   {parsed.describe()} ({shown_in})")
    for run in found:
        there = "Z" if shown_in is UTC else f"   {run:%H:%M:%S}Z"
        say(f"  {run.astimezone(shown_in):%a %d %b %Y %H:%M:%S}{there}   in {words.span(run - start)}")
    if note := _note(parsed, found):
        say(note)


def _of_file(source: str, start: datetime, count: int, zone: tzinfo, form: str) -> int:
    read = inputs.objects(source)
    timed = [(item, text) for _, item in read.objects if (text := _expression_of(item)) is not None]
    if not timed:
        raise BadInput(f"{source} holds no schedules", "no Schedule, CronJob or PreScaledCronJob is in it")
    items = [_item(item, text, start, count, zone) for item, text in timed]
    warn(read.unreadable)
    if form == "text":
        for item in items:
            _print_item(item)
    else:
        emit(as_list(items), form)
    return 1 if read.unreadable else 0


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


def _item(item: Resource, text: str, start: datetime, count: int, zone: tzinfo) -> dict[str, Any]:
    known: dict[str, Any] = {**identity("", item), "schedule": text}
    try:
        parsed = parse(text)
    except CronError as problem:
        return {**known, "nextRun": None, "runs": [], "description": "", "note": "", "error": str(problem)}
    base = (base_time(item) if isinstance(item, Schedule) else None) or start
    found = runs(parsed, start, count, zone)
    return {
        **known,
        "nextRun": rfc3339(parsed.next(base.astimezone(zone))),
        "runs": [rfc3339(run) for run in found],
        "description": parsed.describe(),
        "note": _note(parsed, found),
    }


def _print_item(item: dict[str, Any]) -> None:
    name = "/".join(part for part in (item["namespace"], item["name"]) if part)
    say(f"{item['kind']} {name}   {item['schedule']}   {item['description']}")
    if "error" in item:
        say(f"  invalid: {item['error']}")
        return
    say(f"  next run {item['nextRun'] or 'never'}")
    for run in islice(item["runs"], 5):
        say(f"    {run}")
    if item["note"]:
        say(f"  {item['note']}")
