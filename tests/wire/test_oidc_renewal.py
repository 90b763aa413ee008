"""What is asked of an OIDC provider, and what is made of each of its answers."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.oidc_refresh import MOST_ANSWER, MOST_SAID, refresh
from tests.wire.raw_server import raw_server
from tests.wire.test_auth import _listening, guarded
from tests.wire.test_oidc import AUTHORITY, CERTIFICATE, FRESH, NOW, Provider, clients, running, signed_in, token

GIVEN = {"id_token": "new-id", "refresh_token": "new-refresh"}


@dataclass
class Scripted:
    """A provider that answers each question for a token with the next of these, the last one again and again."""

    answers: list[tuple[int, Any]]
    discovery: tuple[int, Any] = (200, None)
    forms: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        if request.path.endswith("/openid-configuration"):
            code, said = self.discovery
            return _said(code, {"token_endpoint": f"https://{request.host}/token"} if said is None else said)
        shown = "header" if "Authorization" in request.headers else "form"
        self.forms.append({key: str(value) for key, value in (await request.post()).items()} | {"shown": shown})
        return _said(*(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]))


def _said(code: int, said: Any) -> web.Response:
    return web.Response(status=code, text=said if isinstance(said, str) else json.dumps(said))


@asynccontextmanager
async def at(provider: Scripted) -> AsyncIterator[OidcConfig]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    CERTIFICATE.configure_cert(context)
    async with _listening(provider.handle, context) as url:
        authority = AUTHORITY.cert_pem.bytes().decode()
        yield OidcConfig("me", Path("config"), "old-id", "old-refresh", f"{url}/", "foretop", "s3cret", authority)


async def refreshed(provider: Scripted, **changed: Any) -> OidcConfig:
    async with at(provider) as oidc:
        return await asyncio.to_thread(refresh, replace(oidc, **changed))


async def refused(provider: Scripted, **changed: Any) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await refreshed(provider, **changed)
    assert caught.value.what == "The OIDC token of 'me' cannot be renewed"
    return caught.value.why


async def test_the_new_tokens_take_the_place_of_the_old_and_all_else_stays() -> None:
    provider = Scripted([(200, GIVEN)])
    async with at(provider) as oidc:
        found = await asyncio.to_thread(refresh, oidc)
    assert found == replace(oidc, id_token="new-id", refresh_token="new-refresh")
    asked = {"grant_type": "refresh_token", "refresh_token": "old-refresh"}
    assert provider.forms == [asked | {"shown": "header"}]
    kept = await refreshed(Scripted([(200, {"id_token": "new-id"})]))
    assert (kept.id_token, kept.refresh_token) == ("new-id", "old-refresh")


ASKED_TWICE = [
    (400, {"error": "invalid_client"}),
    (400, {"error": "invalid_request"}),
    (401, {"error": "invalid_client"}),
    (401, "no"),
]
ASKED_ONCE = [
    (400, {"error": "invalid_grant"}, "400 invalid_grant"),
    (401, {"error": "invalid_grant"}, "401 invalid_grant"),
    (201, GIVEN, "201"),
    (402, GIVEN, "402"),
    (403, {"error_description": "not you"}, "403 not you"),
    (500, {"error": "a", "error_description": "b"}, "500 a: b"),
    (503, "<html>", "503"),
]


@pytest.mark.parametrize(("code", "said"), ASKED_TWICE)
async def test_a_client_that_is_not_taken_by_its_header_shows_itself_in_the_form(code: int, said: Any) -> None:
    provider = Scripted([(code, said), (200, GIVEN)])
    assert (await refreshed(provider)).id_token == "new-id"
    first, second = provider.forms
    assert (first["shown"], second["shown"]) == ("header", "form")
    assert (second["client_id"], second["client_secret"]) == ("foretop", "s3cret")
    public = Scripted([(code, said), (200, GIVEN)])
    assert f"answered {code}" in await refused(public, client_secret="")
    (form,) = public.forms
    assert (form["shown"], form["client_id"], "client_secret" in form) == ("form", "foretop", False)


@pytest.mark.parametrize(("code", "said", "told"), ASKED_ONCE)
async def test_any_other_refusal_is_the_last_word(code: int, said: Any, told: str) -> None:
    provider = Scripted([(code, said), (200, GIVEN)])
    assert (await refused(provider)).partition(" answered ")[2] == told
    assert len(provider.forms) == 1


async def test_a_refusal_with_a_token_in_it_is_a_refusal() -> None:
    assert "answered 400" in await refused(Scripted([(400, GIVEN)]))


@pytest.mark.parametrize(
    ("discovery", "told"),
    [
        ((201, None), "answered 201 to discovery"),
        ((404, None), "answered 404 to discovery"),
        ((200, {}), "names no token endpoint"),
        ((200, {"token_endpoint": "https://idp:0/token"}), "the token endpoint is malformed"),
        ((200, {"token_endpoint": "http:///token"}), "the token endpoint is not https"),
    ],
)
async def test_a_discovery_that_leads_nowhere_is_told(discovery: tuple[int, Any], told: str) -> None:
    assert told in await refused(Scripted([(200, GIVEN)], discovery))


@pytest.mark.parametrize("length", [MOST_ANSWER, MOST_ANSWER + 1])
async def test_an_answer_may_be_as_long_as_the_limit(length: int) -> None:
    provider = Scripted([(200, json.dumps(GIVEN).ljust(length))])
    if length == MOST_ANSWER:
        assert (await refreshed(provider)).id_token == "new-id"
        return
    async with at(provider) as oidc:
        with pytest.raises(Unauthenticated, match=": its answer is longer than 256 KiB"):
            await asyncio.to_thread(refresh, oidc)
        # The provider has to hear that we are gone before its own end.
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("wrong", ["é", "a\nb", "\x00"])
@pytest.mark.parametrize("name", ["id_token", "refresh_token"])
async def test_a_token_that_cannot_stand_in_a_header_is_not_one(name: str, wrong: str) -> None:
    assert "gave a token that is not one" in await refused(Scripted([(200, {**GIVEN, name: wrong})]))


WORDS = "no " * MOST_SAID
"""Longer than what is shown; one long word would be hidden as a token."""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("the token old-refresh is used up", "the token … is used up"),
        ("old-id, s3cret", "…, …"),
        ("two\nlines", "two lines"),
        (WORDS[: MOST_SAID - 3], WORDS[: MOST_SAID - 3]),
        (WORDS[: MOST_SAID - 2], WORDS[: MOST_SAID - 4] + "…"),
    ],
)
async def test_what_a_provider_says_is_one_short_line_without_secrets(said: str, shown: str) -> None:
    told = await refused(Scripted([(403, {"error": "e", "error_description": said})]))
    assert told.partition(" answered ")[2] == f"403 e: {shown}"


async def test_a_client_without_a_secret_garbles_nothing() -> None:
    told = await refused(Scripted([(403, {"error": "no"})]), client_secret="", id_token="")
    assert told.endswith(" answered 403 no")


async def test_the_provider_is_named_by_its_host_alone() -> None:
    async with at(Scripted([(403, {})], (404, None))) as oidc:
        host = oidc.issuer.removeprefix("https://").rstrip("/")
        with pytest.raises(Unauthenticated) as caught:
            await asyncio.to_thread(refresh, replace(oidc, issuer=f"https://me:secret@{host}/realm"))
    assert caught.value.why == f"{host} answered 404 to discovery"


async def test_a_provider_that_is_not_trusted_is_told_without_the_library_s_marks() -> None:
    async with at(Scripted([(200, GIVEN)])) as oidc:
        with pytest.raises(Unauthenticated) as caught:
            await asyncio.to_thread(refresh, replace(oidc, ca=""))
        # The provider has to hear that we are gone before its own end.
        await asyncio.sleep(0.1)
    told = caught.value.why
    assert " is not trusted: certificate verify failed: " in told
    assert "[" not in told


async def test_a_provider_behind_socks_is_told_before_anything_is_sent() -> None:
    provider = Scripted([(200, GIVEN)])
    assert await refused(provider, proxy="socks5://127.0.0.1:1") == "its provider is behind a SOCKS proxy"
    assert provider.forms == []


async def test_a_provider_that_hangs_up_is_asked_once() -> None:
    heard = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        heard += 1
        writer.close()

    async with raw_server(hang_up) as port:
        issuer = f"https://127.0.0.1:{port}"
        with pytest.raises(Unauthenticated, match=r"cannot be renewed: 127\.0\.0\.1:") as caught:
            await asyncio.to_thread(refresh, OidcConfig("me", Path("config"), "", "r", issuer))
        await asyncio.sleep(0.1)
    assert heard == 1
    assert "trusted" not in caught.value.why, "a line that is cut says nothing about certificates"


async def test_a_new_token_that_seems_to_have_ended_is_used_and_not_asked_for_each_time(tmp_path: Path) -> None:
    """Our clock may be wrong."""
    odd = token(NOW - timedelta(minutes=30), "odd")
    provider, clock = Provider(gives={"id_token": odd}), ManualClock(NOW)
    async with guarded({f"Bearer {odd}"}, []) as server, running(provider) as issuer:
        (client,) = clients(signed_in(tmp_path, server, issuer), clock=clock)
        for wait, asked in ((0, 1), (0, 1), (19, 1), (1, 2)):
            clock.advance(timedelta(seconds=wait))
            assert (await client.request("GET", "/version")).status == 200
            assert len(provider.asked) == asked
        await client.close()


@pytest.mark.parametrize("newer", ["refresh-9", ""])
async def test_the_refresh_token_of_a_newer_sign_in_goes_before_ours(tmp_path: Path, newer: str) -> None:
    """And ours before one that is used up, where the file could not be written."""
    later = token(NOW + timedelta(hours=3), "later")
    provider, clock = Provider(), ManualClock(NOW)
    async with guarded({f"Bearer {FRESH}", f"Bearer {later}"}, []) as server, running(provider) as issuer:
        path = signed_in(tmp_path, server, issuer)
        before = path.read_text()
        (client,) = clients(path, clock=clock)
        assert (await client.request("GET", "/version")).status == 200
        assert client.notice == ""
        path.write_text(before.replace("refresh-1", newer) if newer else before)
        provider.good = newer or "refresh-2"
        provider.gives = {"id_token": later}
        clock.advance(timedelta(hours=2))
        assert (await client.request("GET", "/version")).status == 200
        await client.close()
    assert provider.asked[-1]["refresh_token"] == (newer or "refresh-2")
