"""Label selectors as kubectl takes them with `-l`."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from foretop_core.errors import BadInput

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_REQUIREMENT = re.compile(
    rf"""\s*(?:
      (?P<without>!)\s*(?P<absent>{_NAME})
    | (?P<key>{_NAME})
      (?:
        \s*(?P<relation>==|=|!=)\s*(?P<value>{_VALUE})
      | \s+(?P<membership>in|notin)\s*\(\s*(?P<values>{_VALUE}(?:\s*,\s*{_VALUE})*)\s*\)
      | \s*(?P<comparison>[<>])\s*(?P<number>-?\d+)
      )?
    )""",
    re.VERBOSE,
)
_COMMA = re.compile(r"\s*,")
_HINT = "as in app=web,tier!=db,env in (a, b),!canary"


class LabelRequirement(msgspec.Struct, frozen=True):
    """One part of a selector; `values` is empty where only the presence of the key counts."""

    key: str
    values: frozenset[str] = frozenset()
    negated: bool = False
    greater_than: int | None = None
    less_than: int | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if self.greater_than is not None or self.less_than is not None:
            return value is not None and self._compares(value)
        if not self.values:
            return (value is not None) != self.negated
        return (value in self.values) != self.negated

    def _compares(self, held: str) -> bool:
        if not re.fullmatch(r"-?\d+", held):
            return False
        number = int(held)
        return number > self.greater_than if self.greater_than is not None else number < (self.less_than or 0)


class LabelSelector(msgspec.Struct, frozen=True):
    requirements: tuple[LabelRequirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        for requirement in self.requirements:  # noqa: SIM110 - `all` costs a generator for every row
            if not requirement.matches(labels):
                return False
        return True


def selector(text: str) -> LabelSelector:
    """A whole text as a selector; an empty one takes everything."""
    if not text.strip():
        return LabelSelector(())
    label_selector, end = take(text, 0)
    if text[end:].strip():
        raise BadInput(f"Label selector {text.strip()!r} cannot be read", f"{text[end:].strip()!r} is not valid", _HINT)
    return label_selector


def take(text: str, start: int) -> tuple[LabelSelector, int]:
    """The longest selector that begins at `start`, and where it ends."""
    requirements: list[LabelRequirement] = []
    index = start
    while True:
        match = _REQUIREMENT.match(text, index)
        if match is None:
            shown = text[start:].strip() or text.strip()
            raise BadInput(f"Label selector {shown!r} cannot be read", "a label is missing", _HINT)
        requirements.append(_requirement(match))
        index = match.end()
        comma = _COMMA.match(text, index)
        if comma is None:
            return LabelSelector(tuple(requirements)), index
        index = comma.end()


def _requirement(found: re.Match[str]) -> LabelRequirement:
    if found["without"]:
        return LabelRequirement(found["absent"], negated=True)
    if found["relation"]:
        return LabelRequirement(found["key"], frozenset({found["value"]}), negated=found["relation"] == "!=")
    if found["membership"]:
        values = frozenset(part.strip() for part in found["values"].split(","))
        return LabelRequirement(found["key"], values, negated=found["membership"] == "notin")
    if found["comparison"]:
        number = int(found["number"])
        if found["comparison"] == ">":
            return LabelRequirement(found["key"], greater_than=number)
        return LabelRequirement(found["key"], less_than=number)
    return LabelRequirement(found["key"])
