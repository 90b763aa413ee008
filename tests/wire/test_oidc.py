"""Signing in with an `auth-provider` of name oidc: tokens that hold, end, are renewed, and are written back."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import ssl
import stat
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.kube.access.doctor_checks import Check, diagnose
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.connection_errors import Unauthenticated
from tests.wire.test_auth import _listening, guarded

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
AUTHORITY = trustme.CA()
CERTIFICATE = AUTHORITY.issue_cert("127.0.0.1")
CA_DATA = base64.b64encode(AUTHORITY.cert_pem.bytes()).decode()


def token(end: datetime, name: str = "signature") -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(end.timestamp())}).encode()).decode().rstrip("=")
    return f"head.{claims}.{name}"


ENDED = token(NOW - timedelta(hours=1))
FRESH = token(NOW + timedelta(hours=1), "fresh")


@dataclass
class Provider:
    """An OIDC provider: every refresh token is good once."""

    good: str = "refresh-1"
    gives: dict[str, str] = field(default_factory=lambda: {"id_token": FRESH, "refresh_token": "refresh-2"})
    client: tuple[str, str] = ("foretop", "s3cret")
    takes_header: bool = True
    scheme: str = "https"
    before_answer: Callable[[], object] = lambda: None
    asked: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        if request.path == "/realm/.well-known/openid-configuration":
            return web.json_response({"token_endpoint": f"{self.scheme}://{request.host}/realm/token"})
        if request.path != "/realm/token":
            return web.Response(status=404)
        form = {key: str(value) for key, value in (await request.post()).items()}
        self.asked.append(form)
        self.before_answer()
        if self._shown(request, form) != self.client:
            return web.json_response({"error": "invalid_client"}, status=401)
        if form["grant_type"] != "refresh_token" or form["refresh_token"] != self.good:
            said = f"the token {form['refresh_token']} is used up"
            return web.json_response({"error": "invalid_grant", "error_description": said}, status=400)
        self.good = self.gives.get("refresh_token", self.good)
        return web.json_response(self.gives)

    def _shown(self, request: web.Request, form: dict[str, str]) -> tuple[str, str]:
        header = request.headers.get("Authorization", "")
        if header and ("client_secret" in form or not self.takes_header):
            return "", ""
        if header:
            name, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
            return name, secret
        return form.get("client_id", ""), form.get("client_secret", "")


@asynccontextmanager
async def running(provider: Provider) -> AsyncIterator[str]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    CERTIFICATE.configure_cert(context)
    async with _listening(provider.handle, context) as url:
        yield f"{url}/realm"


def signed_in(folder: Path, server: str, issuer: str, **config: str) -> Path:
    """A kubeconfig as people have them: with comments, an order of its own and other users."""
    fields = {
        "client-id": "foretop",
        "client-secret": "s3cret",
        "id-token": ENDED,
        "idp-certificate-authority-data": CA_DATA,
        "idp-issuer-url": issuer,
        "refresh-token": "refresh-1",
        **config,
    }
    lines = "".join(f"        {key}: {value}\n" for key, value in fields.items() if value)
    path = folder / "config"
    path.write_text(
        f"""# my clusters
kind: Config
apiVersion: v1
users:
- name: other
  user: {{token: "keep-me"}}  # somebody else's
