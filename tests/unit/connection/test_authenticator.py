"""Which credentials go with a request, and when they are read again."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop_core.clock import ManualClock
from foretop_core.errors import BadInput
from foretop_core.kube.connection.auth import Authenticator, Credentials
from foretop_core.kube.connection.config import AuthInfo, ContextConfig, ExecConfig, OidcConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.exec_plugin import ExecCredential, ExecPlugins

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
OIDC = OidcConfig("me", Path("config"), id_token="not.one")


class Kubeconfig:
    """A context whose identity a test changes, as a person does by signing in."""

    def __init__(self, identity: AuthInfo) -> None:
        self.clock = ManualClock(NOW)
        self.now = ContextConfig("c", "https://k", identity=identity)
        self.read = 0
        self.auth = Authenticator(self.now, self._reload, ExecPlugins(self.clock, os.environ), self.clock)

    def _reload(self) -> ContextConfig:
        self.read += 1
        return self.now

    def sign_in(self, identity: AuthInfo) -> None:
        self.now = replace(self.now, identity=identity)


def plugin(**status: str) -> ExecConfig:
    return ExecConfig("echo", (json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "status": status}),))


CERTIFICATE = AuthInfo(certificate=b"crt", key=b"key")
PLAIN = [
    (AuthInfo(), Credentials()),
    (CERTIFICATE, Credentials("", b"crt", b"key")),
    (replace(CERTIFICATE, token="t"), Credentials("Bearer t", b"crt", b"key")),
    (replace(CERTIFICATE, username="me", password="pä"), Credentials("Basic bWU6cMOk", b"crt", b"key")),
    (replace(CERTIFICATE, token="t", username="me", oidc=OIDC), Credentials("Bearer t", b"crt", b"key")),
    (AuthInfo(username="me", oidc=OIDC), Credentials("Basic bWU6")),
    (replace(CERTIFICATE, oidc=OIDC, plugin=plugin(token="p")), Credentials("Bearer not.one", b"crt", b"key")),
]
PLUGINS = [
    ({"token": "p"}, Credentials("Bearer p", b"crt", b"key", ExecCredential("p"))),
    (
        {"clientCertificateData": "C", "clientKeyData": "K"},
        Credentials("", b"C", b"K", ExecCredential("", b"C", b"K")),
    ),
]


@pytest.mark.parametrize(("identity", "sent"), PLAIN)
async def test_the_first_way_to_sign_in_that_there_is_is_used(identity: AuthInfo, sent: Credentials) -> None:
    assert await Kubeconfig(identity).auth.credentials() == sent


@pytest.mark.parametrize(("status", "sent"), PLUGINS)
async def test_a_plugin_s_certificate_goes_before_the_user_s(status: dict[str, str], sent: Credentials) -> None:
    assert await Kubeconfig(replace(CERTIFICATE, plugin=plugin(**status))).auth.credentials() == sent


async def test_a_token_file_is_read_again_after_a_minute_or_when_the_clock_goes_back(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(" one\n")
    kubeconfig = Kubeconfig(AuthInfo(token_file=str(token), token="other"))
    assert (await kubeconfig.auth.credentials()).authorization == "Bearer one"
    token.write_text("two")
    for wait, shown in ((timedelta(), "one"), (timedelta(minutes=1) - TICK, "one"), (TICK, "two")):
        kubeconfig.clock.advance(wait)
        assert (await kubeconfig.auth.credentials()).authorization == f"Bearer {shown}"
    token.write_text("three")
    kubeconfig.clock.advance(-TICK)
    assert (await kubeconfig.auth.credentials()).authorization == "Bearer three"


async def test_a_token_file_that_cannot_be_read_leaves_the_last_token_then_the_one_beside_it(tmp_path: Path) -> None:
    token = tmp_path / "token"
    alone, beside = Kubeconfig(AuthInfo(token_file=str(token))), Kubeconfig(AuthInfo("b", str(token)))
    with pytest.raises(Unauthenticated, match=f"The token file {token} cannot be read: .*No such file"):
        await alone.auth.credentials()
    assert (await beside.auth.credentials()).authorization == "Bearer b"
    token.write_text("one")
    for kubeconfig in (alone, beside):
        assert (await kubeconfig.auth.credentials()).authorization == "Bearer one"
    token.unlink()
    for kubeconfig in (alone, beside):
        kubeconfig.clock.advance(timedelta(minutes=2))
        assert (await kubeconfig.auth.credentials()).authorization == "Bearer one"


async def test_an_empty_token_file_leaves_the_token_beside_it(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    sent = await Kubeconfig(AuthInfo("b", str(tmp_path / "token"))).auth.credentials()
    assert sent.authorization == "Bearer b"


async def test_refused_credentials_make_the_kubeconfig_be_read_again_unless_others_are_there_by_now() -> None:
    kubeconfig = Kubeconfig(AuthInfo(token="old"))
    used = await kubeconfig.auth.credentials()
    with pytest.raises(Unauthenticated, match="The API server does not accept the credentials of c"):
        await kubeconfig.auth.rejected(used)
    kubeconfig.sign_in(AuthInfo(token="new"))
    await kubeconfig.auth.rejected(used)
    assert (await kubeconfig.auth.credentials()).authorization == "Bearer new"
    assert kubeconfig.read == 2
    await kubeconfig.auth.rejected(used)
    assert kubeconfig.read == 2


async def test_a_refused_token_file_is_read_at_once(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one")
    kubeconfig = Kubeconfig(AuthInfo(token_file=str(token)))
    used = await kubeconfig.auth.credentials()
    token.write_text("two")
    await kubeconfig.auth.rejected(used)
    assert (await kubeconfig.auth.credentials()).authorization == "Bearer two"


async def test_a_kubeconfig_that_is_broken_by_now_is_signed_out_with_its_own_words() -> None:
    def broken() -> ContextConfig:
        raise BadInput("Cannot read it", "it is not YAML", "fix the file")

    clock = ManualClock(NOW)
    config = ContextConfig("c", "https://k", identity=AuthInfo(token="t"))
    auth = Authenticator(config, broken, ExecPlugins(clock, {}), clock)
    with pytest.raises(Unauthenticated, match=r"Cannot read it: it is not YAML \(fix the file\)"):
        await auth.rejected(await auth.credentials())


async def test_a_context_that_no_longer_has_oidc_says_so() -> None:
    kubeconfig = Kubeconfig(AuthInfo(oidc=replace(OIDC, id_token="")))
    assert kubeconfig.auth.notice == ""
    kubeconfig.sign_in(AuthInfo(token="t"))
    with pytest.raises(Unauthenticated, match="c is signed in to in another way by now"):
        await kubeconfig.auth.credentials()
    assert kubeconfig.auth.notice == ""
