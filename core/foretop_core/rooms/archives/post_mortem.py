"""A recording told from its end: what was wrong and since when, who did what, what followed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo

import msgspec
from msgspec.structs import replace

from foretop_core.clock import ManualClock
from foretop_core.dashboard.handover import Section, as_markdown, finding_line
from foretop_core.foreign_text import quoted
from foretop_core.kube.connection import api_paths
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, Restore
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef, Resource, unreadable_object
from foretop_core.rooms.archives.kept_changes import read_event, recorded_changes
from foretop_core.rooms.archives.recording import LEAD_IN, Recording
from foretop_core.rules import humanize
from foretop_core.rules.changes import CREATED, DELETED, ObservedTransition
from foretop_core.rules.phases import FAULTY, OUTCOMES
from foretop_core.rules.sentences import render
from foretop_core.rules.severity import Severity
from foretop_core.rules.triage import Finding, Thresholds, triage
from foretop_core.rules.triage.runs import reason
from foretop_core.session import WATCHED
from foretop_core.store import Store

MOST_MOMENTS = 96
"""At so many moments, as far apart from each other, findings are looked for: a large cluster costs a second each."""
MOST_LINES = 500
_SERVERS = ("with velero", "with velero-server", "with node-agent-server", "with manager")
_OF_SERVERS = frozenset({"spec.skipImmediately"})
"""Fields that Velero itself writes, too."""

Progress = Callable[[str], None]


class Fault(msgspec.Struct, frozen=True):
    """A finding over the time in which it was there, as far as somebody looked."""

    finding: Finding
    """As it was last."""
    first: datetime
    gone_by: datetime | None = None
    """The first look at which it was gone; None where it was there at the end."""

    @property
    def begin(self) -> datetime:
        return self.finding.since or self.first


class PostMortem(msgspec.Struct, frozen=True):
    """All that is told of a recording."""

    context: str
    begin: datetime
    end: datetime
    apart: timedelta
    """How far apart the looks at it were."""
    faults: tuple[Fault, ...]
    writes: tuple[ObservedTransition, ...]
    failed: tuple[tuple[ObservedTransition, str], ...]
    """The ends of runs that failed, each with why."""
    not_recorded: tuple[str, ...]


def post_mortem(recording: Recording, context: str, limits: Thresholds, progress: Progress) -> PostMortem:
    """Plays the recording through once; costs a judgement for each moment."""
    store, begin, end = Store(), recording.begin, recording.end
    count = max(1, min(MOST_MOMENTS, int((end - begin).total_seconds())))
    moments = [begin + (end - begin) * number / count for number in range(count + 1)]
    clock = ManualClock(begin)
    for kind, namespace in recording.listed:
        store.sink(WatchScope(context, kind, namespace), clock).health(WatchHealth(WatchState.LIVE, begin))
    there: dict[str, Fault] = {}
    ended: list[Fault] = []
    position = 0
    for number, moment in enumerate(moments, 1):
        progress(f"Judging moment {number} of {len(moments)}")
        position = _go_on(store, recording, context, position, moment)
        findings = {one.id: one for one in triage(store.snapshot(context), moment, limits).findings}
        for name in there.keys() - findings.keys():
            ended.append(replace(there.pop(name), gone_by=moment))
        for name, found in findings.items():
            there[name] = replace(there[name], finding=found) if name in there else Fault(found, moment)
    faults = sorted((*ended, *there.values()), key=lambda fault: (fault.begin, fault.finding.id))
    changes = list(recorded_changes(recording, context, begin, end))
    return PostMortem(
        context,
        begin,
        end,
        (end - begin) / count,
        tuple(faults),
        tuple(filter(_is_write, changes)),
        tuple((change, _why(store.get(change.key))) for change in changes if _is_failure(change)),
        tuple(api_paths.title(kind) for kind in WATCHED if kind not in recording.kinds),
    )


def _go_on(store: Store, recording: Recording, context: str, position: int, moment: datetime) -> int:
    """Takes the store to a moment: by each event, or where those are very many, by what has become of the objects."""
    to = recording.position(moment)
    if to - position <= LEAD_IN:
        events = recording.events(position, to)
    else:
        events = recording.difference(recording.state(position), recording.state(to))
    for event in events:
        key = ObjectRef(context, event.kind.name, *event.key)
        item = None if event.type == "DELETED" else read_event(event.kind, event.raw)
        if item is None and event.type != "DELETED":
            item = unreadable_object(*event.key, "it cannot be read")
        store.put(key, item, event.at, listed=not position)
    return to


def _is_write(change: ObservedTransition) -> bool:
    """True for what somebody else than the servers has done."""
    if change.what in _OF_SERVERS and not change.by:
        return False
    is_of_server = change.by in _SERVERS or change.by.endswith("-controller")
    is_of_spec = change.what == "paused" or change.what.startswith("spec.") or "fields of spec" in change.what
    # Velero makes and deletes runs; a schedule is somebody's.
    is_somebodys = change.key.kind == SCHEDULE.name and change.what in (CREATED, DELETED)
    return not is_of_server and (is_of_spec or is_somebodys or bool(change.by and change.what == CREATED))


def _is_failure(change: ObservedTransition) -> bool:
    return change.what == "phase" and change.after in FAULTY


def _why(run: Resource | None) -> str:
    return reason(run) if isinstance(run, Backup | Restore) else ""


def post_mortem_text(told: PostMortem, zone: tzinfo) -> str:
    """As Markdown."""
    end = told.end
    names = f"{humanize.rfc3339(told.begin)} to {humanize.rfc3339(end)}"
    looked = f"Times without a date are of {humanize.day(end.astimezone(zone))}. Looked at every {_apart(told.apart)}"
    return "\n".join(as_markdown(f"{told.context}: {names}", f"{looked}.", tuple(_sections(told, zone))))


def _apart(apart: timedelta) -> str:
    return humanize.duration(max(apart, timedelta(seconds=1)))


def _sections(told: PostMortem, zone: tzinfo) -> Iterator[Section]:
    end = told.end
    wrong = [fault for fault in told.faults if fault.finding.severity is not Severity.NOTE]
    yield _section("What was wrong", [_fault(fault, end, zone) for fault in wrong], "Nothing.", signed=True)
    writes = [(_write(change, end, zone),) for change in told.writes]
    yield _section("Who did what", writes, "No write is known but those of the servers.")
    failed = [(_failed(change, why, end, zone),) for change, why in told.failed]
    yield _section("Runs that failed", failed, "None.")
    course = sorted(_course(told, wrong, zone), key=lambda line: line[0])
    yield _section("What followed what", [(text,) for _, text in course], "Nothing.")
    left = [(finding_line(fault.finding, end, zone),) for fault in wrong if fault.gone_by is None]
    yield _section("How it ended", left, "At the end nothing was wrong in what was recorded.", signed=True)
    if told.not_recorded:
        lines = [(f"{humanize.join(told.not_recorded, 6)}: what they would tell is not known.",)]
        yield Section("Not recorded", tuple(lines), "")


def _section(title: str, lines: Sequence[tuple[str, ...]], none: str, *, signed: bool = False) -> Section:
    shown = list(lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        shown.append((f"and {len(lines) - MOST_LINES:,} more",))
    is_signed = signed and bool(lines)
    return Section(f"{title} ({len(lines)})" if lines else title, tuple(shown), none, is_signed)


def _fault(fault: Fault, end: datetime, zone: tzinfo) -> tuple[str, ...]:
    """Tells what it was, from when until when, and what showed it; if it has no time, when it was first seen."""
    found = fault.finding
    seen = "" if found.since else f", seen from {humanize.time(fault.first, end, zone)}"
    last = f", gone by {humanize.time(fault.gone_by, end, zone)}" if fault.gone_by else ", to the end"
    return f"{finding_line(found, end, zone)}{seen}{last}", render(found.evidence, end, zone)


def _write(change: ObservedTransition, end: datetime, zone: tzinfo) -> str:
    by = change.by or "by whom is not known"
    return f"{humanize.time(change.at, end, zone)}  {change.key}: {change.text}, {by}"


def _failed(change: ObservedTransition, why: str, end: datetime, zone: tzinfo) -> str:
    told = f": {quoted(why)}" if why else ""
    return f"{humanize.time(change.at, end, zone)}  {change.key} {OUTCOMES[change.after]}{told}"


def _course(told: PostMortem, wrong: Sequence[Fault], zone: tzinfo) -> Iterator[tuple[datetime, str]]:
    """All of it in the order of time."""
    end = told.end
    for fault in wrong:
        what = finding_line(replace(fault.finding, since=None), end, zone).partition(" ")[2]
        yield fault.begin, f"{humanize.time(fault.begin, end, zone)}  began: {what}"
        if fault.gone_by is not None:
            yield fault.gone_by, f"{humanize.time(fault.gone_by, end, zone)}  gone: {what}"
    for change in told.writes:
        yield change.at, _write(change, end, zone)
    for change, why in told.failed:
        yield change.at, _failed(change, why, end, zone)
