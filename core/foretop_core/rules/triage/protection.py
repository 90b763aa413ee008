"""Findings about namespaces that could not be brought back, or only from something old, soon pruned or partial.

What the next runs leave out is told where what decides was read: while a page shows what is known of volumes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, NAB, NAMESPACE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import (
    Extent,
    NamespaceCover,
    NamespaceFacts,
    NamespaceProtection,
    ProtectionJudge,
    ProtectionState,
    copied_volumes,
)
from foretop_core.rules.facts.pause_facts import pause_note
from foretop_core.rules.facts.schedule_facts import ARGO_TRACKING_ID, ScheduleFacts, schedule_facts
from foretop_core.rules.facts.server_facts import server_facts
from foretop_core.rules.phases import FAULTY
from foretop_core.rules.schedule_history import began
from foretop_core.rules.sentences import Key, Text, roughly, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import (
    CORRECT_WHAT_IT_NAMES,
    QUEUE,
    READ_RESULTS,
    Finding,
    Severity,
    Thresholds,
    brief,
)
from foretop_core.rules.triage.schedules import coming_note

_MOST_CLAIMS = 2000
_ALL_LOST = "all copies are out of reach"
_COVERED_BY = frozenset({"", SCHEDULE.name, NAB.name})


def poor_protection(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """One look at all namespaces; what was not seen is not judged."""
    unseen = {gap.kind for gap in snapshot.unseen}
    if not snapshot.velero_namespaces or unseen & {"", BACKUP.name}:
        return
    index = snapshot.protection
    judge = ProtectionJudge(snapshot, now, limits.protection)
    knows_covers = snapshot.namespaces is not None and not unseen & _COVERED_BY
    unreachable: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    lacking: list[NamespaceFacts] = []
    for name in index.names:
        row = index.row(name)
        if row is None:
            continue
        facts = judge.facts(row)
        match facts.state:
            case ProtectionState.UNREACHABLE if row.copies.places:
                unreachable[row.unavailable].append(name)
            case ProtectionState.UNCOVERED if knows_covers:
                yield _uncovered(snapshot, facts)
            case ProtectionState.LATE:
                yield from _late(snapshot, facts)
            case ProtectionState.EXPIRING if row.covers or not facts.has_expired:
                # Of a NAB that is over, its own finding tells.
                yield from _expiring(snapshot, facts)
            case ProtectionState.PARTIAL | ProtectionState.REPOSITORY_NOT_READY if row.covers and not row.copies.good:
                yield _partial(snapshot, facts)
            case ProtectionState.MANIFESTS_ONLY | ProtectionState.VOLUMES_MISSING:
                lacking.append(facts)
    yield from _volumes_missing(snapshot, lacking)
    for places, names in unreachable.items():
        yield _unreachable(snapshot, places, names)


def _uncovered(snapshot: ClusterSnapshot, facts: NamespaceFacts) -> Finding:
    row = facts.protection
    newest, refused = facts.newest_copy, [cover.schedule for cover in row.covers]
    kept = f" It has older copies: {row.copies.total}." if newest else ""
    names = humanize.join([schedule.name for schedule in refused])
    nothing = (
        f"{names} would take it, but Velero refuses {'it' if len(refused) == 1 else 'them'}"
        if refused
        else (f"No schedule takes anything of {row.namespace}")
    )
    return Finding(
        "namespace-uncovered",
        _severity(facts),
        _ref(snapshot, row),
        None,
        "only a refused schedule takes it" if refused else "no schedule and no NAB takes it",
        f"{nothing}, and it has no NAB of its own.{kept}",
        sentence(
            f"{f'Correct {names}, or create a schedule for it' if refused else 'Create a schedule for it'}",
            Key("cover-namespace"),
            "; or, where it needs no backup, add it to thresholds.ignoredNamespaces of the configuration.",
        ),
        (*((snapshot.ref(newest),) if newest else ()), *(snapshot.ref(schedule) for schedule in refused)),
    )


def _late(snapshot: ClusterSnapshot, found: NamespaceFacts) -> Iterator[Finding]:
    row, promise = found.protection, found.promise
    if promise.by is None or promise.since is None:
        return
    newest, schedule = found.newest_copy, promise.by.schedule
    facts = found.judge.schedule(schedule)
    lost = found.newer_out_of_reach
    is_lost = lost is not None and began(lost) >= promise.since
    since = None if is_lost else found.late_from or promise.since
    server = server_facts(snapshot, schedule.namespace, found.judge.now)
    is_held = server.silent_for is not None and server.since is not None and since is not None and since >= server.since
    blamed = ObjectRef(snapshot.context, QUEUE, schedule.namespace, "") if is_held else None
    if is_lost:
        blamed = _location(snapshot, row.unavailable)
    text = (
        sentence(f"Its newest {_kind_of_copy(found)} is from ", newest.started)
        if newest is not None and newest.started is not None
        else "It has no copy"
    )
    yield Finding(
        "namespace-late",
        _severity(found),
        _ref(snapshot, row),
        since,
        _what_late(found),
        sentence(
            text,
            f"; {schedule.name} promises one from ",
            promise.since,
            " or later.",
            f" Newer ones are in {humanize.join(row.unavailable)}, which Velero cannot use." if is_lost else "",
            sentence(" ", why, ".") if (why := facts.why_not_taken(row.namespace)) else "",
            _pause_note(facts) or coming_note(found.copy_on_its_way, facts),
        ),
        "Fix the storage location first: the newer copies are in reach again then."
        if is_lost
        else _late_remedy(found, facts, server.awaited if server.is_silent else ""),
        (snapshot.ref(schedule),),
        blames=blamed,
        group=_LONG_INCOMPLETE if found.is_long_incomplete else "",
        times_late=found.times_incomplete,
    )


_LONG_INCOMPLETE = "no complete copy for too long"


def _what_late(facts: NamespaceFacts) -> Text:
    if facts.is_long_incomplete and facts.incomplete_for is not None:
        return sentence("no complete copy for ", roughly(facts.incomplete_for))
    return "no copy, though promised" if facts.newest_copy is None else "newest copy older than promised"


def _kind_of_copy(facts: NamespaceFacts) -> str:
    whole = "complete " if facts.is_long_incomplete else ""
    return f"{whole}copy{' in reach' if facts.newer_out_of_reach is not None else ''}"


def _pause_note(facts: ScheduleFacts) -> Text:
    """A sentence on its pause, which is younger than the lateness; "" where it runs."""
    pause = facts.pause
    return sentence(f" {facts.schedule.name} is paused ", pause_note(pause), ".") if pause is not None else ""


def _late_remedy(found: NamespaceFacts, facts: ScheduleFacts, awaited: str) -> Text:
    if awaited:
        return f"First bring {awaited} back: until then no backup completes. The next run then makes a copy."
    if (coming := found.copy_on_its_way) is not None:
        return f"Wait for {coming.name}; if it does not complete, check why and back up now."
    now = f"Back up now with {facts.schedule.name}"
    return sentence(now, Key("back-up-now"), f", and see that it takes {found.protection.namespace}.")


def _expiring(snapshot: ClusterSnapshot, facts: NamespaceFacts) -> Iterator[Finding]:
    row = facts.protection
    newest, until = row.copies.newest, row.copies.last_expiry
    if newest is None or until is None:
        return
    ahead = sentence("; the next run is at ", row.next_run) if row.next_run is not None else "; no run is to come"
    left = until - facts.judge.now
    if facts.has_expired:
        end = sentence("Its last good copy expired at ", until, ", ", -left, " ago, and may be deleted at any moment")
    else:
        end = sentence("Its last good copy expires at ", until, ", in ", left)
    yield Finding(
        "namespace-expiring",
        _severity(facts),
        _ref(snapshot, row),
        None,
        "its last good copy has expired" if facts.has_expired else "its last good copy expires soon",
        sentence(end, ahead, f". It is {newest.name}."),
        sentence("Extend the life of that backup", Key("extend-backup"), ", or back up now", Key("back-up-now"), "."),
        (snapshot.ref(newest), *(snapshot.ref(cover.schedule) for cover in row.covers)),
        blames=snapshot.ref(paused.schedule) if (paused := _paused_cover(row)) is not None else None,
    )


def _paused_cover(row: NamespaceProtection) -> NamespaceCover | None:
    """The paused schedule that would have made another copy; None where another one is to come."""
    if row.next_run is not None:
        return None
    return next((cover for cover in row.covers if cover.schedule.spec.paused), None)


def _partial(snapshot: ClusterSnapshot, facts: NamespaceFacts) -> Finding:
    """Nothing tells since when: copies that are gone may have been complete."""
    row = facts.protection
    copies, newest = row.copies, row.copies.newest_partial
    left_out = f" has {copies.coverage.limits}" if copies.coverage.extent is Extent.PART else " partly failed"
    where = " in reach" if row.lost.good else ""
    return Finding(
        "namespace-partial",
        _severity(facts),
        _ref(snapshot, row),
        None,
        _what_late(facts) if facts.is_long_incomplete else "has only partial copies",
        f"{_none_complete(copies.partial, where)}: {newest.name if newest else 'the newest'}{left_out}.",
        _way_to_all(row),
        (
            *((snapshot.ref(newest),) if newest is not None else ()),
            *(snapshot.ref(cover.schedule) for cover in row.covers),
        ),
        group=_LONG_INCOMPLETE if facts.is_long_incomplete else "",
        times_late=facts.times_incomplete,
    )


def _way_to_all(row: NamespaceProtection) -> Text:
    """How a complete copy comes about: a failure is fixed, and a schedule takes all of it, or is made to."""
    newest, edit, now = row.copies.newest_partial, Key("edit-schedule"), Key("back-up-now")
    whole = next(
        (cover.schedule for cover in row.covers if cover.coverage.extent is Extent.ALL and not cover.is_refused), None
    )
    # Of a copy that was to have a part alone mostly nothing failed: its results are empty.
    if newest is None or newest.phase in FAULTY:
        fix = sentence("See what is missing", *READ_RESULTS, ", fix its cause")
        if whole is None:
            return sentence(fix, ", let the schedule take all of it", edit, ", and back up now", now, ".")
        return sentence(fix, f", and back up now with {whole.name}", now, ".")
    if whole is None:
        return sentence("Let the schedule take all of it", edit, ", and back up now", now, ".")
    return sentence(f"Back up now with {whole.name}", now, f": it takes all of {row.namespace}.")


def _volumes_missing(snapshot: ClusterSnapshot, lacking: Sequence[NamespaceFacts]) -> Iterator[Finding]:
    """Findings on what newest copies lack; of what the next runs leave out too, the finding about these tells."""
    left_out = _left_out_next(snapshot) if lacking else {}
    for facts in lacking:
        row, whys = facts.protection, dict(facts.lacks)
        newest = facts.newest_copy
        if newest is None or whys.keys() <= left_out.get(row.namespace, {}).keys():
            continue
        reasons = humanize.join([f"{name} ({why})" for name, why in whys.items()])
        fix = sentence("See why", *READ_RESULTS, ", fix its cause, and back up now", Key("back-up-now"))
        yield Finding(
            "namespace-volumes-missing",
            _severity(facts),
            _ref(snapshot, row),
            None,
            brief(f"newest copy lacks {humanize.count(len(whys), 'volume')}", "newest copy lacks volumes"),
            f"{humanize.capitalized(facts.why)}: {reasons}.",
            sentence(fix, "; or, where that is meant, let a resource policy skip them."),
            (snapshot.ref(newest), *(snapshot.ref(cover.schedule) for cover in row.covers)),
            blames=snapshot.ref(newest),
        )


def _unreachable(snapshot: ClusterSnapshot, places: tuple[str, ...], names: list[str]) -> Finding:
    where = _location(snapshot, places)
    return Finding(
        "storage-holds-all-copies",
        Severity.ERROR,
        where if len(names) > 1 else ObjectRef(snapshot.context, NAMESPACE.name, "", names[0]),
        None,
        brief(f"the only copies of {len(names):,} namespaces", _ALL_LOST) if len(names) > 1 else _ALL_LOST,
        f"{humanize.join(names)} cannot be restored: every copy is in {humanize.join(places)}, "
        "which Velero cannot use.",
        "Fix the location first; a second location for the schedules that matter most keeps one copy in reach.",
        blames=where,
    )


def _location(snapshot: ClusterSnapshot, names: tuple[str, ...]) -> ObjectRef:
    homes = {item.namespace for item in snapshot.storage if item.name in names}
    return ObjectRef(snapshot.context, STORAGE.name, min(homes, default=""), names[0])


def _severity(facts: NamespaceFacts) -> Severity:
    """As grave as its page shows it."""
    return facts.severity or Severity.NOTE


def _ref(snapshot: ClusterSnapshot, row: NamespaceProtection) -> ObjectRef:
    return ObjectRef(snapshot.context, NAMESPACE.name, "", row.namespace)


def _none_complete(copies: int, where: str) -> str:
    if copies == 1:
        return f"Its only copy{where} is not complete"
    return f"None of its {copies:,} copies{where} is complete"


_REMEDY = (
    "Set spec.template.metadata.labels in Git, so that Velero copies those instead, exclude Backups in Argo CD "
    "(resource.exclusions), or set spec.useOwnerReferencesInBackup; deleting the schedule then deletes them too."
)


def tracked_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Velero copies the marks of a schedule onto its backups; by them Argo CD takes what is not in Git for its own."""
    for schedule in snapshot.schedules:
        annotation = schedule.annotation(ARGO_TRACKING_ID)
        facts = schedule_facts(snapshot, schedule, now)
        copies = _with_tracking_id(facts.runs, annotation) if annotation else facts.prunable
        if copies:
            related = tuple(snapshot.ref(run) for run in copies)
            evidence = _by_annotation(annotation) if annotation else _by_label(schedule, facts.argo_label)
            severity = Severity.NOTE if annotation else Severity.WARNING
            what = "older Argo CD may prune backups" if annotation else "Argo CD may prune its backups"
            remedy = f"Check that your Argo CD ignores copied marks. {_REMEDY}" if annotation else _REMEDY
            yield Finding("backups-tracked", severity, snapshot.ref(schedule), None, what, evidence, remedy, related)


