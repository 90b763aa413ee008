"""What is on the screen while nothing comes in, or not all of it: rows stand still and say as of when they are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, KINDS
from tests.examples import sampled
from tests.tui.fake_source import FilledSource, calm, troubled
from tests.tui.pilot import MIDDLE, Screen, screen

REFUSED = "Cannot reach https://api.example: the connection was refused"
LOGIN = "The API server does not know you any more: the token has expired (sign in anew)"


def lose(source: FilledSource, state: WatchState = WatchState.STALE, error: str = REFUSED, *contexts: str) -> None:
    for kind in KINDS:
        source.fare(kind, state, error, contexts)


async def wait_until_judged(shown: Screen) -> None:
    shown.source.manual.advance(timedelta(seconds=11))
    assert shown.app.main_screen.state is not None
    shown.app.main_screen.state.begin_frame()
    shown.app.main_screen.state.judge(at_once=True)
    await shown.tick()


def all_rows(shown: Screen) -> list[str]:
    assert shown.table.rows is not None
    return [row.cells[-1].text for row in shown.table.rows.paint(0, 50)]


@pytest.mark.parametrize("digit", sampled("12347", *"17"))
async def test_while_nothing_comes_in_the_rows_stand_still_and_say_as_of_when_they_are(digit: str) -> None:
    async with screen() as shown:
        await shown.press(digit)
        lose(shown.source)
        await shown.tick()
        frozen = [row for row in shown.table.window if row.cells and not row.key.name.startswith("velero-out")]
        assert all(row.faded for row in frozen)
        shown.source.manual.advance(timedelta(minutes=20))
        await shown.tick()
        later = [row for row in shown.table.window if row.cells and not row.key.name.startswith("velero-out")]
        assert later == frozen[: len(later)]
        assert " prod-eu ✗ unreachable, seen 20m ago  " in shown.status
        assert "API ▲ trying" in shown.status
        assert "03:01:07Z" in shown.status, "the clock goes on"
        assert "seen 20m ago" in shown.rule
        assert "the connection was refused" in " ".join(shown.pane.split())


@pytest.mark.sweep
async def test_rows_count_on_when_the_cluster_is_back() -> None:
    async with screen() as shown:
        await shown.press("2")
        lose(shown.source)
        await shown.tick()
        lose(shown.source, WatchState.LIVE, "")
        shown.source.manual.advance(timedelta(minutes=20))
        await shown.tick()
        assert not any(row.faded for row in shown.table.window)
        assert "as of" not in shown.text
        assert "2h1m" in shown.text, "the age of the last backup"


@pytest.mark.sweep
async def test_one_who_is_signed_out_reads_it_beside_the_cluster_and_the_sentence_below() -> None:
    async with screen() as shown:
        lose(shown.source, WatchState.SIGNED_OUT, LOGIN)
        await wait_until_judged(shown)
        assert shown.status.startswith(" prod-eu ✗ signed out, seen 51s ago  ")
        assert "API ▲ signed out" in shown.status
        assert "context prod-eu" in shown.text
        assert ("open the queue" in shown.text, "enter open" in shown.footer) == (False, False), "nothing of it is seen"
        await shown.press("2")
        assert LOGIN in " ".join(shown.pane.split())


@pytest.mark.sweep
async def test_a_dead_cluster_among_several_is_a_finding_of_its_own() -> None:
    async with screen(FilledSource(troubled(), ("prod-eu", "prod-us"))) as shown:
        lose(shown.source, WatchState.STALE, REFUSED, "prod-us")
        await wait_until_judged(shown)
        assert "eu ✗5 ▲3 · us ✗ unreachable" in shown.status.replace("prod-", "")
        assert "API ✗ " in shown.status
        assert shown.table.rows is not None
        names = [column.name for column in shown.table.rows.columns]
        rows = [dict(zip(names, (cell.text for cell in row.cells), strict=True)) for row in shown.table.window]
        (lost,) = (row for row in rows if "context prod-us" in row["subject"])
        assert (lost["since"], lost["what"]) == ("51s", "the connection was refused")
        await shown.press("2")
        assert {row.faded for row in shown.table.window if row.key.context == "prod-us"} == {True}
        assert {row.faded for row in shown.table.window if row.key.context == "prod-eu"} == {False}


async def test_a_tab_narrowed_to_a_cluster_that_was_never_seen_says_why_it_is_empty() -> None:
    source = FilledSource(troubled(), ("prod-eu",))
    source.contexts = ("prod-eu", "prod-us")
    lose(source, WatchState.STALE, REFUSED, "prod-us")
    async with screen(source) as shown:
        await shown.press("3", ":", *"ctx us", "enter")
        said = " ".join(shown.text.split())
        assert (
            "prod-us: Cannot connect for 40 seconds: Cannot reach https://api.example: the connection was refused"
            in said
        )
        assert "Only context prod-us is shown: 0 shows all." in said
        await shown.press("1")
        await wait_until_judged(shown)
        assert "This cluster is out of reach." in " ".join(shown.text.split())


@pytest.mark.sweep
async def test_kinds_that_a_viewer_may_not_see_are_named_on_triage() -> None:
    async with screen() as shown:
        shown.source.fare(DEPLOYMENT, WatchState.FORBIDDEN)
        await wait_until_judged(shown)
        assert "▲ 1 kind not allowed" in shown.status
        assert "1 list not allowed" in all_rows(shown)
        assert "not allowed to see deployments" in shown.rule, "in sight, however many rows there are"


@pytest.mark.sweep
async def test_kinds_that_stand_still_are_named_and_their_rows_alone_are_faded() -> None:
    async with screen() as shown:
        shown.source.fare(BACKUP, WatchState.STALE, "Too many requests")
        await wait_until_judged(shown)
        assert "no updates for backups.velero.io" in all_rows(shown)
        await shown.press("7")
        assert all(row.faded for row in shown.table.window)
        assert "As of 02:40:27Z, stale: Too many requests" in " ".join(shown.pane.split())
        await shown.press("2")
        assert not any(row.faded for row in shown.table.window)


@pytest.mark.sweep
@pytest.mark.parametrize(("seconds", "words"), [(43, "clock 43s slow"), (-14221, "clock 3h57m fast")])
async def test_a_wrong_local_clock_is_told_in_words(seconds: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FilledSource, "skew", lambda _self, _context: timedelta(seconds=seconds))
    async with screen() as shown:
        assert f"{words}  " in shown.status
    async with screen(size=MIDDLE) as shown:
        assert f"   local {words}   " in shown.status


@pytest.mark.sweep
async def test_a_calm_page_names_the_kinds_that_it_does_without() -> None:
    async with screen(FilledSource(calm())) as shown:
        shown.source.fare(DEPLOYMENT, WatchState.FORBIDDEN)
        await shown.tick()
        said = " ".join(shown.text.split())
        assert "No problems." in said
        assert "You are not allowed to list and watch deployments.apps" in said
