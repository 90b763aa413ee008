"""Findings about schedules: they do not run, or not as somebody believes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime

from core.cron import CronError
from core.models import Schedule
from core.rules import words
from core.rules.forecast import Choice, Holdup, expression, invalid, never_fires, overdue, unpause
from core.rules.forecast.timing import next_run
from core.rules.history import newest_good
from core.rules.triage.finding import QUEUE, Finding, Severity, Subject, Thresholds
from core.rules.world import World


def invalid_schedules(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in world.schedules:
        problem = invalid(schedule)
        if not problem:
            continue
        paused = " It is paused, so Velero has not looked at it yet." if schedule.spec.paused else ""
        yield Finding(
            "schedule-invalid",
            Severity.ERROR,
            Subject.of(schedule),
            schedule.created,
            "invalid cron, makes no backups",
            f"{schedule.spec.schedule!r} is refused: {problem}.{paused}",
            "Mend spec.schedule. Mending it starts a backup at once where a run lay between its creation and now, "
            "unless spec.skipImmediately is set to true in the same change.",
        )


def never_firing(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in world.schedules:
        if not never_fires(schedule) or schedule.spec.paused:
            continue
        made = len(world.runs(schedule))
        yield Finding(
            "schedule-never-fires",
            Severity.ERROR,
            Subject.of(schedule),
            schedule.created,
            "matches no date, so it runs every minute",
            f"No date matches {schedule.spec.schedule!r}; Velero takes that for always due and makes a backup at "
            f"nearly every look, once a minute. {words.count(made, 'backup')} of it are here now.",
            "Pause the schedule, then mend its expression.",
        )


def overdue_schedules(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in world.schedules:
        if schedule.spec.paused:
            continue
        beat = world.heartbeat(schedule.namespace)
        held_by = world.backups_by_schedule.get((schedule.namespace, schedule.name), ())
        late = overdue(schedule, now, beat, held_by, grace=limits.overdue)
        if late is None or late.reason in {Holdup.INVALID, Holdup.NEVER_FIRES}:
            continue
        what = "overdue, held by its last backup" if late.blocker else "overdue"
        look = f" at its first look (:{beat.second:02d}) after that" if beat.second is not None else " within a minute"
        remedy = (
            f"Look at {late.blocker.name}: one backup is made{look} once it has ended; missed runs are not made up."
            if late.blocker
            else "Look at the Velero pod and its log; pause the schedule if the backup is not wanted."
        )
        yield Finding(
            "schedule-overdue",
            Severity.ERROR,
            Subject.of(schedule),
            late.since,
            what,
            f"Due at {words.moment(late.since, now)}, {words.span(now - late.since)} ago, and no backup was made: "
            f"{late.sentence}.",
            remedy,
            (Subject.of(late.blocker),) if late.blocker else (),
            late.reason.value,
        )


def forgotten_pauses(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in world.schedules:
        if not schedule.spec.paused or invalid(schedule):
            continue
        owner = schedule.paused_field_set
        run = next_run(schedule)
        since = owner.time if owner and owner.time else run
        if since is None or now - since < limits.forgotten_pause:
            continue
        choices = [
            unpause(schedule, now, choice, world.server(schedule.namespace).skip_immediately)
            for choice in (Choice.LEAVE, Choice.SKIP)
        ]
        due = ", due at once" if choices[0].at_once else ""
        who = f" by {owner.manager}" if owner and owner.manager else ""
        yield Finding(
            "schedule-paused-long",
            Severity.WARNING,
            Subject.of(schedule),
            since,
            f"paused for {words.span(now - since)}{due}",
            f"Paused since {words.moment(since, now)} at the latest{who}. Unpausing now: {choices[0].sentence}.",
            f"Unpause it if the work is done. With skip: {choices[1].sentence}.",
        )


def colliding_schedules(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    together: defaultdict[tuple[str, datetime], list[Schedule]] = defaultdict(list)
    for schedule in world.schedules:
        parsed = expression(schedule.spec.schedule)
        if schedule.spec.paused or isinstance(parsed, CronError) or parsed.every is not None or invalid(schedule):
            continue
        if run := parsed.next(now):
            together[schedule.namespace, run.astimezone(UTC)].append(schedule)
    crowds = [(key, crowd) for key, crowd in together.items() if len(crowd) > _slots(world, key[0])]
    crowds.sort(key=lambda entry: (-len(entry[1]), entry[0]))
    for (namespace, run), crowd in crowds[: limits.most_collisions]:
        names = sorted(schedule.name for schedule in crowd)
        slots = _slots(world, namespace)
        yield Finding(
            "schedules-collide",
            Severity.NOTE,
            Subject(QUEUE, namespace, ""),
            None,
            f"{len(crowd)} schedules start together at {run:%H:%M}Z",
            f"{words.listed(names)} are all due at {words.moment(run, now)}, and Velero works on "
            f"{words.count(slots, 'backup')} at a time: the others wait.",
            "Give them different minutes, or raise --concurrent-backups.",
            tuple(Subject.of(schedule) for schedule in sorted(crowd, key=lambda schedule: schedule.name)),
            ",".join(names) if len(names) <= 3 else f"{len(names)} from {names[0]}",
        )


def protection_gaps(world: World, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Two expected runs without a good backup, or a good one that is about to expire with none after it."""
    for schedule in world.schedules:
        parsed = expression(schedule.spec.schedule)
        if isinstance(parsed, CronError) or parsed.never_fires:
            continue
        good = newest_good(world.runs(schedule))
        expires = good.status.expiration if good else None
        if good and expires and now < expires <= now + limits.expiring_soon and _expires_first(schedule, expires):
            yield _gap(
                schedule,
                good.started,
                "last good backup expires with none after it",
                f"{good.name} is the newest good backup and expires at {words.moment(expires, now)}.",
                good_name=good.name,
            )
            continue
        last = parsed.previous(now)
        before = parsed.previous(last) if last else None
        if parsed.every is not None:
            before = now - 2 * parsed.every - limits.overdue
        made = schedule.created
        if before is None or made is None or made >= before:
            continue
        if good is None:
            evidence = f"None of its backups has completed since it was made at {words.moment(made, now)}."
            yield _gap(schedule, made, "no good backup at all", evidence)
        elif good.started is not None and good.started < before:
            evidence = (
                f"{good.name}, started {words.moment(good.started, now)}, is the newest good backup; "
                f"at least two runs since then should have made a newer one."
            )
            what = f"newest good backup is {words.span(now - good.started)} old"
            yield _gap(schedule, good.started, what, evidence, good_name=good.name)


def _expires_first(schedule: Schedule, expires: datetime) -> bool:
    """Whether the backup is gone before the schedule can have made another."""
    run = None if schedule.spec.paused else next_run(schedule)
    return run is None or run > expires


def _gap(schedule: Schedule, since: datetime | None, what: str, evidence: str, good_name: str = "") -> Finding:
    related = (Subject("Backup", schedule.namespace, good_name),) if good_name else ()
    remedy = "Find out why its runs fail or are not made, and back up now; until then a restore goes back that far."
    return Finding("protection-gap", Severity.ERROR, Subject.of(schedule), since, what, evidence, remedy, related)


def _slots(world: World, namespace: str) -> int:
    return world.server(namespace).concurrency or 1
