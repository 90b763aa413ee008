"""Findings about what is not visible: an unreachable cluster, kinds that are not allowed, unreadable objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from foretop_core.kube.connection import api_paths
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, EVENT, by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Command, Text, sentence
from foretop_core.rules.triage import Finding, Severity
from foretop_core.rules.triage.finding import brief
from foretop_core.store import ContextHealth, UnreadableObject
from foretop_core.tables.engine.view_scope import A_CONTEXT

_FIX_FIELD = "Correct the field that is named, or delete the object."
_PATIENCE = timedelta(seconds=5)
"""A watch that is broken off and comes back at once is nobody's business."""

_MOST_UNREADABLE = 20
"""More of them are told as a number: a tenant can make thousands."""


def is_visibility_finding(finding: Finding) -> bool:
    """True if it is about something that foretop cannot see; its time is now, whatever stands still."""
    return finding.subject.kind == A_CONTEXT


def visibility_findings(
    context: str, health: ContextHealth, now: datetime, *, seen_before: bool = True
) -> tuple[Finding, ...]:
    """One line for a cluster that is lost; else one for each sort of gap. A fault of foretop's own is told at once."""
    if health.lost_at is None or health.faults:
        return tuple(_gaps(context, health, now))
    return (_lost(context, health, health.lost_at, seen_before),) if now - health.lost_at >= _PATIENCE else ()


def unreadable_findings(context: str, objects: Mapping[ObjectRef, UnreadableObject]) -> tuple[Finding, ...]:
    """The objects of one cluster that no rule could judge, each with the field that is wrong."""
    mine = sorted(
        (key for key in objects if key.context == context and key.kind != EVENT.name),
    )
    named = [_unreadable(key, objects[key].problem) for key in mine[:_MOST_UNREADABLE]]
    more = len(mine) - len(named)
    if more:
        count = humanize.count(more, "more object")
        named.append(
            _finding(
                "objects-unreadable",
                Severity.WARNING,
                context,
                None,
                f"{more:,} more cannot be read",
                f"{count} cannot be read and are not judged. foretop report lists all of them.",
                _FIX_FIELD,
            )
        )
    return tuple(named)


def _unreadable(key: ObjectRef, problem: str) -> Finding:
    text = problem.rpartition("cannot be read: ")[2]
    return Finding(
        "object-unreadable",
        Severity.WARNING,
        key,
        None,
        "not judged: it cannot be read",
        f"It cannot be read, at {text.partition(': ')[0]}: no rule can judge this object, and no page can show more of "
        "it than its name.",
        _FIX_FIELD,
        raw=text,
    )


def _lost(context: str, health: ContextHealth, since: datetime, seen_before: bool) -> Finding:
    signed_out = health.state is WatchState.SIGNED_OUT
    reason = "signed out" if signed_out else brief(_reason(health.error), "out of reach")
    lead = "You are signed out of this cluster." if signed_out else "This cluster is out of reach."
    still = (
        sentence(" Its data is from ", since, ": ages, countdowns and forecasts do not advance.") if seen_before else ""
    )
    sign_in = "Sign in again. " if signed_out else "Check that its API server is running. "
    return _finding(
        "velero-signed-out" if signed_out else "velero-out-of-reach",
        Severity.ERROR,
        context,
        since,
        reason,
        sentence(lead, still),
        f"{sign_in}foretop retries by itself.",
        raw=health.error or "no answer",
    )


def _reason(error: str) -> str:
    """The part of `https://api cannot be reached: connection refused (check the network)` that fits into a row."""
    return (error.partition(": ")[2] or error).partition(" (")[0] or "no answer"


