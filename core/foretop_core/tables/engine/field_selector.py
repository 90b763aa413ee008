"""kubectl's field selectors, on the fields of `-o json`: `phase=Failed,namespace!=team-pay`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from foretop_core.errors import BadInput
from foretop_core.tables.engine.jsonpath import JsonPath, parse_relaxed

_TERM = re.compile(r"([^=!]+)(==|!=|=)(.*)", re.DOTALL)
_SAME = {"metadata.name": "name", "metadata.namespace": "namespace", "status.phase": "phase"}
"""What kubectl calls a field that an item has under a shorter name."""


class FieldRequirement(msgspec.Struct, frozen=True):
    """One field, and the value that it must or must not have."""

    name: str
    path: JsonPath
    value: str
    negated: bool

    def keeps(self, item: Mapping[str, Any]) -> bool:
        shown = "" if self.path.values(item) == [None] else self.path.render(item)
        return (shown == self.value) is not self.negated


class FieldSelector(msgspec.Struct, frozen=True):
    """Several requirements; all must hold."""

    requirements: tuple[FieldRequirement, ...] = ()

    def keeps(self, item: Mapping[str, Any]) -> bool:
        return all(requirement.keeps(item) for requirement in self.requirements)

    def check(self, item: Mapping[str, Any]) -> None:
        """Refuses a field that the items do not have: it would keep nothing, without a word."""
        for requirement in self.requirements:
            if not requirement.path.values(item) and "unreadable" not in item:
                known = ", ".join(sorted(name for name, value in item.items() if not isinstance(value, dict | list)))
                raise BadInput(f"{requirement.name!r} is not a field here", "", f"the fields are {known}")


def parse_field_selector(text: str) -> FieldSelector:
    """Understands a selector, or says in one line what is wrong with it."""
    requirements = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = _TERM.fullmatch(part)
        if found is None:
            raise BadInput(f"Field selector {text!r} cannot be used", f"{part!r} is not FIELD=VALUE or FIELD!=VALUE")
        name = found[1].strip()
        path = parse_relaxed(_SAME.get(name, name))
        requirements.append(FieldRequirement(name, path, found[3].strip(), found[2] == "!="))
    return FieldSelector(tuple(requirements))
