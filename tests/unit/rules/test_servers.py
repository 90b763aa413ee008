"""What a Deployment shows about its Velero server."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models import Deployment, from_builtins
from foretop_core.rules.velero_deployment import image_version, server
from tests.objects import at


def deployment(*args: str, **container: Any) -> Deployment:
    velero = {"name": "velero", "image": "velero/velero:v1.18.3", "args": ["server", *args], **container}
    return from_builtins(Deployment, {"spec": {"template": {"spec": {"containers": [velero]}}}})


def test_missing_flags_have_velero_s_defaults() -> None:
    found = server(deployment())
    assert found is not None
    assert (found.skip_immediately, found.concurrency, found.version) == (False, 1, "1.18.3")


@pytest.mark.parametrize(
    ("args", "skip", "concurrency"),
    [
        (["--schedule-skip-immediately"], True, 1),
        (["--schedule-skip-immediately=true", "--concurrent-backups=3"], True, 3),
        (["--schedule-skip-immediately=false", "--concurrent-backups", "4"], False, 4),
        (["--concurrent-backups=zero"], False, 1),
        (["--concurrent-backups=0"], False, 1),
    ],
)
def test_flags_are_parsed_as_in_go(args: list[str], skip: bool, concurrency: int) -> None:
    found = server(deployment(*args))
    assert found is not None
    assert (found.skip_immediately, found.concurrency) == (skip, concurrency)


def test_a_deployment_without_a_velero_server_is_ignored() -> None:
    assert server(deployment(name="web", image="nginx", args=["-g"])) is None
    assert server(from_builtins(Deployment, {})) is None


@pytest.mark.parametrize(
    ("available", "rolled_out", "started"),
    [("", "", "02:00:00"), ("02:30:00", "02:10:00", "02:30:00"), ("02:30:00", "02:40:00", "02:40:00")],
)
def test_a_server_was_started_when_its_pod_was_made_replaced_or_ready_again(
    available: str, rolled_out: str, started: str
) -> None:
    conditions = [
        {"type": "Available", "status": "True", "lastTransitionTime": _wire(available)},
        {"type": "Progressing", "lastTransitionTime": _wire("02:00:01"), "lastUpdateTime": _wire(rolled_out)},
    ]
    template = {"spec": {"containers": [{"name": "velero", "args": ["server"]}]}}
    body = {
        "metadata": {"name": "velero", "creationTimestamp": _wire("02:00:00")},
        "spec": {"template": template},
        "status": {"conditions": conditions if available else []},
    }
    found = server(from_builtins(Deployment, body))
    assert found is not None
    assert found.started == at(started)


def _wire(time: str) -> str | None:
    return at(time).isoformat() if time else None


def test_an_image_without_a_release_in_its_tag_has_no_version() -> None:
    assert image_version("velero/velero:v1.17.2") == "1.17.2"
    assert image_version("registry:5000/velero") == ""
    assert image_version("example.org/oadp/velero@sha256:abcdef") == ""
    assert image_version("velero/velero:main") == ""
