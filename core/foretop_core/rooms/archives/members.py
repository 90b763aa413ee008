"""The members of an archive one after the other: a directory, a tar, a zip or a single file.

An archive is somebody else's file: nothing is unpacked to disk, no link is followed, no name leads outside, and sizes
and numbers are bounded. What is left out is noted.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, cast

import msgspec

from foretop_core.errors import BadInput
from foretop_core.rules import humanize

MOST_MEMBERS = 200_000
MOST_READ = 64 * 2**20
"""Of one member; a log is shown up to there."""
MOST_UNPACKED = 4 * 2**30
_MOST_DIRECTORY = 20 * 2**20
"""Of the list of members in a zip, which the library reads at once."""
_MOST_HEADER = 2**20
"""Of a name, or of what a tar says of a member besides."""
_LONG_HEADERS = (b"x", b"g", b"X", b"L", b"K")
_HARMLESS = 64 * 2**20
_MOST_RATIO = 200
"""What unpacks to more than so many times its size, and to more than is harmless, was made to do so."""
_LONGEST_NAME = 1000
_ENCRYPTED = 1
_AT_A_TIME = 2**18
BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    # The libraries take numbers and parts of a header for what they should be.
    LookupError,
    TypeError,
    ArithmeticError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_GIVE = "give a directory, tar, zip, YAML or JSON"
_END_OF_ZIP = b"PK\x05\x06"
_OPENERS: dict[bytes, Callable[[IO[bytes]], object]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}
"""By the first bytes of a file, what unpacks it."""


class Member(msgspec.Struct, frozen=True):
    """One file of an archive; it can be read until the next one is asked for."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]
    """Raises OSError or another of the libraries' errors, as what it opens does; `read_member` tells them in a line."""

    def read(self) -> bytes:
        """Its beginning, which is nearly always all of it."""
        with self.open() as file:
            return file.read(MOST_READ)


class Notes:
    """The lines on what was left out, each once with how often it was."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, what: str, example: str = "") -> None:
        self._counts[what] += 1
        self._examples.setdefault(what, example[:_LONGEST_NAME] if example.isprintable() else repr(example)[:80])

    def lines(self) -> tuple[str, ...]:
        return tuple(
            f"{what}: {self._examples[what]}{f' and {count - 1:,} more' if count > 1 else ''}"
            if self._examples[what]
            else what
            for what, count in self._counts.items()
        )


class _Bomb(OSError):
    """An archive unpacks to far more than anybody packs."""


class _Unpacked(io.RawIOBase):
    """The bytes that a packed file unpacks to, up to the bounds; `at` is how far the packed one was read."""

    def __init__(self, unpacked: IO[bytes], at: Callable[[], int]) -> None:
        self._unpacked, self._at, self._passed = unpacked, at, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._unpacked.read(len(buffer))
        buffer[: len(data)] = data
        self._passed += len(data)
        if self._passed > min(MOST_UNPACKED, _HARMLESS + _MOST_RATIO * self._at()):
            raise _Bomb(f"it unpacks to more than {humanize.size(self._passed)}")
        return len(data)


class _BoundedInfo(tarfile.TarInfo):
    """A header whose further headers are read within bounds."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _LONG_HEADERS and self.size > _MOST_HEADER:
            raise tarfile.ReadError("the name of a member is too long")
        return cast("tarfile.TarInfo", super()._proc_member(tar))  # type: ignore[misc]


def members(path: Path, notes: Notes) -> Iterator[Member]:
    """Every regular file with a name that stays inside; an archive that breaks off ends there, and is noted.

    Raises BadInput where there is nothing to open at all.
    """
    number = 0
    try:
        for member in _all(path, notes):
            if not _is_inside(member.name):
                notes.add("Left out, for its name leads outside the archive", member.name)
                continue
            yield member
            number += 1
            if number >= MOST_MEMBERS:
                notes.add(f"Only the first {MOST_MEMBERS:,} members are read")
                return
    except BROKEN as problem:
        if not number and not path.exists():
            raise BadInput(f"{path} cannot be opened", why_broken(problem), _GIVE) from None
        notes.add(f"{path.name} cannot be read to its end ({why_broken(problem)})")
    except MemoryError:
        notes.add(f"{path.name} cannot be read to its end (it wants too much memory)")


def read_member(member: Member, notes: Notes) -> bytes | None:
    """Its bytes; None where it is too large or broken, which is noted."""
    if member.size > MOST_READ:
        notes.add(f"Left out, for it is larger than {humanize.size(MOST_READ)}", member.name)
        return None
    try:
        data = member.read()
    except _Bomb:
        raise
    except (*BROKEN, MemoryError) as problem:
        notes.add(f"Cannot be read ({why_broken(problem)})", member.name)
        return None
    return data


