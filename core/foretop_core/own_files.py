"""Small files of the person who runs foretop: read within bounds, never waited for, and replaced in one step."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_own_file(path: Path, most: int, *, from_end: bool = False) -> bytes:
    """The first or last so many bytes of a regular file; anything else (a pipe, a device) is an OSError at once."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        check_regular(descriptor)
        if from_end:
            file.seek(max(0, os.fstat(descriptor).st_size - most))
        return file.read(most)


def replace_own_file(path: Path, content: bytes) -> None:
    """Whatever ends foretop or fills the disk, the old file is there or the new one; only its owner can read it."""
    path = path.resolve()
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def check_regular(descriptor: int) -> None:
    """Raises OSError for an open file that is not on a disk."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")
