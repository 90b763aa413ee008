"""The contents of an archive: objects by kind, the moment at which it was made, and where its logs are."""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import yaml

from foretop_core.errors import BadInput
from foretop_core.kube.connection.list_watch_codec import TypeMeta, identify
from foretop_core.models.kinds import BACKUP, SCHEDULE, SERVER_STATUS, STORAGE, Kind
from foretop_core.models.manifest_reader import as_utf8, json_values
from foretop_core.models.wire import is_earlier
from foretop_core.rooms.archives.members import MOST_READ, Member, Notes, members, read_member
from foretop_core.rooms.archives.moment import Moments
from foretop_core.rooms.archives.recording import (
    BY_PLURAL,
    READ_KINDS,
    Key,
    ListedScope,
    Recording,
    older_part,
    scopes_of,
)
from foretop_core.rules import humanize
from foretop_core.yaml_guard import PlainLoader, check_yaml

MOST_OBJECTS = 100_000
_TELL_EACH, _LARGE = 500, 2**20
"""Progress is told for every so many files, and for each that is large."""
MOST_BYTES = 512 * 2**20
"""Of all objects together."""
MOST_YAML = 96 * 2**20
"""Characters of all files together: a second is enough for one or two million of them."""
_READ_NAMES = "|".join(f"{name}(?:List)?" for name in {"List", *(name for _, name in READ_KINDS)})
_READ = re.compile(rf"""^[ \t-]*"?kind"?:[ \t]*["']?(?:{_READ_NAMES})["']?,?[ \t\r]*$""", re.MULTILINE)
_RECORDING = ".jsonl"
LISTED_FILE = "foretop/listed.json"
_OBJECT_FILES = (".json", ".yaml", ".yml")
_PACKED = (".gz", ".tgz", ".xz", ".bz2", ".zip", ".tar")
_TEXT_FILES = (".log", ".txt")
_VERSION_FILE = "velero-bundle/version.txt"
_SERVER_VERSION = re.compile(rb"^Server:\s+Version:[ \t]*(\S+)", re.MULTILINE)
_IN_NAMESPACE = re.compile(r"(?:^|/)namespaces/([^/]+)/|(?:^|/)kubecapture/[^/]+/([^/]+)/[^/]+$")
_PLURAL = re.compile(r"(?:^|/)([a-z]+)[^/]*$")
_JSON_ITEMS = re.compile(r'"items"\s*:\s*\[')
_DOCUMENTS = re.compile(r"^---.*$", re.MULTILINE)
_ITEMS = re.compile(r"^items:\s*$", re.MULTILINE)
_FIELD = re.compile(r"^(?=\w)", re.MULTILINE)
_DASH = re.compile(r"^ *(?=- )", re.MULTILINE)

Progress = Callable[[str], None]


class _Typed(msgspec.Struct, rename="camel"):
    """A document: an object, or a list of them."""

    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | None = None


class ListedKinds(msgspec.Struct, frozen=True):
    """The lists that foretop made for an archive, and when; an empty one has no file of its own."""

    at: str
    listed: list[ListedScope]


class Archive(msgspec.Struct):
    """One archive, read: a cluster at one moment, as far as it is in it."""

    path: Path
    objects: dict[Kind, dict[Key, bytes]]
    """The objects as an API server would send them."""
    listed: frozenset[tuple[Kind, str]]
    """The kinds that came as lists, with the namespace whose list it is, "" for all of them."""
    texts: tuple[str, ...]
    """The names of logs and descriptions."""
    now: datetime
    notes: tuple[str, ...]
    recording: Recording | None = None
    """What its objects are a moment of."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that it has something of."""
        names = {key[0] for held in self.objects.values() for key in held} | {name for _, name in self.listed}
        return tuple(sorted(names - {""}))

    def is_listed(self, kind: Kind, namespace: str) -> bool:
        """True if all objects of the kind there are in it, as far as whoever made it could see them."""
        return (kind, "") in self.listed or (kind, namespace) in self.listed


