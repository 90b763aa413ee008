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
_PATIENCE = 3.0
"""Seconds after which the follower of a key may have got lost with the widget that it was sent to."""


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
        self._sent_at: float | None = None
        self._follower = 0
        """The number of the follower that counts; those before it are late, or lost."""

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
        now = asyncio.get_running_loop().time()
        if self._sent_at is None:
            await self._send_next()
        elif now - self._sent_at > _PATIENCE:
            # Not at once: where the machine was busy, the key itself may still be on its way.
            self._sent_at = now
            self._follower += 1
            self._follow(self._place)

    async def _send_next(self) -> None:
        if not self._waiting_keys:
            self._sent_at = None
            return
        place = self._place
        self._sent_at = asyncio.get_running_loop().time()
        key = self._waiting_keys.popleft()
        self._follower += 1
        await super().on_event(key)
        self._follow(place)

    @property
    def _place(self) -> tuple[Screen[object], Widget | None]:
        return self.screen, self.focused

    def _follow(self, place: tuple[Screen[object], Widget | None], *, again: bool = False) -> None:
        screen, focused = place
        follower = _KeyBarrier(self._follower, place, is_second=again)
        if not (focused or screen).post_message(follower):
            self.post_message(follower)

    @on(_KeyBarrier)
    async def _followed(self, message: _KeyBarrier) -> None:
        """A second one goes behind what the key itself has said on its way, such as that a line is entered.

        A key that led elsewhere is followed there too: what it opened may be about to take the focus.
        """
        message.stop()
        if not self.screen_stack or message.number != self._follower:
            return
        if message.place != self._place:
            self._follow(self._place)
        elif not message.is_second:
            self._follow(self._place, again=True)
        else:
            await self._send_next()
