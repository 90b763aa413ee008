"""The secrets of one context, taken out of whatever text an answer or a library gives for showing."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from foretop_core.kube.connection.config import ContextConfig

HIDDEN = "[hidden]"
SHORTEST_SECRET = 6
"""Anything shorter is an ordinary word by chance: taking it out would only garble the text."""
_TOKEN = re.compile(r"eyJ[\w-]{8,}[\w.-]*|[\w+=-]{24,}")
"""A JWT, or a long word, which `_is_token` judges: a lookahead for each letter of it would be quadratic."""
_LONGEST_WORD = 32
"""Letters in a row; no language that programs speak in has a word of more."""
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]{16,}")
"""What a header says, or as much of it as somebody repeats."""
_NAMED = re.compile(r"(?i)\b(bearer|token|password|secret|code)(\s*[=:]\s*|\s+(?=\S*\d|\S{17}))\S+")
"""What is named a secret; after a blank only where it has a digit or is longer than what one says of a secret."""


def without_tokens(text: str) -> str:
    """A text of somebody else's program without all that looks like a token."""
    return _TOKEN.sub(lambda word: HIDDEN if _is_token(word[0]) else word[0], _NAMED.sub(rf"\1\2{HIDDEN}", text))


def _is_token(word: str) -> bool:
    """True if a long word is a token rather than a name: by its digits, its length, or capitals in no order."""
    if word.startswith("eyJ"):
        return True
    letters = [letter for letter in word if letter.isalpha()]
    capitals = sum(map(str.isupper, letters))
    is_mixed = 4 * min(capitals, len(letters) - capitals) >= len(letters) > 0
    return is_mixed or any(map(str.isdigit, word)) or (word.isalpha() and len(word) >= _LONGEST_WORD)


def is_secret_beside(word: str, answer: str) -> bool:
    """True if a word is also part of a secret answer."""
    bare = word.strip(".,;:'\"()")
    return len(bare) >= SHORTEST_SECRET and bare in answer


def without_secrets(text: str, config: ContextConfig, authorization: str = "") -> str:
    """The text without token, password, proxy password and the path of the server's address."""
    found = {secret for secret in _secrets(config, authorization) if len(secret) >= SHORTEST_SECRET}
    for secret in sorted(found, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _AUTHORIZATION.sub(rf"\1 {HIDDEN}", text)


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
