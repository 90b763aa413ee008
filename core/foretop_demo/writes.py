"""Creates and updates: what the server fills in, prunes, refuses, counts and records."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from foretop_core.clock import Clock
from foretop_demo import managed_fields, objectmeta
from foretop_demo.change_log import Key, Stored
from foretop_demo.kinds import Json, Kind
from foretop_demo.schema import check_object, check_status, shape_object
from foretop_demo.schema_fast_path import is_fit
from foretop_demo.status import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    internal,
    invalid,
    invalid_as,
    not_found,
)
from foretop_demo.versioned_store import VersionedStore


class Options(NamedTuple):
    """The options of a write: the manager, dry run, and how unknown fields are treated."""

    manager: str = "minicluster"
    dry_run: bool = False
    strict: bool = False
    patch: bool = False


class Written(NamedTuple):
    """The object after a write, and the paths of its unknown fields."""

    stored: Stored
    dropped: list[str]


class Writer:
    """Turns what a client sent into what is stored, by the rules of the kind."""

    def __init__(self, object_store: VersionedStore, clock: Clock, identities: objectmeta.Identities) -> None:
        self._object_store = object_store
        self._clock = clock
        self._identities = identities

    def create(self, kind: Kind, body: Json, namespace: str, options: Options) -> Written:
        self._check_envelope(kind, body, namespace)
        meta = objectmeta.for_create(kind, body["metadata"], namespace, self._clock.now(), self._identities)
        self._check_namespace(kind, namespace, meta.get("name", ""))
        if body["metadata"].get("resourceVersion"):
            raise internal("resourceVersion should not be set on objects to be created")
        meta.pop("resourceVersion", None)
        fresh = {**body, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
        if kind.status_subresource and kind.custom:
            fresh.pop("status", None)
        fresh, dropped, causes = _admit(kind, fresh, options)
        dropped += objectmeta.unknown_fields(body["metadata"])
        _judge(kind, meta, {}, causes)
        key = (meta.get("namespace", ""), meta["name"])
        if self._object_store.find(kind, key) is not None:
            raise already_exists(kind, meta["name"])
        meta["managedFields"] = self._record(kind, None, fresh, options, "")
        fresh = _with_defaults(kind, fresh)
        if options.dry_run:
            return Written(Stored(fresh, 0), dropped)
        return Written(self._object_store.put(kind, key, fresh), dropped)

    def update(self, kind: Kind, key: Key, body: Json, options: Options, subresource: str = "") -> Written:
        self._check_envelope(kind, body, key[0])
        _check_name(body, key[1])
        old = self.existing(kind, key)
        if kind.custom and not body["metadata"].get("resourceVersion"):
            message = "Invalid value: 0: must be specified for an update"
            cause = Cause("FieldValueInvalid", "metadata.resourceVersion", message)
            details = {"name": key[1], "group": kind.group, "kind": kind.plural}
            raise invalid_as(kind.resource, details, key[1], [cause])
        return self._replace(kind, key, old, body, options, subresource)

    def patch(
        self, kind: Kind, key: Key, change: Callable[[Json], Json], options: Options, subresource: str = ""
    ) -> Written:
        old = self.existing(kind, key)
        body = change(old.body)
        if body.get("metadata") is None:
            body = {**body, "metadata": {}}
        self._check_envelope(kind, body, key[0])
        _check_name(body, key[1])
        if (uid := body["metadata"].get("uid")) and uid != old.body["metadata"]["uid"]:
            message = f'Invalid value: "{uid}": field is immutable'
            raise invalid(kind, key[1], [Cause("FieldValueInvalid", "metadata.uid", message)])
        return self._replace(kind, key, old, body, options._replace(patch=True), subresource)

    def existing(self, kind: Kind, key: Key) -> Stored:
        stored = self._object_store.find(kind, key)
        if stored is None:
            raise not_found(kind, key[1])
        return stored

    def _replace(self, kind: Kind, key: Key, old: Stored, body: Json, options: Options, subresource: str) -> Written:
        _check_preconditions(kind, old, body["metadata"])
        new = _next_version(kind, old.body, body, subresource)
        new, dropped, causes = _admit(kind, new, options, old.body, subresource)
        meta = new["metadata"]
        _judge(kind, meta, old.body["metadata"], causes)
        _count_generation(kind, old.body, new)
        meta["resourceVersion"] = old.body["metadata"]["resourceVersion"]
        if new == old.body:
            return Written(old, dropped)
        meta["managedFields"] = self._record(kind, old.body, new, options, subresource)
        if options.dry_run:
            return Written(Stored(new, old.version), dropped)
        if "deletionTimestamp" in meta and not meta.get("finalizers") and not _has_namespace_finalizer(kind, new):
            self._object_store.remove(kind, key)
            return Written(Stored(new, old.version), dropped)
        return Written(self._object_store.put(kind, key, new), dropped)

    def _record(self, kind: Kind, old: Json | None, new: Json, options: Options, subresource: str) -> list[Json]:
        time = objectmeta.stamp(self._clock.now())
        return managed_fields.record(kind, old, new, options.manager, subresource, time)

    def _check_envelope(self, kind: Kind, body: Json, namespace: str) -> None:
        objectmeta.check_types(kind, body.setdefault("metadata", {}))
        name, version = body.get("kind"), body.get("apiVersion")
        if kind.custom and not name:
            unreadable = f"the object provided is unrecognized (must be of type {kind.kind})"
            raise bad_request(f"{unreadable}: Object 'Kind' is missing")
        if version and version != kind.api_version:
            raise bad_request(
                f"the API version in the data ({version}) does not match the expected API version ({kind.api_version})"
            )
        if name and name != kind.kind:
            cause = Cause("FieldValueInvalid", "kind", f'Invalid value: "{name}": must be {kind.kind}')
            details = {"name": body["metadata"].get("name", ""), "group": kind.group, "kind": name}
            raise invalid_as(f"{name}.{kind.group}", details, details["name"], [cause])
        stated = body["metadata"].get("namespace")
        if kind.namespaced and stated and stated != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")

    def _check_namespace(self, kind: Kind, namespace: str, name: str) -> None:
        if not kind.namespaced:
            return
        home = self._object_store.catalog.named("Namespace")
        place = self._object_store.find(home, ("", namespace))
        if place is None:
            raise not_found(home, namespace)
        if "deletionTimestamp" in place.body["metadata"]:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            refusal = forbidden(kind, name, why)
            cause = {"reason": "NamespaceTerminating", "field": "metadata.namespace"}
            cause["message"] = f"namespace {namespace} is being terminated"
            refusal.details = {**(refusal.details or {}), "causes": [cause]}
            raise refusal


def _admit(
    kind: Kind, body: Json, options: Options, old: Json | None = None, subresource: str = ""
) -> tuple[Json, list[str], list[Cause]]:
    """The object pruned and defaulted, the pruned paths, and its schema violations."""
    if not kind.custom or is_fit(kind, body, old):
        return body, [], []
    shaped, dropped = shape_object(body, kind.schema, old)
    if dropped and options.strict:
        raise _strict_refusal(kind, dropped, options)
    causes = check_status(shaped, kind.schema) if subresource else check_object(shaped, kind.schema, old)
    return shaped, dropped, causes


def _judge(kind: Kind, meta: Json, old: Json, causes: list[Cause]) -> None:
    if found := objectmeta.check(meta, old) + causes:
        raise invalid(kind, meta.get("name", ""), found)


def _check_name(body: Json, name: str) -> None:
    sent = body["metadata"].get("name", "")
    if sent != name:
        raise bad_request(f"the name of the object ({sent}) does not match the name on the URL ({name})")


def _strict_refusal(kind: Kind, dropped: list[str], options: Options) -> ApiError:
    why = "strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in dropped)
    if options.patch:
        return invalid_as("", {}, "", [Cause("FieldValueInvalid", "patch", f"Invalid value: {why}")])
    return bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {why}')


def _with_defaults(kind: Kind, body: Json) -> Json:
    if kind.kind == "Namespace" and not kind.custom:
        return {**body, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    return body


def _has_namespace_finalizer(kind: Kind, body: Json) -> bool:
    return kind.kind == "Namespace" and bool(body.get("spec", {}).get("finalizers"))


def _check_preconditions(kind: Kind, old: Stored, meta: Json) -> None:
    now = old.body["metadata"]
    uid, version = meta.get("uid"), meta.get("resourceVersion")
    if uid and uid != now["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {now['uid']}"
        raise conflict(kind, now["name"], why)
    if version and not version.isdecimal():
        raise internal(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if version and version != now["resourceVersion"]:
        raise conflict(kind, now["name"])


def _next_version(kind: Kind, old: Json, sent: Json, subresource: str) -> Json:
    """The object as the client sent it, without the half that this path does not write."""
    head = {"apiVersion": kind.api_version, "kind": kind.kind}
    if subresource == "status":
        new = {**old, **head, "metadata": dict(old["metadata"])}
        new.pop("status", None)
        return {**new, "status": sent["status"]} if "status" in sent else new
    new = {**sent, **head, "metadata": objectmeta.for_update(sent["metadata"], old["metadata"])}
    if kind.status_subresource:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    return new


def _count_generation(kind: Kind, old: Json, new: Json) -> None:
    """With a status subresource a change of the spec counts; without one, any change outside the metadata."""
    if not kind.tracks_generation:
        return
    apart = {"metadata", "status"} if kind.status_subresource else {"metadata"}
    before = {key: value for key, value in old.items() if key not in apart}
    after = {key: value for key, value in new.items() if key not in apart}
    if before != after:
        new["metadata"]["generation"] = old["metadata"].get("generation", 1) + 1
