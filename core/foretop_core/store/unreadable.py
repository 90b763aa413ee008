"""The objects of a store: their kind, and the placeholder of an unreadable one."""

from __future__ import annotations

from foretop_core.models.kinds import KINDS, Kind
from foretop_core.models.wire import Metadata, Resource

_KIND_OF_MODEL: dict[type[Resource], Kind] = {kind.model: kind for kind in KINDS}


class UnreadableObject(Resource, frozen=True):
    """The placeholder of an object that could not be decoded, so that it is one bad row and not a gap."""

    problem: str = ""


def unreadable_object(namespace: str, name: str, problem: str, version: str = "") -> UnreadableObject:
    meta = Metadata(namespace=namespace, name=name, resource_version=version)
    return UnreadableObject(metadata=meta, problem=problem)


def kind_of(model: type[Resource]) -> Kind:
    """The kind of a model; every model that foretop decodes into has one."""
    return _KIND_OF_MODEL[model]
