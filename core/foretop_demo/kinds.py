"""The kinds that the box serves: Velero's, OADP's, the prescaler's, and the built-in kinds that they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

import msgspec

Json = dict[str, Any]

OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Column(msgspec.Struct, frozen=True):
    """One printer column, as `kubectl get` shows it."""

    name: str
    type: str
    path: str = msgspec.field(name="jsonPath")
    format: str = ""
    priority: int = 0


class Kind(msgspec.Struct, frozen=True, eq=False):
    """One kind: its names, its API path, and the rules for its writes.

    A custom kind (`custom`) is pruned and validated by its schema; a built-in one keeps unknown fields.
    """

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...] = ()
    status_subresource: bool = False
    columns: tuple[Column, ...] = ()
    schema: Json = msgspec.field(default_factory=lambda: OPEN)
    namespaced: bool = True
    custom: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def resource(self) -> str:
        """The plural with its group, as in error messages: `schedules.velero.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind

    @property
    def tracks_generation(self) -> bool:
        return self.custom or self.group in ("apps", "batch", "apiextensions.k8s.io")

    def collection_path(self, namespace: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"


class Catalog:
    """All kinds of one box, by API path or by name."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds = tuple(kinds)
        self._by_address = {(kind.group, kind.version, kind.plural): kind for kind in self._kinds}
        self._by_name = {kind.kind: kind for kind in self._kinds}

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds)

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        return self._by_address.get((group, version, plural))

    def named(self, name: str) -> Kind:
        """The kind with this API name, such as `Schedule`."""
        return self._by_name[name]

    def find(self, api_version: str, name: str) -> Kind | None:
        kind = self._by_name.get(name)
        return kind if kind is not None and kind.api_version == api_version else None


def load_catalog() -> Catalog:
    """The shipped catalog: the released definitions, and the kinds that have none or are built in."""
    data = resources.files(__package__).joinpath("data")
    tables = (data.joinpath(name).read_bytes() for name in ("crds.json", "kinds.json"))
    return Catalog(kind for table in tables for kind in msgspec.json.decode(table, type=tuple[Kind, ...]))
