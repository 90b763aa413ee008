"""Where each kind is looked for: what a person named, where Velero is, and what the server lets one see."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.access.accessible_namespaces import EVERYWHERE, AccessibleNamespaces
from foretop_core.kube.access.namespace_resolver import NamespaceResolver, NamespaceSelection
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import DEFINITION, DEPLOYMENT, NAB, SCHEDULE
from tests.objects import NOW
from tests.wire.scripted_api import ALL_RULES, ScriptedApi, client_of, listed

EVERYTHING = NamespaceSelection()
NAMESPACES, VELEROS = "/api/v1/namespaces", "/apis/apps/v1/deployments"
THERE = ("velero", "openshift-adp", "second", "team-a", "team-b", "own")


def cluster(
    *, is_admin: bool, allowed: str = "", veleros: str = "", visible: str = "", absent: str = ""
) -> ScriptedApi:
    """Namespaces in which all is allowed, those that have a Velero, and those in the list of namespaces, if any."""
    deployments = [{"metadata": {"name": "velero", "namespace": name}} for name in veleros.split()]
    names = [{"metadata": {"name": name}} for name in visible.split()]
    return ScriptedApi(
        {
            **{f"{NAMESPACES}/{name}": {} for name in THERE if name not in absent.split()},
            NAMESPACES: {"metadata": {}, "items": names} if visible else 403,
            VELEROS: listed(DEPLOYMENT, *deployments) if veleros else 403,
        },
        may=lambda wanted: is_admin,
        rules=lambda namespace: ALL_RULES if is_admin or namespace in allowed.split() else [],
    )


def resolver(client: ApiClient, named: NamespaceSelection = EVERYTHING, clock: ManualClock | None = None) -> Any:
    clock = clock or ManualClock(NOW)
    return NamespaceResolver(client, AccessReviewer(client, clock), clock, named)


NAMED = NamespaceSelection(("team-a",))
DASHBOARD = NamespaceSelection(("team-a",), with_velero=True)


@pytest.mark.parametrize(
    ("kind", "named", "found"),
    [
        (DEFINITION, EVERYTHING, AccessibleNamespaces(EVERYWHERE, chosen=True)),
        (NAB, EVERYTHING, AccessibleNamespaces(EVERYWHERE)),
        (SCHEDULE, EVERYTHING, AccessibleNamespaces(EVERYWHERE)),
        (NAB, NAMED, AccessibleNamespaces(("team-a",), chosen=True)),
        (SCHEDULE, NAMED, AccessibleNamespaces(("team-a",), chosen=True)),
        (NAB, DASHBOARD, AccessibleNamespaces(("team-a",), chosen=True)),
        (SCHEDULE, DASHBOARD, AccessibleNamespaces(("openshift-adp", "second"), chosen=True)),
        (SCHEDULE, NamespaceSelection(velero="second"), AccessibleNamespaces(("second",), chosen=True)),
        (NAB, NamespaceSelection(velero="second"), AccessibleNamespaces(EVERYWHERE)),
        (SCHEDULE, NamespaceSelection(("team-a",), "second"), AccessibleNamespaces(("team-a",), chosen=True)),
        (
            SCHEDULE,
            NamespaceSelection(("team-a",), "second", with_velero=True),
            AccessibleNamespaces(("second",), chosen=True),
        ),
        (
            SCHEDULE,
            NamespaceSelection(("second", "team-a"), with_velero=True),
            AccessibleNamespaces(("second",), chosen=True),
        ),
        (SCHEDULE, NamespaceSelection(with_velero=True), AccessibleNamespaces(EVERYWHERE)),
        (NAB, NamespaceSelection(("team-a", "nowhere")), AccessibleNamespaces(("team-a",), missing=("nowhere",))),
        (NAB, NamespaceSelection(("nowhere",)), AccessibleNamespaces((), missing=("nowhere",))),
        (NAB, NamespaceSelection(("team-b", "team-b")), AccessibleNamespaces(("team-b",), chosen=True)),
    ],
)
async def test_an_administrator_sees_what_is_named_and_else_everything(
    kind: Any, named: NamespaceSelection, found: AccessibleNamespaces
) -> None:
    async with client_of(cluster(is_admin=True, veleros="second openshift-adp")) as client:
        assert await resolver(client, named).of(kind) == found


@pytest.mark.parametrize(
    ("allowed", "visible", "absent", "namespaces"),
    [
        ("", "", "", ("own",)),
        ("own", "", "", ("own",)),
        ("velero", "", "", ("velero",)),
        ("own velero openshift-adp", "", "", ("openshift-adp", "own", "velero")),
        ("velero", "", "velero", ("own",)),
        ("team-a", "team-a team-b", "", ("team-a",)),
        ("team-b velero", "velero team-a team-b", "", ("team-b", "velero")),
        ("team-b openshift-adp", "team-a team-b", "", ("openshift-adp", "team-b")),
    ],
)
async def test_who_may_not_see_all_may_yet_see_where_velero_usually_is(
    allowed: str, visible: str, absent: str, namespaces: tuple[str, ...]
) -> None:
    api = cluster(is_admin=False, allowed=allowed, visible=visible, absent=absent)
    async with client_of(api, namespace="own") as client:
        assert await resolver(client).of(SCHEDULE) == AccessibleNamespaces(namespaces)
        others = {name for name in namespaces if name not in ("velero", "openshift-adp") or name in visible.split()}
        assert set((await resolver(client).of(NAB)).namespaces) == (others or {"own"})


@pytest.mark.parametrize(
    ("allowed", "found"),
    [("team-a", EVERYWHERE), ("team-a velero", ("velero",)), ("", EVERYWHERE)],
)
async def test_a_team_on_the_dashboard_without_a_velero_that_it_can_find_sees_the_usual_places(
    allowed: str, found: tuple[str, ...]
) -> None:
    async with client_of(cluster(is_admin=False, allowed=f"{allowed} ", absent="openshift-adp")) as client:
        assert await resolver(client, DASHBOARD).of(SCHEDULE) == AccessibleNamespaces(found)


async def test_a_place_that_is_everywhere_is_not_kept_beside_the_usual_ones() -> None:
    api = cluster(is_admin=False, absent="openshift-adp")
    api.rules = lambda namespace: ALL_RULES
    async with client_of(api) as client:
        assert (await resolver(client, DASHBOARD).of(SCHEDULE)).namespaces == ("velero",)


async def test_a_namespace_that_is_looked_into_comes_beside_those_that_are_sure() -> None:
    for allowed, visible, namespaces in (
        ("team-a", "", ("team-a",)),
        ("own team-a", "", ("own", "team-a")),
        ("team-b", "team-a team-b", ("team-b", "team-a")),
    ):
        api = cluster(is_admin=False, allowed=allowed, visible=visible)
        async with client_of(api, namespace="own") as client:
            places = resolver(client)
            places.look_into("team-a")
            assert await places.of(NAB) == AccessibleNamespaces(namespaces)
            assert "team-a" not in (await places.of(SCHEDULE)).namespaces or "team-a" in visible


async def test_rules_that_are_incomplete_do_not_take_a_namespace_away_when_another_is_looked_into() -> None:
    api = cluster(is_admin=False, visible="team-b")
    api.answers["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"] = {"status": {"incomplete": True}}
    async with client_of(api) as client:
        places = resolver(client)
        places.look_into("team-a")
        assert (await places.of(NAB)).namespaces == ("team-b", "team-a")


async def test_what_was_looked_into_in_vain_is_let_go_and_the_rest_stays() -> None:
    async with client_of(cluster(is_admin=False, allowed="team-a team-b"), namespace="own") as client:
        places = resolver(client)
        places.look_into("team-a")
        places.look_into("nowhere")
        places.look_into("team-a")
        assert await places.of(NAB) == AccessibleNamespaces(("team-a",), missing=("nowhere",))
        places.look_into("team-b")
        assert await places.of(NAB) == AccessibleNamespaces(("team-a", "team-b"))
        places.look_into("nowhere")
        assert (await places.of(NAB)).missing == ("nowhere",)
        places.look_into("")
        assert await places.of(NAB) == AccessibleNamespaces(("team-a", "team-b"))


async def test_an_administrator_is_told_of_a_namespace_that_is_not_there() -> None:
    api = cluster(is_admin=True)
    async with client_of(api) as client:
        places = resolver(client)
        for name in ("team-a", "nowhere"):
            places.look_into(name)
        assert await places.of(NAB) == AccessibleNamespaces(EVERYWHERE, missing=("nowhere",))
        api.answers[f"{NAMESPACES}/nowhere"] = {}
        places.look_into("nowhere")
        assert await places.of(NAB) == AccessibleNamespaces(EVERYWHERE), "it is asked for again at once"


@pytest.mark.parametrize(("answer", "exists"), [({}, True), (403, True), (404, False)])
async def test_a_namespace_is_absent_only_where_the_server_says_so(answer: object, exists: bool) -> None:
    async with client_of(ScriptedApi({f"{NAMESPACES}/team-a": answer})) as client:
        assert await resolver(client).exists("team-a") is exists


@pytest.mark.parametrize("code", [400, 405, 500])
async def test_a_question_for_a_namespace_that_fails_is_no_answer(code: int) -> None:
    async with client_of(ScriptedApi({f"{NAMESPACES}/team-a": code})) as client:
        with pytest.raises(ApiError):
            await resolver(client).exists("team-a")


async def test_what_all_kinds_need_to_know_is_asked_once_in_a_minute() -> None:
    api, clock = cluster(is_admin=True, veleros="second"), ManualClock(NOW)
    async with client_of(api) as client:
        places = resolver(client, DASHBOARD, clock)
        seen = []
        for seconds in (0, 0, 59.9, 60, 119.9, 120, -1):
            clock.set(NOW + timedelta(seconds=seconds))
            await places.of(SCHEDULE)
            for part in (VELEROS, f"{NAMESPACES}/second"):
                seen.append(sum(asked.startswith(f"GET {part}") for asked in api.asked))
    assert seen[::2] == seen[1::2] == [1, 1, 1, 2, 2, 3, 4]
