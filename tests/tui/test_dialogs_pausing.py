"""Stop schedules for maintenance, and start them again with no surprise backup."""

from __future__ import annotations

import asyncio
import re
import time

import pytest

from foretop.dialogs.dialog_parts import RadioList
from foretop.dialogs.pause_dialogs import PauseDialog
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import RAISED
from foretop_core.dashboard.action_service import TrackedPlan
from foretop_core.models.kinds import SCHEDULE
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY, PAUSED_UNTIL, PAUSED_WHY
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.status import ApiError
from tests.examples import sampled
from tests.tui.dashboard_on_box import Stand, stand, unfolded
from tests.tui.pilot import MIDDLE, SMALL

DUE = "etcd-hourly"
VIEWER = User("viewer", (Rule(("get", "list", "watch"), ("*",), ("*",)),))


def schedule(at: Stand, name: str) -> dict[str, object]:
    return at.object("Schedule", name)["spec"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
@pytest.mark.sweep
async def test_the_dialog_says_what_each_way_of_unpausing_would_do(size: tuple[int, int]) -> None:
    async with stand("maintenance", size=size) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see(
            "╭─ Unpause etcd-hourly in minicluster, openshift-adp ─",
            "‖ Paused for 2 hours by maria; 2 runs missed since 01:00Z.",
            "CHOICE BACKUP NOW NEXT RUN NEWEST COPY",
            "● Skip what is due no 03:00 in ",
            "○ Do not skip, as set yes 03:00 in ",
            "Writes spec.paused true → false, spec.skipImmediately false → true",
            "no backup now, skips the run due since 01:00:00Z, 2 runs missed",
            "c copy command",
        )
        assert (size == MIDDLE) == any(" now " in line and "02:40" in line for line in at.shown.lines)


async def test_the_last_field_tells_that_enter_leads_to_the_action_and_tab_does_not() -> None:
    """It had told `enter/tab next`: tab led to Cancel, and the next enter closed the dialog with nothing done."""
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("up/down/space choose · enter to the action · tab next · esc/q close")
        await at.shown.press("tab")
        await at.see("enter close · tab/right next")
        await at.shown.press("shift+tab", "enter")
        await at.see("enter confirm · left/shift+tab back")


@pytest.mark.sweep
async def test_the_chosen_row_is_raised_where_a_theme_has_a_colour_for_it_and_else_its_first_cell_is_reversed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("● Skip what is due")
        choices = at.shown.app.screen.query_one(RadioList)
        plain = [segment.style for segment in choices.render_line(1) if segment.text.strip() and segment.style]
        assert [bool(style.reverse) for style in plain[:3]] == [False, True, False]
        at.shown.app.show_theme("dark")
        for y in (1, 2):
            styles = [segment.style for segment in choices.render_line(y) if segment.style]
            assert all((style.bgcolor == RAISED.bgcolor) is (y == 1) and not style.reverse for style in styles)


async def test_the_forecast_of_an_open_dialog_stays_true() -> None:
    # Three seconds a minute: fast enough to wait for the next, and slow enough for a busy machine to see this one.
    async with stand("maintenance", speed=20) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("Skip what is due no 03:00 in 2")
        told = next(line for line in at.shown.lines if "Skip what is due" in line)
        await at.shown.until(
            lambda: any("Skip what is due" in one and "03:00" in one and one != told for one in at.shown.lines)
        )
        at.patch("Schedule", DUE, {"spec": {"schedule": "0 4 * * *"}})
        await at.see("no backup now, none is due; next run 04:00:00Z")
        assert at.writes == []


async def test_a_plan_is_made_again_when_its_cluster_moves_and_not_every_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        dialog, plans = at.dialog, []
        plan = dialog.make_plan

        def counted() -> TrackedPlan:
            plans.append(plan())
            return plans[-1]

        monkeypatch.setattr(dialog, "make_plan", counted)
        dialog.replan()
        for _ in range(5):
            dialog.pulse()
        assert len(plans) == 1
        at.patch("Schedule", DUE, {"spec": {"schedule": "0 4 * * *"}})
        await at.shown.until(lambda: len(plans) > 1)


@pytest.mark.sweep
async def test_a_plan_that_takes_long_is_not_made_again_at_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        dialog, moments = at.dialog, list[float]()
        plan = dialog.make_plan

        def slow() -> TrackedPlan:
            moments.append(time.monotonic())
            time.sleep(0.1)
            return plan()

        monkeypatch.setattr(dialog, "make_plan", slow)
        for hour in range(4, 24):
            at.patch("Schedule", DUE, {"spec": {"schedule": f"0 {hour} * * *"}})
            await asyncio.sleep(0.05)
        await at.see("next run 23:00:00Z")
        assert len(moments) <= 5, "of twenty changes"


async def test_messages_and_what_was_sent_have_one_format_of_time() -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u", "enter", "enter")
        await at.see("✓ patched")
        await at.shown.press("escape", "m")
        await at.see("Sent by you, newest first")
        sent = [line for line in at.shown.lines if f"openshift-adp/{DUE}" in line]
        assert sent
        assert all(re.search(r"│ +\d\d:\d\d:\d\dZ  ", line) for line in sent), sent


async def test_every_way_out_sends_nothing() -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        for way in (("tab", "enter"), ("escape",), ("q",), ("ctrl+c",)):
            await at.shown.press("u")
            assert at.has_dialog
            await at.shown.press(*way)
            assert not at.has_dialog
            assert at.shown.app.told[-1][1] == "Nothing was changed"
        assert at.shown.app.is_running
        assert at.writes == []


async def test_where_nothing_is_due_only_a_choice_that_is_taken_is_written() -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, "audit-weekly"))
        await at.shown.press("u")
        await at.see(
            "○ Skip what is due",
            "● Do not skip, as set",
            "Nothing is due, so there is nothing to skip now.",
            "Then no backup now, none is due",
            "Writes spec.paused true → false",
        )
        assert "spec.skipImmediately" not in at.shown.text
        await at.shown.press("up")
        await at.see("● Skip what is due", "spec.skipImmediately absent → true", "none is due, so nothing to skip now")
        await at.send()
        await at.shown.until(lambda: schedule(at, "audit-weekly")["paused"] is False)
        assert len(at.writes) == 1
        await at.shown.until(lambda: "lastSkipped" in at.object("Schedule", "audit-weekly")["status"])


