"""The lines of a long text, which is kept as the bytes that came."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

_AT_A_TIME = 1000
"""Lines that are decoded together: one by one takes five times as long."""


class LogText(Sequence[str]):
    """Decodes a line when it is asked for: a million str take three times the room of their bytes."""

    def __init__(self, text: bytes | bytearray) -> None:
        self._text = text
        self._ends = array("I", (found.start() for found in re.finditer(rb"\n", text)))
        if text and not text.endswith(b"\n"):
            self._ends.append(len(text))

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._text)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._decoded(place % len(self), place % len(self) + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_A_TIME):
            yield from self._decoded(first, min(first + _AT_A_TIME, len(self)))

    def _decoded(self, first: int, stop: int) -> list[str]:
        """Some of the lines; what is not UTF-8 ends where its line ends."""
        start = self._ends[first - 1] + 1 if first else 0
        part = self._text[start : self._ends[stop - 1]].decode("utf-8", "replace")
        return [line.rstrip("\r") for line in part.split("\n")]
