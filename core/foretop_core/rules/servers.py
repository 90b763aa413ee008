"""What a Deployment tells of the Velero server that it runs."""

from __future__ import annotations

import re

from foretop_core.models import Deployment
from foretop_core.rules.world import Server

_VERSION = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)")
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})


def server(deployment: Deployment) -> Server | None:
    """The server's flags and version; None where the Deployment runs no Velero server."""
    for container in deployment.spec.template.spec.containers:
        words = (*container.command, *container.args)
        if "server" in words and any("velero" in part for part in (container.name, container.image, *words)):
            flags = _flags(words)
            skip = flags.get("schedule-skip-immediately", "false")
            concurrent = flags.get("concurrent-backups", "1")
            return Server(
                skip_immediately=skip in _TRUE,
                concurrency=max(1, int(concurrent)) if concurrent.isdecimal() else 1,
                version=image_version(container.image),
            )
    return None


def _flags(words: tuple[str, ...]) -> dict[str, str]:
    """Both `--flag=value` and `--flag value`; a flag alone is true."""
    flags: dict[str, str] = {}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        flags[name] = value if equals else following if following and not following.startswith("-") else "true"
    return flags


def image_version(image: str) -> str:
    """The release in an image's tag; none where it is pinned by digest alone."""
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    found = _VERSION.match(tag)
    return found.group(1) if found else ""