def _with_tracking_id(runs: Iterable[Backup], value: str) -> tuple[Backup, ...]:
    """The backups that Argo CD may prune: one with an owner in the cluster is that owner's child to it."""
    return tuple(run for run in runs if not run.metadata.owner_references and run.annotation(ARGO_TRACKING_ID) == value)


def _by_label(schedule: Schedule, label: str) -> str:
    value = schedule.label(label)
    return (
        f"Its backups have the label {label}={value}, which Velero copied from the schedule. To Argo CD that makes "
        f"them part of the application {value}. They are not in Git, so a sync that prunes deletes the Backup objects; "
        "their data stays in the bucket."
    )


def _by_annotation(value: str) -> str:
    return (
        f"Its backups have the annotation {ARGO_TRACKING_ID}={value}, which Velero copied from the schedule. Older "
        "releases of Argo CD take them for their own and prune them; newer ones see that the mark names the schedule."
    )


def refused_runs(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules whose next run Velero refuses because of their resource policy or snapshot locations."""
    for schedule in snapshot.schedules:
        if not schedule.spec.paused and (refused := snapshot.invalid_run(schedule)):
            yield Finding(
                "next-run-refused",
                Severity.ERROR,
                snapshot.ref(schedule),
                None,
                "its next run will be refused",
                "Velero will refuse each of its runs, and it takes nothing until that is fixed.",
                CORRECT_WHAT_IT_NAMES,
                raw=refused,
            )


def empty_templates(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules whose runs take nothing and are Completed all the same, in this release of Velero."""
    for schedule in snapshot.schedules:
        if not schedule.spec.paused and _may_be_empty(schedule) and (why := snapshot.next_run(schedule).nothing):
            yield Finding(
                "template-takes-nothing",
                Severity.ERROR,
                snapshot.ref(schedule),
                None,
                "its runs take nothing",
                f"{why}. Its backups are Completed, and empty.",
                'Set includedNamespaces to "*", or upgrade Velero.',
            )


def left_out_next(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Volumes that the next run of each schedule of their namespace leaves out, though nobody asked for it."""
    for namespace, whys in _left_out_next(snapshot).items():
        names = list(whys)
        yield Finding(
            "volumes-left-out",
            Severity.WARNING,
            ObjectRef(snapshot.context, NAMESPACE.name, "", namespace),
            None,
            brief(f"next run leaves out {humanize.count(len(names), 'volume')}", "next run leaves out volumes"),
            f"No schedule takes the data of {humanize.join(names)} in its next run. {names[0]}: {whys[names[0]]}."
            f"{_in_newest_copy(snapshot, namespace, names)}",
            "Change a template or its resource policy so that it takes them; or, where that is meant, let a "
            "resource policy skip them.",
        )


def _in_newest_copy(snapshot: ClusterSnapshot, namespace: str, names: Sequence[str]) -> str:
    """A sentence on whether the newest copy has these volumes; "" for no copy."""
    row = snapshot.protection.row(namespace)
    newest = row.copies.usable if row is not None else None
    if row is None or newest is None:
        return ""
    volumes = copied_volumes(snapshot, row)
    held = [one.name for one in volumes.taken if one.name in names]
    unclear = [name for name in volumes.open if name in names]
    sentences = [f"{newest.name} has {humanize.join(held)}."] if held else []
    if unclear:
        sentences.append(f"It is not known whether {newest.name} has {humanize.join(unclear)}: {volumes.unknown}.")
    if not sentences:
        sentences = [f"{newest.name} does not have {'it' if len(names) == 1 else 'them'} either."]
    return f" {' '.join(sentences)}"


def _left_out_next(snapshot: ClusterSnapshot) -> Mapping[str, Mapping[str, str]]:
    """By namespace, the volumes that no next run takes, though nobody asked for it, each with the reason.

    With very many claims none is told: to foretell each of them at every change takes too long.
    """
    if len(snapshot.claims) > _MOST_CLAIMS:
        return {}
    schedules = tuple(_judged(snapshot))
    left_out: dict[str, dict[str, str]] = {}
    elsewhere: set[tuple[str, str]] = set()
    for schedule in schedules:
        for namespace, found in snapshot.next_volumes_of(schedule).items():
            chosen = [one.name for one in found.left_out if one.is_chosen]
            others = (*[one.name for one in found.taken], *[one.name for one in found.open], *chosen)
            elsewhere.update((namespace, name) for name in others)
            left_out.setdefault(namespace, {}).update({one.name: one.why for one in found.left_out})
    nowhere = {
        namespace: {name: whys[name] for name in sorted(whys) if (namespace, name) not in elsewhere}
        for namespace, whys in sorted(left_out.items())
    }
    return {namespace: whys for namespace, whys in nowhere.items() if whys}


def _judged(snapshot: ClusterSnapshot) -> Iterator[Schedule]:
    """The schedules that run, of servers where what decides was read."""
    return (item for item in snapshot.schedules if item.namespace in snapshot.deciding and not item.spec.paused)


def _may_be_empty(schedule: Schedule) -> bool:
    template = schedule.spec.template
    return bool(template.excluded_namespaces) and not template.included_namespaces
