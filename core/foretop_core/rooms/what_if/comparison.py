"""The night of a server before and after a change that nobody has made, and the difference in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError
from foretop_core.errors import BadInput, Unforeseen
from foretop_core.models import BackupSpec, Schedule
from foretop_core.models.velero import ScheduleMetadata, ScheduleSpec
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.night.coming_back import coming_back
from foretop_core.rules.night.lengths import Lengths, Source
from foretop_core.rules.night.night import DAY, FEWEST_DRAWS, Fate, Foresight, why_unforeseen
from foretop_core.rules.night.outlook import Outlook, ScheduleOutlook, done_of_all, outlook, wait_of
from foretop_core.rules.night.server_model import ServerModel, server_model
from foretop_core.rules.night.window import Window
from foretop_core.rules.sentences import Text, estimate, sentence
from foretop_core.rules.snapshot import ClusterSnapshot

_NOTICED = timedelta(minutes=1)
"""A difference that is smaller is not told."""
_UNITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30))
"""What a difference is rounded to, by how far the courses are apart."""
_MANY = 3
"""With more schedules that wait otherwise, how many do is told first."""
NO_DIFFERENCE = "No run starts or ends a minute sooner or later."
_MOST_SLOTS = 1000
_LONGEST = 1000.0


class Move(msgspec.Struct, frozen=True):
    """Another expression for a schedule."""

    name: str
    expression: str


class Pause(msgspec.Struct, frozen=True):
    name: str


class Unpause(msgspec.Struct, frozen=True):
    name: str


class Slots(msgspec.Struct, frozen=True):
    """Another `--concurrent-backups`."""

    count: int


class Add(msgspec.Struct, frozen=True):
    """A schedule that does not exist."""

    name: str
    expression: str
    length: timedelta


def read_pair(text: str) -> tuple[str, str]:
    """`NAME=VALUE` in its two parts."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not name or not equals or not value:
        raise BadInput(f"{text!r} is not a change", "", "write NAME=VALUE")
    return name, value


def read_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{text!r} is not a number", "", "such as 2 or 1.5")
    return number


class Longer(msgspec.Struct, frozen=True):
    """The runs of a schedule take so many times as long."""

    name: str
    times: float


class Stopped(msgspec.Struct, frozen=True):
    """Velero does not run in a window."""

    window: Window


Change: TypeAlias = Move | Pause | Unpause | Slots | Add | Longer | Stopped


def read_changes(text: str) -> list[Change]:
    """The changes of schedules in `crm=30 3 * * *; mail=paused; etcd=unpaused`."""
    parsed: list[Change] = []
    for part in filter(str.strip, text.split(";")):
        name, value = read_pair(part)
        parsed.append(Pause(name) if value == "paused" else Unpause(name) if value == "unpaused" else Move(name, value))
    return parsed


class NightComparison(msgspec.Struct, frozen=True):
    """The night as it will be, and as it would be; `differences` has each of a minute or more."""

    before: Outlook
    after: Outlook
    differences: tuple[Text, ...]


def what_if(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    changes: Sequence[Change],
    length: timedelta = DAY,
    draws: int = FEWEST_DRAWS,
    zone: tzinfo = UTC,
) -> NightComparison:
    """The coming hours of a server with and without changes; both are drawn from the same streams.

    Raises BadInput for a change that cannot be, or that changes nothing, and Unforeseen where nothing can be foreseen.
    """
    if not changes:
        raise BadInput("Nothing to compare", "no change is given", "such as --move NAME='30 2 * * *'")
    changed = _changed(snapshot, namespace, now, changes)
    refuse_silence(snapshot, namespace, now)
    now_model = server_model(snapshot, namespace, now, now + length)
    then = _model_changes(server_model(changed, namespace, now, now + length), changes)
    if then == now_model:
        raise BadInput("That changes nothing", "the coming runs are the same with it", "")
    before, after = _outlook(now_model, draws, zone), _outlook(then, draws, zone)
    return NightComparison(before, after, tuple(_differences(before, after)))


def if_back_with(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, changes: Sequence[Change], zone: tzinfo = UTC
) -> tuple[Text, ...]:
    """The backlog of a silent server as it would be after changes, a sentence for each moment of its return."""
    if any(isinstance(change, Stopped) for change in changes):
        raise BadInput("A stop of Velero cannot be tried", "it does nothing as it is", "")
    changed = _changed(snapshot, namespace, now, changes)
    backs = coming_back(changed, namespace, now, zone, lambda model: _model_changes(model, changes))
    return tuple(back.words for back in backs)


