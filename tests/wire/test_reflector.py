"""A reflector against a server that misbehaves: after each fault the sink has what the server has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio
from aiohttp import web

from foretop_core.clock import SystemClock
from foretop_core.kube.watching.reflector import Reflector
from foretop_core.kube.watching.retry import InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import WatchScope, WatchState
from foretop_core.models.kinds import SCHEDULE
from tests.wire.faulty_server import RoughServer, Script, answer, hang_up, serving
from tests.wire.watching import PATIENCE, Naps, WatchedStore, connect, following, versions


@pytest_asyncio.fixture
async def server() -> AsyncIterator[RoughServer]:
    async with serving(RoughServer()) as running:
        for name in ("daily", "hourly", "weekly"):
            await running.put(name, spec={"schedule": "@daily"})
        yield running


async def test_everything_there_is_listed_and_what_changes_is_followed(server: RoughServer) -> None:
    async with following(server) as sink:
        await server.until_watched()
        await server.put("daily", spec={"schedule": "@daily", "paused": True})
        await server.put("new", spec={"schedule": "@hourly"})
        await server.delete("weekly")
        await sink.until_equal(server)
        assert sorted(sink.objects) == ["daily", "hourly", "new"]
        assert [health.state for health in sink.healths] == [WatchState.SYNCING, WatchState.LIVE]


def fill(server: RoughServer, count: int) -> None:
    for number in range(count):
        server.version += 1
        meta = {"name": f"s{number:04}", "namespace": "velero", "resourceVersion": str(server.version)}
        server.objects[f"s{number:04}"] = {"metadata": meta, "spec": {"schedule": "@daily " + "x" * 200}}


async def test_the_first_page_of_a_long_list_comes_by_itself_and_then_all_at_once(server: RoughServer) -> None:
    fill(server, 1234)
    async with following(server) as sink:
        await sink.until_equal(server)
        await server.until_watched()
    version = str(server.version)
    assert server.lists() == [{"limit": "500"}, {"resourceVersion": version, "resourceVersionMatch": "NotOlderThan"}]
    shown = [(health.seen, health.expected) for health in sink.healths[1:] if health.seen]
    assert shown[0] == (500, 1237)
    assert len(shown) > 1, "the rest is shown while it comes"
    assert all(0 < seen <= 1237 and expected == 1237 for seen, expected in shown)


async def test_a_server_that_refuses_a_whole_list_is_read_page_by_page(server: RoughServer) -> None:
    fill(server, 1234)
    server.refuses_whole_lists = True
    async with following(server) as sink:
        await sink.until_equal(server)
        await server.until_watched()
    assert [params.get("limit") for params in server.lists()] == ["500", None, "500", "500", "500"]
    assert [(health.seen, health.expected) for health in sink.healths[2:4]] == [(500, 1237), (1000, 1237)]


async def test_what_is_deleted_after_the_first_page_does_not_stay(server: RoughServer) -> None:
    fill(server, 1234)

    async def answer_then_delete(request: web.Request) -> web.StreamResponse:
        response = await server.answer_list(request)
        await server.delete("s0000")
        return response

    server.list_faults.append(answer_then_delete)
    async with following(server) as sink:
        await sink.until_equal(server)
        assert "s0000" not in sink.objects


async def test_what_changes_while_a_long_list_comes_in_is_shown_at_once(server: RoughServer) -> None:
    fill(server, 1234)
    shown = asyncio.Event()

    async def half_then_rest(request: web.Request) -> web.StreamResponse:
        whole = await server.answer_list(request)
        assert isinstance(whole, web.Response)
        assert isinstance(whole.body, bytes)
        half = len(whole.body) // 2
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(whole.body[:half])
        await shown.wait()
        await response.write(whole.body[half:])
        return response

    server.list_faults.extend([server.answer_list, half_then_rest])
    async with following(server) as sink:
        await server.until_watched()
        await server.put("s1200", spec={"schedule": "@weekly"})
        await server.put("new", spec={"schedule": "@hourly"})
        await server.delete("s0001")
        await server.delete("s1201")
        await sink.until(lambda: "new" in sink.objects and "s1200" in sink.objects and "s0001" not in sink.objects)
        assert sink.replacements == 0, "the list is still coming in"
        shown.set()
        await sink.until(lambda: sink.replacements == 1)
        assert sink.versions() == versions(server), "the list puts back nothing that was newer, or gone"
        await server.put("daily", spec={"schedule": "@weekly"})
        await sink.until_equal(server)


class SlowToLeave(Reflector):
    """Its watch beside a list takes a moment to end."""

    leaving = asyncio.Event()

    async def _watch_beside_list(self, version: str) -> None:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            self.leaving.set()
            await asyncio.sleep(0.01)


async def test_a_reflector_that_is_ended_while_the_watch_beside_its_list_ends_is_over(server: RoughServer) -> None:
    client, scope = connect(server.url), WatchScope("rough", SCHEDULE)
    reflector = SlowToLeave(client, scope, WatchedStore(scope), SystemClock(), InterruptibleWait(Naps(), Random(7)))

    async def listed() -> None:
        async with reflector._watched_meanwhile("1"):
            await asyncio.sleep(0)
        await asyncio.sleep(PATIENCE)

    task = asyncio.create_task(listed())
    await reflector.leaving.wait()
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=30)
    assert done, "it goes on although it was ended"
    await client.close()


async def test_a_whole_list_that_is_cut_in_the_middle_is_asked_for_again(server: RoughServer) -> None:
    fill(server, 1234)

    async def cut(request: web.Request) -> web.StreamResponse:
        whole = await server.answer_list(request)
        assert isinstance(whole, web.Response)
        assert isinstance(whole.body, bytes)
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "999999"})
        await response.prepare(request)
        await response.write(whole.body[: len(whole.body) // 2])
        await hang_up(request)
        return response

    server.list_faults.extend([server.answer_list, cut])
    async with following(server, naps=Naps()) as sink:
        await sink.until_equal(server)
    assert [params.get("limit") for params in server.lists()] == ["500", None, "500", None]


async def test_a_connection_cut_in_the_middle_of_a_line_is_resumed_without_a_new_list(
    server: RoughServer,
) -> None:
    server.scripts.append(Script(cut_inside_line=2))
    async with following(server) as sink:
        await server.until_watched()
        for number in range(4):
            await server.put(f"more-{number}")
        await sink.until_equal(server)
    assert len(server.lists()) == 1
    assert len(server.watches()) == 2


async def test_a_watch_that_stalls_without_closing_is_cut_and_resumed(server: RoughServer) -> None:
    server.scripts.append(Script(stall=True))
    async with following(server, WatchTimings(idle=0.2)) as sink:
        await server.until_watched()
        await server.put("unseen")
        await sink.until_equal(server)
    assert len(server.lists()) == 1


async def test_a_quiet_server_that_sends_no_bookmarks_is_never_called_stale(server: RoughServer) -> None:
    async with following(server, WatchTimings(idle=0.5)) as sink:
        async with asyncio.timeout(PATIENCE), server.news:
            await server.news.wait_for(lambda: len(server.watches()) >= 3)
        assert {health.state for health in sink.healths} == {WatchState.SYNCING, WatchState.LIVE}
    assert len(server.lists()) == 1


async def test_a_watch_that_fell_silent_and_cannot_be_resumed_is_stale_since_it_was_last_heard(
    server: RoughServer,
) -> None:
    server.scripts.append(Script(stall=True))
    async with following(server, WatchTimings(idle=3.0)) as sink:
        await server.until_watched()
        opened = SystemClock().now()
        server.watch_faults.append(answer(503, "ServiceUnavailable"))
        await sink.until(lambda: any(health.state is WatchState.STALE for health in sink.healths))
        (stale,) = [health for health in sink.healths if health.state is WatchState.STALE]
        assert stale.since <= opened


async def test_what_was_deleted_while_the_place_was_lost_vanishes_with_the_new_list(
    server: RoughServer,
) -> None:
    server.scripts.append(Script(end_after=1))
    async with following(server) as sink:
        await server.until_watched()
        server.objects.pop("weekly")
        server.watch_faults.append(answer(410, "Expired", "too old resource version"))
        await server.put("last-seen")
        await sink.until_equal(server)
        assert "weekly" not in sink.objects
    assert sink.replacements == 2


async def test_an_error_event_that_says_expired_leads_to_a_new_list(server: RoughServer) -> None:
    server.scripts.append(Script(error_after=1))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("one")
        await sink.until(lambda: sink.replacements == 2)
        await server.put("two")
        await sink.until_equal(server)


async def test_a_continue_token_that_expires_halfway_is_followed_by_one_whole_list(
    server: RoughServer,
) -> None:
    for number in range(40):
        await server.put(f"s{number}")
    server.refuses_whole_lists = server.forget_continue_tokens = True
    async with following(server, WatchTimings(chunk=20)) as sink:
        await sink.until_equal(server)
        await server.until_watched()
    assert ["limit" in params for params in server.lists()] == [True, False, True, True, False]


async def test_a_busy_server_is_given_the_time_that_it_asks_for(server: RoughServer) -> None:
    naps = Naps()
    server.list_faults.append(answer(429, "TooManyRequests", "storage is (re)initializing", retry_after=17))
    async with following(server, naps=naps) as sink:
        await sink.until_equal(server)
    assert naps.taken == [17.0]
    assert sink.healths[1].state is WatchState.STALE
    assert "storage is (re)initializing" in sink.healths[1].error


async def test_waits_grow_to_half_a_minute_and_start_over_after_a_success(server: RoughServer) -> None:
    naps = Naps()
    server.list_faults.extend([answer(500, "InternalError", "etcd")] * 9)
    async with following(server, naps=naps) as sink:
        await sink.until_equal(server)
        await server.until_watched()
        server.watch_faults.append(answer(503, "ServiceUnavailable"))
        await server.put("a")
        await sink.until_equal(server)
        before = len(naps.taken)
        assert naps.taken[:before] == sorted(naps.taken[:7]) + naps.taken[7:before]
        assert 0.375 <= naps.taken[0] <= 0.625
        assert all(22.5 <= nap <= 37.5 for nap in naps.taken[7:9])


async def test_a_server_that_cannot_be_reached_leaves_the_rows_and_says_since_when(
    server: RoughServer,
) -> None:
    server.scripts.append(Script(cut_inside_line=1))
    async with following(server) as sink:
        await sink.until(lambda: sink.state is WatchState.LIVE)
        rows = dict(sink.objects)
        server.watch_faults.extend([hang_up, hang_up])
        await server.put("lost")
        await sink.until_equal(server)
        stale = [health for health in sink.healths if health.state is WatchState.STALE]
        assert len(stale) >= 2
        assert {health.since for health in stale} == {stale[0].since}
        assert all(health.retry_at and health.retry_at > health.since for health in stale)
        assert "was cut" in stale[0].error
        assert rows.items() <= sink.objects.items()
        await sink.until(lambda: sink.state is WatchState.LIVE)


async def test_a_line_that_is_no_json_is_counted_and_the_watch_goes_on(server: RoughServer) -> None:
    def garble(lines: list[bytes]) -> list[bytes]:
        return [b'{"type": "ADDED", "object": {"metadata"\n', b"\xff\xfe\n", *lines]

    server.scripts.append(Script(twist=garble))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("after")
        await sink.until_equal(server)
        assert sink.lost_lines == 2
        assert server.watching == 1


async def test_an_event_lost_in_an_unreadable_line_is_made_good_when_the_watch_ends(
    server: RoughServer,
) -> None:
    server.scripts.append(Script(twist=lambda lines: [b"{]\n" for _ in lines], end_after=1))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("swallowed")
        await sink.until(lambda: sink.replacements == 2)
        await sink.until_equal(server)
    assert sink.lost_lines == 1


async def test_one_unreadable_object_is_one_unreadable_row(server: RoughServer) -> None:
    await server.put("odd", spec={"schedule": 7})
    async with following(server) as sink:
        await server.until_watched()
        assert sorted(sink.objects) == ["daily", "hourly", "weekly"]
        assert "spec.schedule" in sink.bad["odd"]
        await server.put("odd", spec={"schedule": "@daily"})
        await sink.until_equal(server)
        assert not sink.bad
        await server.put("odd", spec="nonsense")
        await sink.until(lambda: "odd" in sink.bad)
        await server.delete("odd")
        await sink.until(lambda: not sink.bad)
        await sink.until_equal(server)


async def test_bytes_that_are_not_utf_8_cost_one_object(server: RoughServer) -> None:
    def spoil(lines: list[bytes]) -> list[bytes]:
        return [line.replace(b"spoil-me", b"\xff\xfe\xfd") for line in lines]

    server.scripts.append(Script(twist=spoil))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("odd", spec={"schedule": "spoil-me"})
        await server.put("fine")
        await sink.until(lambda: "fine" in sink.objects)
        assert "odd" not in sink.objects
        assert len(sink.bad) + sink.lost_lines == 1


@pytest.mark.parametrize(
    "types",
    [
        {"apiVersion": "velero.io/v1", "kind": "Restore"},
        {"apiVersion": "example.com/v1", "kind": "Schedule"},
        {"apiVersion": "velero.io/v2", "kind": "Schedule"},
        {"apiVersion": "velero.io/v1"},
        {"kind": "Schedule"},
        {"apiVersion": "velero.io/v1", "kind": 7},
        {},
    ],
)
async def test_an_event_of_another_kind_is_not_a_row_and_touches_none(
    server: RoughServer, types: dict[str, object]
) -> None:
    def other(name: str, change: str) -> bytes:
        meta = {"name": name, "namespace": "velero", "resourceVersion": "900"}
        return json.dumps({"type": change, "object": {**types, "metadata": meta}}).encode() + b"\n"

    strange = [
        other("stranger", "ADDED"),
        other("daily", "MODIFIED"),
        other("hourly", "DELETED"),
        other("", "BOOKMARK"),
    ]
    server.scripts.append(Script(twist=lambda lines: [*strange, *lines], end_after=5))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("after")
        await sink.until(lambda: "after" in sink.objects)
        assert sink.versions() == versions(server)
        assert not sink.bad
        await sink.until(lambda: sink.replacements == 2)
    assert sink.lost_lines == 4


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"error": "sign in"},
        {"kind": "Status", "status": "Failure", "message": "sign in"},
        {"kind": "ScheduleList", "metadata": {}, "items": []},
        {"kind": "RestoreList", "metadata": {"resourceVersion": "9"}, "items": []},
    ],
)
async def test_an_answer_that_is_no_list_of_the_kind_takes_no_row_away(
    server: RoughServer, body: dict[str, object]
) -> None:
    async def lie(request: web.Request) -> web.StreamResponse:
        server.list_faults.append(lie)
        return web.json_response(body)

    async with following(server) as sink:
        await server.until_watched()
        rows = sink.versions()
        server.list_faults.append(lie)
        server.watch_faults.append(answer(410, "Expired"))
        await server.end_watches()
        refused = "the answer is not a list of schedules.velero.io"
        await sink.until(lambda: sink.state is WatchState.STALE and refused in sink.healths[-1].error)
        assert sink.versions() == rows
        server.list_faults.clear()
        await sink.until(lambda: sink.state is WatchState.LIVE)
        assert sink.versions() == rows


async def test_what_a_list_holds_of_another_kind_is_not_a_row(server: RoughServer) -> None:
    """An item may go without its kind, as those of Kubernetes' own kinds do; it may not name another."""
    del server.objects["daily"]["kind"]
    del server.objects["daily"]["apiVersion"]
    await server.put("stranger")
    server.objects["stranger"]["kind"] = "Restore"
    async with following(server) as sink:
        await sink.until(lambda: sink.replacements == 1)
        assert sorted(sink.objects) == ["daily", "hourly", "weekly"]
        assert sink.store.health.context("rough").unreadable == 1
        assert [gap.kind for gap in sink.store.snapshot("rough").unseen] == ["Schedule"]


