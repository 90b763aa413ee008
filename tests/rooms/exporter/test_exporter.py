"""`foretop exporter` against boxes: its numbers are those of the tables, and nothing is worked out for a scrape."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from foretop.cli import run
from foretop.commands.watch_receivers import ALERTS
from foretop_core.models.kinds import BACKUP
from foretop_core.room_finder import room_modules
from foretop_core.rooms.exporter import collector, measurement
from foretop_core.rooms.exporter.exposition import OPEN_METRICS, PLAIN, ClusterSample, expositions
from foretop_core.rooms.exporter.metrics import SCHEDULE, SLOTS, measure_nights
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.metric_families import Family, MeasuredCluster, Sample
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import Thresholds
from foretop_demo.access import Rule, User
from tests.objects import NOW, backup, schedule
from tests.wire.action_fixtures import a_schedule
from tests.wire.boxes import box_in_thread, kubeconfig, living_box

Labels = frozenset[tuple[str, str]]
_LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TIMES = {
    "foretop_schedule_next_run_timestamp_seconds": "nextRun",
    "foretop_schedule_expected_start_timestamp_seconds": "expectedStart",
}
MIXIN = Path(__file__).parents[3] / "packaging" / "mixin"
STILL = 0.001
"""A speed at which no fact changes while two commands look."""


def read(text: str) -> dict[str, dict[Labels, float]]:
    """The samples by name and labels."""
    found: dict[str, dict[Labels, float]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            parts = _LINE.fullmatch(line)
            assert parts is not None, line
            found.setdefault(parts[1], {})[frozenset(_LABEL.findall(parts[2] or ""))] = float(parts[3])
    return found


def having(samples: dict[Labels, float], **labels: str) -> list[float]:
    return [value for pairs, value in samples.items() if pairs >= set(labels.items())]


def only(samples: dict[Labels, float], **labels: str) -> float:
    (value,) = having(samples, **labels)
    return value


@pytest.mark.parametrize(
    "scene",
    [
        "contents",
        "dead",
        *(pytest.param(one, marks=pytest.mark.sweep) for one in ("protection", "busy", "maintenance")),
    ],
)
def test_the_numbers_are_those_of_the_tables(scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living_box(scene, tmp_path, STILL) as (_, path):

        def printed(*words: str) -> str:
            run([*words, "--kubeconfig", path])
            return capsys.readouterr().out

        def items(view: str) -> list[dict[str, Any]]:
            listed: list[dict[str, Any]] = json.loads(printed("get", view, "-o", "json"))["items"]
            return listed

        metrics = read(printed("exporter", "--once"))
        assert only(metrics["foretop_failed_measures"]) == 0
        protected = metrics["foretop_namespace_protection"]
        states = {
            dict(pairs)["target"]: dict(pairs)["foretop_namespace_protection"]
            for pairs, value in protected.items()
            if value
        }
        rows = {item["name"]: item for item in items("protection") if item["state"] != "ignored"}
        assert states == {name: item["state"] for name, item in rows.items()}
        assert {name: only(metrics["foretop_namespace_good_copies"], target=name) for name in rows} == {
            name: item["goodCopies"] - item["copiesOutOfReach"] for name, item in rows.items()
        }
        schedules = items("schedules")
        for item in schedules:
            place = {"velero_namespace": item["namespace"], "schedule": item["name"]}
            assert only(metrics["foretop_schedule_paused"], **place) == item["paused"]
            for name, field in TIMES.items():
                told = having(metrics.get(name, {}), **place)
                assert [round(one) for one in told] == [round(seconds(item[field]))] if item[field] else not told
        # Those about volumes come in besides: a table of findings does not look at volumes.
        counted = Counter((item["code"], item["severity"]) for item in items("findings") if not item["acknowledged"])
        told_findings = {
            (code, severity): only(metrics["foretop_findings"], code=code, severity=severity)
            for code, severity in counted
        }
        assert told_findings == counted


def seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def test_names_of_others_can_neither_end_a_label_nor_tell_a_secret_nor_make_series_without_bound() -> None:
    odd = ['a"} 1\nforetop_up 0', "back\\slash", "\x1b[2J\u202e", "password=canary", "password=other", "x" * 5000]
    samples = [ClusterSample("c", Sample(SCHEDULE, ("velero", name, "@daily"), 1.0)) for name in odd]
    plain = expositions(samples, most=3)[PLAIN].text.decode()
    read_back = read(plain)
    assert set(read_back) == {"foretop_schedule_info", "foretop_series_dropped"}
    assert len(read_back["foretop_schedule_info"]) == 3
    # The two that are alike without their secret are one.
    assert only(read_back["foretop_series_dropped"], family="foretop_schedule") == 2
    everything = expositions(samples, most=9)[PLAIN].text.decode()
    assert "canary" not in everything
    assert "foretop_series_dropped" not in everything
    assert max(map(len, everything.splitlines())) < 500
    assert not set(everything) & set("\x1b\u202e")


def test_a_cluster_with_very_many_series_leaves_room_for_the_others() -> None:
    samples = [ClusterSample("a", Sample(SCHEDULE, ("velero", f"s-{number:02}", ""), 1.0)) for number in range(50)]
    samples += [ClusterSample(name, Sample(SCHEDULE, ("velero", "nightly", ""), 1.0)) for name in "yz"]
    metrics = read(expositions(samples, most=10)[PLAIN].text.decode())
    infos = metrics["foretop_schedule_info"]
    assert [len(having(infos, cluster=name)) for name in "ayz"] == [8, 1, 1]
    assert only(metrics["foretop_series_dropped"]) == 42


def test_a_backup_that_velero_refuses_counts_as_one_of_the_night() -> None:
    """It has no time of its start."""
    refused = backup("refused", "FailedValidation", created="02:00:03")
    snapshot = assemble([schedule("nightly", "0 2 * * *"), refused])
    samples = measure_nights(MeasuredCluster(snapshot, NOW, Thresholds()))
    assert [one.value for one in samples if one.labels == ("velero", "FailedValidation")] == [1.0]


def test_both_formats_tell_the_same() -> None:
    samples = [
        ClusterSample("c", Sample(SCHEDULE, ("velero", "nightly", "0 2 * * *"), 1.0)),
        ClusterSample("c", Sample(SLOTS, ("velero",), 3.0)),
    ]
    both = expositions(samples, most=9)
    newer, older = both[OPEN_METRICS].text.decode(), both[PLAIN].text.decode()
    assert read(newer) == read(older)
    assert "# TYPE foretop_schedule info\n" in newer
    assert newer.endswith("# EOF\n")
    assert "# TYPE foretop_schedule_info gauge\n" in older
    assert gzip.decompress(both[OPEN_METRICS].compressed) == both[OPEN_METRICS].text


def test_what_may_not_be_read_is_not_counted_as_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = VisibilityGap("minicluster", BACKUP.name, "not allowed")
    monkeypatch.setattr(ClusterSnapshot, "gap", lambda self, kind: gap if kind is BACKUP else None)
    with living_box("quiet", tmp_path, STILL) as (_, path):
        assert run(["exporter", "--once", "--kubeconfig", path]) == 0
    metrics = read(capsys.readouterr().out)
    assert metrics["foretop_server_state"]
    assert not {"foretop_queue_length", "foretop_slots_in_use", "foretop_runs_last_night"} & metrics.keys()


def test_a_label_without_a_name_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living_box("quiet", tmp_path, STILL) as (_, path):
        assert run(["exporter", "--once", "--kubeconfig", path, "--cluster-label", " "]) == 2
    assert "--cluster-label is empty" in capsys.readouterr().err


def test_a_paused_schedule_is_not_late(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living_box("maintenance", tmp_path, STILL) as (_, path):
        run(["exporter", "--once", "--kubeconfig", path])
    metrics = read(capsys.readouterr().out)
    paused = {labels for labels, value in metrics["foretop_schedule_paused"].items() if value}
    assert paused
    assert not paused & metrics.get("foretop_schedule_late_seconds", {}).keys()


def test_what_fails_costs_itself_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> Iterator[Sample]:
        yield Sample(SLOTS, ("velero",), 1.0)
        raise RuntimeError("a fault")

    found = list(room_modules("foretop_core", "metrics"))
    monkeypatch.setattr(found[0], "MEASURES", (broken, *found[0].MEASURES))
    with living_box("quiet", tmp_path, STILL) as (_, path):
        assert run(["exporter", "--once", "--kubeconfig", path]) == 0
    metrics = read(capsys.readouterr().out)
    assert only(metrics["foretop_failed_measures"]) == 1
    assert metrics["foretop_namespace_protection"]


@contextmanager
def exporter(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """One that runs by itself on a free port, and where it says that it is."""
    command = [sys.executable, "-m", "foretop", "exporter", "--listen", "127.0.0.1:0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as one:
        assert one.stdout is not None
        line = one.stdout.readline()
        assert re.match(r"Serving https?://127\.0\.0\.1:", line), line
        try:
            yield one, line.split()[1].removesuffix("/metrics")
        finally:
            one.kill()


def asked(address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(address, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, dict(refused.headers), refused.read()


def reached(address: str) -> socket.socket:
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), 30)


def told(address: str, request: bytes) -> bytes:
    with reached(address) as connection:
        connection.sendall(request)
        return connection.recv(100)


READ = ("get", "list", "watch")
NO_SCHEDULES = User(
    "scraper",
    (
        Rule(READ, ("",), ("namespaces", "persistentvolumeclaims", "persistentvolumes", "configmaps")),
        Rule(READ, ("apps", "batch", "apiextensions.k8s.io", "oadp.openshift.io", "psc.cronprimer.local"), ("*",)),
        Rule(
            READ,
            ("velero.io",),
            (
                *("backups", "restores", "backupstoragelocations", "backuprepositories"),
                *("deletebackuprequests", "serverstatusrequests", "podvolumebackups", "datauploads"),
            ),
        ),
    ),
)


def test_a_kind_that_the_exporter_may_not_see_is_not_visible_and_has_no_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}}
    with box_in_thread([home, a_schedule()], users=[NO_SCHEDULES]) as box:
        unseen = {}
        for user in ("admin", NO_SCHEDULES.name):
            with exporter("--kubeconfig", kubeconfig(box, tmp_path, user)) as (one, at):
                while asked(f"{at}/readyz")[0] == 503:
                    assert one.poll() is None, "what may not be seen keeps it from no readiness"
                metrics = read(asked(f"{at}/metrics")[2].decode())
            assert only(metrics["foretop_up"]) == 1
            unseen[user] = [dict(labels)["kind"] for labels, value in metrics["foretop_visible"].items() if not value]
            has_numbers = {"foretop_schedule_paused", "foretop_runs_expected_lost"} <= metrics.keys()
            assert has_numbers is (user == "admin")
            run(["fleet", "--kubeconfig", kubeconfig(box, tmp_path, user)])
            assert ("not all seen" in capsys.readouterr().out) is not has_numbers
    assert unseen == {"admin": [], NO_SCHEDULES.name: ["Schedule"]}


def test_it_serves_what_is_finished_until_it_is_ended(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret-of-prometheus\n")
    with (
        living_box("quiet", tmp_path, STILL) as (_, path),
        exporter("--kubeconfig", path, "--token-file", str(tmp_path / "token"), "--cluster-label", "prod") as (one, at),
    ):
        while asked(f"{at}/readyz")[0] == 503:
            assert one.poll() is None
        assert asked(f"{at}/readyz")[0] == asked(f"{at}/healthz")[0] == 200
        assert asked(f"{at}/metrics")[0] == asked(f"{at}/metrics", Authorization="Bearer wrong")[0] == 401
        assert asked(f"{at}/other")[0] == 404
        right = {"Authorization": "Bearer s3cret-of-prometheus"}
        status, headers, body = asked(f"{at}/metrics", **right)
        assert (status, headers["Content-Type"]) == (200, PLAIN)
        assert only(read(body.decode())["foretop_up"], cluster="prod") == 1
        newer = {**right, "Accept": OPEN_METRICS, "Accept_Encoding": "gzip"}
        status, headers, body = asked(f"{at}/metrics", **newer)
        assert headers["Content-Type"] == OPEN_METRICS
        assert gzip.decompress(body).endswith(b"# EOF\n")
        assert told(at, b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\r\n\r\n").startswith(
            b"HTTP/1.1 401 "
        )
        assert told(at, b"\x16\x03\x1b[2J\r\n\r\n").startswith(b"HTTP/1.0 400 ")
        silent = [reached(at) for _ in range(300)]
        assert asked(f"{at}/healthz")[0] == 200
        assert len(os.listdir(f"/proc/{one.pid}/fd")) < 200
        for connection in silent:
            connection.close()
        one.send_signal(signal.SIGTERM)
        assert one.wait(30) == 0
        assert one.stderr is not None
        assert one.stderr.read() == ""


def test_what_it_serves_first_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error that comes a minute later would end and begin again with each start of the exporter."""
    with living_box("contents", tmp_path, STILL) as (_, path):
        with exporter("--kubeconfig", path) as (one, at):
            while (answer := asked(f"{at}/metrics"))[0] == 503:
                assert one.poll() is None
            assert asked(f"{at}/readyz")[0] == 200
        run(["exporter", "--once", "--kubeconfig", path])
    served, once = read(answer[2].decode()), read(capsys.readouterr().out)
    names = ("foretop_findings", "foretop_namespace_volumes_expected", "foretop_namespace_protection")
    assert {name: served.get(name) for name in names} == {name: once.get(name) for name in names}


