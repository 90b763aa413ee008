"""What commands print of others' texts: no sign of foretop's own, no secret, and no time that no zone can tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from foretop.commands.get import _tell
from foretop.commands.output import emit, say, say_signed, table, warn
from foretop.commands.report import report_snapshots
from foretop.commands.view_rows import RowChange
from foretop.commands.watch import _run
from foretop.panes.detail_sections import describe_object
from foretop.panes.empty_state import why_closed
from foretop_core.actions.journal import JournalEntry
from foretop_core.cron import Dialect
from foretop_core.dashboard.handover import Handover, handover_text
from foretop_core.dashboard.plan_table import paused_sentence
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.models import (
    BackupRepository,
    BackupStorageLocation,
    DeleteBackupRequest,
    NonAdminBackupStorageLocation,
    Schedule,
    from_builtins,
)
from foretop_core.models.kinds import NABSL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.nonadmin_facts import nonadmin_facts
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.facts.storage_facts import StorageFacts
from foretop_core.rules.forecast import invalid
from foretop_core.rules.pauses import PAUSED_BY, PAUSED_WHY, PauseInfo, pause_reason
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ObservedChanges, PhaseChange
from foretop_core.rules.storage_readiness import storage_refusal, unready_repository
from foretop_core.rules.triage import Finding, Severity, Thresholds
from foretop_core.rules.triage.nonadmin import went_back
from foretop_core.rules.triage.runs import delete_errors
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph
from foretop_core.tables.resources.repositories import repository_problem
from foretop_core.tables.resources.ticket_text import ticket_text
from tests.objects import NOW, backup, condition, location, nab, nar, schedule
from tests.tui.fake_source import FilledSource

OWN = [*(sign.value for sign in StatusGlyph if sign is not StatusGlyph.UNSET), RESTORE_GLYPH, "│", "▶", "█"]
FORGED = "".join(f"{sign}@" for sign in OWN)
"""Each sign has a mark behind it, so that it is told from foretop's own."""


def signs_in(text: str) -> list[str]:
    return [sign for sign in OWN if f"{sign}@" in text]


def test_no_line_has_a_sign_of_foretop_that_somebody_else_has_written(capsys: pytest.CaptureFixture[str]) -> None:
    say(FORGED, sign="✓ ")
    warn([ForetopError(FORGED)])
    table(("", "NAME"), [("▶", FORGED)], signed=frozenset({0}))
    printed = capsys.readouterr()
    assert signs_in(printed.out + printed.err) == []
    assert printed.out.startswith("✓ \\u25cf@")
    assert "▶" in printed.out
    say_signed("✓@")
    assert signs_in(capsys.readouterr().out) == ["✓"]


def test_no_report_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    objects = [
        location("default", "Unavailable", message=FORGED),
        schedule("s", "0 * * * *", last="01:00:03", phase=FORGED),
        backup("b", FORGED, created="02:35:03"),
    ]
    report_snapshots([(assemble(objects), NOW)], (), "text")
    printed = capsys.readouterr().out
    assert "\\u2713@" in printed
    assert signs_in(printed) == []


@pytest.mark.parametrize("markdown", [False, True])
def test_no_hand_over_has_one(markdown: bool) -> None:
    subject = ObjectRef("", "Schedule", "velero", "s")
    finding = Finding("code", Severity.ERROR, subject, None, FORGED, FORGED, FORGED)
    note = replace(finding, severity=Severity.NOTE)
    paused = schedule("s", "0 * * * *", paused=True, annotations={"foretop.io/paused-by": FORGED})
    handover = Handover(((assemble([paused]), NOW),), (finding, note), (finding,), (), ())
    text = handover_text(handover, ZoneInfo("UTC"), markdown=markdown)
    assert signs_in(text) == []
    assert text.count("\\u2713@".replace("\\", "\\\\") if markdown else "\\u2713@") >= 5
    assert {line.split()[0 if not markdown else 1] for line in text.splitlines() if "error:" in line} == {"✗"}


def test_an_entry_of_a_year_that_no_zone_can_tell_costs_nothing_but_itself() -> None:
    entries = [
        JournalEntry(
            at=at, user="u", context="", kind="Schedule", namespace="velero", name=name, method="PATCH", before={},
            patch={}, result="done",
        )
        for at, name in (
            ("9999-12-31T23:59:59Z", "late"), ("0001-01-01T00:00:00Z", "early"), ("2026-11-15T02:00:00Z", "seen"),
        )
    ]  # fmt: skip
    assert [entry.moment is None for entry in entries] == [True, True, False]
    handover = Handover(((assemble([]), NOW),), (), (), (), tuple(entries))
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        text = handover_text(handover, ZoneInfo(zone))
        assert "velero/seen" in text
        assert "velero/late" not in text


# Sentences with the words of others


def _repository() -> BackupRepository:
    status = {"phase": "NotReady", "message": FORGED}
    return from_builtins(BackupRepository, {"metadata": {"name": "r", "namespace": "velero"}, "status": status})


def _bucket() -> str:
    spec = {"objectStorage": {"bucket": FORGED}}
    status = {"phase": "Unavailable", "message": "NoSuchBucket"}
    place = from_builtins(BackupStorageLocation, {"metadata": {"name": "l"}, "spec": spec, "status": status})
    fault = StorageFacts(place, NOW, assemble([place])).fault
    return fault.sentence if fault is not None else ""


