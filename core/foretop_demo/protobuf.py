"""The few bodies that kubectl sends only as protobuf: access reviews and new namespaces."""

from __future__ import annotations

from typing import Any

from foretop_demo.kinds import Json

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_TEXT = "text"
_MAP = "map"
_Layout = dict[int, tuple[str, Any]]
_META: _Layout = {1: ("name", _TEXT), 2: ("generateName", _TEXT), 11: ("labels", _MAP), 12: ("annotations", _MAP)}
_ATTRIBUTES: _Layout = {
    1: ("namespace", _TEXT),
    2: ("verb", _TEXT),
    3: ("group", _TEXT),
    4: ("version", _TEXT),
    5: ("resource", _TEXT),
    6: ("subresource", _TEXT),
    7: ("name", _TEXT),
}
_PATHS: _Layout = {1: ("path", _TEXT), 2: ("verb", _TEXT)}
_ACCESS: _Layout = {1: ("resourceAttributes", _ATTRIBUTES), 2: ("nonResourceAttributes", _PATHS)}
_LAYOUTS: dict[str, _Layout] = {
    "Namespace": {1: ("metadata", _META)},
    "SelfSubjectAccessReview": {2: ("spec", _ACCESS)},
    "SelfSubjectRulesReview": {2: ("spec", {1: ("namespace", _TEXT)})},
    "SelfSubjectReview": {},
}


def understands(kind_name: str) -> bool:
    return kind_name in _LAYOUTS


def decode(body: bytes, kind_name: str) -> Json:
    """The object in a body; ValueError where it is not one of this kind."""
    if not body.startswith(_MAGIC):
        raise ValueError("not a Kubernetes protobuf body")
    raw = dict(_fields(body[len(_MAGIC) :])).get(2, b"")
    return _message(raw, _LAYOUTS[kind_name])


def _message(raw: bytes, layout: _Layout) -> Json:
    found: Json = {}
    for number, value in _fields(raw):
        if number not in layout or not value:
            continue
        name, inner = layout[number]
        if inner == _TEXT:
            found[name] = value.decode()
        elif inner == _MAP:
            pair = dict(_fields(value))
            found.setdefault(name, {})[pair.get(1, b"").decode()] = pair.get(2, b"").decode()
        else:
            found[name] = _message(value, inner)
    return found


def _fields(raw: bytes) -> list[tuple[int, bytes]]:
    """The length-delimited fields of a message by number; other wire types are skipped."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        if tag & 7 == 0:
            _, at = _varint(raw, at)
        elif tag & 7 == 2:
            size, at = _varint(raw, at)
            if at + size > len(raw):
                raise ValueError("a field is cut off")
            found.append((tag >> 3, raw[at : at + size]))
            at += size
        else:
            raise ValueError(f"wire type {tag & 7} is not used by these kinds")
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(raw) and shift < 64:
        number |= (raw[at] & 0x7F) << shift
        if raw[at] < 0x80:
            return number, at + 1
        at, shift = at + 1, shift + 7
    raise ValueError("a number is cut off")
