"""The items of `-o json`: a contract. Fields are added, never renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foretop_core.models import Resource
from foretop_core.rules.snapshot import VisibilityGap

Item = dict[str, Any]


def identity(context: str, item: Resource) -> Item:
    return {"context": context, "kind": type(item).__name__, "namespace": item.namespace, "name": item.name}


def unseen_item(gap: VisibilityGap) -> Item:
    return {"context": gap.context, "kind": gap.kind, "reason": gap.why()}


def as_list(items: Iterable[Mapping[str, Any]]) -> Item:
    return {"kind": "List", "items": list(items)}
