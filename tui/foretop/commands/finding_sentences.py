"""Findings as sentences, one for each change: for screen readers and logs."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.commands.view_rows import RowChange
from foretop_core.tables.engine.json_items import Item

_GONE = "DELETED"
_KNOWN = "Acknowledged"


class FindingSentences:
    """The sentences printed so far; only another severity or another sentence of a finding is a change.

    A finding that is acknowledged says so once, and is new again when that ends.
    """

    def __init__(self) -> None:
        self._said: dict[str, tuple[str, ...]] = {}

    def of(self, changes: Iterable[RowChange]) -> list[tuple[RowChange, str]]:
        """The changes that are worth a sentence, each with it."""
        found = []
        for change in changes:
            item = change.item
            before = self._said.pop(item["id"], None)
            if change.type == _GONE:
                found.append((change, f"Resolved: {subject(item)}: {item['what']}."))
                continue
            known = item["acknowledged"] is not None
            self._said[item["id"]] = said = (_KNOWN,) if known else (item["severity"], item["what"])
            word = _KNOWN if known else "New" if before in (None, (_KNOWN,)) else "Changed"
            if before != said:
                found.append((change, sentence(item, word)))
        return found


def sentence(item: Item, word: str) -> str:
    since = f", since {item['since']}" if item["since"] else ""
    return f"{word} {item['severity']}: {subject(item)}: {item['what']}{since}. {_ended(_rest(item))}".rstrip()


def _rest(item: Item) -> str:
    """The remedy, or who says that it may wait."""
    known = item["acknowledged"]
    if known is None:
        return str(item["remedy"])
    until = f"until {known['until']}" if known["until"] else "until it changes"
    return f"Known by {known['by']} {until}: {known['reason']}"


def subject(item: Item) -> str:
    """`Schedule velero/daily` where it is about an object, else its cluster."""
    named = "/".join(part for part in (item["namespace"], item["name"]) if part)
    return f"{item['kind']} {named}".strip() or item["context"]


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