def _gaps(context: str, health: ContextHealth, now: datetime) -> Iterator[Finding]:
    if health.faults:
        kinds = _titles(health.faulty_kinds)
        yield _finding(
            "watch-failed",
            Severity.WARNING,
            context,
            health.since,
            "foretop's watch ended by a fault",
            f"A fault of foretop ended the watch of {kinds}: what is shown of them may be out of date.",
            "foretop starts it again. If this comes back, start foretop with --log-file FILE and report what it says.",
            raw=health.faults[-1],
        )
    elif health.stale and health.since is not None and now - health.since >= _PATIENCE:
        kinds = _titles(health.stale)
        yield _finding(
            "velero-stale",
            Severity.WARNING,
            context,
            health.since,
            brief(f"no updates for {kinds}", "no updates for some lists"),
            f"There are no updates for {kinds}: what is shown of them may be out of date.",
            "foretop retries by itself.",
            raw=health.error or "The API server does not answer",
        )
    if health.unreadable:
        kinds = _titles(health.unreadable_kinds)
        yield _finding(
            "velero-unreadable",
            Severity.WARNING,
            context,
            None,
            f"{humanize.count(health.unreadable, 'message')} cannot be read",
            f"{humanize.count(health.unreadable, 'message')} about {kinds} cannot be read: a change may be missing "
            "until they are listed again.",
            "foretop lists them again when the watch ends. If this comes back, check what is in front of the API "
            "server: a proxy may change its answers.",
            raw=health.unreadable_why,
        )
    if health.missing:
        names = humanize.join(health.missing)
        yield _finding(
            "velero-no-namespace",
            Severity.WARNING,
            context,
            None,
            "no such namespace",
            f"Namespace {names} does not exist in this cluster.",
            sentence("Choose another namespace", Command(":ns NAME", "-n NAME"), "."),
        )
    if health.forbidden:
        kinds = _titles(health.forbidden)
        yield _finding(
            "velero-not-allowed",
            Severity.NOTE,
            context,
            None,
            brief(f"not allowed to see {kinds}", f"{humanize.count(len(health.forbidden), 'list')} not allowed"),
            f"You are not allowed to list and watch {kinds}: every page is missing their data.",
            "Ask for list and watch on them; foretop doctor lists every permission and resource.",
        )
    if health.not_in_archive:
        kinds = _titles(health.not_in_archive)
        many = humanize.count(len(health.not_in_archive), "kind")
        yield _finding(
            "archive-lacks-kinds",
            Severity.NOTE,
            context,
            None,
            f"{many} not in the archive",
            f"The archive has no list of {kinds}: whether there are any is not known, and nothing is judged by them.",
            "Ask for the output of kubectl get KIND -A -o yaml, and open it beside what is there.",
        )
    if health.notes:
        yield _finding(
            "archive-read-in-part",
            Severity.NOTE,
            context,
            None,
            "the archive is read in part",
            f"Not everything in the archive is shown as it is. {'. '.join(health.notes)}.",
            "The rest is shown. Ask for a new archive if something is missing that you need.",
        )
    if health.hides_acknowledgements and not health.not_in_archive:
        yield _finding(
            "acknowledgements-not-allowed",
            Severity.NOTE,
            context,
            None,
            "not allowed to see what is known",
            f"You are not allowed to read the ConfigMap {ACKNOWLEDGEMENTS} beside Velero: findings that somebody has "
            "acknowledged are shown as open.",
            "Ask for get, list and watch on it; foretop doctor --roles prints a role.",
        )
    if health.polled:
        every = humanize.duration(timedelta(seconds=round(health.polled_every)))
        yield _finding(
            "velero-polled",
            Severity.NOTE,
            context,
            None,
            f"{health.polled:,} of {health.watches:,} lists not live",
            f"{health.polled} of {health.watches} lists (kinds and namespaces) are refreshed only every {every}: there "
            f"are connections to watch {health.watches - health.polled} of them.",
            "Raise the limit of open files (ulimit -n), start with -n, or ask for list and watch in all namespaces.",
        )


def _finding(
    code: str,
    severity: Severity,
    context: str,
    since: datetime | None,
    what: str,
    evidence: Text,
    remedy: Text,
    raw: str = "",
) -> Finding:
    subject = ObjectRef(context, A_CONTEXT, "", context)
    return Finding(code, severity, subject, since, what, evidence, remedy, raw=raw)


def _titles(names: Iterable[str]) -> str:
    kinds = [by_name(name) for name in names]
    return humanize.join(sorted(api_paths.title(kind) for kind in kinds if kind is not None), 6)
