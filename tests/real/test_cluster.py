"""Checks that the cluster of these tests has the properties that they rely on."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pytest

from tests.real.api import Api
from tests.real.build import Kit
from tests.real.cluster import RealCluster

NABS = "/apis/oadp.openshift.io/v1alpha1/namespaces/{}/nonadminbackups"
SCHEDULES = "/apis/velero.io/v1/schedules"
KINDS = {
    "schedules.velero.io",
    "backups.velero.io",
    "restores.velero.io",
    "deletebackuprequests.velero.io",
    "backupstoragelocations.velero.io",
    "downloadrequests.velero.io",
    "podvolumebackups.velero.io",
    "podvolumerestores.velero.io",
    "datauploads.velero.io",
    "datadownloads.velero.io",
    "nonadminbackups.oadp.openshift.io",
    "nonadminrestores.oadp.openshift.io",
    "nonadminbackupstoragelocations.oadp.openshift.io",
    "nonadminbackupstoragelocationrequests.oadp.openshift.io",
    "dataprotectionapplications.oadp.openshift.io",
    "prescaledcronjobs.psc.cronprimer.local",
}


def create_nabs(cluster: RealCluster, namespace: str, *names: str) -> None:
    for name in names:
        nab: dict[str, Any] = {"apiVersion": "oadp.openshift.io/v1alpha1", "kind": "NonAdminBackup"}
        nab |= {"metadata": {"name": name}, "spec": {"backupSpec": {}}}
        cluster.admin.post(NABS.format(namespace), nab).expect(201)


def names_of(api: Api, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in api.get(path).expect(200)["items"]]


def status_for(cluster: RealCluster, user: str, path: str) -> int:
    api = cluster.api(user)
    try:
        return api.get(path).status
    finally:
        api.close()


def listens(url: SplitResult) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((url.hostname, url.port)) == 0


def test_every_kind_that_foretop_knows_is_installed_and_served(cluster: RealCluster) -> None:
    installed = {crd["metadata"]["name"]: crd for crd in cluster.crds()}
    assert set(installed) >= KINDS
    for crd in installed.values():
        conditions = {c["type"]: c["status"] for c in crd["status"]["conditions"]}
        assert conditions["Established"] == "True"
        for version in crd["spec"]["versions"]:
            listed = cluster.admin.get(
                f"/apis/{crd['spec']['group']}/{version['name']}/{crd['spec']['names']['plural']}"
            )
            assert listed.status == 200


def test_the_velero_crds_are_those_of_the_release_with_the_queue(cluster: RealCluster) -> None:
    backup = next(crd for crd in cluster.crds() if crd["metadata"]["name"] == "backups.velero.io")
    status = backup["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    assert "queuePosition" in status
    assert "Queued" in status["phase"]["enum"]


def test_a_prescaled_cron_job_keeps_its_whole_template(cluster: RealCluster, namespace: str) -> None:
    spec = {
        "warmUpTimeMins": 10,
        "cronJob": {"spec": {"schedule": "0 0 * * 5", "jobTemplate": {"spec": {"backoffLimit": 3}}}},
    }
    path = f"/apis/psc.cronprimer.local/v1alpha1/namespaces/{namespace}/prescaledcronjobs"
    body = {"apiVersion": "psc.cronprimer.local/v1alpha1", "kind": "PreScaledCronJob"}
    cluster.admin.post(path, body | {"metadata": {"name": "friday"}, "spec": spec}).expect(201)
    assert cluster.admin.get(f"{path}/friday").expect(200)["spec"] == spec


@pytest.mark.parametrize(
    ("user", "path", "status"),
    [
        ("viewer", SCHEDULES, 200),
        ("viewer", NABS.format("team-a"), 403),
        ("operator", "/apis/oadp.openshift.io/v1alpha1/nonadminbackups", 200),
        ("operator", "/api/v1/secrets", 403),
        ("tenant", NABS.format("team-a"), 200),
        ("tenant", NABS.format("team-b"), 403),
        ("tenant", "/apis/oadp.openshift.io/v1alpha1/nonadminbackups", 403),
        ("nobody", SCHEDULES, 403),
        ("nobody", "/apis/velero.io/v1", 200),
    ],
)
def test_each_user_may_see_what_the_roles_give_and_no_more(
    cluster: RealCluster, user: str, path: str, status: int
) -> None:
    assert status_for(cluster, user, path) == status


def test_a_viewer_may_look_at_schedules_but_change_none(cluster: RealCluster) -> None:
    viewer = cluster.api("viewer")
    answer = viewer.patch("/apis/velero.io/v1/namespaces/velero/schedules/daily", {"spec": {"paused": True}})
    viewer.close()
    assert answer.status == 403
    assert 'cannot patch resource "schedules"' in answer.body["message"]


def test_a_tenant_can_be_let_into_one_more_namespace(cluster: RealCluster, namespace: str) -> None:
    assert status_for(cluster, "tenant", NABS.format(namespace)) == 403
    cluster.allow_tenant(namespace)
    assert cluster.kubectl("get", "nab", "-n", namespace, "-o", "name", user="tenant") == ""


def test_a_stranger_is_not_let_in(cluster: RealCluster) -> None:
    stranger = Api(cluster.url, cluster.ca, "no-such-token")
    assert stranger.get(SCHEDULES).status == 401
    stranger.close()


def test_kubectl_speaks_to_the_cluster_as_any_user(cluster: RealCluster, namespace: str) -> None:
    create_nabs(cluster, namespace, "nightly")
    assert cluster.kubectl("get", "nab", "-n", namespace, "-o", "name") == "nonadminbackup.oadp.openshift.io/nightly\n"
    assert "Server Version: v1." in cluster.kubectl("version")
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        cluster.kubectl("get", "schedules", "-A", user="nobody")
    assert 'User "nobody" cannot list resource "schedules"' in refusal.value.stderr


@pytest.mark.parametrize("certificate", [False, True], ids=["token", "certificate"])
def test_a_kubeconfig_is_for_its_owner_alone_and_signs_in(cluster: RealCluster, certificate: bool) -> None:
    path = cluster.kubeconfig("operator", certificate=certificate)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    who = cluster.kubectl(f"--kubeconfig={path}", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    assert who == "operator"


def test_what_was_written_outlives_a_killed_api_server(cluster: RealCluster, namespace: str) -> None:
    create_nabs(cluster, namespace, "before")
    cluster.kill_apiserver()
    cluster.start_apiserver()
    create_nabs(cluster, namespace, "after")
    assert names_of(cluster.admin, NABS.format(namespace)) == ["after", "before"]


def test_what_was_written_outlives_a_killed_etcd(cluster: RealCluster, namespace: str) -> None:
    create_nabs(cluster, namespace, "before")
    cluster.kill_etcd()
    cluster.start_etcd()
    create_nabs(cluster, namespace, "after")
    assert names_of(cluster.admin, NABS.format(namespace)) == ["after", "before"]


def test_a_continue_token_expires_when_history_is_compacted(cluster: RealCluster, namespace: str) -> None:
    create_nabs(cluster, namespace, "a", "b", "c")
    first = cluster.admin.get(f"{NABS.format(namespace)}?limit=1").expect(200)
    rest = f"{NABS.format(namespace)}?limit=2&continue={first['metadata']['continue']}"
    assert names_of(cluster.admin, rest) == ["b", "c"]
    create_nabs(cluster, namespace, "d")
    cluster.compact()
    expired = cluster.admin.get(rest).expect(410)
    assert expired["reason"] == "Expired"
    assert names_of(cluster.admin, NABS.format(namespace)) == ["a", "b", "c", "d"]


def test_a_watch_from_before_a_restart_is_told_that_it_is_too_old(cluster: RealCluster, namespace: str) -> None:
    create_nabs(cluster, namespace, "a")
    seen = cluster.admin.get(NABS.format(namespace)).expect(200)["metadata"]["resourceVersion"]
    create_nabs(cluster, namespace, "b")
    cluster.kill_apiserver()
    cluster.start_apiserver()
    event = cluster.admin.get(f"{NABS.format(namespace)}?watch=1&timeoutSeconds=60&resourceVersion={seen}").body
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


def test_a_revoked_token_opens_nothing_until_the_user_gets_a_new_one(cluster: RealCluster) -> None:
    lost = cluster.token("viewer")
    old = Api(cluster.url, cluster.ca, lost)
    assert old.get(SCHEDULES).status == 200
    cluster.revoke("viewer")
    assert old.get(SCHEDULES).status == 401
    cluster.renew("viewer")
    assert old.get(SCHEDULES).status == 401
    old.close()
    assert status_for(cluster, "viewer", SCHEDULES) == 200


def test_a_cluster_that_a_test_left_broken_is_mended(cluster: RealCluster) -> None:
    cluster.revoke("viewer")
    cluster.kill_apiserver()
    cluster.kill_etcd()
    cluster.repair()
    assert status_for(cluster, "viewer", SCHEDULES) == 200


def test_a_crd_can_be_removed_and_installed_while_the_cluster_runs(cluster: RealCluster) -> None:
    name = "prescaledcronjobs.psc.cronprimer.local"
    path = "/apis/psc.cronprimer.local/v1alpha1/prescaledcronjobs"
    crd = cluster.uninstall(name)
    assert cluster.admin.get(path).status == 404
    cluster.install(crd)
    assert cluster.admin.get(path).expect(200)["items"] == []


def test_an_object_held_by_a_finalizer_does_not_outlive_its_namespace(cluster: RealCluster) -> None:
    cluster.create_namespace("held")
    create_nabs(cluster, "held", "stuck")
    finalizers = {"metadata": {"finalizers": ["nonadminbackup.oadp.openshift.io/finalizer"]}}
    cluster.admin.patch(f"{NABS.format('held')}/stuck", finalizers).expect(200)
    cluster.empty_namespace("held")
    assert cluster.admin.get("/api/v1/namespaces/held").status == 404
    assert names_of(cluster.admin, NABS.format("held")) == []


def test_the_servers_die_with_a_test_process_that_is_killed(kit: Kit, tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from tests.real.build import prepare
        from tests.real.etcd import Etcd
        from pathlib import Path
        etcd = Etcd(prepare(lambda line: None).etcd, Path(sys.argv[1]))
        etcd.start()
        print(etcd.url, flush=True)
        time.sleep(600)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = urlsplit(process.stdout.readline().strip())
        assert listens(url)
        os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 120
    while listens(url) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not listens(url)
