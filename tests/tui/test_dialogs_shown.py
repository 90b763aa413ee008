"""What dialogs show: the object first, all that is written, how many are skipped; and messages that cover nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets._toast import Toast, ToastHolder

from foretop.app import Dashboard
from foretop.bindings import ACTIONS
from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.base_modal import TooSmallScreen
from foretop.dialogs.dialog_parts import NoticeLine
from foretop.dialogs.dialog_registry import make_dialog
from foretop.dialogs.plan_screen import PlanScreen
from foretop.dialogs.plan_text import StepReport
from foretop.widgets.paragraphs import Paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord, AskedOf
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.planners.backups import DELETE_BACKUP
from foretop_core.actions.planners.pausing import plan_unpause
from foretop_core.actions.planners.restores import RESTORE_FROM
from foretop_core.actions.plans import Plan, Refusal
from foretop_core.actions.step_builders import create_step
from foretop_core.actions.velero_pickup import ProgressReport
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.models.kinds import SCHEDULE, VELERO_DEPLOYMENT
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.schedule_facts import Choice
from foretop_core.rules.pauses import MARKS
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.resources.findings import key_of
from foretop_demo.scenarios.scenario_builder import HOME
from tests.objects import NOW, schedule
from tests.tui.dashboard_on_box import CONTEXT, Stand, stand, unfolded
from tests.tui.fake_source import FilledSource, troubled
from tests.tui.pilot import LARGE, MIDDLE, SMALL, TINY, Screen

LONG = "openshift-adp/api-prod-eu-example-com:6443/kube:admin"


def test_a_long_context_pushes_neither_verb_nor_object_nor_namespace_away() -> None:
    key = ObjectRef(LONG, "Schedule", "openshift-adp", "etcd-hourly")
    assert plan_text.title("Unpause {}", key.name, 72) == "Unpause etcd-hourly"
    place = plan_text.place((key,), 60)
    assert len(place) <= 60
    assert place.startswith("openshift-adp/api-prod")
    assert place.endswith(", openshift-adp")
    assert "…" in place
    assert plan_text.title("Delete backup {} permanently", "x" * 60 + "-20261115020000", 60).endswith(
        "0000 permanently"
    )


def words(said: Sequence[Paragraph]) -> list[str]:
    return ["".join(piece.text for piece in one.spans).strip() for one in said]


def test_the_warnings_are_apart_from_what_it_leads_to_and_what_is_written() -> None:
    target = ObjectRef("prod", "Restore", "velero", "orders-1")
    step = create_step(target, {}, ("one", "x" * 80), "nothing is restored", "velero …", ("Some is missing.",), {})
    plan = Plan(RESTORE_FROM, NOW, (step,))
    assert words(plan_text.warnings(plan, ActionTargets((target,)))) == ["▲ Some is missing."]
    assert [(one.label, *words([one])) for one in plan_text.proposal(plan)] == [("Then", "nothing is restored")]
    written = words(plan_text.writes(plan.steps, 72))
    assert written[0].startswith("Writes   one")
    assert written[-1].endswith("c copy command")
    assert all(len(line) <= 72 for line in written)


def test_what_several_lead_to_is_said_once_and_each_has_a_row() -> None:
    names = ("orders-1", "orders-2")
    steps = tuple(
        create_step(ObjectRef("prod", "DeleteBackupRequest", "velero", name), {}, (f"{name} is gone",), "it is gone")
        for name in names
    )
    found = plan_text.table(Plan(DELETE_BACKUP, NOW, steps), lambda *_: pytest.fail("no line is needed"))
    assert found.text == "Each: it is gone"
    assert [[piece.text for piece in row] for row in found.rows] == [[name, f"{name} is gone"] for name in names]
    assert words(plan_text.writes(steps, 72, copies=False)) == ["Writes   spec: {}, on each of 2"]


def test_what_is_written_to_some_only_is_told_with_how_many() -> None:
    given: dict[str, Any] = {"cron": "0 * * * *", "last": "00:00:03", "paused": True}
    items = [schedule("a", skip=True, **given), schedule("b", skip=False, **given)]
    snapshot = ClusterSnapshot("prod", schedules=tuple(items))
    plan = plan_unpause(snapshot, items, Choice.SKIP, NOW)
    assert " ".join(words(plan_text.writes(plan.steps, 200, copies=False))) == (
        "Writes   spec.paused true → false, on each of 2; spec.skipImmediately false → true, on 1"
    )


def test_a_warning_and_a_refusal_that_several_share_are_said_once() -> None:
    names = ("orders-1", "orders-2", "orders-3")
    targets = [ObjectRef("prod", "DeleteBackupRequest", "velero", name) for name in names]
    steps = tuple(create_step(one, {}, (), "it is gone", warnings=("It is the last.",)) for one in targets[:2])
    plan = Plan(DELETE_BACKUP, NOW, steps, (Refusal(targets[2], "it runs"),))
    assert words(plan_text.warnings(plan, ActionTargets(()))) == [
        "▲ It is the last.",
        "▲ orders-3 is left out: it runs.",
    ]


def test_a_message_names_the_object_once_and_says_what_became_of_it() -> None:
    target = ObjectRef("prod", "Restore", "velero", "orders-1")
    step = create_step(target, {}, ("one",), "it starts", "velero …")
    told = StepReport(Result(step, Outcome.DONE), NOW, ProgressReport("orders-1: Completed", done=True))
    assert plan_text.summary([told], "") == f"orders-1: made {NOW:%H:%M:%S}Z · Completed"


def test_what_cannot_be_done_to_the_only_object_is_not_said_to_be_skipped() -> None:
    target = ObjectRef("prod", "Backup", "velero", "orders-1")
    plan = Plan(RESTORE_FROM, NOW, (), (Refusal(target, "offsite is Unavailable"),))
    assert words(plan_text.warnings(plan, ActionTargets((target,)))) == ["Not possible: offsite is Unavailable."]
    assert words(plan_text.proposal(plan)) == ["Nothing to send."]
    assert plan_text.writes(plan.steps, 72) == []
    assert plan_text.written_lines("", 72) == [], "a drill that creates nothing has no line of writes"


async def mark(at: Stand, *names: str) -> None:
    for name in names:
        await at.go("2", at.key(SCHEDULE, name))
        await at.shown.press("space")


async def test_all_that_a_pause_writes_is_shown_and_is_what_is_sent() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("s", *"CHG-1", "tab", *"2h", "tab")
        await at.see("Writes spec.paused false → true and 5 annotations")
        assert at.dialog.planned is not None
        (step,) = at.dialog.planned.plan.steps
        assert f"annotation {MARKS[0]}: maria as admin" in step.changes
        await at.send()
        await at.see("✓ patched")
        (line,) = at.journal
        assert {**line.patch, "metadata": None} == {**step.write.body, "metadata": None}
        written = at.object("Schedule", "mail")["metadata"]["annotations"]
        assert line.patch["metadata"]["annotations"] == {key: written[key] for key in MARKS}
        assert f'"{MARKS[0]}": "maria as admin"' in json.dumps(written)


async def test_pause_and_unpause_are_two_keys_and_each_says_what_it_skips() -> None:
    async with stand("quiet") as at:
        at.patch("Schedule", "wiki", {"spec": {"paused": True}})
        await at.go("2", at.key(SCHEDULE, "wiki"))
        await at.shown.until(lambda: "u unpause" in at.shown.footer)
        await at.shown.press("s")
        await at.see("─ Change the pause of wiki in ")
        await at.shown.press("escape")
        await mark(at, "wiki", "etcd", "mail")
        await at.shown.press("s")
        await at.see("─ Pause 2 schedules in ", "runs are missed in 24 hours")
        await at.shown.press("escape", "u")
        await at.see("─ Unpause wiki in ", "2 left out: not paused.")
        assert at.writes == []


@pytest.mark.sweep
async def test_no_key_reaches_the_page_below_a_dialog() -> None:
    keys = {key for action in ACTIONS for key in action.keys} | {*"123456789jkgG"}
    ways_out = {"escape", "q", "ctrl+c", "enter"}
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        page = at.shown.app.main_screen.page
        for opening in ("t", "s", "ctrl+d"):
            await at.shown.press(opening)
            window = at.dialog
            for key in sorted(keys - ways_out):
                await at.shown.press(key)
                assert at.shown.app.screen is window, f"{key} left the dialog of {opening}"
            await at.shown.press("escape")
        assert at.shown.app.main_screen.page is page
        assert at.shown.table.cursor == at.key(SCHEDULE, "mail")
        assert not at.shown.table.marked
        assert at.writes == []


@pytest.mark.sweep
async def test_a_toast_is_one_line_the_newest_alone_and_no_window_is_under_it() -> None:
    filled = FilledSource(troubled())
    app = Dashboard(lambda: filled, DisplayOptions(flash=False))
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        shown = Screen(app, pilot, filled)
        await shown.until(lambda: app.main_screen.page is not None)
        for text in ("the first", "the second", f"the third\n{'long ' * 60}"):
            app.notify(text, timeout=600)
        await shown.until(lambda: "the third long" in shown.text)
        assert "the first" not in shown.text
        assert "the second" not in shown.text
        (line,) = [at for at, line in enumerate(shown.lines) if "long" in line]
        assert line == SMALL[1] - 2
        assert shown.lines[line].startswith(" the third long ")
        assert shown.lines[line].endswith("long  (m shows all)")
        await shown.press("question_mark")
        assert app.screen is not app.main_screen
        assert not any(one.display for one in app.screen.query(Toast))


@pytest.mark.sweep
async def test_messages_are_seen_however_many_there_were_before() -> None:
    filled = FilledSource(troubled())
    app = Dashboard(lambda: filled, DisplayOptions(flash=False))
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        shown = Screen(app, pilot, filled)
        await shown.until(lambda: app.main_screen.page is not None)
        for number in range(2 * SMALL[1]):
            app.notify(f"message {number} of many", timeout=600)
            await shown.idle()
            assert shown.lines[-2].strip() == f"message {number} of many"
        assert len(app.screen.query(ToastHolder)) == 1


@pytest.mark.sweep
async def test_a_message_takes_the_whole_line_above_the_keys_so_that_no_word_is_half_seen() -> None:
    filled = FilledSource(troubled())
    app = Dashboard(lambda: filled, DisplayOptions(flash=False))
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        shown = Screen(app, pilot, filled)
        await shown.until(lambda: app.main_screen.page is not None)
        await shown.press("2", "slash", "a", "enter")
        rule = shown.rule
        assert "of" in rule
        for text in ("Nothing was changed", "x" * 75):
            app.notify(text, timeout=600)
            await shown.sees(text)
            assert shown.lines[-2].strip() == text
            assert shown.rule == rule


async def test_what_is_said_while_a_dialog_is_open_is_one_line_inside_it() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("t", "c")
        assert len(at.shown.app.clipboard) > 60
        told = at.dialog.query_one(NoticeLine).text.strip()
        assert told.startswith("Copied by OSC 52")
        assert len(told.splitlines()) == 1


@pytest.mark.sweep
async def test_a_dialog_is_as_high_as_before_when_the_terminal_was_small_for_a_while() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("s")
        await at.see("Writes spec.paused false → true and 3 annotations")
        before = at.dialog.query_one(".dialog").region.size
        await at.shown.pilot.resize_terminal(40, 12)
        await at.shown.until(lambda: at.dialog.query_one(".dialog").region.width <= 40)
        await at.shown.pilot.resize_terminal(80, 24)
        await at.shown.until(lambda: at.dialog.query_one(".dialog").region.size == before)


async def test_a_terminal_that_is_too_small_says_so_and_comes_back() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("s")
        window = at.dialog
        await at.shown.pilot.resize_terminal(38, 9)
        await at.shown.until(lambda: "Terminal too small: 38x9. foretop needs 40x10." in unfolded(at.shown.lines))
        assert isinstance(at.shown.app.screen, TooSmallScreen)
        await at.shown.press("s", "enter", "2")
        await at.shown.pilot.resize_terminal(80, 24)
        await at.shown.until(lambda: at.shown.app.screen is window)
        assert at.writes == []


@pytest.mark.parametrize(("size", "wide"), [(TINY, 40), (SMALL, 78), (MIDDLE, 100), (LARGE, 120)])
@pytest.mark.sweep
async def test_a_dialog_takes_the_room_that_there_is(size: tuple[int, int], wide: int) -> None:
    async with stand("quiet", size=size) as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("s")
        await at.shown.until(lambda: at.has_dialog and at.dialog.query_one(".dialog").outer_size.width == wide)


SHOWN = [(record, several) for record in RECORDS if not record.fetches for several in {False, record.many}]


def targets(at: Stand, record: ActionRecord, several: bool) -> ActionTargets:
    """The object that the dialog is about: the first one that the action can be asked of, or else is refused for."""
    if record.asked_of is AskedOf.NEW:
        return ActionTargets((ObjectRef(CONTEXT, SCHEDULE.name, HOME, ""),))
    if record.asked_of is AskedOf.SERVER:
        return ActionTargets((ObjectRef(CONTEXT, "Deployment", HOME, VELERO_DEPLOYMENT),))
    if record.asked_of is AskedOf.FINDING:
        state = at.shown.app.main_screen.state
        assert state is not None
        findings = state.findings[: None if several else 1]
        return ActionTargets(tuple(map(key_of, findings)), findings=findings)
    names = {kind.name for kind in record.kinds}
    held = [pair for name in names for pair in at.session.store.items(CONTEXT, name)]
    fitting = [key for key, item in held if not record.applies(item, lambda: True)]
    return ActionTargets(tuple((fitting or [key for key, _ in held])[: None if several and record.many else 1]))


def unseen(at: Stand) -> Iterator[str]:
    """What should be seen whole, in the place where it is drawn, and is not."""
    dialog = at.dialog
    width, height = dialog.size
    assert isinstance(dialog, PlanScreen)
    for one in (dialog.focused, dialog.cancel, *(() if dialog.is_impossible else (dialog.go,))):
        assert isinstance(one, Widget)
        seen = dialog.find_widget(one).visible_region.intersection(Region(0, 0, width, height))
        if not one.display or seen.height < one.region.height or seen.width < one.region.width:
            yield f"{one.id}: {seen} of {one.region}"


@pytest.mark.sweep
@pytest.mark.parametrize("size", [TINY, SMALL])
async def test_every_dialog_shows_its_focused_field_and_its_buttons(size: tuple[int, int]) -> None:
    async with stand("default", size=size) as at:
        hidden: list[str] = []
        for record, several in SHOWN:
            found = targets(at, record, several)
            assert found.keys, f"nothing to ask {record.id} of"
            main = at.shown.app.main_screen
            assert main.state is not None
            window = make_dialog(main.write_actions.service, record, found, lambda *_: None)
            assert isinstance(window, PlanScreen)
            await at.shown.app.push_screen(window)
            await at.shown.settle()
            empty = [one for one in window.query(Prompt) if one.placeholder and not one.value]
            hints = [one.placeholder for one in empty]
            assert all(one.startswith(("empty: ", "e.g. ")) for one in hints), (record.id, hints)
            assert [one.render_line(0).text.rstrip() for one in empty] == hints, "no word of it is lost"
            for _ in window.focus_chain:
                hidden += [f"{record.id}, {one}:\n{at.shown.text}" for one in unseen(at)]
                await at.shown.press("tab")
            await at.shown.press("escape")
        assert not hidden, "\n\n".join(hidden)
        assert at.writes == []
