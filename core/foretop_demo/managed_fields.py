"""The managedFields list of an object, kept for plain updates as a real server keeps it.

A manager owns what it set or changed last. Lists are owned as a whole, except finalizers and owner references.
"""

from __future__ import annotations

from typing import Any

from foretop_demo.kinds import Json, Kind

_ABSENT = object()
_UNOWNED = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


def record(kind: Kind, old: Json | None, new: Json, manager: str, subresource: str, time: str) -> list[Json]:
    """The managedFields after a write that turned `old` into `new`."""
    before = old or {}
    entries: list[Json] = list(before.get("metadata", {}).get("managedFields", ()))
    changed = _content_changes(before, new)
    gone = _content_changes(new, before)
    if not changed and not gone:
        return entries
    removed = _without(gone, changed)
    kept: list[Json] = []
    mine: Json | None = None
    for entry in entries:
        if _is_mine(entry, kind, manager, subresource):
            mine = entry
            continue
        fields = _without(_without(entry["fieldsV1"], changed), removed)
        if fields:
            kept.append(entry if fields == entry["fieldsV1"] else {**entry, "fieldsV1": fields})
    owned = _union(_without(mine["fieldsV1"], removed) if mine else {}, changed)
    if owned:
        kept.append(_entry(kind, manager, subresource, owned, time))
    return sorted(kept, key=_order)


def _order(entry: Json) -> tuple[str, ...]:
    return tuple(entry.get(key, "") for key in ("operation", "time", "manager", "apiVersion", "subresource"))


def _is_mine(entry: Json, kind: Kind, manager: str, subresource: str) -> bool:
    return (
        entry.get("manager") == manager
        and entry.get("apiVersion") == kind.api_version
        and entry.get("subresource", "") == subresource
        and entry.get("operation") == "Update"
    )


def _entry(kind: Kind, manager: str, subresource: str, fields: Json, time: str) -> Json:
    entry: Json = {"apiVersion": kind.api_version, "fieldsType": "FieldsV1", "fieldsV1": fields}
    entry["manager"] = manager
    entry["operation"] = "Update"
    if subresource:
        entry["subresource"] = subresource
    entry["time"] = time
    return entry


def _content_changes(old: Json, new: Json) -> Json:
    """FieldsV1 of everything in `new` that differs from `old`."""
    tree: Json = {}
    for key, value in new.items():
        if key in ("apiVersion", "kind"):
            continue
        before = old.get(key)
        if value is before:
            continue
        if key == "metadata":
            if children := _metadata_changes(_owned(before or {}), _owned(value)):
                tree["f:metadata"] = children
        elif (part := _changes(before, value)) is not None:
            tree[f"f:{key}"] = part
    return tree


def _owned(meta: Json) -> Json:
    return {name: value for name, value in meta.items() if name not in _UNOWNED}


def _changes(old: Any, new: Any) -> Json | None:
    """None if nothing changed, an empty tree for a changed leaf."""
    if old is new or (old == new and type(old) is type(new)):
        return None
    if isinstance(new, dict) and new:
        was = old if isinstance(old, dict) else None
        children = _map_changes(was or {}, new)
        if was is None:
            children = {".": {}, **children}
        return children or None
    return {}


def _metadata_changes(old: Json, new: Json) -> Json:
    """Finalizers and owner references are sets: each member has its own manager."""
    tree = _map_changes(old, new)
    for key in ("finalizers", "ownerReferences"):
        if f"f:{key}" in tree:
            members = _set_changes(old.get(key), new[key], key)
            tree.pop(f"f:{key}")
            if members:
                tree[f"f:{key}"] = members
    return tree


def _map_changes(old: Json, new: Json) -> Json:
    tree: Json = {}
    for key, value in new.items():
        part = _changes(old.get(key, _ABSENT), value)
        if part is not None:
            tree[f"f:{key}"] = part
    return tree


def _set_changes(old: list[Any] | None, new: list[Any], key: str) -> Json:
    tree: Json = {".": {}} if old is None else {}
    for item in new:
        if item in (old or ()):
            continue
        if key == "finalizers":
            tree[f'v:"{item}"'] = {}
        else:
            tree[f'k:{{"uid":"{item.get("uid", "")}"}}'] = {}
    return tree


def _union(left: Json, right: Json) -> Json:
    result = dict(left)
    for key, value in right.items():
        result[key] = _union(left[key], value) if key in left else value
    return result


def _without(fields: Json, taken: Json) -> Json:
    """The tree without the leaves of the other; a branch without leaves is removed too."""
    if not taken:
        return fields
    result: Json = {}
    for key, value in fields.items():
        if key not in taken:
            result[key] = value
        elif value and taken[key] and (rest := _without(value, taken[key])):
            result[key] = rest
    return result