def first_bytes(path: Path, name: str) -> bytes:
    """The beginning of one member, looked for again: logs are not held."""
    for member in members(path, Notes()):
        if member.name == name:
            return member.read()
    raise FileNotFoundError(name)


def why_broken(problem: BaseException) -> str:
    return (problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)) or "it is broken"


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return (
        bool(name)
        and len(name) <= _LONGEST_NAME
        and ".." not in parts
        and not name.startswith("/")
        and (name.isprintable() and "\\" not in name)
    )


def _all(path: Path, notes: Notes) -> Iterator[Member]:
    if path.is_dir():
        yield from _of_directory(path, notes)
        return
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadInput(f"{path} cannot be opened", "it is not a regular file", _GIVE)
        head = file.read(512)
        file.seek(0)
        opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), None)
        if head.startswith(b"PK"):
            yield from _of_zip(file, notes)
        elif opener is not None:
            unpacked = cast("IO[bytes]", opener(file))
            begin = unpacked.read(512)
            unpacked.seek(0)
            stream = io.BufferedReader(_Unpacked(unpacked, file.tell), _AT_A_TIME)
            yield from _of_stream(path, stream, begin, notes)
        else:
            yield from _of_stream(path, file, head, notes)


def _of_stream(path: Path, stream: IO[bytes], head: bytes, notes: Notes) -> Iterator[Member]:
    """A tar by its mark, or else one file."""
    if head[257:262] == b"ustar":
        yield from _of_tar(stream, notes)
    else:
        yield Member(path.name.removesuffix(".gz").removesuffix(".xz"), 0, lambda: stream)


def _of_tar(stream: IO[bytes], notes: Notes) -> Iterator[Member]:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedInfo, errorlevel=2) as tar:
        for number, info in enumerate(tar):
            if number > MOST_MEMBERS:
                # Folders and links are no members to whoever counts those.
                raise tarfile.ReadError("it has too many members")
            # The library keeps every header that it has seen.
            tar.members = []  # type: ignore[attr-defined]
            if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and info.sparse is None:
                file = tar.extractfile(info)
                assert file is not None
                yield Member(info.name.removeprefix("./"), info.size, lambda file=file: file)  # type: ignore[misc]
            elif not info.isdir():
                notes.add("Left out, for it is a link or no regular file", info.name)


def _of_zip(file: IO[bytes], notes: Notes) -> Iterator[Member]:
    _check_directory(file)
    passed, packed_size = 0, 0
    with zipfile.ZipFile(file) as packed:
        for info in packed.infolist():
            if info.is_dir():
                continue
            if stat.S_ISLNK(info.external_attr >> 16):
                notes.add("Left out, for it is a link or no regular file", info.filename)
                continue
            if info.flag_bits & _ENCRYPTED:
                notes.add("Left out, for it is encrypted", info.filename)
                continue
            whole, takes = passed + info.file_size, packed_size + info.compress_size
            if whole > min(MOST_UNPACKED, _HARMLESS + _MOST_RATIO * takes):
                notes.add("Left out, for it unpacks to far more than it takes", info.filename)
                continue
            passed, packed_size = whole, takes
            yield Member(info.filename, info.file_size, partial(packed.open, info))


def _check_directory(file: IO[bytes]) -> None:
    """Raises where the list of members is too long: the library would read all of it at once."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 2**16 - 22))
    tail = file.read()
    place = tail.rfind(_END_OF_ZIP)
    if place < 0 or len(tail) < place + 22:
        raise zipfile.BadZipFile("it has no end")
    (size,) = struct.unpack_from("<I", tail, place + 12)
    if size > _MOST_DIRECTORY:
        raise zipfile.BadZipFile("it has too many members")
    file.seek(0)


def _of_directory(root: Path, notes: Notes) -> Iterator[Member]:
    """Depth first; what is a link, or has become one by the time that it is opened, is left out."""
    waiting = [(root, "")]
    while waiting:
        folder, prefix = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)[:MOST_MEMBERS]
        except OSError as problem:
            if not prefix:
                raise
            notes.add(f"Cannot be read ({why_broken(problem)})", prefix)
            continue
        for entry in listed:
            name = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if len(name) < _LONGEST_NAME:
                    waiting.append((folder / entry.name, f"{name}/"))
            elif entry.is_file(follow_symlinks=False):
                size = entry.stat(follow_symlinks=False).st_size
                yield Member(name, size, partial(_open_file, entry.path))
            else:
                notes.add("Left out, for it is a link or no regular file", name)


def _open_file(path: str) -> IO[bytes]:
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a regular file")
    return file
