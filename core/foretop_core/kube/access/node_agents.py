"""The limits of Velero's node agents, read from their DaemonSet and the ConfigMap that it names."""

from __future__ import annotations

from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.builtin_kinds import ConfigMap, Container, DaemonSet
from foretop_core.models.kinds import CONFIG_MAP, DAEMON_SET, NODE_AGENT, NODE_AGENT_CONFIG
from foretop_core.models.wire import decode
from foretop_core.rules.cron_dialects import find_release
from foretop_core.rules.queue.node_limits import DEFAULT_LIMIT, NodeAgentLimits, limits_in
from foretop_core.rules.velero_deployment import flags_of, image_version

_FLAG = "node-agent-configmap"
_WITH_FLAG = (1, 15)
"""The first release that takes the name of the ConfigMap from a flag."""


async def read_node_limits(client: ApiClient, namespace: str) -> NodeAgentLimits:
    """How many volumes the node agents of one Velero move at once; two reads at most, and never a list.

    An agent reads its ConfigMap when it starts: one that was changed since then tells of the next start.
    """
    try:
        answer = await client.request("GET", api_paths.item(DAEMON_SET, namespace, NODE_AGENT))
        agents = decode(DaemonSet, answer.body)
    except ForetopError as problem:
        return _unknown(problem, "DaemonSet", NODE_AGENT, namespace)
    container = _agent(agents)
    if container is None:
        return NodeAgentLimits(why_unknown=f"DaemonSet {NODE_AGENT} has no container {NODE_AGENT}")
    named = flags_of(container).get(_FLAG, "")
    release = find_release(image_version(container.image))
    if not named and release is not None and (release.major, release.minor) >= _WITH_FLAG:
        return NodeAgentLimits(DEFAULT_LIMIT)
    limits = await _read_config(client, namespace, named or NODE_AGENT_CONFIG)
    if named or release is not None or not limits.source:
        return limits
    return NodeAgentLimits(why_unknown="the release of the node agents is not known")


def config_name(agents: DaemonSet | None) -> str:
    """The ConfigMap that the node agents of a server read, as far as their DaemonSet tells."""
    container = _agent(agents) if agents is not None else None
    return (flags_of(container).get(_FLAG) if container is not None else "") or NODE_AGENT_CONFIG


def _agent(agents: DaemonSet) -> Container | None:
    return next((item for item in agents.spec.template.spec.containers if item.name == NODE_AGENT), None)


async def _read_config(client: ApiClient, namespace: str, name: str) -> NodeAgentLimits:
    try:
        answer = await client.request("GET", api_paths.item(CONFIG_MAP, namespace, name))
        return limits_in(decode(ConfigMap, answer.body))
    except ForetopError as problem:
        if isinstance(problem, ApiError) and problem.status == 404:
            return NodeAgentLimits(DEFAULT_LIMIT)
        return _unknown(problem, "ConfigMap", name, namespace)


def _unknown(problem: ForetopError, kind: str, name: str, namespace: str) -> NodeAgentLimits:
    match problem:
        case ApiError(status=403):
            why = problem.lacks(f"get {kind} {name} in {namespace}", f"{kind} {name}")
            return NodeAgentLimits(why_unknown=why, is_refused=True)
        case ApiError(status=404):
            return NodeAgentLimits(why_unknown=f"there is no {kind} {name} in {namespace}")
        case _:
            return NodeAgentLimits(why_unknown=f"{kind} {name} could not be read: {problem}")
