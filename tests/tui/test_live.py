"""What changes in the cluster is on the screen, where it belongs, and costs what it must and no more."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest

from foretop.panes.detail_sections import sections_of
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import FirstRows, WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, from_builtins
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.models.wire import Resource
from tests.objects import NOW
from tests.tui.fake_source import FilledSource, backup_dict, calm, meta, troubled
from tests.tui.pilot import MIDDLE, SMALL, Screen, running, screen


def _many(number: int) -> list[Resource]:
    return [
        from_builtins(
            Backup,
            backup_dict(f"run-{place:05d}", "Completed", "2026-11-15T01:00:03Z", "2026-11-15T01:10:03Z"),
        )
        for place in range(number)
    ]


def _change(shown: Screen, name: str, phase: str) -> None:
    changed = backup_dict(name, phase, "2026-11-15T01:00:03Z", "2026-11-15T01:10:03Z")
    shown.source.change(BACKUP, changed)


@pytest.mark.sweep
async def test_one_changed_row_of_thousands_costs_one_row_and_one_line() -> None:
    async with screen(FilledSource([*calm(), *_many(3000)]), MIDDLE, painted=True) as shown:
        await shown.press("7")
        await shown.sort_by("name")
        rows = shown.table.rows
        assert isinstance(rows, StoreTableModel)
        await shown.until(lambda: not rows.table.due)
        await shown.tick()
        derived, made = rows.table.derived, shown.table.strips_made
        _change(shown, shown.names()[3], "Failed")
        await shown.tick()
        assert rows.table.derived - derived == 1
        assert shown.table.strips_made - made == 1
        assert "Failed" in shown.lines[3 + 1 + 3]


async def test_a_change_that_is_not_on_the_screen_draws_no_line() -> None:
    async with screen(FilledSource([*calm(), *_many(300)])) as shown:
        await shown.press("7")
        await shown.sort_by("name")
        await shown.tick()
        made = shown.table.strips_made
        _change(shown, "run-00299", "Failed")
        await shown.tick()
        assert shown.table.strips_made == made


async def test_the_rest_of_a_cluster_goes_on_when_its_first_rows_are_drawn() -> None:
    source = FilledSource(calm())
    rows = source.first_rows = FirstRows(frozenset({BACKUP.name}), longest=1000.0)
    async with screen(source) as shown:
        await shown.tick()
        assert rows.awaits(BACKUP.name), "they have not come yet"
        rows.note_listed(BACKUP.name)
        assert rows.is_to_be_shown
        source.change(BACKUP, backup_dict("just-made", "New", "2026-11-15T02:41:00Z"))
        await shown.until(lambda: not rows.awaits(BACKUP.name))


async def test_an_idle_second_draws_the_clock_and_no_row() -> None:
    async with screen() as shown:
        await shown.press("2")
        await shown.tick()
        made = shown.table.strips_made
        shown.source.manual.advance(timedelta(seconds=1))
        await shown.tick()
        assert shown.table.strips_made == made
        assert "02:41:08Z" in shown.status


@pytest.mark.sweep
async def test_the_cursor_stays_on_its_object_when_rows_come_in_before_it() -> None:
    async with screen(FilledSource([*calm(), *_many(40)])) as shown:
        await shown.press("7")
        await shown.sort_by("name")
        await shown.press(*["down"] * 20)
        held = shown.table.cursor
        assert held is not None
        line = [row.key for row in shown.table.window].index(held)
        for name in ("a-first", "b-second", "c-third"):
            _change(shown, name, "Completed")
        await shown.tick()
        assert shown.table.cursor == held
        assert [row.key for row in shown.table.window].index(held) == line


@pytest.mark.sweep
async def test_the_neighbour_takes_the_cursor_of_an_object_that_goes() -> None:
    async with screen() as shown:
        await shown.press("2", "down", "down")
        gone = shown.source.store.get(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        assert gone is not None
        shown.source.store.sink(WatchScope("prod-eu", SCHEDULE), shown.source.manual).apply("DELETED", gone)
        await shown.tick()
        assert "etcd-hourly" not in shown.names()
        assert shown.table.cursor == shown.source.key(SCHEDULE, "velero", "mongo-nightly")


async def test_changed_cells_are_lit_once_and_the_clock_lights_nothing() -> None:
    async with screen(display_options=DisplayOptions(flash=True)) as shown:
        await shown.press("3")
        await shown.tick()
        shown.source.manual.advance(timedelta(minutes=2))
        await shown.tick()
        assert not shown.table._lit
        shown.source.change(NAB, {"metadata": meta("features", "team-ml"), "status": {"phase": "New"}})
        await shown.tick()
        assert len(shown.table._lit) == 1
        await shown.until(lambda: not shown.table._lit)


async def test_nothing_is_lit_where_it_was_not_asked_for() -> None:
    async with screen(display_options=DisplayOptions(flash=False)) as shown:
        await shown.press("3")
        shown.source.change(NAB, {"metadata": meta("features", "team-ml"), "status": {"phase": "New"}})
        await shown.tick()
        assert not shown.table._lit


async def test_an_open_object_is_told_anew_as_it_changes() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        assert "740 of 1,000" in shown.text
        done = {"itemsBackedUp": 990, "totalItems": 1000}
        changed = backup_dict(
            "mongo-nightly-20261115023003", "Finalizing", "2026-11-15T02:30:03Z", of="mongo-nightly", progress=done
        )
        shown.source.change(BACKUP, changed)
        await shown.tick()
        assert "990 of 1,000" in shown.text
        await shown.press(*["right"] * sections_of(BACKUP.name).index("changes"))
        assert "phase: InProgress → Finalizing" in shown.text


@pytest.mark.sweep
async def test_a_schedule_that_becomes_overdue_turns_up_in_triage() -> None:
    async with screen(FilledSource(calm())) as shown:
        assert "No problems." in shown.text
        shown.source.manual.advance(timedelta(minutes=22))
        for _ in range(3):
            shown.source.manual.advance(timedelta(seconds=11))
            assert shown.app.main_screen.state is not None
            shown.app.main_screen.state.begin_frame()
            shown.app.main_screen.state.judge(at_once=True)
        await shown.tick()
        assert "No problems" not in shown.text
        assert "✗" in shown.status


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (WatchState.FORBIDDEN, "you need permission to list and watch schedules.velero.io"),
        (WatchState.NOT_INSTALLED, "Not installed in this cluster: schedules.velero.io"),
        (WatchState.SYNCING, "Syncing schedules.velero.io: ▇▇▇▇▁▁▁▁▁▁▁▁ 12 of 40"),
        (WatchState.STALE, "schedules.velero.io: stale for 40 seconds: connection refused"),
        (WatchState.SIGNED_OUT, "schedules.velero.io: signed out"),
    ],
)
async def test_a_tab_without_its_objects_says_why(state: WatchState, words: str) -> None:
    source = FilledSource([])
    since = NOW - timedelta(seconds=40)
    health = WatchHealth(state, since, "connection refused" if state is WatchState.STALE else "", seen=12, expected=40)
    source.store.health.report(WatchScope("prod-eu", SCHEDULE), health)
    async with screen(source) as shown:
        await shown.press("2")
        await shown.tick()
        assert words in " ".join(shown.text.split())


@pytest.mark.sweep
async def test_nothing_is_judged_while_the_first_lists_come_in() -> None:
    source = FilledSource(troubled())
    source.store.health.report(WatchScope("prod-eu", BACKUP), WatchHealth(WatchState.SYNCING, NOW, seen=3, expected=14))
    async with screen(source) as shown:
        assert "Loading…" in shown.text
        assert "backups  ▇▇▇▁▁▁▁▁▁▁▁▁ 3 of 14" in shown.text
        assert "✗" not in shown.status
        source.store.health.report(WatchScope("prod-eu", BACKUP), WatchHealth(WatchState.LIVE, NOW))
        source.manual.advance(timedelta(seconds=2))

        def is_told() -> bool:
            shown.app.pulse()
            return "✗5" in shown.status

        await shown.until(is_told)


@pytest.mark.sweep
async def test_rows_stay_on_the_screen_while_the_server_is_away() -> None:
    async with screen() as shown:
        await shown.press("2")
        for scope, _ in tuple(shown.source.store.health.watches("prod-eu")):
            shown.source.store.health.report(scope, WatchHealth(WatchState.STALE, NOW, "no answer"))
        shown.source.manual.advance(timedelta(seconds=40))
        await shown.tick()
        assert "stale 40s" in shown.status
        assert len(shown.names()) == 6


def test_the_frame_is_there_before_the_session_and_before_its_libraries() -> None:
    code = (
        "import sys, foretop.app\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in ('kubernetes', 'aiohttp', 'yarl')]\n"
        "print(len(heavy), len(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy, modules = map(int, done.stdout.split())
    assert heavy == 0
    assert modules < 450


async def test_what_keeps_the_session_from_opening_is_said_and_the_keys_work_meanwhile() -> None:
    from foretop.app import Dashboard
    from foretop_core.dashboard.session_protocol import ClusterSession
    from foretop_core.errors import ForetopError

    def refuse() -> ClusterSession:
        raise ForetopError("Cannot read the kubeconfig", "it no longer exists", "set KUBECONFIG")

    app = Dashboard(refuse, DisplayOptions())
    async with running(app, SMALL) as pilot:
        shown = Screen(app, pilot, FilledSource([]))
        await shown.until(lambda: "Cannot read the kubeconfig: it no longer exists" in shown.text)
        await shown.press("2")
        assert shown.page == "schedules"
        assert "Set KUBECONFIG." in shown.text


async def test_the_session_is_started_and_stopped_with_the_screen() -> None:
    source = FilledSource(troubled())
    async with screen(source):
        assert source.running
    assert not source.running
