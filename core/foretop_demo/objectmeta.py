"""The rules for metadata: what the server fills in, what a client may not change, and which names are valid."""

from __future__ import annotations

import re
import uuid
import zlib
from collections.abc import Callable
from datetime import datetime
from random import Random
from typing import Any

from foretop_demo.kinds import Json, Kind
from foretop_demo.schema import quote
from foretop_demo.status import Cause, bad_request

_SUBDOMAIN = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_QUALIFIED = re.compile(
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")
_RANDOM_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_QUALIFIED_RULE = "name part must consist of alphanumeric characters, '-', '_' or '.', a letter or digit at each end"
_KEPT = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "namespace",
)
_KNOWN = frozenset(
    {
        *_KEPT,
        "name",
        "generateName",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "managedFields",
        "resourceVersion",
    }
)


class Identities:
    """Random name suffixes and uids: from the system, or repeatable if a seed is given."""

    def __init__(self, seed: int | None = None, cluster: str = "") -> None:
        """Clusters of other names have other uids, though their seed be the same."""
        self._random = Random(seed)
        self._cluster = zlib.crc32(cluster.encode())

    def uid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128) ^ self._cluster, version=4))

    def suffix(self) -> str:
        return "".join(self._random.choices(_RANDOM_LETTERS, k=5))


def stamp(now: datetime) -> str:
    """A time as API objects carry it: whole seconds, UTC."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def unknown_fields(meta: Json) -> list[str]:
    return [f"metadata.{key}" for key in meta if key not in _KNOWN and key != "selfLink"]


def tidy(meta: Json) -> Json:
    """Metadata without unknown and empty fields."""
    return {key: value for key, value in meta.items() if key in _KNOWN and value not in (None, "", {}, [])}


def for_create(kind: Kind, meta: Json, namespace: str, now: datetime, identities: Identities) -> Json:
    """The metadata of a new object."""
    fresh = {key: value for key, value in tidy(meta).items() if key not in _KEPT}
    fresh.pop("managedFields", None)
    if "name" not in fresh and "generateName" in fresh:
        fresh["name"] = f"{fresh['generateName'][:58]}{identities.suffix()}"
    fresh["uid"] = identities.uid()
    fresh["creationTimestamp"] = stamp(now)
    if kind.namespaced:
        fresh["namespace"] = namespace
    if kind.tracks_generation:
        fresh["generation"] = 1
    if kind.kind == "Namespace":
        fresh["labels"] = {**fresh.get("labels", {}), "kubernetes.io/metadata.name": fresh.get("name", "")}
    return fresh


def for_update(meta: Json, old: Json) -> Json:
    """The metadata of a new version; identity and timestamps stay the server's."""
    merged = {key: value for key, value in tidy(meta).items() if key not in _KEPT}
    merged.pop("generateName", None)
    for key in (*_KEPT, "generateName"):
        if key in old:
            merged[key] = old[key]
    merged["name"] = old["name"]
    merged["managedFields"] = old.get("managedFields", [])
    return merged


def check_types(kind: Kind, meta: Any) -> None:
    """Refuse metadata whose types a real server could not decode."""
    refusal = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: cannot unmarshal'
    if not isinstance(meta, dict):
        raise bad_request(f"{refusal} metadata")
    readers: dict[str, Callable[[Any], bool]] = {
        "name": lambda value: isinstance(value, str),
        "namespace": lambda value: isinstance(value, str),
        "generateName": lambda value: isinstance(value, str),
        "resourceVersion": lambda value: isinstance(value, str),
        "labels": _is_text_map,
        "annotations": _is_text_map,
        "finalizers": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
        "ownerReferences": lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
    }
    for key, fits in readers.items():
        if meta.get(key) is not None and not fits(meta[key]):
            raise bad_request(f"{refusal} {quote(meta[key])} into ObjectMeta.{key}")


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def check(meta: Json, old: Json) -> list[Cause]:
    """All violations of the rules for names, labels, owners and finalizers; `old` may be empty."""
    causes: list[Cause] = []
    name = meta.get("name", "")
    if not name:
        causes.append(Cause("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    elif len(name) > 253 or not _SUBDOMAIN.match(name):
        causes.append(_bad("metadata.name", name, _NAME_RULE))
    for key, value in meta.get("labels", {}).items():
        if not _QUALIFIED.match(key):
            causes.append(_bad("metadata.labels", key, _QUALIFIED_RULE))
        if not _LABEL_VALUE.match(value):
            causes.append(_bad("metadata.labels", value, "a valid label must be an empty string or alphanumeric"))
    for key in meta.get("annotations", {}):
        if not _QUALIFIED.match(key.lower()):
            causes.append(_bad("metadata.annotations", key, _QUALIFIED_RULE))
    for name in meta.get("finalizers", ()):
        if not _QUALIFIED.match(name):
            causes.append(_bad("metadata.finalizers", name, _QUALIFIED_RULE))
    for owner in meta.get("ownerReferences", ()):
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                what = "version must not be empty" if field == "apiVersion" else "must not be empty"
                causes.append(_bad(f"metadata.ownerReferences.{field}", "", what))
    if "deletionTimestamp" in old:
        causes.extend(_late_finalizers(meta, old))
    return causes


def _late_finalizers(meta: Json, old: Json) -> list[Cause]:
    known = old.get("finalizers", [])
    added = [each for each in meta.get("finalizers", []) if each not in known]
    if not added:
        return []
    listed = ", ".join(quote(each) for each in added)
    message = (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{listed}}}"
    )
    return [Cause("FieldValueForbidden", "metadata.finalizers", message)]


def _bad(path: str, value: str, rule: str) -> Cause:
    return Cause("FieldValueInvalid", path, f"Invalid value: {quote(value)}: {rule}")
