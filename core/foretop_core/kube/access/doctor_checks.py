"""The checks of `foretop doctor`: what a cluster lets foretop see and do, each with a remedy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import product

import msgspec
from msgspec.structs import replace

from foretop_core.clock import Clock
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.access.accessible_namespaces import (
    CLUSTER_READ,
    DECIDING_READS,
    DECIDING_READS_EVERYWHERE,
    EVERYWHERE,
    NAMESPACE_READS,
    NODE_AGENT_READS,
    READ_VERBS,
    WATCHED_NAMES,
    watch_permissions,
)
from foretop_core.kube.access.find_velero import FoundVelero, find_velero
from foretop_core.kube.access.namespace_resolver import NamespaceResolver, NamespaceSelection
from foretop_core.kube.access.node_agents import read_node_limits
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.discovery import served_version
from foretop_core.kube.connection.list_watch_codec import read_object, read_page
from foretop_core.models import CustomResourceDefinition, Resource
from foretop_core.models.kinds import (
    BACKUP,
    BESIDE_VELERO,
    CLAIM,
    DEFINITION,
    DEPLOYMENT,
    KINDS,
    NAMESPACE,
    SCHEDULE,
    SERVER_STATUS,
    STORAGE,
    Kind,
    RequiredPermission,
)
from foretop_core.models.wire import decode
from foretop_core.room_finder import room_modules
from foretop_core.rules import humanize
from foretop_core.rules.build_snapshot import BACKUP_DEFINITION, assemble
from foretop_core.rules.cron_dialects import releases_of
from foretop_core.rules.known_bugs import bugs_of
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.velero_deployment import VELERO_DEPLOYMENT

LARGE_SKEW = timedelta(seconds=5)
_READ_UID = f"ask for a role with {CLUSTER_READ.verb} on the namespace {', '.join(CLUSTER_READ.names)}"
_SET_UID = "run foretop doctor in the protected context, and set its clusterUid"
_TELL_NEXT_RUN = "see what decides about volumes in the next run"
_NEEDED = frozenset({SCHEDULE, BACKUP, STORAGE})
ToldRight = tuple[RequiredPermission, Kind, str]
"""A permission of an action, the kind that the action is asked of, and what one can do with it."""


class CheckStatus(StrEnum):
    OK = "ok"
    NOTE = "note"
    MISSING = "missing"
    FAILED = "failed"


class Check(msgspec.Struct, frozen=True):
    """One line: what was looked at, how it is, and what to do where it is not well."""

    about: str
    verdict: CheckStatus
    found: str
    remedy: str = ""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


async def diagnose(
    client: ApiClient,
    clock: Clock,
    named: NamespaceSelection,
    rights: Iterable[ToldRight],
    given_versions: Mapping[str, str] | None = None,
) -> AsyncGenerator[Check, None]:
    """Everything about one context; ends early, with FAILED, where it cannot be reached."""
    config = client.config
    needs = tuple(rights)
    yield Check("context", CheckStatus.OK, f"{config.name}, {config.address}, namespace {config.namespace}")
    try:
        version = await _version(client)
    except ForetopError as problem:
        yield Check("connection", CheckStatus.FAILED, str(problem), "try kubectl with the same --context")
        return
    yield Check("connection", CheckStatus.OK, f"Kubernetes {version}")
    if client.notice:
        yield Check("sign-in", CheckStatus.NOTE, client.notice)
    yield _tls(client)
    yield _skew(client)
    yield _cluster(client, await client.learn_uid())
    yield _protection(client)
    access = AccessReviewer(client, clock)
    places = NamespaceResolver(client, access, clock, named)
    yield await _namespaces(access)
    for kind in KINDS:
        if kind is not NAMESPACE:
            yield await _kind(client, access, kind, places)
    servers = await _servers(client, named)
    for check in _velero(servers):
        yield check
    for server in servers:
        yield await _node_agents(client, server.namespace)
    snapshots = {server.namespace: await server_snapshot(client, server, given_versions or {}) for server in servers}
    for namespace, snapshot in snapshots.items():
        yield _cron(snapshot, namespace, clock.now())
    for namespace, snapshot in snapshots.items():
        if (known := _known_bugs(snapshot, namespace)) is not None:
            yield known
    beside = tuple(server.namespace for server in servers) or (config.namespace,)
    for needed, namespace in product(NODE_AGENT_READS, beside):
        yield await _action(access, needed, "see how many volumes a node moves at a time", namespace)
    for needed, namespace in product(DECIDING_READS, beside):
        yield await _action(access, needed, _TELL_NEXT_RUN, namespace)
    for needed in DECIDING_READS_EVERYWHERE:
        # Of pods only those that mount claims are of use.
        for namespace in await _tenants(client, CLAIM, places) if needed.kind.namespaced else EVERYWHERE:
            yield await _action(access, needed, _TELL_NEXT_RUN, namespace)
    for needed, kind, purpose in needs:
        for namespace in beside if kind in BESIDE_VELERO else await _tenants(client, kind, places):
            yield await _action(access, needed, purpose, namespace)


async def _version(client: ApiClient) -> str:
    response = await client.request("GET", "/version")
    try:
        return response.read(_Version).git_version or "of unknown version"
    except ApiError:
        return "of unknown version"


def _tls(client: ApiClient) -> Check:
    config = client.config
    if config.server.startswith("http://"):
        return Check("TLS", CheckStatus.NOTE, "not used: the connection is plain HTTP")
    if config.insecure:
        remedy = "remove insecure-skip-tls-verify and give the cluster's CA"
        return Check("TLS", CheckStatus.NOTE, "the server's certificate is not verified", remedy)
    return Check("TLS", CheckStatus.OK, "the server's certificate is trusted")


def _skew(client: ApiClient) -> Check:
    skew = client.skew or timedelta()
    if abs(skew) <= LARGE_SKEW:
        return Check("clock", CheckStatus.OK, "agrees with the server's")
    side = "ahead of" if skew > timedelta() else "behind"
    difference = f"the server is {humanize.duration(abs(skew))} {side} this machine"
    return Check("clock", CheckStatus.NOTE, difference, "foretop uses the server's time; correct this machine's clock")


def _cluster(client: ApiClient, uid: str) -> Check:
    """The uid, as the configuration takes it."""
    if uid:
        return Check("cluster", CheckStatus.OK, f"clusterUid: {uid}")
    text = "the uid of the namespace kube-system cannot be read: by another address it is not known to be this cluster"
    return Check("cluster", CheckStatus.NOTE, text, _READ_UID)


def _protection(client: ApiClient) -> Check:
    protection = client.protection
    if protection.read_only:
        return Check("protection", CheckStatus.NOTE, f"read-only: {protection.read_only}")
    if not protection.production:
        return Check("protection", CheckStatus.OK, "none: nothing in the configuration protects this cluster")
    name, uid = client.config.name, client.identity.uid
    remedy = f"set contexts.{name}.clusterUid: {uid}" if protection.name == name and uid else ""
    if protection.in_doubt:
        remedy = _READ_UID if protection.lacks_own_uid else _SET_UID
    text = f"{protection.production}; {protection.name} is to be typed before a write"
    return Check("protection", CheckStatus.NOTE, text, remedy)


async def _kind(client: ApiClient, access: AccessReviewer, kind: Kind, places: NamespaceResolver) -> Check:
    about = api_paths.title(kind)
    missing = CheckStatus.MISSING if kind in _NEEDED else CheckStatus.NOTE
    try:
        if await served_version(client, kind) is None:
            return Check(about, missing, "not installed", "install Velero's CRDs" if kind in _NEEDED else "")
        accessible = await places.of(kind)
        denied = {namespace: await _denied(access, kind, namespace) for namespace in accessible.namespaces}
    except ApiError as problem:
        return Check(about, missing, str(problem))
    if accessible.missing:
        return Check(
            about, missing, f"namespace {', '.join(accessible.missing)} does not exist", "name an existing namespace"
        )
    if verbs := [verb for verb in READ_VERBS if any(verb in some for some in denied.values())]:
        where = ", ".join(_place(name) for name, some in denied.items() if some)
        what = f"{_not_allowed(verbs)} in {where}"
        remedy = f"ask for a role with {humanize.join(verbs)} on {about}"
        if verbs == ["get"]:
            return Check(about, CheckStatus.NOTE, f"{what}: you cannot see their YAML or change them", remedy)
        return Check(about, missing, what, remedy)
    where = "in all namespaces" if accessible.namespaces == EVERYWHERE else f"in {', '.join(accessible.namespaces)}"
    return Check(about, CheckStatus.OK, f"can be listed and watched {where}")


async def _namespaces(access: AccessReviewer) -> Check:
    denied = [needed.verb for needed in NAMESPACE_READS if not await access.may(needed)]
    if not denied:
        return Check("namespaces", CheckStatus.OK, "can be listed")
    verbs = humanize.join(denied)
    text = f"{_not_allowed(denied)}: you cannot see which ones exist"
    return Check(
        "namespaces", CheckStatus.NOTE, text, f"name yours with -n, or ask for a role with {verbs} on namespaces"
    )


def _not_allowed(verbs: list[str]) -> str:
    return f"{humanize.join(verbs)} {'is' if len(verbs) == 1 else 'are'} not allowed"


async def _denied(access: AccessReviewer, kind: Kind, namespace: str) -> tuple[str, ...]:
    """The verbs that are not allowed."""
    return tuple([needed.verb for needed in watch_permissions(kind) if not await access.may(needed, namespace)])


async def _tenants(client: ApiClient, kind: Kind, places: NamespaceResolver) -> tuple[str, ...]:
    """The namespaces to look for the tenants' objects of a kind in; none if it is not installed."""
    try:
        return (await places.of(kind)).namespaces if await served_version(client, kind) else ()
    except ForetopError:
        return ()


