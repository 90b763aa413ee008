"""foretop's JSONPath and columns beside kubectl's: what both print for the same objects."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from foretop.commands.get import parse_columns
from foretop_core.tables.engine.jsonpath import parse_jsonpath
from foretop_demo.local_api_server import LocalApiServer
from tests.real.build import Kit
from tests.unit.tables.test_jsonpath import DOCUMENT, UNDERSTOOD
from tests.wire.boxes import box_in_thread, kubeconfig

SECONDS = 120
COLUMNS = [
    "NAME:.metadata.name",
    "NAME:metadata.name,IMAGES:{.spec.template.spec.containers[*].image}",
    "A:.metadata.name,NONE:.no.such,MAP:.metadata.labels,LIST:.spec.template.spec.containers[0:1]",
    "REPLICAS:.spec.replicas,PAUSED:.spec.paused,A-LONG-HEADER:.kind",
]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    with box_in_thread([space, DOCUMENT]) as made:
        yield made


def printed(kit: Kit, folder: Path, *arguments: str) -> str:
    environment = {"HOME": str(folder)}
    command = [str(kit.kubectl), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS, env=environment)
    return done.stdout


@pytest.mark.parametrize("template", [template for template, _ in UNDERSTOOD])
def test_a_template_prints_what_kubectl_prints(kit: Kit, tmp_path: Path, template: str) -> None:
    """kubectl prints a local object; it needs no server for that."""
    path = tmp_path / "object.json"
    path.write_text(json.dumps(DOCUMENT))
    local = ("patch", "--local", "-f", str(path), "--type=merge", "-p", "{}", "-o", f"jsonpath={template}")
    assert parse_jsonpath(template).render(DOCUMENT) == printed(kit, tmp_path, *local)


@pytest.mark.parametrize("spec", COLUMNS)
def test_columns_print_what_kubectl_prints(box: LocalApiServer, kit: Kit, tmp_path: Path, spec: str) -> None:
    asked = ("get", "deployments", "-n", "shop", "--kubeconfig", kubeconfig(box, tmp_path), "-o")
    (live,) = json.loads(printed(kit, tmp_path, *asked, "json"))["items"]
    for headers in (True, False):
        lines = parse_columns(spec).lines([live], headers=headers)
        theirs = printed(kit, tmp_path, *asked, f"custom-columns={spec}", f"--no-headers={str(not headers).lower()}")
        assert "".join(f"{line}\n" for line in lines) == theirs
