"""The namespace and the cluster looked at, on every page until it is said otherwise, and short names of clusters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile

import msgspec

from foretop_core.models.kinds import BESIDE_VELERO

A_CONTEXT = "Context"
"""The kind of a finding that is about a whole cluster: what is not seen of it."""
_OF_VELERO = frozenset({"", A_CONTEXT, *(kind.name for kind in BESIDE_VELERO)})
"""A finding about the server itself has none."""


class ViewScope(msgspec.Struct, frozen=True):
    """The namespace and cluster looked at; what is not named is not narrowed."""

    namespace: str = ""
    context: str = ""
    of_velero: bool = False
    """A Velero lives in the namespace; a team's namespace has none of Velero's own objects, which stay in sight."""

    def __bool__(self) -> bool:
        return bool(self.namespace or self.context)

    def keeps(self, context: str, kind: str, namespace: str) -> bool:
        if self.context and context != self.context:
            return False
        if not self.namespace or namespace == self.namespace:
            return True
        return kind in _OF_VELERO and not self.of_velero

    def narrows(self, kinds: Collection[str]) -> bool:
        """True if a page of these kinds may have rows that are hidden; one of none shows findings of all sorts."""
        return bool(self.context or (self.namespace and (self.of_velero or not kinds or not set(kinds) <= _OF_VELERO)))

    @property
    def words(self) -> str:
        """For the rule above the footer, with the key that leads out."""
        besides = "" if self.of_velero else " and Velero's own"
        namespace = f"namespace {self.namespace}{besides}" if self.namespace else ""
        context = f"context {self.context}" if self.context else ""
        text = ", ".join(part for part in (context, namespace) if part)
        return f"{text} (0 all)" if text else ""


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
