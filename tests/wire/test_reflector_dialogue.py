"""What a reflector asks after each answer, how long it waits before, and what it reports: from scripts, in order."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import FirstRows, WatchHealth, WatchScope, WatchState
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from tests.objects import NOW
from tests.wire.watch_dialogue import IN_TEAM_A, TYPE, Answer, Dialogue, body, event, item, page, refuse, stream

LIST, WATCH = "list limit=500", "watch 5"
LIVE, STALE = WatchState.LIVE, WatchState.STALE
ADDED = event("ADDED", "new", "6")


async def played(*answers: Answer, **more: object) -> Dialogue:
    dialogue = Dialogue(list(answers))
    await dialogue.run(**more)  # type: ignore[arg-type]
    return dialogue


def awaited(longest: float = 1000.0) -> FirstRows:
    return FirstRows(frozenset({SCHEDULE.name}), longest)


async def test_a_list_is_followed_by_watches_from_where_the_last_one_was() -> None:
    changes = stream(event("ADDED", "c", "6"), event("MODIFIED", "a", "7"), event("DELETED", "b", "8"))
    found = await played(page(["a", "b"]), changes, stream(event("BOOKMARK", "", "11")))
    assert found.asked == [LIST, "watch 5", "watch 8", "watch 11"]
    assert found.told == [
        "syncing",
        "begin",
        "page a b",
        "end 5",
        "live",
        "ADDED c",
        "MODIFIED a",
        "DELETED b",
        "live",
    ]
    assert found.params[1] == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "5",
        "timeoutSeconds": "300",
    }
    assert found.healths[-1] == WatchHealth(LIVE, NOW, "", None, 0, None, 0.0)
    assert found.state is LIVE


async def test_selectors_go_with_every_request() -> None:
    scope = WatchScope("scripted", SCHEDULE, "team-a", "app=shop", "metadata.name=x")
    found = await played(
        page([], "v5", "next"), page([], "v5"), stream(stall=True), timing=WatchTimings(idle=0.05), scope=scope
    )
    for asked in found.params:
        assert (asked["labelSelector"], asked["fieldSelector"]) == ("app=shop", "metadata.name=x")


async def test_the_rest_of_a_list_waits_until_its_first_rows_are_shown() -> None:
    found = Dialogue(
        [page(["a"], "v5", "next"), page(["a", "b"], "v5"), refuse(410), page(["a"], "v6")], first=awaited()
    )
    running = asyncio.create_task(found.run())
    await found.until_told("page a")
    await asyncio.sleep(0.05)
    assert found.first.is_to_be_shown, "the rows are there"
    assert len(found.asked) == 1, "nobody has seen them yet"
    found.first.note_shown()
    assert not found.first.is_to_be_shown
    await running
    assert [asked.get("limit") for asked in found.params if "watch" not in asked] == ["100", None, "500"]


async def test_rows_that_nobody_shows_do_not_hold_up_the_rest_for_ever() -> None:
    found = Dialogue([page(["a"], "v5", "next"), page(["a", "b"], "v5")], first=awaited(longest=0.01))
    await found.run()
    assert "page a b" in found.told


@pytest.mark.parametrize("answer", [refuse(403), page(None)], ids=["refused", "empty"])
async def test_a_refusal_or_an_empty_list_is_to_be_shown_as_well(answer: Answer) -> None:
    found = Dialogue([answer], first=awaited())
    assert not found.first.is_to_be_shown
    await found.run()
    assert found.first.is_to_be_shown


async def test_a_long_list_is_asked_for_as_a_whole_after_its_first_page() -> None:
    """A version that is not a number: nothing is watched beside the list."""
    found = await played(page(["a"], "v5", "next", 2), page(["a", "b", "c"], "v6"))
    assert found.asked == [LIST, "list resourceVersion=v5 resourceVersionMatch=NotOlderThan", "watch v6"]
    assert found.told == ["syncing", "begin", "page a", "syncing", "begin", "page a b c", "end v6"]
    assert (found.healths[1].seen, found.healths[1].expected) == (1, 3)
    unknown = await played(page(["a"], "v5", "next"), page(None, "v6"))
    assert (unknown.healths[1].seen, unknown.healths[1].expected) == (1, None)


async def test_the_objects_of_a_whole_list_are_counted_while_they_come() -> None:
    names = [f"s{number:04}" for number in range(2000)]
    long = [item(name, spec={"schedule": "@daily " + "x" * 500}) for name in names]

    async def whole(request: web.Request) -> web.StreamResponse:
        text = json.dumps(body(long, "v6", "", None), separators=(",", ":"))
        return web.Response(text=text, content_type="application/json")

    found = await played(page(long[:1], "v5", "next", 1999), whole)
    begun = len(found.told) - found.told[::-1].index("begin")
    seen, healths, shown = 0, iter(found.healths[2:]), []
    for told in found.told[begun:-1]:
        if told == "syncing":
            health = next(healths)
            assert (health.seen, health.expected) == (seen, 2000)
        else:
            shown += told.split()[1:]
            seen = len(shown)
    assert shown == names
    assert max(len(told.split()) - 1 for told in found.told) == 100, "keys and clock go on in between"
    assert len(found.healths) > 3


async def test_where_a_whole_list_is_refused_or_not_whole_pages_are_read_to_the_end() -> None:
    for whole in (refuse(504), page(["a"], "v5", "next")):
        found = await played(
            page(["a"], "v5", "one", 2),
            whole,
            page(["a"], "v6", "one", 2),
            page(["b"], "v6", "two", 1),
            page(["c"], "v6"),
        )
        assert found.asked[2:] == [LIST, f"{LIST} continue=one", f"{LIST} continue=two", "watch v6"]
        assert [(one.seen, one.expected) for one in found.healths[1:]] == [(1, 3), (1, 3), (2, 3)]
        assert found.told[-7:] == ["begin", "page a", "syncing", "page b", "syncing", "page c", "end v6"]


async def test_pages_that_come_again_are_left_for_a_minute() -> None:
    found = await played(page([], "v5", "one"), refuse(504), page([], "v5", "one"), page([], "v5", "one"))
    assert found.asked[-2:] == ["nap 60", LIST]
    assert found.state is STALE
    assert "repeats its pages" in found.healths[-1].error


async def test_a_watch_beside_a_long_list_ends_with_its_first_error() -> None:
    found, sent = Dialogue([]), asyncio.Event()

    async def beside(request: web.Request) -> web.StreamResponse:
        error = b'{"type": "ERROR", "object": {"code": 410}}'
        lines = (event("BOOKMARK", "", "6"), event("ADDED", "x", "7"), error, event("ADDED", "y", "8"))
        response = await stream(*lines)(request)
        sent.set()
        return response

    async def answer_rest(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await beside(request)
        await sent.wait()
        await found.until_told("ADDED x")
        await asyncio.sleep(0.02)
        return await page(["a"], "9")(request)

    found.answers = [page(["a"], "5", "next"), answer_rest, answer_rest]
    await found.run()
    assert found.asked[-1] == "watch 9"
    assert "ADDED x" in found.told
    assert "ADDED y" not in found.told
    assert found.told.count("end 9") == 1


async def test_a_watch_beside_a_long_list_ends_with_the_list() -> None:
    found = Dialogue([])

    async def answer_rest(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await stream(ADDED, stall=True)(request)
        await found.until_told("ADDED new")
        return await page(["a"], "9")(request)

    found.answers = [page(["a"], "5", "next"), answer_rest, answer_rest]
    await found.run()
    assert found.asked[-1] == "watch 9"
    assert found.told[-3:] == ["ADDED new", "page a", "end 9"]


OTHER = WatchScope("scripted", NAB, "team-x")


@pytest.mark.parametrize(
    ("answers", "watched"),
    [
        ([page(["a"])], True),
        ([page([])], False),
        ([page([], "v5", "next"), page(["a"], "v5")], True),
        ([page(["a"], "v5", "next"), page(None, "v5")], False),
        ([page(["a"], "v5", "next"), refuse(504), page(["a"], "v5", "one"), page([], "v5")], True),
        ([page([], "v5", "next"), refuse(504), page([], "v5", "one"), page([], "v5")], False),
    ],
)
async def test_a_scope_with_objects_gets_the_watch_and_an_empty_one_is_listed_again(
    answers: list[Answer], watched: bool
) -> None:
    slots = WatchSlots(1)
    slots.take(OTHER)
    found = await played(*answers, scope=IN_TEAM_A, slots=slots)
    assert found.asked[len(answers) :][0].startswith("watch") is watched
    if not watched:
        assert found.asked[len(answers) :] == ["nap 27", LIST]
        assert found.healths[-1].polled_every == 30.0
        assert found.healths[-1].state is LIVE


async def test_a_scope_that_gets_a_connection_while_it_waits_watches_from_where_it_was() -> None:
    slots, found = WatchSlots(1), Dialogue([page([]), page([], "6")])
    slots.take(WatchScope("scripted", BACKUP))
    lists = 0

    async def nap(seconds: float) -> None:
        nonlocal lists
        lists += 1
        if lists == 2:
            slots.most = 2

    found._nap = nap  # type: ignore[method-assign]
    await found.run(scope=IN_TEAM_A, slots=slots)
    assert found.asked == [LIST, LIST, "watch 6"]


async def test_a_watch_that_ends_at_once_is_tried_again_and_then_listed_with_longer_waits() -> None:
    """A list alone is no success: it may be followed by the same failure, and the next list."""
    found = await played(page([]), stream(), stream(), page([]), stream(), page([]), stream(ADDED), stream())
    failures = [LIST, WATCH, "nap 0.45", WATCH, "nap 0.9", LIST, WATCH, "nap 1.8", LIST, WATCH]
    assert found.asked == [*failures, "watch 6", "nap 0.45", "watch 6"], "a change is a success"
    stale = [health for health in found.healths if health.state is STALE]
    assert {health.error for health in stale} == {"The watch of schedules.velero.io ended as soon as it started"}
    assert stale[0].retry_at == NOW + timedelta(seconds=0.45)


@pytest.mark.parametrize(("seconds", "naps"), [(0.9, ["nap 0.45"]), (1.0, []), (700.0, [])])
async def test_a_watch_that_lasts_a_second_has_worked(seconds: float, naps: list[str]) -> None:
    found = Dialogue([page([])])
    found.answers.append(found.after(seconds, stream()))
    await found.run()
    assert found.asked == [LIST, WATCH, *naps, WATCH]


@pytest.mark.parametrize(
    ("seconds", "following"), [(0, "watch 6"), (599.9, "watch 6"), (600, LIST), (1000, LIST), (-1, LIST)]
)
async def test_a_watch_that_is_cut_goes_on_unless_its_list_is_old(seconds: float, following: str) -> None:
    found = Dialogue([page([])])
    found.answers.append(found.after(seconds, stream(ADDED, cut=True)))
    await found.run()
    assert found.asked == [LIST, WATCH, "nap 0.45", following]
    assert found.healths[-1].state is STALE


async def test_a_new_list_makes_good_for_a_cut() -> None:
    found = Dialogue([page([])])
    cut, quiet = found.after(600, stream(ADDED, cut=True)), found.after(700, stream(event("ADDED", "more", "8")))
    found.answers += [cut, page([], "7"), quiet]
    await found.run()
    assert found.asked == [LIST, WATCH, "nap 0.45", LIST, "watch 7", "watch 8"]


@pytest.mark.parametrize("code", [500, 502, 503, 504])
async def test_a_server_that_was_away_twice_is_listed_again(code: int) -> None:
    found = await played(page([]), refuse(code), refuse(code), page([]), refuse(code))
    assert found.asked == [LIST, WATCH, "nap 0.45", WATCH, "nap 0.9", LIST, WATCH, "nap 1.8", LIST]


async def test_a_server_that_is_busy_is_resumed_five_times() -> None:
    found = await played(page([]), *[refuse(429)] * 8)
    waits = ["nap 0.45", "nap 0.9", "nap 1.8", "nap 3.6", "nap 7.2", "nap 14.4", "nap 27", "nap 27"]
    assert found.asked[1::2] == [*[WATCH] * 6, LIST, LIST, LIST]
    assert found.asked[2::2] == waits


@pytest.mark.parametrize(
    ("answer", "nap"),
    [
        (refuse(400), "nap 0.45"),
        (refuse(501), "nap 0.45"),
        (refuse(504, "Too large resource version: 9, current: 5"), "nap 0.45"),
        (refuse(400, retry_after=17), "nap 17"),
        (refuse(400, retry_after=0), "nap 0.45"),
        (refuse(403), "nap 0.45"),
        (refuse(404), "nap 0.45"),
        (refuse(410), "nap 0"),
        (stream(b'{"type": "ERROR", "object": {"code": 410}}'), "nap 0"),
        (stream(event("ADDED", "old", "4")), "nap 0"),
    ],
)
async def test_a_watch_that_cannot_be_resumed_is_followed_by_a_new_list(answer: Answer, nap: str) -> None:
    found = await played(page([]), answer)
    assert found.asked == [LIST, WATCH, nap, LIST]
    assert "ADDED old" not in found.told


async def test_a_busy_server_is_given_its_time_and_then_started_over() -> None:
    found = await played(refuse(429, retry_after=17), refuse(500), page([]), refuse(503))
    assert found.asked == [LIST, "nap 17", LIST, "nap 0.9", LIST, WATCH, "nap 0.45", WATCH]
    stale = found.healths[1]
    assert (stale.state, stale.retry_at) == (STALE, NOW + timedelta(seconds=17))


async def test_a_list_that_expires_is_asked_for_as_a_whole_once() -> None:
    found = await played(refuse(410), page(["a"]), stream(ADDED), refuse(410), page([]), refuse(410))
    assert found.asked == [LIST, "nap 0", "list", WATCH, "watch 6", "nap 0", LIST, WATCH, "nap 0.9", LIST]
    assert [health.state.value for health in found.healths[-2:]] == ["live", "stale"]
    again = await played(refuse(410), refuse(410), page([], "v5", "one"), page([], "v6"))
    assert again.asked[:4] == [LIST, "nap 0", "list", LIST]


async def test_a_refusal_ends_the_wish_for_a_whole_list() -> None:
    found = await played(refuse(410), refuse(400), refuse(400), page([]))
    assert found.asked[:4] == [LIST, "nap 0", "list", LIST]
    assert found.asked[4:] == ["nap 0.9", LIST, WATCH]


@pytest.mark.parametrize(("scope", "where"), [(None, "in all namespaces"), (IN_TEAM_A, "in team-a")])
async def test_who_may_not_list_is_told_so_and_asked_again_in_a_minute(scope: WatchScope | None, where: str) -> None:
    found = await played(refuse(403), **({"scope": scope} if scope else {}))
    assert found.asked == [LIST, "nap 60", LIST]
    assert found.healths[-1] == WatchHealth(
        WatchState.FORBIDDEN,
        NOW,
        f"list on schedules.velero.io {where} is not allowed (ask for a role with this permission)",
        NOW + timedelta(seconds=60),
    )


async def test_a_right_that_is_lost_is_asked_for_again_soon_and_by_a_list() -> None:
    found = await played(page([]), stream(ADDED), refuse(403), refuse(403))
    assert found.asked == [LIST, WATCH, "watch 6", "nap 0.45", LIST, "nap 0.9", LIST]
    assert found.healths[-2].error.startswith("watch on schedules.velero.io")


async def test_who_is_signed_out_is_told_so() -> None:
    found = await played(refuse(401), refuse(401))
    assert found.asked == [LIST, "nap 0.45", LIST, "nap 0.9", LIST]
    assert found.state is WatchState.SIGNED_OUT


GROUP = {"versions": [{"version": "v1"}]}
SERVED = {"resources": [{"name": "schedules"}]}


async def test_a_kind_that_is_not_installed_has_no_rows_and_is_asked_for_each_minute() -> None:
    found = Dialogue([page(["a"]), refuse(404), refuse(404), refuse(404), refuse(403)])
    await found.run()
    assert found.asked == [LIST, WATCH, "nap 0.45", LIST, "nap 60", LIST, "nap 60", LIST, "nap 60", LIST]
    assert found.told[4:] == [*["begin", "begin", "end", "not installed"] * 2, "begin", "not allowed", "begin"]
    assert found.healths[-2].error == "schedules.velero.io is not installed in scripted"


async def test_a_kind_that_is_announced_already_is_asked_for_again_soon() -> None:
    found = Dialogue([refuse(404)], {"/apis/velero.io": GROUP, "/apis/velero.io/v1": SERVED})
    await found.run()
    assert found.asked == [LIST, "nap 0.45", LIST]
    assert found.healths[-1].error == "schedules.velero.io is announced but not served yet"
    failing = Dialogue([refuse(404)], {"/apis/velero.io": 500})
    await failing.run()
    assert failing.asked == [LIST, "nap 0.45", LIST]
    assert failing.state is STALE


async def test_a_kind_of_another_version_is_asked_for_there_at_once() -> None:
    other = {"/apis/velero.io": {"versions": [{"version": "v2"}]}, "/apis/velero.io/v2": SERVED}
    found = Dialogue([refuse(404), page([{**item("a"), **TYPE, "apiVersion": "velero.io/v2"}])], other)
    await found.run()
    assert found.asked == [LIST, "nap 0", LIST, WATCH]
    assert found.told == ["syncing", "begin", "begin", "page a", "end 5"]


async def test_an_object_that_cannot_be_read_is_shown_by_its_name_or_leads_to_a_new_list() -> None:
    nameless: dict[str, Any] = {"metadata": {}}
    odd, other = item("odd", "2", spec=7), {**item("x"), **TYPE, "kind": "Restore"}
    found = await played(page([odd, nameless, other, "a"]), stream(ADDED))
    assert [told.partition(":")[0] for told in found.told[2:6]] == [
        "unreadable velero/odd ",
        "unreadable / ",
        "unreadable / ",
        "page a",
    ]
    assert found.asked == [LIST, WATCH, "watch 6"]


@pytest.mark.parametrize(
    ("line", "told", "following"),
    [
        (event("ADDED", "odd", "7", spec=7), "unreadable velero/odd 7", "watch 7"),
        (event("MODIFIED", "odd", "7", spec=7), "unreadable velero/odd 7", "watch 7"),
        (event("DELETED", "odd", "7", spec=7), "DELETED odd", "watch 7"),
        (event("DELETED", "", "7", spec=7), "unreadable / ", LIST),
        (event("ADDED", "", "7"), "unreadable / ", LIST),
        (event("ADDED", "fine", ""), "ADDED fine", "watch 5"),
        (event("PATCHED", "x", "7"), "unreadable / ", LIST),
        (b"{]", "unreadable / ", LIST),
        (event("ADDED", "x", "7").replace(b"velero.io/v1", b"velero.io/v2"), "unreadable / ", LIST),
        (event("BOOKMARK", "", "7").replace(b"Schedule", b"Backup"), "unreadable / ", LIST),
        (b'{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"7"}}}', "unreadable / ", LIST),
        (event("BOOKMARK", "", "7"), "", "watch 7"),
    ],
)
async def test_a_line_of_the_watch_is_a_change_a_row_that_cannot_be_read_or_a_reason_for_a_new_list(
    line: bytes, told: str, following: str
) -> None:
    found = await played(page([]), stream(line))
    seen = [one.partition(":")[0] for one in found.told[4:]]
    assert seen == [*([told] if told else []), *(["begin"] if following == LIST else [])]
    assert found.asked == [LIST, WATCH, following]


@pytest.mark.parametrize(("version", "following"), [("5", WATCH), ("9", WATCH), ("4", LIST)])
async def test_a_watch_that_fell_silent_is_resumed_unless_the_server_went_back(version: str, following: str) -> None:
    silent = stream(stall=True)
    found = await played(page([]), silent, page([], version), stream(ADDED), timing=WatchTimings(idle=0.3))
    assert found.asked[:4] == [LIST, WATCH, "list limit=1", following]
    if following == WATCH:
        assert found.asked[4:] == ["watch 6"]


async def test_a_watch_that_fell_silent_and_is_lost_is_stale_since_it_was_last_heard() -> None:
    found = Dialogue([page([]), stream(ADDED, stall=True)])
    found.answers += [found.after(100, refuse(503)), refuse(503), page([]), stream(ADDED), refuse(400)]
    await found.run(WatchTimings(idle=0.3))
    lost, again, later = (health for health in found.healths if health.state is STALE)
    assert lost.since == again.since == NOW
    assert lost.retry_at == NOW + timedelta(seconds=100.45)
    assert later.since == NOW + timedelta(seconds=100)
    assert found.asked[2:] == [
        "list limit=1",
        "nap 0.45",
        "watch 6",
        "nap 0.9",
        LIST,
        WATCH,
        "watch 6",
        "nap 0.45",
        LIST,
    ]
