"""After a write the object is watched for five minutes: whether somebody puts it back, and who."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.actions.journal import JournalEntry
from foretop_core.actions.plan_executor import Result
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.errors import ForetopError
from foretop_core.models.wire import UnreadableObject, as_json, is_earlier
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.undone import (
    PAUSED,
    UndoneChange,
    WrittenField,
    creator,
    has_written,
    last_writer,
    pause_note_of,
    put_back,
    value_at,
    written_fields,
)

WATCHED_FOR = 300.0
"""Seconds; a controller that heals itself comes back within minutes."""
_LOOK_EACH = 0.2


async def watch_for_undoing(source: ClusterSession, result: Result, within: float = WATCHED_FOR) -> UndoneChange | None:
    """The change that was undone, as soon as that is seen; None where nothing was within the time.

    The watches tell that something may have been; then the server is asked whether it was, and by whom.
    """
    step = result.step
    watch = _UndoWatch(source, result)
    if step.write.method == "POST" or (step.write.method == "PATCH" and not watch.fields):
        return None
    news = asyncio.Event()
    feed = source.store.feed.subscribe([step.target.kind], news.set)
    try:
        async with asyncio.timeout(within):
            while True:
                news.clear()
                feed.drain()
                if (change := await watch.look()) is not None:
                    return change
                await news.wait()
                await asyncio.sleep(_LOOK_EACH)
    except TimeoutError:
        return None
    finally:
        source.store.feed.unsubscribe(feed)


def undone_entry(undone: UndoneChange) -> JournalEntry:
    """For the journal: what somebody else wrote, told as such."""
    target = undone.target
    return JournalEntry(
        at=rfc3339(undone.at) or "",
        user=undone.person or undone.by or "not recorded",
        context=target.context,
        kind=target.kind,
        namespace=target.namespace,
        name=target.name,
        method="PATCH" if undone.fields else "POST",
        before={".".join(field.path): field.written for field in undone.fields},
        patch={".".join(field.path): field.before for field in undone.fields},
        result=f"{undone.brief}; foretop only saw it",
        id=secrets.token_hex(8),
    )


class _UndoWatch:
    """One write, and which of its fields were seen to be what was written: only those can be put back."""

    def __init__(self, source: ClusterSession, result: Result) -> None:
        step, answer = result.step, _object(result.answer)
        self._source = source
        self._step = step
        self._version = result.made.resource_version
        self.fields = written_fields(step.write.body, step.write.before) if step.write.method == "PATCH" else ()
        self._applied = {field.path for field in self.fields if has_written(field, answer)}
        # By the server's clock where it tells: what was put back is told by that too.
        stored = last_writer(answer, self.fields[0].path)[1] if self.fields else None
        self._written_at = stored or self._now

    @property
    def _now(self) -> datetime:
        return self._source.clock(self._step.target.context).now()

    async def look(self) -> UndoneChange | None:
        item = self._source.store.get(self._step.target)
        if item is None or isinstance(item, UnreadableObject):
            return None
        if self._step.write.method == "DELETE":
            return await self._created_again() if item.metadata.uid != self._step.uid else None
        shown = as_json(item)
        self._applied |= {field.path for field in self.fields if has_written(field, shown)}
        if not put_back(self._seen, shown) or is_earlier(item.metadata.resource_version, self._version):
            return None
        return await self._put_back()

    @property
    def _seen(self) -> list[WrittenField]:
        return [field for field in self.fields if field.path in self._applied]

    async def _put_back(self) -> UndoneChange | None:
        """By the object as the server has it: the store knows not every field."""
        whole = await self._fetched()
        if whole is None:
            return None
        back = put_back(self._seen, whole)
        if not back:
            return None
        paths = [field.path for field in back]
        return self._undone(back, whole, last_writer(whole, PAUSED if PAUSED in paths else paths[0]))

    async def _created_again(self) -> UndoneChange | None:
        whole = await self._fetched()
        again = whole is not None and value_at(whole, ("metadata", "uid")) != self._step.uid
        return self._undone((), whole, creator(whole)) if whole is not None and again else None

    def _undone(
        self, back: tuple[WrittenField, ...], whole: Mapping[str, Any], writer: tuple[str, datetime | None]
    ) -> UndoneChange:
        by, moment = writer
        person, why = pause_note_of(whole, by)
        return UndoneChange(self._step.target, back, self._written_at, moment or self._now, by, person, why)

    async def _fetched(self) -> Mapping[str, Any] | None:
        try:
            return await self._source.fetch_object(self._step.target)
        except ForetopError:
            return None


def _object(answer: bytes) -> Mapping[str, Any]:
    """The object that the server answered the write with; nothing where the answer was lost."""
    try:
        item = msgspec.json.decode(answer)
    except (ValueError, RecursionError):
        return {}
    return item if isinstance(item, Mapping) else {}
