from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.clock import ManualClock
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import sentence
from foretop_core.rules.triage import Finding, Severity, triage
from foretop_core.rules.triage.finding import Acknowledgement
from foretop_core.store import Store
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.findings import (
    FindingFacets,
    finding_item,
    kind_word,
    subject_and_what,
    subject_text,
)
from foretop_core.tables.resources.ticket_text import ticket_text
from tests.objects import NOW, location, schedule
from tests.tui.fake_source import FilledSource

FIELDS = {"context", "kind", "namespace", "name", "code", "severity", "since", "evidence", "remedy", "related", "id"}


def finding(
    code: str, severity: Severity, name: str, minutes: int | None = 5, kind: str = "Schedule", what: str = "late"
) -> Finding:
    since = None if minutes is None else NOW - timedelta(minutes=minutes)
    return Finding(code, severity, ObjectRef("prod", kind, "velero", name), since, what, "seen", "fix")


def triage_table(*found: Finding) -> FindingsTableModel:
    table = FindingsTableModel(DashboardState(FilledSource([], ("prod",)), lambda: 0.0))
    show(table, *found)
    return table


def show(table: FindingsTableModel, *found: Finding) -> bool:
    table.state.findings = found
    table.state.findings_revision += 1
    return table.pump()


def shown(table: FindingsTableModel) -> list[list[str]]:
    return [[row.mark.value, *(cell.text for cell in row.cells)] for row in table.paint(0, 99)]


def test_the_severity_of_an_acknowledged_finding_is_dim() -> None:
    found = finding("overdue", Severity.ERROR, "known")
    by_maria = Acknowledgement(
        finding=found.id, by="maria", at=NOW, severity=Severity.ERROR, statement="late", reason="CHG-4711"
    )
    known = replace(found, acknowledged=by_maria)
    rows = triage_table(known, finding("overdue", Severity.ERROR, "new")).paint(0, 9)
    assert {row.mark.value: row.cells[0].tone for row in rows} == {"✗": Tone.BAD, "✓": Tone.DIM}


def test_of_a_new_error_since_when_it_is_there_is_bright() -> None:
    new, old = finding("overdue", Severity.ERROR, "new"), finding("overdue", Severity.ERROR, "old", minutes=10)
    warning, never = finding("overdue", Severity.WARNING, "warning"), finding("overdue", Severity.ERROR, "never", None)
    by_maria = Acknowledgement(finding=new.id, by="maria", at=NOW, severity=Severity.ERROR, statement="late", reason="")
    table = triage_table(
        new, old, warning, never, replace(finding("late", Severity.ERROR, "known"), acknowledged=by_maria)
    )
    rows = {row.key.name: row.cells[1].tone for row in table.paint(0, 9)}
    assert [name for name, tone in rows.items() if tone is Tone.BRIGHT] == [new.id]


def test_the_worst_and_oldest_finding_comes_first() -> None:
    table = triage_table(
        finding("note", Severity.NOTE, "c"),
        finding("overdue", Severity.ERROR, "b", 12),
        finding("stuck", Severity.WARNING, "w"),
        finding("bsl", Severity.ERROR, "s3-us", 120, "BackupStorageLocation", "unavailable: \x1b[2J"),
        finding("idle", Severity.ERROR, "", None, ""),
    )
    assert shown(table) == [
        ["✗", "error", "2h", "storage velero/s3-us", "velero", "unavailable: \\x1b[2J"],
        ["✗", "error", "12m", "schedule velero/b", "velero", "late"],
        ["✗", "error", "", "queue velero", "velero", "late"],
        ["▲", "warning", "5m", "schedule velero/w", "velero", "late"],
        ["○", "note", "5m", "schedule velero/c", "velero", "late"],
    ]


def test_a_tenant_s_backup_is_shown_by_its_short_name() -> None:
    assert subject_text(finding("x", Severity.NOTE, "ledger", kind="NonAdminBackup")) == "nab velero/ledger"


def test_the_same_findings_again_are_not_a_change() -> None:
    first, second = finding("a", Severity.ERROR, "one", 9), finding("b", Severity.ERROR, "two", 8)
    table = triage_table(first, second)
    assert not show(table, first, second)
    worse = finding("b", Severity.ERROR, "two", 8, what="later")
    third = finding("c", Severity.NOTE, "three")
    assert show(table, worse, third)
    assert [shown for _, shown in table.table] == [worse, third]


def test_findings_are_filtered_by_their_own_fields() -> None:
    table = triage_table(finding("overdue", Severity.ERROR, "etcd"), finding("paused", Severity.WARNING, "mongo"))
    table.narrow("severity:warning")
    assert [row[3] for row in shown(table)] == ["schedule velero/mongo"]
    table.narrow("code:over* !mongo kind:schedule")
    assert [row[3] for row in shown(table)] == ["schedule velero/etcd"]
    with pytest.raises(BadInput):
        table.narrow("phase:Failed")


