"""The service account that Kubernetes gives to a pod."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import (
    DEFAULT_NAMESPACE,
    MOST_PEM_BYTES,
    AuthInfo,
    ConnectionOptions,
    ContextConfig,
    Impersonation,
)
from foretop_core.own_files import read_own_file, read_whole_file

SERVICE_ACCOUNT = "in-cluster"
_LONGEST_NAMESPACE = 253
_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def in_cluster(environ: Mapping[str, str], folder: str = _FOLDER) -> bool:
    """Whether this process runs in a pod that has a service account."""
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and Path(folder, "token").is_file()


def read_service_account(
    environ: Mapping[str, str], options: ConnectionOptions, folder: str = _FOLDER
) -> ContextConfig:
    """The pod's own cluster; its token is named, not read, because the kubelet renews the file."""
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "443")
    place = Path(folder)
    try:
        ca = read_whole_file(place / "ca.crt", MOST_PEM_BYTES).decode("ascii")
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            "The pod's service account cannot be used",
            f"{place / 'ca.crt'} is not readable",
            "give --kubeconfig",
        ) from None
    try:
        namespace = read_own_file(place / "namespace", _LONGEST_NAMESPACE).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        namespace = ""
    return ContextConfig(
        name=SERVICE_ACCOUNT,
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        namespace=namespace or DEFAULT_NAMESPACE,
        ca=ca,
        identity=AuthInfo(token_file=str(place / "token")),
        impersonation=Impersonation(options.as_user, options.as_groups),
        request_timeout=options.request_timeout,
    )
