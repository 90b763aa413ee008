"""Whatever is sent to the box, it answers: with an object or with a refusal, never with a breakdown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from foretop_core.clock import ManualClock
from foretop_demo import ApiError, InProcessApi
from foretop_demo.handlers import Call, Handlers
from foretop_demo.kinds import load_catalog
from foretop_demo.negotiation import Form
from foretop_demo.requests import Target, parse_path

VELERO = "/apis/velero.io/v1/namespaces/velero"
NABS = "/apis/oadp.openshift.io/v1alpha1/namespaces/velero/nonadminbackups"
DEPLOYMENTS = "/apis/apps/v1/namespaces/velero/deployments"
PATCHES = ("merge-patch", "json-patch", "strategic-merge-patch")
CATALOG = load_catalog()
FIELDS = (
    "metadata spec status kind apiVersion name namespace labels annotations finalizers ownerReferences managedFields "
    "resourceVersion uid generateName schedule template paused phase conditions hooks resources preconditions "
    "propagationPolicy dryRun op path value from containers $patch $deleteFromPrimitiveList/finalizers backupSpec"
)
SCALARS = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "a", "daily", "velero.io/v1", "Schedule", "/spec/paused", "/metadata", "add", "move"]
)
KEYS = st.sampled_from(FIELDS.split())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
)
PATHS = st.sampled_from(
    [
        f"{VELERO}/schedules",
        f"{VELERO}/schedules/daily",
        f"{NABS}/n",
        f"{NABS}/n/status",
        DEPLOYMENTS,
        f"{DEPLOYMENTS}/velero",
        "/api/v1/namespaces/velero",
    ]
)
QUERIES = st.dictionaries(
    st.sampled_from(
        ["limit", "continue", "resourceVersion", "labelSelector", "fieldSelector", "dryRun", "fieldValidation"]
    ),
    st.sampled_from(["1", "abc", "-1", "a=b", "All", "Strict", "eyJydiI6MSwic3RhcnQiOiJhIn0", "x in ("]),
    max_size=2,
)


def furnished() -> InProcessApi:
    storage = InProcessApi(ManualClock(datetime(2026, 11, 15, tzinfo=UTC)), CATALOG)
    storage.create(storage.kind("Namespace"), {"metadata": {"name": "velero"}})
    spec = {"schedule": "0 1 * * *", "template": {}}
    storage.create(storage.kind("Schedule"), {"metadata": {"name": "daily"}, "spec": spec}, "velero")
    storage.create(storage.kind("NonAdminBackup"), {"metadata": {"name": "n"}, "spec": {"backupSpec": {}}}, "velero")
    pod = {"spec": {"containers": [{"name": "velero", "image": "velero:1"}]}}
    storage.create(storage.kind("Deployment"), {"metadata": {"name": "velero"}, "spec": {"template": pod}}, "velero")
    return storage


def whole(body: Any, kind: str, api_version: str, name: str) -> Any:
    """Half of the bodies get the head of a proper object, so that they come further than the front door."""
    if not isinstance(body, dict):
        return body
    meta = body.get("metadata")
    return {
        **body,
        "kind": kind,
        "apiVersion": api_version,
        "metadata": {**(meta if isinstance(meta, dict) else {}), "name": name},
    }


def outcome(storage: InProcessApi, verb: str, call: Call) -> tuple[int, Any]:
    try:
        answer = Handlers(storage).handle(verb, call)
    except ApiError as refusal:
        return refusal.code, refusal.status()
    return answer.code, msgspec.json.decode(answer.raw)


@settings(max_examples=200)
@given(
    PATHS, st.sampled_from(["list", "create", "update", "patch", "delete"]), VALUES, QUERIES, st.booleans(), st.data()
)
def test_no_body_and_no_query_breaks_the_server(
    path: str, verb: str, body: Any, query: dict[str, str], proper: bool, data: st.DataObject
) -> None:
    storage = furnished()
    address = parse_path(path)
    assert address is not None
    kind = storage.catalog.at(address.group, address.version, address.plural)
    assert kind is not None
    if proper:
        body = whole(body, kind.kind, kind.api_version, address.name or "new")
    media = data.draw(st.sampled_from(PATCHES)) if verb == "patch" else ""
    content = f"application/{media}+json" if media else "application/json"
    raw = b"" if verb == "list" else msgspec.json.encode(body)
    before = storage.version
    call = Call(Target(kind, address), query, raw, content, "robustness", Form())
    code, answer = outcome(storage, verb, call)
    if code >= 400:
        assert (answer["status"], answer["code"], storage.version) == ("Failure", code, before)
    else:
        assert code in (200, 201)
