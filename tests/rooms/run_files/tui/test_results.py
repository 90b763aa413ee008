"""The results of a run on the screen: what is known at once, the list when it was asked for, and why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from foretop.pages.detail_page import DetailPage
from foretop.rooms.run_files.download_screen import ResultsDownload
from foretop_core.models import Backup, NonAdminBackup, PodVolumeBackup, Resource, from_builtins
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE, Kind
from foretop_core.rules.facts.contents_facts import FetchedFiles
from foretop_core.rules.results import Problem, ResultGroup, Results, ResultScope
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import Stand, stand, unfolded
from tests.tui.fake_source import FilledSource, meta
from tests.tui.pilot import SMALL, screen
from tests.tui.test_dialogs import newest

REQUESTS = f"/apis/velero.io/v1/namespaces/{HOME}/downloadrequests"
READER = User("reader", (Rule(("get", "list", "watch"), ("*",), ("*",)),))
TENANT = User("tenant", (Rule(("*",), ("oadp.openshift.io",), ("*",)),))
TROUBLED = {"phase": "PartiallyFailed", "errors": 3, "warnings": 1}


async def faulty(at: Stand, **status: Any) -> str:
    """The newest backup of the wiki has gone partly wrong; the cursor is on it."""
    name = newest(at, "wiki")
    at.patch("Backup", name, {"status": TROUBLED | status})
    key = at.key(BACKUP, name)
    await at.shown.until(lambda: getattr(at.session.store.get(key), "phase", "") == "PartiallyFailed")
    await at.go("7", key)
    return name


async def test_what_failed_is_one_key_and_one_consent_away() -> None:
    async with stand("quiet") as at:
        name = await faulty(at, hookStatus={"hooksAttempted": 4, "hooksFailed": 1}, backupItemOperationsFailed=2)
        await at.shown.press("e")
        assert at.shown.app.told[-1][1] == "Results are on x"
        await at.shown.press("x")
        wanted = f"for the results, the volume info and the resource list of {name}"
        await at.see(f"3 DownloadRequests are created, {wanted}", "[ Cancel ]", "[ Fetch ]")
        await at.shown.press("left", "enter")
        assert not isinstance(at.shown.app.screen, ResultsDownload)
        assert at.writes == []
        await at.see("PartiallyFailed: 3 errors and 1 warning", "1 of 4 hooks failed", "of plugins failed")
        await at.see("x fetches the list, by namespace and resource", "this creates DownloadRequests: writes")
        assert "x fetch results" in at.shown.footer
        await at.shown.press("x")
        await at.send()
        await at.see("✗ 3 errors", "namespace wiki", "pods/wiki-1 Error executing hook: exit code 1", "▲ 1 warning")
        await at.shown.press("end")
        await at.see("Objects 10 objects of 10 kinds in 1 namespace", "wiki 9 objects:")
        await at.shown.press("home")
        assert at.writes == [f"POST {REQUESTS}"] * 3
        assert [entry.kind for entry in at.journal] == ["DownloadRequest"] * 3
        assert at.shown.text.index("✗ 3 errors") < at.shown.text.index("▲ 1 warning")
        at.patch("Backup", name, {"status": {"warnings": 5}})
        await at.see("It has changed since these were fetched")
        await at.shown.press("right", "left")
        assert "namespace wiki" in at.shown.text
        await at.shown.press("escape", "2", "7", "x")
        await at.see("It has changed since these were fetched", "namespace wiki")
        await at.shown.press("x")
        await at.see("Fetched at", "namespace wiki")
        assert at.writes == [f"POST {REQUESTS}"] * 6
        assert at.shown.faults == []


@pytest.mark.sweep
async def test_results_are_of_one_object_and_not_of_the_next_with_its_name() -> None:
    async with stand("quiet") as at:
        name = await faulty(at)
        await at.shown.press("x")
        await at.see("[ Fetch ]")
        await at.send()
        await at.see("Fetched at", "namespace wiki")
        backups, again = at.box.storage.kind("Backup"), at.object("Backup", name)
        at.box.storage.delete(backups, HOME, name)
        kept = {field: again["metadata"][field] for field in ("name", "namespace", "labels")}
        at.box.storage.create(backups, again | {"metadata": kept})
        await at.see("x fetches the list")
        assert "namespace wiki" not in at.shown.text


async def test_where_nothing_went_wrong_only_what_a_backup_holds_is_fetched() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("x")
        await at.see(f"2 DownloadRequests are created, for the volume info and the resource list of {name}")
        await at.shown.press("escape")
        await at.see("Completed: 0 errors and 0 warnings", "No list to fetch: it has no errors and no warnings.")
        await at.see("x fetches what the backup holds")
        await at.shown.press("x")
        await at.send()
        await at.see("Volumes none of a claim, by volume info", "wiki 9 objects:")
        assert at.writes == [f"POST {REQUESTS}"] * 2
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("x")
        assert at.shown.page == "schedules"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("user", "read_only", "why"),
    [
        (None, True, "read-only is on"),
        (READER, False, "create on downloadrequests.velero.io in openshift-adp is not allowed"),
    ],
)
async def test_who_may_not_ask_for_the_list_is_told_before_and_when_trying(
    user: User | None, read_only: bool, why: str
) -> None:
    async with stand("quiet", user=user, read_only=read_only) as at:
        await faulty(at)
        await at.shown.press("x")
        await at.see("3 errors and 1 warning", "The list cannot be fetched.", why)
        assert not isinstance(at.shown.app.screen, ResultsDownload)
        await at.shown.press("x")
        if not read_only:
            await at.send()
        await at.see("[ Close ]", why)
        assert at.writes == []


@pytest.mark.sweep
async def test_a_tenant_sees_the_counts_of_a_nab_and_why_there_is_no_list() -> None:
    async with stand("quiet", user=TENANT) as at:
        velero = at.object("NonAdminBackup", "before-release-0", "team-pay")["status"]["veleroBackup"]["name"]
        at.patch("Backup", velero, {"status": TROUBLED})
        await at.go("3", at.key(NAB, "before-release-0", "team-pay"))
        await at.shown.press("x")
        await at.see("3 errors and 1 warning", "are not available to tenants", "ask the administrator")
        assert at.writes == []


@pytest.mark.sweep
async def test_the_administrator_fetches_the_results_of_a_nab_from_velero() -> None:
    async with stand("quiet") as at:
        velero = at.object("NonAdminBackup", "before-release-0", "team-pay")["status"]["veleroBackup"]["name"]
        at.patch("Backup", velero, {"status": TROUBLED})
        await at.go("3", at.key(NAB, "before-release-0", "team-pay"))
        await at.shown.press("x")
        await at.see("a DownloadRequest for the results")
        await at.send()
        await at.see("✗ 3 errors", "namespace team-pay")
        assert at.writes == [f"POST {REQUESTS}"]


_LONG_AGO = "2026-11-15T00:30:00Z"


def told_by_themselves() -> list[Resource]:
    label = {"velero.io/backup-name": "etl"}
    lost = {"spec": {"volume": "data-0"}, "status": {"phase": "Failed", "message": "no space left"}}
    refused = {"phase": "FailedValidation", "validationErrors": ["no such location"]}
    tenant = {
        "veleroBackup": {"name": "gone", "namespace": "velero", "status": TROUBLED},
        "fileSystemPodVolumeBackups": {"total": 3, "failed": 1, "canceled": 1},
    }
    return [
        from_builtins(Backup, {"metadata": meta("etl"), "status": {"phase": "Failed", "failureReason": "no bucket"}}),
        from_builtins(Backup, {"metadata": meta("odd"), "status": refused}),
        from_builtins(Backup, {"metadata": meta("waits"), "status": {"phase": "Queued"}}),
        from_builtins(
            Backup, {"metadata": meta("going"), "status": {"phase": "Deleting", "startTimestamp": _LONG_AGO}}
        ),
        from_builtins(PodVolumeBackup, {"metadata": meta("etl-1", labels=label), **lost}),
        from_builtins(NonAdminBackup, {"metadata": meta("mine"), "status": tenant}),
        from_builtins(NonAdminBackup, {"metadata": meta("new")}),
    ]


async def test_what_an_object_tells_by_itself_is_told_without_a_cluster() -> None:
    async with screen(FilledSource(told_by_themselves())) as shown:

        async def tells(tab: str, kind: Kind, name: str, *wanted: str) -> None:
            await shown.press(tab)
            await shown.on(shown.source.key(kind, "velero", name))
            await shown.press("x")
            await shown.until(lambda: all(map(unfolded(shown.lines).__contains__, wanted)))
            await shown.press("escape")

        await tells(
            "7",
            BACKUP,
            "etl",
            "Failed",
            "no bucket",
            "its errors were not counted",
            "volume data-0 Failed: no space left",
            "No list to",
        )
        await tells("7", BACKUP, "odd", "FailedValidation", "no such location", "No list to fetch: it was refused")
        await tells("7", BACKUP, "waits", "Queued", "No list to fetch: it has not begun (Queued).")
        await tells(
            "7", BACKUP, "going", "Deleting", "No list to fetch: Velero is deleting it, with its log and results."
        )
        mine = ("3 errors and 1 warning", "failed or canceled: 2 volumes", "These objects are not from a cluster")
        await tells("3", NAB, "mine", *mine)
        await shown.on(shown.source.key(NAB, "velero", "new"))
        await shown.press("enter", "x")
        assert shown.app.told[-1][1] == "Only Velero's backups and restores have results"
        await shown.app.main_screen.show_object(shown.source.key(NAB, "velero", "new"), "results")
        await shown.until(lambda: "It has no Velero object yet" in shown.text)


async def test_nothing_of_what_was_open_before_stays_on_the_screen() -> None:
    async with screen() as shown:
        await shown.press("7", "end", "d")
        assert "Namespace  velero" in shown.text
        await shown.press("escape", "x")
        assert "No list to fetch" in shown.text
        assert "Name " not in shown.text
        assert "Volumes\n" not in shown.text


async def test_a_long_and_hostile_list_scrolls_and_stays_text() -> None:
    evil = "a\x1b[2J\u202e[bold]x[/]\r\n"
    problems = tuple(Problem("pods", f"web-{number:05}", evil) for number in range(5_000))
    found = Results(
        (ResultGroup(ResultScope.NAMESPACE, evil, problems),),
        (ResultGroup(ResultScope.VELERO, "", (Problem("", "", "last"),)),),
    )
    async with screen(size=SMALL) as shown:
        await shown.press("7", "end", "x")
        page = shown.app.main_screen.page
        assert isinstance(page, DetailPage)
        assert page.key is not None
        page.keep_results(page.key, FetchedFiles(found))
        await shown.press("down", "pagedown")
        assert "pods/web-00010" in shown.text
        await shown.press("end")
        assert "and 3,001 more" in shown.text
        assert all(letter == "\n" or letter.isprintable() for letter in shown.pane)
        assert "\u202e" not in shown.pane
        assert shown.faults == []
