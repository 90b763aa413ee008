"""`get findings` prints what Triage shows: the same findings, in every scene of the demo and where nothing comes in."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest

from foretop.commands.view_rows import FindingRows
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionState
from foretop_core.rules.triage import Thresholds, triage
from foretop_core.session import Session
from tests.examples import sampled
from tests.settled_scenes import SCENE_NAMES, settled
from tests.tui.fake_source import FilledSource

_HOUR = timedelta(hours=1)
_BUSY = timedelta(minutes=11)
"""Long enough for the default scene, in which seven thousand writes an hour take as long as all other scenes."""


def source_of(name: str, passed: timedelta) -> FilledSource:
    objects, now = settled(name, passed)
    return FilledSource([*objects], at=now)


def printed(source: FilledSource) -> list[str]:
    rows = FindingRows(cast("Session", source), "")
    rows.pump()
    return sorted(item["id"] for item in rows.items().values())


def shown(source: FilledSource) -> list[str]:
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    model = FindingsTableModel(state)
    model.pump()
    return sorted(finding.id for _, finding in model.table)


_LATE = {name: _BUSY if name == "default" else _HOUR for name in SCENE_NAMES}
_SOON = timedelta(minutes=2)
_TIMES = [("default", _HOUR), *((name, passed) for name in SCENE_NAMES for passed in (_SOON, _LATE[name]))]
_EACH_RUN = (("default", _SOON), ("maintenance", _HOUR), ("nonadmin-status", _HOUR), ("outage", _HOUR))


@pytest.mark.parametrize("when", sampled(_TIMES, *_EACH_RUN), ids=lambda when: f"{when[0]} after {when[1]}")
def test_the_command_line_prints_the_findings_that_triage_shows(when: tuple[str, timedelta]) -> None:
    source = source_of(*when)
    assert printed(source) == shown(source)


@pytest.mark.sweep
def test_a_namespace_whose_last_copy_expires_is_a_finding_where_the_protection_page_says_so() -> None:
    said = 0
    for name, passed in _LATE.items():
        source = source_of(name, passed)
        now, snapshot = source.clock("").now(), source.store.snapshot(source.contexts[0])
        judge = ProtectionJudge(snapshot, now, Thresholds().protection)
        rows = (row for one in snapshot.protection.names if (row := snapshot.protection.row(one)) is not None)
        expiring = {row.namespace for row in rows if judge.facts(row).state is ProtectionState.EXPIRING}
        told = {one.subject.name for one in triage(snapshot, now).findings if one.code == "namespace-expiring"}
        assert expiring == told, name
        said += len(told)
    assert said


def test_what_cannot_be_seen_is_a_finding_on_the_command_line_too() -> None:
    source = source_of("quiet", _HOUR)
    assert not any("velero-stale" in one for one in printed(source))
    source.fare(BACKUP, WatchState.STALE, "connection refused")
    source.clock("").advance(timedelta(minutes=1))
    assert any("velero-stale" in one for one in printed(source))
    assert printed(source) == shown(source)
