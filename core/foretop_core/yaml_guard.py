"""YAML from anybody: what would break its reader is refused, and every fault of a document is a YAMLError."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

MOST_DEPTH = 100
MOST_NODES = 1_000_000
"""Of a document whose aliases are written out."""
_RUNS = re.compile(r"(?:[-?:] +){20}|^ {200}", re.MULTILINE)
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_TEXT, _SEQUENCE, _MAPPING = (f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
_SCALARS = tuple(f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "binary", "timestamp"))


class YamlBomb(yaml.YAMLError):
    """Nested beyond the stack of the C library, or aliases that grow without measure; the message says which."""


class PlainLoader(yaml.CSafeLoader):
    """Times are text: the models parse them, and name the field of an invalid one. So are numbers to the base of 60.

    Go has none of those, and reading a long one takes minutes.
    """

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        """The tag of a node, as the library finds it, without its paths: half of the time would go into those."""
        if kind is not yaml.ScalarNode:
            return _MAPPING if kind is yaml.MappingNode else _SEQUENCE
        if implicit[0]:
            for tag, pattern in self.yaml_implicit_resolvers.get(value[:1], ()):
                if pattern.match(value):
                    return str(tag)
        return _TEXT


PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _fitting(construct: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The library raises whatever Python raises for `!!bool perhaps` or a number of 5,000 digits."""

    def read(loader: Any, node: Any) -> Any:
        text = loader.construct_scalar(node)
        try:
            return text if ":" in text else construct(loader, node)
        except (ValueError, KeyError, AttributeError, OverflowError):
            raise yaml.constructor.ConstructorError(None, None, "a value is not valid", node.start_mark) from None

    return read


for _tag in _SCALARS:
    PlainLoader.add_constructor(_tag, _fitting(yaml.CSafeLoader.yaml_constructors[_tag]))


def scalar_value(text: str) -> Any:
    """The value of a word without quotes: true, 5, or itself; raises YAMLError."""
    loader = PlainLoader("")
    tag = loader.resolve(yaml.ScalarNode, text, (True, False))
    return loader.construct_object(yaml.ScalarNode(tag, text))


def check_yaml(text: str, loader: Any) -> None:
    """Raises YamlBomb; an ordinary text costs only a glance."""
    # What is empty nests nothing, and managedFields are full of it.
    opened = text.count("[") + text.count("{") - text.count("[]") - text.count("{}")
    deep = opened > MOST_DEPTH or _RUNS.search(text) is not None
    if not deep and not ("*" in text and "&" in text):
        return
    counts: list[int] = [0]
    anchors: list[str | None] = [None]
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent):
            # One of an anchor that is still open is a document that contains itself: it does not grow by that.
            counts[-1] += sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = counts.pop(), anchors.pop()
            counts[-1] += size
            if anchor:
                sizes[anchor] = size
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            if event.anchor:
                sizes[event.anchor] = 1
        if len(counts) > MOST_DEPTH:
            raise YamlBomb("it is nested too deeply")
        if counts[-1] > MOST_NODES:
            raise YamlBomb("its aliases stand for too much")
