"""The parts of Go's standard library that decide what parses and how an error reads."""

from __future__ import annotations

import re

_MAX_INT64 = 2**63 - 1
_MAX_UINT64 = 2**64 - 1
_DIGITS = re.compile(r"[0-9]*")
# Python also treats the four separators \x1c-\x1f as blanks; Go does not.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_NOT_BLANK = re.compile(f"[^{_BLANKS}]+")
_ONLY_PYTHON_BLANK = re.compile("[\x1c-\x1f]")
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_LONGEST_DURATION = 4096
_LEADING_NUMBER = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?")
_UNIT = re.compile(r"[^.0-9]*")


class GoError(Exception):
    """The text of a Go error."""


def fields(text: str) -> list[str]:
    """Split as `strings.Fields` does."""
    if _ONLY_PYTHON_BLANK.search(text):
        return _NOT_BLANK.findall(text)
    return text.split()


def field_offsets(text: str) -> list[int]:
    """The offset of each of `fields(text)`."""
    return [match.start() for match in _NOT_BLANK.finditer(text)]


def trim(text: str) -> str:
    """Remove blanks from both ends as `strings.TrimSpace` does."""
    spans = [match.span() for match in _NOT_BLANK.finditer(text)]
    return text[spans[0][0] : spans[-1][1]] if spans else ""


def lower(text: str) -> str:
    """Lower case rune by rune: the dotted capital I is the one letter that Python lowers differently."""
    return text.replace("\u0130", "i").lower()


def atoi(text: str) -> int:
    """`strconv.Atoi` on a 64-bit machine."""
    if text.isdigit() and text.isascii() and len(text) < 19:
        return int(text)
    sign = text[:1] if text[:1] in ("+", "-") else ""
    digits = _DIGITS.findall(text, len(sign))[0]
    # The input may be of any length, and more than twenty digits are too large whatever they are.
    value = int(digits.lstrip("0")[:21] or "0")
    # Go reads digit by digit, so it reports a number that is too large before a wrong character behind it.
    if value <= _MAX_UINT64 and (not digits or len(sign) + len(digits) < len(text)):
        raise GoError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if value > _MAX_INT64 + (sign == "-"):
        raise GoError(f"strconv.Atoi: parsing {quote(text)}: value out of range")
    return -value if sign == "-" else value


def length(text: str) -> int:
    """`len`, which counts bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def quote(text: str) -> str:
    """`strconv.Quote`."""
    return '"' + "".join(map(_quoted, text)) + '"'


def quote_rune(char: str) -> str:
    """`strconv.QuoteRune`."""
    quoted = {"'": "\\'", '"': '"'}.get(char) or _quoted(char)
    return f"'{quoted}'"


def _quoted(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable():
        return char
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if char.isascii():
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def parse_duration(text: str) -> int:
    """`time.ParseDuration`, in nanoseconds; one of thousands of characters is not looked at."""
    if len(text) > _LONGEST_DURATION:
        raise _bad_duration("too long for a duration", f"{text[:40]}...")
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    if not rest:
        raise _bad_duration("invalid duration", text)
    total = 0
    while rest:
        value, rest = _leading_term(rest, text)
        # Two halves of the range wrap to zero in Go's unsigned sum, and also here.
        total = (total + value) % 2**64
        if total > 2**63:
            raise _bad_duration("invalid duration", text)
    if negative:
        return -total
    if total > _MAX_INT64:
        raise _bad_duration("invalid duration", text)
    return total


def _leading_term(rest: str, whole: str) -> tuple[int, str]:
    """The first term, such as `12.5h`: its nanoseconds and the rest of the text."""
    number = _LEADING_NUMBER.match(rest)
    if number is None or not (number[1] or number[3]):
        raise _bad_duration("invalid duration", whole)
    # As in `atoi`: twenty digits are too large whatever they are.
    whole_units = int(number[1].lstrip("0")[:20] or "0")
    if whole_units > 2**63:
        raise _bad_duration("invalid duration", whole)
    rest = rest[number.end() :]
    unit_found = _UNIT.match(rest)
    unit_text = unit_found[0] if unit_found else ""
    if not unit_text:
        raise _bad_duration("missing unit in duration", whole)
    unit = _UNITS.get(unit_text)
    if unit is None:
        raise _bad_duration(f"unknown unit {_quote_time(unit_text)} in duration", whole)
    value = whole_units * unit + _fraction(number[3] or "", unit)
    if value > 2**63:
        raise _bad_duration("invalid duration", whole)
    return value, rest[len(unit_text) :]


def _fraction(digits: str, unit: int) -> int:
    """The nanoseconds after the point, in floating point as in Go; digits that overflow are dropped."""
    value, scale = 0, 1.0
    for digit in digits:
        longer = value * 10 + int(digit)
        if value > _MAX_INT64 // 10 or longer > 2**63:
            break
        value, scale = longer, scale * 10
    return int(float(value) * (float(unit) / scale))


def _bad_duration(what: str, text: str) -> GoError:
    return GoError(f"time: {what} {_quote_time(text)}")


def _quote_time(text: str) -> str:
    """The quoting of package time: every byte that is not plain ASCII in hexadecimal."""
    return '"' + "".join(map(_quoted_for_time, text)) + '"'


def _quoted_for_time(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if " " <= char < "\x80":
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
