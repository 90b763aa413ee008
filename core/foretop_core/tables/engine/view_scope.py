"""The namespace and the cluster that a person looks at, on every page until it is said otherwise."""

from __future__ import annotations

from collections.abc import Collection

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
