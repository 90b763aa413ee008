"""Patterns of names in resource policies, as the library for them in Velero reads them."""

from __future__ import annotations

import re

_LONGEST = 253
"""No name of an object is longer, and what is longer takes long to compare."""
_LITERAL = r"[-a-zA-Z0-9._:]"
_READ = re.compile(
    rf"(?:{_LITERAL}|[*?]|\[!?[a-zA-Z0-9._]+\]|\[!?(?:[a-z]-[a-z]|[0-9]-[0-9])\]"
    rf"|\{{(?:{_LITERAL}|\?)+(?:,(?:{_LITERAL}|\?)+)*\}})*"
)
_RANGE = re.compile(r"\[!?(.)-(.)\]")
_NOT_IN_NAMESPACES = frozenset("|()!{},")


def is_read(pattern: str) -> bool:
    """True for the patterns that are known to be valid, and to mean the same here and there."""
    if len(pattern) > _LONGEST or not _READ.fullmatch(pattern):
        return False
    return all(first <= last for first, last in _RANGE.findall(pattern))


def namespace_fault(pattern: str) -> str:
    """Why Velero 1.18 takes a pattern of namespaces for invalid, in its own words; "" where it does not."""
    if not _NOT_IN_NAMESPACES.isdisjoint(pattern):
        return "wildcard pattern contains unsupported characters: |, (, ), !, {, }, ,"
    if "**" in pattern:
        return "wildcard pattern contains consecutive asterisks (only single * allowed)"
    rest = pattern
    while (match := re.search(r"[\[\]]", rest)) is not None:
        if match.group() == "]":
            return "wildcard pattern contains unmatched closing bracket ']'"
        end = rest.find("]", match.start())
        if end < 0:
            return "wildcard pattern contains unclosed bracket '['"
        if end == match.start() + 1:
            return "wildcard pattern contains empty bracket pattern '[]'"
        rest = rest[end + 1 :]
    return ""
