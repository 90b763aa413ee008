"""`foretop report --post-mortem`: a recording told from its end, as Markdown."""

from __future__ import annotations

import asyncio
from datetime import UTC
from functools import partial

from foretop.commands.live_session import running_session
from foretop.commands.output import say_progress, say_signed
from foretop_core.background import in_thread
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.archives.client import ArchiveClient
from foretop_core.rooms.archives.post_mortem import post_mortem, post_mortem_text


def print_post_mortem(options: SessionOptions) -> int:
    """Prints the course of each recording; BadInput for what is none."""
    return asyncio.run(_print(options))


async def _print(options: SessionOptions) -> int:
    async with running_session(options) as session:
        for context, client in session.connections.clients.items():
            recording = client.archive.recording if isinstance(client, ArchiveClient) else None
            if recording is None:
                raise BadInput(f"{context} has no course", "it is no recording", "make one with foretop record")
            make = partial(post_mortem, recording, context, session.thresholds, say_progress)
            for line in post_mortem_text(await in_thread(make), UTC).splitlines():
                say_signed(line)
    return 0
