"""Every text of every kind, as long as an API server accepts it: the work that one object makes at any entry point."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from msgspec import inspect

from foretop_core.errors import Unreadable
from foretop_core.models.kinds import KINDS, Kind
from trials.chaos.every_entry import enter_everywhere, filled_source
from trials.chaos.mutated_objects import read, templates

SHORT, LONG = 10_000, 1_000_000
MOST_TIMES = 2.0
_SPARE = 3_000
"""Calls that any run may have more or less than another: what is loaded or remembered by the first one."""
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class LongText:
    """One place for a text in the objects of one kind."""

    kind: Kind
    path: Path

    def __str__(self) -> str:
        return f"{self.kind.name} {'.'.join(map(str, self.path))}"

    def object(self, text: str) -> dict[str, Any]:
        """A good object with this text in that place."""
        made = copy.deepcopy(_good(self.kind))
        _put(made, self.path, text)
        return made


@cache
def _good(kind: Kind) -> dict[str, Any]:
    """The one of its kind that has the most to say."""
    return max((plain for one, plain in templates() if one is kind), key=lambda plain: len(str(plain)))


def everywhere() -> list[LongText]:
    return [place for kind in KINDS for place in places(kind)]


def places(kind: Kind) -> list[LongText]:
    """All texts of a kind that are not its identity, which the API server keeps short."""
    found = _texts(inspect.type_info(kind.model), ())
    return [LongText(kind, path) for path in dict.fromkeys(found) if path[:2] not in _IDENTITY]


_IDENTITY = {("metadata", name) for name in ("name", "namespace", "uid", "resourceVersion")}


def _texts(described: inspect.Type, path: Path) -> Iterator[Path]:
    match described:
        case inspect.StrType():
            yield path
        case inspect.StructType(cls=_, fields=fields):
            for one in fields:
                yield from _texts(one.type, (*path, one.encode_name))
        case inspect.UnionType(types=types):
            for each in types:
                yield from _texts(each, path)
        case inspect.VarTupleType(item_type=inner) | inspect.ListType(item_type=inner):
            yield from _texts(inner, (*path, 0))
        case inspect.DictType(value_type=inner):
            yield from _texts(inner, (*path, "app"))
        case inspect.AnyType():
            yield path
        case _:
            pass


def _put(part: Any, path: Path, text: str) -> None:
    step, *rest = path
    if isinstance(part, list):
        step = 0
        if not part:
            part.append({})
    if not rest:
        part[step] = text
        return
    wanted: type = list if isinstance(rest[0], int) else dict
    held = part.get(step) if isinstance(part, dict) else part[step]
    if not isinstance(held, wanted):
        held = part[step] = wanted()
    _put(held, tuple(rest), text)


TEXTS: Sequence[Callable[[int], str]] = (
    lambda size: "0," * (size // 2 - 8) + "0 * * * *",
    lambda size: "é " * (size // 2),
    lambda size: "a*[{-\\" * (size // 6),
    lambda size: "x" * size,
)


def calls(place: LongText, text: str) -> int:
    """How many functions are called for the object at all entry points."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    item = read(place.kind, place.object(text))
    if isinstance(item, Unreadable):
        return 0
    source = filled_source([item])
    sys.setprofile(note)
    try:
        enter_everywhere(source, item)
    finally:
        sys.setprofile(None)
    return count


def excess(place: LongText, text: Callable[[int], str]) -> float:
    """How many times the work of 10 kB one megabyte makes."""
    _warm_up(place.kind)
    few = calls(place, text(SHORT))
    return max(0, calls(place, text(LONG)) - _SPARE) / max(few, 1)


@cache
def _warm_up(kind: Kind) -> None:
    """What is loaded and remembered by the first object of a kind is no work of the next one."""
    calls(places(kind)[0], "x")


def slowest_entry(place: LongText, text: Callable[[int], str]) -> tuple[float, str]:
    """The longest that a megabyte in this place keeps a processor busy at one entry point, in seconds, and where."""
    item = read(place.kind, place.object(text(LONG)))
    if isinstance(item, Unreadable):
        return 0.0, "decode"
    slowest = (0.0, "")
    source = filled_source([item])

    def timed(what: str, call: Callable[[], object]) -> None:
        nonlocal slowest
        began = time.thread_time()
        call()
        slowest = max(slowest, (time.thread_time() - began, what))

    enter_everywhere(source, item, timed)
    return slowest
