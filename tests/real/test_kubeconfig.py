"""Kubeconfigs of several files: foretop and the real kubectl read them alike."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts, read_kubeconfig
from tests.real.build import Kit

FIRST: dict[str, Any] = {
    "current-context": "one",
    "contexts": [
        {"name": "one", "context": {"cluster": "shared", "user": "me"}},
        {"name": "both", "context": {"cluster": "shared", "user": "me"}},
    ],
    "clusters": [{"name": "shared", "cluster": {"server": "https://first:6443"}}],
    "users": [{"name": "me", "user": {"token": "first-token"}}],
}
SECOND: dict[str, Any] = {
    "current-context": "two",
    "contexts": [
        {"name": "two", "context": {"cluster": "other", "user": "me", "namespace": "velero"}},
        {"name": "both", "context": {"cluster": "other", "user": "you", "namespace": "velero"}},
    ],
    "clusters": [
        {"name": "shared", "cluster": {"server": "https://second:6443", "tls-server-name": "second"}},
        {"name": "other", "cluster": {"server": "https://other:6443", "tls-server-name": "other"}},
    ],
    "users": [
        {"name": "me", "user": {"token": "second-token"}},
        {"name": "you", "user": {"token": "your-token"}},
    ],
}
ORDERS = [("first", "second"), ("second", "first"), ("missing", "second"), ("blank", "first"), ("empty", "second")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {"first": FIRST, "second": SECOND, "blank": {"current-context": ""}}.items():
        (tmp_path / name).write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **content}))
    (tmp_path / "empty").touch()
    return tmp_path


def kubectl(kit: Kit, listed: str, *arguments: str) -> str:
    environment = {"KUBECONFIG": listed, "HOME": "/nonexistent", "PATH": os.defpath}
    ran = subprocess.run([kit.kubectl, *arguments], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def as_kubectl_sees_it(kit: Kit, listed: str, context: str) -> tuple[str, ...]:
    shown = kubectl(kit, listed, "config", "view", "--raw", "--minify", "--context", context, "-o", "json")
    view = json.loads(shown)
    cluster, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
    namespace = view["contexts"][0]["context"].get("namespace", "default")
    return cluster["server"], cluster.get("tls-server-name", ""), user["token"], namespace


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_of_several_files_foretop_and_kubectl_read_the_same(kit: Kit, folder: Path, order: tuple[str, str]) -> None:
    listed = os.pathsep.join(str(folder / name) for name in order)
    kubeconfig = read_kubeconfig(ConnectionOptions(), {"KUBECONFIG": listed})
    assert kubeconfig.current == kubectl(kit, listed, "config", "current-context")
    for name in kubeconfig.contexts:
        (found,) = choose_contexts(ConnectionOptions(contexts=(name,)), {"KUBECONFIG": listed})
        seen = (found.server, found.tls_server_name, found.identity.token, found.namespace)
        assert seen == as_kubectl_sees_it(kit, listed, name)
