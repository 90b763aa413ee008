"""OIDC tokens of an `auth-provider`: used while they hold, then renewed and written back as kubectl does it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from foretop_core.clock import Clock
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.connection_errors import SIGN_IN, Unauthenticated

# Deferred imports: only an expired OIDC token needs them.

RENEW_BEFORE = timedelta(seconds=10)
"""As kubectl: a token that ends while the request is under way is of no use."""
MIN_RETRY_INTERVAL = timedelta(seconds=20)
"""A provider that has just answered is not asked again at once, whatever it said and whatever our clock shows."""


class _Slot(msgspec.Struct):
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    used: OidcConfig | None = None
    renewed: OidcConfig | None = None
    failure: Unauthenticated | None = None
    asked_at: datetime | None = None
    notice: str = ""


class OidcTokens:
    """The OIDC tokens of a run: contexts of one user share them, for a refresh token may be good only once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._slots: dict[tuple[Path, str], _Slot] = {}

    async def token(self, known: OidcConfig, read_again: Callable[[], Awaitable[OidcConfig]]) -> str:
        """A token that holds: the kubeconfig's, the last renewed one, or a new one."""
        slot = self._slots.setdefault(known.sign_in, _Slot())
        async with slot.lock:
            if found := self._valid(known, slot.renewed):
                return found
            current = await read_again()
            if found := self._valid(current):
                return found
            if slot.asked_at is not None and timedelta() <= self._clock.now() - slot.asked_at < MIN_RETRY_INTERVAL:
                if slot.failure is not None:
                    raise slot.failure
                if slot.renewed is not None:
                    return slot.renewed.id_token
            return await self._renewed(slot, _latest(slot, current), read_again)

    def notice(self, known: OidcConfig) -> str:
        """One line on a token that could be renewed and not kept; empty where all is well."""
        slot = self._slots.get(known.sign_in)
        return slot.notice if slot is not None else ""

    async def _renewed(self, slot: _Slot, current: OidcConfig, read_again: Callable[[], Awaitable[OidcConfig]]) -> str:
        if not current.refresh_token:
            raise self._ended(current)
        slot.asked_at = self._clock.now()
        try:
            renewed, slot.notice = await asyncio.to_thread(_refreshed_and_kept, current)
        except Unauthenticated as problem:
            # Somebody else (kubectl, a second foretop) may have used the refresh token a moment before us.
            if found := self._valid(await read_again()):
                return found
            slot.failure = problem
            raise
        slot.used, slot.renewed, slot.failure = current, renewed, None
        return renewed.id_token

    def _valid(self, *candidates: OidcConfig | None) -> str:
        for each in candidates:
            if each is not None and each.id_token:
                end = expiry(each.id_token)
                if end is None or self._clock.now() < end - RENEW_BEFORE:
                    return each.id_token
        return ""

    def _ended(self, current: OidcConfig) -> Unauthenticated:
        end = expiry(current.id_token)
        return Unauthenticated(
            f"The OIDC token of {current.user!r} expired at {end:%Y-%m-%d %H:%M} UTC"
            if end
            else f"{current.user!r} has no OIDC token",
            "the kubeconfig has no refresh-token to renew it with",
            SIGN_IN,
        )


def _latest(slot: _Slot, current: OidcConfig) -> OidcConfig:
    """Ours where the kubeconfig still has the refresh token that we have used up, and could not be written."""
    stale = slot.used is not None and slot.used.refresh_token == current.refresh_token
    return slot.renewed if slot.renewed is not None and stale else current


def _refreshed_and_kept(current: OidcConfig) -> tuple[OidcConfig, str]:
    """The new tokens and, where they could not be written, one line on it.

    Both steps in one thread: a caller that is cancelled in between must not lose a refresh token that is used up.
    """
    # Loaded here, off the event loop and only for those whose token has ended: it takes longer than the whole start.
    from foretop_core.kube.connection.kubeconfig_writer import write_tokens
    from foretop_core.kube.connection.oidc_refresh import refresh

    renewed = refresh(current)
    try:
        write_tokens(current, renewed)
    except BadInput as problem:
        return renewed, str(problem)
    return renewed, ""


class _Claims(msgspec.Struct):
    exp: float | None = None


def expiry(token: str) -> datetime | None:
    """When a token says that it ends; one that cannot be read is left to the API server."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = msgspec.json.decode(base64.urlsafe_b64decode(parts[1] + "=="), type=_Claims)
        return None if claims.exp is None else datetime.fromtimestamp(claims.exp, UTC)
    except (ValueError, OverflowError, OSError, RecursionError):
        return None
