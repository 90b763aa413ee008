"""Failures of foretop itself at an object: each costs itself only, and is named, for it left something unjudged."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap

LONGEST_PROBLEM = 300
_MOST_READ = 4096
"""Characters that are looked through for secrets, which takes longer than twice as long for twice as many."""
_MAY_BE_SECRET = re.compile(
    r"(?<=://)\S+@"
    r"|(?i:(?<=\bbearer )|(?<=\bbasic ))\S+"
    r"|(?i:(?<=password)|(?<=passwd)|(?<=token)|(?<=secret)|(?<=authorization))"
    r"[\"']?\s*[=:]\s*(?:(?:bearer|basic) )?\S+"
    r"|[A-Za-z0-9+/=_.~%-]{16,}"
)
"""What a token, a signature or a password in an address looks like; long names look so too, and are named elsewhere."""


class Failure(msgspec.Struct, frozen=True):
    """A rule, row, pane or action that failed; `subject` is the object at which it did, where that is known."""

    context: str
    what: str
    """Such as `rule expired_backups`."""
    subject: ObjectRef | None
    problem: str

    def __str__(self) -> str:
        place = f" for {self.subject}" if self.subject else ""
        return f"{self.what} failed{place}: {self.problem}"

    @property
    def gap(self) -> VisibilityGap:
        """The failure as an entry in the list of things that were not seen."""
        return VisibilityGap(self.context, self.subject.kind if self.subject else "", str(self))


def problem_text(problem: BaseException) -> str:
    """An exception in one line of bounded length, without the way to it and without what could be a secret."""
    message = str(problem)
    if len(message) > _MOST_READ:
        # The word that is cut may be half of a secret.
        message = f"{message[:_MOST_READ].rpartition(' ')[0]} …"
    message = _MAY_BE_SECRET.sub("…", " ".join(message.split()))
    text = f"{type(problem).__name__}: {message}" if message else type(problem).__name__
    return text if len(text) <= LONGEST_PROBLEM else f"{text[: LONGEST_PROBLEM - 1]}…"


def failure_line(problem: BaseException) -> str:
    """For a person: an error that was foreseen in its own words, any other as a fault of foretop's own."""
    return str(problem) if isinstance(problem, ForetopError) else f"Internal error in foretop: {problem_text(problem)}"


def failing_object(way: TracebackType | None) -> Resource | None:
    """The object that a rule was looking at when it failed: the first one in the outermost function that has one."""
    while way is not None:
        resource = next((value for value in way.tb_frame.f_locals.values() if isinstance(value, Resource)), None)
        if resource is not None:
            return resource
        way = way.tb_next
    return None


def snapshot_without(snapshot: ClusterSnapshot, item: Resource) -> ClusterSnapshot | None:
    """The snapshot with one object fewer; None where it does not hold that object."""
    for name in snapshot.__struct_fields__:
        value = getattr(snapshot, name)
        if isinstance(value, tuple) and any(each is item for each in value):
            rest: dict[str, Any] = {name: tuple(each for each in value if each is not item)}
            return replace(snapshot, live=None, **rest)
    return None
