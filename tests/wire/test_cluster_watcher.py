"""When the watches of a cluster begin, look again and end, with a clock and sleeps that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.watching.cluster_watcher import ClusterWatcher, SinkFactory
from foretop_core.kube.watching.retry import InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import BACKUP, CLAIM, DEPLOYMENT, NAB, POD, SCHEDULE, Kind
from foretop_core.models.wire import Resource
from tests.objects import NOW
from tests.wire.scripted_api import ALL_RULES, ScriptedApi, client_of, listed
from tests.wire.watch_dialogue import Even
from tests.wire.watching import PATIENCE, fails_once

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SCHEDULES, BACKUPS = "/apis/velero.io/v1/schedules", "/apis/velero.io/v1/backups"
NABS = "/apis/oadp.openshift.io/v1alpha1/nonadminbackups"
LOOK_AGAIN = 90.0
LIVE, SYNCING, STALE = WatchState.LIVE, WatchState.SYNCING, WatchState.STALE


@dataclass
class WatchedApi(ScriptedApi):
    """Its watches stay open and bring nothing until they are ended; lists can be held back."""

    ended: asyncio.Event = field(default_factory=asyncio.Event)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Something has happened in server or cluster."""
    answers_nobody: bool = False
    """It takes connections and requests, and says nothing."""
    speaks: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.news.set()
        if self.answers_nobody:
            await self.speaks.wait()
        if "watch" not in request.query:
            answer = await super().handle(request)
            if request.path in self.held:
                self.news.set()
                await self.held[request.path].wait()
            return answer
        if isinstance(self.answers.get(request.path), int):
            return await super().handle(request)
        response = web.StreamResponse()
        await response.prepare(request)
        await self.ended.wait()
        return response

    async def end_watches(self) -> None:
        self.ended.set()
        self.ended = asyncio.Event()

    def lists(self) -> list[str]:
        return [asked.partition("?")[0].removeprefix("GET ") for asked in self.asked if "limit=" in asked]

    def reviews(self) -> int:
        return sum(body["kind"] == "SelfSubjectAccessReview" for body in self.reviewed)


class Sleeps:
    """Sleeps that end when the test says so."""

    def __init__(self, news: asyncio.Event) -> None:
        self.open: list[tuple[float, asyncio.Event]] = []
        self._news = news

    async def __call__(self, seconds: float) -> None:
        slept = (round(seconds, 3), asyncio.Event())
        self.open.append(slept)
        self._news.set()
        try:
            await slept[1].wait()
        finally:
            self.open.remove(slept)

    def lengths(self) -> list[float]:
        return sorted(seconds for seconds, _ in self.open)

    def end(self, seconds: float) -> None:
        for length, over in self.open:
            if length == seconds:
                over.set()


class Noted:
    """The sink of one scope: its health, its rows, and a fault of our own where the test wants one."""

    def __init__(self, cluster: Cluster, scope: WatchScope) -> None:
        self._cluster = cluster
        self._scope = scope

    def replace_begin(self) -> None: ...

    def page(self, objects: Iterable[Resource]) -> None:
        if self._cluster.fault:
            fault, self._cluster.fault = self._cluster.fault, None
            raise fault

    def replace_end(self, version: str = "") -> None: ...

    def apply(self, event: EventType, resource: Resource) -> None: ...

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None: ...

    def health(self, health: WatchHealth) -> None:
        self._cluster.healths[self._scope] = health
        self._cluster.history.append(health)
        self._cluster.api.news.set()


