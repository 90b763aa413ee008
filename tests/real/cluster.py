"""A real kube-apiserver and etcd on loopback, with RBAC on and the real CRDs, for as long as a `with` lasts.

There are no controllers: nothing collects garbage, no namespace is ever finished deleting, no CronJob runs.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import urllib3
import yaml

from tests.real.api import Api
from tests.real.build import Kit
from tests.real.credentials import GROUPS, Authority, Signed, TokenFile, kubeconfig, write_private
from tests.real.etcd import Etcd
from tests.real.server_process import PAUSE_SECONDS, Server, free_port

HERE = Path(__file__).parent
NAMESPACES = ("velero", "openshift-adp", "team-a", "team-b")
CRDS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC_PATH = "/apis/rbac.authorization.k8s.io/v1"
SERVED_LIMIT_SECONDS = 300.0


class RealCluster:
    """One cluster. Its calls block: from a coroutine, use `asyncio.to_thread`."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._folder = Path(tempfile.mkdtemp(prefix="foretop-real-"))
        self._numbers = itertools.count(1)
        self._authority = Authority(self._folder)
        self._tokens = TokenFile(self._folder / "tokens.csv")
        self._port = free_port()
        self._admin: Api | None = None
        self._etcd = Etcd(kit.etcd, self._folder)
        self._apiserver = Server(self._apiserver_command(), self._folder / "apiserver.log", self._is_ready)
        self.url = f"https://127.0.0.1:{self._port}"
        self.ca = self._authority.path

    def __enter__(self) -> Self:
        try:
            self._etcd.start()
            self._apiserver.start()
            self._install_defaults()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._apiserver.kill()
        self._etcd.kill()
        self._forget_admin()
        shutil.rmtree(self._folder, ignore_errors=True)

    # Clients

    @property
    def admin(self) -> Api:
        """The administrator's client."""
        if self._admin is None:
            self._admin = self.api("admin")
        return self._admin

    def api(self, user: str) -> Api:
        """A user's client; close it after use."""
        return Api(self.url, self.ca, self.token(user))

    def token(self, user: str) -> str:
        return self._tokens.tokens[user]

    def kubeconfig(self, user: str, namespace: str = "default", *, certificate: bool = False) -> Path:
        """A new kubeconfig, readable only by its owner, with the user's token or a client certificate."""
        credentials = {} if certificate else {"token": self.token(user)}
        if certificate:
            signed = self._authority.for_user(user)
            credentials = {"client-certificate": str(signed.certificate), "client-key": str(signed.key)}
        path = self._folder / f"kubeconfig-{next(self._numbers)}-{user}"
        write_private(path, kubeconfig(self.url, self.ca, user, namespace, credentials))
        return path

    def kubeconfig_by(self, url: str, user: str) -> Path:
        """A kubeconfig that reaches the cluster by another address, whose certificate is of the same authority."""
        path = self._folder / f"kubeconfig-{next(self._numbers)}-{user}"
        write_private(path, kubeconfig(url, self.ca, user, "default", {"token": self.token(user)}))
        return path

    def serving_certificate(self) -> Signed:
        """For a server of the test that stands before the API server."""
        return self._authority.for_server("proxy")

    def kubectl(self, *arguments: str, user: str = "admin", stdin: str = "") -> str:
        """The output of kubectl; a failure is a CalledProcessError with its stderr."""
        environment = {
            "KUBECONFIG": str(self.kubeconfig(user)),
            "HOME": str(self._folder),
            "PATH": os.defpath,
        }
        command = [str(self._kit.kubectl), *arguments]
        try:
            done = subprocess.run(command, input=stdin, env=environment, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as refusal:
            refusal.add_note(refusal.stderr)
            raise
        return done.stdout

    # Faults

    def kill_apiserver(self) -> None:
        """Kill it with SIGKILL."""
        self._apiserver.kill()

    def start_apiserver(self) -> None:
        """Start it on its previous port, and wait until it serves every CRD again."""
        self._apiserver.start()
        self.wait_until_served()

    def kill_etcd(self) -> None:
        """Kill it with SIGKILL; the API server stays up but cannot answer."""
        self._etcd.kill()

    def start_etcd(self) -> None:
        """Start it on its previous port, and wait until the API server serves every CRD again."""
        self._etcd.start()
        self._apiserver.wait_until_ready()
        self.wait_until_served()

    def save_etcd(self) -> None:
        """Keep a copy of etcd's data for `restore_etcd`; etcd is killed and started again for it."""
        self._etcd.kill()
        self._etcd.save(self._folder / "etcd-copy")
        self.start_etcd()

    def restore_etcd(self) -> None:
        """Take etcd back to the last `save_etcd`, as its manual says: with the API server stopped."""
        self._apiserver.kill()
        self._etcd.kill()
        self._etcd.put_back(self._folder / "etcd-copy")
        self._etcd.start()
        self._forget_admin()
        self.start_apiserver()

    def compact(self) -> None:
        """Drop all history from etcd: continue tokens and lists at an older resourceVersion are answered 410.

        Watches are not affected: the API server serves them from its own memory, which a restart clears.
        """
        self._etcd.compact()

    def revoke(self, user: str) -> None:
        """Invalidate the user's token."""
        self._tokens.remove(user)
        self._restart_apiserver()

    def renew(self, user: str) -> None:
        """Give the user a new token; the previous one is invalid from now on."""
        self._tokens.renew(user)
        self._restart_apiserver()

    def repair(self) -> None:
        """Start what a test has left stopped, and give a user without a token a new one."""
        if not self._etcd.runs:
            self._etcd.start()
        lost = [user for user in GROUPS if user not in self._tokens.tokens]
        for user in lost:
            self._tokens.renew(user)
        if lost or not self._apiserver.runs:
            self._restart_apiserver()

    # Contents

    def install(self, crd: dict[str, Any]) -> None:
        """Install a CRD, and wait until its objects can be listed."""
        self.admin.post(CRDS_PATH, crd).expect(201)
        self._wait_until_served(crd)

    def uninstall(self, name: str) -> dict[str, Any]:
        """Remove a CRD with all of its objects, wait until it is gone, and return it for `install`."""
        crd = self.admin.get(f"{CRDS_PATH}/{name}").expect(200)
        self.admin.delete(f"{CRDS_PATH}/{name}").expect(200)
        self._wait(lambda: self.admin.get(f"{CRDS_PATH}/{name}").status == 404, f"{name} to go")
        return {"metadata": {"name": name}, "spec": crd["spec"]}

    def crds(self) -> list[dict[str, Any]]:
        """The CRDs that are installed now."""
        return list(self.admin.get(CRDS_PATH).expect(200)["items"])

    def wait_until_served(self) -> None:
        """Wait for a new or restarted CRD, which answers 429 for a while, as may the list of them."""
        self._wait(lambda: self.admin.get(CRDS_PATH).status == 200, "the CRDs to be listed")
        for crd in self.crds():
            self._wait_until_served(crd)

    def create_namespace(self, name: str) -> None:
        self.admin.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)

    def empty_namespace(self, name: str) -> None:
        """Remove every custom object in a namespace, despite finalizers, and the namespace."""
        for crd in self.crds():
            self._remove_all(crd, name)
        namespace = self.admin.delete(f"/api/v1/namespaces/{name}").expect(200)
        namespace["spec"]["finalizers"] = []
        self.admin.put(f"/api/v1/namespaces/{name}/finalize", namespace).expect(200)

    def write_to_etcd(self, stored: Iterable[tuple[str, bytes]]) -> None:
        """Put objects into etcd past the API server, which only follows: thousands in a second."""
        self._etcd.put_all(stored)

    def wait_until_listed(self, path: str, name: str) -> None:
        """Wait until the API server's memory has followed etcd up to this object."""

        def is_listed() -> bool:
            items = self.admin.get(path).expect(200)["items"]
            return any(item["metadata"]["name"] == name for item in items)

        self._wait(is_listed, f"{name} in {path}")

    def allow_tenant(self, namespace: str) -> None:
        """Give the user `tenant` the permissions of team-a in one more namespace, and wait until they apply."""
        kept = self.admin.get(f"{RBAC_PATH}/namespaces/team-a/rolebindings/tenant").expect(200)
        binding = {"metadata": {"name": "tenant"}, "roleRef": kept["roleRef"], "subjects": kept["subjects"]}
        self.admin.post(f"{RBAC_PATH}/namespaces/{namespace}/rolebindings", binding).expect(201)
        self._wait_until_allowed("tenant", f"/apis/oadp.openshift.io/v1alpha1/namespaces/{namespace}/nonadminbackups")

    def _install_defaults(self) -> None:
        documents = [yaml.safe_load(file.read_text()) for file in self._kit.crds]
        for document in documents:
            self.admin.post(CRDS_PATH, document).expect(201)
        for name in NAMESPACES:
            self.create_namespace(name)
        for document in yaml.safe_load_all((HERE / "rbac.yaml").read_text()):
            namespace = document["metadata"].get("namespace")
            place = f"/namespaces/{namespace}" if namespace else ""
            self.admin.post(f"{RBAC_PATH}{place}/{document['kind'].lower()}s", document).expect(201)
        self.wait_until_served()
        self._wait_until_allowed("viewer", "/apis/velero.io/v1/schedules")
        self._wait_until_allowed("operator", "/apis/oadp.openshift.io/v1alpha1/nonadminbackups")
        self._wait_until_allowed("tenant", "/apis/oadp.openshift.io/v1alpha1/namespaces/team-a/nonadminbackups")

    def _remove_all(self, crd: dict[str, Any], namespace: str) -> None:
        for version in _served_versions(crd):
            plural = crd["spec"]["names"]["plural"]
            path = f"/apis/{crd['spec']['group']}/{version}/namespaces/{namespace}/{plural}"
            self.admin.delete(path).expect(200)
            for left in self.admin.get(path).expect(200)["items"]:
                no_finalizers = {"metadata": {"finalizers": None}}
                self.admin.patch(f"{path}/{left['metadata']['name']}", no_finalizers).expect(200, 404)

    def _wait_until_served(self, crd: dict[str, Any]) -> None:
        for version in _served_versions(crd):
            # Without a limit, because lists with one are answered before the API server's memory is ready; with
            # a label that nothing has, because thousands of objects are not wanted.
            path = f"/apis/{crd['spec']['group']}/{version}/{crd['spec']['names']['plural']}?labelSelector=nothing"
            self._wait(partial(self._is_served, path), f"{path} to be served")

    def _is_served(self, path: str) -> bool:
        return self.admin.get(path).status == 200

    def _wait_until_allowed(self, user: str, path: str) -> None:
        """Wait until the API server's authorizer has loaded a new role."""
        api = self.api(user)
        try:
            self._wait(lambda: api.get(path).status == 200, f"{user} to be let in")
        finally:
            api.close()

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + SERVED_LIMIT_SECONDS
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {SERVED_LIMIT_SECONDS:.0f} s for {what}")
            time.sleep(PAUSE_SECONDS)

    def _restart_apiserver(self) -> None:
        self.kill_apiserver()
        self._forget_admin()
        self.start_apiserver()

    def _forget_admin(self) -> None:
        if self._admin is not None:
            self._admin.close()
        self._admin = None

    def _is_ready(self) -> bool:
        try:
            return self.admin.get("/readyz").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def _apiserver_command(self) -> list[str | Path]:
        serving = self._authority.for_server()
        return [
            self._kit.apiserver,
            f"--etcd-servers={self._etcd.url}",
            # Only `compact` makes history too old, and at once; else a test would depend on when it runs.
            "--etcd-compaction-interval=0",
            "--feature-gates=ListFromCacheSnapshot=false",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self._port}",
            f"--tls-cert-file={serving.certificate}",
            f"--tls-private-key-file={serving.key}",
            f"--client-ca-file={self._authority.path}",
            f"--token-auth-file={self._tokens.path}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={serving.key}",
            f"--service-account-signing-key-file={serving.key}",
            "--service-cluster-ip-range=10.0.0.0/24",
        ]


def _served_versions(crd: dict[str, Any]) -> list[str]:
    return [version["name"] for version in crd["spec"]["versions"] if version["served"]]