def test_a_rotated_certificate_and_token_are_taken_up_and_half_a_pair_is_not(tmp_path: Path) -> None:
    cert, key, token = (tmp_path / name for name in ("cert", "key", "token"))
    before, after = trustme.CA(), trustme.CA()

    def put(authority: trustme.CA) -> None:
        pair = authority.issue_cert("127.0.0.1")
        pair.private_key_pem.write_to_path(key)
        pair.cert_chain_pems[0].write_to_path(cert)

    def status(authority: trustme.CA, text: str) -> int:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        request = urllib.request.Request(f"{at}/metrics", headers={"Authorization": f"Bearer {text}"})
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code
        except urllib.error.URLError:
            return 0

    put(before)
    token.write_text("first")
    words = ("--tls-cert", str(cert), "--tls-key", str(key), "--token-file", str(token))
    with living_box("quiet", tmp_path, STILL) as (_, path), exporter("--kubeconfig", path, *words) as (one, at):
        assert status(before, "first") in (200, 503)
        key.write_text("half of it")
        assert one.stderr is not None
        assert "Cannot use" in one.stderr.readline()
        assert status(before, "first") in (200, 503), "the last pair that could be used is served"
        put(after)
        token.write_text("second")
        while status(after, "second") not in (200, 503):
            assert one.poll() is None
        assert status(before, "second") == 0
        assert status(after, "first") == 401


