"""Content negotiation: plain objects, a table, or metadata only."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from foretop_demo.change_log import Stored, watch_frame
from foretop_demo.kinds import Json, Kind
from foretop_demo.reading import Page
from foretop_demo.status import bad_request, not_acceptable
from foretop_demo.table import partial, table
from foretop_demo.watch import Event

_PLAIN = ("application/json", "application/*", "*/*")
_TABLE = "Table"
_PARTIAL = ("PartialObjectMetadata", "PartialObjectMetadataList")


class Form(NamedTuple):
    """The form of an answer (`kind` is "" for the object itself), and what a table's rows include."""

    kind: str = ""
    include: str = "Metadata"


def choose(accept: str, include: str) -> Form:
    """The first form in an Accept header that this server supports."""
    if include not in ("", "None", "Metadata", "Object"):
        raise bad_request(f'unrecognized includeObject value: "{include}"')
    for clause in accept.split(",") if accept.strip() else ["*/*"]:
        media, *parameters = (part.strip() for part in clause.split(";"))
        wanted = dict(part.partition("=")[::2] for part in parameters)
        if media not in _PLAIN:
            continue
        if "as" not in wanted:
            return Form()
        if wanted.get("g") == "meta.k8s.io" and wanted.get("v") == "v1" and wanted["as"] in (_TABLE, *_PARTIAL):
            return Form(wanted["as"], include or "Metadata")
    raise not_acceptable("application/json")


def single(form: Form, kind: Kind, stored: Stored, now: datetime) -> bytes:
    if form.kind == _TABLE:
        meta = {"resourceVersion": stored.body["metadata"].get("resourceVersion", "")}
        return msgspec.json.encode(table(kind, [stored.body], meta, form.include, now))
    if form.kind in _PARTIAL:
        return msgspec.json.encode(partial(stored.body))
    return stored.raw


def listed(form: Form, kind: Kind, page: Page, now: datetime) -> bytes:
    meta: Json = {"resourceVersion": str(page.version)}
    if page.token or kind.custom:
        meta["continue"] = page.token
    if page.remaining is not None:
        meta["remainingItemCount"] = page.remaining
    if form.kind == _TABLE:
        return msgspec.json.encode(table(kind, [each.body for each in page.items], meta, form.include, now))
    if form.kind in _PARTIAL:
        items = [partial(each.body) for each in page.items]
        head: Json = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        return msgspec.json.encode({**head, "metadata": meta, "items": items})
    raws = [each.raw for each in page.items] if kind.custom else [_bare(each) for each in page.items]
    start = msgspec.json.encode({"kind": kind.list_kind, "apiVersion": kind.api_version, "metadata": meta})
    return b'%s,"items":[%s]}' % (start[:-1], b",".join(raws))


def _bare(stored: Stored) -> bytes:
    """An item of a built-in list without its kind and apiVersion, which such lists do not repeat."""
    return msgspec.json.encode({key: value for key, value in stored.body.items() if key not in ("apiVersion", "kind")})


def event_frame(form: Form, kind: Kind, event: Event, now: datetime, first: bool) -> bytes:
    """A line of a watch in the requested form; errors and bookmarks keep their own."""
    if not form.kind or event.type == "ERROR":
        return event.frame
    if form.kind in _PARTIAL:
        return watch_frame(event.type, msgspec.json.encode(partial(event.stored.body)))
    meta = {"resourceVersion": event.stored.body["metadata"].get("resourceVersion", "")}
    bodies = [] if event.type == "BOOKMARK" else [event.stored.body]
    return watch_frame(event.type, msgspec.json.encode(table(kind, bodies, meta, form.include, now, headed=first)))
