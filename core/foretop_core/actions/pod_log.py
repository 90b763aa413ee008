"""The logs of Velero's own pods, whole or what is in them of one object: partial, as a pod keeps only so much."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import msgspec

from foretop_core.actions.log_text import LogText
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import too_long

SELECTORS = ("deploy=velero", "name=velero", "component=velero")
"""As velero install, the chart and OADP label the pod."""
MOST_LINES = "200000"
MOST_BYTES = 128 * 2**20
"""Of one log, however long its lines are: a server need not keep to the number of them."""


_COST_OF_A_LINE = 128
"""Bytes that a line counts for besides its own, so that there are a million at most."""


class _Meta(msgspec.Struct):
    name: str = ""


class _Container(msgspec.Struct):
    name: str = ""


class _Spec(msgspec.Struct):
    containers: list[_Container] = []


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Pods(msgspec.Struct):
    items: list[_Pod] | None = None


async def pod_log(client: ApiClient, namespace: str, name: str) -> LogText:
    """The lines that name the object, of all Velero pods of the namespace, oldest pod first."""
    pods = await _pods(client, namespace)
    if not pods:
        raise ForetopError(f"No Velero pod found in {namespace}")
    wanted = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    found = bytearray()
    for pod in pods:
        path = _log_path(namespace, pod.metadata.name)
        params = {"tailLines": MOST_LINES}
        if any(one.name == "velero" for one in pod.spec.containers):
            params["container"] = "velero"
        async for line in _lines(client, path, params):
            if wanted.search(line.decode("utf-8", "replace")):
                found += line + b"\n"
    return LogText(found)


async def container_log(
    client: ApiClient, namespace: str, pod: str, container: str = "", *, previous: bool = False
) -> LogText:
    """The log of one container, or of its run before the last restart; the last lines of a very long one."""
    params = {"tailLines": MOST_LINES}
    if container:
        params["container"] = container
    if previous:
        params["previous"] = "true"
    found = bytearray()
    async for line in _lines(client, _log_path(namespace, pod), params):
        found += line + b"\n"
    return LogText(found)


async def _lines(client: ApiClient, path: str, params: dict[str, str]) -> AsyncIterator[bytes]:
    read = 0
    async with client.stream(path, params, 60.0) as lines:
        async for line in lines:
            read += len(line) + _COST_OF_A_LINE
            if read > MOST_BYTES:
                raise too_long("the log", MOST_BYTES)
            yield line


def _log_path(namespace: str, pod: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"


async def _pods(client: ApiClient, namespace: str) -> list[_Pod]:
    for selector in SELECTORS:
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods"
        answer = await client.request("GET", path, {"labelSelector": selector})
        pods = answer.read(_Pods).items
        if pods:
            return pods
    return []
