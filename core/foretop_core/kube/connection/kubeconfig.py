"""Kubeconfig files the way kubectl reads them: of several, the first to name something wins."""

from __future__ import annotations

import base64
import binascii
import errno
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from foretop_core.config.protection import ClusterIdentity, cluster_identity
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import (
    DEFAULT_NAMESPACE,
    MOST_KUBECONFIG_BYTES,
    MOST_PEM_BYTES,
    AuthInfo,
    ConnectionOptions,
    ContextConfig,
    ExecConfig,
    Impersonation,
    OidcConfig,
    Reload,
)
from foretop_core.kube.connection.proxy import proxy_for
from foretop_core.own_files import read_given_file, read_whole_file, why_not
from foretop_core.yaml_guard import PlainLoader, check_yaml

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
        identity=_sign_in(user, cluster, environ) if user else AuthInfo(),
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


def _sign_in(user: KubeconfigEntry, cluster: KubeconfigEntry, environ: Mapping[str, str]) -> AuthInfo:
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


_PATIENCE = 15.0
"""Seconds in which a command whose output is the kubeconfig writes something."""
_QUOTED = re.compile(r"'.*'")
_SECTIONS = ("clusters", "users", "contexts")


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The files of one run, merged; each entry remembers the file that it came from."""

    files: tuple[Path, ...]
    current: str
    clusters: Mapping[str, KubeconfigEntry] = field(repr=False)
    users: Mapping[str, KubeconfigEntry] = field(repr=False)
    contexts: Mapping[str, KubeconfigEntry] = field(repr=False)
    missing: tuple[Path, ...] = ()
    """Those that were to be read and do not exist."""

    @property
    def file_names(self) -> str:
        return ", ".join(str(path) for path in self.files) or "any kubeconfig file"

    @property
    def why_empty(self) -> str:
        if self.files or not self.missing:
            return f"{self.file_names} has no contexts"
        names = ", ".join(str(path) for path in self.missing)
        return f"{names} does not exist" if len(self.missing) == 1 else f"none of these exists: {names}"


def choose_contexts(
    options: ConnectionOptions, environ: Mapping[str, str], read: Kubeconfig | None = None
) -> tuple[ContextConfig, ...]:
    """The contexts named on the command line, else the current one, else the pod's own service account."""
    kubeconfig = read or read_kubeconfig(options, environ)
    if options.server and not options.contexts and kubeconfig.current not in kubeconfig.contexts:
        return (_server_alone(kubeconfig, options, environ),)
    if not kubeconfig.contexts and not options.contexts and not options.kubeconfig and in_cluster(environ):
        return (read_service_account(environ, options),)
    names = tuple(dict.fromkeys(options.contexts)) or (_current(kubeconfig),)
    return tuple(_context(kubeconfig, name, options, environ) for name in names)


def reloading(context: ContextConfig, options: ConnectionOptions, environ: Mapping[str, str]) -> Reload:
    """Reads the same context again, by the name that it had at the start, whatever is current by now."""

    def reload() -> ContextConfig:
        kubeconfig = read_kubeconfig(options, environ)
        if context.name not in kubeconfig.contexts:
            if options.server and not options.contexts:
                return _server_alone(kubeconfig, options, environ)
            if context.name == SERVICE_ACCOUNT:
                return read_service_account(environ, options)
        return _context(kubeconfig, context.name, options, environ)

    return reload


def read_kubeconfig(options: ConnectionOptions, environ: Mapping[str, str]) -> Kubeconfig:
    """Every file that kubectl would read; of those in KUBECONFIG, missing ones are passed over."""
    merged: dict[str, dict[str, KubeconfigEntry]] = {section: {} for section in _SECTIONS}
    current = ""
    files, missing = [], []
    for path in _paths(options, environ):
        content = _read(path, required=bool(options.kubeconfig))
        if content is None:
            missing.append(path)
            continue
        files.append(path)
        current = current or _text(content.get("current-context"))
        for section in _SECTIONS:
            for name, body in _named(content.get(section), section, path):
                merged[section].setdefault(name, KubeconfigEntry(name, body, path))
    return Kubeconfig(tuple(files), current, merged["clusters"], merged["users"], merged["contexts"], tuple(missing))


