"""What a Deployment tells of the Velero server that it runs."""

from __future__ import annotations

from core.models import Deployment
from core.models.workload import Container
from core.rules.world import Server

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
                version=_version(container),
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


def _version(container: Container) -> str:
    """The image's tag; an image pinned by digest has none."""
    image = container.image.partition("@")[0]
    tag = image.rpartition("/")[2].partition(":")[2]
    return tag.removeprefix("v")
