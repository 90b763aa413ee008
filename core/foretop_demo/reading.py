"""Get and list: which version a resourceVersion asks for, and pages that all show the same version."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import msgspec

from foretop_demo.change_log import Compacted, Key, Stored
from foretop_demo.kinds import Kind
from foretop_demo.selectors import Selection
from foretop_demo.status import (
    EXPIRED_TOKEN,
    Cause,
    bad_request,
    expired,
    invalid_options,
    not_found,
    too_large_version,
)
from foretop_demo.versioned_store import VersionedStore

_ANY_MOMENT = -1


class ListOptions(NamedTuple):
    """The list parameters besides the selection; "" stands for an absent one."""

    limit: int = 0
    token: str = ""
    version: str = ""
    match: str = ""


class Page(NamedTuple):
    """One page of a list; all pages of a list are of one version."""

    items: list[Stored]
    version: int
    token: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct):
    """The start of the next page: after this key, at this version."""

    version: int = msgspec.field(name="rv")
    start: str
    v: str = "meta.k8s.io/v1"

    def encode(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")


class Reader:
    """Reads the objects at the version that a request asks for."""

    def __init__(self, object_store: VersionedStore) -> None:
        self._object_store = object_store

    def get(self, kind: Kind, key: Key, version: str = "") -> Stored:
        self._check_not_newer(parse_version(version), retry=True)
        stored = self._object_store.find(kind, key)
        if stored is None:
            raise not_found(kind, key[1])
        return stored

    def list(self, kind: Kind, selection: Selection, options: ListOptions) -> Page:
        """One page, or everything if there is no limit."""
        check_list_options(options)
        if options.token:
            token = _decode(options.token)
            version, start = token.version, token.start
        else:
            version, start = self._moment(options), ""
        objects = self._objects_at(kind, version, start, selection, paged=bool(options.token))
        shown = self._object_store.version if version == _ANY_MOMENT else version
        from_cache = options.version == "0" and not options.match and not options.token
        limit = 0 if from_cache else options.limit
        return _cut(objects, start, shown, limit, selection)

    def _check_not_newer(self, version: int, retry: bool) -> None:
        if version > self._object_store.version:
            raise too_large_version(version, self._object_store.version, retry)

    def _moment(self, options: ListOptions) -> int:
        asked = parse_version(options.version)
        exact = options.match == "Exact" or bool(options.limit and not options.match)
        self._check_not_newer(asked, retry=not exact)
        return asked if asked > 0 and exact else _ANY_MOMENT

    def _objects_at(self, kind: Kind, version: int, start: str, selection: Selection, paged: bool) -> dict[Key, Stored]:
        kind_store = self._object_store.kind_store(kind)
        if version in (_ANY_MOMENT, self._object_store.version):
            return kind_store.objects
        try:
            return kind_store.change_log.undo(kind_store.objects, version)
        except Compacted as error:
            if not paged:
                raise expired("The provided resource version is too old and no longer remembered.") from None
            refusal = expired(EXPIRED_TOKEN)
            refusal.continue_token = _Token(_ANY_MOMENT, start).encode()
            raise refusal from error


def check_list_options(options: ListOptions) -> None:
    """Refuse combinations that ask for two versions at once, or for none."""
    match, causes = options.match, []
    if match and not options.version:
        causes.append(_forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if match and options.token:
        causes.append(_forbidden_match("resourceVersionMatch is forbidden when continue is provided"))
    if match not in ("", "Exact", "NotOlderThan"):
        message = f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""'
        causes.append(Cause("FieldValueNotSupported", "resourceVersionMatch", message))
    if match == "Exact" and options.version == "0":
        causes.append(_forbidden_match('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if causes:
        raise invalid_options("ListOptions", *causes)
    if options.token and options.version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")


def _forbidden_match(message: str) -> Cause:
    return Cause("FieldValueForbidden", "resourceVersionMatch", f"Forbidden: {message}")


def parse_version(text: str) -> int:
    """The number of a version, 0 for an absent one; anything else is a bad request."""
    if text and not text.isdecimal():
        raise bad_request(f"invalid resource version: {not_a_version(text)}")
    return int(text or 0)


def not_a_version(text: str) -> str:
    return f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'


def _decode(token: str) -> _Token:
    try:
        padded = token + "=" * (-len(token) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=_Token)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise bad_request("invalid continue token: continue key is not valid") from None


def _cut(objects: dict[Key, Stored], start: str, version: int, limit: int, selection: Selection) -> Page:
    after = tuple(start.split("/", 1)) if start else ()
    keys = sorted(key for key in objects if key > after) if after else sorted(objects)
    found = [objects[key] for key in keys if selection.matches(objects[key].body)]
    if not limit or len(found) <= limit:
        return Page(found, version)
    last = found[limit - 1].body["metadata"]
    token = _Token(version, f"{last.get('namespace', '')}/{last['name']}")
    remaining = None if selection.filters else len(found) - limit
    return Page(found[:limit], version, token.encode(), remaining)
