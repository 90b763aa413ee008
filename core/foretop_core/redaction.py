"""Secrets taken out of text that is not foretop's own, wherever it is shown or kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "[hidden]"
_AFTER_SCHEME = re.compile(r"(?<=://)[^\s\"'<>\\`]+")
"""An address from behind its scheme on."""
_AFTER_ADDRESS = ".,;:!)}"
_VALUE = r"""\\?"[^"\\]{1,300}\\?"|\\?'[^'\\]{1,300}\\?'|[^\s"'\\&,;<>{\[][^\s"'\\&,;<>]*"""
_ASSIGNED = re.compile(
    r"(?i)((?<![a-z])sig|signature|token|password|passwd|secret|authorization|api_?key|access_?key(?:id)?)"
    rf"(\s*=\s*|\\?[\"']\s*[:=]\s*|\s*:\s*(?=\\?[\"']))({_VALUE})"
)
"""`password="two words"`, `sig=abc`, `"access_token": "abc"`, with the escapes of a text in JSON as well."""
_AUTHORIZATION = re.compile(r"(?i)\b(bearer|basic) +[\w.~+/=-]{16,}")
"""What a header says, or as much of it as somebody repeats."""
_NAMED = re.compile(rf"(?i)\b(bearer|token|password|passwd|secret|code)(\s*[=:]\s*|\s+(?=\S*\d|\S{{17}}))({_VALUE})")
"""What is named a secret; after a blank only where it has a digit or is longer than what one says of a secret."""
_TOKEN = re.compile(r"eyJ[\w-]{8,}[\w.-]*|[\w+=-]{24,}")
"""A JWT, or a long word, which `_is_token` judges: a lookahead for each letter of it would be quadratic."""
_LONGEST_WORD = 32
"""Letters in a row; no language that programs speak in has a word of more."""


def redacted(text: str) -> str:
    """The text without user, query and fragment of addresses, and without the values of what is named a secret."""
    if "://" in text:
        text = _AFTER_SCHEME.sub(lambda found: _bare_address(found[0]), text)
    if "=" in text or '"' in text or "'" in text:
        text = _ASSIGNED.sub(lambda found: f"{found[1]}{found[2]}{_hidden(found[3])}", text)
    if "earer " in text or "asic " in text:
        text = _AUTHORIZATION.sub(rf"\1 {HIDDEN}", text)
    return text


def redacted_values(value: Any) -> Any:
    """The same for every text in a value that is written as JSON; its keys stay."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {key: redacted_values(part) for key, part in value.items()}
    return [redacted_values(part) for part in value] if isinstance(value, list | tuple) else value


def without_tokens(text: str) -> str:
    """A text of somebody else's program without all that looks like a token; it may take out a long name as well."""
    text = _NAMED.sub(lambda found: f"{found[1]}{found[2]}{_hidden(found[3])}", redacted(text))
    return _TOKEN.sub(lambda word: HIDDEN if _is_token(word[0]) else word[0], text)


def _bare_address(address: str) -> str:
    bare = address.rstrip(_AFTER_ADDRESS)
    authority, slash, path = bare.partition("/")
    # A password may have any character.
    _, at, host = authority.rpartition("@")
    place, *rest = re.split("([?#])", f"{host}{slash}{path}", maxsplit=1)
    query = f"{rest[0]}{HIDDEN}" if rest else ""
    return f"{HIDDEN if at else ''}{at}{place}{query}{address[len(bare) :]}"


def _hidden(value: str) -> str:
    """In the quotes that the value has."""
    quote = re.match(r"\\?[\"']", value)
    return f"{quote[0]}{HIDDEN}{quote[0]}" if quote else HIDDEN


def _is_token(word: str) -> bool:
    """True if a long word is a token rather than a name: by its digits, its length, or capitals in no order."""
    if word.startswith("eyJ"):
        return True
    letters = [letter for letter in word if letter.isalpha()]
    capitals = sum(map(str.isupper, letters))
    is_mixed = 4 * min(capitals, len(letters) - capitals) >= len(letters) > 0
    return is_mixed or any(map(str.isdigit, word)) or (word.isalpha() and len(word) >= _LONGEST_WORD)
