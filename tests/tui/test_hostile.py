"""Text from a cluster stays text: it moves no cursor, colours nothing, and breaks no line."""

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace
from textual.scrollbar import ScrollBar

from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.models import Backup, BackupStorageLocation, NonAdminBackup, Schedule, from_builtins
from foretop_core.models.kinds import NAB
from foretop_core.models.wire import Resource
from foretop_core.pages import TABS
from foretop_core.rules.triage.finding import Acknowledgement
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph
from foretop_core.tables.text.terminal_text import width
from tests.objects import NOW
from tests.tui.fake_source import FilledSource, backup_dict, meta, troubled
from tests.tui.pilot import LARGE, SMALL, screen

_EVIL = "a\x1b[2J\x1b]0;own\x07\u202e[bold red]x[/]\r\n\u200bé\u0301漢字"
_PLACES = ["1", "2", "3", "4", "7", "8", "9"]


def _evil() -> list[Resource]:
    status = {"phase": _EVIL, "message": _EVIL, "lastValidationTime": "2026-11-15T02:41:03Z"}
    condition = {"type": _EVIL, "status": _EVIL, "reason": _EVIL, "message": _EVIL}
    return [
        from_builtins(Schedule, {"metadata": meta(_EVIL), "spec": {"schedule": _EVIL}, "status": {"phase": _EVIL}}),
        from_builtins(Backup, backup_dict(_EVIL, _EVIL, "2026-11-15T01:00:03Z", failureReason=_EVIL)),
        from_builtins(BackupStorageLocation, {"metadata": meta(_EVIL), "status": status}),
        from_builtins(
            NonAdminBackup, {"metadata": meta(_EVIL, _EVIL), "status": {"phase": _EVIL, "conditions": [condition]}}
        ),
    ]


def _is_harmless(text: str) -> bool:
    return all(letter == "\n" or (letter.isprintable() and letter not in "\u202e\u200b") for letter in text)


async def test_no_control_code_of_an_object_reaches_the_screen() -> None:
    seen: set[str] = set()
    async with screen(FilledSource(_evil())) as shown:
        for place in _PLACES:
            for key in (place, "enter", "y"):
                await shown.press(key)
                seen.add(shown.page)
                assert _is_harmless(shown.text)
                assert shown.faults == []
    assert {"detail", *(one.id for one in TABS if str(one.digit) in _PLACES)} <= seen


@pytest.mark.sweep
async def test_every_line_is_as_wide_as_the_screen_whatever_is_in_it() -> None:
    async with screen(FilledSource(_evil())) as shown:
        for place in _PLACES:
            await shown.press(place)
            for strip in shown.app.screen._compositor.render_strips():
                assert width(strip.text) == SMALL[0]


async def test_what_is_copied_and_told_is_harmless_too() -> None:
    async with screen(FilledSource(_evil())) as shown:
        await shown.press("7", "c")
        assert _is_harmless(shown.app.told[-1][1])
        assert "\\x1b[2J" in shown.app.told[-1][1]


async def test_an_object_that_cannot_be_read_is_one_bad_row() -> None:
    source = FilledSource(troubled())
    from foretop_core.kube.watching.watch_sink import WatchScope

    sink = source.store.sink(WatchScope("prod-eu", NAB), source.manual)
    sink.unreadable("team-odd", "puzzle", "status.phase: expected str, got int")
    async with screen(source) as shown:
        await shown.press("3")
        assert "puzzle" in shown.names()
        assert "ledger" in shown.names()
        await shown.on(source.key(NAB, "team-odd", "puzzle"))
        assert "cannot be read" in shown.pane
        await shown.press("enter")
        assert "cannot be read: status.phase" in shown.text


@pytest.mark.sweep
async def test_ascii_means_ascii() -> None:
    async with screen(display_options=DisplayOptions(ascii=True, flash=False)) as shown:
        for place in _PLACES:
            await shown.press(place)
            assert shown.text.isascii(), [line for line in shown.lines if not line.isascii()]
        await shown.press("question_mark")
        assert shown.text.isascii(), [line for line in shown.lines if not line.isascii()]


