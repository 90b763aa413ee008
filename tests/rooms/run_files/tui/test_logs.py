"""The windows of logs on a box: what they ask, what they write, and who is told why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop.pages.detail_page import DetailPage
from foretop.rooms.run_files.dialogs import LogViewer, PodLogViewer
from foretop.rooms.run_files.log_lines import LogLines
from foretop_core.models.kinds import BACKUP, NAB, POD
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.scenarios.velero_pods import SERVER
from tests.objects import location
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import screen
from tests.tui.test_dialogs import newest
from tests.tui.test_dialogs_more import ONLOOKER, TENANT, VELERO
from tests.tui.test_pods import command
from tests.tui.test_schedule_page import _objects, _of
from tests.tui.test_triage_page import partly_failed


async def test_the_log_is_fetched_searched_and_saved() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("l")
        await at.see("a DownloadRequest for the log", "c copy command")
        assert at.writes == []
        await at.send()
        await at.see("Setting up backup log", "of 2")
        window = at.shown.app.screen
        assert isinstance(window, LogViewer)
        lines = window.query_one(LogLines)
        await at.shown.press("/")
        await at.paste("including namespace")
        await at.shown.press("enter", "n")
        assert lines.matches
        await at.shown.press("ctrl+s", "q")
        saved = (at.folder / f"{name}.log").read_text().splitlines()
        assert window.fetched is not None
        assert saved == list(window.fetched.lines)
        assert at.writes == ["POST /apis/velero.io/v1/namespaces/openshift-adp/downloadrequests"]


async def test_a_log_is_searched_both_ways_and_saved_once_over_nothing_that_is_there() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("l")
        await at.see("[ Cancel ]", "[ Fetch ]")
        await at.shown.press("left", "enter")
        assert not isinstance(at.shown.app.screen, LogViewer)
        assert at.writes == []
        await at.shown.press("l")
        window = at.shown.app.screen
        assert isinstance(window, LogViewer)
        await at.send()
        await at.see("level=info")
        lines = window.query_one(LogLines)
        await at.shown.press("/")
        await at.paste("Level=Info")
        await at.shown.press("enter")
        wanted = [number for number, line in enumerate(lines.lines) if "level=info" in line]
        assert list(lines.matches) == wanted
        await at.see(f"{len(wanted)} matches")
        await at.shown.press("/", "ctrl+u")
        await at.paste("no such words")
        await at.shown.press("enter")
        await at.see("0 matches")
        await at.shown.press("ctrl+s")
        path = at.folder / f"{name}.log"
        assert window.fetched is not None
        assert path.read_text().splitlines() == list(window.fetched.lines)
        subject = f" backup={HOME}/{name}"
        assert all(subject in whole for whole in window.fetched.lines), "saved as it is"
        assert [whole.replace(subject, "") for whole in window.fetched.lines] == list(lines.lines)
        assert path.stat().st_mode & 0o777 == 0o600
        path.write_text("mine")
        await at.shown.press("ctrl+s")
        assert at.shown.app.told[-1][1].startswith("Not saved:")
        assert path.read_text() == "mine"


@pytest.mark.sweep
async def test_the_log_of_a_nab_in_the_administrators_storage_is_the_administrators() -> None:
    async with stand("quiet") as at:
        await at.go("3", at.key(NAB, "before-release-0", "team-pay"))
        await at.shown.press("l")
        await at.see("Fetch the log of before-release-0", "a DownloadRequest for the log")
        await at.send()
        await at.see("level=info")
        assert at.writes == [f"POST {VELERO}/downloadrequests"]


@pytest.mark.sweep
async def test_who_may_ask_for_no_log_of_a_nab_is_told_why() -> None:
    async with stand("quiet", user=ONLOOKER) as at:
        await at.go("3", at.key(NAB, "before-release-0", "team-pay"))
        await at.shown.press("l")
        await at.see("[ Fetch ]")
        await at.send()
        await at.see(
            "The log of before-release-0 is not available to tenants",
            "a NonAdminDownloadRequest is granted only for a backup in your own NonAdminBackupStorageLocation",
            "[ Close ]",
        )
        await at.shown.press("enter")
        assert not isinstance(at.shown.app.screen, LogViewer)
        assert at.writes == []


async def test_a_tenant_who_sees_nothing_of_velero_is_told_at_once_why_there_is_no_log() -> None:
    async with stand("quiet", user=TENANT) as at:
        await at.go("3", at.key(NAB, "before-release-0", "team-pay"))
        await at.shown.press("l")
        await at.see("The log of before-release-0 is not available to tenants", "ask the administrator", "[ Close ]")
        assert at.writes == []


@pytest.mark.sweep
async def test_the_log_of_a_nab_whose_velero_backup_is_gone_is_not_offered_and_its_key_says_why() -> None:
    async with stand("nonadmin-status") as at:
        await at.go("3", at.key(NAB, "to-lose", "team-c"))
        assert "logs" not in at.shown.lines[-1]
        await at.shown.press("l")
        assert at.shown.app.told[-1][1] == "Fetch its logs: its Velero object no longer exists"
        assert at.writes == []


async def test_title_button_and_the_number_to_type_agree_where_one_of_the_marked_is_skipped() -> None:
    async with stand("default") as at:
        await at.shown.press("7", "slash", *"videos", "enter")
        await at.shown.tick()
        await at.see("11 of ")
        await at.shown.press("home", "asterisk", "ctrl+d")
        left = 10
        await at.see(f"Type {left} to confirm (the number of objects)", f"[ Delete {left} backups permanently ]")
        assert f"─ Delete {left} backups permanently in " in at.shown.text


async def test_the_log_of_a_pod_opens_at_its_end_and_its_keys_fit() -> None:
    async with stand("default") as at:
        await command(at, "pods")
        await at.see("velero-")
        await at.shown.press("l")
        await at.see("w cut", "q close")
        lines = at.shown.app.screen.query_one(LogLines)
        await at.shown.until(lambda: lines.last_visible == lines.visible_count > 100)
        assert lines.top > 0
        await at.shown.press("w")
        await at.see("w wrap")
        seen = lines.lines
        await at.shown.press("ctrl+r")
        await at.shown.until(lambda: lines.lines is not seen)
        await at.shown.settle()
        assert not lines.wraps, "it stays as the person wants it"


@pytest.mark.sweep
async def test_a_log_that_fits_is_shown_whole() -> None:
    async with stand("dead") as at:
        await command(at, "pods")
        await at.see("CrashLoopBackOff")
        await at.shown.press("l")
        await at.see("level=fatal", "w cut")


@pytest.mark.sweep
async def test_the_log_of_a_pod_that_has_restarted_is_that_of_the_run_before() -> None:
    async with stand("dead") as at:
        await command(at, "pods")
        await at.see("CrashLoopBackOff", "l shows its log")
        await at.shown.on(at.key(POD, SERVER))
        assert "l log" in at.shown.footer
        await at.shown.press("l")
        await at.see("level=fatal", "The run before the last restart.", "p this run")
        assert isinstance(at.shown.app.screen, PodLogViewer)
        assert at.writes == []


async def test_a_log_of_production_is_asked_for_by_its_name_once(tmp_path: Path) -> None:
    (tmp_path / "foretop").mkdir()
    (tmp_path / "foretop" / "config.yaml").write_text("contexts: {minicluster: {production: true}}\n")
    async with stand("quiet", tmp_path) as at:
        await at.shown.press("7")
        await at.shown.until(lambda: bool(at.shown.table.window))
        await at.shown.press("l")
        await at.see("Type minicluster to confirm: minicluster is marked production.")
        await at.shown.press(*"mini", "enter", "enter")
        assert at.shown.app.told[-1][1] == "Type minicluster first"
        assert at.writes == []
        await at.shown.press("shift+tab", "shift+tab", *"cluster", "enter", "enter")
        await at.shown.until(lambda: len(at.writes) == 1)
        assert "downloadrequests" in at.writes[0]


async def test_from_the_runs_of_a_schedule_the_results_of_one_are_opened() -> None:
    async with screen(FilledSource(_objects())) as shown:
        await shown.press("2", "enter", "x")
        page = shown.app.main_screen.page
        assert isinstance(page, DetailPage)
        assert (page.key, page.section) == (_of("etcd-02"), "results")
        await shown.press("escape", "escape")
        assert shown.app.main_screen.current == "schedules"


async def test_a_finding_about_a_run_that_failed_names_the_key_of_its_results() -> None:
    async with screen(FilledSource([location(), partly_failed(1)])) as shown:
        assert "x results of the NAB" in shown.pane
