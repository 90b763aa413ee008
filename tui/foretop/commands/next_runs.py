"""`foretop next`: when an expression, or the schedules in a file, run next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import Any

import click

from foretop.commands import inputs
from foretop.commands.connection import wishes_of
from foretop.commands.output import emit, file_help, output_option, say, warn
from foretop_core.actions.schedules import check_expression
from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.errors import BadInput
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.rules import words
from foretop_core.rules.assemble import assemble
from foretop_core.rules.dialects import ALL_DIALECTS, NONE_GIVEN, GivenVersions, Reading, read_release, readings
from foretop_core.rules.forecast import base_time
from foretop_core.rules.words import rfc3339
from foretop_core.rules.world import World
from foretop_core.view.items import as_list, identity

NEVER = (
    "It matches no date. Velero takes such a schedule for always due and makes a backup nearly every minute: "
    "do not use it."
)
DIFFER = "Releases of Velero read it differently: --velero-version says which one is meant."

Facts = dict[str, Any]


@click.command("next")
@click.argument("expression", required=False)
@click.option("-f", "--file", "source", metavar="FILE", help=file_help)
@click.option("--from", "since", metavar="TIME", help="Runs after this time instead of now.")
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 1000), help="How many runs.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Where an expression that names no zone runs (Velero: UTC).")
@click.option("--velero-version", "version", metavar="VERSION", help="Which Velero reads it; without, all that differ.")
@output_option
@click.pass_context
def command(
    ctx: click.Context,
    expression: str | None,
    source: str | None,
    since: str | None,
    count: int,
    zone_name: str | None,
    version: str | None,
    form: str,
) -> int:
    """When EXPRESSION runs next, as Velero counts it; Kubernetes counts as Velero 1.15 to 1.18.2."""
    if (expression is None) == (source is None):
        raise click.UsageError("give either an expression or -f FILE")
    zone = inputs.zone(zone_name)
    start = inputs.moment(since, zone)
    given = GivenVersions.read([version]) if version is not None else wishes_of(ctx).velero_versions or NONE_GIVEN
    given.check(())
    if source is not None:
        return _of_file(source, given, start, count, zone, form)
    found = check_expression(expression or "", _dialects(given))
    answers = [_answer(reading, start, count, zone) for reading in found]
    if form == "text":
        _print(expression or "", answers, start)
    else:
        emit({"expression": expression, "from": rfc3339(start), **_together(answers, _facts)}, form)
    return 0


def _dialects(given: GivenVersions) -> tuple[Dialect, ...]:
    version = given.of("").get("")
    return read_release(version).dialects if version else ALL_DIALECTS


@dataclass(frozen=True, slots=True)
class Answer:
    """The coming runs of one reading; none where it is refused."""

    reading: Reading
    runs: tuple[datetime, ...]
    zone: tzinfo

    @property
    def meaning(self) -> str:
        parsed = self.reading.parsed
        if isinstance(parsed, CronError):
            return self.reading.meaning
        return f"{parsed.describe()}{self.reading.skipped_times} ({self.zone})"

    @property
    def note(self) -> str:
        parsed = self.reading.parsed
        if isinstance(parsed, CronError):
            return ""
        if parsed.never_fires:
            return NEVER
        if not self.runs:
            return "It does not run within the next five years, which is as far as Velero looks."
        return "It counts from the actual last run, so it drifts." if parsed.every is not None else ""


def runs(parsed: CronSchedule, after: datetime, count: int, zone: tzinfo) -> Iterator[datetime]:
    run = parsed.next(after.astimezone(zone))
    for _ in range(count):
        if run is None:
            return
        yield run.astimezone(UTC)
        run = parsed.next(run)


def _answer(reading: Reading, start: datetime, count: int, zone: tzinfo) -> Answer:
    parsed = reading.parsed
    if isinstance(parsed, CronError):
        return Answer(reading, (), zone)
    return Answer(reading, tuple(runs(parsed, start, count, zone)), parsed.zone or zone)


def _facts(answer: Answer) -> Facts:
    parsed = answer.reading.parsed
    found: Facts = {
        "zone": str(answer.zone),
        "runs": [rfc3339(run) for run in answer.runs],
        "description": "" if isinstance(parsed, CronError) else parsed.describe(),
        "note": answer.note,
    }
    return {**found, "error": str(parsed)} if isinstance(parsed, CronError) else found


def _together(answers: Sequence[Answer], facts: Callable[[Answer], Facts]) -> Facts:
    """What all releases say; where they differ that is null, and each reading has its own."""
    if len(answers) == 1:
        return facts(answers[0])
    each = [{"releases": answer.reading.releases, **facts(answer)} for answer in answers]
    return {**dict.fromkeys(facts(answers[-1])), "note": DIFFER, "readings": each}


def _print(expression: str, answers: Sequence[Answer], start: datetime) -> None:
    if len(answers) == 1:
        say(f"{expression}   {answers[0].meaning}")
        _print_runs(answers[0], start)
        return
    say(f"{expression}   {DIFFER}")
    for answer in answers:
        say(f"{answer.reading.releases}: {answer.meaning}")
        _print_runs(answer, start)


def _print_runs(answer: Answer, start: datetime) -> None:
    for run in answer.runs:
        there = "Z" if answer.zone is UTC else f"   {run:%H:%M:%S}Z"
        say(f"  {run.astimezone(answer.zone):%a %d %b %Y %H:%M:%S}{there}   in {words.span(run - start)}")
    if answer.note:
        say(answer.note)


def _of_file(source: str, given: GivenVersions, start: datetime, count: int, zone: tzinfo, form: str) -> int:
    read = inputs.objects(source)
    world = assemble((item for _, item in read.objects), given_versions=given.of(""))
    timed = [(item, text) for _, item in read.objects if (text := _expression_of(item)) is not None]
    if not timed:
        raise BadInput(f"{source} holds no schedules", "no Schedule, CronJob or PreScaledCronJob is in it")
    items = [_item(world, item, text, start, count, zone) for item, text in timed]
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


def _item(world: World, item: Resource, text: str, start: datetime, count: int, zone: tzinfo) -> Facts:
    """A Schedule as its Velero reads it, as far as the file tells; the others as Kubernetes does."""
    base = start
    found = readings(text, (Dialect.ROBFIG,))
    if isinstance(item, Schedule):
        base = base_time(item) or start
        found = world.readings(item)

    def facts(answer: Answer) -> Facts:
        parsed = answer.reading.parsed
        run = None if isinstance(parsed, CronError) else parsed.next(base.astimezone(zone))
        return {"nextRun": rfc3339(run), **_facts(answer)}

    answers = [_answer(reading, start, count, zone) for reading in found]
    return {**identity("", item), "schedule": text, **_together(answers, facts)}


def _print_item(item: Facts) -> None:
    name = "/".join(part for part in (item["namespace"], item["name"]) if part)
    say(f"{item['kind']} {name}   {item['schedule']}   {item['description'] or ''}".rstrip())
    if "readings" not in item:
        _print_facts(item)
        return
    say(f"  {item['note']}")
    for reading in item["readings"]:
        say(f"  {reading['releases']}: {reading['description']}")
        _print_facts(reading)


def _print_facts(facts: Facts) -> None:
    if "error" in facts:
        say(f"  invalid: {facts['error']}")
        return
    say(f"  next run {facts['nextRun'] or 'never'}")
    for run in islice(facts["runs"], 5):
        say(f"    {run}")
    if facts["note"]:
        say(f"  {facts['note']}")