def refuse_silence(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> None:
    """Raises Unforeseen where nothing can be foreseen: no change can be judged by a Velero that does not work."""
    if why := why_unforeseen(snapshot, namespace, now):
        raise Unforeseen("Nothing can be foreseen", why)


def _outlook(model: ServerModel, draws: int, zone: tzinfo) -> Outlook:
    ahead = Foresight.of(model)
    ahead.play(draws)
    return outlook(ahead.night(), zone)


def _changed(snapshot: ClusterSnapshot, namespace: str, now: datetime, changes: Iterable[Change]) -> ClusterSnapshot:
    """The snapshot with what the changes would write."""
    schedules = {schedule.name: schedule for schedule in snapshot.schedules_by_namespace.get(namespace, ())}
    servers = dict(snapshot.servers)
    for change in changes:
        match change:
            case Slots(count):
                if not 1 <= count <= _MOST_SLOTS:
                    raise BadInput(f"{count} slots cannot be", "Velero takes 1 or more at a time", "")
                server = snapshot.server(namespace)
                if (server.concurrency or 1) == count:
                    raise BadInput("That changes nothing", f"Velero has {humanize.count(count, 'slot')}", "")
                servers[namespace] = replace(server, concurrency=count)
            case Move(name, text):
                schedule = _known(schedules, name, namespace)
                if schedule.spec.schedule.split() == text.split():
                    raise BadInput("That changes nothing", f"{name} has the expression {text!r}", "")
                # It is validated again.
                status = replace(schedule.status, phase="", validation_errors=())
                schedules[name] = replace(_with(schedule, schedule=text), status=status)
                _check(snapshot, schedules[name])
            case Pause(name) | Unpause(name):
                schedule, paused = _known(schedules, name, namespace), isinstance(change, Pause)
                if schedule.spec.paused == paused:
                    raise BadInput("That changes nothing", f"{name} is {'' if paused else 'not '}paused", "")
                schedules[name] = _with(schedule, paused=paused)
            case Add(name, text, length):
                if name in schedules:
                    raise BadInput(f"There is a schedule {name} in {namespace}", "", "give the new one another name")
                if length <= timedelta():
                    raise BadInput(f"A run of {name} cannot take that long", "its length is not positive", "")
                schedules[name] = Schedule(
                    metadata=ScheduleMetadata(name=name, namespace=namespace, creation_timestamp=now),
                    spec=ScheduleSpec(schedule=text, template=BackupSpec()),
                )
                _check(snapshot, schedules[name])
            case Longer(name, times):
                _known(schedules, name, namespace)
                if not 0 < times <= _LONGEST or not math.isfinite(times):
                    raise BadInput(f"A run of {name} cannot take {times:g} times as long", "", "use a number above 0")
                if times == 1:
                    raise BadInput("That changes nothing", "a run that takes once as long is the same", "")
            case Stopped():
                pass
            case _:
                assert_never(change)
    others = tuple(schedule for schedule in snapshot.schedules if schedule.namespace != namespace)
    return replace(snapshot, schedules=(*others, *schedules.values()), servers=servers)


def _with(item: Schedule, **fields: object) -> Schedule:
    return replace(item, spec=replace(item.spec, **fields))


def _known(schedules: dict[str, Schedule], name: str, namespace: str) -> Schedule:
    schedule = schedules.get(name)
    if schedule is None:
        raise BadInput(f"There is no schedule {name} in {namespace}", "", "`foretop get schedules` lists them")
    return schedule


def _check(snapshot: ClusterSnapshot, schedule: Schedule) -> None:
    """Refuses an expression that every release which the server may have refuses."""
    read = [expression(schedule.spec.schedule, reading.dialect) for reading in snapshot.readings(schedule)]
    refused = [parsed for parsed in read if isinstance(parsed, CronError)]
    if len(refused) == len(read):
        raise refused[-1]


def _model_changes(model: ServerModel, changes: Iterable[Change]) -> ServerModel:
    """The changes that no object says: lengths, and a server that stands still."""
    lengths = {schedule.name: length for schedule, length in zip(model.schedules, model.lengths, strict=True)}
    state = model.state
    for change in changes:
        if isinstance(change, Longer) and change.name in lengths:
            lengths[change.name] = replace(lengths[change.name], factor=change.times)
        elif isinstance(change, Add) and change.name in lengths:
            lengths[change.name] = Lengths((change.length.total_seconds(),), Source.OWN)
        elif isinstance(change, Stopped):
            begins, ends = change.window.after(model.now)
            if begins >= model.now + timedelta(seconds=state.until):
                raise BadInput("That changes nothing", "the window lies beyond the time that is foreseen", "")
            seconds = [max(0.0, (moment - model.now).total_seconds()) for moment in (begins, ends)]
            state = replace(state, stopped=(seconds[0], seconds[1]))
    return replace(model, state=state, lengths=tuple(lengths[schedule.name] for schedule in model.schedules))


def _differences(before: Outlook, after: Outlook) -> Iterable[Text]:
    """The backups that a new expression makes at once, then schedule by schedule, then all of the night."""
    was = {schedule.name: schedule for schedule in before.schedules}
    now = {schedule.name: schedule for schedule in after.schedules}
    made_at_once: set[str] = set()
    for name in sorted(was.keys() & now.keys()):
        run = now[name].runs[0]
        if run.due is not None and _has_overdue(now[name], after) and not _has_overdue(was[name], before):
            when = "when the last one has ended" if run.fate is Fate.LATE else "at once"
            ends = sentence("; it ends about ", estimate(run.end.likely)) if run.end is not None else ""
            due = sentence("by the new expression it was due at ", estimate(run.due))
            yield sentence(f"{name}: one backup {when}: ", due, ends, ".")
            # The runs of the old expression are compared with those that follow it.
            now[name] = ScheduleOutlook(name, now[name].runs[1:])
            made_at_once.add(name)
    longer = [more for name in was.keys() & now.keys() if (more := _longer_wait(was[name], now[name]))]
    if len(longer) > _MANY:
        less = sum(more < timedelta() for more in longer)
        parts = [f"{number} wait {how}" for number, how in ((less, "less"), (len(longer) - less, "longer")) if number]
        yield f"Of {humanize.count(len(now), 'schedule')} {', '.join(parts)}."
    for name in sorted(was.keys() | now.keys()):
        yield from _of_schedule(name, was.get(name), now.get(name), follows=name in made_at_once)
    endless = tuple(dict.fromkeys((*before.night.without_end, *after.night.without_end)))
    if endless and None in (before.night_done, after.night_done):
        have = "has" if len(endless) == 1 else "have"
        yield f"When all is done is not compared: {humanize.join(endless)} {have} no known end."
    elif before.night_end is not None and after.night_end is not None:
        done = after.night_end[0]
        moved = done - before.night_end[0]
        if abs(moved) >= _NOTICED:
            how = "sooner" if moved < timedelta() else "later"
            what = "the night's runs" if after.night_done is not None else done_of_all(after, 3)
            yield sentence(
                f"{humanize.capitalized(what)} will be done about ",
                estimate(done),
                f", {_rounded(moved, *after.night_end)} {how}.",
            )


def _of_schedule(
    name: str, was: ScheduleOutlook | None, now: ScheduleOutlook | None, *, follows: bool
) -> Iterable[Text]:
    """`follows` says that a backup is made before those that are compared."""
    if was is None or now is None:
        count = len((now or was or ScheduleOutlook(name, ())).runs)
        yield f"{name}: {humanize.count(count, 'run')} {'more' if was is None else 'fewer'}."
        return
    if len(was.runs) != len(now.runs):
        after_it = "then " if follows else ""
        yield f"{name}: {after_it}{humanize.count(len(now.runs), 'run')} instead of {len(was.runs)}."
    lost = was.count(Fate.LOST), now.count(Fate.LOST)
    if lost[0] and not lost[1]:
        yield f"{name}: no longer lost ({humanize.count(lost[0], 'run')})."
    elif lost[0] != lost[1]:
        yield f"{name}: {humanize.count(lost[1], 'run')} lost instead of {lost[0]}."
    for fate in (Fate.LATE, Fate.UNKNOWN):
        if (was_there := was.count(fate)) != (then_there := now.count(fate)):
            yield f"{name}: {humanize.count(then_there, 'run')} {fate.words} instead of {was_there}."
    first, then = was.next, now.next
    if first is None or then is None:
        return
    if more := _longer_wait(was, now):
        how = "longer" if more > timedelta() else "less"
        begins = then.start
        wait = _rounded(more, begins.likely, begins.by) if begins is not None else humanize.duration(abs(more))
        yield f"{name}: waits {wait} {how}."
    if first.end is not None and then.end is not None and abs(then.end.likely - first.end.likely) >= _NOTICED:
        moved = then.end.likely - first.end.likely
        how = "sooner" if moved < timedelta() else "later"
        when = estimate(then.end.likely)
        which = "the run after it " if follows else "" if len(was.runs) == len(now.runs) else "its first run "
        length = _rounded(moved, then.end.likely, then.end.by)
        yield sentence(f"{name}: {which}ends {length} {how}, about ", when, ".")


def _rounded(moved: timedelta, likely: datetime, by: datetime | None) -> str:
    """A difference in words, no finer than the courses are apart: seconds of some dozen courses tell nothing."""
    apart = by - likely if by is not None else timedelta()
    unit = next((unit for unit in _UNITS if apart < 3 * unit), _UNITS[-1])
    return humanize.duration(max(unit, round(abs(moved) / unit) * unit))


def _longer_wait(was: ScheduleOutlook, now: ScheduleOutlook) -> timedelta | None:
    """How much longer its next run waits; None where that is not known or not noticed."""
    waited, waits = (
        None if schedule.next is None or schedule.next.fate is Fate.REFUSED else wait_of(schedule.next)
        for schedule in (was, now)
    )
    if waited is None or waits is None or abs(waits - waited) < _NOTICED:
        return None
    return waits - waited


def _has_overdue(schedule: ScheduleOutlook, one: Outlook) -> bool:
    """True if its first run is one that Velero makes as soon as it may."""
    run = schedule.runs[0]
    return run.due is not None and run.due < one.night.now and run.fate is not Fate.LOST
