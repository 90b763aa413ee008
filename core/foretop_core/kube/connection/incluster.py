"""The service account that Kubernetes gives to a pod."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import (
    DEFAULT_NAMESPACE,
    AuthInfo,
    ConnectionOptions,
    ContextConfig,
    Impersonation,
)

SERVICE_ACCOUNT = "in-cluster"
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
        ca = (place / "ca.crt").read_text("ascii")
    except (OSError, UnicodeDecodeError):
        raise BadInput(
            "The pod's service account cannot be used",
            f"{place / 'ca.crt'} is not readable",
            "give --kubeconfig",
        ) from None
    try:
        namespace = (place / "namespace").read_text("utf-8").strip()
    except OSError:
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