- name: me
  user:
    auth-provider:
      name: oidc
      config:  # from the company's portal
{lines}current-context: oidc
contexts:
- {{name: oidc, context: {{cluster: k, user: me}}}}
- {{name: again, context: {{cluster: k, user: me}}}}
clusters:
- {{name: k, cluster: {{server: "{server}"}}}}
x-extension: [1, two, 3.0]
"""
    )
    path.chmod(0o600)
    return path


def clients(path: Path, *contexts: str, clock: ManualClock | None = None) -> list[ApiClient]:
    made = connect(ConnectionOptions(str(path), contexts), {}, clock or ManualClock(NOW), read_only=True)
    return list(made.clients.values())


async def asked(*users: ApiClient) -> list[int]:
    answers = await asyncio.gather(*(user.request("GET", "/version") for user in users), return_exceptions=True)
    for user in users:
        await user.close()
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer.status for answer in answers if not isinstance(answer, BaseException)]


async def refused(path: Path) -> str:
    """The one line that a person gets; no secret is in it."""
    with pytest.raises(Unauthenticated) as caught:
        await asked(*clients(path))
    line = str(caught.value)
    assert "\n" not in line
    assert not any(secret in line for secret in ("refresh-1", "s3cret", ENDED, FRESH))
    return line


async def test_a_token_that_holds_is_used_and_nobody_is_asked(tmp_path: Path) -> None:
    provider = Provider()
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer, **{"id-token": FRESH})
        before = path.read_text()
        assert await asked(*clients(path)) == [200]
    assert provider.asked == []
    assert path.read_text() == before


async def test_a_token_that_ended_is_renewed_and_written_back_with_nothing_else_changed(tmp_path: Path) -> None:
    provider = Provider()
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        assert await asked(*clients(path)) == [200]
    assert path.read_text() == before.replace(ENDED, FRESH).replace("refresh-1", "refresh-2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["config"]
    assert provider.asked == [{"grant_type": "refresh_token", "refresh_token": "refresh-1"}]


async def test_two_contexts_of_one_user_renew_once(tmp_path: Path) -> None:
    provider = Provider()
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer)
        assert await asked(*clients(path, "oidc", "again")) == [200, 200]
    assert len(provider.asked) == 1


async def test_a_provider_that_keeps_the_refresh_token_leaves_it_in_the_file(tmp_path: Path) -> None:
    provider = Provider(gives={"id_token": FRESH})
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        assert await asked(*clients(path)) == [200]
    assert path.read_text() == before.replace(ENDED, FRESH)


CLIENTS = [
    pytest.param(Provider(client=("foretop", "s3cret"), takes_header=False), "s3cret", id="secret in the form"),
    pytest.param(Provider(client=("foretop", "")), "", id="public client"),
]


@pytest.mark.parametrize(("provider", "secret"), CLIENTS)
async def test_a_client_shows_itself_as_its_provider_wants_it(tmp_path: Path, provider: Provider, secret: str) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        assert await asked(*clients(signed_in(tmp_path, server, issuer, **{"client-secret": secret}))) == [200]


async def test_the_authority_may_be_a_file_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "idp.crt").write_bytes(AUTHORITY.cert_pem.bytes())
    authority = {"idp-certificate-authority-data": "", "idp-certificate-authority": "idp.crt"}
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        assert await asked(*clients(signed_in(tmp_path, server, issuer, **authority))) == [200]


async def test_a_sign_in_with_a_refresh_token_alone_gets_its_id_token(tmp_path: Path) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        path = signed_in(tmp_path, server, issuer, **{"id-token": ""})
        assert await asked(*clients(path)) == [200]
    written = yaml.safe_load(path.read_text())
    config = written["users"][1]["user"]["auth-provider"]["config"]
    assert (config["id-token"], config["refresh-token"]) == (FRESH, "refresh-2")
    assert list(written) == ["kind", "apiVersion", "users", "current-context", "contexts", "clusters", "x-extension"]


async def test_a_provider_that_is_not_trusted_is_sent_nothing(tmp_path: Path) -> None:
    provider = Provider()
    stranger = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
    async with guarded(set(), []) as server, running(provider) as issuer:
        for authority in (stranger, ""):
            path = signed_in(tmp_path, server, issuer, **{"idp-certificate-authority-data": authority})
            assert "is not trusted" in await refused(path)
    assert provider.asked == []


async def test_a_refresh_that_is_refused_is_one_line_and_leaves_the_file(tmp_path: Path) -> None:
    async with guarded(set(), []) as server, running(Provider(good="another")) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        line = await refused(path)
    assert line.startswith("The OIDC token of 'me' cannot be renewed: 127.0.0.1:")
    assert line.endswith(
        "answered 400 invalid_grant: the token … is used up (sign in again; "
        "foretop reloads the kubeconfig automatically)"
    )
    assert path.read_text() == before


REFUSALS: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"gives": {"refresh_token": "refresh-2"}}, {}, "gave no id_token"),
    ({"client": ("foretop", "changed")}, {}, "answered 401 invalid_client"),
    ({"scheme": "http"}, {}, "the token endpoint is not https"),
    ({}, {"refresh-token": ""}, "expired at 2026-11-15 02:00 UTC: the kubeconfig has no refresh-token"),
    ({}, {"idp-issuer-url": "https://127.0.0.1:1"}, "127.0.0.1:1 cannot be reached"),
    ({}, {"idp-issuer-url": "http://127.0.0.1:1"}, "idp-issuer-url is not https"),
    ({}, {"idp-issuer-url": ""}, "idp-issuer-url is not https"),
]


@pytest.mark.parametrize(("provider", "config", "told"), REFUSALS)
async def test_what_cannot_be_renewed_is_one_line(
    tmp_path: Path, provider: dict[str, Any], config: dict[str, str], told: str
) -> None:
    async with guarded(set(), []) as server, running(Provider(**provider)) as issuer:
        assert told in await refused(signed_in(tmp_path, server, issuer, **config))


Hostile = Callable[[web.Request, str], Awaitable[web.StreamResponse]]


def answered(**response: Any) -> Hostile:
    async def answer(request: web.Request, form: str) -> web.StreamResponse:
        made = web.Response(**response)
        made.force_close()
        return made

    return answer


def endpoint(url: str) -> Hostile:
    return answered(text=json.dumps({"token_endpoint": url}))


async def drips(request: web.Request, form: str) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    if request.transport is not None:
        request.transport.abort()
    return response


async def repeats(request: web.Request, form: str) -> web.StreamResponse:
    said = f"{form} {request.headers.get('Authorization')}"
    return web.json_response({"error": "no", "error_description": said}, status=400)


HOSTILE: list[tuple[str, Hostile, str]] = [
    ("discovery", answered(text="<html>sign in</html>", content_type="text/html"), "names no token endpoint"),
    ("discovery", answered(status=302, headers={"Location": "https://127.0.0.1:1/x"}), "answered 302 to discovery"),
    ("discovery", answered(body=gzip.compress(bytes(2**22)), headers={"Content-Encoding": "gzip"}), "than 256 KiB"),
    ("discovery", drips, "its answer was cut"),
    ("discovery", endpoint("https://[::1"), "the token endpoint is malformed"),
    ("discovery", endpoint("https://host:x/"), "the token endpoint is malformed"),
    ("discovery", endpoint("https:///token"), "the token endpoint is malformed"),
    ("discovery", endpoint("file:///etc/passwd"), "the token endpoint is not https"),
    ("token", answered(text="<html>sign in</html>"), "gave no id_token"),
    ("token", answered(status=307, headers={"Location": "https://127.0.0.1:1/x"}), "answered 307"),
    ("token", answered(body=bytes(2**20)), "its answer is longer than 256 KiB"),
    ("token", answered(body=b"xxxx", headers={"Content-Encoding": "gzip"}), "its answer was cut"),
    ("token", answered(text=json.dumps({"id_token": "a\r\nX-Evil: 1"})), "gave a token that is not one"),
    ("token", answered(text=json.dumps({"id_token": "a", "refresh_token": "b\n- c"})), "gave a token that is not one"),
    ("token", drips, "its answer was cut"),
    ("token", repeats, "answered 400 no"),
]


@pytest.mark.parametrize(("step", "answer", "told"), HOSTILE)
async def test_a_hostile_provider_is_one_line_in_time_and_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, answer: Hostile, told: str
) -> None:
    # Only what drips takes all of it.
    monkeypatch.setattr("foretop_core.kube.connection.oidc_refresh.LIMIT", 2.0 if answer is drips else 120.0)
    honest = Provider()

    async def handle(request: web.Request) -> web.StreamResponse:
        at = "token" if request.path == "/realm/token" else "discovery"
        return await (answer(request, await request.text()) if at == step else honest.handle(request))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    CERTIFICATE.configure_cert(context)
    async with guarded(set(), []) as server, _listening(handle, context) as url:
        secrets = {"refresh-token": '"re/fresh+1 canary"', "client-secret": '"s3:cret/canary"'}
        path = signed_in(tmp_path, server, f"{url}/realm", **secrets)
        before = path.read_text()
        line = await refused(path)
        assert told in line
        assert "canary" not in line
        assert path.read_text() == before


async def test_a_malformed_issuer_is_one_line(tmp_path: Path) -> None:
    async with guarded(set(), []) as server:
        for issuer in ("https://[", "https://host:x", "https://"):
            path = signed_in(tmp_path, server, issuer)
            assert "idp-issuer-url is malformed" in await refused(path)


async def test_a_wrong_path_of_the_issuer_is_one_line(tmp_path: Path) -> None:
    async with guarded(set(), []) as server, running(Provider()) as issuer:
        assert "answered 404 to discovery" in await refused(signed_in(tmp_path, server, f"{issuer}/gone"))


async def test_a_renewal_that_is_not_answered_holds_up_no_exit(tmp_path: Path) -> None:
    """Whoever quits meanwhile has the terminal back at once, not when the provider's time is up."""
    waiting: list[bool] = []
    provider = Provider(before_answer=lambda: waiting.extend(_timers_that_hold_up_an_exit()))
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        assert await asked(*clients(signed_in(tmp_path, server, issuer))) == [200]
    assert waiting == [False]


