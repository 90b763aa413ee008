"""The shapes that lists and watches wrap objects in, read whole or as they come; the objects stay raw."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.connection_errors import ApiError, api_error, too_long
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import Resource, decode

LIST_LIMIT = 600.0
"""Seconds for all pages of a list."""
MOST_OBJECTS = 100_000
_LEAST_OF_A_PAGE = 100
_LONGEST_TYPE = 100
_IN_BETWEEN = "is there a proxy or a login page in between?"


class ListMeta(msgspec.Struct, rename="camel", frozen=True):
    resource_version: str | None = None
    next_chunk: str | None = msgspec.field(default=None, name="continue")
    remaining_item_count: int | None = None


class ListPage(msgspec.Struct, frozen=True):
    """A chunk of a list; Go writes an empty one as null."""

    kind: str = ""
    metadata: ListMeta = ListMeta()
    items: list[msgspec.Raw] | None = None


class WatchEvent(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class TypeMeta(msgspec.Struct, rename="camel", frozen=True):
    """The kind and version that an object says it has."""

    api_version: str = ""
    kind: str = ""


class OtherType(Unreadable):
    """An object of another kind than the one that was asked for; its name is not a name of that kind."""


class ObjectIdentity(msgspec.Struct, frozen=True):
    """The little of an object that a watch needs even when the rest cannot be read."""

    namespace: str = ""
    name: str = ""
    version: str = ""


class EndlessList(ApiError):
    """A list without an end, or one that nobody could look through."""

    def __init__(self, message: str) -> None:
        super().__init__(200, "", message)


class ListGuard:
    """Ends a list that has too many objects or comes back to a page that it has already had."""

    def __init__(self) -> None:
        self._seen = 0
        self._chunks: set[str] = set()

    def check(self, count: int, next_chunk: str) -> None:
        """Another page has come; one without objects counts as well, for there can be any number of them."""
        self.check_count(max(count, _LEAST_OF_A_PAGE))
        if next_chunk and next_chunk in self._chunks:
            raise EndlessList("the list repeats its pages")
        self._chunks.add(next_chunk)

    def check_count(self, count: int) -> None:
        """So many objects more have come."""
        self._seen += count
        if self._seen > MOST_OBJECTS:
            raise EndlessList(f"the list has more than {MOST_OBJECTS:,} objects")


@asynccontextmanager
async def ended_within(seconds: float) -> AsyncIterator[None]:
    """Leaves a list whose pages or bytes each come in time, and that does not end all the same."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EndlessList(f"the list did not end within {seconds:g} s") from None


_PAGE = msgspec.json.Decoder(ListPage)
_EVENT = msgspec.json.Decoder(WatchEvent)
_TYPE = msgspec.json.Decoder(TypeMeta)


def read_page(body: bytes, kind: Kind) -> ListPage:
    """A chunk of a list of this kind; anything else means that the answer is not from an API server.

    Any JSON object would do for a list without objects, and all that is known would be taken for deleted.
    """
    try:
        page = _PAGE.decode(body)
    except (ValueError, RecursionError) as problem:
        raise ApiError(200, "", f"the answer is not a list: {problem}", hint=_IN_BETWEEN) from None
    if page.kind != f"{kind.name}List" or not page.metadata.resource_version:
        raise ApiError(200, "", f"the answer is not a list of {api_paths.title(kind)}", hint=_IN_BETWEEN)
    return page


def read_event(line: bytes) -> WatchEvent:
    try:
        return _EVENT.decode(line)
    except (ValueError, RecursionError) as problem:
        raise Unreadable("A line of the watch cannot be read", str(problem)) from None


@cache
def _opening(wanted: TypeMeta) -> bytes:
    return msgspec.json.encode(wanted)[:-1] + b","


def check_type(wanted: TypeMeta, raw: msgspec.Raw, *, may_be_absent: bool) -> None:
    """Raises OtherType unless the object is what was asked for.

    The items of a list of Kubernetes' own kinds do not say what they are; every object of a watch does. Most objects
    begin with it, and are not looked through.
    """
    opening = _opening(wanted)
    if memoryview(raw)[: len(opening)] == opening:
        return
    try:
        meta = _TYPE.decode(raw)
    except msgspec.ValidationError:
        meta = TypeMeta()
        may_be_absent = False
    except (ValueError, RecursionError):
        return  # Not JSON at all: who reads it says why.
    if meta == wanted or (may_be_absent and meta == TypeMeta()):
        return
    text = " ".join(part for part in (meta.api_version, meta.kind) if part)[:_LONGEST_TYPE]
    raise OtherType(f"{wanted.kind} cannot be read", f"the object is {f'a {text}' if text else 'without a kind'}")


def read_object(kind: Kind, raw: msgspec.Raw) -> Resource:
    """One object with a name; whatever is wrong with it (bad UTF-8, no end of nesting) is Unreadable."""
    try:
        resource = decode(kind.model, raw)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"{kind.name} cannot be read", str(problem)) from None
    if not resource.name:
        raise Unreadable(f"{kind.name} cannot be read", "it has no name")
    return resource


def identify(raw: msgspec.Raw) -> ObjectIdentity:
    """Name and version of an object of any shape, empty where it has none."""
    try:
        value: Any = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return ObjectIdentity()
    meta = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(meta, dict):
        return ObjectIdentity()
    values = (meta.get(key) for key in ("namespace", "name", "resourceVersion"))
    return ObjectIdentity(*(text if isinstance(text, str) else "" for text in values))


def error_of(event: WatchEvent) -> ApiError:
    """The error in an ERROR event: the Status that a request would have been refused with."""
    return api_error(500, bytes(event.object), "", None)


LONGEST_OBJECT = 16 * 2**20
"""Bytes without the end of an object; etcd takes objects of 1.5 MiB."""
_LEAST = 2**16
"""Bytes that are worth a search for the end of an object."""
_TRIES = 32
_ITEMS = re.compile(rb'"items"\s*:\s*\[')
_OBJECTS = msgspec.json.Decoder(list[msgspec.Raw])


class ListStream:
    """Splits the answer to a list into its objects.

    Two objects meet where one ends and the next begins with the key that the first began with. That also happens
    inside an object, but what is cut there is not valid JSON, so that every cut is proven by reading it.
    """

    def __init__(self, kind: Kind, least: int = _LEAST) -> None:
        self._kind = kind
        self._least = least
        self._head = b""
        self._meeting: bytes | bytearray = b""
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[msgspec.Raw]:
        """The objects that are complete now."""
        self._rest += data
        if len(self._rest) < self._least or not self._has_begun():
            return []
        end = len(self._rest)
        for _ in range(_TRIES):
            end = self._rest.rfind(self._meeting, None, end)
            if end == -1:
                break
            try:
                raws = _OBJECTS.decode(b"[" + self._rest[: end + 1] + b"]")
            except (ValueError, RecursionError):
                continue
            del self._rest[: end + 2]
            return raws
        if len(self._rest) > LONGEST_OBJECT:
            raise too_long("an object of the list", LONGEST_OBJECT)
        return []

    def end(self) -> ListPage:
        """The last objects, and what the list says of itself, which may come before its objects or after them."""
        return read_page(self._head + self._rest, self._kind)

    def _has_begun(self) -> bool:
        """True if the first object is there at least as far as its first key."""
        if not self._head:
            items = _ITEMS.search(self._rest)
            if items is None:
                return False
            self._head = bytes(self._rest[: items.end()])
            del self._rest[: items.end()]
        if not self._meeting:
            opening, colon, _ = self._rest.partition(b":")
            if colon:
                self._meeting = b"}," + opening + colon
        return bool(self._meeting)
