"""A namespace with an application in it, as it would be in use."""

from __future__ import annotations

import json
from typing import Any

from tests.real.cluster import RealCluster

SHOP = "web-shop"
Raw = dict[str, Any]
_PODS: Raw = {
    "metadata": {"labels": {"app": "shop"}},
    "spec": {
        "containers": [{"name": "main", "image": "example.test/shop"}],
        "automountServiceAccountToken": False,
    },
}
_ONCE: Raw = {**_PODS, "spec": {**_PODS["spec"], "restartPolicy": "Never"}}
_SELECTOR = {"matchLabels": {"app": "shop"}}
_NODE_PORT = 30080
_PORTS = [{"name": "http", "port": 80, "nodePort": _NODE_PORT}]
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}
_ENDED = {"startTime": "2026-11-15T01:00:00Z", "completionTime": "2026-11-15T01:00:05Z", "succeeded": 1}
CONTENTS: tuple[tuple[str, str, str, Raw], ...] = (
    ("/api/v1", "serviceaccounts", "default", {}),
    ("/api/v1", "serviceaccounts", "shop", {}),
    ("/api/v1", "configmaps", "settings", {"data": {"colour": "green"}}),
    ("/api/v1", "configmaps", "kube-root-ca.crt", {"data": {"ca.crt": "any"}}),
    ("/api/v1", "secrets", "credentials", {"data": {"token": "c2VjcmV0"}}),
    ("/api/v1", "persistentvolumeclaims", "data", {"spec": {**_CLAIM, "volumeName": "shop-data"}}),
    (
        "/api/v1",
        "services",
        "front",
        {
            "spec": {
                "type": "LoadBalancer",
                "ports": _PORTS,
                "selector": {"app": "shop"},
                "externalTrafficPolicy": "Local",
                "loadBalancerSourceRanges": ["192.0.2.0/24"],
            }
        },
    ),
    ("/api/v1", "services", "elsewhere", {"spec": {"type": "ExternalName", "externalName": "example.test"}}),
    ("/api/v1", "pods", "web-0", {**_PODS, "metadata": {}}),
    ("/apis/apps/v1", "deployments", "web", {"spec": {"replicas": 3, "selector": _SELECTOR, "template": _PODS}}),
    (
        "/apis/apps/v1",
        "statefulsets",
        "db",
        {"spec": {"replicas": 2, "serviceName": "db", "selector": _SELECTOR, "template": _PODS}},
    ),
    ("/apis/apps/v1", "daemonsets", "agent", {"spec": {"selector": _SELECTOR, "template": _PODS}}),
    (
        "/apis/batch/v1",
        "cronjobs",
        "nightly",
        {"spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": _ONCE}}}},
    ),
    ("/apis/batch/v1", "jobs", "runs", {"spec": {"template": _ONCE}}),
    ("/apis/batch/v1", "jobs", "ended", {"spec": {"template": _ONCE}}),
)


def create_shop(api_server: RealCluster, *, chose_node_port: bool = True) -> None:
    """The volume is bound, one of two jobs has ended, and whoever applied the Service may have chosen its node port.

    Velero restores a port that was chosen, so it cannot restore that Service beside itself.
    """
    admin = api_server.admin
    admin.post("/api/v1/namespaces", {"metadata": {"name": SHOP}}).expect(201)
    source = {"hostPath": {"path": "/nowhere"}, "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    claimed = {**source, "claimRef": {"namespace": SHOP, "name": "data"}, "storageClassName": ""}
    admin.post("/api/v1/persistentvolumes", {"metadata": {"name": "shop-data"}, "spec": claimed}).expect(201, 409)
    for root, resource, name, body in CONTENTS:
        meta: Raw = {"name": name}
        if name == "front":
            meta["annotations"] = {
                "kubectl.kubernetes.io/last-applied-configuration": json.dumps(body if chose_node_port else {}),
                "service.beta.kubernetes.io/load-balancer-source-ranges": "192.0.2.0/24",
            }
        admin.post(f"{root}/namespaces/{SHOP}/{resource}", {**body, "metadata": meta}).expect(201)
    bound = {"status": {"phase": "Bound"}}
    admin.patch(f"/api/v1/namespaces/{SHOP}/persistentvolumeclaims/data/status", bound).expect(200)
    conditions = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    ended = {"status": {**_ENDED, "conditions": conditions}}
    admin.patch(f"/apis/batch/v1/namespaces/{SHOP}/jobs/ended/status", ended).expect(200)