@pytest.mark.sweep
def test_a_cluster_that_is_gone_is_down_and_its_last_numbers_stay(tmp_path: Path) -> None:
    with living_box("quiet", tmp_path, STILL) as (_, path):
        running = exporter("--kubeconfig", path)
        one, at = running.__enter__()
        while asked(f"{at}/readyz")[0] == 503:
            assert one.poll() is None
    while only(read(asked(f"{at}/metrics")[2].decode())["foretop_up"]) == 1:
        assert one.poll() is None
    metrics = read(asked(f"{at}/metrics")[2].decode())
    assert only(metrics["foretop_stale_seconds"]) >= 0
    assert metrics["foretop_schedule_paused"]
    running.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--listen", "9469"), "'9469' is not an address to listen on: it is not HOST:PORT"),
        (("--listen", "::1:9469"), "'::1:9469' is not an address to listen on"),
        (("--listen", "localhost:99999"), "is not an address to listen on"),
        (("--listen", f"localhost:{'9' * 5000}"), "is not an address to listen on"),
        (("--token-file", "/nowhere/token"), "Cannot read /nowhere/token: no such file or directory"),
        (("--token-file", "/dev/null"), "Cannot read /dev/null"),
        (("--tls-cert", "/nowhere/cert"), "--tls-cert and --tls-key go together"),
        (("--tls-cert", "/nowhere/cert", "--tls-key", "/nowhere/key"), "Cannot use /nowhere/cert and /nowhere/key"),
        (("--most-series", "0"), "0 is not in the range x>=1"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["exporter", *words]) == 2
    assert error in capsys.readouterr().err


