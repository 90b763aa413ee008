"""Connection data of one cluster, whichever file or service account it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from foretop_core.config.settings import DEFAULT_THRESHOLDS, ThresholdSettings

if TYPE_CHECKING:
    from foretop_core.rules.cron_dialects.releases import GivenVersions

DEFAULT_NAMESPACE = "default"
MOST_KUBECONFIG_BYTES = 32 * 2**20
MOST_PEM_BYTES = 2**20
"""Of a certificate or key; bundles of all public authorities have a quarter of it."""


@dataclass(frozen=True, slots=True)
class ExecConfig:
    """An exec plugin: two contexts with an equal one share its answer."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    api_version: str = "client.authentication.k8s.io/v1"
    interactive_mode: str = "IfAvailable"
    install_hint: str = ""
    cluster_info: str = ""


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """An `auth-provider` of name oidc: a user's tokens, who renews them, and the file that they are kept in."""

    user: str
    file: Path
    id_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    issuer: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    ca: str = field(default="", repr=False)
    proxy: str = field(default="", repr=False)

    @property
    def sign_in(self) -> tuple[Path, str]:
        """The values that tell one sign-in from another."""
        return self.file, self.user


class Impersonation(msgspec.Struct, frozen=True):
    """Whom to act as (`--as`, `--as-group`)."""

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AuthInfo:
    """Identity towards the cluster; nothing secret shows in its printed form."""

    token: str = field(default="", repr=False)
    token_file: str = ""
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    plugin: ExecConfig | None = None
    oidc: OidcConfig | None = None


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """One context, read and checked, with every file that it names already in memory."""

    name: str
    server: str
    namespace: str = DEFAULT_NAMESPACE
    ca: str = field(default="", repr=False)
    insecure: bool = False
    tls_server_name: str = ""
    proxy: str = ""
    identity: AuthInfo = AuthInfo()
    impersonation: Impersonation = field(default_factory=Impersonation)
    request_timeout: float | None = None
    """Seconds, where a person gave a limit for one request (`--request-timeout`)."""

    @property
    def address(self) -> str:
        """The server as it may be shown: what follows the host can hold a secret."""
        parts = urlsplit(self.server)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options of the command line about connecting."""

    kubeconfig: str = ""
    contexts: tuple[str, ...] = ()
    as_user: str = ""
    as_groups: tuple[str, ...] = ()
    server: str = ""
    token: str = field(default="", repr=False)
    certificate_authority: str = ""
    insecure_skip_tls_verify: bool = False
    cluster: str = ""
    user: str = ""
    request_timeout: float | None = None


class SessionOptions(msgspec.Struct, frozen=True):
    """Options that foretop was started with; no namespaces means all that may be seen."""

    connect: ConnectionOptions = ConnectionOptions()
    namespaces: tuple[str, ...] = ()
    read_only: bool = False
    velero_namespace: str = ""
    with_velero: bool = False
    """Velero's own kinds are looked at where they are, though other namespaces were named."""
    velero_versions: GivenVersions | None = None
    thresholds: ThresholdSettings = DEFAULT_THRESHOLDS
    """The limits of triage that differ from those of the rules."""
    window: str = ""
    """A stretch of the day that backups should keep free, by the clocks of `time_zone`."""
    time_zone: str = "UTC"
    keeps_last_hour: bool = True
    """What changed in the last hour is kept in memory."""
    files: tuple[str, ...] = ()
    """Archives that are opened in the place of clusters."""
    files_at: datetime | None = None
    """The moment as of which a recording is shown, where that is not its end."""


Reload = Callable[[], ContextConfig]