async def test_events_that_come_twice_or_in_the_wrong_order_do_no_harm(server: RoughServer) -> None:
    server.scripts.append(Script(twist=lambda lines: [*lines, *reversed(lines)]))
    async with following(server) as sink:
        await server.until_watched()
        server.holding = True
        await server.put("x", spec={"schedule": "1 * * * *"})
        await server.put("x", spec={"schedule": "2 * * * *"})
        await server.delete("daily")
        await server.put("end")
        await server.put("y")
        await server.delete("y")
        await server.release()
        await sink.until_equal(server)
        await server.put("told-after-all-else")
        await sink.until(lambda: "told-after-all-else" in sink.objects)
        assert sink.versions() == versions(server)
        assert len(server.watches()) == 1


@pytest.mark.sweep
async def test_an_object_of_five_megabytes_is_taken_in_list_and_watch(server: RoughServer) -> None:
    weight = {"blob": "x" * 5_000_000}
    await server.put("heavy", metadata_extra=weight)
    async with following(server) as sink:
        await sink.until_equal(server)
        await server.put("heavy", metadata_extra={"blob": "y" * 5_000_000})
        await sink.until_equal(server)


async def test_compressed_watches_and_lists_are_read(server: RoughServer) -> None:
    await server.put("wide", spec={"schedule": "x" * 200_000})
    server.scripts.append(Script(gzipped=True))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("daily", spec={"paused": True})
        await server.put("end")
        await sink.until_equal(server)


