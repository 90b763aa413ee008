"""Every line of doctor, against an API server that is told what to answer."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import aclosing
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.access.doctor_checks import Check, CheckStatus, ToldRight, diagnose
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.models.kinds import DEPLOYMENT, KINDS, NAB, RESTORE, SCHEDULE, Kind, RequiredPermission
from tests.objects import NOW
from tests.wire.scripted_api import ScriptedApi, client_of, listed, served
from tests.wire.test_auth import AUTHORITY, SERVERS

OK, NOTE, MISSING = CheckStatus.OK, CheckStatus.NOTE, CheckStatus.MISSING
PAUSE: ToldRight = (RequiredPermission("patch", SCHEDULE), SCHEDULE, "pause schedules")
START: ToldRight = (RequiredPermission("create", NAB), NAB, "start a backup")
UID = "0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10"
VELEROS = "/apis/apps/v1/deployments"
SCHEDULES = "/apis/velero.io/v1/namespaces/{}/schedules"


def velero(namespace: str, image: str = "velero/velero:v1.18.3", *args: str) -> dict[str, Any]:
    container = {"name": "velero", "image": image, "args": ["server", *args]}
    return {
        "metadata": {"name": "velero", "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def schedule(namespace: str, name: str, cron: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"schedule": cron}}


def cluster(*veleros: dict[str, Any], **answers: object) -> ScriptedApi:
    """All kinds are served; these Deployments of Velero are there."""
    return ScriptedApi(
        {
            "/version": {"gitVersion": "v1.34.1"},
            **served(KINDS),
            VELEROS: listed(DEPLOYMENT, *veleros),
            "/api/v1/namespaces/kube-system": {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": UID}},
            **{f"/api/v1/namespaces/{name}": {} for name in ("velero", "team-a", "team-b", "default")},
            **answers,
        }
    )


async def lines(
    api: ScriptedApi,
    *rights: ToldRight,
    named: NamespaceSelection | None = None,
    clock: ManualClock | None = None,
    tls: ssl.SSLContext | None = None,
    versions: Mapping[str, str] | None = None,
    until: str = "",
    **config: Any,
) -> list[Check]:
    """All lines, or those up to the last about one thing."""
    clock = clock or ManualClock(NOW)
    found: list[Check] = []
    async with (
        client_of(api, clock, tls, **config) as client,
        aclosing(diagnose(client, clock, named or NamespaceSelection(), rights, versions)) as diagnosis,
    ):
        async for check in diagnosis:
            if until and found and found[-1].about == until != check.about:
                break
            found.append(check)
    return found


def of(checks: list[Check], about: str) -> list[tuple[str, str, str]]:
    return [(check.verdict, check.found, check.remedy) for check in checks if check.about == about]


async def about(what: str, api: ScriptedApi, *rights: ToldRight, **more: Any) -> list[tuple[str, str, str]]:
    return of(await lines(api, *rights, until=what, **more), what)


async def test_each_kind_has_one_line_and_each_right_one_for_its_place() -> None:
    found = await lines(cluster(velero("velero")), PAUSE, START)
    assert [check.about for check in found] == [
        *("context", "connection", "TLS", "clock", "cluster", "protection", "namespaces"),
        *(f"{kind.plural}.{kind.group}".rstrip(".") for kind in KINDS if kind.name != "Namespace"),
        *("Velero", "node agents", "cron", "known bugs", "get daemonsets.apps", "get configmaps"),
        *("get configmaps", "list volumesnapshotlocations.velero.io", "list storageclasses.storage.k8s.io"),
        *("list volumesnapshotclasses.snapshot.storage.k8s.io", "list pods"),
        *("patch schedules.velero.io", "create nonadminbackups.oadp.openshift.io"),
    ]
    assert {check.found for check in found[7:-13]} == {"can be listed and watched in all namespaces"}
    assert [check.found for check in found[-2:]] == [
        "allowed in velero: you can pause schedules",
        "allowed in all namespaces: you can start a backup",
    ]
    assert {check.verdict for check in found[4:] if check.about != "known bugs"} == {OK}


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (
            "v1.18.3",
            ["Velero 1.18.3 has 3: a backup that was refused", "#10519, seen in 1.18.0 to 1.18.3, not fixed yet"],
        ),
        ("v1.18.0", ["Velero 1.18.0 has 3", "(velero #9566, seen in 1.18.0, fixed in 1.18.1)"]),
        ("v1.17.2", ["Velero 1.17.2 has 1: the metric velero_backup_last_status is set to 1"]),
    ],
)
async def test_the_known_bugs_of_a_release_are_named(image: str, words: list[str]) -> None:
    ((verdict, found, _),) = await about("known bugs", cluster(velero("velero", f"velero/velero:{image}")))
    assert verdict == NOTE
    assert all(word in found for word in words), found


@pytest.mark.parametrize("image", ["main", "v1.13.0", "v2.0.0"])
async def test_nothing_is_claimed_of_a_release_that_is_not_known_to_have_bugs(image: str) -> None:
    assert await about("known bugs", cluster(velero("velero", f"velero/velero:{image}"))) == []


@pytest.mark.parametrize(
    "answer", [{"metadata": {"uid": "x\x1b[31m"}}, {"metadata": {"uid": "a" * 65}}, {"metadata": {}}, [], "text"]
)
async def test_the_uid_of_the_cluster_is_printed_as_the_configuration_takes_it(answer: object) -> None:
    assert await about("cluster", cluster()) == [(OK, f"clusterUid: {UID}", "")]
    ((verdict, found, remedy),) = await about("cluster", cluster(**{"/api/v1/namespaces/kube-system": answer}))
    assert verdict is NOTE
    assert found.startswith("the uid of the namespace kube-system cannot be read")
    assert remedy == "ask for a role with get on the namespace kube-system"


@pytest.mark.parametrize(
    ("version", "found"),
    [({"gitVersion": "v1.34.1"}, "v1.34.1"), ({}, "of unknown version"), ([], "of unknown version")],
)
async def test_the_release_of_kubernetes_is_shown_where_the_server_names_it(version: object, found: str) -> None:
    assert await about("connection", cluster(**{"/version": version})) == [(OK, f"Kubernetes {found}", "")]


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        (5, "agrees with the server's"),
        (-5, "agrees with the server's"),
        (6, "the server is 6 seconds ahead of this machine"),
        (-6, "the server is 6 seconds behind this machine"),
        (-129_668, "the server is 1 day and 12 hours behind this machine"),
    ],
)
async def test_a_clock_that_differs_by_more_than_five_seconds_is_a_note(seconds: int, found: str) -> None:
    """A Date header is cut to whole seconds: from half a second on, it is a difference of whole ones."""
    api = cluster()
    api.headers["Date"] = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    clock = ManualClock(NOW + timedelta(seconds=0.5))
    ((verdict, told, remedy),) = await about("clock", api, clock=clock)
    assert told == found
    assert (verdict is NOTE) is (abs(seconds) > 5) is bool(remedy)


async def test_a_server_that_does_not_say_its_time_is_not_called_wrong() -> None:
    api = cluster()
    api.headers["Date"] = "some day"
    assert await about("clock", api) == [(OK, "agrees with the server's", "")]


async def test_a_certificate_that_nobody_verifies_is_a_note() -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    SERVERS["server"].configure_cert(context)
    ca = AUTHORITY.cert_pem.bytes().decode()
    assert await about("TLS", cluster()) == [(NOTE, "not used: the connection is plain HTTP", "")]
    assert await about("TLS", cluster(), tls=context, ca=ca) == [(OK, "the server's certificate is trusted", "")]
    ((verdict, found, remedy),) = await about("TLS", cluster(), tls=context, insecure=True)
    assert (verdict, found) == (NOTE, "the server's certificate is not verified")
    assert "insecure-skip-tls-verify" in remedy


@pytest.mark.parametrize(
    ("denied", "found"),
    [
        ("list", "list is not allowed: you cannot see which ones exist"),
        ("get watch", "get and watch are not allowed: you cannot see which ones exist"),
    ],
)
async def test_who_cannot_see_all_namespaces_is_told_to_name_them(denied: str, found: str) -> None:
    api = cluster()
    api.may = lambda wanted: wanted["resource"] != "namespaces" or wanted["verb"] not in denied.split()
    ((verdict, told, remedy),) = await about("namespaces", api)
    assert (verdict, told) == (NOTE, found)
    assert remedy.startswith("name yours with -n, or ask for a role with ")


@pytest.mark.parametrize(
    ("kind", "denied", "line"),
    [
        (
            SCHEDULE,
            "get",
            (
                NOTE,
                "get is not allowed in team-b: you cannot see their YAML or change them",
                "ask for a role with get on schedules.velero.io",
            ),
        ),
        (
            SCHEDULE,
            "watch",
            (MISSING, "watch is not allowed in team-b", "ask for a role with watch on schedules.velero.io"),
        ),
        (
            RESTORE,
            "get watch",
            (
                NOTE,
                "get and watch are not allowed in team-b",
                "ask for a role with get and watch on restores.velero.io",
            ),
        ),
        (SCHEDULE, "", (OK, "can be listed and watched in team-a, team-b", "")),
    ],
)
async def test_a_right_that_is_missing_is_named_with_its_place(
    kind: Kind, denied: str, line: tuple[str, str, str]
) -> None:
    api = cluster()
    api.may = lambda wanted: wanted["verb"] not in denied.split() or wanted.get("namespace") != "team-b"
    named = NamespaceSelection(("team-a", "team-b"))
    assert await about(f"{kind.plural}.{kind.group}", api, named=named) == [line]


@pytest.mark.parametrize(
    ("kind", "line"),
    [(SCHEDULE, (MISSING, "not installed", "install Velero's CRDs")), (RESTORE, (NOTE, "not installed", ""))],
)
async def test_a_kind_that_is_not_installed_is_missing_only_where_nothing_works_without_it(
    kind: Kind, line: tuple[str, str, str]
) -> None:
    api = cluster(**{"/apis/velero.io/v1": {"resources": [{"name": "backups"}]}})
    assert await about(f"{kind.plural}.{kind.group}", api) == [line]


@pytest.mark.parametrize(("kind", "verdict"), [(SCHEDULE, MISSING), (RESTORE, NOTE)])
async def test_a_namespace_that_does_not_exist_is_one_line_for_each_kind(kind: Kind, verdict: CheckStatus) -> None:
    assert await about(f"{kind.plural}.{kind.group}", cluster(), named=NamespaceSelection(("nowhere",))) == [
        (verdict, "namespace nowhere does not exist", "name an existing namespace")
    ]


async def test_a_refusal_of_the_server_is_the_line_of_its_kind_alone() -> None:
    api = cluster(velero("velero"), **{"/apis/oadp.openshift.io": 500})
    found = await lines(api, START)
    ((verdict, told, _),) = of(found, "nonadminbackups.oadp.openshift.io")
    assert verdict is NOTE
    assert "refused by the test" in told
    assert of(found, "schedules.velero.io")[0][0] is OK
    assert of(found, "create nonadminbackups.oadp.openshift.io") == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("named", "where"),
    [
        (NamespaceSelection(), ["velero"]),
        (NamespaceSelection(velero="team-b"), ["team-b"]),
        (NamespaceSelection(("team-a",), "team-b"), ["team-b"]),
        (NamespaceSelection(("team-a",)), ["team-a"]),
        (NamespaceSelection(("team-a",), with_velero=True), ["velero"]),
    ],
)
async def test_velero_is_looked_for_where_a_person_says(named: NamespaceSelection, where: list[str]) -> None:
    api = cluster(velero("velero"))
    found = await lines(api, PAUSE, named=named)
    assert [told.removeprefix("in ").partition(",")[0] for _, told, _ in of(found, "Velero")] == where
    actions = of(found, "patch schedules.velero.io")
    assert [told for _, told, _ in actions] == [f"allowed in {name}: you can pause schedules" for name in where]


@pytest.mark.sweep
async def test_without_a_velero_rights_are_checked_in_the_namespace_of_the_context() -> None:
    api = cluster()
    api.may = lambda wanted: wanted["verb"] != "patch"
    found = await lines(api, PAUSE, namespace="team-a")
    assert of(found, "Velero") == [
        (MISSING, "not found in any namespace", "install it, or set its namespace with --velero-namespace")
    ]
    assert of(found, "patch schedules.velero.io") == [
        (NOTE, "not allowed in team-a: you cannot pause schedules", "ask for a role with this permission")
    ]


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            velero("velero", "velero/velero:main", "--schedule-skip-immediately"),
            (OK, "in velero, version not given by its image, --schedule-skip-immediately=true, --concurrent-backups=1"),
        ),
        (
            velero("velero", "velero/velero:v1.18.3", "--concurrent-backups=3"),
            (OK, "in velero, version 1.18.3, --schedule-skip-immediately=false, --concurrent-backups=3"),
        ),
        (404, (NOTE, "in velero, where no Deployment velero exists: flags not known")),
        (403, (NOTE, "in velero, not allowed to read its Deployment")),
    ],
)
async def test_velero_is_shown_with_what_its_deployment_says(answer: object, line: tuple[str, str]) -> None:
    api = cluster(**{"/apis/apps/v1/namespaces/velero/deployments/velero": answer})
    ((verdict, found, remedy),) = await about("Velero", api, named=NamespaceSelection(velero="velero"))
    assert (verdict, found) == line
    assert bool(remedy) is (verdict is NOTE)


NEW = "Velero 1.18.3 and later (netresearch/go-cron v0.15.0)"


@pytest.mark.parametrize(
    ("image", "given", "verdict", "line"),
    [
        ("v1.18.3", "", OK, f"{NEW}, because of the tag 1.18.3 of its image"),
        (
            "v1.14.0",
            "1.18.3",
            NOTE,
            f"{NEW}, because of --velero-version 1.18.3; against that: the tag 1.14.0 of its image",
        ),
        (
            "main",
            "",
            OK,
            "every release of Velero (robfig/cron v1.1.0 or robfig/cron v3.0.1 or netresearch/go-cron v0.15.0), "
            "without evidence",
        ),
    ],
)
async def test_how_a_server_reads_cron_is_shown(image: str, given: str, verdict: CheckStatus, line: str) -> None:
    api = cluster(velero("velero", f"velero/velero:{image}"))
    assert await about("cron", api, versions={"": given} if given else None) == [(verdict, f"in velero, {line}", "")]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (404, (OK, "there is no DaemonSet node-agent in velero")),
        (403, (NOTE, "you may not get DaemonSet node-agent in velero")),
    ],
)
async def test_the_limits_of_the_node_agents_have_a_line(answer: int, line: tuple[str, str]) -> None:
    api = cluster(velero("velero"), **{"/apis/apps/v1/namespaces/velero/daemonsets/node-agent": answer})
    told = f"in velero, how many volumes a node moves at a time is not known: {line[1]}"
    assert await about("node agents", api) == [(line[0], told, "")]


@pytest.mark.sweep
async def test_the_evidence_for_cron_is_read_by_name_where_only_some_objects_tell() -> None:
    api = cluster(velero("velero"))
    api.answers[SCHEDULES.format("velero")] = {**listed(SCHEDULE), "items": None}
    assert (await about("cron", api))[0][0] is OK
    assert f"GET {SCHEDULES.format('velero')}" in api.asked
    assert "GET /apis/apps/v1/namespaces/velero/deployments?fieldSelector=metadata.name%3Dvelero" in api.asked