NOTES = {
    PAUSED_BY: "maria",
    PAUSED_WHY: "CHG-4711",
    PAUSED_UNTIL: "2026-11-15T04:30:00Z",
    PAUSED_BATCH: "ab12cd",
}


def hold(at: Stand, *names: str, until: str = NOTES[PAUSED_UNTIL]) -> None:
    """Pauses them as one window of foretop."""
    change = {"metadata": {"annotations": {**NOTES, PAUSED_UNTIL: until}}, "spec": {"paused": True}}
    for name in names:
        at.box.storage.patch(at.box.storage.kind("Schedule"), HOME, name, change, "foretop")


def notes(at: Stand, name: str) -> dict[str, str]:
    return at.object("Schedule", name)["metadata"].get("annotations") or {}


@pytest.mark.parametrize("size", sampled((SMALL, MIDDLE), SMALL))
async def test_a_pause_is_extended_with_its_own_key(size: tuple[int, int]) -> None:
    async with stand("quiet", size=size) as at:
        hold(at, "mail")
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.until(lambda: "s change pause" in at.shown.footer)
        before = schedule(at, "mail")
        await at.shown.press("s")
        await at.see("─ Change the pause of mail in ", "[CHG-4711", "[04:30Z", "‖ Paused for ", "Nothing to send.")
        await at.shown.press(*"+2h")
        await at.see(
            "missed until 06:30Z",
            "Then it stays paused until 06:30:00Z, and not 04:30:00Z",
            "foretop.io/paused-until 2026-11-15T04:30:00Z → 2026-11-15T06:30:00Z",
            "[ Change the pause of mail ]",
        )
        await at.shown.press("enter", "enter", "enter")
        await at.see("✓ patched")
        assert notes(at, "mail") == {**NOTES, PAUSED_UNTIL: "2026-11-15T06:30:00Z"}
        assert schedule(at, "mail") == before
        (line,) = at.journal
        assert line.patch["metadata"]["annotations"] == {PAUSED_UNTIL: "2026-11-15T06:30:00Z"}


