"""The rows that a person waits for: all else of a cluster is asked for once they are on the screen."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class FirstRows:
    """The kinds of the page that is open, until their first rows are shown.

    The rest waits for them, but never longer than `longest` seconds, whatever cluster and screen do.
    """

    def __init__(self, kinds: frozenset[str] = frozenset(), longest: float = 0.0) -> None:
        self._kinds = kinds
        self._longest = longest
        self._not_listed = set(kinds)
        self._over = asyncio.Event()
        if not kinds:
            self._over.set()

    def awaits(self, kind: str) -> bool:
        """True while rows of this kind are waited for."""
        return kind in self._kinds and not self._over.is_set()

    def note_listed(self, kind: str) -> None:
        """The first rows of a kind are there, or it is clear why not."""
        self._not_listed.discard(kind)

    @property
    def is_to_be_shown(self) -> bool:
        """True if all of them are there and nobody has shown them yet."""
        return not self._not_listed and not self._over.is_set()

    def note_shown(self) -> None:
        self._over.set()

    async def until_shown(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._longest):
                await self._over.wait()
        self._over.set()
