"""Findings as sentences, one for each change: for screen readers and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from foretop.commands.view_rows import RowChange
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.json_items import Item

_GONE = "DELETED"
UNTOLD = "UNTOLD"
"""The type of a change where a finding is gone, and nothing has mended it."""
_KNOWN = "Acknowledged"


class FindingSentences:
    """The sentences printed so far; only another severity or another sentence of a finding is a change.

    A finding that is acknowledged says so once, and is new again when that ends.
    """

    def __init__(self, why_untold: Callable[[Item], str]) -> None:
        self._why_untold = why_untold
        """Why a finding that is gone is not resolved; "" where it is."""
        self._said: dict[str, tuple[str, ...]] = {}

    def of(self, changes: Iterable[RowChange]) -> list[tuple[RowChange, str]]:
        """The changes that are worth a sentence, each with it."""
        lines = []
        together = list(changes)
        standing = {(change.item["code"], change.item["name"] == "") for change in together if change.type != _GONE}
        for change in together:
            item = change.item
            before = self._said.pop(item["id"], None)
            if change.type == _GONE:
                if (item["code"], item["name"] != "") in standing:
                    # Several alike are one line from a number on, and each its own below it: it is told there.
                    continue
                why = self._why_untold(item)
                if why:
                    line = f"No longer told: {subject(item)}: {item['what']} ({why})."
                    lines.append((replace(change, type=UNTOLD), line))
                else:
                    lines.append((change, f"Resolved: {subject(item)}: {item['what']}."))
                continue
            is_known = item["acknowledged"] is not None
            self._said[item["id"]] = words = (_KNOWN,) if is_known else (item["severity"], item["what"])
            word = _KNOWN if is_known else "New" if before in (None, (_KNOWN,)) else "Changed"
            if before != words:
                lines.append((change, sentence(item, word)))
        return lines


def why_untold(session: ClusterSession) -> Callable[[Item], str]:
    """Why a finding of a session is gone though nothing has mended it; "" where something has."""

    def why(item: Item) -> str:
        context, until = item["context"], item["toldUntil"]
        if until is not None and session.clock(context).now() >= datetime.fromisoformat(until):
            return "too old to be told"
        kind = by_name(item["kind"])
        key = ObjectRef(context, item["kind"], item["namespace"], item["name"])
        if kind is None or not key.name or not session.store.health.is_listed(context, kind):
            return ""
        return "" if session.store.get(key) is not None else "it no longer exists"

    return why


def sentence(item: Item, word: str) -> str:
    since = f", since {item['since']}" if item["since"] else ""
    return f"{word} {item['severity']}: {subject(item)}: {item['what']}{since}. {_ended(_rest(item))}".rstrip()


def _rest(item: Item) -> str:
    """The remedy, or who says that it may wait."""
    note = item["acknowledged"]
    if note is None:
        return str(item["remedy"])
    until = f"until {note['until']}" if note["until"] else "until it changes"
    return f"Known by {note['by']} {until}: {note['reason']}"


def subject(item: Item) -> str:
    """`Schedule velero/daily` where it is about an object, else its cluster."""
    named = "/".join(part for part in (item["namespace"], item["name"]) if part)
    return f"{item['kind']} {named}".strip() or item["context"]


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
