"""YAML as a Go program reads it into a type: every key needs a field, and every scalar fits into a string.

A fault is told in the words of Go's library. What Go might read otherwise than foretop is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
import yaml

from foretop_core.yaml_guard import YamlBomb, check_yaml

LONGEST = 262_144
"""Characters; a ConfigMap may have four times as many, and to read those takes seconds."""
_TAG = "tag:yaml.org,2002:"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER_LIKE = re.compile(r"[-+]?(\.?[0-9].*|\.(inf|Inf|INF))|\.(nan|NaN|NAN)")
_WORD_OF_LENGTH = re.compile(r"[-+]?[0-9.]+(n|u|m|k|[KMGTPE]i?)")
_LONGEST_SHOWN, _SHOWN = 10, 7


class RefusedYaml(Exception):
    """The program refuses the text; the message has its own words."""


class NotRead(Exception):
    """Go may read it, and foretop does not: the message says what."""


class TextShape(msgspec.Struct, frozen=True):
    """A string."""

    go: str = "string"


class ListShape(msgspec.Struct, frozen=True):
    """A slice."""

    of: Shape

    @property
    def go(self) -> str:
        return f"[]{self.of.go}"


class MapShape(msgspec.Struct, frozen=True):
    """A map of strings to strings."""

    go: str = "map[string]string"


class AnyShape(msgspec.Struct, frozen=True):
    """A map of strings to whatever YAML itself makes of the values."""

    go: str = "map[string]interface {}"


class FieldsShape(msgspec.Struct, frozen=True):
    """A struct, by the names of its fields."""

    go: str
    fields: Mapping[str, Shape]
    unsure: frozenset[str] = frozenset()
    """Fields that some releases have and others do not, where the release is not known."""


Shape: TypeAlias = TextShape | ListShape | MapShape | AnyShape | FieldsShape
TEXT, TEXTS, TEXT_MAP, ANYTHING = TextShape(), ListShape(TextShape()), MapShape(), AnyShape()


class OddMap(dict[str, Any]):
    """A map with a key that is no string, which Go keeps as another type."""


def decode(text: str, shape: FieldsShape) -> dict[str, Any]:
    """The first document of a text; raises RefusedYaml or NotRead."""
    node = _composed(text)
    if node is None:
        raise RefusedYaml("EOF")
    return _from_node(node, shape) or {}


def converted(value: Any, shape: Shape, place: int = 1) -> Any:
    """A value of an `AnyShape`, written out as YAML and read into a type, as Velero does with conditions."""
    match shape:
        case TextShape():
            return _text_of(value, shape, place)
        case ListShape(of=inner):
            if value is None:
                return None
            if not isinstance(value, list):
                raise _mismatch(place, value, shape)
            return [converted(item, inner, place) for item in value if item is not None]
        case MapShape() | AnyShape():
            if value is None:
                return None
            if not isinstance(value, dict):
                raise _mismatch(place, value, shape)
            return {key: _text_of(item, TEXT, place) for key, item in value.items()}
        case FieldsShape():
            if value is None:
                return None
            if not isinstance(value, dict):
                raise _mismatch(place, value, shape)
            found = {}
            for line, key in enumerate(sorted(value), place):
                found[key] = converted(value[key], _field(shape, key, line), line)
            return found


def go_type(value: Any) -> str:
    """The Go type of a value of an `AnyShape`."""
    if isinstance(value, OddMap):
        return "map[interface {}]interface {}"
    names = {bool: "bool", int: "int", str: "string", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "<nil>")


def _composed(text: str) -> yaml.Node | None:
    if len(text) > LONGEST:
        raise NotRead(f"it has more than {LONGEST} characters")
    try:
        check_yaml(text, yaml.CSafeLoader)
        loader = yaml.CSafeLoader(text)
        try:
            return loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except YamlBomb as error:
        raise NotRead(str(error)) from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise RefusedYaml(f"yaml: {line}{error.problem or error.context}") from None
    except yaml.YAMLError:
        raise RefusedYaml("yaml: control characters are not allowed") from None


def _from_node(node: yaml.Node, shape: Shape) -> Any:
    _check_tag(node)
    if isinstance(node, yaml.ScalarNode):
        return _from_scalar(node, shape)
    if isinstance(node, yaml.SequenceNode):
        if not isinstance(shape, ListShape):
            raise _unmarshal(_line(node), "!!seq", "", shape)
        # Go leaves out a null in a list.
        items = [_from_node(item, shape.of) for item in node.value]
        return [item for item in items if item is not None]
    match shape:
        case FieldsShape():
            return _fields_of(node, shape)
        case MapShape():
            return {key: _from_node(item, TEXT) or "" for key, item in _pairs(node)}
        case AnyShape():
            return {key: _anything(item) for key, item in _pairs(node)}
        case _:
            raise _unmarshal(_line(node), "!!map", "", shape)


def _from_scalar(node: yaml.ScalarNode, shape: Shape) -> Any:
    if _is_null(node):
        return None
    if isinstance(shape, TextShape):
        return node.value
    raise _unmarshal(_line(node), _scalar_tag(node), node.value, shape)


def _fields_of(node: yaml.Node, shape: FieldsShape) -> dict[str, Any]:
    found: dict[str, Any] = {}
    pairs = _pairs(node)
    for (key, value), (key_node, _) in zip(pairs, node.value, strict=True):
        found[key] = _from_node(value, _field(shape, key, _line(key_node)))
    return {key: value for key, value in found.items() if value is not None}


def _pairs(node: yaml.Node) -> list[tuple[str, yaml.Node]]:
    seen: dict[str, int] = {}
    for key_node, _ in node.value:
        _check_key(key_node)
        key, line = key_node.value, _line(key_node)
        if key in seen:
            first = seen[key]
            raise RefusedYaml(
                f'yaml: unmarshal errors:\n  line {line}: mapping key "{key}" already defined at line {first}'
            )
        seen[key] = line
    return [(key_node.value, value) for key_node, value in node.value]


def _anything(node: yaml.Node) -> Any:
    """A value that has no type of its own, as Go takes it."""
    _check_tag(node)
    if isinstance(node, yaml.SequenceNode):
        return [_anything(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        pairs = {key: _anything(item) for key, item in _pairs(node)}
        is_odd = any(_scalar_tag(key) != "!!str" for key, _ in node.value)
        return OddMap(pairs) if is_odd else pairs
    if not isinstance(node, yaml.ScalarNode):
        raise NotRead("it has a value of an unknown sort")
    if _is_null(node):
        return None
    text = node.value
    if not _is_plain(node):
        return text
    if text in _BOOLS:
        return _BOOLS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER_LIKE.fullmatch(text) and not _is_surely_text(text):
        raise NotRead(f"line {_line(node)} has a number or date without quotes: {text[:40]}")
    return text


def _is_surely_text(text: str) -> bool:
    """A capacity (`10Gi`, `10Gi,100Gi`) and a word with letters in it that no number has."""
    return bool(_WORD_OF_LENGTH.fullmatch(text)) or "," in text or any(letter in text for letter in "ghijklmqrsuvwyz/")


def _text_of(value: Any, shape: Shape, place: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        raise _mismatch(place, value, shape)
    return str(value)


def _mismatch(place: int, value: Any, shape: Shape) -> RefusedYaml:
    tags = {bool: "!!bool", int: "!!int", str: "!!str", list: "!!seq"}
    is_collection = isinstance(value, dict | list)
    text = "" if is_collection else _text_of(value, TEXT, place)
    return _unmarshal(place, tags.get(type(value), "!!map"), text, shape)


def _unmarshal(line: int, tag: str, text: str, shape: Shape) -> RefusedYaml:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_SHOWN]}..."
    quoted = f" `{shown}`" if text else ""
    return RefusedYaml(f"yaml: unmarshal errors:\n  line {line}: cannot unmarshal {tag}{quoted} into {shape.go}")


def _field(shape: FieldsShape, key: str, line: int) -> Shape:
    if key in shape.unsure:
        raise NotRead(f"the release of Velero decides whether it knows {key}, and is not known")
    field = shape.fields.get(key)
    if field is None:
        raise RefusedYaml(f"yaml: unmarshal errors:\n  line {line}: field {key} not found in type {shape.go}")
    return field


def _check_tag(node: yaml.Node) -> None:
    """A tag that is written out, such as !!binary, may change what a value is."""
    kinds: dict[type[yaml.Node], str] = {yaml.SequenceNode: "seq", yaml.MappingNode: "map"}
    wanted = kinds.get(type(node))
    if wanted is not None and node.tag != _TAG + wanted:
        raise NotRead(f"line {_line(node)} has a tag")
    if wanted is None and not node.tag.startswith(_TAG):
        raise NotRead(f"line {_line(node)} has a tag")
    if wanted is None and node.tag == f"{_TAG}binary":
        raise NotRead(f"line {_line(node)} has a tag")


def _check_key(node: yaml.Node) -> None:
    if not isinstance(node, yaml.ScalarNode) or _is_null(node) or (_is_plain(node) and node.value == "<<"):
        raise NotRead(f"line {_line(node)} has a key that is not text")


def _scalar_tag(node: yaml.ScalarNode) -> str:
    if not _is_plain(node):
        return "!!str"
    if node.value in _BOOLS:
        return "!!bool"
    return "!!int" if _INTEGER.fullmatch(node.value) else "!!str"


def _is_null(node: yaml.ScalarNode) -> bool:
    return _is_plain(node) and node.value in _NULLS


def _is_plain(node: yaml.ScalarNode) -> bool:
    """True without quotes; the C library calls that style "" or none at all."""
    return not node.style or node.style == "plain"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
