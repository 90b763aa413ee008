"""A recording: what was seen of a cluster, an event a line, as of any moment of it.

One pass makes an index of the lines, and key frames: the state that every so many events have left. After that a moment
costs the fold of the events since a frame, and the reading of those objects that are asked for. Objects stay in the
file; one that is packed goes to a private file without a name first.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import weakref
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from foretop_core.models import kinds
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR, Time
from foretop_core.rooms.archives.members import BROKEN, Notes, why_broken
from foretop_core.rules import humanize

MOST_EVENTS = 4_000_000
MOST_OBJECTS = 200_000
"""Of all that ever were in it; the name of one takes a quarter of a kilobyte."""
MOST_LINE = 4 * 2**20
"""Bytes of an event; etcd takes objects of 1.5 MiB."""
LEAST_FRAME, FRAME_SHARE = 8192, 4
"""A key frame is made after so many events, or a share of the objects: more frames than that would be more than the
index."""
LEAD_IN = 2_000
"""Events before a moment that are always taken one by one: rules judge what was seen to happen, and since when."""
_TELL_EACH = 20_000
_STAMP = "%Y-%m-%dT%H:%M:%SZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND
_LATE = timedelta(seconds=1) // _MICROSECOND
"""Kinds are watched beside each other: their events may come in a little late."""
_BLIND = timedelta(seconds=10) // _MICROSECOND
"""What was not watched for so long is said; shorter, it has only been listed anew."""
READ_KINDS: Mapping[tuple[str, str], Kind] = {
    (kind.group, kind.name): kind for kind in vars(kinds).values() if isinstance(kind, Kind)
}
BY_PLURAL = {kind.plural: kind for kind in READ_KINDS.values()}
_GONE = -1
"""In the place of an event: there is no such object."""

Key = tuple[str, str]
"""Namespace and name."""
Scope: TypeAlias = "tuple[Kind, str]"
"""A kind, and the namespace in which it was watched, "" for all of them."""
Objects = dict[Kind, dict[Key, bytes]]
"""The objects as an API server would send them."""
State: TypeAlias = "array[int]"
"""By the number of an object, the event that it was left by."""


class ListedScope(msgspec.Struct, frozen=True):
    """A kind of which all objects were listed, in one namespace or, with none, in all."""

    group: str
    kind: str
    namespace: str = ""


def older_part(path: Path) -> Path:
    """The file that a recording becomes when it is full, and a new one begins."""
    return path.with_suffix(f".older{path.suffix}")


def scopes_of(listed: Iterable[ListedScope]) -> frozenset[Scope]:
    """Without kinds that foretop does not read."""
    kinds = ((READ_KINDS.get((scope.group, scope.kind)), scope.namespace) for scope in listed)
    return frozenset((kind, namespace) for kind, namespace in kinds if kind is not None)


class _Meta(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Object(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()


class _Line(msgspec.Struct, frozen=True):
    """A line of a recording; one without an object is a note, or tells what was watched from then on."""

    t: Time
    kind: str = ""
    type: str = ""
    object: _Object | None = None
    watched: list[ListedScope] | None = None


class _Content(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class RecordedEvent(msgspec.Struct, frozen=True):
    """An event of a watch; of an object that was deleted, the object as it was last."""

    at: datetime
    type: str
    kind: Kind
    key: Key
    raw: bytes


_read_line = msgspec.json.Decoder(_Line).decode
_read_content = msgspec.json.Decoder(_Content).decode


class Recording:
    """The index of a recording; a position is a number of events, of which the last is the latest that has happened."""

    def __init__(self, stream: IO[bytes], name: str, notes: Notes, progress: Callable[[str], None]) -> None:
        """Reads all of it, which may take seconds; what cannot be read is noted, and costs itself."""
        self._times, self._lines, self._lengths, self._ids = array("q"), array("q"), array("I"), array("i")
        """Of each event: when, where its line is, how long that is, and of what; the complement of that for an end."""
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._objects: list[tuple[str, str, str]] = []
        """Of each object the plural of its kind, namespace and name."""
        self._frames: list[tuple[int, State]] = [(0, array("i"))]
        self._live: frozenset[Scope] = frozenset()
        self._watched: dict[Scope, int | None] = {}
        """All that ever was watched; of what is not any more, since when."""
        plain = raw if isinstance(raw := getattr(stream, "raw", None), io.FileIO) else None
        self._file = os.dup(plain.fileno()) if plain is not None else _nameless_file()
        weakref.finalize(self, os.close, self._file)
        self._read(stream, name, notes, progress, is_packed=plain is None)
        self._put_in_order(name, notes)

    def __len__(self) -> int:
        return len(self._times)

    @cached_property
    def begin(self) -> datetime:
        return _moment(self._times[0])

    @cached_property
    def end(self) -> datetime:
        return _moment(self._times[-1])

    @property
    def listed(self) -> frozenset[Scope]:
        """Scopes that were watched; where it tells of none, the kinds of its objects: also before the first of them."""
        told = frozenset(self._watched)
        return told or frozenset((BY_PLURAL[plural], "") for plural in {place[0] for place in self._objects})

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(kind for kind, _ in self.listed)

    def position(self, moment: datetime) -> int:
        """How many events have happened by then."""
        return bisect_right(self._times, (moment - _EPOCH) // _MICROSECOND)

    def moment(self, event: int) -> datetime:
        return _moment(self._times[event])

    def number(self, event: int) -> int:
        """The number of the object that an event is of, in a state."""
        number = self._ids[event]
        return number if number >= 0 else ~number

    def is_there(self, event: int) -> bool:
        """True if the object is there after the event."""
        return self._ids[event] >= 0

    def state(self, position: int) -> State:
        """The state that the events up to there have left; costs those since a key frame, and nothing of the file."""
        begin, frame = self._frames[bisect_right(self._frames, position, key=lambda frame: frame[0]) - 1]
        state = array("i", frame)
        self._fold(state, begin, position)
        return state

    def objects(self, moment: datetime) -> Objects:
        """All objects as of a moment."""
        found: Objects = {}
        for event in self.difference(array("i"), self.state(self.position(moment))):
            found.setdefault(event.kind, {})[event.key] = event.raw
        return found

    def events(self, begin: int, end: int) -> Iterator[RecordedEvent]:
        """The events between two positions, in the order in which they came in."""
        for event in range(begin, end):
            yield from self._event(event)

    def difference(self, before: State, after: State) -> Iterator[RecordedEvent]:
        """The events that make one state into the other, whichever is the later one; each is of its own time."""
        for number in range(max(len(before), len(after))):
            was = before[number] if number < len(before) else _GONE
            now = after[number] if number < len(after) else _GONE
            if now == _GONE != was:
                yield from self._event(was, "DELETED")
            elif now != was:
                yield from self._event(now, "ADDED" if was == _GONE else "MODIFIED")

    def events_of(self, kind: Kind, key: Key) -> list[int]:
        """The positions of the events of one object."""
        number = self._numbers.get((kind.plural, *key))
        return [] if number is None else sorted([*_places(self._ids, number), *_places(self._ids, ~number)])

    def _event(self, event: int, type: str = "") -> Iterator[RecordedEvent]:
        """Yields nothing where the file is not what it was when it was indexed."""
        plural, *key = self._objects[self.number(event)]
        try:
            content = _read_content(os.pread(self._file, self._lengths[event], self._lines[event]))
        except (ValueError, OSError):
            return
        yield RecordedEvent(
            self.moment(event), type or content.type, BY_PLURAL[plural], (key[0], key[1]), bytes(content.object)
        )

    def _fold(self, state: State, begin: int, end: int) -> None:
        """Takes the events between two positions in."""
        state.extend([_GONE] * (len(self._objects) - len(state)))
        for event, number in enumerate(self._ids[begin:end], begin):
            if number >= 0:
                state[number] = event
            else:
                state[~number] = _GONE

    def _read(
        self, stream: IO[bytes], name: str, notes: Notes, progress: Callable[[str], None], *, is_packed: bool
    ) -> None:
        written = 0
        try:
            with open(self._file, "wb" if is_packed else "rb", closefd=False) as unpacked:
                for number, (place, line) in enumerate(_lines(stream)):
                    if number % _TELL_EACH == 0:
                        progress(f"Reading {name}: {humanize.count(number, 'event')}")
                    if len(self) >= MOST_EVENTS:
                        notes.add(f"Only its first {MOST_EVENTS:,} events are read", name)
                        break
                    if self._take(line, written if is_packed else place, name, notes) and is_packed:
                        written += unpacked.write(line)
        except (*BROKEN, MemoryError) as problem:
            notes.add(f"{name} cannot be read to its end ({why_broken(problem)})")
        for scope, since in self._watched.items():
            if since is not None and len(self):
                self._note_blind(scope, since, self._times[-1], notes)

    def _take(self, line: bytes, place: int, name: str, notes: Notes) -> bool:
        """Takes an event into the index; False where it is none, or of nothing that foretop reads."""
        try:
            event = _read_line(line)
            moment = (event.t - _EPOCH) // _MICROSECOND
            is_readable = FIRST_YEAR <= event.t.year <= LAST_YEAR
        except (ValueError, RecursionError):
            is_readable = False
        if not is_readable:
            notes.add("A line cannot be read" if line else f"A line is longer than {humanize.size(MOST_LINE)}", name)
            return False
        if event.watched is not None:
            self._take_watched(scopes_of(event.watched), moment, notes)
        kind = BY_PLURAL.get(event.kind)
        if kind is None or event.object is None or not event.object.metadata.name:
            return False
        meta = event.object.metadata
        place_of = kind.plural, sys.intern(meta.namespace) if kind.namespaced else "", meta.name
        number = self._numbers.get(place_of)
        if number is None:
            if len(self._objects) >= MOST_OBJECTS:
                notes.add(f"Only the first {MOST_OBJECTS:,} objects of it are shown", name)
                return False
            number = self._numbers[place_of] = len(self._objects)
            self._objects.append(place_of)
        self._times.append(moment)
        self._lines.append(place)
        self._lengths.append(len(line))
        self._ids.append(~number if event.type == "DELETED" else number)
        last, frame = self._frames[-1]
        if len(self) - last >= max(LEAST_FRAME, len(self._objects) // FRAME_SHARE):
            state = array("i", frame)
            self._fold(state, last, len(self))
            self._frames.append((len(self), state))
        return True

    def _take_watched(self, scopes: frozenset[Scope], moment: int, notes: Notes) -> None:
        for scope in scopes - self._live:
            if (since := self._watched.get(scope)) is not None:
                self._note_blind(scope, since, moment, notes)
            self._watched[scope] = None
        self._watched.update(dict.fromkeys(self._live - scopes, moment))
        self._live = scopes

    def _note_blind(self, scope: Scope, since: int, until: int, notes: Notes) -> None:
        if until - since >= _BLIND:
            what = f"{scope[0].plural} from {_moment(since):{_STAMP}} to {_moment(until):{_STAMP}}"
            notes.add("Not everything was watched all the time, and what happened meanwhile is not known", what)

    def _put_in_order(self, name: str, notes: Notes) -> None:
        """Makes times rise in the order in which the lines came in, which is kept.

        A time more than a day from both beside it, which are near each other, is a wrong clock.
        """
        latest, before, last = 0, 0, len(self) - 1
        for place, told in enumerate(self._times):
            time = told
            near = [before] if place else [self._times[min(2, last)]]
            near.append(self._times[place + 1] if place < last else self._times[max(last - 2, 0)])
            before = told
            if min(abs(time - other) for other in near) > _DAY >= abs(near[0] - near[1]):
                notes.add("A time more than a day from all others is left out", f"{name}, {_moment(time):{_STAMP}}")
                time = latest or near[1]
            elif latest - time > _LATE:
                notes.add("Out of order: shown in the order in which it came in", f"{name}, {_moment(time):{_STAMP}}")
            latest = self._times[place] = max(latest, time) if place else time


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Each line with its place; of one that is too long none of it."""
    place = 0
    while line := stream.readline(MOST_LINE):
        begin, piece = place, line
        place += len(line)
        while len(piece) == MOST_LINE and not piece.endswith(b"\n"):
            line, piece = b"", stream.readline(MOST_LINE)
            place += len(piece)
        yield begin, line


def _places(ids: array[int], number: int) -> Iterator[int]:
    place = 0
    with suppress(ValueError):
        while True:
            place = ids.index(number, place)
            yield place
            place += 1


def _nameless_file() -> int:
    """For oneself alone; gone with the process."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
