"""Velero servers and the OADP operator as their Deployments describe them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from foretop_core.models import Deployment, kinds
from foretop_core.models.builtin_kinds import Container
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.volumes.evidence import VolumeFlags

VELERO_DEPLOYMENT = kinds.VELERO_DEPLOYMENT
OADP_DEPLOYMENT = "openshift-adp-controller-manager"
_OLM_OWNER = "olm.owner"
_OADP_OWNER = re.compile(r"oadp-operator\.v(.+)")
_OADP_TAG = re.compile(r"oadp-(\d+\.\d+(?:\.\d+)?)\b.*")
_VERSION = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)")
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


def server(deployment: Deployment) -> VeleroInfo | None:
    """The server's flags and version; None where the Deployment runs no Velero server."""
    container = server_container(deployment)
    if container is None:
        return None
    flags = flags_of(container)
    skip = flags.get("schedule-skip-immediately", "false")
    concurrent = flags.get("concurrent-backups", "1")
    return VeleroInfo(
        skip_immediately=skip in _TRUE,
        concurrency=max(1, int(concurrent)) if concurrent.isdecimal() else 1,
        version=image_version(container.image),
        oadp_version=_matched(_OADP_TAG, image_tag(container.image)),
        wanted_pods=_wanted_pods(deployment),
        ready_pods=deployment.status.ready_replicas,
        volume_flags=volume_flags(flags),
        started=_started(deployment),
    )


def server_container(deployment: Deployment) -> Container | None:
    """The container that runs a Velero server; one beside it may be a server of something else."""
    for container in deployment.spec.template.spec.containers:
        words = (*container.command, *container.args)
        if "server" in words and any("velero" in part for part in (container.name, container.image, *words)):
            return container
    return None


def _started(deployment: Deployment) -> datetime | None:
    """When its pod was last replaced, or was ready again: made, rolled out or available since."""
    since = {"Available": "last_transition_time", "Progressing": "last_update_time"}
    times = [
        getattr(condition, since[condition.type])
        for condition in deployment.status.conditions
        if condition.type in since
    ]
    return max((time for time in (deployment.created, *times) if time is not None), default=None)


def volume_flags(flags: Mapping[str, str]) -> VolumeFlags:
    """The flags that decide about volumes, out of all by their names."""
    locations = (entry.partition(":") for entry in flags.get("default-volume-snapshot-locations", "").split(","))
    return VolumeFlags(
        "EnableCSI" in flags.get("features", "").split(","),
        flags.get("default-volumes-to-fs-backup", "false") in _TRUE,
        flags.get("default-snapshot-move-data", "false") in _TRUE,
        {provider: name for provider, colon, name in locations if colon},
        flags.get("global-backup-volume-policies-configmap", ""),
    )


def _wanted_pods(deployment: Deployment) -> int | None:
    replicas, status = deployment.spec.replicas, deployment.status
    return replicas if status.replicas or status.ready_replicas or not replicas else None


def flags_of(container: Container) -> dict[str, str]:
    """Both `--flag=value` and `--flag value`; a flag alone is true."""
    words = (*container.command, *container.args)
    flags: dict[str, str] = {}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        flags[name] = value if equals else following if following and not following.startswith("-") else "true"
    return flags


def oadp_release(deployment: Deployment) -> str:
    """The release of OADP whose operator this Deployment runs, as its package manager labelled it; "" for others."""
    return _matched(_OADP_OWNER, deployment.label(_OLM_OWNER)) if deployment.name == OADP_DEPLOYMENT else ""


def image_tag(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def image_version(image: str) -> str:
    """The release in an image's tag; none where it is pinned by digest alone."""
    match = _VERSION.match(image_tag(image))
    return match.group(1) if match else ""


def _matched(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.fullmatch(text)
    return match.group(1) if match else ""
