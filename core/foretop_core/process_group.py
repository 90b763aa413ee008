"""The beginning and the end of child processes: where a program is looked for, and how all that it started is ended."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
from collections.abc import Mapping


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """The absolute path of a program, as Go's exec.LookPath finds it: never out of the current folder.

    A relative name, and a program that only an empty or relative entry of PATH leads to, is a FileNotFoundError.
    """
    if os.path.isabs(name):
        return name
    folders = [] if os.sep in name else environ.get("PATH", os.defpath).split(os.pathsep)
    for place in (os.path.join(folder, name) for folder in folders if os.path.isabs(folder)):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    why = "it is a relative path" if os.sep in name else os.strerror(errno.ENOENT)
    raise FileNotFoundError(errno.ENOENT, why, name)


async def end_process_group(process: asyncio.subprocess.Process) -> None:
    """Ends a child that was started in a session of its own, with its helpers: one may hold the pipes open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # A pipe whose reading is paused never shows its end, and wait() would wait for that.
    process._transport.close()  # type: ignore[attr-defined]
    await process.wait()