def _place(namespace: str) -> str:
    return namespace or "all namespaces"


async def _servers(client: ApiClient, named: NamespaceSelection) -> tuple[FoundVelero, ...]:
    places = (named.velero,) if named.velero else () if named.with_velero else named.namespaces
    try:
        return await find_velero(client, places)
    except ForetopError:
        return ()


def _velero(servers: tuple[FoundVelero, ...]) -> list[Check]:
    if not servers:
        return [
            Check(
                "Velero",
                CheckStatus.MISSING,
                "not found in any namespace",
                "install it, or set its namespace with --velero-namespace",
            )
        ]
    checks = []
    for server in servers:
        if server.known:
            skip = "true" if server.known.skip_immediately else "false"
            text = (
                f"in {server.namespace}, version {server.known.version or 'not given by its image'}, "
                f"--schedule-skip-immediately={skip}, --concurrent-backups={server.known.concurrency}"
            )
            checks.append(Check("Velero", CheckStatus.OK, text))
        elif not server.has_deployment:
            text = f"in {server.namespace}, where no Deployment {VELERO_DEPLOYMENT} exists: flags not known"
            remedy = "give the release with --velero-version"
            checks.append(Check("Velero", CheckStatus.NOTE, text, remedy))
        else:
            remedy = f"ask for get on deployments.apps in {server.namespace} to see its flags"
            checks.append(
                Check("Velero", CheckStatus.NOTE, f"in {server.namespace}, not allowed to read its Deployment", remedy)
            )
    return checks


