"""What `velero ... describe` and `foretop describe` print, as fields."""

from __future__ import annotations

import re

_SECTION = re.compile(r"([A-Z][\w() -]+):")
_FIELD = re.compile(r"(\s*)([A-Z][\w() -]+):\s+(\S.*)")
_FORETOP_FIELD = re.compile(r"([A-Za-z]+(?: [a-z]+){0,2}) +(\S.*)")
_GO_DURATION = re.compile(r".*\((\S+)\)")
_VELERO_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+0000 UTC")


def velero_description(text: str) -> dict[str, str]:
    """The `Key:  value` lines; a line below `Section:` is `Section/Key`, and the list of resources is left out."""
    found: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        if match := _SECTION.fullmatch(line):
            section = match[1]
        elif (match := _FIELD.fullmatch(line)) and (section != "Resource List" or not match[1]):
            section = section if match[1] else ""
            found[f"{section}/{match[2]}" if section else match[2]] = match[3].strip()
    return found


def foretop_description(text: str) -> dict[str, str]:
    """The `Label  text` lines; of a label that comes twice, the last."""
    return {match[1]: match[2] for line in text.splitlines() if (match := _FORETOP_FIELD.fullmatch(line))}


def as_rfc_3339(value: str) -> str:
    """A time as Velero prints it, as foretop does; anything else as it is."""
    match = _VELERO_TIME.fullmatch(value)
    return f"{match[1]}T{match[2]}Z" if match else value


def as_go_duration(value: str) -> str:
    """A length as foretop prints it, `4 hours (4h0m0s)`, as Velero does."""
    match = _GO_DURATION.fullmatch(value)
    return match[1] if match else value
