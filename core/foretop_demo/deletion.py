"""Deletion of objects: preconditions, finalizers, owned objects, and namespaces with their content."""

from __future__ import annotations

from typing import NamedTuple

from foretop_core.clock import Clock
from foretop_demo.change_log import Change, ChangeType, Key, Stored
from foretop_demo.kinds import Json, Kind
from foretop_demo.objectmeta import stamp
from foretop_demo.status import not_found, precondition_failed
from foretop_demo.versioned_store import VersionedStore, owners


class DeleteOptions(NamedTuple):
    """The preconditions of a delete, and what happens to the objects that the deleted one owns."""

    uid: str = ""
    version: str = ""
    propagation: str = "Background"
    dry_run: bool = False


class Deleted(NamedTuple):
    """The last state of a deleted object; `gone` unless a finalizer holds it."""

    stored: Stored
    gone: bool


class Remover:
    """Deletes as the API server and its garbage collector do together; the collector's part happens at once."""

    def __init__(self, object_store: VersionedStore, clock: Clock) -> None:
        self._object_store = object_store
        self._clock = clock
        object_store.subscribe(self._collect)

    def delete(self, kind: Kind, key: Key, options: DeleteOptions) -> Deleted:
        stored = self._object_store.find(kind, key)
        if stored is None:
            raise not_found(kind, key[1])
        _check(kind, stored, options)
        if options.dry_run:
            return self._rehearse(stored)
        uid = stored.body["metadata"]["uid"]
        if options.propagation == "Orphan":
            self._orphan(uid)
        elif options.propagation == "Foreground":
            self._delete_dependents(uid)
        if kind.kind == "Namespace":
            return self._delete_namespace(kind, key)
        return self._remove_or_mark(kind, key)

    def _rehearse(self, stored: Stored) -> Deleted:
        meta = stored.body["metadata"]
        if not meta.get("finalizers"):
            return Deleted(stored, True)
        return Deleted(stored if "deletionTimestamp" in meta else Stored(self._marked(stored.body), 0), False)

    def _remove_or_mark(self, kind: Kind, key: Key) -> Deleted:
        stored = self._object_store.find(kind, key)
        assert stored is not None
        meta = stored.body["metadata"]
        if not meta.get("finalizers"):
            return Deleted(self._object_store.remove(kind, key), True)
        if "deletionTimestamp" in meta:
            return Deleted(stored, False)
        return Deleted(self._object_store.put(kind, key, self._marked(stored.body)), False)

    def _marked(self, body: Json) -> Json:
        meta = {
            **body["metadata"],
            "deletionTimestamp": stamp(self._clock.now()),
            "deletionGracePeriodSeconds": 0,
        }
        if "generation" in meta:
            meta["generation"] += 1
        return {**body, "metadata": meta}

    def _delete_namespace(self, kind: Kind, key: Key) -> Deleted:
        """Delete the content first; an object held by a finalizer keeps the namespace terminating."""
        stored = self._object_store.find(kind, key)
        assert stored is not None
        if "deletionTimestamp" not in stored.body["metadata"]:
            marked = self._marked(stored.body)
            stored = self._object_store.put(kind, key, {**marked, "status": {"phase": "Terminating"}})
        for inner, place in self._object_store.keys_in(key[1]):
            if self._object_store.find(inner, place) is not None:
                self._remove_or_mark(inner, place)
        self._finish_namespace(key[1])
        return Deleted(stored, False)

    def _finish_namespace(self, name: str) -> None:
        kind = self._object_store.catalog.named("Namespace")
        home = self._object_store.find(kind, ("", name))
        if home and "deletionTimestamp" in home.body["metadata"] and not self._object_store.keys_in(name):
            self._object_store.remove(kind, ("", name))

    def _collect(self, kind: Kind, change: Change) -> None:
        if change.type is ChangeType.DELETED:
            self._delete_dependents(change.body["metadata"]["uid"])
            if kind.namespaced:
                self._finish_namespace(change.key[0])

    def _delete_dependents(self, uid: str) -> None:
        """Delete an object with its last living owner; until then only drop the owner reference."""
        for kind, key in self._object_store.dependents(uid):
            stored = self._object_store.find(kind, key)
            if stored is None:
                continue
            if any(self._object_store.lives(other) for other in owners(stored) - {uid}):
                self._drop_owner(kind, key, uid)
            else:
                self._remove_or_mark(kind, key)

    def _orphan(self, uid: str) -> None:
        for kind, key in self._object_store.dependents(uid):
            self._drop_owner(kind, key, uid)

    def _drop_owner(self, kind: Kind, key: Key, uid: str) -> None:
        stored = self._object_store.find(kind, key)
        assert stored is not None
        meta = dict(stored.body["metadata"])
        meta["ownerReferences"] = [each for each in meta["ownerReferences"] if each["uid"] != uid]
        if not meta["ownerReferences"]:
            del meta["ownerReferences"]
        self._object_store.put(kind, key, {**stored.body, "metadata": meta})


def _check(kind: Kind, stored: Stored, options: DeleteOptions) -> None:
    meta = stored.body["metadata"]
    if options.uid and options.uid != meta["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({meta['uid']}). "
            "The object might have been deleted and then recreated"
        )
    elif options.version and options.version != meta["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion "
            f"in record ({meta['resourceVersion']}). The object might have been modified"
        )
    else:
        return
    raise precondition_failed(kind, meta["name"], why)
