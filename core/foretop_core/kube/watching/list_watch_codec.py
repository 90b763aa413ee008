"""The shapes that lists and watches wrap objects in; the objects stay raw for their own decoders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.error_answers import api_error
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import Resource, decode

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
    """What an object says that it is."""

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
        found = _TYPE.decode(raw)
    except msgspec.ValidationError:
        found = TypeMeta()
        may_be_absent = False
    except (ValueError, RecursionError):
        return  # Not JSON at all: who reads it says why.
    if found == wanted or (may_be_absent and found == TypeMeta()):
        return
    told = " ".join(part for part in (found.api_version, found.kind) if part)[:_LONGEST_TYPE]
    raise OtherType(f"{wanted.kind} cannot be read", f"the object is {f'a {told}' if told else 'without a kind'}")


def read_object(kind: Kind, raw: msgspec.Raw) -> Resource:
    """One object with a name; whatever is wrong with it (bad UTF-8, no end of nesting) is Unreadable."""
    try:
        found = decode(kind.model, raw)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"{kind.name} cannot be read", str(problem)) from None
    if not found.name:
        raise Unreadable(f"{kind.name} cannot be read", "it has no name")
    return found


def identify(raw: msgspec.Raw) -> ObjectIdentity:
    """Name and version of an object of any shape, empty where it has none."""
    try:
        value: Any = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return ObjectIdentity()
    meta = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(meta, dict):
        return ObjectIdentity()
    found = (meta.get(key) for key in ("namespace", "name", "resourceVersion"))
    return ObjectIdentity(*(text if isinstance(text, str) else "" for text in found))


def error_of(event: WatchEvent) -> ApiError:
    """What an ERROR event says: the Status that a request would have been refused with."""
    return api_error(500, bytes(event.object), "", None)
