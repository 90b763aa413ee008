"""What foretop fails to judge or show is a finding, for each cluster; "No problems" is not said meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from foretop import cli
from foretop.panes.triage_pane import calm as calm_page
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity, Thresholds, rules
from foretop_core.tables.resources.runs import BackupsView
from tests.tui.fake_source import FilledSource, calm

pytestmark = pytest.mark.usefixtures("as_for_a_user")


def fails_in_eu(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for item in snapshot.backups:
        if snapshot.context in ("eu", ""):
            raise OverflowError("date value out of range")
        yield Finding("seen", Severity.ERROR, snapshot.ref(item), None, "seen", "seen", "nothing")


def _state(source: FilledSource) -> DashboardState:
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    return state


def test_a_rule_that_fails_in_one_cluster_is_named_and_the_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RULES", (fails_in_eu,))
    state = _state(FilledSource(calm(), ("eu", "us")))
    assert sorted((found.context, found.code) for found in state.findings) == [("eu", "judging-failed"), ("us", "seen")]
    assert state.severities()[Severity.WARNING] == 1


def test_nothing_is_called_well_before_it_was_judged_or_while_a_rule_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    state = DashboardState(FilledSource(calm()), lambda: 0.0)
    assert [piece.text for line in calm_page(state) for piece in line] == ["◐ ", "Not known yet."]
    state.judge(at_once=True)
    assert "No problems." in [piece.text for line in calm_page(state) for piece in line]
    monkeypatch.setattr(rules, "RULES", (fails_in_eu,))
    assert calm_page(_state(FilledSource(calm(), ("eu",)))) == []


def test_a_cluster_that_cannot_be_judged_at_all_is_named_and_the_others_are_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = FilledSource(calm(), ("eu", "us"))
    original = source.store.snapshot

    def snapshot(context: str) -> ClusterSnapshot:
        if context == "eu":
            raise RecursionError("too deep")
        return original(context)

    monkeypatch.setattr(source.store, "snapshot", snapshot)
    monkeypatch.setattr(rules, "RULES", (fails_in_eu,))
    state = _state(source)
    assert sorted((found.context, found.code) for found in state.findings) == [("eu", "judging-failed"), ("us", "seen")]
    assert [gap.reason for gap in state.unseen] == ["judging failed: RecursionError: too deep"]


def test_an_object_that_cannot_be_read_is_a_finding_with_its_field() -> None:
    source = FilledSource(calm())
    sink = source.store.sink(WatchScope("prod-eu", BACKUP), source.manual)
    sink.unreadable("velero", "odd", "Backup velero/odd cannot be read: status.expiration: not a time")
    (found,) = _state(source).findings
    assert (found.subject.name, found.what) == ("odd", "not judged: it cannot be read")
    assert "status.expiration" in f"{found.evidence} {found.raw}"


def test_thousands_of_unreadable_objects_are_told_as_a_number() -> None:
    source = FilledSource(calm())
    sink = source.store.sink(WatchScope("prod-eu", SCHEDULE), source.manual)
    for number in range(3000):
        sink.unreadable("velero", f"odd-{number}", "spec: not an object")
    found = _state(source).findings
    assert len(found) == 21
    assert found[-1].what == "2,980 more cannot be read"


def test_a_row_that_fails_is_one_bad_row_and_a_finding_until_its_object_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = FilledSource(calm())
    state = _state(source)
    rows = StoreTableModel(state, BackupsView())

    def breaks(*_: object) -> Backup:
        raise ValueError("no \x1b]0;row\x07")

    monkeypatch.setattr(BackupsView, "mark", breaks)
    (row,) = rows.paint(0, 5)
    assert any("cannot be shown: ValueError" in cell.text for cell in row.cells)
    assert all(cell.text.isprintable() for cell in row.cells)
    state.judge()
    assert [found.what for found in state.findings] == ["hidden by a fault in foretop"]
    assert "a row of backups failed" in state.findings[0].raw
    source.change(BACKUP, {"metadata": {"name": row.key.name, "namespace": "velero"}, "status": {"phase": "Completed"}})
    state.judge(at_once=True)
    assert "judging-failed" not in [found.code for found in state.findings]


def test_an_entry_that_cannot_be_made_is_one_bad_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> Backup:
        raise ValueError("no entry")

    monkeypatch.setattr(BackupsView, "entry", breaks)
    state = _state(FilledSource(calm()))
    rows = StoreTableModel(state, BackupsView())
    (row,) = rows.paint(0, 5)
    assert any("no row can be made: ValueError: no entry" in cell.text for cell in row.cells)
    assert rows.item(row.key)["unreadable"] == "no row can be made: ValueError: no entry"


def test_a_filter_that_fails_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> str:
        raise ValueError("no phase")

    state = _state(FilledSource(calm()))
    rows = StoreTableModel(state, BackupsView())
    monkeypatch.setattr(BackupsView, "phase", breaks)
    rows.narrow("phase:Failed")
    assert len(rows.table) == 1


def _report(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    backup = {"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": {"name": "one", "namespace": "velero"}}
    (folder / "file.json").write_text(json.dumps(backup))
    code = cli.run(["report", "-f", str(folder / "file.json"), "--at", "2026-11-15T02:41:07Z"])
    return code, capsys.readouterr().out


def test_report_exits_with_three_where_a_rule_failed_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "RULES", ())
    assert _report(tmp_path, capsys)[0] == 0
    monkeypatch.setattr(rules, "RULES", (fails_in_eu,))
    code, said = _report(tmp_path, capsys)
    assert code == 3
    assert "rule fails_in_eu failed for backup velero/one: OverflowError" in said
    assert "No problems" not in said


def test_report_names_an_object_out_of_range_and_judges_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two objects that made Triage say "Nothing wrong" for every cluster."""
    meta = {"namespace": "team-a", "creationTimestamp": "2026-11-01T00:00:00Z"}
    odd = [
        {
            "apiVersion": "psc.cronprimer.local/v1alpha1",
            "kind": "PreScaledCronJob",
            "metadata": {**meta, "name": "odd"},
            "spec": {"warmUpTimeMins": 99999999999, "cronJob": {"spec": {"schedule": "0 5 * * *"}}},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {**meta, "name": "autogen-odd"},
            "spec": {"schedule": "0 4 * * *"},
        },
        {
            "apiVersion": "velero.io/v1",
            "kind": "Backup",
            "metadata": {**meta, "name": "old"},
            "status": {"expiration": "0001-01-01T00:00:00+14:00"},
        },
        {
            "apiVersion": "velero.io/v1",
            "kind": "Schedule",
            "metadata": {**meta, "name": "broken"},
            "spec": {"schedule": "0 0 * * 8"},
        },
    ]
    (tmp_path / "odd.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": odd}))
    code = cli.run(["report", "-f", str(tmp_path / "odd.json"), "--at", "2026-11-15T02:41:07Z"])
    said = capsys.readouterr()
    assert code == 1
    assert "PreScaledCronJob team-a/odd cannot be read: spec.warmUpTimeMins" in said.err
    assert "Backup team-a/old cannot be read: status.expiration: the year 1 is not within 2 to 9998" in said.err
    assert "invalid cron, makes no backups" in said.out
    assert "Traceback" not in said.err


def test_a_fault_of_a_command_is_one_line_and_a_private_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> int:
        raise ZeroDivisionError("no use: Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("foretop.commands.report.report_snapshots", breaks)
    code, _ = _report(tmp_path, capsys)
    (report,) = (tmp_path / "foretop").glob("crash-*.txt")
    assert code == 2
    assert report.stat().st_mode & 0o777 == 0o600
    assert "eyJhbGci" not in report.read_text()
