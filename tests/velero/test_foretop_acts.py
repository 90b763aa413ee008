"""foretop at work on a real Velero: what it says an action will do is what Velero then does."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from tests.terminal import Terminal
from tests.velero.forecasts import TOLERANCE, Forecast, Verdict
from tests.velero.foretop_command import ForetopCommand
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import EVERY_MINUTE, NOT_DUE, start_on_beat, wait_until_available
from tests.velero.velero_cluster import TEAMS, VELERO_NAMESPACE, ServerFlags, StorySteps
from tests.velero.velero_log import SUBMITTED

AT_ONCE, SKIPPED = "one backup is created at once", "no backup now, skips the run"
NOT_NOW = "no backup now, none is due"
SLOW_SECONDS = 12.0
_DOWN = "\x1b[B"


@pytest.fixture
def foretop(cluster: RealVeleroCluster, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE), tmp_path)


@pytest.mark.seconds(65)
def test_unpausing_does_what_foretop_said(
    cluster: RealVeleroCluster, foretop: ForetopCommand, verdicts: list[tuple[str, Verdict]]
) -> None:
    steps = StorySteps(cluster)
    steps.wait_for_second(50)
    cases = tuple(product(("true", "false", ""), ((True, EVERY_MINUTE), (False, NOT_DUE))))
    for skip, (due, cron) in cases:
        steps.schedule(_name(skip, due), cron, paused=True)
    start_on_beat(steps, ServerFlags(concurrent_backups=5))
    wait_until_available(steps)
    broken = []
    for skip, (due, _) in cases:
        name = _name(skip, due)
        words = ("--skip-immediately", skip) if skip else ()
        made_at = cluster.now()
        (planned,) = foretop.items("schedule", "unpause", name, *words, "--yes", "--no-wait")
        did = _answer(cluster, name, due)
        kept = planned["forecast"].startswith(did)
        outcome = "kept" if kept else "broken"
        why = "" if kept else f"{planned['forecast']!r}, and Velero did: {did}"
        verdict = Verdict(Forecast(made_at, "unpause", name, made_at), outcome, why)
        verdicts.append(("unpausing by foretop", verdict))
        broken += [why] if why else []
    assert broken == []


def _answer(cluster: RealVeleroCluster, name: str, due: bool) -> str:
    """What Velero decided first about a schedule that was paused until now, by its own log."""
    cluster.wait_until(lambda: cluster.velero.read_log().of(name))
    if cluster.velero.read_log().of(name)[0].message == SUBMITTED:
        return AT_ONCE
    schedule = cluster.find("Schedule", name) or {}
    return SKIPPED if due and "lastSkipped" in (schedule.get("status") or {}) else NOT_NOW


def _name(skip: str, due: bool) -> str:
    return f"{skip or 'left'}-{'due' if due else 'waits'}"


@pytest.mark.seconds(180)
def test_the_queue_is_shown_in_the_order_in_which_velero_takes_it(
    cluster: RealVeleroCluster, foretop: ForetopCommand, verdicts: list[tuple[str, Verdict]]
) -> None:
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    wait_until_available(steps)
    cluster.freeze_storage()
    for name, team in zip("abcd", (TEAMS[0], TEAMS[0], TEAMS[1], TEAMS[2]), strict=True):
        steps.backup(name, team)
        steps.wait_for_phase("Backup", name, "Queued", "InProgress")
        cluster.wait(1.1)
    steps.wait_for_phase("Backup", "a", "InProgress")
    cluster.wait(1)
    made_at = cluster.now()
    items = foretop.items("get", "queue")
    assert [item["name"] for item in items if item["phase"] == "InProgress"] == ["a"]
    expected = [item["name"] for item in sorted(items, key=lambda item: item["position"] or 0)]
    cluster.unfreeze_storage()
    steps.wait_until_idle()
    started = sorted(steps.runs(), key=lambda item: _order(cluster, item["metadata"]["name"]))
    actual = [item["metadata"]["name"] for item in started]
    for name in expected:
        kept = expected.index(name) == actual.index(name)
        why = "" if kept else f"place {expected.index(name) + 1}, and Velero took it as number {actual.index(name) + 1}"
        verdict = Verdict(Forecast(made_at, "queue order", name, made_at), "kept" if kept else "broken", why)
        verdicts.append(("queue by foretop", verdict))
    assert actual == expected


def _order(cluster: RealVeleroCluster, name: str) -> datetime:
    """When it was seen InProgress first."""
    return next(
        entry.at
        for entry in cluster.events
        if entry.plural == "backups"
        and entry.body["metadata"]["name"] == name
        and (entry.body.get("status") or {}).get("phase") == "InProgress"
    )


@pytest.mark.seconds(60)
def test_the_estimated_end_is_where_the_next_run_of_the_same_length_ends(
    cluster: RealVeleroCluster, foretop: ForetopCommand, verdicts: list[tuple[str, Verdict]]
) -> None:
    """Storage is frozen for a while in each run: three of them are the history, and the fourth is estimated from it."""
    story = "estimated end by foretop"
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.schedule("slow", NOT_DUE)
    lengths = [_slow_run(cluster, f"slow-{number}") for number in range(3)]
    usual = sorted(lengths)[1]
    _begin_slow_run(cluster, "slow-4")
    made_at = cluster.now()
    (shown,) = [item for item in foretop.items("get", "queue") if item["name"] == "slow-4"]
    started, completed = _end_slow_run(cluster, "slow-4")
    if shown["expectedEnd"] is None and "already longer" in shown["note"]:
        verdicts.append((story, Verdict(Forecast(made_at, "estimated end", "slow-4", made_at), "void", shown["note"])))
        return
    predicted = datetime.fromisoformat(shown["expectedEnd"])
    late = completed - predicted
    allowed = abs((completed - started) - usual) + TOLERANCE
    outcome = "kept" if abs(late) <= allowed else "broken"
    why = "" if outcome == "kept" else f"it ended {late.total_seconds():.0f} s later"
    verdict = Verdict(Forecast(made_at, "estimated end", "slow-4", predicted), outcome, why)
    verdicts.append((story, verdict))
    assert outcome == "kept", why


def _slow_run(cluster: RealVeleroCluster, name: str) -> timedelta:
    _begin_slow_run(cluster, name)
    started, completed = _end_slow_run(cluster, name)
    return completed - started


def _begin_slow_run(cluster: RealVeleroCluster, name: str) -> None:
    cluster.freeze_storage()
    spec = {"includedNamespaces": [TEAMS[0]], "ttl": "1h0m0s"}
    cluster.create("Backup", name, spec, labels={"velero.io/schedule-name": "slow"})
    StorySteps(cluster).wait_for_phase("Backup", name, "InProgress")


def _end_slow_run(cluster: RealVeleroCluster, name: str) -> tuple[datetime, datetime]:
    cluster.wait(SLOW_SECONDS)
    cluster.unfreeze_storage()
    StorySteps(cluster).wait_for_phase("Backup", name, "Completed")
    status = (cluster.find("Backup", name) or {})["status"]
    return datetime.fromisoformat(status["startTimestamp"]), datetime.fromisoformat(status["completionTimestamp"])


@pytest.mark.seconds(60)
def test_the_dashboard_unpauses_with_real_keys(
    cluster: RealVeleroCluster, tmp_path: Path, verdicts: list[tuple[str, Verdict]]
) -> None:
    """In a terminal of 120 by 40: the dialog says that one backup is created at once, and one is."""
    steps = StorySteps(cluster)
    steps.wait_for_second(50)
    steps.schedule("late", EVERY_MINUTE, paused=True)
    start_on_beat(steps)
    wait_until_available(steps)
    kubeconfig = cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE)
    home = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "foretop", "--kubeconfig", str(kubeconfig)]
    with Terminal(command, environ=home) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.press("2")
        terminal.shows("CRON")
        terminal.shows(lambda lines: any(re.search(r"late .* paused +due", line) for line in lines))
        terminal.press("u")
        terminal.shows("Do not skip")
        terminal.press(_DOWN)
        terminal.shows(lambda lines: any("● Do not skip" in line for line in lines))
        terminal.shows("one backup is created at once")
        made_at = datetime.now(UTC)
        assert steps.runs("late") == []
        terminal.press("\t\t\r")
        did = _answer(cluster, "late", due=True)
        kept = did == AT_ONCE
        why = "" if kept else f"Velero did: {did}"
        verdict = Verdict(Forecast(made_at, "unpause", "late", made_at), "kept" if kept else "broken", why)
        verdicts.append(("unpausing by keys", verdict))
        assert kept
        terminal.shows(lambda lines: any("late" in line and "paused" not in line for line in lines))
