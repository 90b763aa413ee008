"""Own frames from a key to the bytes of its write: `python -m tests.house.frames` prints them, one line each.

Counted are the frames of foretop's own code that stand on the stack when the write is handed to the HTTP library, and
before them those that led there through a message or a task: a chain that was cut there would look short.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from aiohttp.client_reqrep import ClientRequest
from textual.message import Message
from textual.message_pump import MessagePump

from foretop_core.models.kinds import SCHEDULE
from tests.tui.dashboard_on_box import stand

_OWN = tuple(str(Path(__file__).parents[2] / root) for root in ("core/foretop_core", "tui"))
Frames = tuple[str, ...]
_before: ContextVar[Frames] = ContextVar("_before", default=())
"""The frames that led to the message or the task that is running."""


def _own_frames(innermost: FrameType | None) -> Frames:
    found: list[str] = []
    while innermost is not None:
        if innermost.f_code.co_filename.startswith(_OWN):
            module = Path(innermost.f_code.co_filename)
            found.append(f"{module.parent.name}/{module.name}: {innermost.f_code.co_qualname}")
        innermost = innermost.f_back
    return tuple(reversed(found))


def _chain() -> Frames:
    return (*_before.get(), *_own_frames(sys._getframe(2)))


def _in_new_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    context = options.pop("context", None) or copy_context()
    context.run(_before.set, _chain())
    return asyncio.Task(work, loop=loop, context=context, **options)


@contextmanager
def _followed(written: Callable[[str, Frames], object]) -> Iterator[None]:
    """Every message remembers the frames that posted it; every write tells those that led to it."""
    post, dispatch, send = MessagePump.post_message, MessagePump._dispatch_message, ClientRequest.send

    def posting(self: MessagePump, message: Message) -> bool:
        if not hasattr(message, "_before"):
            message._before = _chain()  # type: ignore[attr-defined]
        return post(self, message)

    async def dispatching(self: MessagePump, message: Message) -> None:
        token = _before.set(getattr(message, "_before", ()))
        try:
            await dispatch(self, message)
        finally:
            _before.reset(token)

    async def sending(self: ClientRequest, connection: Any) -> Any:
        if self.method not in ("GET", "HEAD"):
            written(f"{self.method} {self.url.path}", _chain())
        return await send(self, connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessagePump, "post_message", posting)
        patch.setattr(MessagePump, "_dispatch_message", dispatching)
        patch.setattr(ClientRequest, "send", sending)
        yield


async def key_to_bytes() -> Frames:
    """The frames from the key that confirms an unpause to its PATCH."""
    found: dict[str, Frames] = {}
    asyncio.get_running_loop().set_task_factory(_in_new_task)
    async with stand("maintenance") as at:
        await at.go("2", at.key(SCHEDULE, "etcd-hourly"))
        await at.shown.press("u")
        await at.see("Unpause etcd-hourly")
        with _followed(found.setdefault):
            await at.send()
            await at.shown.until(lambda: any(line.startswith("PATCH") for line in found))
    return next(frames for line, frames in found.items() if line.startswith("PATCH"))


def main() -> None:
    frames = asyncio.run(key_to_bytes())
    print(f"key to bytes: {len(frames)} own frames")
    for number, frame in enumerate(frames, 1):
        print(f"{number:3} {frame}")


if __name__ == "__main__":
    main()
