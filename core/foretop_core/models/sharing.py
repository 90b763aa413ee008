"""Equal parts of many objects kept once: the specs, labels and words of thousands of backups are mostly the same."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from foretop_core.models.builtin_kinds import PersistentVolume, PersistentVolumeClaim, Pod
from foretop_core.models.movement import DataMovement
from foretop_core.models.wire import NO_TEXTS, FieldManager, Resource

R = TypeVar("R", bound=Resource)
_WORDS = frozenset(
    {"phase", "namespace", "format_version", "type", "status", "reason", "message", "node", "accepted_by_node"}
    | {"source_namespace", "backup_storage_location", "uploader_type", "volume", "kind", "driver"}
    | {"storage_class_name", "volume_mode", "node_name"}
)
"""Fields whose texts repeat from object to object."""
_PARTS = frozenset({"capacity", "access_modes", "volume_attributes", "containers", "pod"})
"""Fields of a spec of one volume whose values repeat as a whole."""
_OWN_LABELS = (DataMovement, Pod)
"""Their labels name a claim or the pod itself: no two are equal, and only the words in them repeat."""
_OWN_SPECS = (*_OWN_LABELS, PersistentVolume, PersistentVolumeClaim)
"""Their specs name a volume: the same holds for these."""
_MOST = 4096
"""Kept parts of each sort, and words; neighbours in a list are alike, so that words begin anew where it is full."""
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
        if isinstance(item, _OWN_LABELS):
            for key, word in meta.labels.items():
                meta.labels[key] = self._shared_word(word)
        else:
            self._share_part(meta, "labels")
        for name in ("labels", "annotations"):
            if not getattr(meta, name):
                force_setattr(meta, name, NO_TEXTS)
        for name in ("finalizers", "owner_references"):
            self._share_part(meta, name)
        if meta.managed_fields and type(meta.managed_fields[0]) is FieldManager:
            self._share_part(meta, "managed_fields")
        if isinstance(item, _OWN_SPECS):
            self._share_words(item.spec)
        elif hasattr(item, "spec"):
            self._share_part(item, "spec")
        status = getattr(item, "status", None)
        if isinstance(status, msgspec.Struct):
            self._share_words(status)
        return item

    def _share_words(self, part: msgspec.Struct) -> None:
        words, parts, structs = _plan(type(part))
        for name in words:
            self._share_word(part, name)
        for name in parts:
            self._share_part(part, name)
        for name in structs:
            inner = getattr(part, name)
            for each in inner if isinstance(inner, tuple) else (inner,):
                if each is not None:
                    self._share_words(each)

    def _share_word(self, part: msgspec.Struct, name: str) -> None:
        word = getattr(part, name)
        if word:
            force_setattr(part, name, self._shared_word(word))

    def _shared_word(self, word: str) -> str:
        if len(word) > _LONGEST_WORD:
            return word
        if len(self._words) == _MOST and word not in self._words:
            self._words.clear()
        return self._words.setdefault(word, word)

    def _share_part(self, owner: msgspec.Struct, name: str) -> None:
        part = getattr(owner, name)
        if not part:
            return
        key = (type(part), msgspec.json.encode(part))
        shared = self._parts.get(key)
        if shared is not None:
            force_setattr(owner, name, shared)
        elif len(self._parts) < _MOST and len(key[1]) <= _LONGEST_PART:
            self._parts[key] = part


@cache
def _plan(kind: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The fields with words, with parts that are shared whole, and with further structs that have any."""
    described = msgspec.inspect.type_info(kind)
    assert isinstance(described, msgspec.inspect.StructType)
    words = tuple(field.name for field in described.fields if field.name in _WORDS and _is_text(field.type))
    parts = tuple(field.name for field in described.fields if field.name in _PARTS)
    structs = tuple(field.name for field in described.fields if _has_words(field.type))
    return words, parts, structs


def _is_text(described: msgspec.inspect.Type) -> bool:
    types = described.types if isinstance(described, msgspec.inspect.UnionType) else (described,)
    return all(isinstance(one, msgspec.inspect.StrType | msgspec.inspect.NoneType) for one in types)


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
