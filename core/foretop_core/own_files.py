"""Files of the person who runs foretop: read within bounds, not waited for without an end, replaced in one step.

What foretop keeps is in folders that nobody else can write to, and is no link: behind sudo, in the home of another
user, a link would have it write over a file of root's.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

LOCK_LIMIT = 3.0
"""Seconds in which another process must let a file of ours go."""
DISK_LIMIT = 0.5
"""Seconds more for a disk that does not answer at all."""
_AT_A_TIME = 2**20
_WITHOUT_WAITING = os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINKS = 40
_TRY_LOCK_EACH = 0.02


def read_file(path: Path, most: int) -> bytes:
    """The first so many bytes of a regular file; anything else (a pipe, a device) is an OSError at once."""
    return _read(os.open(path, os.O_RDONLY | _WITHOUT_WAITING), most)


PACKED = (b"PK", b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh")
_TAR_MARK = slice(257, 262)


def is_packed(head: bytes) -> bool:
    """True for the first 512 bytes of a tar, a zip, or what gzip, xz or bzip2 has packed."""
    return head.startswith(PACKED) or head[_TAR_MARK] == b"ustar"


def read_whole_file(path: Path, most: int) -> bytes:
    """All of a regular file; one that has more is an OSError too."""
    return _whole(read_file(path, most + 1), most)


def read_given_file(path: Path, most: int, patience: float) -> bytes:
    """All of a file that a person named, which may be a pipe: a shell's <(command) is one.

    Anything that has more, or sends nothing for so many seconds, is an OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | _WITHOUT_WAITING)
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


# Files that foretop keeps


@contextmanager
def own_folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """A folder that nobody but this user can write to, as a descriptor for what is done in it; anything else is an
    OSError. What is missing on the way to it is created for this user alone."""
    descriptor = _enter(path, create=create)
    try:
        status = os.fstat(descriptor)
        _check_owner(status, path)
        _check_mode(status, path)
        yield descriptor
    finally:
        os.close(descriptor)


def open_own_file(path: Path, flags: int, *, anywhere: bool = False) -> int:
    """Opens a regular file of this user, which nobody else can write to, in a folder of its own, or one `anywhere`;
    one that is a link is refused."""
    with _folder_of(path) if anywhere else own_folder(path.parent, create=bool(flags & os.O_CREAT)) as folder:
        descriptor = _open_in(folder, path, flags)
    try:
        if not anywhere:
            _check_mode(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_own_file(path: Path, most: int) -> bytes:
    """The first so many bytes of a file that foretop keeps; one that another user could have written is an OSError."""
    return _read(open_own_file(path, os.O_RDONLY), most)


def replace_own_file(path: Path, content: bytes) -> None:
    """Replaces a file at once: after a crash or on a full disk the old or the new one is there, for its owner only."""
    with own_folder(path.parent, create=True) as folder:
        with suppress(FileNotFoundError):
            os.close(_open_in(folder, path, os.O_RDONLY))
        replace_in(folder, path.name, content)


def create_file(path: Path, *, own: bool = False) -> TextIO:
    """A new file for its owner alone, where none is; what foretop keeps for itself is in a folder of its `own`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return open(open_own_file(path, flags, anywhere=not own), "w", encoding="utf-8", newline="")


# Files of the user that foretop writes to


@contextmanager
def real_place(path: Path) -> Iterator[tuple[int, str]]:
    """The folder that a file is really in, and its name there; a link counts only if this user or root has made it."""
    folder, name = _enter(path.parent), path.name
    try:
        for _ in range(_MOST_LINKS):
            if (target := _target(folder, name)) is None:
                yield folder, name
                return
            name, before = target.name, folder
            folder = _enter(target.parent, before)
            os.close(before)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    finally:
        os.close(folder)


def read_in(folder: int, name: str, most: int) -> bytes:
    """All of a regular file there; one that has more, or is a link by now, is an OSError."""
    return _whole(_read(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _WITHOUT_WAITING, dir_fd=folder), most + 1), most)


def replace_in(folder: int, name: str, content: bytes, like: os.stat_result | None = None) -> None:
    """All or nothing: whoever reads the file meanwhile sees the old one or the new one, which has the mode and owner
    of another one, where such is given."""
    draft = f".{name}.{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if like is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, like.st_mode & 0o7777)
            os.fsync(descriptor)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise


@contextmanager
def _folder_of(path: Path) -> Iterator[int]:
    descriptor = _enter(path.parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _enter(path: Path, start: int | None = None, *, create: bool = False) -> int:
    """Opens a folder step by step: a link on the way counts only if this user or root has made it.

    A relative path begins at the folder `start`, or where foretop was started.
    """
    ahead, links = deque(path.parts if start is not None else path.absolute().parts), 0
    here = os.open("/" if start is None else ".", _FOLDER, dir_fd=start)
    try:
        while ahead:
            name = ahead.popleft()
            try:
                folder = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
            except FileNotFoundError:
                if not create:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=here)
                folder = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
            except OSError:
                target = _target(here, name)
                links += 1
                if target is None or links > _MOST_LINKS:
                    raise
                ahead.extendleft(reversed(target.parts))
                continue
            os.close(here)
            here = folder
    except BaseException:
        os.close(here)
        raise
    return here


def _target(folder: int, name: str) -> Path | None:
    """The path that a link leads to; None for anything else. Raises OSError for one that another user has made."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(status.st_mode):
        return None
    if status.st_uid not in (0, os.geteuid()):
        raise PermissionError(errno.EPERM, f"{name} is a link that another user has made")
    return Path(os.readlink(name, dir_fd=folder))


def _open_in(folder: int, path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path.name, flags | _WITHOUT_WAITING | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EMLINK):
            raise OSError(problem.errno, f"{path} is a link") from None
        raise
    try:
        check_regular(descriptor)
        _check_owner(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_owner(found: os.stat_result, path: Path) -> None:
    if found.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"{path} belongs to another user")


def _check_mode(found: os.stat_result, path: Path) -> None:
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, f"other users can write to {path}, chmod go-w it")


def _read(descriptor: int, most: int) -> bytes:
    with open(descriptor, "rb") as file:
        check_regular(descriptor)
        return file.read(most)


def lock_file(descriptor: int, limit: float, given_up: threading.Event | None) -> None:
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