def test_the_ends_of_a_scrollbar_are_ascii_too() -> None:
    bars = [ScrollBar.renderer.render_bar(15, 33, 15, position).segments for position in range(19)]
    assert "".join(piece.text for bar in bars for piece in bar).isascii()


async def test_without_colour_every_state_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "NO_COLOR", "1")
    async with screen() as shown:
        await shown.press("2")
        strips = shown.app.screen._compositor.render_strips()
        assert "✗ broken" in shown.text
        assert "‖ cassandra" in shown.text
        painted = [
            segment.style.color
            for strip in strips
            for segment in strip.apply_filter(shown.app._filters[-1], shown.app.screen.styles.background)
            if segment.style
        ]
        assert not any(color is not None and not color.is_default for color in painted)


_OWN = [sign.value for sign in StatusGlyph if sign is not StatusGlyph.UNSET] + [RESTORE_GLYPH, "│", "█"]
"""Signs by which foretop tells something."""


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_no_sign_of_foretop_in_the_text_of_an_object_reaches_the_screen(size: tuple[int, int]) -> None:
    """Every sign of an object has a mark behind it, so that it is told from foretop's own."""
    forged = "".join(f"{sign}@" for sign in _OWN)
    condition = {"type": forged, "status": forged, "reason": forged, "message": forged}
    velero = {"name": "n", "namespace": "velero", "status": {"phase": forged, "failureReason": forged}}
    status = {
        "phase": forged,
        "message": forged,
        "validationErrors": [forged],
        "conditions": [condition],
        "veleroBackup": velero,
    }
    location = {"metadata": meta("main"), "spec": {"provider": forged}, "status": status}
    source = FilledSource(
        [
            from_builtins(Schedule, {"metadata": meta("hourly"), "spec": {"schedule": forged}, "status": status}),
            from_builtins(Backup, backup_dict("one", forged, "2026-11-15T01:00:03Z", failureReason=forged)),
            from_builtins(BackupStorageLocation, location),
            from_builtins(NonAdminBackup, {"metadata": meta("orders", "team-a"), "status": status}),
        ]
    )
    async with screen(source, size) as shown:
        spelt = set()
        for place in _PLACES:
            for key in (place, "enter", "y"):
                await shown.press(key)
                assert not [f"{sign}@" for sign in _OWN if f"{sign}@" in shown.text], shown.text
                spelt |= {shown.page} if "\\u2713@" in shown.text else set()
        assert {"detail", "schedules", "backups"} <= spelt


async def test_what_somebody_gives_as_a_reason_stays_text_in_the_row_of_a_known_finding() -> None:
    source = FilledSource([from_builtins(Schedule, {"metadata": meta("late"), "spec": {"schedule": "0 * * * *"}})])
    async with screen(source, LARGE) as shown:
        state = shown.app.main_screen.state
        assert state is not None
        (found, *_) = state.findings
        entry = Acknowledgement(
            finding=found.id, by="eve\x1b[2J", at=NOW, severity=found.severity, statement="", reason="✓ fine\u202e"
        )
        cells = FindingsTableModel(state).cells(replace(found, acknowledged=entry), state.render_context_of(found))
        told = " ".join(cell.text for cell in cells)
        assert "acknowledged by eve\\x1b[2J" in told
        assert _is_harmless(told)
        assert "✓" not in told


async def test_what_a_tenant_writes_does_not_look_like_a_word_of_foretop() -> None:
    forged = "denied. │ ✓ No problems. All is done by 05:10Z"
    condition = {"type": "Accepted", "status": "False", "reason": forged, "message": forged}
    refused = {"metadata": meta("orders", "team-a"), "status": {"phase": "BackingOff", "conditions": [condition]}}
    source = FilledSource([from_builtins(NonAdminBackup, refused)])
    async with screen(source, LARGE) as shown:
        for key in ("1", "3", "enter", "y"):
            await shown.press(key)
            assert "✓ No problems" not in " ".join(shown.text.split())
        await shown.press("3")
        pane = " ".join(shown.pane.split())
        assert 'The controller refuses it: "denied. \\u2502 \\u2713 No problems.' in pane
