"""Pruning, defaulting and validation of objects by a structural schema.

Only the keywords that the shipped definitions use are supported: type, nullable, properties, additionalProperties,
items, required, enum, pattern, format date-time, minimum, minLength, maxLength, minItems, default and the markers for
open objects and int-or-string. Each works as in a CustomResourceDefinition.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from foretop_demo.kinds import Json
from foretop_demo.status import Cause

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
IDENTITY = frozenset({"apiVersion", "kind", "metadata"})


def shape_object(body: Json, schema: Json, old: Json | None = None) -> tuple[Json, list[str]]:
    """The object with unknown fields pruned and defaults filled in, and the pruned paths.

    Parts shared with the previous version were shaped before and are skipped.
    """
    dropped: list[str] = []
    known: Json = schema.get("properties", {})
    shaped: Json = {}
    for key, value in body.items():
        if key in IDENTITY or _is_shared(key, value, old):
            shaped[key] = value
        elif key not in known:
            dropped.append(key)
        elif value is not None:
            shaped[key] = _shape(value, known[key], key, dropped)
    return shaped, dropped


def _is_shared(key: str, value: Any, old: Json | None) -> bool:
    return old is not None and old.get(key) is value


def _shape(value: Any, schema: Json, path: str, dropped: list[str]) -> Any:
    if isinstance(value, dict):
        return _shape_map(value, schema, path, dropped)
    items = schema.get("items")
    if isinstance(value, list) and items is not None:
        return [_shape(each, items, f"{path}[{index}]", dropped) for index, each in enumerate(value)]
    return value


def _shape_map(value: Json, schema: Json, path: str, dropped: list[str]) -> Json:
    known: Json = schema.get("properties", {})
    extra = schema.get("additionalProperties")
    keep = schema.get("x-kubernetes-preserve-unknown-fields", False) or (extra is True)
    shaped: Json = {}
    for key, each in value.items():
        place = f"{path}.{key}" if path else key
        child = known.get(key, extra if isinstance(extra, dict) else None)
        if child is not None:
            if each is None and not child.get("nullable"):
                continue
            shaped[key] = _shape(each, child, place, dropped)
        elif keep:
            shaped[key] = each
        else:
            dropped.append(place)
    for key, child in known.items():
        if "default" in child and key not in shaped:
            shaped[key] = child["default"]
    return shaped


def check_object(body: Json, schema: Json, old: Json | None = None) -> list[Cause]:
    """All schema violations in the parts of an object that it does not share with the previous version."""
    causes: list[Cause] = []
    for key, child in sorted(schema.get("properties", {}).items()):
        if key in body and key not in IDENTITY and not _is_shared(key, body[key], old):
            _check(body[key], child, key, causes)
    return causes + [_required(key) for key in schema.get("required", ()) if key not in body]


def check_status(body: Json, schema: Json) -> list[Cause]:
    """The same for a write of the status only: messages name its fields without the leading `status`."""
    causes: list[Cause] = []
    if "status" in body and "status" in schema.get("properties", {}):
        _check(body["status"], schema["properties"]["status"], "", causes)
    return [cause._replace(field=f"status.{cause.field}".rstrip(".")) for cause in causes]


def _required(path: str) -> Cause:
    return Cause("FieldValueRequired", path, "Required value")


def _check(value: Any, schema: Json, path: str, causes: list[Cause]) -> None:
    if value is None and schema.get("nullable"):
        return
    if not _type_fits(value, schema):
        found = _type_name(value)
        causes.append(_type_cause(path, schema.get("type", ""), found))
        return
    if isinstance(value, dict):
        _check_map(value, schema, path, causes)
    elif isinstance(value, list):
        _check_list(value, schema, path, causes)
    elif isinstance(value, str):
        _check_text(value, schema, path, causes)
    elif "minimum" in schema and not isinstance(value, bool) and value < schema["minimum"]:
        limit = schema["minimum"]
        causes.append(_bad(path, value, f"should be greater than or equal to {limit}"))
    if "enum" in schema and value not in schema["enum"]:
        known = ", ".join(quote(each) for each in schema["enum"])
        message = f"Unsupported value: {quote(value)}: supported values: {known}"
        causes.append(Cause("FieldValueNotSupported", path, message))


def _type_fits(value: Any, schema: Json) -> bool:
    if schema.get("x-kubernetes-int-or-string"):
        return isinstance(value, int | str) and not isinstance(value, bool)
    wanted = _TYPES.get(schema.get("type", ""))
    if wanted is None:
        return True
    if isinstance(value, bool):
        return wanted == (bool,)
    if isinstance(value, float) and wanted == (int,):
        return value.is_integer()
    return isinstance(value, wanted)


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "number"
    return next(name for name, types in _TYPES.items() if isinstance(value, types))


def _type_cause(path: str, wanted: str, found: str) -> Cause:
    message = f'Invalid value: "{found}": {path} in body must be of type {wanted}: "{found}"'
    return Cause("FieldValueTypeInvalid", path, message)


def _check_map(value: Json, schema: Json, path: str, causes: list[Cause]) -> None:
    known: Json = schema.get("properties", {})
    extra = schema.get("additionalProperties")
    prefix = f"{path}." if path else ""
    for key, each in sorted(value.items()):
        child = known.get(key, extra if isinstance(extra, dict) else None)
        if child is not None:
            _check(each, child, f"{prefix}{key}", causes)
    for key in schema.get("required", ()):
        if key not in value:
            causes.append(_required(f"{prefix}{key}"))


def _check_list(value: list[Any], schema: Json, path: str, causes: list[Cause]) -> None:
    if len(value) < schema.get("minItems", 0):
        causes.append(_bad(path, len(value), f"should have at least {schema['minItems']} items"))
    if items := schema.get("items"):
        for index, each in enumerate(value):
            _check(each, items, f"{path}[{index}]", causes)


def _check_text(value: str, schema: Json, path: str, causes: list[Cause]) -> None:
    if len(value) < schema.get("minLength", 0):
        causes.append(_bad(path, value, f"should be at least {schema['minLength']} chars long"))
    elif len(value) > schema.get("maxLength", len(value)):
        message = f"Too long: may not be more than {schema['maxLength']} bytes"
        causes.append(Cause("FieldValueTooLong", path, message))
    elif (pattern := schema.get("pattern")) and not _compiled(pattern).search(value):
        causes.append(_bad(path, value, f"should match '{pattern}'"))
    if schema.get("format") == "date-time" and not is_time(value):
        message = f'Invalid value: "{value}": {path} in body must be of type date-time: "{value}"'
        causes.append(Cause("FieldValueTypeInvalid", path, message))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _bad(path: str, value: Any, what: str) -> Cause:
    return Cause("FieldValueInvalid", path, f"Invalid value: {quote(value)}: {path} in body {what}")


def quote(value: Any) -> str:
    """A value as error messages show it."""
    return msgspec.json.encode(value).decode()
