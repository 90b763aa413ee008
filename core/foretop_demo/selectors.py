"""Label and field selectors: parsed as kubectl writes them, matched on plain objects."""

from __future__ import annotations

import re
from typing import NamedTuple

from foretop_demo.kinds import Json, Kind
from foretop_demo.status import ApiError, bad_request

_SET = re.compile(r"^\s*([^\s=!,()]+)\s+(in|notin)\s*\(([^()]*)\)\s*$")
_PAIR = re.compile(r"^\s*([^\s=!,()]+)\s*(==|!=|=)\s*([^\s=!,()]*)\s*$")
_BOUND = re.compile(r"^\s*([^\s=!,()<>]+)\s*([<>])\s*(-?\d+)\s*$")
_EXISTS = re.compile(r"^\s*(!?)\s*([^\s=!,()]+)\s*$")
_LABEL_KEY = re.compile(r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)


class Requirement(NamedTuple):
    """One condition on a label or a field: its value is (not) one of these; None stands for absent.

    With a bound, the value must be a number above (`>`) or below (`<`) it.
    """

    key: str
    values: frozenset[str | None]
    wanted: bool
    bound: str = ""

    def accepts(self, value: str | None) -> bool:
        if self.bound:
            return value is not None and value.lstrip("-").isdecimal() and self._within(int(value))
        return (value in self.values) is self.wanted

    def _within(self, number: int) -> bool:
        limit = int(self.bound[1:])
        return number > limit if self.bound[0] == ">" else number < limit


class Selection(NamedTuple):
    """The objects that a list or a watch selects; the namespace "" means all namespaces."""

    namespace: str = ""
    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @property
    def filters(self) -> bool:
        return bool(self.labels or self.fields)

    def matches(self, body: Json) -> bool:
        meta = body["metadata"]
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        if self.labels:
            labels = meta.get("labels") or {}
            if not all(each.accepts(labels.get(each.key)) for each in self.labels):
                return False
        return all(each.accepts(field_value(body, each.key)) for each in self.fields)


def field_value(body: Json, path: str) -> str:
    here: object = body
    for part in path.split("."):
        here = here.get(part) if isinstance(here, dict) else None
    return here if isinstance(here, str) else ""


def selection(kind: Kind, namespace: str, labels: str, fields: str) -> Selection:
    """The selection in the query of a request; raises if it does not parse."""
    return Selection(namespace, parse_labels(labels), parse_fields(kind, fields))


def parse_labels(text: str) -> tuple[Requirement, ...]:
    return tuple(_label(part) for part in _split(text)) if text.strip() else ()


def _split(text: str) -> list[str]:
    """The parts between the commas outside parentheses."""
    return re.split(r",(?![^(]*\))", text)


def _label(part: str) -> Requirement:
    if found := _SET.match(part):
        values: frozenset[str | None] = frozenset(each.strip() for each in found[3].split(","))
        requirement = Requirement(found[1], values, found[2] == "in")
    elif found := _PAIR.match(part):
        requirement = Requirement(found[1], frozenset({found[3]}), found[2] != "!=")
    elif found := _BOUND.match(part):
        requirement = Requirement(found[1], frozenset(), True, found[2] + found[3])
    elif found := _EXISTS.match(part):
        requirement = Requirement(found[2], frozenset({None}), found[1] == "!")
    else:
        raise _unparsable(f"found {part.strip()!r}")
    if not _LABEL_KEY.match(requirement.key):
        raise _unparsable(f'<nil>: Invalid value: "{requirement.key}": not a label key')
    for value in requirement.values:
        if value and (len(value) > 63 or not _LABEL_VALUE.match(value)):
            raise _unparsable(f'values[0][{requirement.key}]: Invalid value: "{value}": not a label value')
    return requirement


def _unparsable(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")


def supported_fields(kind: Kind) -> tuple[str, ...]:
    own: dict[str, tuple[str, ...]] = {
        "Event": _EVENT_FIELDS,
        "Namespace": ("status.phase",),
        "Pod": ("status.phase", "spec.nodeName"),
    }
    return ("metadata.name", "metadata.namespace", *(own.get(kind.kind, ()) if not kind.custom else ()))


def parse_fields(kind: Kind, text: str) -> tuple[Requirement, ...]:
    found: list[Requirement] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        pieces = re.split(r"(==|!=|=)", part, maxsplit=1)
        if len(pieces) != 3:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        key, operator, value = (piece.strip() for piece in pieces)
        if key not in supported_fields(kind):
            raise bad_request(f"field label not supported: {key}")
        found.append(Requirement(key, frozenset({value}), operator != "!="))
    return tuple(found)
