"""OIDC tokens that hold or have ended, where nobody needs to be asked for others."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.oidc import OidcTokens, expiry

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def token(claims: object, parts: int = 3) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return ".".join(["head", middle, "signature", "more"][:parts])


def ending(moment: datetime) -> str:
    return token({"exp": moment.timestamp()})


@pytest.mark.parametrize(
    ("written", "end"),
    [
        (token({"exp": 1_800_000_000}), datetime(2027, 1, 15, 8, 0, tzinfo=UTC)),
        (token({"exp": 1_800_000_000.5, "sub": "a"}), datetime(2027, 1, 15, 8, 0, 0, 500_000, tzinfo=UTC)),
        (token({}), None),
        (token({"exp": None}), None),
        (token({"exp": "soon"}), None),
        (token({"exp": 1e300}), None),
        (token({"exp": 1_800_000_000}, parts=2), None),
        (token({"exp": 1_800_000_000}, parts=4), None),
        ("head.%%%.signature", None),
        ("", None),
    ],
)
def test_a_token_says_when_it_ends_or_is_left_to_the_server(written: str, end: datetime | None) -> None:
    assert expiry(written) == end


class SignIn:
    """A user whose kubeconfig a test writes, without a provider that could be asked."""

    def __init__(self, id_token: str, refresh_token: str = "") -> None:
        self.written = OidcConfig("me", Path("config"), id_token, refresh_token)
        self.known = self.written
        self.clock = ManualClock(NOW)
        self.tokens = OidcTokens(self.clock)
        self.read = 0

    async def _read_again(self) -> OidcConfig:
        self.read += 1
        return self.written

    async def token(self) -> str:
        return await self.tokens.token(self.known, self._read_again)

    async def refused(self) -> Unauthenticated:
        with pytest.raises(Unauthenticated) as caught:
            await self.token()
        return caught.value


async def test_a_token_is_used_until_ten_seconds_before_it_ends() -> None:
    end = NOW + timedelta(hours=1)
    held = SignIn(ending(end))
    held.written = replace(held.written, id_token=ending(end + timedelta(hours=1)))
    held.clock.set(end - timedelta(seconds=10) - TICK)
    assert await held.token() == held.known.id_token
    assert held.read == 0
    held.clock.advance(TICK)
    assert await held.token() == held.written.id_token
    assert held.read == 1


async def test_a_token_without_an_end_is_used() -> None:
    assert await SignIn("just-a-word").token() == "just-a-word"


async def test_a_token_that_ended_and_cannot_be_renewed_says_when_and_why() -> None:
    ended = SignIn(ending(NOW - timedelta(hours=1)))
    told = (
        "The OIDC token of 'me' expired at 2026-11-15 02:00 UTC: the kubeconfig has no refresh-token to renew it with"
    )
    assert str(await ended.refused()).startswith(told)
    none = SignIn("")
    assert str(await none.refused()).startswith("'me' has no OIDC token: the kubeconfig has no refresh-token")
    assert ended.tokens.notice(ended.known) == none.tokens.notice(none.known) == ""
    none.written = ended.written = replace(none.written, id_token=ending(NOW + timedelta(hours=1)))
    assert await ended.token() == await none.token() == none.written.id_token


async def test_a_provider_is_asked_again_when_twenty_seconds_have_passed() -> None:
    held = SignIn(ending(NOW), refresh_token="r")
    first = await held.refused()
    assert "idp-issuer-url is not https" in str(first)
    for wait, is_first in ((timedelta(), True), (timedelta(seconds=20) - TICK, True), (TICK, False)):
        held.clock.advance(wait)
        assert (await held.refused() is first) is is_first
    last = await held.refused()
    held.clock.advance(-TICK)
    assert await held.refused() is not last


async def test_a_sign_in_after_a_refusal_is_used_at_once() -> None:
    held = SignIn(ending(NOW), refresh_token="r")
    await held.refused()
    held.written = replace(held.written, id_token=ending(NOW + timedelta(hours=1)))
    assert await held.token() == held.written.id_token
