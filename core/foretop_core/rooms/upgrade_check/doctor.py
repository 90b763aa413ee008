"""The words of the doctor: what the newest release would change on a server."""

from __future__ import annotations

from datetime import datetime

from foretop_core.rooms.upgrade_check.server_upgrades import server_upgrades, target
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import NEWEST_KNOWN
from foretop_core.rules.snapshot import ClusterSnapshot


def cron_note(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> tuple[str, str]:
    """A sentence for the line of a server's cron, and a remedy; each may be empty."""
    verdict = snapshot.full_verdict(namespace)
    _, newest = target(NEWEST_KNOWN)
    upgrade = next((each for each in server_upgrades(snapshot, newest, now) if each.namespace == namespace), None)
    changed = upgrade.changed if upgrade is not None else 0
    if newest in verdict.candidates and not changed:
        return "", ""
    total = humanize.count(upgrade.schedules if upgrade is not None else 0, "schedule")
    remedy = "run foretop upgrade-check to see what changes and what to write instead" if changed else ""
    if changed and not verdict.is_certain:
        remedy = f"give the release with --velero-version; {remedy}"
    return f". An upgrade to {NEWEST_KNOWN} changes {changed} of {total}", remedy
