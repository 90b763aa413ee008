"""`foretop drill` on a real Velero: what it restores rests, is counted, noted and gone afterwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rules.protection.copies import DRILLED
from tests.velero.build import RELEASES
from tests.velero.foretop_command import ForetopCommand
from tests.velero.namespace_controller import NamespaceController
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.shop_namespace import SHOP, create_shop
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import VELERO_NAMESPACE, ServerFlags, StorySteps

TRIAL = f"{SHOP}-trial"


@pytest.fixture
def controller(cluster: RealVeleroCluster) -> Iterator[NamespaceController]:
    with NamespaceController(cluster.api_server) as running:
        yield running
        cluster.api_server.admin.delete(f"/api/v1/namespaces/{SHOP}").expect(200, 202, 404)
        cluster.wait_until(lambda: not _exists(cluster, SHOP))


@pytest.fixture
def foretop(cluster: RealVeleroCluster, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE), tmp_path)


def _exists(cluster: RealVeleroCluster, namespace: str) -> bool:
    return cluster.api_server.admin.get(f"/api/v1/namespaces/{namespace}").status == 200


@pytest.mark.seconds(30)
@pytest.mark.parametrize("release", RELEASES)
def test_a_drill_restores_at_rest_counts_and_leaves_nothing_but_its_note(
    release: str, cluster: RealVeleroCluster, controller: NamespaceController, foretop: ForetopCommand
) -> None:
    steps = StorySteps(cluster)
    create_shop(cluster.api_server)
    cluster.start(ServerFlags(release))
    wait_until_available(steps)
    steps.backup("shop-copy", SHOP)
    steps.wait_for_phase("Backup", "shop-copy", "Completed")

    report = json.loads(foretop.text("drill", SHOP, "--into", TRIAL, "--yes", "-o", "json"))
    assert (report["backup"], report["phase"], report["failed"]) == ("shop-copy", "Completed", None)
    assert {one["kind"]: (one["inBackup"], one["restored"]) for one in report["kinds"]} == {
        "ConfigMap": (1, 1),
        "CronJob": (1, 1),
        "DaemonSet": (1, 1),
        "Deployment": (1, 1),
        "Job": (2, 1),
        "PersistentVolumeClaim": (1, 1),
        "Service": (2, 2),
        "ServiceAccount": (1, 1),
        "StatefulSet": (1, 1),
    }
    assert [one["kind"] for one in report["kinds"] if one["ended"]] == ["Job"]
    assert set(report["notTried"]) >= {"Pod", "Secret"}

    made = controller.deleted[TRIAL]
    counts = Counter(item["kind"] for item in made)
    assert (counts["Secret"], counts["Pod"]) == (0, 0)
    specs = {(item["kind"], item["metadata"]["name"]): item["spec"] for item in made if "spec" in item}
    assert specs["Deployment", "web"]["replicas"] == specs["StatefulSet", "db"]["replicas"] == 0
    assert specs["CronJob", "nightly"]["suspend"] is specs["Job", "runs"]["suspend"] is True
    assert specs["DaemonSet", "agent"]["template"]["spec"]["nodeSelector"]
    services = [spec for (kind, _), spec in specs.items() if kind == "Service"]
    assert [service["type"] for service in services] == ["ClusterIP", "ClusterIP"]
    assert not any("nodePort" in port for service in services for port in service["ports"])

    assert not _exists(cluster, TRIAL)
    assert _exists(cluster, SHOP)
    assert cluster.list_all("Restore") == []
    labelled = f"/api/v1/namespaces/{VELERO_NAMESPACE}/configmaps?labelSelector={DRILL_LABEL}"
    assert cluster.api_server.admin.get(labelled).expect(200)["items"] == []
    (backup,) = cluster.list_all("Backup")
    (noted,) = json.loads(backup["metadata"]["annotations"][DRILLED]).items()
    assert (noted[0], noted[1]["failed"]) == (SHOP, "")
    (row,) = foretop.items("get", "protection", "-n", SHOP)
    assert (row["newestCopy"], row["lastDrill"]["failed"]) == ("shop-copy", None)
