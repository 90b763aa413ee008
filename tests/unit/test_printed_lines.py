"""What commands print of others' texts: no sign of foretop's own, no secret, and no time that no zone can tell."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from foretop.commands.get import _tell
from foretop.commands.output import emit, say, say_signed, table, warn
from foretop.commands.report import report_snapshots
from foretop.commands.view_rows import RowChange
from foretop_core.actions.journal import JournalEntry
from foretop_core.dashboard.handover import Handover, handover_text
from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.triage import Finding, Severity
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph
from tests.objects import NOW, backup, location, schedule

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
