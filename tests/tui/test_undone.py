"""A write that a GitOps controller puts back: told on the screen, in Triage and in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest

from foretop_core.actions.journal import Journal, JournalEntry
from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.planners.pausing import PAUSE, PauseRequest, plan_pause
from foretop_core.actions.planners.schedules import DELETE_SCHEDULE, plan_delete_schedule
from foretop_core.actions.plans import Plan
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.undone_watch import watch_for_undoing
from foretop_core.models.kinds import SCHEDULE
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.undone import UndoneChange, written_fields
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from tests.tui.dashboard_on_box import CONTEXT, stand
from tests.tui.pilot import LARGE, MIDDLE


async def test_a_pause_that_argo_cd_puts_back_is_told_and_the_dialog_warned_of_it() -> None:
    async with stand("gitops", size=LARGE, speed=5.0) as at:
        await at.go("2", at.key(SCHEDULE, "orders-hourly"))
        await at.shown.press("s")
        await at.see("Pause orders-hourly", "It is managed by Argo CD (argocd-controller has written it)")
        await at.send()
        # It is paused for less than a second: whoever looks for that may come too late.
        await at.see("patched", " · put back by argocd-controller at ")
        assert at.shown.text.count("put back by") == 1, "it is said once"
        await at.shown.until(lambda: "again, and no other" not in at.shown.text)
        await at.shown.press("escape")
        await at.shown.until(lambda: any("put back by argocd-controller" in text for _, text in at.shown.app.told))
        assert not at.object("Schedule", "orders-hourly")["spec"].get("paused")
        await at.shown.press("1")
        await at.see("schedule orders-hourly openshift-adp put back by argocd-controller")
        # A finding that came in meanwhile may stand above it.
        await at.shown.press("/", *"put", "enter")
        await at.shown.until(lambda: "Keys" in at.shown.pane and "argocd-controller" in at.shown.pane)
        assert "orders-hourly" in at.shown.rule
        assert "pause the schedule" not in at.shown.pane, "it would be put back again"
        assert "edit the schedule" not in at.shown.pane
        await at.shown.until(lambda: at.journal[-1].user == "argocd-controller")
        assert at.journal[-1].result == "put back by argocd-controller; foretop only saw it"
        await at.go("2", at.key(SCHEDULE, "orders-hourly"))
        told = "Your pause did not hold: argocd-controller set "
        await at.shown.until(lambda: told in " ".join(at.shown.pane.split()))
        assert at.shown.faults == []


@pytest.mark.sweep
async def test_pausing_and_unpausing_by_hand_is_not_told_as_undone() -> None:
    async with stand("gitops", size=MIDDLE, speed=5.0) as at:
        await at.go("2", at.key(SCHEDULE, "by-hand"))
        await at.shown.press("s")
        await at.see("Pause by-hand")
        await at.send()
        await at.shown.until(lambda: at.object("Schedule", "by-hand")["spec"].get("paused") is True)
        await at.shown.press("escape")
        await at.shown.press("u")
        await at.see("Unpause by-hand")
        await at.send()
        await at.shown.until(lambda: not at.object("Schedule", "by-hand")["spec"].get("paused"))
        await at.shown.press("escape")
        await at.shown.pilot.pause(1.0)
        assert not any("put back" in text for _, text in at.shown.app.told)


@pytest.mark.sweep
async def test_ones_own_unpause_is_not_told_as_undoing_the_pause_where_its_answer_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The watch of the schedule may have it before the journal has noted the answer, on a slow disk for example."""
    note = Journal.append_in_thread

    async def slowly(journal: Journal, entry: JournalEntry) -> None:
        await asyncio.sleep(1.0)
        await note(journal, entry)

    async with stand("gitops", size=MIDDLE, speed=5.0) as at:
        await at.go("2", at.key(SCHEDULE, "by-hand"))
        await at.shown.press("s")
        await at.see("Pause by-hand")
        await at.send()
        await at.see("patched")
        await at.shown.press("escape")
        monkeypatch.setattr(Journal, "append_in_thread", slowly)
        await at.shown.press("u")
        await at.see("Unpause by-hand")
        await at.send()
        await at.see("patched")
        assert not any("put back" in text for _, text in at.shown.app.told)


async def test_a_deleted_schedule_that_comes_back_is_told_with_who_made_it() -> None:
    async with stand("gitops", speed=5.0) as at:
        told: list[UndoneChange] = []
        service = ActionService(at.session, {"XDG_STATE_HOME": str(at.folder)}, told.append)
        plan = service.plan(DELETE_SCHEDULE, plan_delete_schedule, [at.key(SCHEDULE, "ledger-nightly")]).plan
        (result,) = [one async for one in service.executor(CONTEXT).carry_out(plan, plan_delete_schedule)]
        assert result.outcome is Outcome.DONE
        service.note_done(result)
        await at.shown.until(lambda: bool(told))
        assert told[0].brief == "created again by argocd-controller"


async def test_what_nobody_undoes_in_time_is_not_told() -> None:
    async with stand("gitops") as at:
        service = ActionService(at.session, {"XDG_STATE_HOME": str(at.folder)})
        request = PauseRequest("maria", "w1")

        def planner(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
            return plan_pause(snapshot, items, request, now)

        plan = service.plan(PAUSE, planner, [at.key(SCHEDULE, "by-hand")]).plan
        (result,) = [one async for one in service.executor(CONTEXT).carry_out(plan, planner)]
        assert result.outcome is Outcome.DONE
        assert await watch_for_undoing(at.session, result, within=0.5) is None
        assert at.object("Schedule", "by-hand")["spec"].get("paused") is True
        at.patch("Schedule", "by-hand", {"spec": {"paused": False}})
        found = await watch_for_undoing(at.session, result, within=20)
        assert found is not None
        assert found.by == "kubectl"
        assert found.written_at <= found.at, "both by the clock of the server"
        assert ("spec", "paused") in [one.path for one in found.fields]


async def test_a_pause_that_was_put_back_is_in_triage_until_it_holds() -> None:
    async with stand("gitops", size=LARGE, speed=5.0) as at:
        key = at.key(SCHEDULE, "by-hand")
        before = written_fields({"spec": {"paused": True}}, {"spec": {"paused": False}})
        now = at.session.clock(CONTEXT).now()
        state = at.shown.app.main_screen.state
        assert state is not None
        an_hour = timedelta(hours=1)
        state.note_undone(UndoneChange(key, before, now - 2 * an_hour, now - an_hour, "argo"))
        await at.see("schedule by-hand", "put back by argo")
        at.patch("Schedule", "by-hand", {"spec": {"paused": True}})
        await at.shown.until(lambda: "put back by argo" not in at.shown.text)


async def test_of_several_those_that_were_put_back_are_not_counted_as_done() -> None:
    async with stand("gitops", size=LARGE, speed=5.0) as at:
        await at.go("2", at.key(SCHEDULE, "orders-hourly"))
        await at.shown.press("*", "s")
        await at.see("Pause 3 schedules")
        await at.send()
        await at.see("1 of 3 done, 2 undone.", "by-hand patched")
        rows = [line for line in at.shown.lines if "· put back by argocd-controller" in line]
        assert len(rows) == 2
        assert all(StatusGlyph.LOOK.value in line for line in rows)
        assert at.shown.faults == []