def test_the_rules_ask_for_metrics_that_there_are() -> None:
    names = ("alerts.yaml", "fleet-dashboard.json", "cluster-dashboard.json")
    queries = "".join((MIXIN / name).read_text() for name in names)
    modules = [*room_modules("foretop_core", "metrics"), collector, measurement]
    families = [one for module in modules for one in vars(module).values() if isinstance(one, Family)]
    assert set(re.findall(r"\bforetop_\w+", queries)) <= {f"foretop_{family.name}" for family in families}


def test_an_alert_has_no_advice_of_its_own_where_triage_has_some() -> None:
    """What is wrong and what to do is worked out for the object: a rule would tell a second answer."""
    rules = yaml.safe_load((MIXIN / "alerts.yaml").read_text())["groups"][0]["rules"]
    told = {rule["alert"]: rule["annotations"]["description"] for rule in rules}
    sent = "foretop report says what is wrong and what to do; on page triage the filter is "
    codes = {
        name.removeprefix("Foretop"): re.findall(r"code:([\w-]+)", text)
        for name, text in told.items()
        if text.startswith(sent)
    }
    assert told.items() >= {
        (f"Foretop{name}", f"{sent}{', or '.join(f'code:{code}' for code in named)}.") for name, named in codes.items()
    }
    by_watching: dict[str, list[str]] = {}
    for code, name in ALERTS.items():
        by_watching.setdefault(name, []).append(code)
    # By watching each pause has an alert; only the end of one is a metric.
    by_watching["PauseOverdue"].remove("velero-paused-overdue")
    of_forecasts = {"VolumesMissingInNewestCopy", "RunExpectedLost", "NightNotDoneBySix"}
    assert codes == {name: codes for name, codes in by_watching.items() if name not in of_forecasts}
    assert told.keys() - {f"Foretop{name}" for name in by_watching} == {"ForetopExporterBlind"}
    for rule in rules:
        asked = re.search(r'foretop_findings\{code=~?"(.*?)"', rule["expr"])
        assert asked is None or asked[1].split("|") == codes[rule["alert"].removeprefix("Foretop")]


