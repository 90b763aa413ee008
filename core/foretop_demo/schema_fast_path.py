"""A quick check whether an object matches its schema so well that nothing is left to prune, default or refuse.

Nearly every write does. A schema is compiled into a function once; only if that returns False do pruning,
defaulting and validation go through the object path by path, to report what and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from foretop_demo.kinds import Json, Kind
from foretop_demo.schema import IDENTITY, is_time

Fits = Callable[[Any], bool]

_NUMBERS: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


def is_fit(kind: Kind, body: Json, old: Json | None) -> bool:
    """True if nothing would be pruned, defaulted or refused; parts shared with the previous version are skipped."""
    parts, required = _compiled(kind)
    for key, value in body.items():
        if key in IDENTITY or (old is not None and old.get(key) is value):
            continue
        fits = parts.get(key)
        if fits is None or not fits(value):
            return False
    return all(key in body for key in required)


@lru_cache(maxsize=256)
def _compiled(kind: Kind) -> tuple[dict[str, Fits], tuple[str, ...]]:
    properties: Json = kind.schema.get("properties", {})
    return {name: _compile(child) for name, child in properties.items()}, tuple(kind.schema.get("required", ()))


def _compile(schema: Json) -> Fits:
    fits = _for_type(schema)
    if "enum" in schema:
        fits = _with_enum(fits, schema["enum"])
    return _or_null(fits) if schema.get("nullable") else fits


def _for_type(schema: Json) -> Fits:
    if schema.get("x-kubernetes-int-or-string"):
        return lambda value: type(value) in (int, str)
    match schema.get("type", ""):
        case "object":
            return _object(schema)
        case "array":
            return _array(schema)
        case "string":
            return _text(schema)
        case "":
            return lambda value: value is not None
        case name:
            return _number(_NUMBERS[name], schema.get("minimum"))


def _or_null(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _with_enum(fits: Fits, known: list[Any]) -> Fits:
    return lambda value: value in known and fits(value)


def _number(types: tuple[type, ...], minimum: float | None) -> Fits:
    return lambda value: type(value) in types and (minimum is None or value >= minimum)


def _object(schema: Json) -> Fits:
    known: Json = schema.get("properties", {})
    children = {name: _compile(child) for name, child in known.items()}
    needed = {*schema.get("required", ()), *(name for name, child in known.items() if "default" in child)}
    extra = schema.get("additionalProperties")
    others = _compile(extra) if isinstance(extra, dict) else None
    keeps = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or extra is True

    def fits(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for key, each in value.items():
            child = children.get(key, others)
            if child is None:
                if not keeps:
                    return False
            elif not child(each):
                return False
        return not needed or needed <= value.keys()

    return fits


def _array(schema: Json) -> Fits:
    items = _compile(schema["items"]) if "items" in schema else None
    least = schema.get("minItems", 0)

    def fits(value: Any) -> bool:
        if type(value) is not list or len(value) < least:
            return False
        return items is None or all(map(items, value))

    return fits


def _text(schema: Json) -> Fits:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    pattern = re.compile(schema["pattern"]) if "pattern" in schema else None
    timed = schema.get("format") == "date-time"
    if not least and most is None and pattern is None and not timed:
        return lambda value: type(value) is str

    def fits(value: Any) -> bool:
        return (
            type(value) is str
            and least <= len(value)
            and (most is None or len(value) <= most)
            and (pattern is None or pattern.search(value) is not None)
            and (not timed or is_time(value))
        )

    return fits
