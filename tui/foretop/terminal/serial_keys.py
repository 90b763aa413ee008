"""Keys in order: each is handled before the next one is routed.

Textual sends a key to the focus of the moment and looks at the next one at once. Where keys come in one go, as over a
slow line, from a paste or a script, the letters after `/` would still go to the table, and the `q` of `:q` would
close the palette that the colon has just opened.
"""

from __future__ import annotations

import asyncio
from collections import deque

from textual import events, on
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from foretop.terminal.textual_internals import InternalsApp, parse_keys

_LINE_FEED = "ctrl+j"
"""What becomes of enter where it is pressed while the terminal is still in line mode."""
_PATIENCE = 1.0
"""Seconds after which the follower of a key may have got lost with a widget on its way, and another one is sent."""


class _KeyBarrier(Message):
    """A message that follows a key through the queues; when it arrives, the key was handled."""

    def __init__(self, number: int, place: tuple[Screen[object], Widget | None], *, is_second: bool = False) -> None:
        super().__init__()
        self.number = number
        self.place = place
        self.is_second = is_second


class SerialKeyApp(InternalsApp):
    """An app that keeps the order of keys typed faster than it opens its windows."""

    def __init__(self, *, ansi_color: bool, typed: bytes = b"") -> None:
        super().__init__(ansi_color=ansi_color)
        self._typed_early = typed
        self._waiting_keys: deque[events.Key] = deque()
        self._key_number = 0
        """Of the key that is on its way; the followers of those before it are late."""
        self._search: asyncio.TimerHandle | None = None
        """For the follower of the key that is on its way."""

    @property
    def has_no_keys(self) -> bool:
        """None waits or is on its way."""
        return self._search is None and not self._waiting_keys

    def on_load(self) -> None:
        """Put the keys that were typed before the driver reads in front of all that it reads."""
        if self._typed_early:
            for event in parse_keys(self._typed_early.decode(errors="replace")):
                self.post_message(event)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and event.key == _LINE_FEED:
            event = events.Key("enter", "\r")
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        self._waiting_keys.append(event)
        if self._search is None:
            await self._send_next()

    async def _send_next(self) -> None:
        if self._search is not None:
            self._search.cancel()
            self._search = None
        if not self._waiting_keys:
            return
        place = self._place
        self._key_number += 1
        self._search_later()
        await super().on_event(self._waiting_keys.popleft())
        self._follow(place)

    def _search_later(self) -> None:
        self._search = asyncio.get_running_loop().call_later(_PATIENCE, self._follow_again)

    def _follow_again(self) -> None:
        """Whoever is first counts: where the machine was busy, the follower before is still on its way."""
        if self.screen_stack:
            self._follow(self._place)
            self._search_later()

    @property
    def _place(self) -> tuple[Screen[object], Widget | None]:
        return self.screen, self.focused

    def _follow(self, place: tuple[Screen[object], Widget | None], *, again: bool = False) -> None:
        screen, focused = place
        follower = _KeyBarrier(self._key_number, place, is_second=again)
        if not (focused or screen).post_message(follower):
            self.post_message(follower)

    @on(_KeyBarrier)
    async def _followed(self, message: _KeyBarrier) -> None:
        """A second one goes behind what the key itself has said on its way, such as that a line is entered.

        A key that led elsewhere is followed there too: what it opened may be about to take the focus.
        """
        message.stop()
        if not self.screen_stack or message.number != self._key_number:
            return
        if message.place != self._place:
            self._follow(self._place)
        elif not message.is_second:
            self._follow(self._place, again=True)
        else:
            await self._send_next()