def _timers_that_hold_up_an_exit() -> list[bool]:
    return [not one.daemon for one in threading.enumerate() if isinstance(one, threading.Timer)]


async def test_kubectl_may_be_faster_with_the_same_refresh_token(tmp_path: Path) -> None:
    path = tmp_path / "config"
    newer = token(NOW + timedelta(hours=1), "kubectl")

    def kubectl_renews() -> None:
        path.write_text(path.read_text().replace(ENDED, newer).replace("refresh-1", "refresh-9"))

    provider = Provider(good="refresh-9", before_answer=kubectl_renews)
    async with guarded({f"Bearer {newer}"}, []) as server, running(provider) as issuer:
        signed_in(tmp_path, server, issuer)
        assert await asked(*clients(path)) == [200]
    assert "refresh-9" in path.read_text()


async def test_a_sign_in_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config"
    provider = Provider(before_answer=lambda: path.write_text(path.read_text().replace("refresh-1", "refresh-9")))
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(provider) as issuer:
        signed_in(tmp_path, server, issuer)
        assert await asked(*clients(path)) == [200]
    assert "refresh-9" in path.read_text()
    assert FRESH not in path.read_text()


async def until_the_clock(client: ApiClient, clock: ManualClock) -> list[Check]:
    """What doctor says before it asks for things that only a cluster has."""
    checks = []
    async with aclosing(diagnose(client, clock, NamespaceSelection(), ())) as diagnosis:
        async for check in diagnosis:
            checks.append(check)
            if check.about == "clock":
                break
    return checks