def read_archive(path: Path, progress: Progress, until: datetime | None = None) -> Archive:
    """Raises BadInput where nothing of it is an object that foretop reads; `until` is for recordings alone."""
    notes = Notes()
    reader = _Reader(notes, until)
    for number, member in enumerate(members(path, notes), 1):
        if number % _TELL_EACH == 1 or member.size > _LARGE:
            progress(f"Reading {path.name}: {humanize.count(number, 'file')}, {humanize.count(reader.count, 'object')}")
        reader.take(member, progress)
        if reader.is_full:
            notes.add("Not all of it is read: it has too many objects")
            break
    if not reader.count:
        why = next(iter(notes.lines()), "it has no objects of Velero or of a cluster")
        raise BadInput(f"Nothing in {path} can be shown", why, "give a debug bundle, a must-gather or kubectl's YAML")
    reader.add_version()
    for note in reader.summary():
        notes.add(note)
    if until is not None and reader.recording is None:
        raise BadInput(f"{path} cannot be shown as of another time", "it is of one moment, and no recording")
    if reader.recording is not None and (older := older_part(path)).exists():
        notes.add(f"What happened before it began is in {older.name} beside it")
    now = reader.moment if reader.recording is not None else reader.moments.now(path.name, notes)
    objects, texts = dict(reader.objects), tuple(reader.texts)
    return Archive(path, objects, reader.listed(), texts, now, notes.lines(), reader.recording)


