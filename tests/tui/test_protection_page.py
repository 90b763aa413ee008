"""The page of protection: every state of the scene, and what is said where namespaces cannot be listed."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any, cast

import pytest
from aiohttp import web
from msgspec.structs import replace

from foretop.dialogs import restore_dialog
from foretop.panes.protection_pane import protection_pane
from foretop.widgets.paragraphs import wrap
from foretop.widgets.prompt import Prompt
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.kube.connection.client import ApiClient
from foretop_core.models.velero import BackupStatus
from foretop_demo.access import Rule, User
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.server import ApiServer
from tests.objects import NOW
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import LARGE, MIDDLE, SMALL, screen
from tests.tui.test_pods import command
from tests.tui.test_scenes import objects_of
from tests.unit.rules.test_protection import copy, location, namespace, schedule
from tests.unit.tables.test_protection_table import covered
from tests.unit.tables.test_views import Shown

NO_NAMESPACES = User(
    "no-namespaces", (Rule(("get", "list", "watch"), ("velero.io", "apps", "oadp.openshift.io"), ("*",)),)
)


@pytest.mark.sweep
async def test_each_namespace_says_whether_it_can_be_brought_back() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.see("9Protect", "crm-archive", "no copy")
        await at.shown.press("slash", *"legacy", "enter")
        await at.see("It no longer exists, and can be brought back.", "5 good; the next expires")
        await at.shown.press("enter")
        await at.see("ns legacy", "It no longer exists, and can be brought back.")


async def test_a_right_that_is_lost_while_it_watches_leaves_the_volumes_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watches: set[asyncio.Task[Any]] = set()
    route, is_lost = ApiServer._route, asyncio.Event()

    async def refusing(self: ApiServer, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.endswith("/persistentvolumeclaims"):
            if is_lost.is_set():
                return web.json_response({"kind": "Status", "reason": "Forbidden", "code": 403}, status=403)
            watches.add(cast("asyncio.Task[Any]", asyncio.current_task()))
        return await route(self, request)

    monkeypatch.setattr(ApiServer, "_route", refusing)
    async with stand("protection", size=LARGE) as at:
        await command(at, "protection")
        await at.shown.press("slash", *"bank", "enter")
        await at.see("bank protected", "2 of 2 in the newest copy")
        is_lost.set()
        for watch in watches:
            watch.cancel()
        await at.see("bank not known", "you may not list persistentvolumeclaims")


@pytest.mark.sweep
async def test_the_page_and_the_detail_of_a_namespace_read_claims_and_what_was_made_of_them() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.see("bank", "protected", "2/2", "stateful", "manifests", "0/2")
        await at.shown.press("slash", *"stateful", "enter")
        await at.see("Its newest copy has its objects, and the data of none of its volumes.")
        await at.shown.press("enter")
        await at.see("ns stateful", "data-0: no snapshot and no file copy of it was made.")


@pytest.mark.sweep
async def test_why_a_schedule_that_takes_it_has_made_no_copy_is_said_at_80_columns() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.see("crm-archive")
        await at.shown.press("slash", *"crm-archive", "enter")
        await at.see("started at 14 Nov 07:30Z, completed without it", "schedule took it up only afterwards")
        await at.shown.until(lambda: "Do  " in at.shown.pane)
        assert at.shown.pane.index("Do  ") < at.shown.pane.index("Why  ")
        await at.shown.press("tab", "pagedown")
        await at.see("Covered crm-daily (all), next 07:30:00Z; cluster-scoped: its own")


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_velero_refuses_is_told_in_one_line_at_80_columns(kept: bool) -> None:
    lost = location("offsite", "Unavailable")
    objects = [
        *(location(), lost),
        *covered("shop", cron="0 3 * * *", storageLocation="offsite"),
        *([copy("one", "shop", storage="offsite")] if kept else []),
    ]
    table = Shown("protection", objects)
    ((_, entry),) = table.model.ordered()
    told = ["".join(piece.text for piece in line) for line in wrap(protection_pane(entry, table.render_context()), 78)]
    (line,) = (place for place, text in enumerate(told) if text.startswith("Covered"))
    assert re.fullmatch(r"Covered  \S+ \(all\), next .*Z, refused; cluster-scoped: its own", told[line])
    why = "Its storage location offsite is Unavailable."
    assert (told[line + 1].strip() == why) is not kept, "where copies are there as well, it is told for all of them"


@pytest.mark.parametrize("silent", [False, True])
def test_a_copy_that_is_due_while_velero_is_silent_says_that_no_run_can_make_one(silent: bool) -> None:
    objects = [
        location(checked=NOW - timedelta(minutes=30 if silent else 0)),
        *covered("shop", cron="0 22 * * *"),
        copy("one", "shop", age=timedelta(hours=28)),
    ]
    table = Shown("protection", objects)
    render = table.render_context()
    ((_, entry),) = table.model.ordered()
    said = ["".join(piece.text for piece in one.spans) for one in protection_pane(entry, render)]
    outage = ["No run can make one while Velero is silent.", "Late from 22:00:00Z on."]
    assert said[1:3] == outage if silent else said[1] == "Late from 22:00:00Z on, unless a run makes a copy before."


@pytest.mark.sweep
async def test_the_pane_says_what_to_do_about_a_namespace_and_has_the_keys_that_it_names() -> None:
    async with stand("protection", size=MIDDLE) as at:
        await command(at, "protection")
        await at.shown.press("slash", *"metrics", "enter")
        await at.see("Extend the life of that", "v extend the life of the")
        assert at.shown.pane.index("v extend") < at.shown.pane.index("enter open")
        await at.shown.press("escape", "slash", *"ledger", "enter")
        await at.see("ledger-default-kopia is not ready.", "Do Check the storage")
        await at.shown.press("enter")
        await at.see("ns ledger", "Do Check the storage location default and Velero's log (:pods)")
        assert at.shown.text.index("Do  ") < at.shown.text.index("Newest  ")


def test_a_schedule_makes_no_further_copy_of_a_namespace_that_is_gone() -> None:
    made = copy("shop-daily-1", "shop", of="shop-daily")
    running = replace(made, status=replace(made.status, phase="InProgress", completion_timestamp=None))
    kept = [copy(f"shop-daily-{day}", "shop", age=timedelta(days=day), kept=timedelta(days=20 - day)) for day in (2, 3)]
    objects = [location(), schedule("shop-daily", "shop", cron="0 3 * * *"), *kept, running, namespace("other")]
    table = Shown("protection", objects)
    assert table.text("name", "state", "of", "promise", "next")[1] == ["·", "shop", "deleted", "", "", ""]
    (entry,) = (entry for key, entry in table.model.ordered() if key.name == "shop")
    item = table.model.view.item(entry, table.render_context())
    assert (item["nextRun"], item["promisedSince"], item["lateFrom"]) == (None, None, None)
    lines = {
        one.label: "".join(piece.text for piece in one.spans) for one in protection_pane(entry, table.render_context())
    }
    assert lines["Copies"] == "2 good; the next expires 2 Dec 02:41Z, the last 3 Dec 02:41Z"
    assert lines["Covered"] == "shop-daily (all); cluster-scoped: its own"
    assert "Coming" not in lines


def test_the_pane_names_the_backup_that_is_on_its_way_with_its_place() -> None:
    made = copy("shop-daily-2", "shop", of="shop-daily")
    meta = replace(made.metadata, creation_timestamp=NOW)
    coming = replace(made, metadata=meta, status=BackupStatus(phase="Queued"))
    table = Shown("protection", [location(), *covered("shop"), copy("one", "shop", age=timedelta(days=4)), coming])
    ((_, entry),) = table.model.ordered()
    (line,) = (one for one in protection_pane(entry, table.render_context()) if one.label == "Coming")
    assert "".join(piece.text for piece in line.spans).startswith("shop-daily-2, 1st in the queue")


@pytest.mark.sweep
async def test_who_may_not_list_namespaces_reads_that_some_may_be_missing() -> None:
    async with stand("protection", size=LARGE, user=NO_NAMESPACES) as at:
        await command(at, "protection")
        await at.see("crm-daily")
        await at.see("Namespaces cannot be listed")
        assert "deleted" not in at.shown.text


async def test_a_deleted_namespace_is_brought_back_as_it_was_from_its_newest_copy() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"legacy", "enter", "r")
        await at.see("Restore legacy", "old", "Into legacy: ")
        await at.send()
        await at.shown.until(lambda: bool(at.box.storage.list(at.box.storage.kind("Restore"))))
        (made,) = at.box.storage.list(at.box.storage.kind("Restore"))
        assert made["spec"]["includedNamespaces"] == ["legacy"]
        assert "namespaceMapping" not in made["spec"]
        assert made["spec"]["backupName"].startswith("legacy-daily-")


@pytest.mark.parametrize(
    ("key", "consequence", "written"),
    [
        ("r", " items of namespace ledger as of 01:50:03Z", "is created from ledger-hourly-"),
        pytest.param(
            "D",
            "foretop compares it with the backup, asks you, and deletes it.",
            "are created",
            marks=pytest.mark.sweep,
        ),
    ],
)
async def test_warnings_consequence_and_what_is_written_are_in_sight_at_80_columns(
    key: str, consequence: str, written: str
) -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"ledger", "enter", key)
        await at.see("ledger-default-kopia is not ready", consequence, "Writes ", written, "pgdn more")


async def test_a_dialog_names_the_key_to_what_is_below_its_end() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"ledger", "enter", "r")
        await at.see("pgdn more")
        await at.shown.press(*["pagedown"] * 5)
        await at.see("c copy command")
        assert "pgdn more" not in at.shown.text


async def test_an_older_copy_is_chosen_inside_the_dialog() -> None:
    """One had to leave, find the older backup among all others, and start again."""
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"legacy", "enter", "r")
        await at.see("Restore legacy", "Copy ‹ ")
        newest = at.dialog.keys[0].name
        await at.shown.press("right")
        assert at.dialog.keys[0].name < newest
        older = at.dialog.keys[0].name
        assert older in at.shown.text
        await at.send()
        await at.shown.until(lambda: bool(at.box.storage.list(at.box.storage.kind("Restore"))))
        (made,) = at.box.storage.list(at.box.storage.kind("Restore"))
        assert made["spec"]["backupName"] == older
        assert made["metadata"]["name"].startswith(older)


@pytest.mark.sweep
async def test_a_namespace_that_is_there_goes_beside_itself_or_into_itself_and_what_is_there_is_counted() -> None:
    async with stand("protection") as at:
        for name in ("one", "two"):
            body = {"metadata": {"name": name, "namespace": "orders"}, "data": {}}
            at.box.storage.create(at.box.storage.kind("ConfigMap"), body)
        await command(at, "protection")
        await at.shown.press("slash", *"orders", "enter", "r")
        await at.see("Restore orders", "only pods and persistentvolumeclaims", "Into [orders-restored ")
        await at.see("orders → orders-restored", "Target orders-restored: not yet", "[ Restore into orders-restored ]")
        into = at.dialog.query_one("#mapping", Prompt)
        assert (into.value, into.placeholder) == ("orders-restored", "empty: orders itself; e.g. orders-restored")
        into.value = ""
        await at.see("Target orders: 2 configmaps", "[ Restore orders ]")
        await at.see("orders exists already: what is in it stays, what is missing is added")
        assert at.writes == []


@pytest.mark.sweep
async def test_until_the_namespaces_are_listed_the_dialog_says_that_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = asyncio.Event()

    async def late(client: ApiClient) -> tuple[str, ...]:
        await answer.wait()
        return await visible_namespaces(client)

    monkeypatch.setattr(restore_dialog, "visible_namespaces", late)
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"legacy", "enter", "r")
        await at.see("Restore legacy", "Target looking…")
        assert "not allowed" not in at.shown.text
        answer.set()
        await at.see("Target legacy: not yet; Velero creates it")
        assert "not allowed" not in at.shown.text


@pytest.mark.sweep
async def test_a_namespace_without_a_copy_says_so() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"scratch", "enter", "r")
        assert at.shown.app.told[-1][1] == "Restore scratch: it has no copy"
        assert not at.has_dialog
        await at.shown.press("slash", "ctrl+u", *"crm-archive", "enter")
        await at.see("It has no copy, though its schedules promise one.")


async def test_what_cannot_be_restored_has_no_form_and_no_button_until_it_can() -> None:
    async with stand("protection") as at:
        await at.shown.press("7", "slash", *"offsite-media", "enter", "r")
        await at.see("Not possible: the storage location offsite is Unavailable", "[ Close ]", "esc/q close")
        assert "Restore into" not in at.shown.text
        assert "[ Restore" not in at.shown.text
        assert not at.dialog.query_one("#fields").display
        assert at.dialog.cancel.has_focus
        storage = at.box.storage
        storage.patch_status(storage.kind("BackupStorageLocation"), HOME, "offsite", {"phase": "Available"})
        await at.see("[ Cancel ]", "[ Restore from offsite-media-20261114073003 ]", "Namespaces")
        assert at.dialog.focused is at.dialog.query_one("#namespaces")
        assert at.writes == []


async def test_deleting_all_copies_of_a_namespace_at_once_says_so_before_all_else() -> None:
    async with stand("protection") as at:
        await at.shown.press("7", "slash", *"legacy", "enter", *("space",) * 5, "ctrl+d")
        await at.see("Delete 5 backups permanently", "Together they are all good copies of 1 namespace: legacy.")
        text = at.shown.text
        assert text.index("Together they are") < text.index("legacy-daily-2")
        await at.shown.press("escape", "space", "ctrl+d")
        await at.see("Delete 4 backups permanently")
        assert "Together they are" not in at.shown.text


@pytest.mark.sweep
async def test_a_copy_is_chosen_by_its_date_and_its_age_is_said_once() -> None:
    async with stand("protection") as at:
        await command(at, "protection")
        await at.shown.press("slash", *"legacy", "enter", "r")
        await at.see("Restore legacy", "Copy ‹ ")
        assert re.search(r"‹ (\d+ \w{3} )?\d\d:\d\d(:\d\d)?Z \(1 of \d\) ›", at.shown.text)
        assert at.shown.text.count(" old") == 1


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_while_velero_is_away_the_page_says_that_nothing_is_restored(size: tuple[int, int]) -> None:
    for scene, words in (("dead", "Velero is back"), ("outage", "the storage responds")):
        async with screen(FilledSource(objects_of(scene)), size) as shown:
            await shown.press("9")
            assert f"nothing is restored until {words}" in shown.text