def cluster_identities(
    kubeconfig: Kubeconfig, names: Iterable[str], options: ConnectionOptions, environ: Mapping[str, str]
) -> dict[str, tuple[ClusterIdentity, ...]]:
    """The clusters of these contexts, by what the files say without any flag; those of the usual files as well."""
    files = [kubeconfig]
    if options.kubeconfig:
        with suppress(BadInput):
            files.append(read_kubeconfig(replace(options, kubeconfig=""), environ))
    return {
        name: tuple(identity for file in files if (identity := _identity(file, name)) is not None) for name in names
    }


def _identity(kubeconfig: Kubeconfig, name: str) -> ClusterIdentity | None:
    entry = kubeconfig.contexts.get(name)
    cluster = kubeconfig.clusters.get(_text(entry.body.get("cluster"))) if entry is not None else None
    if cluster is None:
        return None
    ca = ""
    if not cluster.flag("insecure-skip-tls-verify"):
        with suppress(BadInput):
            ca = cluster.content("certificate-authority").decode("ascii", "replace")
    return cluster_identity(_text(cluster.body.get("server")), ca)


def _paths(options: ConnectionOptions, environ: Mapping[str, str]) -> list[Path]:
    if options.kubeconfig:
        return [Path(options.kubeconfig)]
    if listed := environ.get("KUBECONFIG"):
        return [Path(part) for part in dict.fromkeys(listed.split(os.pathsep)) if part]
    home = environ.get("HOME")
    return [Path(home) / ".kube" / "config"] if home else []


def _read(path: Path, required: bool) -> Mapping[str, Any] | None:
    what = f"Cannot read the kubeconfig {path}"
    try:
        text = read_given_file(path, MOST_KUBECONFIG_BYTES, _PATIENCE).decode("utf-8")
        check_yaml(text, PlainLoader)
        content = yaml.load(text, Loader=PlainLoader)
    except FileNotFoundError:
        if required:
            raise BadInput(what, "file not found", "check --kubeconfig") from None
        return None
    except OSError as problem:
        if problem.errno in (errno.EFBIG, errno.ETIMEDOUT):
            raise BadInput(what, why_not(problem), "use another file") from None
        raise BadInput(what, why_not(problem), "check its owner and mode") from None
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        line = f"line {mark.line + 1}: " if mark else ""
        # A password that begins with an exclamation mark is a tag to YAML, which quotes it.
        why = _QUOTED.sub("…", problem.problem or "it is not YAML")
        raise BadInput(what, f"{line}{why}", "fix the file, or use another") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadInput(what, "it is not YAML", "fix the file, or use another") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(what, "it does not contain a mapping", "fix the file, or use another")
    return content


def _named(section: object, title: str, path: Path) -> list[tuple[str, Mapping[str, Any]]]:
    entries: list[tuple[str, Mapping[str, Any]]] = []
    for item in section if isinstance(section, list) else []:
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str):
            raise BadInput(f"Cannot read the kubeconfig {path}", f"an entry of {title} has no name", "give it a name")
        body = item.get(title.removesuffix("s"))
        entries.append((name, body if isinstance(body, dict) else {}))
    return entries


def _current(kubeconfig: Kubeconfig) -> str:
    if kubeconfig.current:
        return kubeconfig.current
    if not kubeconfig.contexts:
        raise BadInput(
            "No cluster to connect to",
            kubeconfig.why_empty,
            "set KUBECONFIG or give --kubeconfig",
        )
    raise BadInput(
        "No context selected",
        f"current-context is not set in {kubeconfig.file_names}",
        f"give --context: {_listed(kubeconfig.contexts)}",
    )


def _context(
    kubeconfig: Kubeconfig, name: str, options: ConnectionOptions, environ: Mapping[str, str]
) -> ContextConfig:
    entry = kubeconfig.contexts.get(name)
    if entry is None:
        hint = f"it has {_listed(kubeconfig.contexts)}" if kubeconfig.contexts else "it has none"
        raise BadInput(f"Context {name!r} does not exist", f"looked in {kubeconfig.file_names}", hint)
    cluster = _referred(entry, "cluster", kubeconfig.clusters, kubeconfig, options.cluster)
    named = options.user or entry.text("user")
    user = _referred(entry, "user", kubeconfig.users, kubeconfig, options.user) if named else None
    return read_context(entry, override_cluster(cluster, options), override_user(user, options), options, environ)


