"""What may be done and where: the questions that are asked, how long an answer holds, and what a refusal means."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.access.access_reviewer import (
    AccessReviewer,
    AccessRule,
    AccessRules,
    AccessVerdict,
    Permission,
    permission,
)
from foretop_core.kube.access.accessible_namespaces import (
    AccessibleNamespaces,
    accessible_namespaces,
    visible_namespaces,
)
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import DEPLOYMENT, NAB, POD, SCHEDULE, RequiredPermission
from tests.objects import NOW
from tests.wire.scripted_api import ScriptedApi, client_of

VERDICTS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
NAMESPACES, PROJECTS = "/api/v1/namespaces", "/apis/project.openshift.io/v1/projects"
READ_NABS = {"verbs": ["list"], "apiGroups": [NAB.group], "resources": [NAB.plural]}


@pytest.mark.parametrize(
    ("rule", "names", "allowed"),
    [
        (AccessRule(("list",), ("apps",), ("deployments",)), (), True),
        (AccessRule(("list",), ("apps",), ("deployments",)), ("velero",), True),
        (AccessRule(("*",), ("*",), ("*",)), (), True),
        (AccessRule(("get",), ("apps",), ("deployments",)), (), False),
        (AccessRule(("list",), ("batch",), ("deployments",)), (), False),
        (AccessRule(("list",), ("apps",), ("daemonsets",)), (), False),
        (AccessRule(("list",), ("apps",), ("deployments",), ("velero",)), (), False),
        (AccessRule(("list",), ("apps",), ("deployments",), ("velero",)), ("velero",), True),
        (AccessRule(("list",), ("apps",), ("deployments",), ("velero", "other")), ("velero",), True),
        (AccessRule(("list",), ("apps",), ("deployments",), ("velero",)), ("velero", "other"), False),
        (AccessRule(("get",), ("apps",), ("deployments",), ("velero",)), ("velero",), False),
    ],
)
def test_a_rule_allows_what_all_its_parts_name(rule: AccessRule, names: tuple[str, ...], allowed: bool) -> None:
    rules = AccessRules((AccessRule(("list",), ("",), ("pods",)), rule), incomplete=False)
    assert bool(rules.allow("list", "apps", "deployments", names)) is allowed


async def test_a_question_has_only_what_is_not_empty_in_it() -> None:
    api = ScriptedApi({VERDICTS: {"status": {"allowed": True}}})
    async with client_of(api) as client:
        access = AccessReviewer(client, ManualClock(NOW))
        assert await access.verdict(Permission("get", "", "pods", "velero", "server-0", "log")) == AccessVerdict(True)
        await access.verdict(permission("list", SCHEDULE))
    assert [body["spec"]["resourceAttributes"] for body in api.reviewed] == [
        {"verb": "get", "resource": "pods", "namespace": "velero", "name": "server-0", "subresource": "log"},
        {"verb": "list", "group": "velero.io", "resource": "schedules"},
    ]


@pytest.mark.parametrize("code", [403, 404, 405])
async def test_where_nobody_may_ask_the_attempt_itself_must_tell(code: int) -> None:
    async with client_of(ScriptedApi({VERDICTS: code, RULES: code})) as client:
        access = AccessReviewer(client, ManualClock(NOW))
        assert await access.verdict(permission("list", SCHEDULE)) == AccessVerdict(True, False)
        assert await access.rules("team-a") == AccessRules((), incomplete=True)


@pytest.mark.parametrize("code", [400, 406, 500])
async def test_a_review_that_fails_is_no_answer(code: int) -> None:
    async with client_of(ScriptedApi({VERDICTS: code, RULES: code})) as client:
        access = AccessReviewer(client, ManualClock(NOW))
        for asked in (access.verdict(permission("list", SCHEDULE)), access.rules("team-a")):
            with pytest.raises(ApiError):
                await asked


@pytest.mark.parametrize("body", [{}, {"status": {}}, {"status": {"resourceRules": None}}])
async def test_an_answer_that_allows_nothing_is_known_and_complete(body: object) -> None:
    async with client_of(ScriptedApi({VERDICTS: body, RULES: body})) as client:
        access = AccessReviewer(client, ManualClock(NOW))
        assert await access.verdict(permission("list", SCHEDULE)) == AccessVerdict(False, True)
        assert await access.rules("team-a") == AccessRules((), incomplete=False)


async def test_a_right_that_is_needed_for_some_objects_is_asked_for_each_of_them() -> None:
    api = ScriptedApi(may=lambda wanted: wanted.get("name") != "other")
    async with client_of(api) as client:
        access = AccessReviewer(client, ManualClock(NOW))
        assert await access.may(RequiredPermission("get", DEPLOYMENT, names=("velero",)), "adp")
        assert not await access.may(RequiredPermission("get", DEPLOYMENT, names=("velero", "other")), "adp")
        assert await access.may(RequiredPermission("get", POD, "log"))
    asked = [body["spec"]["resourceAttributes"] for body in api.reviewed]
    assert [(one.get("namespace"), one.get("name"), one.get("subresource")) for one in asked] == [
        ("adp", "velero", None),
        ("adp", "other", None),
        (None, None, "log"),
    ]


async def test_a_verdict_holds_for_a_minute_and_not_when_the_clock_goes_back() -> None:
    api, clock = ScriptedApi(), ManualClock(NOW)
    async with client_of(api) as client:
        access = AccessReviewer(client, clock)
        asked = []
        for seconds in (0, 0, 59.9, 60, 119.9, 120, -1):
            clock.set(NOW + timedelta(seconds=seconds))
            await access.verdict(permission("list", SCHEDULE))
            asked.append(len(api.reviewed))
    assert asked == [1, 1, 1, 2, 2, 3, 4]


async def test_rules_that_stay_are_asked_for_ever_more_rarely_and_those_that_change_each_minute_again() -> None:
    api, clock = ScriptedApi(), ManualClock(NOW)
    async with client_of(api) as client:
        access = AccessReviewer(client, clock)
        asked: list[int] = []
        for minute in range(260):
            clock.set(NOW + timedelta(minutes=minute))
            if minute == 200:
                api.rules = lambda namespace: []
            await access.rules("team-a")
            asked += [minute] * (len(api.reviewed) - len(asked))
    assert asked == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 244, 246, 250, 258]


async def test_of_many_namespaces_one_is_renewed_each_second() -> None:
    api, clock = ScriptedApi(), ManualClock(NOW)
    async with client_of(api) as client:
        access = AccessReviewer(client, clock)

        async def asked(seconds: float) -> list[str]:
            clock.set(NOW + timedelta(seconds=seconds))
            before = len(api.reviewed)
            for name in ("a", "b", "c"):
                await access.rules(name)
            return [body["spec"]["namespace"] for body in api.reviewed[before:]]

        assert [await asked(at) for at in (0, 0, 59.9, 60, 60.9, 61, 61.9, 62, 63)] == [
            ["a", "b", "c"],
            [],
            [],
            ["a"],
            [],
            ["b"],
            [],
            ["c"],
            [],
        ]
        assert await asked(-100) == ["a"], "a clock that went back is no reason to wait"


def pages(*chunks: tuple[list[str] | None, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The answers to a list of names, page by page, each with the token of the next one."""
    path = f"{NAMESPACES}?limit=500"
    for names, token in chunks:
        items = None if names is None else [{"metadata": {"name": name}} for name in names]
        yield path, {"metadata": {"continue": token or None}, "items": items}
        path = f"{NAMESPACES}?limit=500&continue={token}"


