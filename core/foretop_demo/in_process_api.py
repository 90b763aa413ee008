"""The box's objects behind the API server's rules, for callers in the same process: controllers, scenarios, tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import closing

from foretop_core.clock import Clock
from foretop_demo import patch as patches
from foretop_demo.change_log import Change, Compacted, Cursor
from foretop_demo.deletion import DeleteOptions, Remover
from foretop_demo.kinds import Catalog, Json, Kind, load_catalog
from foretop_demo.objectmeta import Identities
from foretop_demo.reading import ListOptions, Reader
from foretop_demo.selectors import Selection, parse_labels
from foretop_demo.status import expired
from foretop_demo.versioned_store import Listener, VersionedStore
from foretop_demo.writes import Options, Writer


class InProcessApi:
    """Get, list, create, update, patch, delete and watch, with the same refusals (ApiError) as over HTTP.

    Returned bodies are shared and must not be changed; bodies that are passed in belong to the storage afterwards.
    """

    def __init__(
        self,
        clock: Clock,
        catalog: Catalog | None = None,
        history: int = 4096,
        seed: int | None = None,
        name: str = "",
    ) -> None:
        self.clock = clock
        self.catalog = catalog or load_catalog()
        self.object_store = VersionedStore(self.catalog, history)
        self.reader = Reader(self.object_store)
        self.writer = Writer(self.object_store, clock, Identities(seed, name))
        self.remover = Remover(self.object_store, clock)

    def kind(self, name: str) -> Kind:
        """The kind with this name, such as `NonAdminBackup`."""
        return self.catalog.named(name)

    @property
    def version(self) -> int:
        """The newest resourceVersion."""
        return self.object_store.version

    def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return self.reader.get(kind, (namespace, name)).body

    def find(self, kind: Kind, namespace: str, name: str) -> Json | None:
        stored = self.object_store.find(kind, (namespace, name))
        return stored.body if stored else None

    def list(self, kind: Kind, namespace: str = "", labels: str = "") -> list[Json]:
        selection = Selection(namespace, parse_labels(labels))
        return [stored.body for stored in self.reader.list(kind, selection, ListOptions()).items]

    def create(self, kind: Kind, body: Json, namespace: str = "", manager: str = "minicluster") -> Json:
        """Create an object; the namespace defaults to the one in the body."""
        home = namespace or body.get("metadata", {}).get("namespace", "")
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, **body}
        return self.writer.create(kind, whole, home, Options(manager)).stored.body

    def update(self, kind: Kind, body: Json, manager: str = "minicluster", subresource: str = "") -> Json:
        """Replace; a resourceVersion that is not the newest is a conflict."""
        meta = body["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        return self.writer.update(kind, key, body, Options(manager), subresource).stored.body

    def patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        change: Json,
        manager: str = "minicluster",
        subresource: str = "",
    ) -> Json:
        """Merge patch; include a resourceVersion to have a conflict refused."""

        def merged(body: Json) -> Json:
            result: Json = patches.merge(body, change)
            return result

        options = Options(manager)
        return self.writer.patch(kind, (namespace, name), merged, options, subresource).stored.body

    def patch_status(self, kind: Kind, namespace: str, name: str, status: Json, manager: str = "minicluster") -> Json:
        """Merge into the status, at the path where this kind accepts it."""
        subresource = "status" if kind.status_subresource else ""
        return self.patch(kind, namespace, name, {"status": status}, manager, subresource)

    def delete(self, kind: Kind, namespace: str, name: str, options: DeleteOptions | None = None) -> Json:
        return self.remover.delete(kind, (namespace, name), options or DeleteOptions()).stored.body

    def compact(self, version: int | None = None) -> None:
        """Drop the history up to a version, by default all of it: older watches and pages get a 410."""
        self.object_store.compact(self.version if version is None else version)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with every change of every kind, synchronously and in order; call the result to stop."""
        return self.object_store.subscribe(listener)

    async def feed(self, kind: Kind, since: int | None = None) -> AsyncGenerator[Change, None]:
        """Every change of one kind after a version (by default from now on), as it happens.

        A reader that starts before the kept history, or falls behind it, gets the 410 of a watch.
        """
        start = self.version if since is None else since
        try:
            cursor = Cursor(self.object_store.kind_store(kind).change_log, start)
            with closing(cursor):
                while True:
                    for change in cursor.read_new():
                        yield change
                    await cursor.wait_for_changes()
        except Compacted as gone:
            raise expired(f"too old resource version: {start} ({gone.floor})") from None
