"""Findings about warm-ups: a primed cron job that warms at the wrong time warms nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect, quoted
from foretop_core.models import CronJob, PreScaledCronJob
from foretop_core.rooms.primer.priming import PrimerError, prescaler_verdict, prime
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.prescaler import is_always_warm
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds

_AHEAD = timedelta(days=62)
"""Long enough to cross the ends of two months, where priming goes wrong."""
_MOST = 2_000
_MOST_KEPT = 256


def wrong_warmups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    jobs = {(job.namespace, job.name): job for job in snapshot.cron_jobs}
    for prescaled in snapshot.prescaled:
        job = jobs.get((prescaled.namespace, f"autogen-{prescaled.name}"))
        if job is None:
            yield _finding(
                snapshot,
                prescaled,
                None,
                "has no primed cron job",
                f"The prescaler has not created CronJob autogen-{prescaled.name}: {_why_not_created(prescaled)}.",
            )
            continue
        yield from _compare(snapshot, prescaled, job, now)


def _why_not_created(prescaled: PreScaledCronJob) -> str:
    """In the words of the primer; a schedule of its own, where it is given, is what the prescaler takes."""
    text, own = prescaled.spec.cron_job.spec.schedule, prescaled.spec.primer_schedule
    verdict = prescaler_verdict(text, prescaled.spec.warm_up_time_mins, Dialect.ROBFIG) if not own else None
    if verdict is not None and not verdict.supported:
        return f"it refuses {quoted(text)}: {verdict.reason}"
    return f"it accepts {quoted(own or text)}, so look whether the operator is running"


def _compare(snapshot: ClusterSnapshot, prescaled: PreScaledCronJob, job: CronJob, now: datetime) -> Iterator[Finding]:
    parsed = expression(prescaled.spec.cron_job.spec.schedule, Dialect.ROBFIG)
    actual = expression(job.spec.schedule, Dialect.ROBFIG)
    if isinstance(parsed, CronError) or isinstance(actual, CronError):
        return
    ahead = timedelta(minutes=prescaled.spec.warm_up_time_mins)
    right = [run - ahead for run in _runs(parsed, now + ahead)]
    made = _runs(actual, now)
    if not right and not made:
        return
    until = min(last[-1] for last in (right, made) if last) if right and made else now + _AHEAD
    needed = {run for run in right if run <= until}
    done = {run for run in made if run <= until}
    missed, extra = sorted(needed - done), sorted(done - needed)
    if not missed and not extra:
        return
    first = min((missed or extra)[0], (extra or missed)[0])
    yield _finding(
        snapshot,
        prescaled,
        job,
        f"misses {humanize.count(len(missed), 'warm-up')}" if missed else "warms up at the wrong time",
        sentence(
            f"It warms up at the wrong time: {job.spec.schedule!r} should fire ",
            ahead,
            f" before {prescaled.spec.cron_job.spec.schedule!r}; up to ",
            until,
            f" it misses {len(missed):,} and makes {len(extra):,} unneeded ones, first at ",
            first,
            ".",
        ),
        Severity.ERROR if missed else Severity.WARNING,
    )


def _runs(schedule: CronSchedule, after: datetime) -> list[datetime]:
    return list(islice(schedule.between(after.astimezone(UTC), after.astimezone(UTC) + _AHEAD), _MOST))


def _finding(
    snapshot: ClusterSnapshot,
    prescaled: PreScaledCronJob,
    job: CronJob | None,
    what: str,
    evidence: Text,
    severity: Severity = Severity.WARNING,
) -> Finding:
    text, minutes = prescaled.spec.cron_job.spec.schedule, prescaled.spec.warm_up_time_mins
    return Finding(
        "warmup-wrong",
        severity,
        snapshot.ref(prescaled),
        prescaled.created if job is None else job.created,
        what,
        evidence,
        sentence(_remedy(prescaled), f" See `foretop primer '{text}' --warmup {minutes}`."),
        (snapshot.ref(job),) if job else (),
    )


def _remedy(prescaled: PreScaledCronJob) -> Text:
    """Leads to the key that sets the expression; where the prescaler has the right one, it alone is to be looked at."""
    text, minutes, own = (
        prescaled.spec.cron_job.spec.schedule,
        prescaled.spec.warm_up_time_mins,
        prescaled.spec.primer_schedule,
    )
    advice = _advice(text, minutes)
    if not advice.expression:
        return advice.words
    verdict = prescaler_verdict(text, minutes, Dialect.ROBFIG)
    if own == advice.expression or (
        not own and verdict.supported and not (verdict.missed_in_8_years or verdict.extra_in_8_years)
    ):
        return "Look whether the prescaler is running: it has the right expression."
    command = f"foretop prescaled prime {prescaled.namespace}/{prescaled.name}"
    return sentence(f"Set spec.primerSchedule to {advice.expression!r}", Key("set-warm-up", command), ".")


class _Advice(msgspec.Struct, frozen=True):
    """A sentence or two, or else the expression that spec.primerSchedule is to have."""

    words: str = ""
    expression: str = ""


@lru_cache(_MOST_KEPT)
def _advice(text: str, minutes: int) -> _Advice:
    """Kept, because working it out looks eight years ahead."""
    if is_always_warm(text):
        return _Advice("It runs every minute and needs no warm-up: use a plain CronJob instead.")
    try:
        primed = prime(text, minutes, Dialect.ROBFIG).expressions
    except PrimerError as error:
        return _Advice(f"It cannot be primed: {error}. Change spec.cronJob.spec.schedule.")
    if len(primed) == 1:
        return _Advice(expression=primed[0])
    written = humanize.join([repr(cron) for cron in primed], len(primed))
    return _Advice(
        f"Its warm-ups need {len(primed)} expressions: {written}. spec.primerSchedule takes one: split it into "
        f"{len(primed)} PreScaledCronJobs."
    )


RULES = (wrong_warmups,)