async def test_marks_of_paused_and_of_others_are_one_plan_and_it_says_so() -> None:
    async with stand("quiet") as at:
        hold(at, "mail")
        hold(at, "wiki", until="2026-11-15T05:00:00Z")
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.until(lambda: "05:00" in at.shown.text)
        await at.shown.press("*", "s")
        await at.see("─ Pause 3 schedules in ")
        await at.shown.press("tab", *"2h")
        await at.see(
            "─ Pause 3 schedules, change the pause of 2 in ",
            "2 are paused already: only their reason and end change.",
            "END WAS",
            "not paused",
        )
        await at.send()
        await at.shown.until(lambda: all(schedule(at, name).get("paused") for name in ("etcd", "mail", "wiki")))
        await at.see("5 of 5 done.", "U unpauses the 3 schedules paused now again, and no others.")
        assert notes(at, "mail")[PAUSED_WHY] == "CHG-4711"
        assert notes(at, "mail")[PAUSED_BATCH] == notes(at, "wiki")[PAUSED_BATCH] == "ab12cd"
        assert notes(at, "mail")[PAUSED_UNTIL] == notes(at, "etcd")[PAUSED_UNTIL] != NOTES[PAUSED_UNTIL]


async def test_a_schedule_that_is_unpaused_under_way_is_not_paused_again() -> None:
    async with stand("quiet") as at:

        def meddle(_method: str, _path: str) -> None:
            at.before_write = lambda method, path: None
            at.patch("Schedule", "mail", {"spec": {"paused": False}})

        hold(at, "mail")
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.until(lambda: "s change pause" in at.shown.footer)
        await at.shown.press("s", *"+2h")
        await at.see("missed until 06:30Z")
        at.before_write = meddle
        await at.send()
        await at.see(
            "modified by someone else in the meantime (it is no longer paused)", "Not possible: it is no longer paused."
        )
        assert schedule(at, "mail")["paused"] is False
        assert notes(at, "mail")[PAUSED_UNTIL] == NOTES[PAUSED_UNTIL]


@pytest.mark.sweep
async def test_the_finding_of_a_window_that_is_over_offers_to_extend_it() -> None:
    async with stand("quiet", size=MIDDLE) as at:
        hold(at, "mail", "wiki", until="2026-11-15T02:00:00Z")
        await at.see("over, 2 still paused", "set a later end (s)", "s change the pause", "enter open the schedules")
        await at.shown.press("s")
        await at.see("─ Change the pause of 2 schedules in ")
        await at.shown.press("ctrl+u", *"2h")
        await at.see("1 run is missed until 04:", "NAME END WAS MISSES")
        await at.send()
        await at.see("2 of 2 done.")
        assert schedule(at, "mail")["paused"] is True


@pytest.mark.sweep
async def test_the_table_says_of_when_it_is_while_a_field_is_wrong() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("*", "s")
        await at.see("Pause 5 schedules")
        assert "as of" not in at.shown.text
        await at.shown.press("tab", *"25:99")
        await at.see("'25:99' is not a valid end", "The table is as of", "it goes on once the error is corrected.")
        await at.shown.press("ctrl+u", *"2h")
        await at.shown.until(lambda: "The table is as of" not in at.shown.text)


async def test_a_wrong_field_has_the_cursor_after_its_error() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("s", *"upgrade", "enter", *"25:99", "enter")
        assert at.shown.app.told[-1][1] == "Correct this field first; see the error above"
        assert isinstance(field := at.shown.app.focused, Prompt)
        assert field.value == "25:99"
        await at.shown.press("tab", "tab", "enter")
        assert at.shown.app.told[-1][1] == "Not sent; see the error above"
        assert at.shown.app.focused is field
        await at.shown.press("ctrl+u", *"2h", "enter", "enter")
        await at.see("✓ patched")


@pytest.mark.sweep
async def test_unpausing_a_due_schedule_with_skip_is_followed_until_velero_has_skipped() -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.send()
        await at.see("✓ patched 02:3", "Velero picked it up 02:3", "skips what was due")
        assert schedule(at, DUE)["paused"] is False
        assert at.writes == ["PATCH /apis/velero.io/v1/namespaces/openshift-adp/schedules/etcd-hourly"]
        (line,) = at.journal
        assert (line.name, line.result, line.before["spec"]["paused"]) == (DUE, "done", True)
        await at.shown.press("enter")
        assert not at.has_dialog


