"""Files of the person who runs foretop: read within bounds, not waited for without an end, replaced in one step."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import stat
import threading
import time
from pathlib import Path

LOCK_LIMIT = 3.0
"""Seconds in which another process must let a file of ours go."""
DISK_LIMIT = 0.5
"""Seconds more for a disk that does not answer at all."""
_AT_A_TIME = 2**20
_TRY_LOCK_EACH = 0.02


def read_own_file(path: Path, most: int, *, from_end: bool = False) -> bytes:
    """The first or last so many bytes of a regular file; anything else (a pipe, a device) is an OSError at once."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        check_regular(descriptor)
        if from_end:
            file.seek(max(0, os.fstat(descriptor).st_size - most))
        return file.read(most)


def read_whole_file(path: Path, most: int) -> bytes:
    """All of a regular file; one that has more is an OSError too."""
    return _whole(read_own_file(path, most + 1), most)


def read_given_file(path: Path, most: int, patience: float) -> bytes:
    """All of a file that a person named, which may be a pipe: a shell's <(command) is one.

    Anything that has more, or sends nothing for so many seconds, is an OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            patience = 0.0
        data = bytearray()
        while len(data) <= most:
            if patience and not _has_come(descriptor, patience):
                raise OSError(errno.ETIMEDOUT, f"nothing was written to it within {patience:g} s")
            if not (part := os.read(descriptor, min(_AT_A_TIME, most + 1 - len(data)))):
                break
            data += part
    finally:
        os.close(descriptor)
    return _whole(bytes(data), most)


def _has_come(descriptor: int, patience: float) -> bool:
    """True if something can be read; a pipe that nobody has opened to write yet is waited for as well."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(patience * 1000))


def _whole(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 2**20} MiB")
    return data


def replace_own_file(path: Path, content: bytes) -> None:
    """Replace a file at once: after a crash or on a full disk the old or the new one is there, for its owner only."""
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


def lock_file(descriptor: int, limit: float = LOCK_LIMIT, given_up: threading.Event | None = None) -> None:
    """Waits in a thread until no other process holds the file; after so many seconds, or given up, an OSError.

    It asks again and again, because a lock that is waited for cannot be given up.
    """
    end = time.monotonic() + limit
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end or (given_up is not None and given_up.is_set()):
                raise OSError(errno.ETIMEDOUT, f"another process has locked it for {limit:g} s") from None
        time.sleep(_TRY_LOCK_EACH)


def why_not(problem: OSError) -> str:
    """The problem with a file, to stand after a colon."""
    why = problem.strerror or str(problem)
    return why[:1].lower() + why[1:]


def check_regular(descriptor: int) -> None:
    """Raises OSError for an open file that is not on a disk."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")


def check_own(path: Path) -> None:
    """Raises OSError for a file or folder that another user than this one, or root, could have written to."""
    found = path.stat()
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, f"other users can write to {path}, chmod go-w it")
