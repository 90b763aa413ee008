"""How many volumes a node moves at once: loadConcurrency in the ConfigMap of Velero's node agents."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules import humanize

DEFAULT_LIMIT = 1
"""Of node agents that no ConfigMap tells otherwise."""
_HOSTNAME = "kubernetes.io/hostname"
"""The one label of a node that is known without reading the node: its name."""


class _Expression(msgspec.Struct, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()

    def matches(self, node: str) -> bool | None:
        if self.key != _HOSTNAME:
            return None
        match self.operator:
            case "In":
                return node in self.values
            case "NotIn":
                return node not in self.values
            case "Exists":
                return True
            case _:
                return False


class _Selector(msgspec.Struct, frozen=True, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: tuple[_Expression, ...] | None = None

    def matches(self, node: str) -> bool | None:
        """None where other labels of the node decide."""
        labels = [node == value if key == _HOSTNAME else None for key, value in (self.match_labels or {}).items()]
        matches = [*labels, *(expression.matches(node) for expression in self.match_expressions or ())]
        return False if False in matches else None if None in matches else True


class NodeRule(msgspec.Struct, frozen=True, rename="camel"):
    """The number of volumes for the nodes that a selector takes."""

    node_selector: _Selector = _Selector()
    number: int = 0


class _LoadConcurrency(msgspec.Struct, frozen=True, rename="camel"):
    global_config: int = 0
    per_node_config: tuple[NodeRule, ...] | None = None


class _Config(msgspec.Struct, frozen=True, rename="camel"):
    load_concurrency: _LoadConcurrency | None = None


class NodeAgentLimits(msgspec.Struct, frozen=True):
    """The limits of the node agents of one Velero."""

    usual: int | None = None
    """Of every node that no rule takes; None where it could not be read."""
    rules: tuple[NodeRule, ...] = ()
    source: str = ""
    """The name of the ConfigMap; "" where the agents have none."""
    why_unknown: str = "the DaemonSet of the node agents was not read"
    is_refused: bool = False
    """Not known because a permission lacks."""

    def of(self, node: str) -> int | None:
        """How many volumes a node moves at once, as its agent decides it: the smallest of the rules that take it."""
        if self.usual is None:
            return None
        sure = [rule.number for rule in self.rules if rule.node_selector.matches(node)]
        limit = min(sure, default=None)
        for rule in self.rules:
            matters = rule.number != self.usual if limit is None else rule.number < limit
            if matters and rule.node_selector.matches(node) is None:
                return None
        return self.usual if limit is None else limit

    def why_not(self, node: str) -> str:
        """Why the limit of a node is not known; "" where it is."""
        if self.usual is None:
            return self.why_unknown
        return "" if self.of(node) is not None else f"ConfigMap {self.source} has rules for labels of nodes"

    def told(self, node: str) -> str:
        """`it moves 1 volume at a time, by loadConcurrency in ConfigMap x`; or why that is not known."""
        limit = self.of(node)
        if limit is None:
            return f"how many volumes it moves at a time is not known: {self.why_not(node)}"
        return f"it moves {humanize.count(limit, 'volume')} at a time, {self._by}"

    @property
    def summary(self) -> str:
        """All nodes in one line: `each node moves 1 volume at a time, the default of node agents`."""
        if self.usual is None:
            return f"how many volumes a node moves at a time is not known: {self.why_unknown}"
        others = f", {humanize.count(len(self.rules), 'rule')} for single nodes" if self.rules else ""
        return f"each node moves {humanize.count(self.usual, 'volume')} at a time, {self._by}{others}"

    @property
    def _by(self) -> str:
        return f"by loadConcurrency in ConfigMap {self.source}" if self.source else "the default of node agents"


def limits_in(found: ConfigMap) -> NodeAgentLimits:
    """The limits in the ConfigMap of the node agents; what an agent cannot read leaves the default."""
    if len(found.data) > 1:
        # The agent takes any of them.
        return NodeAgentLimits(why_unknown=f"ConfigMap {found.name} has several keys")
    config = _Config()
    for text in found.data.values():
        try:
            config = msgspec.json.decode(text, type=_Config)
        except msgspec.MsgspecError:
            return NodeAgentLimits(DEFAULT_LIMIT)
    load = config.load_concurrency
    if load is None:
        return NodeAgentLimits(DEFAULT_LIMIT)
    rules = tuple(rule for rule in load.per_node_config or () if rule.number > 0)
    return NodeAgentLimits(load.global_config if load.global_config > 0 else DEFAULT_LIMIT, rules, found.name)


Limits = Mapping[str, NodeAgentLimits]
"""By the namespace of the Velero server."""
