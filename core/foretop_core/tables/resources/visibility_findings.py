"""What is not seen, as findings: a cluster out of reach, kinds that stand still or are not allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from foretop_core.kube.connection import paths
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import by_plural
from foretop_core.rules import humanize
from foretop_core.rules.triage import Finding, Severity, Subject
from foretop_core.store import ContextHealth
from foretop_core.tables.engine.namespace_scope import A_CONTEXT

_PATIENCE = timedelta(seconds=5)
"""A watch that is broken off and comes back at once is nobody's business."""


def is_visibility_finding(finding: Finding) -> bool:
    """It is about what foretop cannot see; its time is now, whatever stands still."""
    return finding.subject.kind == A_CONTEXT


def visibility_findings(
    context: str, health: ContextHealth, now: datetime, *, seen_before: bool = True
) -> tuple[Finding, ...]:
    """One line for a cluster that is lost; else one for each sort of gap."""
    if health.lost_at is None:
        return tuple(_gaps(context, health, now))
    return (_lost(context, health, health.lost_at, now, seen_before),) if now - health.lost_at >= _PATIENCE else ()


def _lost(context: str, health: ContextHealth, since: datetime, now: datetime, seen_before: bool) -> Finding:
    signed_out = health.state is WatchState.SIGNED_OUT
    at = humanize.time(since, now)
    known = f"seen last at {at}" if seen_before else "nothing of it is seen"
    reason = "signed out" if signed_out else _reason(health.error)
    still = f" What is shown of it is of {at}: ages, countdowns and forecasts stand still." if seen_before else ""
    sign_in = (
        "Sign in anew: i does it where a plugin can ask you. " if signed_out else "See whether its API server runs. "
    )
    return _finding(
        "velero-signed-out" if signed_out else "velero-out-of-reach",
        Severity.ERROR,
        context,
        since,
        f"{reason}; {known}",
        f"{health.error or 'It does not answer'}.{still}",
        f"{sign_in}foretop tries again by itself; ctrl+r tries now.",
    )


def _reason(error: str) -> str:
    """Of `https://api cannot be reached: connection refused (check the network)` what fits into a row."""
    return (error.partition(": ")[2] or error).partition(" (")[0] or "no answer"


def _gaps(context: str, health: ContextHealth, now: datetime) -> Iterator[Finding]:
    if health.stale and health.since is not None and now - health.since >= _PATIENCE:
        kinds = _titles(health.stale)
        yield _finding(
            "velero-stale",
            Severity.WARNING,
            context,
            health.since,
            f"nothing new comes in of {kinds}",
            f"{health.error or 'The API server does not answer'}. What is shown of {kinds} may have changed since.",
            "foretop tries again by itself; ctrl+r tries now.",
        )
    if health.missing:
        names = humanize.join(health.missing)
        yield _finding(
            "velero-no-namespace",
            Severity.WARNING,
            context,
            None,
            f"there is no namespace {names}",
            f"foretop was told to look into {names}, which this cluster has not.",
            "Look into another with :ns NAME, or start with another -n.",
        )
    if health.forbidden:
        kinds = _titles(health.forbidden)
        yield _finding(
            "velero-not-allowed",
            Severity.NOTE,
            context,
            None,
            f"not allowed to see {kinds}",
            f"You may not list and watch {kinds}: what they would tell is missing from every page.",
            "Ask for list and watch on them; foretop doctor tells every right, line by line.",
        )


def _finding(
    code: str, severity: Severity, context: str, since: datetime | None, what: str, evidence: str, remedy: str
) -> Finding:
    subject = Subject(A_CONTEXT, "", context)
    return Finding(code, severity, subject, since, what, evidence, remedy, context=context)


def _titles(plurals: Iterable[str]) -> str:
    kinds = [by_plural(plural) for plural in plurals]
    return humanize.join([paths.title(kind) for kind in kinds if kind is not None], 6)
