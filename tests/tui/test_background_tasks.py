"""Background work of the screen that fails: it is on the screen, its dialog ends in a result, and it starts again."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest

from foretop.app import Dashboard
from foretop_core.actions.acknowledgement_file import acknowledgements_of
from foretop_core.actions.journal import Journal, default_path
from foretop_core.models.kinds import SCHEDULE
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import LARGE
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
    place: str, failing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        monkeypatch.setattr(place, failing)
        await unpause(at)
        await at.see("Not followed: Internal error in foretop: RuntimeError: once")
        assert not at.object("Schedule", DUE)["spec"].get("paused")


async def test_a_watch_for_undoing_that_fails_is_told_in_the_dialog_and_in_triage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        monkeypatch.setattr("foretop_core.dashboard.action_service.watch_for_undoing", raises)
        await unpause(at)
        await at.see("etcd-hourly: not watched for who undoes it. Internal error in foretop: RuntimeError: once")
        await at.shown.press("escape")
        await at.shown.press("1")
        await at.see("hidden by a fault in foretop")
        await at.shown.press("end")
        await at.see("A fault in foretop: watching for who undoes a write to etcd-hourly failed")


async def test_a_dialog_that_cannot_be_drawn_does_not_stop_what_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        await at.go("2", at.key(SCHEDULE, DUE))
        await at.shown.press("u")
        await at.see("Unpause etcd-hourly")
        monkeypatch.setattr("foretop.dialogs.action_dialog.ActionDialog._moved", raises)
        await at.send()
        await at.shown.until(lambda: not at.object("Schedule", DUE)["spec"].get("paused"))
        await at.shown.until(lambda: [one.result for one in at.journal] == ["done"])


TASKS = {
    "drawing": "_pump",
    "reading own files": "_follow_files",
}


@pytest.mark.parametrize("name", TASKS)
async def test_a_task_of_the_screen_that_fails_is_told_and_starts_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, failing = [], fails_once(getattr(Dashboard, TASKS[name]))

    def counted(*arguments: Any) -> Any:
        calls.append(name)
        return failing(*arguments)

    monkeypatch.setattr(Dashboard, TASKS[name], counted)
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        await at.shown.until(lambda: any(f"{name} failed: RuntimeError: once" in text for _, text in at.shown.app.told))
        await at.shown.until(lambda: len(calls) > 1)
        # The toast may be gone on a slow machine; the list of messages keeps it.
        await at.shown.press("m")
        await at.see(f"{name} failed: RuntimeError: once")


@pytest.mark.sweep
async def test_a_follower_of_the_session_that_fails_is_in_the_header_and_in_triage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        cluster = next(iter(at.session.clusters.values()))
        monkeypatch.setattr(cluster, "follow_movements", raises)
        at.patch("Schedule", DUE, {"metadata": {"labels": {"touched": "yes"}}})
        backup = at.box.storage.list(at.box.storage.kind("Backup"))[0]["metadata"]["name"]
        at.patch("Backup", backup, {"metadata": {"labels": {"touched": "yes"}}})
        await at.see("foretop's watch ended by a fault")
        await at.shown.press("G")
        await at.see("A fault of foretop ended the watch of datauploads.velero.io")
        monkeypatch.undo()
        await at.shown.until(lambda: "ended by a fault" not in "\n".join(at.shown.lines))


async def test_a_lock_that_another_process_holds_refuses_the_write_and_keys_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        journal = Journal(default_path({"XDG_STATE_HOME": str(tmp_path)}))
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


async def test_no_row_is_marked_any_more_after_a_dialog_was_left_while_it_was_sending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch) as at:
        for name in (DUE, "mail-30m", "sessions-15m"):
            await at.go("2", at.key(SCHEDULE, name))
            await at.shown.press("space")
        await at.shown.press("/", *"hourly", "enter", "u")
        await at.see("Unpause 3 schedules")
        journal = Journal(default_path({"XDG_STATE_HOME": str(tmp_path)}))
        with hold(journal.path) as lock:
            await at.send()
            await at.see("Sending")
            await at.shown.press("escape")
            table = at.shown.table
            await at.shown.press("3")
            assert not table.marked
            fcntl.flock(lock, fcntl.LOCK_UN)
            await at.shown.until(lambda: len(at.writes) == 3)
        await at.shown.press("2", "escape")
        assert "marked" not in at.shown.text


async def test_acknowledgements_that_another_process_has_locked_are_one_line_in_the_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("maintenance", tmp_path, monkeypatch, size=LARGE) as at:
        await at.shown.until(lambda: at.shown.app.main_screen.page is not None and bool(at.shown.names()))
        file = acknowledgements_of({"XDG_STATE_HOME": str(tmp_path)})
        with hold(file.path.with_name(f"{file.path.name}.lock")):
            await at.shown.press("h")
            await at.see("Known until")
            await at.shown.press(*"known")
            await at.send()
            await at.see("another process has locked it for 3 s")
        assert file.read() == {}