async def test_unpausing_without_skip_names_the_backup_that_starts() -> None:
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u", "down")
        await at.see("one backup is created at once: due since 01:00:00Z, 2 runs missed")
        await at.send()
        await at.see("Velero picked it up, backup etcd-hourly-20261115023")


@pytest.mark.sweep
async def test_a_dialog_closed_too_early_tells_afterwards_in_a_toast() -> None:
    async with stand("maintenance") as at:
        await at.stop_velero()
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.send()
        await at.see("◐ patched")
        await at.shown.press("q")
        at.start_velero()
        await at.shown.until(lambda: any("skips what was due" in text for _, text in at.shown.app.told))


async def test_read_only_shows_forecast_and_line_and_sends_nothing() -> None:
    async with stand("maintenance", read_only=True) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("skips the run due since 01:00:00Z", "c copy command", "[ Close ]")
        assert at.shown.text.count("Read-only, nothing is sent") == 1
        assert "CHOICE" not in at.shown.text
        assert "[ Unpause" not in at.shown.text
        await at.shown.press("enter")
        assert not at.has_dialog
        assert at.writes == []


@pytest.mark.sweep
async def test_with_read_only_the_footer_holds_out_no_writes() -> None:
    async with stand("maintenance", read_only=True) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        assert "enter open" in at.shown.footer
        assert "unpause" not in at.shown.footer
        await at.shown.press("u")
        assert at.has_dialog


async def test_a_key_that_finds_nothing_to_do_says_so() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("u")
        assert at.shown.app.told[-1][1] == "mail is not paused"
        await at.shown.press("U")
        assert at.shown.app.told[-1][1] == "No schedule is paused"
        assert "unpause" not in at.shown.footer
        await at.shown.press("space", "u")
        assert at.shown.app.told[-1][1] == "None of the marked schedules is paused"
        assert not at.has_dialog


async def test_a_missing_right_is_named_before_anything_is_sent() -> None:
    async with stand("maintenance", user=VIEWER) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("Cannot unpause: patch on schedules.velero.io in openshift-adp is not allowed")
        await at.send()
        assert at.shown.app.told[-1][1] == "Not sent; see the error above"
        assert at.writes == []
        assert schedule(at, DUE)["paused"] is True


async def test_somebody_else_changes_the_schedule_under_way_and_the_person_is_asked_again() -> None:
    async with stand("maintenance") as at:

        def meddle(_method: str, _path: str) -> None:
            at.before_write = lambda method, path: None
            at.patch("Schedule", DUE, {"spec": {"skipImmediately": True}})

        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        at.before_write = meddle
        await at.send()
        await at.see(
            "etcd-hourly was modified by someone else in the meantime. Nothing was sent for it.",
            "Was spec.paused true → false, spec.skipImmediately false → true",
            "Now spec.paused true → false",
        )
        assert schedule(at, DUE)["paused"] is True
        await at.shown.until(lambda: "Writes spec.paused true → false c copy command" in unfolded(at.shown.lines))
        await at.send()
        await at.see("skips what was due")


@pytest.mark.sweep
async def test_velero_writes_the_object_under_way_and_nobody_is_asked_as_the_plan_is_the_same() -> None:
    async with stand("maintenance") as at:

        def meddle(_method: str, _path: str) -> None:
            at.before_write = lambda method, path: None
            at.patch("Schedule", DUE, {"metadata": {"labels": {"seen": "yes"}}})

        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        at.before_write = meddle
        await at.send()
        await at.see("skips what was due")
        assert len(at.writes) == 2


