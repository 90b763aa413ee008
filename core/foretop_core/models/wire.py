"""The decoding of API objects into typed values, and the parts that they share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from foretop_core.errors import Unreadable

Time = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time; one without a zone cannot be compared with others and makes its object unreadable."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
"""A number of things; below zero, or above what JSON carries exactly, it is not a count."""
FIRST_YEAR, LAST_YEAR = 2, 9998
"""Times outside of these years make their object unreadable: they cannot be moved to every zone."""
_ODD_YEARS = (b'"0000-', b'"0001-', b'"9999-')
_ESCAPE = b"\\u003"
_ESCAPED_DIGIT = re.compile(rb"\\u003[0-9]")
"""Bytes without any of these have no time outside of those years, so only others are looked through."""

_LONGEST_VERSION = 20
"""Digits of a resourceVersion, which is an int64 in etcd; Python refuses to count with thousands of them."""

NONE: Mapping[str, Any] = MappingProxyType({})
"""The shared empty mapping: most objects have no hooks, no selector, no policy."""
NO_TEXTS: dict[str, str] = {}
"""The labels or annotations of all objects that have none; nobody writes into it, as into no decoded dictionary."""


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an API object: unknown fields are ignored, missing ones have their default.

    Decoded JSON is frozen and has no cycles, so the garbage collector does not need to track it.
    """


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of a manifest, with any secret that its author once wrote into it: not shown, copied or noted."""


class OwnerReference(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class FieldManager(Wire, frozen=True):
    """A program that has written fields of an object; which ones and when is read of few kinds only."""

    manager: str = ""


class Metadata(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Count = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()
    managed_fields: tuple[FieldManager, ...] = ()

    @property
    def own_annotations(self) -> dict[str, str]:
        """All but kubectl's copy of the manifest."""
        return {key: text for key, text in self.annotations.items() if key != LAST_APPLIED}


class ObjectRef(NamedTuple):
    """The identity of one object in one cluster; `kind` is the API's name, such as `Schedule`.

    A finding about no object has the kind "". Things that are not API objects (a cluster, a group header, a row of
    Triage) have kinds that no Kind has.
    """

    context: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.kind.lower()} {self.namespace}/{self.name}"
            if self.namespace
            else f"{self.kind.lower()} {self.name}"
        )

    @property
    def home(self) -> str:
        """The namespace that it belongs to: a Namespace belongs to itself."""
        return self.name if self.kind == "Namespace" else self.namespace


class Condition(Wire, frozen=True):
    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


class Resource(Wire, frozen=True):
    """Any API object; the kinds add their spec and status."""

    metadata: Metadata = Metadata()

    def __repr__(self) -> str:
        """A few words: a whole object would drown the failure that names it."""
        phase = getattr(getattr(self, "status", None), "phase", "")
        version = self.metadata.resource_version
        words = (type(self).__name__, f"{self.namespace}/{self.name}", phase, f"version {version}" if version else "")
        return f"<{' '.join(word for word in words if word)}>"

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def created(self) -> datetime | None:
        return self.metadata.creation_timestamp

    def label(self, key: str) -> str:
        return self.metadata.labels.get(key, "")

    def annotation(self, key: str) -> str:
        return self.metadata.annotations.get(key, "")


def is_older(candidate: Resource, held: Resource) -> bool:
    """True if the server made `candidate` before `held`; versions that are not numbers cannot be compared."""
    return is_earlier(candidate.metadata.resource_version, held.metadata.resource_version)


def is_earlier(version: str, other: str) -> bool:
    """True if the first resourceVersion is the earlier one; versions that are not numbers cannot be compared."""
    return (
        version.isdecimal()
        and other.isdecimal()
        and max(len(version), len(other)) <= _LONGEST_VERSION
        and int(version) < int(other)
    )


R = TypeVar("R", bound=Resource)


@cache
def _decoder(model: type[Resource]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(model)


def decode(model: type[R], data: bytes | msgspec.Raw) -> R:
    """One object from the bytes of the API server.

    The API treats null as absent, so an object with a null is decoded the slow way, without its nulls.
    """
    raw = memoryview(data).tobytes() if isinstance(data, msgspec.Raw) else data
    try:
        if b"null" in raw:
            return from_builtins(model, msgspec.json.decode(raw))
        made: R = _decoder(model).decode(raw)
    except msgspec.ValidationError as problem:
        raise _unreadable(model, _as_far_as_read(raw), problem) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise Unreadable(f"{model.__name__} cannot be read", str(problem)) from None
    return _within_bounds(made) if _may_have_odd_time(raw) else made


def _as_far_as_read(raw: bytes) -> object:
    """The value in which a field is wrong; what comes after that field was not looked at yet, and may be no JSON."""
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return None


def _may_have_odd_time(raw: bytes) -> bool:
    """True if a time may be out of range; a plain search for each takes a tenth of one expression's time."""
    for year in _ODD_YEARS:
        if year in raw:
            return True
    return _ESCAPE in raw and _ESCAPED_DIGIT.search(raw) is not None


def from_builtins(model: type[R], value: object) -> R:
    """One object from plain dicts and lists, such as a manifest."""
    try:
        made: R = msgspec.convert(_without_nulls(value), model)
    except msgspec.ValidationError as problem:
        raise _unreadable(model, value, problem) from None
    except RecursionError:
        raise Unreadable(
            f"{model.__name__} {object_name(value)} cannot be read", "it is nested too deeply or contains itself"
        ) from None
    return _within_bounds(made)


def _within_bounds(made: R) -> R:
    """The object, whose times lie in the years that can be reckoned with."""
    for path, time in _times(made, ""):
        if not FIRST_YEAR <= time.year <= LAST_YEAR:
            name = f"{made.namespace}/{made.name}" if made.namespace else made.name
            years = f"the year {time.year} is not within {FIRST_YEAR} to {LAST_YEAR}"
            raise Unreadable(f"{type(made).__name__} {name} cannot be read", f"{path}: {years}")
    return made


_MAY_HAVE_TIMES = (datetime, tuple, msgspec.Struct)


def _times(part: object, path: str) -> Iterator[tuple[str, datetime]]:
    """All times of an object, each with the way to it as the API names it."""
    if isinstance(part, datetime):
        yield path, part
    elif isinstance(part, tuple):
        for index, each in enumerate(part):
            yield from _times(each, f"{path}[{index}]")
    elif isinstance(part, msgspec.Struct):
        for name, field in zip(part.__struct_fields__, part.__struct_encode_fields__, strict=True):
            # Nine in ten fields are texts and numbers.
            if isinstance(value := getattr(part, name), _MAY_HAVE_TIMES):
                yield from _times(value, f"{path}.{field}" if path else field)


def to_builtins(part: Wire) -> dict[str, Any]:
    """A typed part as plain values without defaults: what a write sends."""
    plain: dict[str, Any] = msgspec.to_builtins(part)
    return plain


def as_json(part: Wire) -> dict[str, Any]:
    """A typed part as JSON values: dicts, lists and strings, without defaults."""
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(part))
    return sent


def object_name(value: object) -> str:
    """`namespace/name` of an object of any shape, for messages."""
    meta = value.get("metadata") if isinstance(value, Mapping) else None
    if not isinstance(meta, Mapping):
        return "without a name"
    name, namespace = meta.get("name"), meta.get("namespace")
    shown = name if isinstance(name, str) and name else "without a name"
    return f"{namespace}/{shown}" if isinstance(namespace, str) and namespace else shown


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value


def _unreadable(model: type[Resource], value: object, problem: msgspec.ValidationError) -> Unreadable:
    text, _, path = str(problem).partition(" - at `$.")
    field = path.rstrip("`") or "the object itself"
    return Unreadable(f"{model.__name__} {object_name(value)} cannot be read", f"{field}: {text}")


class UnreadableObject(Resource, frozen=True):
    """The placeholder of an object that could not be decoded, so that it is one bad row and not a gap."""

    problem: str = ""


def unreadable_object(namespace: str, name: str, problem: str, version: str = "") -> UnreadableObject:
    meta = Metadata(namespace=namespace, name=name, resource_version=version)
    return UnreadableObject(metadata=meta, problem=problem)
