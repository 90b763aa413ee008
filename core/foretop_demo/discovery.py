"""Discovery: version, groups, resources, and as much OpenAPI as kubectl needs before it writes."""

from __future__ import annotations

import platform

from foretop_demo.kinds import Catalog, Json, Kind

_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
_REVIEWS = {
    ("authorization.k8s.io", "v1"): ("SelfSubjectAccessReview", "SelfSubjectRulesReview"),
    ("authentication.k8s.io", "v1"): ("SelfSubjectReview",),
}
GIT_VERSION = "v1.36.3"
_PATCHES = ("application/json-patch+json", "application/merge-patch+json")


def version() -> Json:
    return {
        "major": "1",
        "minor": "36",
        "gitVersion": f"{GIT_VERSION}+minicluster",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }


def document(catalog: Catalog, path: str) -> Json | None:
    """The discovery or OpenAPI document at a path, or None."""
    parts = [part for part in path.split("/") if part]
    match parts:
        case []:
            return {"paths": ["/api", "/api/v1", "/apis", *(f"/{name}" for name in _documents(catalog)[1:])]}
        case ["version"]:
            return version()
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups(catalog)}
        case ["apis", group]:
            found = next((each for each in _groups(catalog) if each["name"] == group), None)
            return {"kind": "APIGroup", "apiVersion": "v1", **found} if found else None
        case ["api", "v1"]:
            return _resources(catalog, "", "v1")
        case ["apis", group, version_]:
            return _resources(catalog, group, version_)
        case ["openapi", "v3"]:
            return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}"} for name in _documents(catalog)}}
        case ["openapi", "v3", "api", "v1"]:
            return _openapi(catalog, "", "v1")
        case ["openapi", "v3", "apis", group, version_]:
            return _openapi(catalog, group, version_)
        case ["openapi", "v2"]:
            return {"swagger": "2.0", "info": _info(), "paths": {}, "definitions": {}}
    return None


def _group_versions(catalog: Catalog) -> list[tuple[str, str]]:
    served = [(kind.group, kind.version) for kind in catalog if kind.group]
    return list(dict.fromkeys([*served, *_REVIEWS]))


def _groups(catalog: Catalog) -> list[Json]:
    groups: dict[str, list[Json]] = {}
    for group, version_ in _group_versions(catalog):
        groups.setdefault(group, []).append({"groupVersion": f"{group}/{version_}", "version": version_})
    return [{"name": name, "versions": versions, "preferredVersion": versions[0]} for name, versions in groups.items()]


def _resources(catalog: Catalog, group: str, version_: str) -> Json | None:
    found = [each for kind in catalog if (kind.group, kind.version) == (group, version_) for each in _entries(kind)]
    for name in _REVIEWS.get((group, version_), ()):
        found.append({"name": f"{name.lower()}s", "singularName": name.lower(), "namespaced": False, "kind": name})
        found[-1]["verbs"] = ["create"]
    if not found:
        return None
    named = f"{group}/{version_}" if group else version_
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": named, "resources": found}


def _entries(kind: Kind) -> list[Json]:
    entry: Json = {"name": kind.plural, "singularName": kind.singular, "namespaced": kind.namespaced}
    entry |= {"kind": kind.kind, "verbs": _VERBS}
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if not kind.status_subresource:
        return [entry]
    status: Json = {"name": f"{kind.plural}/status", "singularName": "", "namespaced": kind.namespaced}
    return [entry, {**status, "kind": kind.kind, "verbs": ["get", "patch", "update"]}]


def _documents(catalog: Catalog) -> list[str]:
    return ["api/v1", *(f"apis/{group}/{version_}" for group, version_ in _group_versions(catalog))]


def _info() -> Json:
    return {"title": "Kubernetes", "version": GIT_VERSION}


def _openapi(catalog: Catalog, group: str, version_: str) -> Json | None:
    kinds = [kind for kind in catalog if (kind.group, kind.version) == (group, version_)]
    paths: Json = {}
    schemas: Json = {}
    for kind in kinds:
        marked = [{"group": kind.group, "version": kind.version, "kind": kind.kind}]
        operation: Json = {
            "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
            "requestBody": {"content": {media: {} for media in _PATCHES}},
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-group-version-kind": marked[0],
        }
        place = kind.collection_path("{namespace}" if kind.namespaced else "")
        paths[f"{place}/{{name}}"] = {"patch": operation}
        name = ".".join([*reversed(group.split(".")), version_, kind.kind]).lstrip(".")
        schemas[name] = {**kind.schema, "x-kubernetes-group-version-kind": marked}
    if not kinds and (group, version_) not in _REVIEWS:
        return None
    return {"openapi": "3.0.0", "info": _info(), "paths": paths, "components": {"schemas": schemas}}
