"""Pause windows on the screen: the list, the finding about one that has overrun, and the key that resumes it."""

from __future__ import annotations

import pytest

from foretop.dialogs.base_modal import ChoicePicker
from foretop_core.models.kinds import SCHEDULE
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY, PAUSED_UNTIL, PAUSED_WHY
from foretop_demo.scenarios.scenario_builder import HOME
from tests.objects import location, schedule
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import MIDDLE, screen

NOTES = {
    PAUSED_BY: "maria",
    PAUSED_WHY: "CHG-4711",
    PAUSED_UNTIL: "2026-11-14T04:30:00Z",
    PAUSED_BATCH: "ab12cd",
}


def is_paused(at: Stand, name: str) -> bool:
    return bool(at.object("Schedule", name)["spec"]["paused"])


async def test_a_window_that_has_overrun_is_resumed_from_triage_with_one_key() -> None:
    async with stand("quiet", size=MIDDLE) as at:
        schedules = at.box.storage.kind("Schedule")
        for name in ("etcd", "mail"):
            change = {"metadata": {"annotations": NOTES}, "spec": {"paused": True}}
            at.box.storage.patch(schedules, HOME, name, change, "foretop")
        at.patch("Schedule", "wiki", {"spec": {"paused": True}})
        await at.see("over, 2 still paused", "by maria: CHG-4711; meant until 14 Nov 04:30Z")
        keys = " ".join(at.shown.pane.split())
        assert "U resume the window" in keys
        assert "s change the pause" in keys
        assert "enter open the schedules" in keys
        assert "u unpause 2 schedules" in keys
        await at.shown.press("U")
        await at.see("Resume window CHG-4711: unpause 2 schedules", "CHG-4711")
        await at.send()
        await at.shown.until(lambda: not is_paused(at, "etcd") and not is_paused(at, "mail"))
        assert is_paused(at, "wiki")


@pytest.mark.sweep
async def test_the_key_of_a_window_is_told_for_its_own_schedules_alone() -> None:
    async with stand("quiet", size=(120, 40)) as at:
        change = {"metadata": {"annotations": NOTES}, "spec": {"paused": True}}
        at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, "etcd", change, "foretop")
        await at.go("2", at.key(SCHEDULE, "etcd"))
        await at.shown.until(lambda: "U unpause window" in at.shown.pane)
        assert "U unpause window" in at.shown.footer
        await at.go("2", at.key(SCHEDULE, "wiki"))
        await at.shown.until(lambda: "U unpause window" not in at.shown.pane)
        assert "U unpause window" not in at.shown.footer


@pytest.mark.sweep
async def test_a_window_is_resumed_by_name_from_any_page() -> None:
    async with stand("quiet") as at:
        change = {"metadata": {"annotations": NOTES}, "spec": {"paused": True}}
        at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, "etcd", change, "foretop")
        await at.shown.until(lambda: "‖" in at.shown.status)
        await at.shown.press("7", "colon", *"resume", "enter")
        await at.see("Resume window CHG-4711: unpause 1 schedule")


async def test_a_window_is_changed_as_a_whole_from_the_list_of_them() -> None:
    async with stand("quiet") as at:
        change = {"metadata": {"annotations": NOTES}, "spec": {"paused": True}}
        for name in ("etcd", "mail"):
            at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, name, change, "foretop")
        await at.see("over, 2 still paused")
        await at.shown.press("colon", *"windows", "enter")
        await at.shown.press("j", "k")
        await at.see("ab12cd 2 schedules, meant until 14 Nov 04:30Z, overrun by", "by maria: CHG-4711 (etcd and mail)")
        await at.see("s change all of it, U resume all of it")
        await at.shown.press("s")
        await at.see("─ Change the pause of 2 schedules in ")
        await at.shown.press(*"+1h")
        await at.see("+1h", "[CHG-4711 ")


@pytest.mark.sweep
async def test_beside_a_finding_about_the_server_the_key_resumes_the_only_window() -> None:
    async with stand("dead", size=MIDDLE) as at:
        change = {"metadata": {"annotations": {**NOTES, PAUSED_UNTIL: ""}}, "spec": {"paused": True}}
        at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, "etcd-hourly", change, "foretop")
        await at.see("Velero is down")
        await at.shown.until(lambda: "paused" in at.shown.status or "‖" in at.shown.status)
        await at.shown.press("U")
        await at.see("Resume window CHG-4711: unpause 1 schedule")


async def test_the_command_lists_the_windows_and_leads_to_the_schedules_of_one() -> None:
    paused = [schedule(name, paused=True, annotations=NOTES) for name in ("etcd", "mail")]
    async with screen(FilledSource([location(), schedule("audit"), *paused])) as shown:
        await shown.press("colon", *"windows", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, ChoicePicker))
        assert "ab12cd  2 schedules" in shown.text
        assert "by maria: CHG-4711" in shown.text
        await shown.press("enter")
        await shown.until(lambda: shown.page == "schedules")
        assert shown.table.cursor is not None
        assert shown.table.cursor.name == "etcd"


async def test_without_a_window_the_command_says_so() -> None:
    async with screen(FilledSource([location(), schedule("audit", paused=True)])) as shown:
        await shown.press("colon", *"windows", "enter")
        told = "No pause of foretop: 1 by somebody; u on page 2 unpauses"
        await shown.until(lambda: told in str(shown.app.told))


@pytest.mark.sweep
async def test_the_list_of_windows_is_as_wide_as_it_needs_to_say_until_when() -> None:
    notes = {**NOTES, PAUSED_WHY: "the upgrade of all nodes"}
    paused = [schedule(name, paused=True, annotations=notes) for name in ("etcd", "mail")]
    async with screen(FilledSource([location(), *paused]), MIDDLE) as shown:
        await shown.press("colon", *"windows", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, ChoicePicker))
        assert "meant until 14 Nov 04:30Z" in shown.text


async def test_the_key_that_resumes_says_on_triage_who_has_paused_what_no_window_holds() -> None:
    async with screen(FilledSource([location(), schedule("audit", paused=True)])) as shown:
        shown.source.clusters = {"prod-eu": None}  # type: ignore[dict-item]  # nothing is written
        await shown.press("U")
        assert shown.app.told[-1][1].startswith("No pause of foretop: 1 by somebody;")


async def test_footer_and_help_tell_apart_the_keys_that_pause_and_unpause() -> None:
    async with stand("quiet") as at:
        change = {"metadata": {"annotations": NOTES}, "spec": {"paused": True}}
        at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, "etcd", change, "foretop")
        await at.go("2", at.key(SCHEDULE, "etcd"))
        await at.shown.until(lambda: "s change pause  u unpause  U unpause window" in at.shown.footer)
        await at.shown.press("question_mark")
        await at.see(
            "s change the end or the reason of a pause",
            "u unpause: choose what becomes of a run that is due",
            "U unpause all that one window paused together, and no other",
        )
