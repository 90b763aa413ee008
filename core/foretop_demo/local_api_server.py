"""An API server on loopback with its users, and the kubeconfig that points at it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from aiohttp import web

from foretop_core.clock import Clock, SystemClock
from foretop_core.errors import BadInput
from foretop_core.own_files import replace_own_file
from foretop_demo.access import ADMIN, Access, User
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json, Kind
from foretop_demo.server import TOKEN_PREFIX, ApiServer

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class LocalApiServer:
    """A running API server on a loopback port, until the end of `async with LocalApiServer() as box:`."""

    def __init__(
        self,
        clock: Clock | None = None,
        users: Iterable[User] = (),
        port: int = 0,
        storage: InProcessApi | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.storage = storage or InProcessApi(self.clock)
        self._port = port
        self._tokens = {user.name: secrets.token_urlsafe(24) for user in (ADMIN, *users)}
        tokens = [(self._tokens[user.name], user) for user in (ADMIN, *users)]
        self._access = Access(tokens)
        self._server: ApiServer | None = None
        self._runner: web.ServerRunner | None = None
        seed_defaults(self.storage)

    async def __aenter__(self) -> Self:
        self._server = ApiServer(self.storage, self._access, self.clock)
        server = web.Server(self._server.handle, access_log=None, handler_cancellation=True, keepalive_timeout=300)
        self._runner = web.ServerRunner(server, shutdown_timeout=2)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        except OSError as error:
            await self._runner.cleanup()
            why = error.strerror or str(error)
            raise BadInput(f"cannot serve on port {self._port}", why, "choose another port, or none") from None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None and self._runner is not None:
            self._server.close()
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        assert self._runner is not None, "the box is not open"
        host, port = self._runner.addresses[0][:2]
        return f"http://{host}:{port}"

    def token(self, user: str = "admin") -> str:
        return self._tokens[user]

    def kubeconfig(self, path: Path, user: str = "admin", namespace: str = "default") -> Path:
        """Write a kubeconfig that only its owner can read, and return its path."""
        server = f"{self.url}{TOKEN_PREFIX}{self.token(user)}"
        content: Json = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "minicluster", "cluster": {"server": server}}],
            "users": [{"name": user, "user": {"token": self.token(user)}}],
            "contexts": [
                {
                    "name": "minicluster",
                    "context": {"cluster": "minicluster", "user": user, "namespace": namespace},
                }
            ],
            "current-context": "minicluster",
        }
        replace_own_file(path, yaml.safe_dump(content).encode())
        return path


def seed_defaults(storage: InProcessApi) -> None:
    """Create what every cluster has from the start: its first namespaces and the definitions of its custom kinds."""
    home, definition = storage.kind("Namespace"), storage.kind("CustomResourceDefinition")
    for name in _NAMESPACES:
        if storage.find(home, "", name) is None:
            storage.create(home, {"metadata": {"name": name}})
    for kind in storage.catalog:
        if kind.custom and storage.find(definition, "", kind.resource) is None:
            storage.create(definition, _definition(kind))
    storage.compact()


def _definition(kind: Kind) -> Json:
    """The CustomResourceDefinition of a kind, from which clients read its schema and release."""
    names: Json = {
        "kind": kind.kind,
        "listKind": kind.list_kind,
        "plural": kind.plural,
        "singular": kind.singular,
    }
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    version: Json = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": kind.schema},
    }
    if kind.status_subresource:
        version["subresources"] = {"status": {}}
    established = {"type": "Established", "status": "True", "reason": "InitialNamesAccepted"}
    return {
        "metadata": {"name": kind.resource},
        "spec": {"group": kind.group, "names": names, "scope": "Namespaced", "versions": [version]},
        "status": {"acceptedNames": names, "conditions": [established], "storedVersions": [kind.version]},
    }