def _invalid(cron: str = "0 2 * * *", error: str = "") -> str:
    odd = from_builtins(
        Schedule, {"spec": {"schedule": cron}, "status": {"phase": "FailedValidation", "validationErrors": [error]}}
    )
    return invalid(odd, Dialect.ROBFIG)


def _paused() -> str:
    notes = {PAUSED_BY: FORGED, PAUSED_WHY: FORGED}
    paused = schedule("s", "0 * * * *", paused=True, annotations=notes)
    snapshot = assemble([paused])
    return "".join(piece.text for piece in paused_sentence(schedule_facts(snapshot, paused, NOW))[1:])


def _ticket() -> str:
    return ticket_text(
        Finding("c", Severity.ERROR, ObjectRef("", "Schedule", "v", "s"), None, "", "", "", raw=FORGED), NOW
    )


def _restoring() -> str:
    done = [condition("Accepted", "True", "ok"), condition("Queued", "True", "ok")]
    item = nar("back", conditions=done, veleroRestore={"name": "r", "namespace": "velero", "status": {"phase": FORGED}})
    return render(nonadmin_facts(assemble([item]), item, NOW).why, NOW)


def _deleting() -> str:
    asked = {"name": "d", "namespace": "velero", "status": {"phase": FORGED}}
    marked = [condition("Deleting", "True", "ok")]
    item = nab("orders", "Deleting", spec={"deleteBackup": True}, conditions=marked, veleroDeleteBackupRequest=asked)
    return render(nonadmin_facts(assemble([item]), item, NOW).why, NOW)


def _went_back() -> str:
    item = nab("orders", FORGED)
    change = PhaseChange(f"B{FORGED}", FORGED, NOW)
    seen = ObservedChanges(went_back={ObjectRef("", "NonAdminBackup", "team-a", "orders"): change})
    (finding,) = went_back(replace(assemble([item]), seen=seen), NOW, Thresholds())
    return render(finding.evidence, NOW)


def _deletion() -> str:
    status = {"phase": "Processed", "errors": ["no"]}
    spec = {"backupName": FORGED}
    request = from_builtins(DeleteBackupRequest, {"metadata": {"name": "d"}, "spec": spec, "status": status})
    (finding,) = delete_errors(assemble([request]), NOW, Thresholds())
    return render(finding.evidence, NOW)


def _tenants_place() -> str:
    meta = {"name": "mine", "namespace": "team-a"}
    source = FilledSource(
        [from_builtins(NonAdminBackupStorageLocation, {"metadata": meta, "status": {"phase": FORGED}})]
    )
    state = DashboardState(source, lambda: 0.0)
    key = source.key(NABSL, "team-a", "mine")
    first, *_ = describe_object(state, key, "overview")
    return "".join(part.text for part in first.spans)


SENTENCES: dict[str, tuple[Callable[[], str], bool]] = {
    "an unready repository": (lambda: unready_repository(_repository()), True),
    "a problem of a repository": (lambda: repository_problem(_repository()), False),
    "a location that is not there": (lambda: storage_refusal(assemble([location()]), "velero", FORGED), True),
    "a bucket": (_bucket, True),
    "an error of validation": (lambda: _invalid(error=FORGED), True),
    "an expression": (lambda: _invalid(FORGED), False),
    "the reason of a pause": (lambda: render(pause_reason(PauseInfo(None, FORGED, FORGED)), NOW), False),
    "a paused schedule": (_paused, False),
    "a ticket": (_ticket, False),
    "a restore of a tenant": (_restoring, True),
    "a deletion of a tenant": (_deleting, True),
    "a phase that went back": (_went_back, True),
    "a deletion with errors": (_deletion, True),
    "a storage location of a tenant": (_tenants_place, True),
    "why no cluster is seen": (
        lambda: "".join(part.text for part in why_closed(ForetopError(FORGED, FORGED))[0][1:]),
        False,
    ),
}
"""Each with whether it stands in quotation marks."""


@pytest.mark.parametrize("name", SENTENCES)
def test_no_sentence_has_a_sign_of_foretop_that_somebody_else_has_written(name: str) -> None:
    sentence, is_quoted = SENTENCES[name]
    told = sentence()
    assert signs_in(told) == []
    assert '"\\u25cf@' in told if is_quoted else "\\u25cf@" in told


SECRET = "https://me:canary@host/x?sig=canary"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_json_and_yaml_have_no_secret_of_others(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    emit({"items": [{"raw": SECRET, "more": {"text": 'password="canary canary"'}}]}, form)
    printed = capsys.readouterr().out
    assert "canary" not in printed
    assert "[hidden]@host/x?[hidden]" in printed


def test_changes_as_json_have_none_either(capsys: pytest.CaptureFixture[str]) -> None:
    key = ObjectRef("prod", "Backup", "velero", "b")
    source: Any = None
    _tell([RowChange("ADDED", key, {"name": "b", "failureReason": SECRET})], source, "json")
    printed = capsys.readouterr().out
    assert "canary" not in printed
    assert '"name":"b"' in printed


async def test_a_hook_is_told_none(tmp_path: Path) -> None:
    item = dict.fromkeys(("severity", "code", "context", "kind", "namespace", "name", "raw"), "x")
    change = RowChange(
        "ADDED", ObjectRef("prod", "Backup", "velero", "b"), {**item, "what": SECRET, "evidence": SECRET}
    )
    await _run(f"(cat; env | grep FORETOP_) > {tmp_path / 'told'}", change)
    told = (tmp_path / "told").read_text()
    assert "canary" not in told
    assert told.count("[hidden]@host/x?[hidden]") == 3