async def _node_agents(client: ApiClient, namespace: str) -> Check:
    limits = await read_node_limits(client, namespace)
    verdict = CheckStatus.NOTE if limits.is_refused else CheckStatus.OK
    return Check("node agents", verdict, f"in {namespace}, {limits.summary}")


def _cron(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> Check:
    """How a server reads cron, what tells so, and what the rooms say of it."""
    verdict = snapshot.full_verdict(namespace)
    library = " or ".join(dialect.value for dialect in verdict.candidates)
    why = f", because of {'; '.join(verdict.reasons)}" if verdict.reasons else ", without evidence"
    against = f"; against that: {'; '.join(verdict.contradictions)}" if verdict.contradictions else ""
    text = f"in {namespace}, {releases_of(verdict.candidates)} ({library}){why}{against}"
    notes = [module.cron_note(snapshot, namespace, now) for module in room_modules("foretop_core", "doctor")]
    remedy = "; ".join(remedy for _, remedy in notes if remedy)
    text += "".join(words for words, _ in notes)
    return Check("cron", CheckStatus.NOTE if remedy or against else CheckStatus.OK, text, remedy)


def _known_bugs(snapshot: ClusterSnapshot, namespace: str) -> Check | None:
    """The known bugs of its release; None where it has none, or is not known."""
    release = snapshot.verdict(namespace).release
    bugs = bugs_of(release) if release is not None else ()
    if not bugs:
        return None
    may = "may have" if release is not None and release.patch is None else "has"
    told = "; ".join(bug.line for bug in bugs)
    return Check("known bugs", CheckStatus.NOTE, f"in {namespace}, Velero {release} {may} {len(bugs)}: {told}")


async def _action(access: AccessReviewer, needed: RequiredPermission, purpose: str, namespace: str) -> Check:
    about = str(needed)
    try:
        allowed = await access.may(needed, namespace)
    except ForetopError as problem:
        return Check(about, CheckStatus.NOTE, str(problem))
    if allowed:
        return Check(about, CheckStatus.OK, f"allowed in {_place(namespace)}: you can {purpose}")
    return Check(
        about,
        CheckStatus.NOTE,
        f"not allowed in {_place(namespace)}: you cannot {purpose}",
        "ask for a role with this permission",
    )


_TELLING = (SCHEDULE, BACKUP, STORAGE, SERVER_STATUS, DEPLOYMENT)


async def server_snapshot(client: ApiClient, server: FoundVelero, given_versions: Mapping[str, str]) -> ClusterSnapshot:
    """The objects around one server that tell its release or its dialect; what may not be seen is left out."""
    objects: list[Resource] = []
    for kind in _TELLING:
        objects += await _listed(client, kind, server.namespace)
    with suppress(ForetopError):
        response = await client.request("GET", api_paths.item(DEFINITION, "", BACKUP_DEFINITION))
        objects.append(decode(CustomResourceDefinition, response.body))
    snapshot = assemble(objects, given_versions=given_versions)
    return replace(snapshot, servers={server.namespace: server.known}) if server.known else snapshot


async def _listed(client: ApiClient, kind: Kind, namespace: str) -> list[Resource]:
    resources: list[Resource] = []
    for name in WATCHED_NAMES.get(kind, ("",)):
        with suppress(ForetopError):
            named = {"fieldSelector": f"metadata.name={name}"} if name else None
            response = await client.request("GET", api_paths.collection(kind, namespace), named)
            for raw in read_page(response.body, kind).items or []:
                with suppress(Unreadable):
                    resources.append(read_object(kind, raw))
    return resources
