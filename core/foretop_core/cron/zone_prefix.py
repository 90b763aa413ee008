"""The zone before the fields, `TZ=` or `CRON_TZ=`, as each library parses it."""

from __future__ import annotations

from datetime import tzinfo

from foretop_core.cron import go_compat, zones
from foretop_core.cron.errors import CronError

NAMES = ("TZ=", "CRON_TZ=")

_LONGEST_NAME = 64
_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_-+:")


def parse_robfig_prefix(text: str) -> tuple[tzinfo | None, str]:
    """The zone, up to the first space, and the rest."""
    begin = text.index("=") + 1
    name, space, rest = text[begin:].partition(" ")
    if not space:
        # The library slices without a check; Velero catches the panic and reports its message.
        raise CronError("runtime error: slice bounds out of range [:-1]", offset=begin)
    try:
        zone = zones.load(name)
    except go_compat.GoError as error:
        raise CronError(f"provided bad location {name}: {error}", offset=begin) from error
    return zone, go_compat.trim(rest)


def parse_netresearch_prefix(text: str) -> tuple[tzinfo | None, str]:
    """The zone, which may be quoted, and the rest, which must not be empty."""
    begin = text.index("=") + 1
    written, space, fields = text[begin:].partition(" ")
    if not space:
        raise CronError(f"missing fields after timezone in spec {go_compat.quote(text)}", offset=begin)
    name = _without_quotes(written)
    if problem := _name_error(name):
        raise CronError(f"invalid timezone {go_compat.quote(name)}: {problem}", offset=begin)
    try:
        zone = zones.load(name)
    except go_compat.GoError as error:
        raise CronError(f"unknown time zone {go_compat.quote(name)}: {error}", offset=begin) from error
    rest = go_compat.trim(fields)
    if not rest:
        raise CronError(f"missing fields after timezone {go_compat.quote(name)}", offset=begin)
    return zone, rest


def _without_quotes(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'"
    return name[1:-1] if quoted else name


def _name_error(name: str) -> str:
    if not name:
        return "empty timezone string"
    if go_compat.length(name) > _LONGEST_NAME:
        return f"timezone string too long (max {_LONGEST_NAME} chars)"
    for place, char in enumerate(name):
        if char not in _NAME_CHARACTERS:
            position = go_compat.length(name[:place])
            return f"invalid character {go_compat.quote_rune(char)} at position {position} in timezone"
    return ""
