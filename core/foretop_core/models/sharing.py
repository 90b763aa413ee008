"""Equal parts of many objects kept once: the specs, labels and words of thousands of backups are mostly the same."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from foretop_core.models.wire import FieldManager, Resource

R = TypeVar("R", bound=Resource)
_WORDS = frozenset({"phase", "namespace", "format_version", "type", "status", "reason", "message"})
"""Fields whose texts repeat from object to object."""
_MOST = 4096
"""Kept parts of each sort; where an object has others, it keeps its own."""
_LONGEST_WORD, _LONGEST_PART = 256, 16 * 1024
"""What is kept outlives its object: of anything longer, thousands would fill the memory."""


class SharedParts:
    """The parts that were seen before; those of a new object that equal one of them are exchanged for it."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._parts: dict[tuple[type, bytes], Any] = {}

    def share(self, item: R) -> R:
        """The object itself, in less room; it was just decoded, and nobody else has it."""
        meta = item.metadata
        self._share_word(meta, "namespace")
        for name in ("labels", "finalizers"):
            if getattr(meta, name):
                self._share_part(meta, name)
        if meta.managed_fields and type(meta.managed_fields[0]) is FieldManager:
            self._share_part(meta, "managed_fields")
        if hasattr(item, "spec"):
            self._share_part(item, "spec")
        status = getattr(item, "status", None)
        if isinstance(status, msgspec.Struct):
            self._share_words(status)
        return item

    def _share_words(self, part: msgspec.Struct) -> None:
        words, structs = _plan(type(part))
        for name in words:
            self._share_word(part, name)
        for name in structs:
            inner = getattr(part, name)
            for each in inner if isinstance(inner, tuple) else (inner,):
                if each is not None:
                    self._share_words(each)

    def _share_word(self, part: msgspec.Struct, name: str) -> None:
        word = getattr(part, name)
        shared = self._words.get(word)
        if shared is not None:
            force_setattr(part, name, shared)
        elif len(self._words) < _MOST and len(word) <= _LONGEST_WORD:
            self._words[word] = word

    def _share_part(self, owner: msgspec.Struct, name: str) -> None:
        part = getattr(owner, name)
        key = (type(part), msgspec.json.encode(part))
        shared = self._parts.get(key)
        if shared is not None:
            force_setattr(owner, name, shared)
        elif len(self._parts) < _MOST and len(key[1]) <= _LONGEST_PART:
            self._parts[key] = part


@cache
def _plan(kind: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields with words, and those with further structs that have any."""
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    words = [
        field.name
        for field in described.fields
        if field.name in _WORDS and isinstance(field.type, msgspec.inspect.StrType)
    ]
    structs = [field.name for field in described.fields if _has_words(field.type)]
    return tuple(words), tuple(structs)


def _has_words(described: msgspec.inspect.Type) -> bool:
    """True if it is a struct with words, in itself or further down, or many of them."""
    match described:
        case msgspec.inspect.StructType(cls=kind):
            return any(_plan(kind))
        case msgspec.inspect.UnionType(types=types):
            return any(_has_words(member) for member in types)
        case msgspec.inspect.VarTupleType(item_type=inner):
            return _has_words(inner)
        case _:
            return False
