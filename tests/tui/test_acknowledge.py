"""Findings acknowledged on the screen, with the keys that a person presses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foretop_core.actions.acknowledgement_file import acknowledgements_of
from tests.tui.dashboard_on_box import stand
from tests.tui.pilot import LARGE, MIDDLE


async def test_a_finding_is_hidden_for_the_shift_with_a_reason_and_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("default", tmp_path, monkeypatch, size=LARGE) as at:
        await at.see("h acknowledge")
        first, before = at.shown.names()[0], len(at.shown.names())
        await at.shown.press("h")
        await at.see("Acknowledge storage", "A reason is needed", "Known until", "[ Cancel ]")
        await at.paste("the bucket is being moved")
        await at.shown.press("enter")
        await at.shown.press("right")
        await at.see("end of the shift", "You do not see it until 06:00:00Z", "Nothing is written to the cluster")
        await at.shown.press("enter", "enter")
        await at.send()
        await at.shown.until(lambda: not at.has_dialog and len(at.shown.names()) == before - 1)
        assert first not in at.shown.names()
        assert [one.reason for one in acknowledgements_of(os.environ).read().values()] == ["the bucket is being moved"]
        assert at.writes == []
        await at.see("1 acknowledged (H)")
        await at.shown.press("H")
        await at.shown.until(lambda: "1 acknowledged (H)" not in at.shown.text)
        await at.see("acknowledged by")
        await at.shown.press("home")
        await at.see("until 06:00:00Z: the bucket", "(only you see this)", "h open again")
        await at.shown.press("h")
        await at.see("Open again: storage", "of yours: open again at once")
        await at.send()
        await at.shown.until(lambda: not at.has_dialog and first in at.shown.names())
        assert acknowledgements_of(os.environ).read() == {}
        assert at.shown.faults == []


async def test_what_everybody_sees_is_previewed_and_sent_as_an_annotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("default", tmp_path, monkeypatch, size=MIDDLE) as at:
        await at.see("h acknowledge")
        first = at.shown.names()[0]
        await at.shown.press("h")
        await at.paste("known")
        await at.shown.press("enter", "enter", "right")
        await at.see("everybody sees until", "annotation foretop.io/acknowledged-")
        assert at.writes == []
        await at.shown.press("enter")
        await at.send()
        await at.shown.until(lambda: first not in at.shown.names())
        assert len(at.writes) == 1
        assert at.writes[0].startswith("PATCH ")
        assert acknowledgements_of(os.environ).read() == {}


async def test_the_hand_over_is_read_on_the_screen_and_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with stand("maintenance", tmp_path, monkeypatch) as at:
        await at.shown.until(lambda: bool(at.shown.names()))
        await at.shown.press("ctrl+o")
        await at.see("Hand-over at", "Wrong now (", "C copy as Markdown")
        await at.shown.press("G")
        await at.see("Written by foretop in the last 12 hours")
        await at.shown.press("home")
        await at.see("Hand-over at")
        await at.shown.press("end")
        await at.see("Written by foretop in the last 12 hours")
        await at.shown.press("C")
        await at.shown.until(lambda: at.shown.app.clipboard.startswith("# Hand-over at"))
        await at.shown.press("c")
        await at.shown.until(lambda: at.shown.app.clipboard.startswith("Hand-over at"))
        await at.shown.press("escape")
        assert at.shown.page == "triage"
        assert at.shown.faults == []
