"""`python -m tests.rooms.exporter.fleet.measures [fleet] [crowd]`: a fleet asked of Prometheus, a crowd exported."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

from foretop_core.room_finder import room_modules
from foretop_core.rooms.exporter import measurement
from foretop_core.rooms.exporter.exposition import PLAIN, ClusterSample, expositions
from foretop_core.rooms.exporter.fleet import NEEDED
from foretop_core.rules.facts.namespace_facts import ProtectionState
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.metric_families import Family, Sample
from tests.objects import NOW
from tests.rooms.exporter.fleet.prometheus_servers import prometheus_and_alertmanager, until
from tests.rooms.exporter.test_exporter import asked, exporter
from tests.terminal import Terminal, cpu_seconds, resident_megabytes
from tests.wire.boxes import box_in_thread
from trials.bench import Figure

CLUSTERS, SCHEDULES, NAMESPACES = 100, 40, 40
OBJECTS = 50_000
SCRAPES, EVERY = 16, 15.0
_VALUES: Mapping[str, tuple[str, ...]] = {
    "schedule": tuple(f"schedule-{number:02}" for number in range(SCHEDULES)),
    "target": tuple(f"team-{number:02}" for number in range(NAMESPACES)),
    "code": ("backup-failed", "namespace-late"),
    "severity": ("error", "warning"),
    "kind": ("Schedule", "Backup", "Restore"),
    "phase": ("New", "Queued", "InProgress"),
    "result": ("Completed", "PartiallyFailed", "Failed", "FailedValidation"),
    "certainty": ("0.5", "0.9"),
    "foretop_namespace_protection": tuple(ProtectionState),
}


def _families() -> list[Family]:
    modules = [*room_modules("foretop_core", "metrics"), measurement]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Family)]


def _samples() -> Iterator[ClusterSample]:
    """Each family of each cluster with all labels that it may have."""
    now = time.time()
    for cluster, family in product(range(CLUSTERS), _families()):
        labels = (*family.labels, *((f"foretop_{family.name}",) if family.kind == "stateset" else ()))
        for values in product(*(_VALUES.get(label, ("a",)) for label in labels)):
            # Every tenth namespace is late.
            is_late = values[-1:] == ("late",) and values[0].endswith("0")
            is_state = family.name.endswith("protection") or family.name == "schedule_paused"
            value = float(is_late) if is_state else now if "timestamp" in family.name else 1.0
            uid = (f"uid-{cluster}",) if family.name == "cluster" else values
            yield ClusterSample(f"cluster-{cluster:03}", Sample(family, uid, value))


@contextmanager
def _serving(body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", PLAIN)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def _cpu_of_children() -> float:
    """Seconds of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_fleet() -> Iterator[Figure]:
    samples = list(_samples())
    with (
        tempfile.TemporaryDirectory() as folder,
        _serving(expositions(samples, len(samples))[PLAIN].text) as target,
        prometheus_and_alertmanager(Path(folder), {"groups": []}, {"foretop": [target]}, "60s") as servers,
    ):
        until(lambda: servers.query("foretop_up"))
        what = f"{CLUSTERS} clusters x {SCHEDULES} schedules, {len(samples):,} series"
        yield Figure(f"{what}: queries", len(NEEDED), 6, "")
        for _ in range(3):
            begun, cpu = time.monotonic(), _cpu_of_children()
            command = [sys.executable, "-m", "foretop", "fleet", "--prometheus", servers.prometheus]
            rows = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            yield Figure(f"{what}: foretop fleet, {rows.count('cluster-')} rows", time.monotonic() - begun, 1.0, "s")
            yield Figure(f"{what}: of a processor", _cpu_of_children() - cpu, 1.0, "s")


def _crowd() -> list[dict[str, Any]]:
    """Tenants' objects and their backups, which have ended, of forty schedules and forty namespaces."""
    objects: list[dict[str, Any]] = [{"kind": "Namespace", "metadata": {"name": "velero"}}]
    for name in _VALUES["target"]:
        objects.append({"kind": "Namespace", "metadata": {"name": name}})
        template = {"includedNamespaces": [name], "ttl": "720h0m0s"}
        spec = {"schedule": "0 2 * * *", "template": template}
        objects.append({"kind": "Schedule", "metadata": {"name": name, "namespace": "velero"}, "spec": spec})
    for number in range(OBJECTS // 2):
        team, name = f"team-{number % NAMESPACES:02}", f"nab-{number:05}"
        began = NOW - timedelta(minutes=number // NAMESPACES * 30)
        times = {"startTimestamp": rfc3339(began), "completionTimestamp": rfc3339(began + timedelta(minutes=4))}
        done = {"phase": "Completed", **times}
        objects.append(
            {
                "kind": "Backup",
                "metadata": {"name": name, "namespace": "velero", "labels": {"velero.io/schedule-name": team}},
                "spec": {"includedNamespaces": [team], "ttl": "720h0m0s"},
                "status": {**done, "expiration": rfc3339(began + timedelta(days=30))},
            }
        )
        spec = {"backupSpec": {"ttl": "720h0m0s"}}
        created = {"phase": "Created", "veleroBackup": {"name": name, "namespace": "velero", "status": done}}
        metadata = {"name": name, "namespace": team}
        objects.append({"kind": "NonAdminBackup", "metadata": metadata, "spec": spec, "status": created})
    return objects


def measure_crowd() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as home, box_in_thread(_crowd()) as box:
        os.environ["XDG_STATE_HOME"] = home
        path = str(box.kubeconfig(Path(home) / "kubeconfig"))
        with exporter("--kubeconfig", path) as (process, address):
            until(lambda: asked(f"{address}/readyz")[0] == 200)
            time.sleep(60)
            cpu, begun, longest, bytes_of_all = cpu_seconds(process.pid), time.monotonic(), 0.0, 0
            for _ in range(SCRAPES):
                time.sleep(EVERY)
                asked_at = time.monotonic()
                bytes_of_all = len(asked(f"{address}/metrics", Accept_Encoding="gzip")[2])
                longest = max(longest, time.monotonic() - asked_at)
            share = (cpu_seconds(process.pid) - cpu) / (time.monotonic() - begun)
            exporters = resident_megabytes(process.pid)
        with Terminal([sys.executable, "-m", "foretop", "--kubeconfig", path], 120, 40, {"HOME": home}) as terminal:
            terminal.until(lambda lines: "Triage" in lines[1], 120.0)
            time.sleep(60)
            dashboards = resident_megabytes(terminal.pid)
    yield Figure(f"{OBJECTS:,} objects: longest scrape, {bytes_of_all:,} bytes", longest * 1000, 50, "ms")
    yield Figure(f"{OBJECTS:,} objects: of a processor, a scrape each {EVERY:g} s", share * 100, 1, "%")
    yield Figure(f"{OBJECTS:,} objects: resident, goal the dashboard's", exporters, dashboards, "MB")


MEASURES = {"fleet": measure_fleet, "crowd": measure_crowd}

if __name__ == "__main__":
    for word in sys.argv[1:] or MEASURES:
        for figure in MEASURES[word]():
            print(figure.line(), flush=True)