def _server_alone(kubeconfig: Kubeconfig, options: ConnectionOptions, environ: Mapping[str, str]) -> ContextConfig:
    """The server of `--server` where no context is selected, with the user of `--user` where one is named."""
    entry = KubeconfigEntry(server_name(options), {}, Path())
    user = _referred(entry, "user", kubeconfig.users, kubeconfig, options.user) if options.user else None
    return read_context(entry, override_cluster(entry, options), override_user(user, options), options, environ)


def _referred(
    context: KubeconfigEntry,
    key: str,
    entries: Mapping[str, KubeconfigEntry],
    kubeconfig: Kubeconfig,
    given: str,
) -> KubeconfigEntry:
    """The cluster or user that a flag gives, else the one that the context names."""
    name = given or context.text(key)
    entry = entries.get(name)
    if entry is None and given:
        hint = f"it has {_listed(entries)}" if entries else "it has none"
        raise BadInput(f"--{key} {name!r} does not exist", f"looked in {kubeconfig.file_names}", hint)
    if entry is None:
        why = f"its {key} {name!r} is not in {kubeconfig.file_names}" if name else f"it does not name a {key}"
        raise BadInput(f"The context {context.name!r} cannot be used", why, "see kubectl config view")
    return entry


def _listed(names: Mapping[str, KubeconfigEntry], most: int = 8) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_CA = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify")
_SECRETS = ("token", "tokenFile", "username", "password", "exec", "auth-provider")


def server_name(options: ConnectionOptions) -> str:
    """The name of a cluster that only `--server` gives."""
    address = options.server if "://" in options.server else f"//{options.server}"
    try:
        parts = urlsplit(address)
        return parts.netloc.rpartition("@")[2] or "server"
    except ValueError:
        return "server"


def override_cluster(entry: KubeconfigEntry, options: ConnectionOptions) -> KubeconfigEntry:
    """The cluster with the flags over it: a given trust takes the place of all that the file says of it."""
    overrides: dict[str, Any] = {}
    dropped: tuple[str, ...] = ()
    if options.server:
        overrides["server"] = options.server
        dropped += ("tls-server-name",)
    if options.certificate_authority or options.insecure_skip_tls_verify:
        dropped += _CA
    if options.certificate_authority:
        overrides["certificate-authority"] = str(Path(options.certificate_authority).absolute())
    if options.insecure_skip_tls_verify:
        overrides["insecure-skip-tls-verify"] = True
    return _laid_over(entry, overrides, dropped)


def override_user(entry: KubeconfigEntry | None, options: ConnectionOptions) -> KubeconfigEntry | None:
    """The user with the flags over it: a given token takes the place of every other secret."""
    if not options.token:
        return entry
    base = entry or KubeconfigEntry("--token", {}, Path())
    return _laid_over(base, {"token": options.token}, _SECRETS)


def _laid_over(entry: KubeconfigEntry, given: Mapping[str, Any], dropped: tuple[str, ...]) -> KubeconfigEntry:
    kept = {key: value for key, value in entry.body.items() if key not in dropped}
    return KubeconfigEntry(entry.name, {**kept, **given}, entry.file)


SERVICE_ACCOUNT = "in-cluster"
_LONGEST_NAMESPACE = 253
_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_cluster(environ: Mapping[str, str], folder: str = _FOLDER) -> bool:
    """True if this process runs in a pod that has a service account."""
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and Path(folder, "token").is_file()


def read_service_account(
    environ: Mapping[str, str], options: ConnectionOptions, folder: str = _FOLDER
) -> ContextConfig:
    """The pod's own cluster; its token is named, not read, because the kubelet renews the file."""
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    mounted = Path(folder)
    try:
        ca = read_whole_file(mounted / "ca.crt", MOST_PEM_BYTES).decode("ascii")
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            "The pod's service account cannot be used",
            f"{mounted / 'ca.crt'} is not readable",
            "give --kubeconfig",
        ) from None
    try:
        namespace = read_whole_file(mounted / "namespace", _LONGEST_NAMESPACE).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        namespace = ""
    return ContextConfig(
        name=SERVICE_ACCOUNT,
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=namespace or DEFAULT_NAMESPACE,
        ca=ca,
        identity=AuthInfo(token_file=str(mounted / "token")),
        impersonation=Impersonation(options.as_user, options.as_groups),
        request_timeout=options.request_timeout,
    )
