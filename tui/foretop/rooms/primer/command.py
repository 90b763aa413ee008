"""`foretop primer`: the expressions that warm a cluster up ahead of a schedule, and how exact they are."""

from __future__ import annotations

from datetime import UTC, tzinfo

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.output import emit, output_option, say, version_option
from foretop_core.cron import Dialect
from foretop_core.errors import BadInput
from foretop_core.rooms.primer.priming import (
    Pair,
    PrescalerVerdict,
    Primed,
    prescaler_verdict,
    prime,
    warmups,
)
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import read_release, readings
from foretop_core.rules.humanize import rfc3339


@click.command("primer", cls=OwnOptionsFirst, epilog=example("foretop primer '0 0 1 * *' --warmup 10"))
@click.argument("expression")
@click.option("--warmup", required=True, type=int, metavar="MINUTES", help="Warm-up time before the run.")
@click.option("--from", "since", metavar="TIME", help="Show runs after this time instead of now.")
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 1000), help="Number of pairs.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of an expression without one (Velero: UTC).")
@version_option
@output_option
def command(
    expression: str,
    warmup: int,
    since: str | None,
    count: int,
    zone_name: str | None,
    version: str | None,
    form: str,
) -> int:
    """Expressions that run WARMUP minutes before EXPRESSION does.

    EXPRESSION is read as a CronJob's, or as a release of Velero reads it; the answer is always for CronJobs.
    """
    zone = argument_values.zone(zone_name)
    start = argument_values.moment(since, zone)
    dialect = _dialect(expression, version)
    parsed = argument_values.cron(expression, dialect)
    prefix = f"CRON_TZ={zone} " if parsed.zone is None and zone is not UTC else ""
    if prefix and dialect is Dialect.ROBFIG1:
        raise BadInput(f"--tz cannot be used with Velero {version}", "it refuses every time zone in an expression")
    zoned = prefix + expression
    primed = _in_the_same_zone(prime(zoned, warmup, dialect), prefix)
    pairs = warmups(zoned, warmup, dialect, start, count)
    verdict = prescaler_verdict(expression, warmup, dialect)
    if form == "text":
        _print(expression, warmup, primed, pairs, verdict, parsed.zone or zone)
    else:
        answer = {
            "expression": expression,
            "warmupMinutes": warmup,
            "primed": list(primed.expressions),
            "exact": primed.exact,
            "note": primed.note,
            "extraIn8Years": primed.extra_in_8_years,
            "runs": [{"warmup": rfc3339(pair.warmup), "run": rfc3339(pair.run)} for pair in pairs],
            "prescaler": {
                "supported": verdict.supported,
                "documented": verdict.documented,
                "expression": verdict.expression,
                "reason": verdict.reason,
                "missedIn8Years": verdict.missed_in_8_years,
                "extraIn8Years": verdict.extra_in_8_years,
            },
        }
        emit(answer, form)
    return 0


def _dialect(expression: str, version: str | None) -> Dialect:
    """The dialect of CronJobs, or of the release given; raises BadInput where the release leaves it open."""
    if version is None:
        return Dialect.ROBFIG
    release = read_release(version)
    read = readings(expression, release.dialects)
    if len(read) > 1:
        raise BadInput(
            f"Velero {release} does not determine how {expression!r} is read", hint="give the patch, such as 1.18.3"
        )
    return read[0].dialect


def _in_the_same_zone(primed: Primed, prefix: str) -> Primed:
    """Takes the zone out of the answer again where the question had none: it runs wherever the schedule does."""
    return replace(primed, expressions=tuple(text.removeprefix(prefix) for text in primed.expressions))


def _print(
    expression: str,
    warmup: int,
    primed: Primed,
    pairs: tuple[Pair, ...],
    verdict: PrescalerVerdict,
    zone: tzinfo,
) -> None:
    word = "exact" if primed.exact else "nearly exact"
    say(f"{expression}, {humanize.count(warmup, 'minute')} ahead, {word} ({zone})")
    for text in primed.expressions:
        say(f"  {text}")
    if primed.note:
        say(primed.note)
    say("Next")
    for pair in pairs:
        say(f"  {pair.warmup.astimezone(zone):%a %d %b %Y %H:%M} → {pair.run.astimezone(zone):%d %b %H:%M}")
    if not verdict.supported:
        say(f"The prescaler refuses it: {verdict.reason}")
    elif verdict.missed_in_8_years or verdict.extra_in_8_years:
        say(
            f"The prescaler gives {verdict.expression}, contrary to its documentation, and is wrong: "
            f"{verdict.missed_in_8_years:,} warm-ups missed and {verdict.extra_in_8_years:,} unneeded in 8 years."
        )
    else:
        say(f"The prescaler gives {verdict.expression}.")