def test_findings_are_found_by_what_their_row_says() -> None:
    first = replace(finding("overdue", Severity.ERROR, "etcd"), what=sentence("due since ", NOW))
    table = triage_table(first, finding("paused", Severity.WARNING, "mongo", 90))
    for text, names in (("02:41:07Z", ["etcd"]), ("since:1h30m", ["mongo"]), ("subject:*etcd", ["etcd"])):
        table.narrow(text)
        assert [row[3].rpartition("/")[2] for row in shown(table)] == names, text
    without_a_moment = FindingFacets(first)
    assert without_a_moment.contains("etcd")
    assert without_a_moment.field("since") == ""


def test_findings_sort_by_their_columns() -> None:
    table = triage_table(finding("a", Severity.ERROR, "b"), finding("b", Severity.NOTE, "a"))
    table.sort("subject", reverse=False)
    assert [row[1] for row in shown(table)] == ["note", "error"]
    with pytest.raises(BadInput):
        table.sort("colour", reverse=False)
    assert table.sorted_by == "subject"


def test_what_triage_finds_in_a_store_has_the_fields_of_the_contract() -> None:
    store, clock = Store(), ManualClock(NOW)
    store.fill("prod", [schedule("bad", "0 0 * * 8"), location("s3", "Unavailable", message="denied")], clock)
    found = triage(store.snapshot("prod"), NOW).findings
    assert {item.subject.name for item in found} >= {"bad", "s3"}
    for item in found:
        assert set(finding_item(item, NOW)) >= FIELDS
        assert finding_item(item, NOW)["context"] == "prod"


def test_a_finding_as_text_for_a_ticket_has_all_that_the_reader_needs() -> None:
    cause = finding("velero-no-pulse", Severity.ERROR, "velero", kind="Deployment", what="silent")
    found = replace(finding("overdue", Severity.ERROR, "etcd"), evidence=sentence("due at ", NOW), because=cause)
    assert ticket_text(found, NOW).splitlines() == [
        "Cluster:  prod",
        "Object:   schedule velero/etcd",
        "Finding:  error: late",
        "Since:    2026-11-15T02:36:07Z (5 minutes)",
        "Cause:    deploy velero/velero: silent",
        "Evidence: due at 02:41:07Z",
        "Do:       fix",
        "Command:  foretop describe schedule velero/etcd --context prod",
        "As of:    2026-11-15T02:41:07Z",
    ]


def test_a_line_of_many_names_each_of_them_and_one_about_no_object_the_list() -> None:
    members = tuple(finding("backup-failed", Severity.WARNING, name, kind="Backup") for name in "ab")
    gathered = replace(members[0], subject=ObjectRef("prod", "Backup", "", ""), members=members)
    text = ticket_text(gathered, NOW)
    assert "Object:   2 backups\n" in text
    assert "Command:  foretop get findings --context prod\n" in text
    assert "These:    backup velero/a, since 2026-11-15T02:36:07Z\nAlso:     backup velero/b, since " in text
    queue = replace(finding("queue-stalled", Severity.ERROR, ""), subject=ObjectRef("a b", "", "velero", ""))
    assert "foretop get findings --context 'a b'" in ticket_text(queue, NOW)


@pytest.mark.parametrize(
    ("kind", "many"),
    [
        ("Namespace", "2 namespaces"),
        ("BackupStorageLocation", "2 storage locations"),
        ("BackupRepository", "2 repositories"),
        ("NonAdminBackup", "2 nabs"),
    ],
)
def test_several_are_counted_in_a_word_that_exists(kind: str, many: str) -> None:
    members = tuple(finding("code", Severity.WARNING, name, kind=kind) for name in "ab")
    assert subject_text(replace(members[0], members=members)) == many


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("BackupStorageLocation", "storage"),
        ("NonAdminRestore", "nar"),
        ("Schedule", "schedule"),
        ("BackupRepository", "repository"),
    ],
)
def test_a_kind_has_one_word_in_triage_and_in_the_list_of_jumps(kind: str, word: str) -> None:
    assert kind_word(kind) == word


def test_a_server_that_is_down_is_told_by_its_name_in_one_sentence() -> None:
    down = finding("velero-no-pulse", Severity.ERROR, "", kind="")
    told = subject_and_what(down, "down: pod in CrashLoopBackOff")
    assert told == "Velero in velero is down: pod in CrashLoopBackOff"
    assert subject_and_what(down, "storage hangs, nothing is done") == "velero velero: storage hangs, nothing is done"
    late = finding("schedule-overdue", Severity.ERROR, "etcd")
    assert subject_and_what(late, "down: no") == "schedule velero/etcd: down: no"
