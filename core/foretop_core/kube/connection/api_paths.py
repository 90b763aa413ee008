"""URL paths of the Kubernetes API."""

from __future__ import annotations

from urllib.parse import quote

from foretop_core.models.kinds import Kind


def collection(kind: Kind, namespace: str = "", version: str = "") -> str:
    """All objects of a kind, in one namespace or in all; the version is the kind's own unless told."""
    served = version or kind.version
    root = f"/apis/{kind.group}/{served}" if kind.group else f"/api/{served}"
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}{scope}/{kind.plural}"


def item(kind: Kind, namespace: str, name: str) -> str:
    return f"{collection(kind, namespace)}/{quote(name, safe='')}"


def api_version(kind: Kind, version: str) -> str:
    """As objects of this kind name it in one of the versions that it may be served in."""
    return f"{kind.group}/{version}" if kind.group else version


def title(kind: Kind) -> str:
    """A kind as RBAC's messages name it: `schedules.velero.io`."""
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural
