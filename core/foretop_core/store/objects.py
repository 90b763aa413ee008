"""The objects of a store: their kind, the order of their versions, and the placeholder of an unreadable one."""

from __future__ import annotations

from foretop_core.models.kinds import KINDS, Kind
from foretop_core.models.wire import Metadata, Resource

_KIND_OF_MODEL: dict[type[Resource], Kind] = {kind.model: kind for kind in KINDS}


class UnreadableObject(Resource, frozen=True):
    """The placeholder of an object that could not be decoded, so that it is one bad row and not a gap."""

    problem: str = ""


def garbled(namespace: str, name: str, problem: str, version: str = "") -> UnreadableObject:
    meta = Metadata(namespace=namespace, name=name, resource_version=version)
    return UnreadableObject(metadata=meta, problem=problem)


def kind_of(model: type[Resource]) -> Kind:
    """The kind of a model; every model that foretop decodes into has one."""
    return _KIND_OF_MODEL[model]


def is_older(candidate: Resource, held: Resource) -> bool:
    """Whether `candidate` is an older version than `held`; versions that are not numbers cannot be compared."""
    mine, theirs = candidate.metadata.resource_version, held.metadata.resource_version
    return mine.isdecimal() and theirs.isdecimal() and int(mine) < int(theirs)
