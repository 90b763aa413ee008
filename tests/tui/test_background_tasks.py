"""Background work of the screen that fails: it is on the screen, its dialog ends in a result, and it starts again."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest

from foretop.app import Dashboard
from foretop_core.actions.journal import Journal, default_path
from foretop_core.models.kinds import SCHEDULE
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import LARGE, Screen
from tests.tui.test_config import configured
from tests.unit.actions.test_journal import hold
from tests.wire.watching import fails_once

DUE = "etcd-hourly"


def raises(*_: Any, **__: Any) -> Any:
    raise RuntimeError("once")


async def unpause(at: Stand) -> None:
    await at.go("2", at.key(SCHEDULE, DUE))
    await at.shown.press("u")
    await at.see("Unpause etcd-hourly")
    await at.send()


def probe_that_raises(*_: Any, **__: Any) -> Any:
    """A probe is made, and its first look fails, however fast Velero was."""
    return raises


@pytest.mark.parametrize(
    ("place", "failing"),
    [
        ("foretop_core.actions.planners.pausing.unpause_probe", raises),
        ("foretop.dialogs.plan_run.follow_write", raises),
        ("foretop_core.actions.planners.pausing.unpause_probe", probe_that_raises),
    ],
)
async def test_a_probe_that_fails_ends_in_a_result_and_the_write_is_made(
    place: str, failing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", size=LARGE) as at:
        monkeypatch.setattr(place, failing)
        await unpause(at)
        await at.see("Not followed: Internal error in foretop: RuntimeError: once")
        assert not at.object("Schedule", DUE)["spec"].get("paused")


async def test_a_watch_for_undoing_that_fails_is_told_in_the_dialog_and_in_triage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stand("maintenance", size=LARGE) as at:
        monkeypatch.setattr("foretop_core.dashboard.action_service.watch_for_undoing", raises)
        await unpause(at)
        await at.see("etcd-hourly: not watched for who undoes it. Internal error in foretop: RuntimeError: once")
        await at.shown.press("escape")
        await at.shown.press("1")
        await at.see("hidden by a fault in foretop")
        await at.shown.press("end")
        await at.see("A fault in foretop: watching for who undoes a write to etcd-hourly failed")


async def test_a_dialog_that_cannot_be_drawn_does_not_stop_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stand("maintenance", size=LARGE) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("Unpause etcd-hourly")
        monkeypatch.setattr("foretop.dialogs.plan_screen.PlanScreen._moved", raises)
        await at.send()
        await at.shown.until(lambda: not at.object("Schedule", DUE)["spec"].get("paused"))
        await at.shown.until(lambda: [one.result for one in at.journal] == ["done"])


def _failing_once(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """The calls of a method of the dashboard, of which the first fails."""
    calls, failing = list[str](), fails_once(getattr(Dashboard, name))

    def counted(*arguments: Any) -> Any:
        calls.append(name)
        return failing(*arguments)

    monkeypatch.setattr(Dashboard, name, counted)
    return calls


async def _see_it_start_again(shown: Screen, calls: list[str], task: str) -> None:
    await shown.until(lambda: any(f"{task} failed: RuntimeError: once" in text for _, text in shown.app.told))
    await shown.until(lambda: len(calls) > 1)
    # The toast may be gone on a slow machine; the list of messages keeps it.
    await shown.press("m")
    await shown.until(lambda: f"{task} failed: RuntimeError: once" in shown.text)


async def test_drawing_that_fails_is_told_and_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _failing_once(monkeypatch, "_pump")
    async with stand("maintenance", size=LARGE) as at:
        await _see_it_start_again(at.shown, calls, "drawing")


async def test_reading_the_configuration_that_fails_is_told_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _failing_once(monkeypatch, "_follow_config_file")
    async with configured(tmp_path, "page: backups\n") as shown:
        await _see_it_start_again(shown, calls, "reading the configuration")


@pytest.mark.sweep
async def test_a_follower_of_the_session_that_fails_is_in_the_header_and_in_triage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stand("maintenance", size=LARGE) as at:
        cluster = next(iter(at.session.clusters.values()))
        monkeypatch.setattr(cluster, "follow_movements", raises)
        at.patch("Schedule", DUE, {"metadata": {"labels": {"touched": "yes"}}})
        backup = at.box.storage.list(at.box.storage.kind("Backup"))[0]["metadata"]["name"]
        at.patch("Backup", backup, {"status": {"phase": "InProgress", "completionTimestamp": None}})
        await at.see("foretop's watch ended by a fault")
        await at.shown.press("G")
        await at.see("A fault of foretop ended the watch of datauploads.velero.io")
        monkeypatch.undo()
        await at.shown.until(lambda: "ended by a fault" not in "\n".join(at.shown.lines))


async def test_a_lock_that_another_process_holds_refuses_the_write_and_keys_go_on() -> None:
    async with stand("maintenance", size=LARGE) as at:
        journal = Journal(default_path({"XDG_STATE_HOME": str(at.folder)}))
        with hold(journal.path) as lock:
            await unpause(at)
            await at.see("Sending")
            await at.shown.press("escape")
            await at.shown.press("3")
            assert at.shown.app.main_screen.current != "schedules"
            await at.shown.until(lambda: any("another process has locked it" in text for _, text in at.shown.app.told))
            fcntl.flock(lock, fcntl.LOCK_UN)
        assert at.object("Schedule", DUE)["spec"]["paused"]
        assert at.writes == []


async def test_no_row_is_marked_any_more_after_a_dialog_was_left_while_it_was_sending() -> None:
    async with stand("maintenance") as at:
        for name in (DUE, "mail-30m", "sessions-15m"):
            await at.go("2", at.key(SCHEDULE, name))
            await at.shown.press("space")
        await at.shown.press("/", *"hourly", "enter", "u")
        await at.see("Unpause 3 schedules")
        journal = Journal(default_path({"XDG_STATE_HOME": str(at.folder)}))
        with hold(journal.path) as lock:
            await at.send()
            await at.see("Sending")
            await at.shown.press("escape")
            table = at.shown.table
            await at.shown.press("3")
            # Nothing can be sent yet; who acts is asked before the marks end.
            await at.shown.until(lambda: not table.marked)
            assert at.writes == []
            fcntl.flock(lock, fcntl.LOCK_UN)
            await at.shown.until(lambda: len(at.writes) == 3)
        await at.shown.press("2", "escape")
        assert "marked" not in at.shown.text