async def test_namespaces_are_read_page_by_page() -> None:
    api = ScriptedApi(dict(pages((["a", "b"], "one"), (None, "two"), (["c"], ""))))
    async with client_of(api) as client:
        assert await visible_namespaces(client) == ("a", "b", "c")
    assert len(api.asked) == 3


async def test_namespaces_without_an_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.list_watch_codec.MOST_OBJECTS", 1000)
    repeated = dict(pages((["a"], "one"), (["b"], "one")))
    many = dict(
        pages(([f"a-{number}" for number in range(501)], "one"), ([f"b-{number}" for number in range(500)], ""))
    )
    for answers, words in ((repeated, "repeats its pages"), (many, "more than 1,000 objects")):
        async with client_of(ScriptedApi(answers)) as client:
            with pytest.raises(ApiError, match=words):
                await visible_namespaces(client)


@pytest.mark.parametrize("code", [403, 404])
async def test_where_namespaces_are_refused_the_projects_of_openshift_are_read(code: int) -> None:
    projects = {"metadata": {}, "items": [{"metadata": {"name": "mine"}}]}
    for answer, seen in ((projects, ("mine",)), (code, ())):
        async with client_of(ScriptedApi({NAMESPACES: code, PROJECTS: answer})) as client:
            assert await visible_namespaces(client) == seen


