"""Kubeconfig files the way kubectl reads them: of several, the first to name something wins."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from foretop_core.config.protection import ClusterIdentity, authorities_of, server_address
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import (
    DEFAULT_NAMESPACE,
    MOST_KUBECONFIG_BYTES,
    MOST_PEM_BYTES,
    AuthInfo,
    ConnectionOptions,
    ContextConfig,
    Impersonation,
    Reload,
)
from foretop_core.kube.connection.kubeconfig_entries import KubeconfigEntry, read_context
from foretop_core.own_files import read_given_file, read_whole_file, why_not
from foretop_core.yaml_guard import PlainLoader, check_yaml

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
    address = server_address(_text(cluster.body.get("server")))
    return ClusterIdentity(address, authorities_of(ca) if ca else frozenset())


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
    given: str = "",
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