async def test_a_locked_file_is_one_line_in_doctor_and_the_token_is_used_for_the_run(tmp_path: Path) -> None:
    clock = ManualClock(NOW)
    later = token(NOW + timedelta(hours=3), "later")
    provider = Provider()
    async with guarded({f"Bearer {FRESH}", f"Bearer {later}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        (tmp_path / "config.lock").touch()
        (client,) = clients(path, clock=clock)
        assert (await client.request("GET", "/version")).status == 200
        provider.gives = {"id_token": later, "refresh_token": "refresh-3"}
        clock.advance(timedelta(hours=2))
        # The refresh token in the file is used up by now: the run goes on with its own.
        assert (await client.request("GET", "/version")).status == 200
        checks = await until_the_clock(client, clock)
        await client.close()
    assert path.read_text() == before
    (told,) = [check.found for check in checks if check.about == "sign-in"]
    assert "was not written to" in told
    assert "another program is writing it" in told
    assert not any(secret in told for secret in ("refresh-", "s3cret", FRESH, later))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_file_that_may_not_be_written_is_one_line(tmp_path: Path) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        path = signed_in(tmp_path, server, issuer)
        path.chmod(0o400)
        (client,) = clients(path)
        assert (await client.request("GET", "/version")).status == 200
        assert "it is write-protected" in client.notice
        await client.close()


async def test_a_link_stays_a_link(tmp_path: Path) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        path = signed_in(tmp_path, server, issuer)
        link = tmp_path / "link"
        link.symlink_to(path)
        assert await asked(*clients(link)) == [200]
    assert link.is_symlink()
    assert FRESH in path.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
async def test_a_link_that_another_user_has_made_is_not_written_through(tmp_path: Path) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        link = tmp_path / "link"
        link.symlink_to(path)
        os.lchown(link, 54321, 54321)
        (client,) = clients(link)
        assert (await client.request("GET", "/version")).status == 200
        assert "link is a link that another user has made" in client.notice
        await client.close()
    assert path.read_text() == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith(f"{path.name}.")], "no lock, no draft"


@pytest.mark.parametrize("style", ["|-\n          {}", "'{}'", '"{}"', "&t {}", "!!str {}"])
async def test_however_a_token_is_written_the_rest_of_the_file_reads_the_same(tmp_path: Path, style: str) -> None:
    async with guarded({f"Bearer {FRESH}"}, []) as server, running(Provider()) as issuer:
        path = signed_in(tmp_path, server, issuer, **{"id-token": style.format(ENDED)})
        wanted = yaml.safe_load(path.read_text())
        assert await asked(*clients(path)) == [200]
    wanted["users"][1]["user"]["auth-provider"]["config"] |= {"id-token": FRESH, "refresh-token": "refresh-2"}
    assert yaml.safe_load(path.read_text()) == wanted


async def test_a_provider_that_has_refused_is_left_in_peace_for_a_while(tmp_path: Path) -> None:
    provider, clock = Provider(good="another"), ManualClock(NOW)
    async with guarded(set(), []) as server, running(provider) as issuer:
        (client,) = clients(signed_in(tmp_path, server, issuer), clock=clock)
        for wait in (0, 0, 5, 30):
            clock.advance(timedelta(seconds=wait))
            with pytest.raises(Unauthenticated):
                await client.request("GET", "/version")
        await client.close()
    assert len(provider.asked) == 2
