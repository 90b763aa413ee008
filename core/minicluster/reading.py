"""Getting and listing: which moment a resourceVersion asks for, and pages that all show the same moment."""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import msgspec

from core.minicluster.journal import Compacted, Key, Stored
from core.minicluster.kinds import Kind
from core.minicluster.selectors import Selection
from core.minicluster.shelf import Shelves
from core.minicluster.status import (
    EXPIRED_TOKEN,
    ApiError,
    bad_request,
    expired,
    invalid_options,
    not_found,
    too_large_version,
)

_ANY_MOMENT = -1


class ListOptions(NamedTuple):
    """What a list may ask beside the selection; empty strings stand for absent parameters."""

    limit: int = 0
    token: str = ""
    version: str = ""
    match: str = ""


class Page(NamedTuple):
    """A part of a list: all of its pages are of one version."""

    items: list[Stored]
    version: int
    token: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct):
    """Where the next page begins: after this key, at this version."""

    version: int = msgspec.field(name="rv")
    start: str
    v: str = "meta.k8s.io/v1"

    def encode(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")


class Reader:
    """Reads the shelves as of the moment that a request asks for."""

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves

    def get(self, kind: Kind, key: Key) -> Stored:
        stored = self._shelves.find(kind, key)
        if stored is None:
            raise not_found(kind, key[1])
        return stored

    def list(self, kind: Kind, selection: Selection, options: ListOptions) -> Page:
        """One page, or everything where no limit is given."""
        check_list_options(options)
        if options.token:
            token = _decode(options.token)
            version, start = token.version, token.start
        else:
            version, start = self._moment(options), ""
        objects = self._objects_at(kind, version, start, selection, paged=bool(options.token))
        shown = self._shelves.version if version == _ANY_MOMENT else version
        limit = 0 if options.version == "0" and not options.match else options.limit
        return _cut(objects, start, shown, limit, selection)

    def check_not_newer(self, version: int) -> None:
        if version > self._shelves.version:
            raise too_large_version(version, self._shelves.version)

    def _moment(self, options: ListOptions) -> int:
        asked = parse_version(options.version)
        if asked > 0:
            self.check_not_newer(asked)
        exact = options.match == "Exact" or (options.limit and not options.match)
        return asked if asked > 0 and exact else _ANY_MOMENT

    def _objects_at(
        self, kind: Kind, version: int, start: str, selection: Selection, paged: bool
    ) -> dict[Key, Stored]:
        shelf = self._shelves.shelf(kind)
        if version in (_ANY_MOMENT, self._shelves.version):
            return shelf.objects
        try:
            return shelf.journal.undo(shelf.objects, version)
        except Compacted as error:
            if not paged:
                raise expired("The provided resource version is too old and no longer remembered.") from None
            refusal = expired(EXPIRED_TOKEN)
            refusal.continue_token = _Token(_ANY_MOMENT, start).encode()
            raise refusal from error


def check_list_options(options: ListOptions) -> None:
    if options.match and options.match not in ("Exact", "NotOlderThan"):
        known = 'supported values: "Exact", "NotOlderThan", ""'
        message = f'Unsupported value: "{options.match}": {known}'
        raise invalid_options("ListOptions", "resourceVersionMatch", "FieldValueNotSupported", message)
    if options.match and not options.version:
        raise _forbidden_match("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if options.match and options.token:
        raise _forbidden_match("resourceVersionMatch is forbidden when continue is provided")
    if options.match == "Exact" and options.version == "0":
        message = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        raise _forbidden_match(message)
    if options.token and options.version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")


def _forbidden_match(message: str) -> ApiError:
    return invalid_options(
        "ListOptions", "resourceVersionMatch", "FieldValueForbidden", f"Forbidden: {message}"
    )


def parse_version(text: str) -> int:
    """0 for an absent one; not a number is a bad request."""
    if not text:
        return 0
    if not text.isdecimal():
        parsing = f'strconv.ParseUint: parsing "{text}": invalid syntax'
        raise bad_request(f'Invalid value: "{text}": {parsing}')
    return int(text)


def _decode(token: str) -> _Token:
    try:
        padded = token + "=" * (-len(token) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=_Token)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise bad_request("continue key is not valid") from None


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
