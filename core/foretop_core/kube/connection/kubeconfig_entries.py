"""The entries of a kubeconfig, turned into what a connection needs."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import (
    DEFAULT_NAMESPACE,
    MOST_PEM_BYTES,
    AuthInfo,
    ConnectionOptions,
    ContextConfig,
    ExecConfig,
    Impersonation,
    OidcConfig,
)
from foretop_core.kube.connection.proxy import proxy_for
from foretop_core.own_files import read_whole_file, why_not

_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class KubeconfigEntry:
    """One named cluster, user or context, and the file that its relative paths start from."""

    name: str
    body: Mapping[str, Any] = field(repr=False)
    file: Path

    def text(self, key: str) -> str:
        value = self.body.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.bad(key, "it is not text", "put it in quotes")
        return value

    def flag(self, key: str) -> bool:
        return self.body.get(key) is True

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.body.get(key)
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    def path(self, key: str) -> str:
        """A path as the file means it: relative to the folder that the file is in."""
        value = self.text(key)
        return os.path.normpath(self.file.parent / value) if value else ""

    def content(self, key: str) -> bytes:
        """The content of `<key>-data`, else of the file named by `<key>`."""
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode(data, validate=True)
            except binascii.Error:
                raise self.bad(f"{key}-data", "it is not base64", "recreate the entry") from None
        path = self.path(key)
        if not path:
            return b""
        try:
            return read_whole_file(Path(path), MOST_PEM_BYTES)
        except OSError as problem:
            why = f"{path}: {why_not(problem)}"
            raise self.bad(key, why, "check the path and its mode") from None

    def part(self, key: str) -> KubeconfigEntry | None:
        body = self.body.get(key)
        return KubeconfigEntry(self.name, body, self.file) if isinstance(body, dict) else None

    def bad(self, key: str, why: str, hint: str) -> BadInput:
        return BadInput(f"{key} of {self.name!r} in {self.file} cannot be used", why, hint)


def read_context(
    context: KubeconfigEntry,
    cluster: KubeconfigEntry,
    user: KubeconfigEntry | None,
    options: ConnectionOptions,
    environ: Mapping[str, str],
) -> ContextConfig:
    """One context from its three entries; every file that they name is read here, and only here."""
    ca = _decoded(cluster, "certificate-authority")
    server = _server(cluster, secure=bool(ca) or cluster.flag("insecure-skip-tls-verify"))
    insecure = cluster.flag("insecure-skip-tls-verify")
    if ca and insecure:
        raise cluster.bad("insecure-skip-tls-verify", "a certificate-authority is given too", "keep one of them")
    return ContextConfig(
        name=context.name,
        server=server,
        namespace=context.text("namespace") or DEFAULT_NAMESPACE,
        ca=ca,
        insecure=insecure,
        tls_server_name=cluster.text("tls-server-name"),
        proxy=proxy_for(server, cluster.text("proxy-url"), environ),
        identity=_identity(user, cluster, environ) if user else AuthInfo(),
        impersonation=_impersonation(user, options),
        request_timeout=options.request_timeout,
    )


def _server(cluster: KubeconfigEntry, secure: bool) -> str:
    server = cluster.text("server")
    if not server:
        raise cluster.bad("server", "it is not set", "see kubectl config set-cluster")
    if "://" not in server:
        server = f"{'https' if secure else 'http'}://{server}"
    if not _is_address(server):
        scheme, _, rest = server.partition("://")
        shown = f"{scheme}://{rest.rpartition('@')[2].partition('/')[0]}"
        raise cluster.bad("server", f"{shown} is not a valid http or https address", "see kubectl config set-cluster")
    return server.rstrip("/")


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _identity(user: KubeconfigEntry, cluster: KubeconfigEntry, environ: Mapping[str, str]) -> AuthInfo:
    plugin = user.part("exec")
    return AuthInfo(
        token=user.text("token"),
        token_file=user.path("tokenFile"),
        username=user.text("username"),
        password=user.text("password"),
        certificate=user.content("client-certificate"),
        key=user.content("client-key"),
        plugin=_plugin(plugin, cluster) if plugin else None,
        oidc=_oidc(user, environ),
    )


def _plugin(plugin: KubeconfigEntry, cluster: KubeconfigEntry) -> ExecConfig:
    command = plugin.text("command")
    if not command:
        raise plugin.bad("exec.command", "it is not set", "see the plugin's own manual")
    version = plugin.text("apiVersion")
    if version not in ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"):
        raise plugin.bad("exec.apiVersion", f"{version or 'nothing'} is not known", "v1 and v1beta1 are")
    listed = plugin.body.get("env")
    env = tuple(
        (str(item.get("name", "")), str(item.get("value", "")))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict)
    )
    return ExecConfig(
        command=plugin.path("command") if os.sep in command else command,
        args=plugin.texts("args"),
        env=env,
        api_version=version,
        interactive_mode=plugin.text("interactiveMode") or "IfAvailable",
        install_hint=plugin.text("installHint"),
        cluster_info=_cluster_info(cluster) if plugin.flag("provideClusterInfo") else "",
    )


def _cluster_info(cluster: KubeconfigEntry) -> str:
    """The description of the cluster for a plugin that asked for it, as JSON, so that it can be compared."""
    info: dict[str, object] = {"server": cluster.text("server")}
    for key in ("tls-server-name", "proxy-url"):
        if value := cluster.text(key):
            info[key] = value
    if cluster.flag("insecure-skip-tls-verify"):
        info["insecure-skip-tls-verify"] = True
    if ca := cluster.content("certificate-authority"):
        info["certificate-authority-data"] = base64.b64encode(ca).decode()
    extensions = cluster.body.get("extensions")
    for item in extensions if isinstance(extensions, list) else []:
        if isinstance(item, dict) and item.get("name") == _CLUSTER_EXTENSION:
            info["config"] = item.get("extension")
    return json.dumps(info, default=str)


def _oidc(user: KubeconfigEntry, environ: Mapping[str, str]) -> OidcConfig | None:
    provider = user.part("auth-provider")
    if provider is None:
        return None
    name = provider.text("name")
    if name != "oidc":
        raise user.bad(f"auth-provider {name!r}", "Kubernetes no longer supports it", "use the provider's exec plugin")
    config = provider.part("config")
    if config is None or not (config.text("id-token") or config.text("refresh-token")):
        raise user.bad("auth-provider oidc", "it has no id-token", "sign in with kubectl first")
    issuer = config.text("idp-issuer-url")
    return OidcConfig(
        user=user.name,
        file=user.file,
        id_token=config.text("id-token"),
        refresh_token=config.text("refresh-token"),
        issuer=issuer,
        client_id=config.text("client-id"),
        client_secret=config.text("client-secret"),
        ca=_decoded(config, "idp-certificate-authority"),
        proxy=proxy_for(issuer, "", environ) if issuer else "",
    )


def _impersonation(user: KubeconfigEntry | None, options: ConnectionOptions) -> Impersonation:
    if options.as_user or options.as_groups:
        if not options.as_user:
            raise BadInput("--as-group cannot be used alone", "a group needs a user", "add --as")
        return Impersonation(options.as_user, options.as_groups)
    if user is None:
        return Impersonation()
    extra = user.body.get("as-user-extra")
    pairs = [
        (str(key), str(value))
        for key, values in (extra.items() if isinstance(extra, dict) else ())
        for value in (values if isinstance(values, list) else [values])
    ]
    return Impersonation(user.text("as"), user.texts("as-groups"), user.text("as-uid"), tuple(pairs))


def _decoded(entry: KubeconfigEntry, key: str) -> str:
    try:
        return entry.content(key).decode("ascii")
    except UnicodeDecodeError:
        raise entry.bad(key, "it is not a PEM certificate", "convert it with openssl x509") from None