async def test_a_watch_that_drips_byte_by_byte_is_followed_all_the_same(server: RoughServer) -> None:
    server.scripts.append(Script(drip=True))
    async with following(server, WatchTimings(idle=5.0)) as sink:
        await server.until_watched()
        await server.put("slow")
        await sink.until_equal(server)
    assert len(server.watches()) == 1


async def test_a_watch_that_ends_as_soon_as_it_began_is_not_asked_for_in_a_circle(
    server: RoughServer,
) -> None:
    async def end_at_once(request: object) -> None:
        return None

    naps = Naps()
    server.watch_faults.extend([end_at_once] * 4)
    async with following(server, naps=naps) as sink:
        await server.until_watched()
        await sink.until_equal(server)
    assert len(naps.taken) == 4
    assert naps.taken == sorted(naps.taken)


async def test_a_kind_that_may_not_be_listed_says_so_and_is_asked_for_each_minute(
    server: RoughServer,
) -> None:
    naps = Naps()
    server.list_faults.extend([answer(403, "Forbidden")] * 2)
    async with following(server, naps=naps) as sink:
        await sink.until_equal(server)
    assert naps.taken == [60.0, 60.0]
    assert sink.healths[1].state is WatchState.FORBIDDEN
    assert "list on schedules.velero.io in all namespaces is not allowed" in sink.healths[1].error


