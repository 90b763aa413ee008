"""How objects are named: one name for an object, in the store, in the rules, in plans and on the screen."""

from __future__ import annotations

from typing import NamedTuple


class ObjectRef(NamedTuple):
    """One object of one cluster; the kind is named as the API names it, such as `Schedule`.

    A finding about no object has the kind "", and what is no API object (a cluster, the head of a group, a row of
    Triage) a kind of its own that no Kind has.
    """

    context: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.namespace}/{self.name}"
