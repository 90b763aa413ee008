"""Small files that a person or another program has written: read within bounds, and never waited for."""

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


def check_regular(descriptor: int) -> None:
    """Raises OSError for an open file that is not on a disk."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")
