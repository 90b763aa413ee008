"""Findings acknowledged on the screen, with the keys that a person presses."""

from __future__ import annotations

import json
from typing import Any

from foretop_core.models.kinds import ACKNOWLEDGEMENTS
from foretop_demo.access import Rule, User
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import LARGE, MIDDLE

HOME = "openshift-adp"


def entries(at: Stand) -> list[dict[str, Any]]:
    held = at.box.storage.find(at.box.storage.kind("ConfigMap"), HOME, ACKNOWLEDGEMENTS)
    return [json.loads(text) for text in ((held or {}).get("data") or {}).values()]


async def test_a_finding_is_hidden_for_the_shift_with_a_reason_and_shown_again() -> None:
    async with stand("default", size=LARGE) as at:
        await at.see("h acknowledge")
        first, before = at.shown.names()[0], len(at.shown.names())
        await at.shown.press("h")
        await at.see("Acknowledge storage", "A reason is needed", "Known until", "[ Cancel ]")
        await at.paste("the bucket is being moved")
        await at.shown.press("enter")
        await at.shown.press("right")
        await at.see("end of the shift", "everybody sees until 06:00:00Z", ACKNOWLEDGEMENTS)
        assert at.writes == []
        await at.shown.press("enter")
        await at.send()
        await at.shown.until(lambda: len(at.writes) == 1)
        assert at.writes[0].startswith("POST ")
        await at.shown.press("escape")
        await at.shown.until(lambda: not at.has_dialog and len(at.shown.names()) == before - 1)
        assert first not in at.shown.names()
        assert [one["reason"] for one in entries(at)] == ["the bucket is being moved"]
        await at.see("1 acknowledged (H)")
        await at.shown.press("H")
        await at.shown.until(lambda: "1 acknowledged (H)" not in at.shown.text)
        await at.see("acknowledged by")
        await at.shown.press("home")
        await at.see("until 06:00:00Z: the bucket", "h open again")
        await at.shown.press("h")
        await at.see("Open again: storage", "everybody sees it among the open findings again")
        await at.send()
        await at.shown.until(lambda: entries(at) == [])
        await at.shown.press("escape")
        await at.shown.until(lambda: not at.has_dialog and first in at.shown.names())
        assert at.shown.faults == []


async def test_what_a_colleague_acknowledges_disappears_and_comes_back_at_once() -> None:
    async with stand("default", size=MIDDLE) as at:
        await at.see("h acknowledge")
        first = at.shown.names()[0]
        await at.shown.press("h")
        await at.paste("known")
        await at.send()
        await at.shown.until(lambda: first not in at.shown.names() or not at.has_dialog)
        await at.shown.press("escape")
        await at.shown.until(lambda: first not in at.shown.names())
        at.box.storage.delete(at.box.storage.kind("ConfigMap"), HOME, ACKNOWLEDGEMENTS)
        await at.shown.until(lambda: first in at.shown.names())


async def test_who_may_not_write_there_is_told_so_in_the_dialog() -> None:
    reader = User("maria", (Rule(("get", "list", "watch"), ("*",), ("*",)),))
    async with stand("default", size=MIDDLE, user=reader) as at:
        await at.see("h acknowledge")
        await at.shown.press("h")
        await at.paste("known")
        await at.see("Cannot acknowledge: create on configmaps in", "is not allowed")
        await at.shown.press("escape")
        assert at.writes == []


async def test_the_hand_over_is_read_on_the_screen_and_copied() -> None:
    async with stand("maintenance") as at:
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
