"""Sentences whose times are data: rules put them together, and `render` writes them out where they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeAlias

import msgspec

from foretop_core.rules import humanize

_MINUTE = timedelta(minutes=1)


class Moment(msgspec.Struct, frozen=True, gc=False):
    """A point in time within a sentence; how it is written depends on the reader's zone and day."""

    at: datetime
    to_the_minute: bool = False
    """Without its seconds, also on the reader's own day."""


def estimate(at: datetime) -> Moment:
    """A moment that is about right: the nearest minute, the same in a row, a pane and a command."""
    return Moment((at + timedelta(seconds=30)).replace(second=0, microsecond=0), to_the_minute=True)


def until_estimate(at: datetime, now: datetime) -> timedelta:
    """How long until the minute that `estimate` tells, in whole minutes; below two of them until the moment itself."""
    length = estimate(at).at - now
    return max(at - now, timedelta()) if length < 2 * _MINUTE else round(length / _MINUTE) * _MINUTE


def about(at: datetime, now: datetime) -> Text:
    """`about 02:47Z, in 5 minutes`."""
    return sentence("about ", estimate(at), ", in ", until_estimate(at, now))


class Key(msgspec.Struct, frozen=True, gc=False):
    """The key of an action within a sentence: a screen writes the one that it has, anything else `shell`."""

    action: str
    shell: str = ""
    """What does the same in a shell; "" where nothing does."""


class Command(msgspec.Struct, frozen=True, gc=False):
    """A command of the screen within a sentence, `:pods`, and what does the same in a shell."""

    screen: str
    shell: str


class ScheduleName(msgspec.Struct, frozen=True, gc=False):
    """The name of a schedule within a sentence: a screen gives it the colour of its row."""

    name: str


Part: TypeAlias = str | Moment | timedelta | Key | Command | ScheduleName


class Sentence(msgspec.Struct, frozen=True, gc=False):
    """Words, moments and durations in order; made by `sentence`.

    It is not text: an f-string refuses it, because the reader's zone is not known there.
    """

    parts: tuple[Part, ...]

    def __format__(self, spec: str) -> str:
        raise TypeError("a Sentence is not text: put it together with sentence(...), show it with render(...)")


Text: TypeAlias = str | Sentence
"""What a person reads: plain text, which never changes, or a sentence with times in it."""


def sentence(*parts: Text | Part | datetime) -> Text:
    """`sentence("Due at ", run, ", ", now - run, " ago.")`: the parts in order; plain text where none is a time.

    Durations lose what is not shown of them, so that a rule that looks again a second later says the same.
    """
    merged: list[Part] = []
    for part in _flat(parts):
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    if not merged:
        return ""
    return merged[0] if len(merged) == 1 and isinstance(merged[0], str) else Sentence(tuple(merged))


def join_sentences(texts: Iterable[Text], separator: str) -> Text:
    parts: list[Text] = []
    for text in texts:
        parts += [separator, text] if parts else [text]
    return sentence(*parts)


def listed(texts: Sequence[Text], most: int = 3) -> Text:
    """`a, b and c`, or `a, b, c and 4 more`: as `humanize.join` does with names."""
    *before, last = (*texts[:most], f"{len(texts) - most:,} more") if len(texts) > most else texts
    return sentence(join_sentences(before, ", "), " and ", last) if before else last


def without_full_stop(text: Text) -> Text:
    """To go on after it."""
    if isinstance(text, str):
        return text.rstrip(".")
    *before, last = text.parts
    return sentence(*before, last.rstrip(".") if isinstance(last, str) else last)


def with_keys(text: Text, key_name: Callable[[str], str]) -> Text:
    """The same with the keys and commands of the screen behind what they do: `Resume the window (U).`"""
    if isinstance(text, str):
        return text

    def written(part: Part) -> Part:
        match part:
            case Key(action):
                return _aside(key_name(action))
            case Command(screen):
                return _aside(screen)
            case _:
                return part

    return sentence(*map(written, text.parts))


def _aside(text: str) -> str:
    return f" ({text})" if text else ""


def keys_in(text: Text) -> tuple[str, ...]:
    """The actions whose keys a sentence names."""
    return () if isinstance(text, str) else tuple(part.action for part in text.parts if isinstance(part, Key))


def roughly(length: timedelta) -> timedelta:
    """In its largest unit alone, for a row that has room for one number."""
    for unit in (timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)):
        if length >= unit:
            return length - length % unit
    return length


def render(text: Text, now: datetime, zone: tzinfo | None = None) -> str:
    """As a person reads it at this moment in this zone, or in that of `now`; plain text stays as it is."""
    return text if isinstance(text, str) else "".join(_written(part, now, zone) for part in text.parts)


def sort_key(text: Text) -> str:
    """The same whenever and wherever it is read, with earlier moments before later ones."""
    return text if isinstance(text, str) else "".join(_sortable(part) for part in text.parts)


def _flat(parts: Iterable[Text | Part | datetime]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Sentence):
            yield from part.parts
        elif isinstance(part, datetime):
            yield Moment(part)
        elif isinstance(part, timedelta):
            yield humanize.as_shown(part)
        else:
            yield part


def names_key(text: Text, action: str) -> bool:
    """True if a sentence names the key of an action."""
    return action in keys_in(text)


def _written(part: Part, now: datetime, zone: tzinfo | None) -> str:
    match part:
        case Moment(moment, to_the_minute=True):
            return humanize.minute(moment, now, zone)
        case Moment(moment):
            return humanize.time(moment, now, zone)
        case timedelta():
            return humanize.duration(part)
        case Key() | Command():
            return _aside(part.shell)
        case ScheduleName(name):
            return name
        case str():
            return part


def _sortable(part: Part) -> str:
    match part:
        case Moment(moment):
            return moment.astimezone(UTC).isoformat()
        case timedelta():
            return f"{part.total_seconds():015.0f}"
        case Key() | Command():
            return ""
        case ScheduleName(name):
            return name
        case str():
            return part
