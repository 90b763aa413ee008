"""Objects from a file: manifests and the output of `kubectl get -o yaml|json`, with lists and multiple documents."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping

import msgspec
import yaml

from foretop_core.errors import BadInput, Unreadable
from foretop_core.models.kinds import Kind, find
from foretop_core.models.wire import Resource, from_builtins
from foretop_core.yaml_guard import PlainLoader, check_yaml

_MOST_VALUES = 100_000
_BETWEEN = re.compile(r"[\s,]*")


class Manifest(msgspec.Struct, frozen=True):
    """The content of a file: the readable objects, the unreadable ones, and the number of others."""

    objects: tuple[tuple[Kind, Resource], ...]
    unreadable: tuple[Unreadable, ...]
    others: int
    documents: tuple[tuple[Kind, Mapping[str, object]], ...] = ()
    """The readable objects as they stand in the file."""

    def of(self, kind: Kind) -> tuple[Resource, ...]:
        return tuple(item for known, item in self.objects if known is kind)


def read(text: str, source: str) -> Manifest:
    """The objects in a text. An invalid object costs only itself; a text that does not parse is an error."""
    objects: list[tuple[Kind, Resource]] = []
    unreadable: list[Unreadable] = []
    documents: list[tuple[Kind, Mapping[str, object]]] = []
    others = 0
    for number, (document, kind_hint) in enumerate(_flat(read_documents(text, source)), start=1):
        try:
            kind = _kind(document, kind_hint, f"object {number} of {source}")
            if kind is None:
                others += 1
            else:
                objects.append((kind, from_builtins(kind.model, document)))
                assert isinstance(document, Mapping)
                documents.append((kind, document))
        except Unreadable as problem:
            unreadable.append(problem)
    return Manifest(tuple(objects), tuple(unreadable), others, tuple(documents))


def read_documents(text: str, source: str) -> list[object]:
    """The YAML or JSON documents of a text; BadInput with the place of the error where it does not parse."""
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return [msgspec.json.decode(text)]
        except (ValueError, RecursionError):
            places = list(json_values(text))
            if places and not text[places[-1][1] :].strip():
                return [msgspec.json.decode(text[begin:end]) for begin, end in places]
    try:
        check_yaml(text, PlainLoader)
        return [document for document in yaml.load_all(text, PlainLoader) if document is not None]
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise BadInput(f"{source} is not valid YAML{where}", problem.problem or "") from None
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        raise BadInput(f"{source} is not valid YAML", str(problem) or "it is nested too deeply") from None


def as_utf8(data: bytes) -> bytes:
    """A file without its mark; what the shell of Windows writes of a command is UTF-16."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(BOM_UTF8)


def json_values(text: str, at: int = 0) -> Iterator[tuple[int, int]]:
    """Begin and end of each JSON value, up to the first that is broken; commas may be between them."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for _ in range(_MOST_VALUES):
        begin = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        try:
            _, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            return
        yield begin, at


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _flat(documents: list[object]) -> Iterator[tuple[object, Mapping[str, object]]]:
    """The objects themselves; an item of a typed list may omit its kind, which then comes from the list."""
    for document in documents:
        items = document.get("items") if isinstance(document, Mapping) else None
        if isinstance(document, Mapping) and isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
            hint = {"apiVersion": document.get("apiVersion"), "kind": str(document["kind"]).removesuffix("List")}
            for item in items:
                yield item, hint
        else:
            yield document, {}


def _kind(document: object, hint: Mapping[str, object], where: str) -> Kind | None:
    if not isinstance(document, Mapping):
        raise Unreadable(f"{where} cannot be read", "it is not an object with apiVersion and kind")
    api_version = document.get("apiVersion") or hint.get("apiVersion")
    name = document.get("kind") or hint.get("kind")
    if not isinstance(api_version, str) or not isinstance(name, str) or not name:
        raise Unreadable(f"{where} cannot be read", "it has no apiVersion and kind")
    return find(api_version, name)
