"""The end of a child process and of all that it has started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal


async def end_process_group(process: asyncio.subprocess.Process) -> None:
    """Ends a child that was started in a session of its own, with its helpers: one may hold the pipes open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # A pipe whose reading is paused never shows its end, and wait() would wait for that.
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()