async def test_several_are_told_one_by_one_and_the_rest_can_be_repeated() -> None:
    async with stand("maintenance") as at:

        def refuse(_method: str, path: str) -> None:
            if path.endswith("mail-30m"):
                at.before_write = lambda method, path: None
                raise ApiError(422, "Invalid", "a webhook would not have it")

        for name in (DUE, "mail-30m", "sessions-15m"):
            await at.go("2", at.key(SCHEDULE, name))
            await at.shown.press("space")
        await at.shown.press("/", *"hourly", "enter", "u")
        await at.see("Unpause 3 schedules", "2 of these are hidden by the filter", "3 skip what is due")
        at.before_write = refuse
        await at.send()
        await at.see("2 of 3 done, 1 not.", "mail-30m: failed: a webhook would not have it.", "[ Repeat for the rest ]")
        assert "…" not in at.shown.text.partition("RESULT")[2].partition("[ Close ]")[0]
        assert not at.shown.table.marked, "marks end when their action is sent"
        assert at.shown.text.count("webhook") == 1
        assert at.shown.app.told[-1][1].startswith("2 of 3 done; not mail-30m: ")
        await at.send()
        await at.see("Unpause mail-30m", "spec.paused true → false")
        assert len(at.writes) == 3
        await at.send()
        await at.see("patched", "skips what was due")
        assert len(at.writes) == 4
        assert schedule(at, "mail-30m")["paused"] is False


async def test_pausing_leaves_word_for_the_next_shift_and_resuming_takes_exactly_what_was_paused() -> None:
    async with stand("quiet") as at:
        at.patch("Schedule", "wiki", {"spec": {"paused": True}})
        for name in ("etcd", "mail"):
            await at.go("2", at.key(SCHEDULE, name))
            await at.shown.press("space")
        await at.shown.press("s")
        await at.see("Pause 2 schedules", "spec.paused false → true")
        await at.shown.press(*"upgrade", "tab", *"25:00")
        await at.see("'25:00' is not a valid end")
        await at.shown.press("backspace", "backspace", "backspace", "backspace", "backspace", *"2h", "tab")
        await at.send()
        await at.see("2 of 2 done.")
        notes = at.object("Schedule", "etcd")["metadata"]["annotations"]
        assert notes[PAUSED_WHY] == "upgrade"
        assert "maria" in notes[PAUSED_BY]
        assert notes[PAUSED_BATCH] == at.object("Schedule", "mail")["metadata"]["annotations"][PAUSED_BATCH]
        await at.shown.press("enter", "ctrl+\\", "m")
        await at.see("2 Schedules in openshift-adp (mail and etcd) done: spec.paused false → true")
        await at.shown.press("escape", "U")
        await at.see("Resume window", "unpause 2 schedules", "Window since", "by maria", ": upgrade; meant until")
        await at.send()
        await at.shown.until(lambda: not schedule(at, "etcd")["paused"] and not schedule(at, "mail")["paused"])
        assert schedule(at, "wiki")["paused"] is True


@pytest.mark.sweep
async def test_who_pauses_is_known_before_anything_is_shown_to_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pause of a session had shown the login of the machine, and sent the name that the cluster knows."""
    shown: set[str] = set()
    draw = PauseDialog.draw

    def noting(self: PauseDialog) -> None:
        draw(self)
        steps = self.planned.plan.steps if self.planned is not None else ()
        shown.update(line for step in steps for line in step.changes if PAUSED_BY in line)

    monkeypatch.setattr(PauseDialog, "draw", noting)
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "etcd"))
        await at.shown.press("s")
        await at.see("Writes spec.paused false → true and 3 annotations")
        await at.send()
        await at.see("✓ patched ")
        written = at.object("Schedule", "etcd")["metadata"]["annotations"][PAUSED_BY]
        assert shown == {f"annotation {PAUSED_BY}: {written}"}


@pytest.mark.sweep
async def test_what_waits_for_a_refresh_while_the_dialog_closes_is_dropped() -> None:
    """Textual hands it to the screen below, which is refreshed after the parts of the dialog were removed."""
    async with stand("quiet") as at:
        await at.shown.press("2", "s")
        await at.see("Pause")
        dialog = at.dialog
        later: list[str] = []

        def late() -> None:
            dialog.query_one("#fields")
            later.append("drawn")

        def then_leave() -> None:
            dialog.call_after_refresh(late)
            dialog.action_leave()

        dialog.call_next(then_leave)
        await at.shown.until(lambda: not at.has_dialog and not dialog.is_running)
        await at.shown.tick()
        assert (later, at.shown.faults) == ([], [])