class _Reader:
    """Takes one member after the other."""

    def __init__(self, notes: Notes, until: datetime | None) -> None:
        self.recording: Recording | None = None
        self._until = until
        self.objects: defaultdict[Kind, dict[Key, bytes]] = defaultdict(dict)
        self.texts: list[str] = []
        self.moments = Moments()
        self.count = 0
        self._bytes = 0
        self._others = 0
        self._version = ""
        self._yaml = 0
        self._notes = notes
        self._listed: set[tuple[Kind, str]] = set()
        self._single: set[tuple[Kind, str]] = set()

    @property
    def moment(self) -> datetime:
        """The time of a recording's objects: its end, or before that the one that is asked for."""
        assert self.recording is not None
        return min(self.recording.end, self._until or self.recording.end)

    @property
    def is_full(self) -> bool:
        return self.count >= MOST_OBJECTS or self._bytes >= MOST_BYTES

    def listed(self) -> frozenset[tuple[Kind, str]]:
        """Single objects with a namespace count too; it is said that there may be more."""
        return frozenset(self._listed | {(kind, place) for kind, place in self._single if kind.namespaced})

    def summary(self) -> Iterator[str]:
        if self._others:
            yield f"{self._others:,} objects of other kinds are not shown"
        single = {kind.plural for kind, place in self._single if not {(kind, place), (kind, "")} & self._listed}
        if single:
            yield f"Not lists but single objects, so there may be more: {humanize.join(sorted(single), 6)}"

    def add_version(self) -> None:
        """The answer of the server to `velero version`, which no list has: it is deleted after a minute."""
        spaces = {namespace for kind in (BACKUP, SCHEDULE, STORAGE) for namespace, _ in self.objects.get(kind, {})}
        if self._version and len(spaces) == 1:
            (namespace,) = spaces
            answer = {
                "apiVersion": SERVER_STATUS.api_version,
                "kind": SERVER_STATUS.name,
                "metadata": {"name": "version.txt", "namespace": namespace},
                "status": {"phase": "Processed", "serverVersion": self._version},
            }
            self.objects[SERVER_STATUS][namespace, "version.txt"] = msgspec.json.encode(answer)
            self._listed.add((SERVER_STATUS, namespace))

    def take(self, member: Member, progress: Progress) -> None:
        name = member.name
        self.moments.note_name(name)
        if name.endswith(LISTED_FILE):
            self._take_listed(read_member(member, self._notes) or b"")
        elif name.endswith(_RECORDING):
            self._take_recording(member, progress)
        elif name.endswith(_VERSION_FILE):
            found = _SERVER_VERSION.search(read_member(member, self._notes) or b"")
            self._version = found[1].decode("utf-8", "replace") if found else ""
        elif name.endswith(_TEXT_FILES):
            self.texts.append(name)
        elif name.endswith(_OBJECT_FILES) or "/" not in name:
            data = read_member(member, self._notes)
            if data is not None:
                place = _IN_NAMESPACE.search(name)
                self._take_file(as_utf8(data), name, (place[1] or place[2]) if place else "")
        elif name.endswith(_PACKED):
            self._notes.add("Is packed itself, and not opened", name)

    def _take_listed(self, data: bytes) -> None:
        """Believes what foretop wrote, as far as it can be read."""
        with suppress(ValueError, RecursionError):
            told = msgspec.json.decode(data, type=ListedKinds)
            self.moments.note_name(told.at)
            self._listed |= scopes_of(told.listed)

    def _take_recording(self, member: Member, progress: Progress) -> None:
        """The objects as they were after the last event, or at the moment that is asked for."""
        if self.recording is not None:
            self._notes.add("Only the first recording of it is read", member.name)
            return
        with member.open() as stream:
            recording = Recording(stream, member.name, self._notes, progress)
        if not len(recording):
            return
        self.recording = recording
        self._listed |= recording.listed
        for kind, held in recording.objects(self.moment).items():
            self.objects[kind] |= held
            self.count += len(held)

    def _take_file(self, data: bytes, name: str, place: str) -> None:
        if data.lstrip()[:1] in (b"{", b"["):
            try:
                self._take_document(msgspec.json.decode(data, type=_Typed), data, name, place)
                return
            except (ValueError, RecursionError) as problem:
                is_json = self._take_pieces(data.decode("utf-8", "replace"), name, place)
                if is_json or name.endswith(".json"):
                    if not is_json:
                        self._notes.add(f"Not valid JSON ({str(problem)[:80]})", name)
                    return
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            self._notes.add("Not UTF-8 text", name)
            return
        for document in _DOCUMENTS.split(text):
            if not _READ.search(document):
                self._others += bool(document.strip())
                continue
            self._yaml += len(document)
            if self._yaml > MOST_YAML:
                self._notes.add("Left out, for there is too much YAML to read it in time", name)
                return
            for value in self._parsed(document, name):
                self._take_document(msgspec.convert(_without_items(value), _Typed), value, name, place)

    def _take_pieces(self, text: str, name: str, place: str) -> bool:
        """Documents one after the other, and of a list that breaks off every item that is whole; False for neither."""
        end, number = 0, 0
        for begin, end in json_values(text):
            piece = text[begin:end].encode()
            try:
                self._take_document(msgspec.json.decode(piece, type=_Typed), piece, name, place)
                number += 1
            except (ValueError, RecursionError) as problem:
                self._notes.add(f"Not valid JSON ({str(problem)[:80]})", name)
        if not text[end:].strip():
            return True
        items = _JSON_ITEMS.search(text, end)
        for begin, end in json_values(text, items.end()) if items else ():
            self._take_object(text[begin:end].encode(), None, name, place, in_list=False)
            number += 1
        if number:
            self._notes.add(f"Not valid JSON from character {end + 1:,} on", name)
        return number > 0

    def _parsed(self, text: str, name: str) -> Iterator[dict[str, Any]]:
        """The document, or of a list that is broken somewhere every item that is whole."""
        try:
            yield from _mappings(_load(text))
            return
        except (yaml.YAMLError, ValueError, RecursionError) as problem:
            self._notes.add("Not valid YAML in part", f"{name}: {_brief(problem)}")
        items = _ITEMS.search(text)
        dash = _DASH.search(text, items.end()) if items else None
        for part in re.split(rf"^(?={dash[0]}- )", text[dash.start() :], flags=re.MULTILINE)[1:] if dash else ():
            try:
                # Fields of the list itself may follow its last item.
                for value in _load(_FIELD.split(part, maxsplit=1)[0]) or ():
                    yield from _mappings(value)
            except (yaml.YAMLError, ValueError, RecursionError, TypeError):
                continue

    def _take_document(self, head: _Typed, whole: bytes | dict[str, Any], name: str, place: str) -> None:
        items: Any = head.items if isinstance(whole, bytes) else whole.get("items")
        if not isinstance(items, list):
            self._take_object(whole, None, name, place, in_list=False)
            return
        file = _PLURAL.search(name)
        named = BY_PLURAL.get(file[1]) if file is not None and not items else None
        kind = _kind(head.api_version, head.kind.removesuffix("List")) or named
        place = place or _folder(items, name)
        # An empty list in a folder that says nothing is a list of nobody knows where.
        if kind is not None and (items or place or "/" not in name):
            self._listed.add((kind, place))
        for item in items:
            self._take_object(item, kind, name, place, in_list=True)

    def _take_object(
        self, item: msgspec.Raw | bytes | dict[str, Any], hint: Kind | None, name: str, place: str, *, in_list: bool
    ) -> None:
        try:
            raw = msgspec.json.encode(item) if isinstance(item, dict) else bytes(item)
            meta = msgspec.json.decode(raw, type=TypeMeta)
        except (ValueError, RecursionError, TypeError) as problem:
            self._notes.add(f"An object cannot be read ({str(problem)[:80]})", name)
            return
        kind = _kind(meta.api_version, meta.kind) if meta.kind else hint
        if kind is None:
            self._others += 1
            return
        identity = identify(msgspec.Raw(raw))
        if not identity.name:
            self._notes.add(f"A {kind.name} without a name is left out", name)
            return
        wanted = TypeMeta(kind.api_version, kind.name)
        if meta != wanted:
            raw = msgspec.json.encode(
                {**msgspec.json.decode(raw), "apiVersion": wanted.api_version, "kind": wanted.kind}
            )
        (self._listed if in_list else self._single).add((kind, place or ("" if in_list else identity.namespace)))
        key = (identity.namespace if kind.namespaced else "", identity.name)
        held = self.objects[kind].get(key)
        if held is not None:
            same = "twice" if held == raw else "twice, and differs: the newer one is shown"
            self._notes.add(f"Is in it {same}", f"{kind.name} {'/'.join(filter(None, key))}")
            if is_earlier(identity.version, identify(msgspec.Raw(held)).version):
                return
        else:
            self.count += 1
            self._bytes += len(raw)
        self.objects[kind][key] = raw
        self.moments.note_object(kind, key, raw)


def _kind(api_version: str, name: str) -> Kind | None:
    return READ_KINDS.get((api_version.rpartition("/")[0], name))


def _folder(items: list[Any], name: str) -> str:
    """The folder that a list is in, where that is named like the namespace of all that is in it."""
    folder = name.rpartition("/")[0].rpartition("/")[2]
    if not folder or not items:
        return ""
    raws = (msgspec.json.encode(item) if isinstance(item, dict) else item for item in items)
    return folder if {identify(msgspec.Raw(raw)).namespace for raw in raws} == {folder} else ""


def _load(text: str) -> Any:
    if len(text) > MOST_READ:
        raise ValueError("it is too large")
    check_yaml(text, PlainLoader)
    # To look for circles among so many nodes, again and again, takes half as long as reading them.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        return yaml.load(text, PlainLoader)
    finally:
        if was_collecting:
            gc.enable()


def _mappings(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value


def _without_items(value: dict[str, Any]) -> dict[str, str]:
    return {key: text for key in ("apiVersion", "kind") if isinstance(text := value.get(key), str)}


def _brief(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    return f"line {mark.line + 1}" if mark else " ".join(str(problem).split())[:80]