async def test_a_kind_that_is_installed_later_is_found(server: RoughServer) -> None:
    naps = Naps()
    server.list_faults.extend([answer(404, "NotFound")] * 2)
    async with following(server, naps=naps) as sink:
        await sink.until_equal(server)
    assert naps.taken == [60.0, 60.0]
    assert sink.healths[1].state is WatchState.NOT_INSTALLED


async def test_the_bookmark_moves_the_place_to_resume_from(server: RoughServer) -> None:
    server.version = 500
    mark = await server.bookmark()
    server.version = 4
    server.scripts.append(Script(twist=lambda lines: [*lines, mark + b"\n"], end_after=1))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("a")
        await sink.until_equal(server)
        async with asyncio.timeout(PATIENCE), server.news:
            await server.news.wait_for(lambda: len(server.watches()) == 2)
    assert [params["resourceVersion"] for params in server.watches()] == ["4", "500"]


@pytest.mark.parametrize("code", [500, 502, 503, 504])
async def test_a_refused_watch_is_resumed_where_it_was(server: RoughServer, code: int) -> None:
    server.watch_faults.append(answer(code, "Trouble"))
    async with following(server) as sink:
        await server.until_watched()
        await sink.until_equal(server)
    assert len(server.lists()) == 1
    assert len({params["resourceVersion"] for params in server.watches()}) == 1


