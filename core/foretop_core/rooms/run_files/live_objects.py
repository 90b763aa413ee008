"""The objects that namespaces have now, of the kinds that a backup has: names alone are kept, Secrets are not read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

import msgspec

from foretop_core.errors import ForetopError
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.rooms.run_files.objects import Difference, Listed, differences, group_and_kind, listed
from foretop_core.rules.results import ResourceList

MOST_KINDS, MOST_OBJECTS = 200, 10_000
_PAGE = "500"
_NOT_READ = frozenset({"Secret"})
"""To list their names is to read what is in them."""
NO_SECRETS = "Secrets are not compared with those that are there now."


class LiveObjects(msgspec.Struct, frozen=True):
    """The names that were listed, and why some were not: those kinds are compared with nothing."""

    found: Listed
    unread: tuple[str, ...] = ()
    """`apps/Deployment of shop: why`."""
    kinds: frozenset[tuple[str, str]] = frozenset()
    """Namespace and kind of all that was listed, those without objects too."""

    def not_compared(self) -> tuple[str, ...]:
        """A sentence for each that was not listed."""
        return tuple(f"Not compared: {one}" for one in self.unread)


class _Served(msgspec.Struct):
    name: str = ""
    kind: str = ""
    namespaced: bool = False


class _ServedKinds(msgspec.Struct):
    resources: list[_Served] = []


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Page(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[_Object] | None = None


async def live_objects(
    client: ApiClient, namespaces: Collection[str], kinds: Iterable[str], tell: Callable[[str], None]
) -> LiveObjects:
    """One list after the other, in pages; `tell` is told of each. What may not be listed is unread."""
    wanted = sorted(set(kinds))
    found: dict[tuple[str, str], frozenset[str]] = {}
    unread = [f"{group_and_kind(kind)}: too many kinds" for kind in wanted[MOST_KINDS:]]
    looked: set[tuple[str, str]] = set()
    served: defaultdict[str, dict[str, _Served]] = defaultdict(dict)
    for number, kind in enumerate(wanted[:MOST_KINDS], 1):
        version, _, name = kind.rpartition("/")
        word = group_and_kind(kind)
        if name in _NOT_READ:
            continue
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            if root not in served:
                answer = (await client.request("GET", root)).read(_ServedKinds)
                served[root] = {one.kind: one for one in answer.resources if "/" not in one.name}
        except ForetopError as problem:
            served[root] = {}
            unread.append(f"{version}: {problem}")
        one = served[root].get(name)
        if one is None or not one.namespaced:
            continue
        for namespace in sorted(namespaces):
            tell(f"Listing {one.name} of {namespace} ({number} of {len(wanted)} kinds)")
            try:
                names = await _names(client, f"{root}/namespaces/{namespace}/{one.name}")
            except ForetopError as problem:
                unread.append(f"{word} of {namespace}: {problem}")
                continue
            looked.add((namespace, word))
            if names:
                found[namespace, word] = found.get((namespace, word), frozenset()) | names
    return LiveObjects(found, tuple(unread), frozenset(looked))


def differs_now(mine: ResourceList, live: LiveObjects, wanted: Collection[str], text: str) -> tuple[Difference, ...]:
    """Added is what only the namespaces have, gone what only the copy has; what was not listed is left out."""
    seen = {key: names for key, names in listed(mine, wanted, text).items() if key in live.kinds}
    now = {key: _with(text, key[1], names) for key, names in live.found.items()}
    return differences(seen, {key: names for key, names in now.items() if names})


def _with(text: str, kind: str, names: frozenset[str]) -> frozenset[str]:
    sought = text.casefold()
    return names if sought in kind.casefold() else frozenset(name for name in names if sought in name.casefold())


async def _names(client: ApiClient, path: str) -> frozenset[str]:
    names: set[str] = set()
    params = {"limit": _PAGE}
    while True:
        try:
            page = (await client.request("GET", path, params)).read(_Page)
        except ApiError as problem:
            if problem.status == 404:
                return frozenset()
            raise
        names |= {item.metadata.name for item in page.items or ()}
        if not page.metadata.continue_:
            return frozenset(names)
        if len(names) >= MOST_OBJECTS:
            raise ForetopError(f"More than {MOST_OBJECTS:,} objects")
        params = {"limit": _PAGE, "continue": page.metadata.continue_}
