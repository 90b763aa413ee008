"""The handlers of the API verbs: each takes a parsed request and returns the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from foretop_demo import patch as patches
from foretop_demo import protobuf
from foretop_demo.change_log import Stored
from foretop_demo.deletion import DeleteOptions
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json, Kind
from foretop_demo.negotiation import Form, listed, single
from foretop_demo.reading import Page
from foretop_demo.requests import Target, dry_run, list_options, selected, write_options
from foretop_demo.status import Cause, bad_request, invalid_options, success, unsupported_media
from foretop_demo.writes import Written

_MERGE = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_PROPAGATIONS = ("Foreground", "Background", "Orphan")
_BODY_TYPES = ("", "application/json", "*/*")


class Call(NamedTuple):
    """One parsed and authorized request."""

    target: Target
    query: Mapping[str, str]
    body: bytes
    content_type: str
    agent: str
    form: Form


class Answer(NamedTuple):
    """A status code, the JSON body, and the warnings for the client."""

    code: int
    raw: bytes
    warnings: tuple[str, ...] = ()


class Handlers:
    """The handlers of every verb but watch, which streams."""

    def __init__(self, storage: InProcessApi) -> None:
        self._storage = storage

    def handle(self, verb: str, call: Call) -> Answer:
        table: dict[str, Callable[[Call], Answer]] = {
            "get": self.get,
            "list": self.list,
            "create": self.create,
            "update": self.update,
            "patch": self.patch,
            "delete": self.delete,
            "deletecollection": self.delete_collection,
        }
        return table[verb](call)

    def get(self, call: Call) -> Answer:
        version = call.query.get("resourceVersion", "")
        return self._one(200, call, self._storage.reader.get(call.target.kind, call.target.key, version))

    def list(self, call: Call) -> Answer:
        kind = call.target.kind
        page = self._storage.reader.list(kind, selected(call.target, call.query), list_options(call.query))
        return Answer(200, listed(call.form, kind, page, self._storage.clock.now()))

    def create(self, call: Call) -> Answer:
        body = read_object(call.body, call.content_type, call.target.kind)
        options = write_options(call.query, call.agent)
        namespace = call.target.address.namespace
        written = self._storage.writer.create(call.target.kind, body, namespace, options)
        return self._written(201, call, written)

    def update(self, call: Call) -> Answer:
        body = read_object(call.body, call.content_type, call.target.kind)
        options = write_options(call.query, call.agent)
        subresource = call.target.address.subresource
        written = self._storage.writer.update(call.target.kind, call.target.key, body, options, subresource)
        return self._written(200, call, written)

    def patch(self, call: Call) -> Answer:
        change = _read_patch(call)
        options = write_options(call.query, call.agent)
        subresource = call.target.address.subresource
        written = self._storage.writer.patch(call.target.kind, call.target.key, change, options, subresource)
        return self._written(200, call, written)

    def delete(self, call: Call) -> Answer:
        kind, (_, name) = call.target.kind, call.target.key
        deleted = self._storage.remover.delete(kind, call.target.key, _delete_options(call))
        if not deleted.gone:
            return self._one(200, call, deleted.stored)
        uid = deleted.stored.body["metadata"]["uid"]
        return Answer(200, msgspec.json.encode(success(kind, name, uid)))

    def delete_collection(self, call: Call) -> Answer:
        kind, options = call.target.kind, _delete_options(call)
        page = self._storage.reader.list(kind, selected(call.target, call.query), list_options(call.query))
        gone = []
        for stored in page.items:
            meta = stored.body["metadata"]
            key = (meta.get("namespace", ""), meta["name"])
            if self._storage.object_store.find(kind, key) is not None:
                gone.append(self._storage.remover.delete(kind, key, options).stored)
        whole = Page(gone, self._storage.version)
        return Answer(200, listed(call.form, kind, whole, self._storage.clock.now()))

    def _written(self, code: int, call: Call, written: Written) -> Answer:
        warnings = tuple(f'unknown field "{path}"' for path in written.dropped)
        quiet = call.query.get("fieldValidation") == "Ignore"
        return self._one(code, call, written.stored)._replace(warnings=() if quiet else warnings)

    def _one(self, code: int, call: Call, stored: Stored) -> Answer:
        return Answer(code, single(call.form, call.target.kind, stored, self._storage.clock.now()))


def decode_json(raw: bytes, what: str) -> Any:
    """The JSON body of a request; `what` begins the error message for invalid JSON."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"{what}; json parse error: {error}") from None


def read_object(raw: bytes, content_type: str, kind: Kind) -> Json:
    """The object in the body of a request."""
    refusal = f"the object provided is unrecognized (must be of type {kind.kind}): couldn't get version/kind"
    if content_type == protobuf.MEDIA_TYPE and protobuf.understands(kind.kind):
        try:
            return protobuf.decode(raw, kind.kind)
        except ValueError as error:
            raise bad_request(f"{refusal}; protobuf error: {error}") from None
    if content_type not in _BODY_TYPES:
        raise unsupported_media("application/json")
    body = decode_json(raw, refusal)
    if not isinstance(body, dict):
        raise bad_request(f"{refusal}; json parse error: not an object")
    return body


def _read_patch(call: Call) -> Callable[[Json], Json]:
    kind = call.target.kind
    accepted = [_JSON_PATCH, _MERGE, *([] if kind.custom else [_STRATEGIC])]
    if call.content_type not in accepted:
        raise unsupported_media(", ".join(accepted))
    change = decode_json(call.body, "error decoding patch")
    if call.content_type == _JSON_PATCH:
        return lambda body: patches.json_patch(body, change)
    if not isinstance(change, dict):
        raise bad_request("error decoding patch: a merge patch is an object")
    if call.content_type == _STRATEGIC:
        return lambda body: patches.strategic_merge(body, change)
    return lambda body: _merged(body, change)


def _merged(body: Json, change: Json) -> Json:
    result: Json = patches.merge(body, change)
    return result


class _Preconditions(msgspec.Struct):
    uid: str | None = None
    version: str | None = msgspec.field(name="resourceVersion", default=None)


class _DeleteBody(msgspec.Struct):
    preconditions: _Preconditions | None = None
    propagation: str | None = msgspec.field(name="propagationPolicy", default=None)
    dry_run: list[str] | None = msgspec.field(name="dryRun", default=None)


def _delete_options(call: Call) -> DeleteOptions:
    try:
        body = msgspec.json.decode(call.body.strip() or b"{}", type=_DeleteBody)
    except msgspec.MsgspecError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    propagation = call.query.get("propagationPolicy") or body.propagation or "Background"
    if propagation not in _PROPAGATIONS:
        known = ", ".join(f'"{each}"' for each in (*_PROPAGATIONS, "nil"))
        message = f'Unsupported value: "{propagation}": supported values: {known}'
        raise invalid_options("DeleteOptions", Cause("FieldValueNotSupported", "propagationPolicy", message))
    wanted = body.preconditions or _Preconditions()
    rehearsal = dry_run(call.query) or body.dry_run == ["All"]
    return DeleteOptions(wanted.uid or "", wanted.version or "", propagation, rehearsal)