@pytest.mark.parametrize("code", [400, 405, 500])
async def test_a_list_of_namespaces_that_fails_is_not_an_empty_one(code: int) -> None:
    async with client_of(ScriptedApi({NAMESPACES: code})) as client:
        with pytest.raises(ApiError):
            await visible_namespaces(client)


async def test_of_the_visible_namespaces_those_are_watched_whose_rules_allow_it_or_do_not_say() -> None:
    api = ScriptedApi(dict(pages((["c", "b", "a", "d"], ""))), may=lambda wanted: False)
    api.rules = lambda namespace: [READ_NABS] if namespace in ("a", "c") else []
    async with client_of(api, namespace="own") as client:
        access = AccessReviewer(client, ManualClock(NOW))
        assert await accessible_namespaces(client, access, NAB, ()) == AccessibleNamespaces(
            ("a", "c"), chosen=False, missing=(), guessed=False
        )
        assert await accessible_namespaces(client, access, SCHEDULE, ()) == AccessibleNamespaces(
            ("own",), chosen=False, missing=(), guessed=True
        )
    api.answers[RULES] = {"status": {"incomplete": True}}
    async with client_of(api) as client:
        found = await accessible_namespaces(client, AccessReviewer(client, ManualClock(NOW)), NAB, ())
        assert found.namespaces == ("a", "b", "c", "d")


@pytest.mark.parametrize(("code", "everywhere"), [(200, True), (403, False), (404, True), (500, True)])
async def test_where_the_server_does_not_review_access_a_list_of_one_tells(code: int, everywhere: bool) -> None:
    api = ScriptedApi({VERDICTS: 403, RULES: 403, "/apis/velero.io/v1/schedules": {} if code == 200 else code})
    api.answers[NAMESPACES] = 403
    async with client_of(api, namespace="own") as client:
        access = AccessReviewer(client, ManualClock(NOW))
        found = await accessible_namespaces(client, access, SCHEDULE, ())
        await accessible_namespaces(client, access, DEPLOYMENT, ())
    assert found == AccessibleNamespaces(("",) if everywhere else ("own",), guessed=not everywhere)
    assert api.asked[0] == "GET /apis/velero.io/v1/schedules?limit=1"
    assert "GET /apis/apps/v1/deployments?limit=1&fieldSelector=metadata.name%3Dvelero" in api.asked


async def test_where_all_may_be_listed_nothing_is_guessed_or_chosen() -> None:
    async with client_of(ScriptedApi()) as client:
        found = await accessible_namespaces(client, AccessReviewer(client, ManualClock(NOW)), SCHEDULE, ())
    assert found == AccessibleNamespaces(("",), chosen=False, missing=(), guessed=False)


async def test_a_kind_of_some_names_is_seen_everywhere_only_where_all_of_them_are() -> None:
    api = ScriptedApi(may=lambda wanted: wanted["name"] == "velero")
    async with client_of(api, namespace="own") as client:
        found = await accessible_namespaces(client, AccessReviewer(client, ManualClock(NOW)), DEPLOYMENT, ())
    assert found == AccessibleNamespaces(("own",), guessed=True)