async def test_a_place_that_lies_in_a_restored_servers_future_leads_to_a_new_list(
    server: RoughServer,
) -> None:
    message = "Too large resource version: 9000, current: 12"
    server.watch_faults.append(answer(504, "Timeout", message))
    async with following(server) as sink:
        await server.until_watched()
        await sink.until_equal(server)
    assert len(server.lists()) == 2


async def test_an_event_older_than_the_list_brings_nothing_back(server: RoughServer) -> None:
    await server.put("a")
    old = json.dumps({"type": "ADDED", "object": server.objects["a"]}).encode()
    await server.delete("a")
    await server.put("b")
    server.scripts.append(Script(twist=lambda lines: [old + b"\n", *lines], end_after=1))
    async with following(server) as sink:
        await server.until_watched()
        await server.put("c")
        await sink.until_equal(server)
        assert "a" not in sink.objects
    assert len(server.lists()) == 2


async def test_a_server_put_back_to_lower_versions_in_silence_is_listed_again(server: RoughServer) -> None:
    """A watch from a version that it has not reached yet is open, and nothing comes of it."""
    for name in ("a", "b"):
        await server.put(name)
    async with following(server, WatchTimings(idle=0.3)) as sink:
        await server.until_watched()
        await sink.until_equal(server)
        server.objects.clear()
        server.log.clear()
        server.version = 1
        await server.put("a", spec={"schedule": "@daily"})
        await sink.until(lambda: set(sink.objects) == {"a"})
        await sink.until_equal(server)


