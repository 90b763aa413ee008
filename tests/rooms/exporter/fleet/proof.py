"""`python -m tests.rooms.exporter.fleet.proof [--minutes 20]`: an outage of storage under real servers.

Three real API servers, one with a real Velero whose storage is stopped in between, an exporter for each, and the alerts
of the mixin beside those of Velero's helm chart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from tests.real.cluster import RealCluster
from tests.real.server_process import free_port
from tests.rooms.exporter.fleet.prometheus_servers import MIXIN, Servers, prometheus_and_alertmanager
from tests.rooms.exporter.test_exporter import exporter
from tests.velero.build import prepare_velero
from tests.velero.own_network import velero_port
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import BUCKET, ServerFlags, StorySteps

FULL = 20.0
"""Minutes in which alerts wait as long as the mixin says; in a shorter run they wait less."""
STOPS, STARTS = 0.2, 0.6
"""Of the whole time."""
OURS = "ForetopStorageUnavailable"
LAST_STATUS = 'velero_backup_last_status{schedule!=""}'
CHART = dict.fromkeys(("VeleroBackupFailed", "VeleroBackupFailing"), f"{LAST_STATUS} != 1")
"""The alerts of the chart; they wait for a minute and a half here, and for 15 minutes and 12 hours there."""
_PROMPT = {"for": "90s"}


def rules(minutes: float) -> dict[str, Any]:
    mixin: dict[str, Any] = yaml.safe_load((MIXIN / "alerts.yaml").read_text())
    for rule in mixin["groups"][0]["rules"]:
        rule["for"] = f"{float(rule['for'].removesuffix('m')) * 60 * minutes / FULL:.0f}s"
    chart = [{"alert": name, "expr": expression, **_PROMPT} for name, expression in CHART.items()]
    return {"groups": [*mixin["groups"], {"name": "chart", "rules": chart}]}


def fleet(servers: Servers) -> str:
    """As a person reads it in the middle of the night."""
    command = [sys.executable, "-m", "foretop", "fleet", "--prometheus", servers.prometheus]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ).stdout


def story(servers: Servers, velero: RealVeleroCluster, minutes: float) -> Iterator[tuple[str, str, str]]:
    """What was done, what fired and what resolved, when it happens."""
    begun, firing = time.monotonic(), set[str]()
    to_do = [(STOPS, "storage is stopped"), (STARTS, "storage is back, empty")]
    while (share := (time.monotonic() - begun) / 60 / minutes) < 1:
        deed = ""
        if to_do and share >= to_do[0][0]:
            _, deed = to_do.pop(0)
            if to_do:
                velero.storage.close()
            else:
                print(fleet(servers), flush=True)
                velero.storage.start()
                velero.storage.create_bucket(BUCKET)
        active = {name for name, state in servers.alerts().items() if state == "active"}
        if deed or active != firing:
            yield deed, ", ".join(sorted(active - firing)), ", ".join(sorted(firing - active))
        firing = active
        time.sleep(1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=FULL)
    minutes: float = parser.parse_args().minutes
    kit = prepare_velero(print)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        os.environ["XDG_STATE_HOME"] = str(folder)
        opened.enter_context(velero_port(waits=True))
        velero = opened.enter_context(RealVeleroCluster(kit))
        others = [opened.enter_context(RealCluster(kit.cluster)) for _ in range(2)]
        metrics, steps = f"127.0.0.1:{free_port()}", StorySteps(velero)
        velero.start(ServerFlags(more=(f"--metrics-address={metrics}",)))
        wait_until_available(steps)
        steps.schedule("often", "*/3 * * * *")
        exporters = [
            opened.enter_context(exporter("--kubeconfig", str(cluster.kubeconfig("admin")), "--cluster-label", name))[1]
            for name, cluster in zip(("prod", "idle-1", "idle-2"), (velero.api_server, *others), strict=True)
        ]
        targets = {"foretop": [address.removeprefix("http://") for address in exporters], "velero": [metrics]}
        servers = opened.enter_context(prometheus_and_alertmanager(folder, rules(minutes), targets, "5s"))
        begun, fired, resolved = time.monotonic(), set[str](), set[str]()
        print(f"{'time':>5}  {'done':24}{'fired':36}resolved", flush=True)
        for deed, came, went in story(servers, velero, minutes):
            passed = int(time.monotonic() - begun)
            print(f"{passed // 60:2}:{passed % 60:02}  {deed:24}{came:36}{went}", flush=True)
            fired.update(came.split(", "))
            resolved.update(went.split(", "))
        print(fleet(servers), flush=True)
        backups = Counter(run.get("status", {}).get("phase", "New") for run in velero.list_all("Backup"))
        print("Backups that are there:", ", ".join(f"{count} {phase}" for phase, count in sorted(backups.items())))
        window = f"[{minutes:.0f}m]"
        for words, expression in (
            (
                "Backups that failed, by Velero's counters",
                "sum(velero_backup_validation_failure_total + velero_backup_failure_total)",
            ),
            (f"Samples of {LAST_STATUS}", f"sum(count_over_time({LAST_STATUS}{window}))"),
            ("of these 1", f"sum(sum_over_time({LAST_STATUS}{window}))"),
        ):
            print(f"{words}:", *(sample["value"][1] for sample in servers.query(expression)))
    is_shown = OURS in fired & resolved and not fired & CHART.keys()
    print("Shown." if is_shown else f"Not shown: {OURS} must fire and resolve, and no alert of the chart may fire.")
    return 0 if is_shown else 1


if __name__ == "__main__":
    sys.exit(main())