class Cluster:
    """A cluster at work, and what it said of its scopes."""

    def __init__(self, api: WatchedApi) -> None:
        self.api = api
        self.clock = ManualClock(NOW)
        self.sleeps = Sleeps(api.news)
        self.healths: dict[WatchScope, WatchHealth] = {}
        self.history: list[WatchHealth] = []
        self.dropped: list[WatchScope] = []
        self.fault: Exception | None = None
        self.watcher: ClusterWatcher

    def drop(self, scope: WatchScope) -> None:
        self.healths.pop(scope, None)
        self.dropped.append(scope)
        self.api.news.set()

    def states(self) -> dict[str, WatchState]:
        return {f"{scope.kind.plural} {scope.namespace}".strip(): one.state for scope, one in self.healths.items()}

    async def until(self, seen: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not seen():
                self.api.news.clear()
                await self.api.news.wait()

    async def next_look(self) -> None:
        """Time passes for all who sleep until their next look, as some do."""
        await self.until(lambda: LOOK_AGAIN in self.sleeps.lengths())
        self.clock.advance(timedelta(seconds=LOOK_AGAIN))
        self.sleeps.end(LOOK_AGAIN)
        await self.settle()

    async def settle(self) -> None:
        """Whatever is under way without an answer of the server comes to its end."""
        for _ in range(50):
            await asyncio.sleep(0)
        await asyncio.sleep(0.03)


@asynccontextmanager
async def at_work(
    api: WatchedApi,
    *kinds: Kind,
    named: NamespaceSelection | None = None,
    first: frozenset[str] | None = None,
    go_ahead: float = 1000.0,
    quiet: float = 1000.0,
) -> AsyncIterator[Cluster]:
    found = Cluster(api)
    sinks = SinkFactory(lambda scope: Noted(found, scope), found.drop)
    async with client_of(api, found.clock, namespace="own") as client:
        pace = InterruptibleWait(found.sleeps, Even())
        timing = WatchTimings(go_ahead=go_ahead, ask_again=LOOK_AGAIN, quiet=quiet, answers_within=quiet)
        found.watcher = ClusterWatcher(client, sinks, found.clock, kinds, named, pace, timing)
        assert found.watcher.pace is pace
        if first is not None:
            found.watcher.list_first(first)
        task = asyncio.create_task(found.watcher.run())
        try:
            yield found
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def cluster(**answers: object) -> WatchedApi:
    there: dict[str, Any] = {f"/api/v1/namespaces/{name}": {} for name in ("team-a", "team-b", "own")}
    return WatchedApi(
        {
            SCHEDULES: listed(SCHEDULE, {"metadata": {"name": "daily", "namespace": "velero"}}),
            BACKUPS: listed(BACKUP),
            NABS: listed(NAB),
            **there,
            **answers,
        }
    )


async def test_the_kinds_that_a_person_waits_for_are_listed_first() -> None:
    api = cluster()
    api.held = {SCHEDULES: asyncio.Event(), BACKUPS: asyncio.Event()}
    async with at_work(api, NAB, SCHEDULE, BACKUP, first=frozenset({"Schedule", "Backup", "Restore"})) as found:
        assert found.states() == {} or set(found.states().values()) == {SYNCING}
        await found.until(lambda: set(api.lists()) == {SCHEDULES, BACKUPS})
        api.held[SCHEDULES].set()
        await found.until(lambda: found.states()["schedules"] is LIVE)
        await found.settle()
        assert NABS not in api.lists(), "one of the first has not come yet"
        assert all("limit=100" in asked for asked in api.asked if "limit=" in asked), "a screen of rows comes soonest"
        api.held[BACKUPS].set()
        await found.until(lambda: found.watcher.first_rows.is_to_be_shown)
        await found.settle()
        assert NABS not in api.lists(), "they have come, and nobody has shown them yet"
        found.watcher.first_rows.note_shown()
        await found.until(lambda: set(found.states().values()) == {LIVE})
        assert api.lists()[-1] == NABS


async def test_the_other_kinds_do_not_wait_for_ever_and_not_at_all_without_first_ones() -> None:
    api = cluster()
    api.held = {SCHEDULES: asyncio.Event()}
    async with at_work(api, NAB, SCHEDULE, first=frozenset({"Schedule"}), go_ahead=0.01) as found:
        await found.until(lambda: found.states().get("nonadminbackups") is LIVE)
    for first in (None, frozenset[str](), frozenset({"Restore"})):
        async with at_work(api, NAB, SCHEDULE, first=first) as found:
            await found.until(lambda found=found: found.states().get("nonadminbackups") is LIVE)  # type: ignore[misc]


async def test_a_watch_of_everything_needs_no_second_look_until_its_right_is_lost() -> None:
    api = cluster()
    async with at_work(api, SCHEDULE) as found:
        await found.until(lambda: found.states() == {"schedules": LIVE})
        assert found.dropped == [], "the place that stands for the kind is the watch itself"
        for _ in range(3):
            await found.next_look()
            assert (api.reviews(), found.sleeps.lengths()) == (1, [LOOK_AGAIN])
        api.answers[SCHEDULES] = 403
        api.may = lambda wanted: False
        api.rules = lambda namespace: []
        await api.end_watches()
        await found.until(lambda: found.states() == {"schedules": WatchState.FORBIDDEN})
        await found.next_look()
        await found.until(lambda: list(found.states()) == ["schedules own"])
        assert found.dropped == [WatchScope("scripted", SCHEDULE)]


async def test_one_who_does_not_see_all_is_looked_after_again_and_again() -> None:
    api = cluster(**{"/api/v1/namespaces": {"metadata": {}, "items": [{"metadata": {"name": "team-a"}}]}})
    for name in ("team-a", "team-b"):
        api.answers[NABS.replace("nonadmin", f"namespaces/{name}/nonadmin")] = listed(NAB)
    api.may = lambda wanted: False
    api.rules = lambda namespace: ALL_RULES
    async with at_work(api, NAB) as found:
        await found.until(lambda: found.states() == {"nonadminbackups team-a": LIVE})
        api.answers["/api/v1/namespaces"] = {"metadata": {}, "items": [{"metadata": {"name": "team-b"}}]}
        await found.next_look()
        await found.until(lambda: found.states() == {"nonadminbackups team-b": LIVE})
        assert WatchScope("scripted", NAB, "team-a") in found.dropped
        await asyncio.sleep(0)
        assert [task.get_name() for task in asyncio.all_tasks()].count("watch nonadminbackups") == 1


async def test_a_place_that_a_person_chose_is_never_looked_at_again() -> None:
    api = cluster(**{NABS.replace("nonadmin", "namespaces/team-a/nonadmin"): listed(NAB)})
    async with at_work(api, NAB, named=NamespaceSelection(("team-a",))) as found:
        await found.until(lambda: found.states() == {"nonadminbackups team-a": LIVE})
        await found.settle()
        assert found.sleeps.open == []
        assert found.dropped == [WatchScope("scripted", NAB)], "the place that stood for the kind"


async def test_a_namespace_that_is_not_there_is_taken_up_when_it_comes() -> None:
    api = cluster()
    async with at_work(api, NAB) as found:
        await found.until(lambda: found.states() == {"nonadminbackups": LIVE})
        found.watcher.look_into("late")
        await found.until(lambda: found.states().get("nonadminbackups late") is WatchState.NO_NAMESPACE)
        api.answers["/api/v1/namespaces/late"] = {}
        await found.next_look()
        await found.until(lambda: found.states() == {"nonadminbackups": LIVE})


async def test_of_a_kind_of_some_names_the_first_stands_for_it() -> None:
    api = cluster(**{REVIEWS: 500})
    async with at_work(api, DEPLOYMENT) as found:
        await found.until(lambda: bool(found.sleeps.open))
        assert [scope.fields for scope in found.healths] == ["metadata.name=velero"]
        del api.answers[REVIEWS]
        api.answers["/apis/apps/v1/deployments"] = listed(DEPLOYMENT)
        found.sleeps.end(0.45)
        await found.until(lambda: len(found.healths) == 2)
        await found.until(lambda: {one.state for one in found.healths.values()} == {LIVE})
        assert {scope.fields for scope in found.healths} == {
            "metadata.name=velero",
            "metadata.name=openshift-adp-controller-manager",
        }


@pytest.mark.parametrize(("code", "state"), [(500, STALE), (401, WatchState.SIGNED_OUT)])
async def test_a_kind_without_an_answer_says_why_and_when_it_is_tried_again(code: int, state: WatchState) -> None:
    api = cluster(**{REVIEWS: code})
    async with at_work(api, SCHEDULE) as found:
        await found.until(lambda: found.sleeps.lengths() == [0.45])
        found.clock.advance(timedelta(seconds=10))
        found.sleeps.end(0.45)
        await found.until(lambda: found.sleeps.lengths() == [0.9])
        (health,) = found.healths.values()
        assert (health.state, health.since) == (state, NOW)
        assert health.retry_at == NOW + timedelta(seconds=10.9)
        assert health.error
        del api.answers[REVIEWS]
        found.sleeps.end(0.9)
        await found.until(lambda: found.states() == {"schedules": LIVE})


@pytest.mark.parametrize("off", [timedelta(days=-3), timedelta(hours=1)])
@pytest.mark.parametrize("code", [500, 401])
async def test_a_cluster_that_refuses_at_once_is_lost_since_then_by_the_clock_that_its_answer_tells(
    code: int, off: timedelta
) -> None:
    """Beside a machine that is three days fast it was lost in three days: Triage had no line for it until then."""
    api = cluster(**{REVIEWS: code})
    api.held[REVIEWS] = asyncio.Event()
    async with at_work(api, SCHEDULE) as found:
        await found.until(lambda: bool(api.reviewed))
        found.clock.advance(off)
        api.held[REVIEWS].set()
        await found.until(lambda: found.sleeps.lengths() == [0.45])
        found.clock.advance(timedelta(seconds=10))
        found.sleeps.end(0.45)
        await found.until(lambda: found.sleeps.lengths() == [0.9])
        (health,) = found.healths.values()
        assert health.since == NOW + off


async def test_a_later_look_that_fails_leaves_the_health_of_the_watch_as_it_is() -> None:
    api = cluster(**{SCHEDULES: 403})
    async with at_work(api, SCHEDULE) as found:
        await found.until(lambda: found.states() == {"schedules": WatchState.FORBIDDEN})
        api.answers[REVIEWS] = 500
        before = len(found.history)
        found.clock.advance(timedelta(seconds=LOOK_AGAIN))
        found.sleeps.end(LOOK_AGAIN)
        await found.until(lambda: 0.45 in found.sleeps.lengths())
        assert {health.state for health in found.history[before:]} <= {WatchState.FORBIDDEN}


async def test_a_fault_of_our_own_costs_one_watch_for_a_moment() -> None:
    api = cluster()
    async with at_work(api, SCHEDULE, NAB) as found:
        found.fault = ValueError("a  row\ntoo many")
        await found.until(lambda: STALE in found.states().values())
        (stale,) = (one for one in found.healths.values() if one.state is STALE)
        assert stale.error == "Internal error in foretop: ValueError: a row too many"
        assert stale.is_fault
        await found.until(lambda: LIVE in found.states().values() and 0.5 in found.sleeps.lengths())
        found.sleeps.end(0.5)
        await found.until(lambda: set(found.states().values()) == {LIVE})


async def test_a_task_that_decides_where_a_kind_is_watched_may_fail_and_its_watches_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = cluster()
    async with at_work(api, SCHEDULE, NAB) as found:
        await found.until(lambda: list(found.states().values()) == [LIVE, LIVE])
        monkeypatch.setattr(found.watcher, "_reach", fails_once(found.watcher._reach))
        found.watcher.look_into("team-a")
        await found.until(lambda: STALE in found.states().values())
        (stale,) = (one for one in found.healths.values() if one.state is STALE)
        assert (stale.error, stale.is_fault) == ("Internal error in foretop: RuntimeError: once", True)
        assert stale.retry_at == NOW + timedelta(seconds=0.5)
        await found.until(lambda: 0.5 in found.sleeps.lengths())
        watches = api.lists()
        found.sleeps.end(0.5)
        await found.until(lambda: list(found.states().values()) == [LIVE, LIVE])
        assert api.lists() == watches, "what is watched is not listed again"


async def test_the_events_of_an_object_are_watched_while_it_is_open() -> None:
    api = cluster(**{"/api/v1/namespaces/team-a/events": {"kind": "EventList", "metadata": {"resourceVersion": "1"}}})
    async with at_work(api) as found:
        found.watcher.follow_events("uid-1", "team-a")
        await found.until(lambda: found.states() == {"events team-a": LIVE})
        assert [scope.fields for scope in found.healths] == ["involvedObject.uid=uid-1"]
        found.watcher.follow_events("", "")
        await asyncio.sleep(0)
        assert found.states() == {}


async def test_what_is_watched_on_demand_says_so_at_once_and_is_let_go() -> None:
    api = cluster()
    for name in ("team-a", "team-b"):
        api.answers[f"/api/v1/namespaces/{name}/pods"] = listed(POD)
    async with at_work(api) as found:
        found.watcher.follow_on_demand([POD], ["team-a"])
        assert found.states() == {"pods team-a": SYNCING}
        await found.until(lambda: found.states() == {"pods team-a": LIVE})
        found.watcher.follow_on_demand([POD], ["team-a", "team-b"])
        assert found.states() == {"pods team-a": LIVE, "pods team-b": SYNCING}
        found.watcher.follow_on_demand([], [])
        assert found.states() == {}


async def test_claims_are_watched_on_demand_wherever_they_may_be_listed() -> None:
    """They are in the tenants' namespaces, and not where a Velero server is."""
    api = cluster()
    api.answers["/api/v1/persistentvolumeclaims"] = listed(CLAIM)
    async with at_work(api) as found:
        found.watcher.follow_on_demand([CLAIM], ["velero"])
        assert found.states() == {"persistentvolumeclaims": SYNCING}
        await found.until(lambda: found.states() == {"persistentvolumeclaims": LIVE})
        found.watcher.follow_on_demand([CLAIM], ["velero"])
        assert found.states() == {"persistentvolumeclaims": LIVE}
        found.watcher.follow_on_demand([], [])
        assert found.states() == {}


async def test_a_server_that_is_silent_is_asked_and_is_lost_until_it_answers() -> None:
    """Its connections stand, so that no watch ends: it looked like a cluster where nothing happens."""
    api = cluster()
    async with at_work(api, SCHEDULE, BACKUP, quiet=0.1) as watched:
        await watched.until(lambda: watched.states() == {"schedules": LIVE, "backups": LIVE})
        await watched.until(lambda: "GET /version" in api.asked)
        assert set(watched.states().values()) == {LIVE}, "it is quiet, and answers"
        api.answers_nobody = True
        await watched.until(lambda: watched.states() == {"schedules": STALE, "backups": STALE})
        assert all("no answer for" in one.error and one.since <= NOW for one in watched.healths.values())
        api.answers_nobody = False
        api.speaks.set()
        await watched.until(lambda: watched.states() == {"schedules": LIVE, "backups": LIVE})
        assert api.lists().count(SCHEDULES) == 1, "its watches go on"


async def test_a_server_that_never_answers_is_lost_before_its_first_answer_is_given_up() -> None:
    api = cluster()
    api.answers_nobody = True
    async with at_work(api, SCHEDULE, BACKUP, quiet=0.1) as watched:
        await watched.until(lambda: watched.states() == {"schedules": STALE, "backups": STALE})
        api.answers_nobody = False
        api.speaks.set()
        await watched.until(lambda: watched.states() == {"schedules": LIVE, "backups": LIVE})