async def test_a_server_that_was_away_is_listed_again_though_its_versions_are_as_high_as_before(
    server: RoughServer,
) -> None:
    """An etcd restored from an older snapshot counts on from there: soon other objects have the same versions."""
    async with following(server) as sink:
        await server.until_watched()
        await sink.until_equal(server)
        server.watch_faults.extend([hang_up, hang_up])
        server.objects.clear()
        server.log.clear()
        server.objects["other"] = {"metadata": {"name": "other", "namespace": "velero", "resourceVersion": "2"}}
        server.version += 50
        await server.end_watches()
        await sink.until_equal(server)
    assert len(server.lists()) == 2


async def test_after_a_cut_a_new_list_comes_once_the_last_one_is_old(server: RoughServer) -> None:
    """The server behind the cut connection may have been restored meanwhile, and nothing would tell."""
    server.scripts.append(Script(cut_inside_line=1))
    async with following(server, WatchTimings(list_after_cut=0.0)) as sink:
        await server.until_watched()
        await sink.until_equal(server)
        del server.objects["daily"]
        await server.put("more")
        await sink.until_equal(server)
    assert "daily" not in sink.objects


async def test_a_kind_that_is_served_in_another_version_only_is_read_all_the_same(server: RoughServer) -> None:
    async def group(request: web.Request) -> web.StreamResponse:
        offered = {"groupVersion": "velero.io/v2", "version": "v2"}
        return web.json_response({"kind": "APIGroup", "preferredVersion": offered, "versions": [offered]})

    async def resources(request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": "APIResourceList", "resources": [{"name": "schedules"}]})

    async def schedules(request: web.Request) -> web.StreamResponse:
        return await server.handle_kind(request)

    server.other["GET", "/apis/velero.io"] = group
    server.other["GET", "/apis/velero.io/v2"] = resources
    server.other["GET", "/apis/velero.io/v2/schedules"] = schedules
    server.list_faults.append(answer(404, "NotFound"))
    server.types["apiVersion"] = "velero.io/v2"
    for name in server.objects:
        server.objects[name]["apiVersion"] = "velero.io/v2"
    naps = Naps()
    async with following(server, naps=naps) as sink:
        await sink.until_equal(server)
        assert naps.taken == [0.0], "the version that is served is listed at once"
        await server.until_watched()
        await server.put("later")
        await sink.until_equal(server)


async def test_a_person_who_asks_for_another_try_does_not_wait(server: RoughServer) -> None:
    server.list_faults.append(answer(403, "Forbidden"))
    pace = InterruptibleWait(random=Random(7))
    async with following(server, pace=pace) as sink:
        await sink.until(lambda: sink.state is WatchState.FORBIDDEN)
        pace.hurry()
        await sink.until_equal(server)
