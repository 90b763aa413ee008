"""The objects that a store holds: of which kind, and what stands in for one that is garbled."""

from __future__ import annotations

from foretop_core.models.kinds import KINDS, Kind
from foretop_core.models.wire import Metadata, Resource

_KIND_OF_MODEL: dict[type[Resource], Kind] = {kind.model: kind for kind in KINDS}


class UnreadableObject(Resource, frozen=True):
    """Stands in for an object that could not be read, so that it is one bad row and not a gap."""

    problem: str = ""


def garbled(namespace: str, name: str, problem: str, version: str = "") -> UnreadableObject:
    meta = Metadata(namespace=namespace, name=name, resource_version=version)
    return UnreadableObject(metadata=meta, problem=problem)


def kind_of(model: type[Resource]) -> Kind:
    """The kind that a model belongs to; every model that foretop decodes into has one."""
    return _KIND_OF_MODEL[model]
