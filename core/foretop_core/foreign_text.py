"""Text that is not foretop's own: shown and kept without secrets, and quoted where it stands in a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "[hidden]"
_AFTER_SCHEME = re.compile(r"(?:(?<=://)|(?<=:\\/\\/))(?:[^\s/@,]{1,300}@)?(?:[^\s\"'<>\\`]|\\/|\\u00(?:26|3[ce]))+")
"""An address from behind its scheme on, with the escapes of JSON as well; what cannot be read as one is repeated
because of the letters in its password."""
_PORT = re.compile(r"[^:]*|.*:\d*|\[.*")
"""The end of an authority without a user, or the beginning of one whose password has a slash."""
_AFTER_ADDRESS = ".,;:!)}"
_VALUE = (
    r"""\"(?:[^"\\]|\\.){1,2000}\"|\\*"[^"\\]{1,2000}\\*"|\\*'[^'\\]{1,2000}\\*'|"""
    r"""[^\s"'\\&,;<>{\[][^\s"'\\&,;<>]*|["'][^\s"'\\&,;<>]+"""
)
"""In quotes, with escapes in them, bare, or with a quote that nothing ends: errors are cut off."""
_AS_SECRETS_ARE = r"(?![a-z]{0,64}:(?:\s|$))\S{24}|(?=\S{6})(?=\S{0,64}\d)\S{0,64}[a-z]"
_ASSIGNED = re.compile(
    r"(?i)((?<![a-z])sig|(?<=%3f|%26)sig|signature|tokens?|passwords?|passwd|passphrase|(?<![a-z])(?:pwd|pass|pw|auth)|"
    r"secrets?|secret_?(?:key|id)|authorization|api[_-]?key|(?:access|account|private|encryption)[_-]?key(?:id)?|"
    r"credentials?|cookie|session_?id)"
    rf"(\s*(?:=>|==|:=|=)\s*|%3d|\\*[\"']\s*[:=]\s*|\s*:\s*(?=\\{{0,7}}[\"']|{_AS_SECRETS_ARE})|"
    rf"(?:(?<=password)|(?<=passphrase))\s+(?=\\{{0,7}}[\"']))({_VALUE})"
)
"""`password="two words"`, `sig=abc`, `"access_token": "abc"`, with the escapes of a text in JSON as well.

After a colon a bare word is one only where it has digits and letters, or is longer than what one says of a secret; the
name of an error, with its own colon, is none.
"""
_AUTHORIZATION = re.compile(
    r"(?i)\b(bearer|basic) +[\w.~+/=-]{16,}|(?<=authorization)(\W{1,6}(?:bearer|basic|token|negotiate)) +[\w.~+/=-]+"
)
"""What a header says, or as much of it as somebody repeats."""
_FLAG = re.compile(r"(?<![\w-])(--[a-z-]{0,40}(?:password|token|secret|secret-key|access-key)) +(?![-\s])([^\s\"']+)")
_JWT = re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_NAMED = re.compile(rf"(?i)\b(bearer|token|password|passwd|secret|code)(\s*[=:]\s*|\s+(?=\S*\d|\S{{17}}))({_VALUE})")
"""What is named a secret; after a blank only where it has a digit or is longer than what one says of a secret."""
_TOKEN = re.compile(r"eyJ[\w-]{8,}[\w.-]*|[\w+=-]{24,}")
"""A JWT, or a long word, which `_is_token` judges: a lookahead for each letter of it would be quadratic."""
_LONGEST_WORD = 32
"""Letters in a row; no language that programs speak in has a word of more."""
LONGEST_QUOTE = 400
"""Characters of somebody else's words within a sentence; the object itself has all of them."""
_SIGNS = re.compile("[\u2016\u21ba\u2300-\u23ff\u2500-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f300-\U0001faff]")
"""Lines, blocks, shapes, ticks and pictures: foretop tells states by them. Arrows and dots tell none."""
_FOLLOWING = '": "a b" \'c\''
"""As a sentence may go on behind a quotation."""
_NAME = re.compile(r"[\w.:/@+-]{1,253}", re.ASCII)


def redacted(text: str) -> str:
    """The text without user, query and fragment of addresses, and without the values of what is named a secret."""
    if "://" in text or ":\\/\\/" in text:
        text = _AFTER_SCHEME.sub(lambda found: _bare_address(found[0]), text)
    if "=" in text or ":" in text or '"' in text or "'" in text or "%3" in text:
        text = _ASSIGNED.sub(lambda found: f"{found[1]}{found[2]}{_hidden(found[3])}", text)
    if "earer " in text or "asic " in text or "uthorization" in text or "EARER " in text:
        text = _AUTHORIZATION.sub(lambda found: f"{found[1] or found[2]} {HIDDEN}", text)
    if "--" in text:
        text = _FLAG.sub(lambda found: f"{found[1]} {HIDDEN}", text)
    if "eyJ" in text:
        text = _JWT.sub(HIDDEN, text)
    if "PRIVATE KEY" in text:
        text = _PRIVATE_KEY.sub(HIDDEN, text)
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
    if "@" in path and not _PORT.fullmatch(authority):
        # What reads as a port is the beginning of a password with a slash in it.
        before, _, path = bare.rpartition("@")
        authority, slash, path = f"{before}@{path.partition('/')[0]}", *path.partition("/")[1:]
    # A password may have any character.
    _, at, host = authority.rpartition("@")
    place, *rest = re.split("([?#])", f"{host}{slash}{path}", maxsplit=1)
    query = f"{rest[0]}{HIDDEN}" if rest else ""
    return f"{HIDDEN if at else ''}{at}{place}{query}{address[len(bare) :]}"


def _hidden(value: str) -> str:
    """In the quotes that the value has; what is true, false or null is a setting and no secret."""
    if value in ("true", "false", "null"):
        return value
    quote = re.match(r"\\*[\"']", value)
    return f"{quote[0]}{HIDDEN}{quote[0]}" if quote else HIDDEN


def _is_token(word: str) -> bool:
    """True if a long word is a token rather than a name: by its digits, its length, or capitals in no order."""
    if word.startswith("eyJ"):
        return True
    letters = [letter for letter in word if letter.isalpha()]
    capitals = sum(map(str.isupper, letters))
    is_mixed = 4 * min(capitals, len(letters) - capitals) >= len(letters) > 0
    return is_mixed or any(map(str.isdigit, word)) or (word.isalpha() and len(word) >= _LONGEST_WORD)


def without_signs(text: str) -> str:
    """The text with every sign that could be foretop's own spelt out, as `\\u2713`."""
    return text if text.isascii() else _SIGNS.sub(_spelt_out, text)


def quoted(text: str) -> str:
    """Somebody else's words for a sentence, in one line and in quotation marks that nothing in them ends.

    Without secrets, and with an end of its own where a value would begin: what follows is not taken for one.
    """
    line = without_signs(" ".join(redacted(text[: 2 * LONGEST_QUOTE]).split())).replace('"', "'")
    short = line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1]
    followed = f"{short}{_FOLLOWING}"
    if redacted(followed) != followed:
        short = short.replace("'", "’").rstrip(" \\’")
    elif short is line:
        return f'"{line}"'
    return f'"{short}…"'


def named(text: str) -> str:
    """A name that an object gives for another: as it is, and in quotation marks where it is none."""
    return text if _NAME.fullmatch(text) else quoted(text)


def _spelt_out(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
