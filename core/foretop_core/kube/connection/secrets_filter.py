"""The secrets of one context, taken out of whatever text an answer or a library gives for showing."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from foretop_core.foreign_text import HIDDEN, redacted
from foretop_core.kube.connection.config import ContextConfig

SHORTEST_SECRET = 6
"""Anything shorter is an ordinary word by chance: taking it out would only garble the text."""


def is_secret_beside(word: str, answer: str) -> bool:
    """True if a word is also part of a secret answer."""
    bare = word.strip(".,;:'\"()")
    return len(bare) >= SHORTEST_SECRET and bare in answer


def without_secrets(text: str, config: ContextConfig, authorization: str) -> str:
    """The text without what is named a secret, token, password, proxy password and the path of the server's address."""
    secrets = {secret for secret in _secrets(config, authorization) if len(secret) >= SHORTEST_SECRET}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return redacted(text)


def _secrets(config: ContextConfig, authorization: str) -> Iterable[str]:
    scheme, _, value = authorization.partition(" ")
    yield value
    if scheme == "Basic":
        yield base64.b64decode(value).decode("utf-8", "replace").partition(":")[2]
    yield from (config.identity.token, config.identity.password)
    server = urlsplit(config.server)
    yield from _both(server.path.strip("/"))
    for part in server.path.split("/"):
        yield from _both(part)
    for address in (config.server, config.proxy):
        user, _, password = urlsplit(address).netloc.rpartition("@")[0].partition(":")
        yield from _both(password or user)
        yield base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()


def _both(text: str) -> tuple[str, str]:
    """As it is written in an address, and as it is meant."""
    return text, unquote(text)
