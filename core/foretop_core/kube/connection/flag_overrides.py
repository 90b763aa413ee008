"""kubectl's connection flags (`--server`, `--token`, `--cluster` and the like), laid over a kubeconfig's entries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig_entries import KubeconfigEntry

_CA = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify")
_SECRETS = ("token", "tokenFile", "username", "password", "exec", "auth-provider")


def server_name(options: ConnectionOptions) -> str:
    """What a cluster that only `--server` names is called."""
    address = options.server if "://" in options.server else f"//{options.server}"
    try:
        parts = urlsplit(address)
        return parts.netloc.rpartition("@")[2] or "server"
    except ValueError:
        return "server"


def override_cluster(entry: KubeconfigEntry, options: ConnectionOptions) -> KubeconfigEntry:
    """The cluster with the flags over it: a given trust takes the place of all that the file says of it."""
    given: dict[str, Any] = {}
    dropped: tuple[str, ...] = ()
    if options.server:
        given["server"] = options.server
        dropped += ("tls-server-name",)
    if options.certificate_authority or options.insecure_skip_tls_verify:
        dropped += _CA
    if options.certificate_authority:
        given["certificate-authority"] = str(Path(options.certificate_authority).absolute())
    if options.insecure_skip_tls_verify:
        given["insecure-skip-tls-verify"] = True
    return _laid_over(entry, given, dropped)


def override_user(entry: KubeconfigEntry | None, options: ConnectionOptions) -> KubeconfigEntry | None:
    """The user with the flags over it: a given token takes the place of every other secret."""
    if not options.token:
        return entry
    base = entry or KubeconfigEntry("--token", {}, Path())
    return _laid_over(base, {"token": options.token}, _SECRETS)


def _laid_over(entry: KubeconfigEntry, given: Mapping[str, Any], dropped: tuple[str, ...]) -> KubeconfigEntry:
    kept = {key: value for key, value in entry.body.items() if key not in dropped}
    return KubeconfigEntry(entry.name, {**kept, **given}, entry.file)
