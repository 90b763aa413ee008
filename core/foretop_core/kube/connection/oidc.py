"""OIDC tokens of an `auth-provider`: used while they hold, then renewed and written back as kubectl does it.

The tokens are the one thing that foretop writes into a kubeconfig.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import yaml

from foretop_core.clock import Clock
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import MOST_KUBECONFIG_BYTES, OidcConfig
from foretop_core.kube.connection.connection_errors import SIGN_IN, Unauthenticated
from foretop_core.own_files import read_in, real_place, replace_in, why_not
from foretop_core.yaml_guard import PlainLoader

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
            if token := self._valid(known, slot.renewed):
                return token
            current = await read_again()
            if token := self._valid(current):
                return token
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
            if token := self._valid(await read_again()):
                return token
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


LOCK_LIMIT = 2.0
_LOCK_PAUSE = 0.05


def write_tokens(before: OidcConfig, renewed: OidcConfig) -> None:
    """Puts the new tokens where the old ones are; all else in the file stays, to the letter where YAML allows.

    Another program's newer sign-in is left alone. A file that cannot be written is one line.
    """
    try:
        with real_place(Path(before.file)) as (folder, name), _locked(folder, name):
            old = read_in(folder, name, MOST_KUBECONFIG_BYTES).decode("utf-8")
            new = _changed(old, before, renewed)
            if new is not None:
                _replace(folder, name, new)
    except OSError as problem:
        raise _cannot(before, why_not(problem)) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise _cannot(before, "it can no longer be read") from None


def _cannot(oidc: OidcConfig, why: str) -> BadInput:
    return BadInput(
        f"The renewed OIDC token of {oidc.user!r} was not written to {oidc.file}",
        why,
        "it is used for this run; make the file writable, or sign in again afterwards",
    )


def _changed(text: str, before: OidcConfig, renewed: OidcConfig) -> str | None:
    """The file's text with the new tokens; nothing where the old ones are no longer in it."""
    content = yaml.load(text, PlainLoader)
    config = _oidc_config(content, before.user)
    if config is None or config.get("refresh-token") != before.refresh_token:
        return None
    updated = copy.deepcopy(content)
    tokens = {"id-token": renewed.id_token, "refresh-token": renewed.refresh_token}
    target = _oidc_config(updated, before.user)
    assert target is not None, "a copy has what its original has"
    target.update(tokens)
    edited = _edited(text, before.user, tokens)
    # Block texts, aliases and missing fields are beyond an edit in place: then the file is written anew as a whole.
    if edited is not None and _same(edited, updated):
        return edited
    return yaml.safe_dump(updated, sort_keys=False, allow_unicode=True)


def _same(text: str, wanted: object) -> bool:
    try:
        return bool(yaml.load(text, PlainLoader) == wanted)
    except yaml.YAMLError:
        return False


def _oidc_config(content: Any, user: str) -> dict[str, Any] | None:
    users = content.get("users") if isinstance(content, dict) else None
    for item in users if isinstance(users, list) else []:
        if isinstance(item, dict) and item.get("name") == user:
            entry: Any = item
            for key in ("user", "auth-provider", "config"):
                entry = entry.get(key) if isinstance(entry, dict) else None
            return entry if isinstance(entry, dict) else None
    return None


def _edited(text: str, user: str, tokens: Mapping[str, str]) -> str | None:
    """The text with only the letters of the old tokens replaced, so that comments and layout stay."""
    config = _config_node(yaml.compose(text, Loader=yaml.SafeLoader), user)
    places = {key: _value(config, key) for key in tokens}
    spans = sorted(
        ((node.start_mark.index, node.end_mark.index, tokens[key]) for key, node in places.items() if node is not None),
        reverse=True,
    )
    if len(spans) != len(tokens):
        return None
    for start, end, token in spans:
        text = f"{text[:start]}{_scalar(token)}{text[end:]}"
    return text


def _config_node(root: yaml.Node | None, user: str) -> yaml.Node | None:
    users = _value(root, "users")
    for item in users.value if isinstance(users, yaml.SequenceNode) else []:
        name = _value(item, "name")
        if name is not None and name.value == user:
            return _value(_value(_value(item, "user"), "auth-provider"), "config")
    return None


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _scalar(token: str) -> str:
    """Plain, as kubectl writes it, where that is read as the same text again; else in quotes."""
    quoted = json.dumps(token)
    try:
        return token if yaml.safe_load(f"a: {token}") == {"a": token} else quoted
    except (yaml.YAMLError, ValueError):
        return quoted


@contextlib.contextmanager
def _locked(folder: int, name: str) -> Iterator[None]:
    """kubectl's own lock: a file beside the kubeconfig while it is being written."""
    lock = f"{name}.lock"
    deadline = time.monotonic() + LOCK_LIMIT
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))
            break
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise OSError(f"another program is writing it, or has left {lock} behind") from None
            time.sleep(_LOCK_PAUSE)
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(lock, dir_fd=folder)


def _replace(folder: int, name: str, text: str) -> None:
    """With the same mode and owner as before."""
    if not os.access(name, os.W_OK, dir_fd=folder):
        # A rename would go through where only the folder may be written, against the wish of whoever protected it.
        raise PermissionError(None, "it is write-protected")
    replace_in(folder, name, text.encode(), os.stat(name, dir_fd=folder))
