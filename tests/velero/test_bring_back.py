"""A namespace brought back from its newest good copy by a real Velero: it is what foretop said beforehand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.terminal import Terminal
from tests.velero.build import NEWEST, RELEASES
from tests.velero.foretop_command import ForetopCommand
from tests.velero.namespace_controller import NamespaceController
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.shop_namespace import SHOP, create_shop
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import VELERO_NAMESPACE, ServerFlags, StorySteps

BESIDE = f"{SHOP}-restored"
_COPIES = ("shop-old", "shop-new")
_TO_LAST_BUTTON = "\x1b[Z"
"""Backwards from the first field."""


@pytest.fixture
def foretop(cluster: RealVeleroCluster, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE), tmp_path)


@pytest.fixture
def controller(cluster: RealVeleroCluster) -> Iterator[NamespaceController]:
    with NamespaceController(cluster.api_server) as running:
        yield running
        for name in (SHOP, BESIDE):
            _delete_namespace(cluster, name)


def _delete_namespace(cluster: RealVeleroCluster, name: str) -> None:
    place = f"/api/v1/namespaces/{name}"
    cluster.api_server.admin.delete(place).expect(200, 202, 404)
    cluster.wait_until(lambda: cluster.api_server.admin.get(place).status == 404)


def _copy_shop(cluster: RealVeleroCluster, release: str) -> StorySteps:
    """Two copies: the newer one has the settings in green."""
    steps = StorySteps(cluster)
    create_shop(cluster.api_server, chose_node_port=False)
    cluster.start(ServerFlags(release))
    wait_until_available(steps)
    for name, colour in zip(_COPIES, ("red", "green"), strict=True):
        _paint(cluster, colour)
        steps.backup(name, SHOP)
        steps.wait_for_phase("Backup", name, "Completed")
        cluster.wait(1.1)
    return steps


def _paint(cluster: RealVeleroCluster, colour: str, namespace: str = SHOP) -> None:
    place = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    cluster.api_server.admin.patch(place, {"data": {"colour": colour}}).expect(200)


def _colour(cluster: RealVeleroCluster, namespace: str) -> str:
    place = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    return str(cluster.api_server.admin.get(place).expect(200)["data"]["colour"])


def _object(cluster: RealVeleroCluster, namespace: str, path: str) -> Any:
    root, _, rest = path.rpartition("/namespaced/")
    answer = cluster.api_server.admin.get(f"{root}/namespaces/{namespace}/{rest}")
    return None if answer.status == 404 else answer.expect(200)


_WEB = "/apis/apps/v1/namespaced/deployments/web"
_SECRET = "/api/v1/namespaced/secrets/credentials"
_POD = "/api/v1/namespaced/pods/web-0"


@pytest.mark.seconds(40)
@pytest.mark.parametrize("release", RELEASES)
def test_what_exists_is_left_or_updated_as_foretop_said(
    release: str, cluster: RealVeleroCluster, controller: NamespaceController, foretop: ForetopCommand
) -> None:
    """Into another namespace, then over what is there: its settings are painted blue, and its Secret is deleted."""
    _copy_shop(cluster, release)
    (row,) = foretop.items("get", "protection", "-n", SHOP)
    assert (row["newestCopy"], row["exists"]) == (_COPIES[1], True)
    words = ("restore", "create", "--from-backup", row["newestCopy"], "--include-namespaces", SHOP, "--yes", "--wait")
    beside = (*words, "--namespace-mappings", f"{SHOP}:{BESIDE}")

    (done,) = foretop.items(*beside)
    assert any(change.startswith(f"into {BESIDE} ({SHOP} → {BESIDE})") for change in done["changes"])
    assert done["warnings"] == []
    assert _colour(cluster, BESIDE) == "green"
    assert _object(cluster, BESIDE, _WEB)["spec"]["replicas"] == 3

    _paint(cluster, "blue", BESIDE)
    secret = f"/api/v1/namespaces/{BESIDE}/secrets/credentials"
    cluster.api_server.admin.delete(secret).expect(200)
    (done,) = foretop.items(*beside)
    assert done["warnings"] == [f"{BESIDE} exists already: what is in it stays, what is missing is added."]
    assert _colour(cluster, BESIDE) == "blue"
    assert _object(cluster, BESIDE, _SECRET) is not None

    (done,) = foretop.items(*beside, "--existing-resource-policy", "update")
    assert done["warnings"] == [f"{BESIDE} exists already: what is in it is overwritten."]
    assert _colour(cluster, BESIDE) == "green"
    assert _colour(cluster, SHOP) == "green"


@pytest.mark.seconds(40)
def test_a_deleted_namespace_comes_back_by_a_key(
    cluster: RealVeleroCluster, controller: NamespaceController, foretop: ForetopCommand, tmp_path: Path
) -> None:
    """In a terminal of 120 by 40: its row, `r`, and the button."""
    steps = _copy_shop(cluster, NEWEST)
    _delete_namespace(cluster, SHOP)
    (row,) = foretop.items("get", "protection", "-n", SHOP)
    assert (row["state"], row["newestCopy"], row["exists"]) == ("deleted", _COPIES[1], False)
    kubeconfig = cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE)
    home = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "foretop", "--kubeconfig", str(kubeconfig)]
    with Terminal(command, environ=home) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.press(":protection\r")
        terminal.shows(lambda lines: any(SHOP in line and "deleted" in line for line in lines))
        terminal.press(f"/{SHOP}\r")
        terminal.shows("It no longer exists, and can be")
        terminal.press("r")
        terminal.shows(f"Restore {SHOP}")
        terminal.shows(f"{_COPIES[1]}, ")
        terminal.shows(f"{SHOP}: not yet; Velero creates it")
        assert cluster.list_all("Restore") == []
        terminal.press(f"{_TO_LAST_BUTTON}\r")
        cluster.wait_until(lambda: cluster.list_all("Restore"))
        (made,) = cluster.list_all("Restore")
        steps.wait_for_phase("Restore", made["metadata"]["name"], "Completed", "PartiallyFailed", "Failed")
    (made,) = cluster.list_all("Restore")
    assert (made["spec"]["backupName"], made["spec"]["includedNamespaces"]) == (_COPIES[1], [SHOP])
    assert made["status"]["phase"] == "Completed"
    assert _colour(cluster, SHOP) == "green"
    assert _object(cluster, SHOP, _WEB)["spec"]["replicas"] == 3
    assert _object(cluster, SHOP, _SECRET) is not None
    assert _object(cluster, SHOP, _POD) is not None
