"""The list of what is in a backup, or was restored: a file beside its log, taken apart."""

from __future__ import annotations

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.rules import humanize


class ResourceKind(msgspec.Struct, frozen=True):
    """A kind with its API group and version, and the names of its objects: `namespace/name`, or a name alone."""

    kind: str
    names: tuple[str, ...]


class ResourceList(msgspec.Struct, frozen=True):
    kinds: tuple[ResourceKind, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(one.names) for one in self.kinds)

    def lines(self) -> tuple[str, ...]:
        """In words, and then as `velero backup describe --details` lists them."""
        head = f"{humanize.count(self.count, 'object')} of {humanize.count(len(self.kinds), 'kind')}"
        listed = [line for one in self.kinds for line in (f"{one.kind}:", *(f"  - {name}" for name in one.names))]
        return head, *listed


def parse_resource_list(text: bytes | bytearray) -> ResourceList:
    """Kinds and names in order, whatever the order of the file; raises Unreadable for what is not such a list."""
    try:
        held = msgspec.json.decode(text, type=dict[str, list[str] | None])
    except (ValueError, RecursionError) as problem:
        raise Unreadable("The resource list cannot be read", str(problem)) from None
    return ResourceList(tuple(ResourceKind(kind, tuple(sorted(held[kind] or ()))) for kind in sorted(held)))
