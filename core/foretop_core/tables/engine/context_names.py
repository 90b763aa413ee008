"""Clusters by the part of their names that tells them apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

_OPENSHIFT = re.compile(r"[^/]*/(?:api-)?(?P<cluster>[^/:]+)(?::\d+)?/[^/]+")
"""`namespace/api-cluster-domain:6443/user`."""
_PART = re.compile(r"[^-_/:.@]*[-_/:.@]?")


def short_names(contexts: Iterable[str]) -> dict[str, str]:
    """`prod-eu` and `prod-us` become `eu` and `us`; whole parts only, and never to nothing or to the same."""
    names = list(dict.fromkeys(contexts))
    parts = [_PART.findall(name)[:-1] for name in names]
    least = min((len(part) for part in parts), default=0)
    head = min(_shared(parts), least - 1) if least else 0
    tail = min(_shared([_backwards(part) for part in parts]), least - 1 - head) if least else 0
    shown = {
        name: "".join(name_parts[head : len(name_parts) - tail]).strip("-_/:.@") or name
        for name, name_parts in zip(names, parts, strict=True)
    }
    distinct = len(set(shown.values())) == len(names) > 1
    return shown if distinct else {name: name for name in names}


def brief_name(context: str) -> str:
    """The name of the cluster alone, where a context is named as OpenShift, EKS or GKE name theirs."""
    if match := _OPENSHIFT.fullmatch(context):
        return match["cluster"]
    if context.startswith("arn:"):
        return context.rpartition("/")[2] or context
    return context.rpartition("_")[2] or context if context.startswith("gke_") else context


def _backwards(parts: list[str]) -> list[str]:
    """The parts from the end, without what joins them."""
    return [part.strip("-_/:.@") for part in reversed(parts)]


def _shared(lists: Sequence[list[str]]) -> int:
    """How many of the first parts are the same in all."""
    return sum(1 for _ in takewhile(lambda found: len(set(found)) == 1, zip(*lists, strict=False)))
