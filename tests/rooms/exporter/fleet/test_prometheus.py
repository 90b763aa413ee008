"""The exporter, its rules and alerts before a real Prometheus and Alertmanager of Debian's packages."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop.cli import run
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import SimulatedCluster
from tests.rooms.exporter.fleet.prometheus_servers import MIXIN, Servers, prometheus_and_alertmanager, tool, until
from tests.rooms.exporter.test_exporter import exporter
from tests.wire.boxes import living_box
from tests.wire.test_watch_receivers import watching

pytestmark = pytest.mark.sweep


@contextmanager
def stack(scene: str, folder: Path, speed: float) -> Iterator[tuple[Servers, SimulatedCluster]]:
    """A scene, its exporter, a Prometheus that scrapes it each second, and an Alertmanager."""
    rules = yaml.safe_load((MIXIN / "alerts.yaml").read_text())
    for rule in rules["groups"][0]["rules"]:
        # Nobody waits for minutes here; that each waits is tried by promtool.
        rule["for"] = "0s"
    with (
        living_box(scene, folder, speed) as (box, path),
        exporter("--kubeconfig", path, "--cluster-label", "prod") as (_, address),
        prometheus_and_alertmanager(folder, rules, {"foretop": [address.removeprefix("http://")]}, "1s") as servers,
    ):
        until(lambda: servers.query("foretop_namespace_protection"))
        yield servers, box


def test_the_rules_are_read_and_each_alert_fires_and_resolves() -> None:
    assert "SUCCESS" in tool("promtool", "check", "rules", str(MIXIN / "alerts.yaml"))
    tool("promtool", "test", "rules", "alerts_test.yaml", cwd=MIXIN)
    alerts = {rule["alert"] for rule in yaml.safe_load((MIXIN / "alerts.yaml").read_text())["groups"][0]["rules"]}
    tried = yaml.safe_load((MIXIN / "alerts_test.yaml").read_text())["tests"]
    assert {f"Foretop{test['name']}" for test in tried} == alerts
    inhibited = (MIXIN / "inhibit.yaml").read_text()
    assert set(re.findall(r"Foretop\w+", inhibited)) <= alerts


@pytest.mark.parametrize("scene", ["contents", "busy", "nonadmin-status"])
def test_promtool_has_nothing_to_say_of_the_metrics(
    scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with living_box(scene, tmp_path, 0.001) as (_, path):
        assert run(["exporter", "--once", "--kubeconfig", path]) == 0
    assert tool("promtool", "check", "metrics", read=capsys.readouterr().out) == ""


def test_prometheus_has_what_the_screen_says(tmp_path: Path) -> None:
    with stack("contents", tmp_path, 0.001) as (at, _):
        protected = at.query('foretop_namespace_protection{foretop_namespace_protection="protected"} == 1')
        assert {one["metric"]["target"] for one in protected} == {"team-pay", "wiki"}
        assert until(lambda: at.query("foretop:namespaces_protected:ratio"))[0]["metric"] == {"cluster": "prod"} | {
            "__name__": "foretop:namespaces_protected:ratio"
        }
        assert until(lambda: at.alerts().get("ForetopVolumesMissingInNewestCopy")) == "active"
        assert "ForetopStorageUnavailable" not in at.alerts()


def test_an_alert_fires_and_resolves(tmp_path: Path) -> None:
    with stack("quiet", tmp_path, 1.0) as (at, box):
        kind = box.storage.kind("BackupStorageLocation")
        place = box.storage.list(kind)[0]["metadata"]["name"]

        def alerts_of_outage() -> str | None:
            # Until somebody has looked: the controller may have validated it before.
            box.storage.patch(kind, HOME, place, {"status": {"phase": "Unavailable"}}, "velero")
            return at.alerts().get("ForetopStorageUnavailable")

        until(alerts_of_outage)
        # The controller of the box validates it again.
        until(lambda: "ForetopStorageUnavailable" not in at.alerts())


def test_a_silent_velero_silences_what_it_causes_in_its_own_cluster(tmp_path: Path) -> None:
    with stack("quiet", tmp_path, 0.001) as (at, _):
        for name, cluster in (("VeleroSilent", "one"), ("RunExpectedLost", "one"), ("QueueStalled", "two")):
            labels = {"alertname": f"Foretop{name}", "cluster": cluster}
            body = json.dumps([{"labels": labels}]).encode()
            request = urllib.request.Request(
                f"{at.alertmanager}/api/v2/alerts", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.status == 200
        until(lambda: at.alerts().get("ForetopRunExpectedLost") == "suppressed")
        assert at.alerts() | {"ForetopQueueStalled": "active", "ForetopVeleroSilent": "active"} == at.alerts()


def test_the_fleet_is_the_same_by_watching_and_by_asking_prometheus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    # Nothing moves in this scene while two look at it, one after the other.
    with stack("protection", tmp_path, 0.001) as (at, _):
        until(lambda: at.query("foretop_findings"))

        def rows(*words: str) -> list[dict[str, Any]]:
            run(["fleet", *words, "-o", "json"])
            listed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["items"]
            return [{**row, "cluster": "", "nightDoneBy": "", "judgedAt": ""} for row in listed]

        assert rows("--prometheus", at.prometheus) == rows("--kubeconfig", str(tmp_path / "kubeconfig"))


def test_a_cluster_whose_exporter_has_gone_keeps_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with (
        living_box("quiet", tmp_path, 0.001) as (_, path),
        exporter("--kubeconfig", path, "--cluster-label", "prod") as (process, address),
        prometheus_and_alertmanager(
            tmp_path, {"groups": []}, {"foretop": [address.removeprefix("http://")]}, "1s"
        ) as servers,
    ):
        until(lambda: servers.query("foretop_up"))
        process.kill()
        until(lambda: not servers.query("foretop_up"))
        assert run(["fleet", "--prometheus", servers.prometheus, "-o", "json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["items"]
    assert (row["cluster"], row["state"]) == ("prod", "no news")
    assert row["judgedAt"]


def test_a_watch_without_prometheus_keeps_its_alerts_in_alertmanager(tmp_path: Path) -> None:
    with stack("quiet", tmp_path, 1.0) as (at, box):
        broken = {"spec": {"schedule": "61 * * * *", "template": {}}, "metadata": {"name": "broken", "namespace": HOME}}
        schedules = box.storage.kind("Schedule")
        box.storage.create(schedules, broken)
        with watching(tmp_path, "--alertmanager", at.alertmanager):
            until(lambda: {"ForetopScheduleInvalid", "ForetopWatching"} <= at.alerts().keys())
            box.storage.delete(schedules, HOME, "broken")
            until(lambda: "ForetopScheduleInvalid" not in at.alerts())
            assert at.alerts()["ForetopWatching"] == "active"


@pytest.mark.parametrize(("name", "scene"), [("fleet", "busy"), ("cluster", "contents")])
def test_each_query_of_the_dashboards_is_answered(name: str, scene: str, tmp_path: Path) -> None:
    board = json.loads((MIXIN / f"{name}-dashboard.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    with stack(scene, tmp_path, 0.001) as (at, _):
        for query in queries:
            found = at.query(query.replace("$cluster", "prod"))
            # Where nothing is late there is no row.
            assert found or "late_seconds" in query, query
