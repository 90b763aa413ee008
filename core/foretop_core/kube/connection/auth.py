"""Credentials for one cluster, kept fresh: tokens, files that rotate, plugins, certificates."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from foretop_core.background import in_thread
from foretop_core.clock import Clock
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import AuthInfo, ContextConfig, OidcConfig, Reload
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.exec_plugin import ExecCredential, ExecPlugins
from foretop_core.kube.connection.oidc import OidcTokens
from foretop_core.own_files import read_file

_LONGEST_TOKEN = 2**20
REREAD_TOKEN_FILE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers and certificates of a request; nothing of them shows in its printed form."""

    authorization: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    plugin: ExecCredential | None = None


class Authenticator:
    """Answers with the credentials of the moment for one context."""

    def __init__(
        self,
        config: ContextConfig,
        reload: Reload,
        plugins: ExecPlugins,
        clock: Clock,
        oidc: OidcTokens | None = None,
    ) -> None:
        self.config = config
        self._reload = reload
        self._plugins = plugins
        self._clock = clock
        self._oidc = oidc or OidcTokens(clock)
        self._file_token = ""
        self._file_read: datetime | None = None

    async def credentials(self) -> Credentials:
        identity = self.config.identity
        if identity.token_file or identity.token:
            return _bearer(await self._token_of_file(identity) or identity.token, identity)
        if identity.username:
            pair = f"{identity.username}:{identity.password}".encode()
            basic = f"Basic {base64.b64encode(pair).decode()}"
            return Credentials(basic, identity.certificate, identity.key)
        if identity.oidc is not None:
            return _bearer(await self._oidc.token(identity.oidc, self._oidc_again), identity)
        if identity.plugin is not None:
            return _from_plugin(await self._plugins.credential(identity.plugin), identity)
        return Credentials("", identity.certificate, identity.key)

    async def rejected(self, used: Credentials) -> None:
        """The API server did not know us: read everything again, and say so when nothing new came of it."""
        if await self.credentials() != used:
            return
        if self.config.identity.plugin is not None:
            self._plugins.reject(self.config.identity.plugin, used.plugin)
        self._file_read = None
        await self._read_config_again()
        if await self.credentials() == used:
            raise Unauthenticated(
                f"The API server does not accept the credentials of {self.config.name}",
                hint="sign in again; foretop reloads the kubeconfig automatically",
            )

    async def _read_config_again(self) -> None:
        try:
            self.config = await in_thread(self._reload)
        except BadInput as problem:
            raise Unauthenticated(problem.what, problem.why, problem.hint) from None

    async def _token_of_file(self, identity: AuthInfo) -> str:
        if not identity.token_file:
            return ""
        now = self._clock.now()
        if self._file_read is None or not timedelta() <= now - self._file_read < REREAD_TOKEN_FILE:
            try:
                read = await in_thread(partial(read_file, Path(identity.token_file), _LONGEST_TOKEN))
                self._file_token, self._file_read = read.decode("utf-8").strip(), now
            except (OSError, UnicodeDecodeError) as problem:
                if not (self._file_token or identity.token):
                    raise Unauthenticated(
                        f"The token file {identity.token_file} cannot be read", str(problem)
                    ) from None
        return self._file_token

    @property
    def notice(self) -> str:
        """One line on what a person should know of a sign-in that works; mostly empty."""
        oidc = self.config.identity.oidc
        return self._oidc.notice(oidc) if oidc is not None else ""

    async def _oidc_again(self) -> OidcConfig:
        await self._read_config_again()
        if self.config.identity.oidc is None:
            raise Unauthenticated(
                f"{self.config.name} is signed in to in another way by now",
                "the kubeconfig was changed",
                "start foretop again",
            )
        return self.config.identity.oidc


def _bearer(token: str, identity: AuthInfo) -> Credentials:
    return Credentials(f"Bearer {token}", identity.certificate, identity.key)


def _from_plugin(answer: ExecCredential, identity: AuthInfo) -> Credentials:
    return Credentials(
        authorization=f"Bearer {answer.token}" if answer.token else "",
        certificate=answer.certificate or identity.certificate,
        key=answer.key or identity.key,
        plugin=answer,
    )
