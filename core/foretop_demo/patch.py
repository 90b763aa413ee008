"""The three patch formats: merge (RFC 7396), JSON patch (RFC 6902) and the strategic merge of built-in kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foretop_demo.kinds import Json
from foretop_demo.status import bad_request, patch_refused

_MERGE_KEYS: Mapping[str, str] = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "conditions": "type",
    "ownerReferences": "uid",
}
_PRIMITIVE_SETS = frozenset({"finalizers"})


def merge(target: Any, change: Any) -> Any:
    """RFC 7396: null removes, objects merge, everything else replaces. The target is not modified."""
    if not isinstance(change, dict):
        return change
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic_merge(target: Json, change: Json) -> Json:
    """Merge, but lists with a merge key are merged by it; `$patch` may replace or delete."""
    if change.get("$patch") == "replace":
        return {key: value for key, value in change.items() if key != "$patch"}
    result = dict(target)
    for key, value in change.items():
        name = key.rpartition("/")[2]
        if key == "$patch" or key.startswith(("$setElementOrder/", "$retainKeys")):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            result[name] = [each for each in result.get(name) or [] if each not in (value or [])]
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _strategic_value(key, result.get(key), value)
    return result


def _strategic_value(key: str, old: Any, new: Any) -> Any:
    if isinstance(new, dict):
        return strategic_merge(old if isinstance(old, dict) else {}, new)
    if key in _MERGE_KEYS and _is_object_list(new) and _is_object_list(old or []):
        return _merge_list(old or [], new, _MERGE_KEYS[key])
    if key in _PRIMITIVE_SETS and isinstance(new, list) and isinstance(old, list):
        return [*old, *(each for each in new if each not in old)]
    return new


def _is_object_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _merge_list(old: list[Json], new: list[Json], key: str) -> list[Json]:
    result = list(old)
    for change in new:
        if change.get("$patch") == "replace":
            return [each for each in new if "$patch" not in each]
        at = next((i for i, each in enumerate(result) if each.get(key) == change.get(key)), None)
        if change.get("$patch") == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(strategic_merge({}, change))
        else:
            result[at] = strategic_merge(result[at], change)
    return result


def json_patch(target: Json, operations: Any) -> Json:
    """RFC 6902, but `replace` also adds a missing member, as the real server's does.

    One invalid operation refuses the whole patch.
    """
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise bad_request("error decoding patch: a JSON patch is a list of operations")
    document: Any = target
    for operation in operations:
        try:
            document = _apply(document, operation)
        except (KeyError, IndexError, ValueError, TypeError):
            raise patch_refused() from None
    if not isinstance(document, dict):
        raise patch_refused()
    return document


def _apply(document: Any, operation: Json) -> Any:
    name, path = operation["op"], _pointer(operation["path"])
    if name in ("add", "replace"):
        return _edit(document, path, name, operation["value"])
    if name == "remove":
        return _edit(document, path, "remove", None)
    if name == "test":
        if _read(document, path, missing=None) != operation.get("value"):
            raise ValueError(path)
        return document
    source = _pointer(operation["from"])
    value = _read(document, source)
    if name == "copy":
        return _edit(document, path, "add", value)
    if name == "move":
        return _edit(_edit(document, source, "remove", None), path, "add", value)
    raise ValueError(name)


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise ValueError(text)
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


_RAISE = object()


def _read(document: Any, path: list[str], missing: Any = _RAISE) -> Any:
    here = document
    try:
        for part in path:
            here = here[_index(here, part)] if isinstance(here, list) else here[part]
    except (KeyError, IndexError):
        if missing is _RAISE:
            raise
        return missing
    return here


def _index(items: list[Any], part: str) -> int:
    number = int(part)
    if not 0 <= number < len(items):
        raise IndexError(part)
    return number


def _edit(document: Any, path: list[str], how: str, value: Any) -> Any:
    """A copy of the document with one path changed; everything beside the path is shared."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(document, list):
        return _edit_list(document, part, rest, how, value)
    if not isinstance(document, dict):
        raise TypeError(part)
    result = dict(document)
    if rest:
        result[part] = _edit(document[part], rest, how, value)
    elif how == "remove":
        del result[part]
    else:
        result[part] = value
    return result


def _edit_list(items: list[Any], part: str, rest: list[str], how: str, value: Any) -> list[Any]:
    result = list(items)
    if rest:
        at = _index(items, part)
        result[at] = _edit(items[at], rest, how, value)
    elif how == "add":
        at = len(items) if part == "-" else int(part)
        if not 0 <= at <= len(items):
            raise IndexError(part)
        result.insert(at, value)
    elif how == "remove":
        del result[_index(items, part)]
    else:
        result[_index(items, part)] = value
    return result
