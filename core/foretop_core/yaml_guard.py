"""YAML that would break its reader: nested beyond the stack of the C library, or aliases that grow without measure."""

from __future__ import annotations

import re
from typing import Any

import yaml

MOST_DEPTH = 100
MOST_NODES = 1_000_000
"""Of a document whose aliases are written out."""
_RUNS = re.compile(r"(?:[-?] ){20}|^ {200}", re.MULTILINE)


class YamlBomb(yaml.YAMLError):
    """Such a document; the message says which sort."""


def check_yaml(text: str, loader: Any) -> None:
    """Raises YamlBomb; an ordinary text costs only a glance."""
    deep = text.count("[") + text.count("{") > MOST_DEPTH or _RUNS.search(text) is not None
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
