"""A whole list that is read while it comes: its objects are taken out of the stream, so that it is never held whole."""

from __future__ import annotations

import re

import msgspec

from foretop_core.kube.connection.error_answers import too_long
from foretop_core.kube.watching.list_watch_codec import ListPage, read_page
from foretop_core.models.kinds import Kind

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
                found = _OBJECTS.decode(b"[" + self._rest[: end + 1] + b"]")
            except (ValueError, RecursionError):
                continue
            del self._rest[: end + 2]
            return found
        if len(self._rest) > LONGEST_OBJECT:
            raise too_long("an object of the list", LONGEST_OBJECT)
        return []

    def end(self) -> ListPage:
        """The last objects, and what the list says of itself, which may come before its objects or after them."""
        return read_page(self._head + self._rest, self._kind)

    def _has_begun(self) -> bool:
        """Whether the first object is there at least as far as its first key."""
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