def test_triage_has_the_findings_that_alerts_send_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the metric of an alert says so, the finding is there by the filter that the alert names."""
    states = {"expiring": "namespace-expiring", "late": "namespace-late"}
    seen = set()
    for scene in ("outage", "protection"):
        with living_box(scene, tmp_path, STILL) as (_, path):

            def found(code: str, path: str = path) -> set[str]:
                run(["get", "findings", f"code:{code}", "-o", "json", "--kubeconfig", path])
                return {item["name"] for item in json.loads(capsys.readouterr().out)["items"]}

            run(["exporter", "--once", "--kubeconfig", path])
            metrics = read(capsys.readouterr().out)
            for labels, value in metrics["foretop_namespace_protection"].items():
                named = dict(labels)
                if value and (code := states.get(named["foretop_namespace_protection"])):
                    assert named["target"] in found(code)
                    seen.add(code)
            for labels, value in metrics["foretop_storage_available"].items():
                if not value:
                    assert dict(labels)["storage"] in found("storage-unavailable")
                    seen.add("storage")
            for labels, value in metrics["foretop_server_state"].items():
                if value and dict(labels)["foretop_server_state"] in ("silent", "down", "storage hangs"):
                    assert found("velero-no-pulse")
                    seen.add("server")
    assert seen == {*states.values(), "storage", "server"}


def test_the_unit_of_systemd_runs_it_with_few_rights_and_ends_it_cleanly(tmp_path: Path) -> None:
    unit = ConfigParser(interpolation=None)
    unit.read(MIXIN.parent / "foretop-exporter.service")
    service = unit["Service"]
    few = ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome")
    assert {service[one] for one in few} == {"yes"}
    assert (service["ProtectSystem"], service["CapabilityBoundingSet"]) == ("strict", "")
    program, name, *words = service["ExecStart"].replace("${CREDENTIALS_DIRECTORY}", str(tmp_path)).split()
    assert (Path(program).name, name) == ("foretop", "exporter")
    with living_box("quiet", tmp_path, STILL), exporter(*words) as (one, at):
        while asked(f"{at}/readyz")[0] == 503:
            assert one.poll() is None
        one.send_signal(signal.SIGTERM)
        assert one.wait(30) == 0, "what systemd takes for no failure"
