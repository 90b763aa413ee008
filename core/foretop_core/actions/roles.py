"""The smallest roles for those who work with foretop, made from what the watches and the actions' records need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord
from foretop_core.kube.access.accessible_namespaces import (
    CLUSTER_READ,
    DECIDING_READS,
    DECIDING_READS_EVERYWHERE,
    NODE_AGENT_READS,
    watch_permissions,
)
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, NAMESPACE, Kind, RequiredPermission

SUBJECT = "SUBJECT"
"""The name to replace in the bindings."""
_API_GROUP = "rbac.authorization.k8s.io"


class RoleHolder(StrEnum):
    """The people who work with foretop."""

    CLUSTER_ADMIN = "cluster-admin"
    """Sees everything everywhere, and may ask for every action."""
    VELERO_ADMIN = "velero-admin"
    """Acts in Velero's namespace only, and sees the tenants' objects."""
    OADP_TENANT = "oadp-tenant"
    """Sees and deletes NABs and NARs of own namespaces, and nothing of Velero."""
    AUDITOR = "auditor"
    """Sees everything everywhere, and changes nothing."""
    NOBODY = "nobody"
    """Has signed in, which is enough for `foretop doctor`."""


class RoleNeeds(msgspec.Struct, frozen=True):
    """The rights of a role, by where it gives them."""

    everywhere: tuple[RequiredPermission, ...] = ()
    beside_velero: tuple[RequiredPermission, ...] = ()
    in_own_namespaces: tuple[RequiredPermission, ...] = ()


def role_records(holder: RoleHolder) -> tuple[ActionRecord, ...]:
    """The actions that a role is for."""
    match holder:
        case RoleHolder.CLUSTER_ADMIN:
            return RECORDS
        case RoleHolder.VELERO_ADMIN:
            return tuple(record for record in _local_records() if not _is_of_tenants(record))
        case RoleHolder.OADP_TENANT:
            return tuple(record for record in _local_records() if _is_of_tenants(record))
        case RoleHolder.AUDITOR | RoleHolder.NOBODY:
            return ()


def _local_records() -> Iterator[ActionRecord]:
    return (record for record in RECORDS if not record.for_administrators)


def _is_of_tenants(record: ActionRecord) -> bool:
    """True of actions on objects of tenants; one on a namespace itself writes beside Velero."""
    return any(kind not in BESIDE_VELERO and kind is not NAMESPACE for kind in record.kinds)


def role_needs(holder: RoleHolder) -> RoleNeeds:
    """The rights that the watches and the actions of a role need."""
    acting = tuple(needed for record in role_records(holder) for needed in (*record.rights, *record.reads))
    beside = (*_watched(kind for kind in KINDS if kind in BESIDE_VELERO), *NODE_AGENT_READS, *DECIDING_READS)
    others = (*_watched(kind for kind in KINDS if kind not in BESIDE_VELERO), *DECIDING_READS_EVERYWHERE)
    match holder:
        case RoleHolder.CLUSTER_ADMIN | RoleHolder.AUDITOR:
            return RoleNeeds(everywhere=(*beside, *others, *acting))
        case RoleHolder.VELERO_ADMIN:
            return RoleNeeds(everywhere=others, beside_velero=(*beside, *acting))
        case RoleHolder.OADP_TENANT:
            own = tuple(needed for needed in others if needed.kind.namespaced)
            return RoleNeeds(everywhere=(CLUSTER_READ,), in_own_namespaces=(*own, *acting))
        case RoleHolder.NOBODY:
            return RoleNeeds()


def role_manifests(holder: RoleHolder, velero_namespace: str, namespaces: Iterable[str]) -> list[dict[str, Any]]:
    """The roles of one holder, each with its binding, as `kubectl apply` takes them."""
    needs, name = role_needs(holder), f"foretop-{holder}"
    own = tuple(namespaces) if needs.in_own_namespaces else ()
    manifests: list[dict[str, Any]] = []
    if needs.everywhere or not (needs.beside_velero or own):
        manifests += _bound("ClusterRole", name, "", needs.everywhere)
    if needs.beside_velero:
        manifests += _bound("Role", name, velero_namespace, needs.beside_velero)
    for namespace in own:
        manifests += _bound("Role", name, namespace, needs.in_own_namespaces)
    return manifests


def role_rules(needs: Iterable[RequiredPermission]) -> list[dict[str, Any]]:
    """Rules that allow exactly this: resources of one group with the same verbs and names are one rule."""
    verbs: dict[tuple[str, str, tuple[str, ...]], dict[str, None]] = {}
    for needed in needs:
        verbs.setdefault((needed.kind.group, needed.resource, needed.names), {})[needed.verb] = None
    rules: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (group, resource, names), allowed in verbs.items():
        rules.setdefault((group, tuple(sorted(allowed)), names), []).append(resource)
    return [
        {
            "apiGroups": [group],
            "resources": resources,
            **({"resourceNames": list(names)} if names else {}),
            "verbs": list(allowed),
        }
        for (group, allowed, names), resources in sorted(rules.items())
    ]


def _watched(kinds: Iterable[Kind]) -> tuple[RequiredPermission, ...]:
    return tuple(needed for kind in kinds for needed in watch_permissions(kind))


def _bound(kind: str, name: str, namespace: str, needs: tuple[RequiredPermission, ...]) -> Iterator[dict[str, Any]]:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    yield {"apiVersion": f"{_API_GROUP}/v1", "kind": kind, "metadata": meta, "rules": role_rules(needs)}
    yield {
        "apiVersion": f"{_API_GROUP}/v1",
        "kind": f"{kind}Binding",
        "metadata": dict(meta),
        "roleRef": {"apiGroup": _API_GROUP, "kind": kind, "name": name},
        "subjects": [{"apiGroup": _API_GROUP, "kind": "User", "name": SUBJECT}],
    }
