"""All that is said of a schedule: its last backup, its next run, its pause, its state.

Tables, panes, dialogs, commands, the hand-over and Triage read it here and derive nothing of it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.cron_dialects import Reading
from foretop_core.rules.forecast import (
    GRACE,
    Choice,
    Overdue,
    UnpauseForecast,
    base_time,
    blocker,
    expected_start,
    invalid,
    is_due,
    never_fires,
    next_run,
    overdue,
    pause_as_read,
    runs_to_come,
    unpause_as_read,
)
from foretop_core.rules.heartbeat import PERIOD, Heartbeat
from foretop_core.rules.pauses import PauseInfo, noted_author, pause_info
from foretop_core.rules.phases import ENDED, WAITING
from foretop_core.rules.protection.coverage import namespace_filter
from foretop_core.rules.protection.namespace_protection import late_from, promised_since
from foretop_core.rules.remembered import remembered
from foretop_core.rules.schedule_history import ended, faults_in_a_row, history, newest_good, ran_before, submitted
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import run_refusal

__all__ = [
    "ALWAYS_DUE",
    "SEVERITIES",
    "Choice",
    "LastingFacts",
    "Overdue",
    "PauseInfo",
    "ReadingFacts",
    "ScheduleFacts",
    "ScheduleState",
    "UnpauseForecast",
    "history",
    "runs_to_come",
    "schedule_facts",
    "submitted",
]

UNDECIDED = "it depends on the Velero release, which is not known"
ALWAYS_DUE = "no date fits, runs every minute"
"""Of an expression that never fires: Velero takes the library's "no such time" for a time long past."""
_IN_ORDER = (Choice.LEAVE, Choice.SKIP, Choice.DO_NOT_SKIP)


class ScheduleState(StrEnum):
    """A schedule in a word: the worst that can be said of it."""

    PAUSED = "paused"
    INVALID = "invalid"
    NEVER_FIRES = "never fires"
    OVERDUE = "overdue"
    FAILED = "failed"
    UNDECIDED = "not known"
    SILENT = "silent"
    REFUSED = "refused"
    PARTLY_FAILED = "partly failed"
    WAITING = "waiting"
    HEALTHY = "healthy"


SEVERITIES = {
    ScheduleState.INVALID: Severity.ERROR,
    ScheduleState.NEVER_FIRES: Severity.ERROR,
    ScheduleState.OVERDUE: Severity.ERROR,
    ScheduleState.FAILED: Severity.ERROR,
    ScheduleState.UNDECIDED: Severity.WARNING,
    ScheduleState.SILENT: Severity.WARNING,
    ScheduleState.REFUSED: Severity.WARNING,
    ScheduleState.PARTLY_FAILED: Severity.WARNING,
}
ARGO_TRACKING_ID = "argocd.argoproj.io/tracking-id"
"""Names the object that it is on, so that newer releases of Argo CD see that a copy on another object is a copy."""
_ARGO_LABEL = "argocd.argoproj.io/instance"
_SHARED_LABEL = "app.kubernetes.io/instance"
"""Argo CD's label by default, and many charts' as well: it says nothing unless Argo CD has written the schedule."""
_ARGO_WRITERS = frozenset({"argocd-controller", "argocd-application-controller"})
_WORST_FIRST = tuple(ScheduleState)
_OUTCOMES = {
    "Failed": ScheduleState.FAILED,
    "FailedValidation": ScheduleState.FAILED,
    "PartiallyFailed": ScheduleState.PARTLY_FAILED,
}


class ReadingFacts(msgspec.Struct, frozen=True):
    """The behaviour of a schedule on the servers that read its expression in one way."""

    reading: Reading
    next_run: datetime | None
    due: bool


class LastingFacts(msgspec.Struct, frozen=True, dict=True):
    """The facts of a schedule that hold until it or one of its backups changes, each derived when first asked for."""

    schedule: Schedule
    known_runs: tuple[Backup, ...] | None
    """Its runs, where they have been put in order already."""
    readings: tuple[Reading, ...]
    """How its server may read the expression: one where that is known or makes no difference."""
    zone: tzinfo = UTC
    """The zone of an expression that names none."""

    # The last backup

    @cached_property
    def runs(self) -> tuple[Backup, ...]:
        """Its own backups, the last one that was submitted first."""
        return self.known_runs or ()

    @property
    def last_backup(self) -> Backup | None:
        """The last one that was submitted, by Velero or by hand; None where it is not visible, or there is none."""
        newest, made = self.runs[0] if self.runs else None, self.schedule.status.last_backup
        return newest if newest is None or made is None or made - submitted(newest) < PERIOD else None

    @property
    def last_backup_at(self) -> datetime | None:
        """When the last backup was submitted, as Velero says where it is not visible."""
        last = self.last_backup
        return self.schedule.status.last_backup if last is None else submitted(last)

    @property
    def last_outcome(self) -> str | None:
        """The phase in which the last backup ended; None while it has not, and where it is not visible."""
        last = self.last_backup
        return last.phase if last is not None and last.phase in ENDED else None

    @property
    def last_ended(self) -> Backup | None:
        """The last one that was submitted of those that have ended."""
        return next((run for run in self.runs if run.phase in ENDED), None)

    @property
    def last_ended_at(self) -> datetime | None:
        last = self.last_ended
        return ended(last) if last is not None else None

    @property
    def unfinished(self) -> Backup | None:
        """The last one that was submitted, where it waits or runs."""
        last = self.last_backup
        return last if last is not None and last.phase not in ENDED else None

    @cached_property
    def newest_good(self) -> Backup | None:
        return newest_good(self.runs)

    def why_not_taken(self, namespace: str) -> Text:
        """Why its newest good backup does not have a namespace that it takes; "" where it has it, or there is none."""
        good = self.newest_good
        if good is None or namespace_filter(good.spec).takes(namespace):
            return ""
        text = sentence(", started at ", good.started) if good.started is not None else ""
        comma = "," if text else ""
        return sentence(f"{good.name}", text, f"{comma} completed without it: the schedule took it up only afterwards")

    @cached_property
    def faults_in_a_row(self) -> tuple[Backup, ...]:
        """The runs that went wrong since the last one that went well, newest first."""
        return faults_in_a_row(self.runs)

    # The expression

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of its server; None where it is open and makes a difference."""
        return self.readings[0].dialect if len(self.readings) == 1 else None

    @property
    def parsed(self) -> CronSchedule | None:
        """Its expression; None where Velero refuses it, or it is open how its server reads it."""
        parsed = self.readings[0].parsed
        return parsed if len(self.readings) == 1 and isinstance(parsed, CronSchedule) else None

    @cached_property
    def invalid(self) -> str:
        """Why Velero refuses the schedule in every reading that is possible; "" where it does not."""
        reasons = [invalid(self.schedule, reading.dialect) for reading in self.readings]
        return reasons[-1] if all(reasons) else ""

    @property
    def is_invalid_cron(self) -> bool:
        return bool(self.invalid) and isinstance(self.readings[-1].parsed, CronError)

    @property
    def stays_invalid(self) -> bool:
        """True if Velero refuses it, after a pause too: all but the expression is judged anew when it is unpaused."""
        return self.is_invalid_cron if self.schedule.spec.paused else bool(self.invalid)

    @property
    def is_too_long(self) -> bool:
        """True if its expression is longer than foretop reads."""
        parsed = self.readings[-1].parsed
        return isinstance(parsed, CronError) and parsed.is_too_long

    @cached_property
    def never_fires(self) -> bool:
        return self.dialect is not None and never_fires(self.schedule, self.dialect)

    @property
    def base(self) -> datetime | None:
        """The moment from which the next run is searched: the last backup or else the creation, or a later skip."""
        return base_time(self.schedule)

    @cached_property
    def next_run(self) -> datetime | None:
        """The run that Velero works towards, which may lie in the past; `why_no_next` tells why there is none."""
        return None if self.dialect is None else next_run(self.schedule, self.dialect, self.zone)

    @property
    def why_no_next(self) -> str:
        if self.next_run is not None:
            return ""
        if self.dialect is None:
            return UNDECIDED
        if self.invalid:
            return f"Velero refuses the schedule: {self.invalid}"
        if self.base is None:
            return "its creation time is not known"
        return "no date matches the expression" if self.never_fires else "it does not run within five years"


class ScheduleFacts(LastingFacts, frozen=True, kw_only=True, eq=False):
    """One schedule at one moment."""

    snapshot: ClusterSnapshot
    now: datetime
    grace: timedelta = GRACE
    """For so long a run may be due before it is overdue."""
    known_beat: Heartbeat | None = None
    """The beat of its server, where it has been worked out already."""

    @cached_property
    def runs(self) -> tuple[Backup, ...]:
        """Looked up in the snapshot where they are not known: who asks for the next run alone does not pay for them."""
        return self.snapshot.runs(self.schedule) if self.known_runs is None else self.known_runs

    @property
    def why_no_last(self) -> str:
        """Why the last backup is not known; "" where it is, or none was made yet."""
        if self.last_backup is not None or self.schedule.status.last_backup is None:
            return ""
        gap = self.snapshot.gap(BACKUP)
        return f"backups are not visible: {gap.why(self.zone)}" if gap is not None else "it is not visible here"

    @cached_property
    def by_reading(self) -> tuple[ReadingFacts, ...]:
        """The behaviour in each reading that is possible."""
        return tuple(
            ReadingFacts(
                reading,
                next_run(self.schedule, reading.dialect, self.zone),
                is_due(self.schedule, self.now, reading.dialect, self.zone),
            )
            for reading in self.readings
        )

    @cached_property
    def due(self) -> bool | None:
        """True if Velero would make a backup at its next look, were it unpaused and not held up; None: not known."""
        return None if self.dialect is None else is_due(self.schedule, self.now, self.dialect, self.zone)

    @cached_property
    def may_be_due(self) -> bool:
        """True if a run is due in any reading, paused or not; never where Velero refuses the schedule."""
        return not self.invalid and self.is_due_somehow

    @property
    def is_due_somehow(self) -> bool:
        """The same, whatever Velero has said of the expression that it had before."""
        return any(facts.due for facts in self.by_reading) if self.due is None else self.due

    @cached_property
    def overdue(self) -> Overdue | None:
        """The run that should have been made, and what keeps it; None where all is well, or it cannot be told."""
        if self.dialect is None:
            return None
        return overdue(self.schedule, self.now, self.dialect, self.beat, self._each_labelled(), self.zone, self.grace)

    @cached_property
    def beat(self) -> Heartbeat:
        return self.known_beat or self.snapshot.heartbeat(self.schedule.namespace)

    @cached_property
    def refusal(self) -> str:
        """Why Velero refuses the backups that it makes; "" where nothing is known against them."""
        return run_refusal(self.snapshot, self.schedule)

    @cached_property
    def blocker(self) -> Backup | None:
        """The unfinished backup that keeps Velero from starting another."""
        return blocker(self.schedule, self._labelled)

    @cached_property
    def obstacle(self) -> Text:
        """A silent server, or storage that cannot be used; reads on after the time that it is due, "" for neither."""
        refusal, silence = self.refusal, self.beat.silence(self.now)
        if not silence:
            return f"but Velero refuses it while {refusal}" if refusal else ""
        backup = self.blocker
        what = (
            f"but it is not created while {backup.name} is {backup.phase or 'New'}"
            if backup is not None
            else self.beat.coming_run_phrase(self.now)
        )
        return sentence(what, ": ", silence, f", and Velero refuses it while {refusal}" if refusal else "")

    @property
    def waits_for(self) -> str:
        """The silent one that must be back before a run of it is made: `Velero` or `the storage`; "" for neither."""
        is_silent = not self.schedule.spec.paused and self.beat.silent_for(self.now) is not None
        return self.beat.awaited_part(self.now) if is_silent else ""

    @property
    def doubt(self) -> str:
        """Why its next run is perhaps no backup, in two words or three; "" where it is one."""
        return "refused" if self.refusal else f"waits for {self.waits_for}" if self.waits_for else ""

    @cached_property
    def expected_start(self) -> datetime | None:
        """When Velero will submit the next backup, to the second; `why_no_start` tells why that is not known."""
        if self.dialect is None or self.refusal:
            return None
        return expected_start(self.schedule, self.now, self.dialect, self.beat, self._labelled, self.zone)

    @property
    def why_no_start(self) -> Text:
        if self.expected_start is not None:
            return ""
        if self.schedule.spec.paused:
            return "it is paused"
        if self.next_run is None and not self.due:
            return self.why_no_next
        if silence := self.beat.silence(self.now):
            return silence
        if self.refusal:
            return f"Velero refuses it while {self.refusal}"
        if (backup := self.unfinished or self.blocker) is not None:
            return f"{backup.name} has not ended"
        return "the second at which Velero looks at its schedules is not known"

    @cached_property
    def _labelled(self) -> tuple[Backup, ...]:
        return self.snapshot.labelled_runs(self.schedule)

    def _each_labelled(self) -> Iterator[Backup]:
        """Looked up only by who comes to them: most runs are not late."""
        yield from self._labelled

    # The pause

    @cached_property
    def pause(self) -> PauseInfo | None:
        """Since when, by whom, why and until when it is paused; None where it is not."""
        return pause_info(self.schedule) if self.schedule.spec.paused else None

    @property
    def noted_by(self) -> str:
        """The person who left foretop's note on its pause; "" where nobody has."""
        return noted_author(self.schedule) if self.schedule.spec.paused else ""

    @cached_property
    def is_overdue_pause(self) -> bool:
        """True if it is paused, and a run that it would have made is overdue.

        Not before the end that its pause was given: until then it is to miss its runs.
        """
        pause = self.pause
        if pause is None or not self.may_be_due or (pause.until is not None and self.now <= pause.until):
            return False
        runs = [facts.next_run for facts in self.by_reading if facts.due]
        return any(run is None or self.now - run > self.grace for run in runs)

    @property
    def own_choice(self) -> Choice:
        """The choice about a due run by its own field or the server's default; LEAVE where that is not known."""
        skips = self.schedule.spec.skip_immediately
        if skips is None and not self.unpausing(Choice.LEAVE).predictable:
            return Choice.LEAVE
        return Choice.SKIP if skips else Choice.DO_NOT_SKIP

    @property
    def pausing(self) -> Text:
        """The effect of pausing it, and what it does not change."""
        return pause_as_read(self.schedule, self.now, self.readings, self._labelled, beat=self.beat)

    def unpausing(self, choice: Choice, *, is_new: bool = False) -> UnpauseForecast:
        """The effect of unpausing it now; with `is_new` nothing was due before by its expression."""
        return self._unpausing(choice, is_new)

    @remembered
    def _unpausing(self, choice: Choice, is_new: bool) -> UnpauseForecast:
        return unpause_as_read(
            self.schedule,
            self.now,
            choice,
            self.snapshot.server(self.schedule.namespace).skip_immediately,
            self.readings,
            beat=self.beat,
            backups=self._labelled,
            refusal=self.refusal,
            is_new=is_new,
        )

    @property
    def unpausing_choices(self) -> tuple[tuple[str, UnpauseForecast], ...]:
        """The effect of unpausing the schedule as it is, then each choice with another effect, with its words."""
        leave, skip, run = (self.unpausing(choice) for choice in _IN_ORDER)
        if leave.sentence == skip.sentence == run.sentence:
            return (("If unpaused, with skip or without", leave),)
        others = (("With skip", skip), ("Without skip", run))
        return ("If unpaused", leave), *(other for other in others if other[1].sentence != leave.sentence)

    # All of it

    def promised_since(self, least: timedelta, at: datetime | None = None) -> datetime | None:
        """The run since which it should have a good backup, now or at a moment; None where it owes none."""
        parsed = self.parsed
        if parsed is None or parsed.never_fires or self.schedule.spec.paused:
            return None
        return promised_since(self.schedule, parsed, at or self.now, least, self.ran_before)

    def late_from(self, newest: datetime, least: timedelta) -> datetime | None:
        """When a good backup that was started at `newest` is first older than promised, before or after now."""
        parsed = self.parsed
        return None if parsed is None else late_from(self.schedule, parsed, newest, self.now, least, self.ran_before)

    def owed_when_paused(self, least: timedelta) -> bool:
        """True if its newest good backup was older than promised already when it was paused."""
        since = self.pause.since if self.pause is not None else None
        if since is None or self.parsed is None:
            return False
        promised = promised_since(self.schedule, self.parsed, since, least, self.ran_before)
        good = self.newest_good
        return promised is not None and (good is None or good.started is None or good.started < promised)

    def ran_before(self, moment: datetime) -> datetime | None:
        """When it was last known to run before a moment: by its runs, and the note of a pause; None: nothing tells."""
        return ran_before(self.schedule, self.runs, moment)

    @cached_property
    def state(self) -> ScheduleState:
        """The worse of what becomes of its next run and how its last backup went.

        Runs that went wrong count until one has gone well: neither a later one that is not done yet nor one that was
        deleted is a good one.
        """
        if self.coming_state is ScheduleState.PAUSED:
            return ScheduleState.PAUSED
        last = self.faults_in_a_row[0] if self.faults_in_a_row else self.last_backup
        phase = last.phase if last is not None else "Completed"
        outcome = ScheduleState.WAITING if phase in WAITING else _OUTCOMES.get(phase, ScheduleState.HEALTHY)
        return min(self.coming_state, outcome, key=_WORST_FIRST.index)

    @cached_property
    def coming_state(self) -> ScheduleState:
        """The state by its next run: one that will not be made, or perhaps not, is not healthy.

        An expression that Velero refuses makes no backup after a pause either.
        """
        if self.stays_invalid:
            return ScheduleState.INVALID
        if self.schedule.spec.paused:
            return ScheduleState.PAUSED
        if self.never_fires:
            return ScheduleState.NEVER_FIRES
        if self.overdue is not None:
            return ScheduleState.OVERDUE
        if self.dialect is None:
            return ScheduleState.UNDECIDED
        if self.beat.silent_for(self.now) is not None:
            return ScheduleState.SILENT
        return ScheduleState.REFUSED if self.refusal else ScheduleState.HEALTHY

    @property
    def severity(self) -> Severity | None:
        """How grave its state is; None where there is nothing to do about it."""
        by_state = SEVERITIES.get(self.state)
        return Severity.WARNING if self.is_overdue_pause or (by_state is None and self.prunable) else by_state

    @cached_property
    def argo_label(self) -> str:
        """The label by which Argo CD knows the schedule; "" where it does not."""
        if self.schedule.label(_ARGO_LABEL):
            return _ARGO_LABEL
        shared = self.schedule.label(_SHARED_LABEL)
        written = shared and any(fields.manager in _ARGO_WRITERS for fields in self.schedule.metadata.managed_fields)
        return _SHARED_LABEL if written else ""

    @property
    def prunable(self) -> tuple[Backup, ...]:
        """Its backups that Argo CD takes for its own by a copy of that label; one with an owner is left alone."""
        label = "" if self.schedule.annotation(ARGO_TRACKING_ID) else self.argo_label
        if not label:
            return ()
        mark = self.schedule.label(label)
        return tuple(run for run in self.runs if not run.metadata.owner_references and run.label(label) == mark)


def schedule_facts(
    snapshot: ClusterSnapshot, schedule: Schedule, now: datetime, grace: timedelta = GRACE, zone: tzinfo = UTC
) -> ScheduleFacts:
    """The facts of a schedule at a moment."""
    return ScheduleFacts(
        schedule,
        None,
        snapshot.readings(schedule),
        zone,
        snapshot=snapshot,
        now=now,
        grace=grace,
    )
