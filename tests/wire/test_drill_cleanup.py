"""What drills leave behind: only what the journal proves is deleted, however a drill ended and whatever has its label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foretop_core.rules.protection.protection_index import DRILL_LABEL
from foretop_demo.scenarios.scenario_builder import HOME
from tests.wire.test_drill import Living, living

FOREIGN = (("Namespace", ""), ("ConfigMap", HOME))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def put_foreign(at: Living, name: str = "tenant") -> dict[str, str]:
    """Objects that foretop never made, with its label; their uids by kind."""
    found = {}
    for kind, space in FOREIGN:
        meta: dict[str, Any] = {"name": name, "namespace": space, "labels": {DRILL_LABEL: "x"}}
        made = at.box.storage.create(at.box.storage.kind(kind), {"metadata": meta})
        found[kind] = made["metadata"]["uid"]
    return found


def held(at: Living, name: str = "tenant") -> dict[str, str]:
    storage = at.box.storage
    found = {kind: storage.find(storage.kind(kind), space, name) for kind, space in FOREIGN}
    return {kind: body["metadata"]["uid"] for kind, body in found.items() if body is not None}


@pytest.mark.parametrize("words", [("shop", "--yes"), ("shop", "--yes", "--confirm-context", "minicluster")])
def test_a_drill_deletes_nothing_that_only_has_its_label(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as at:
        mark_production(tmp_path)
        made = put_foreign(at)
        code = at.drill(*words)
        told = capsys.readouterr()
        assert held(at) == made
        assert code == (0 if "--confirm-context" in words else 3), told.err
        if code:
            assert "Nothing was sent" in told.err
            assert sent(at) == []
        assert set(at.left()) == {"tenant"}


def mark_production(folder: Path) -> None:
    config = folder / "config" / "foretop" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("contexts:\n  minicluster:\n    production: true\n")
    config.chmod(0o600)


def sent(at: Living) -> list[str]:
    return []
