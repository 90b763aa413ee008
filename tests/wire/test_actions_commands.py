"""The commands that write, called as a person or a script calls them, against the cluster in a box."""

from __future__ import annotations

import json
import os
import pty
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.minicluster.access import Rule, User
from core.minicluster.box import MiniCluster
from core.models import Schedule, from_builtins
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.hands import Wire, a_schedule, wire
from tests.wire.test_commands import VELERO, obj
from tui.cli import run

__all__ = ["wire"]
READER = User("reader", (Rule(("get", "list", "watch"), ("*",), ("*",)),))
ENDED = {"phase": "Completed", "startTimestamp": "2026-11-15T02:00:00Z", "completionTimestamp": "2026-11-15T02:01:00Z"}
RUNNING = {"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"}
UPLOAD = {
    "apiVersion": "velero.io/v2alpha1",
    "kind": "DataUpload",
    "metadata": {"name": "up", "namespace": "velero", "labels": {"velero.io/backup-name": "running"}},
    "spec": {
        "snapshotType": "CSI",
        "sourceNamespace": "team-a",
        "sourcePVC": "data-0",
        "backupStorageLocation": "default",
        "operationTimeout": "10m",
    },
    "status": {"phase": "InProgress"},
}
REQUEST = {
    "apiVersion": "oadp.openshift.io/v1alpha1",
    "kind": "NonAdminBackupStorageLocationRequest",
    "metadata": {"name": "ask", "namespace": "velero"},
    "spec": {"approvalDecision": "pending"},
}


def labelled(name: str, **spec: Any) -> dict[str, Any]:
    item = a_schedule(name, **spec)
    item["metadata"]["labels"] = {"tier": "gold"}
    return item


OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    VELERO,
    a_schedule("nightly"),
    a_schedule("resting", paused=True),
    labelled("gold-1"),
    labelled("gold-2"),
    obj("Backup", "ended", {"includedNamespaces": ["shop"], "ttl": "24h0m0s"}, status=ENDED),
    obj("Backup", "running", {}, status=RUNNING),
    UPLOAD,
    obj("NonAdminBackup", "orders", {"backupSpec": {}}),
    obj("NonAdminRestore", "orders-back", {"restoreSpec": {"backupName": "orders"}}),
    REQUEST,
]

Foretop = Callable[..., int]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("FORETOP_READ_ONLY", raising=False)


@pytest.fixture
def box(wire: Wire) -> Iterator[MiniCluster]:
    with box_in_thread(OBJECTS, [READER]) as made:
        yield made


@pytest.fixture(scope="module")
def still_box() -> Iterator[MiniCluster]:
    """One box for all that must change nothing."""
    with box_in_thread(OBJECTS) as made:
        yield made


@pytest.fixture
def foretop(box: MiniCluster, tmp_path: Path) -> Foretop:
    config = kubeconfig(box, tmp_path)
    return lambda *arguments: run([*arguments, "--kubeconfig", config])


def held(box: MiniCluster, name: str) -> Schedule:
    return from_builtins(Schedule, box.storage.get(box.storage.kind("Schedule"), "velero", name))


def only(box: MiniCluster, kind: str, *but: str) -> dict[str, Any]:
    (found,) = [item for item in box.storage.list(box.storage.kind(kind)) if item["metadata"]["name"] not in but]
    return found


def test_a_window_is_paused_and_resumed_by_its_batch(
    box: MiniCluster, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("schedule", "pause", "--all", "--yes", "--batch", "w1", "--reason", "upgrade", "-o", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {item["name"]: item["result"] for item in told["items"]} == dict.fromkeys(
        ["gold-1", "gold-2", "nightly"], "done"
    )
    assert held(box, "nightly").annotation("foretop.io/paused-reason") == "upgrade"
    assert foretop("schedule", "unpause", "--batch", "w1", "--skip-immediately=true", "--yes") == 0
    assert [held(box, name).spec.paused for name in ("nightly", "gold-1", "gold-2", "resting")] == [False] * 3 + [True]
    assert held(box, "nightly").spec.skip_immediately is True
    assert held(box, "nightly").metadata.annotations == {}
    assert foretop("schedule", "unpause", "--batch", "w1", "--yes") == 2


def test_without_the_flag_the_field_is_left_alone(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("schedule", "unpause", "velero/resting", "--yes") == 0
    assert (held(box, "resting").spec.paused, held(box, "resting").spec.skip_immediately) == (False, None)


def test_a_selector_chooses(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("schedule", "pause", "-l", "tier in (gold, silver)", "--yes") == 0
    assert [held(box, name).spec.paused for name in ("gold-1", "gold-2", "nightly")] == [True, True, False]
    assert foretop("schedule", "pause", "-l", "tier=gold", "--yes") == 0


def test_state_refuses_and_the_rest_is_done(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("schedule", "pause", "resting", "--yes") == 3
    assert foretop("schedule", "pause", "resting", "nightly", "--yes") == 1
    assert held(box, "nightly").spec.paused is True


def test_a_dry_run_stands_before_a_name_and_sends_nothing(
    box: MiniCluster, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("schedule", "pause", "--dry-run", "nightly") == 0
    printed = capsys.readouterr().out
    assert "spec.paused false → true" in printed
    assert "kubectl --context minicluster -n velero patch schedules.velero.io nightly" in printed
    assert [method for method, path in wire.writes if "selfsubject" not in path] == []
    before = box.storage.version
    assert foretop("schedule", "pause", "--dry-run=server", "nightly") == 0
    assert box.storage.version == before


def test_a_schedule_is_made_from_flags_and_from_a_file(box: MiniCluster, foretop: Foretop, tmp_path: Path) -> None:
    flags = ("--schedule", "30 3 * * *", "--ttl", "72h", "--include-namespaces", "shop,web", "--skip-immediately=false")
    assert foretop("schedule", "create", "made", *flags, "--storage-location", "default", "--paused", "--yes") == 0
    spec = box.storage.get(box.storage.kind("Schedule"), "velero", "made")["spec"]
    assert spec == {
        "schedule": "30 3 * * *",
        "paused": True,
        "skipImmediately": False,
        "template": {"includedNamespaces": ["shop", "web"], "ttl": "72h", "storageLocation": "default"},
    }
    file = tmp_path / "schedule.yaml"
    file.write_text(
        "apiVersion: velero.io/v1\nkind: Schedule\nmetadata: {name: filed}\nspec: {schedule: '@daily', template: {}}\n"
    )
    assert foretop("schedule", "create", "-f", str(file), "--yes") == 0
    assert held(box, "filed").spec.schedule == "@daily"
    assert foretop("schedule", "create", "-f", str(file), "--yes") == 3
    assert foretop("schedule", "delete", "filed", "made", "--yes") == 0
    assert box.storage.find(box.storage.kind("Schedule"), "velero", "filed") is None


def test_backups_are_made_by_hand_and_again(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("backup", "create", "--from-schedule", "gold-1", "--yes") == 0
    made = only(box, "Backup", "ended", "running")
    assert made["metadata"]["name"] == "gold-1-20261115024107"
    assert made["metadata"]["labels"] == {"tier": "gold", "velero.io/schedule-name": "gold-1"}
    assert foretop("backup", "create", "mine", "--from-schedule", "nightly", "--labels", "by=hand", "--yes") == 0
    assert foretop("backup", "create", "--same-as", "ended", "--yes") == 0
    again = box.storage.get(box.storage.kind("Backup"), "velero", "ended-20261115024107")
    assert again["spec"] == {"includedNamespaces": ["shop"], "ttl": "24h0m0s"}
    assert foretop("backup", "create", "--same-as", "running", "--yes") == 3


def test_a_restore_warns_of_what_is_there(
    box: MiniCluster, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("restore", "create", "--from-backup", "ended", "--yes") == 0
    assert "shop exists already" in capsys.readouterr().out
    mapping = ("--namespace-mappings", "shop:shop-restored", "--existing-resource-policy", "update")
    assert (
        foretop("restore", "create", "beside", "--from-backup", "ended", *mapping, "--restore-volumes=false", "--yes")
        == 0
    )
    assert "exists already" not in capsys.readouterr().out
    spec = box.storage.get(box.storage.kind("Restore"), "velero", "beside")["spec"]
    assert spec["namespaceMapping"] == {"shop": "shop-restored"}
    assert (spec["existingResourcePolicy"], spec["restorePVs"]) == ("update", False)
    assert foretop("restore", "create", "--from-backup", "running", "--yes") == 3


def test_a_backup_is_deleted_by_a_request_and_movements_are_cancelled(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("backup", "delete", "ended", "--yes") == 0
    request = only(box, "DeleteBackupRequest")
    backup = box.storage.get(box.storage.kind("Backup"), "velero", "ended")
    assert request["metadata"]["labels"] == {
        "velero.io/backup-name": "ended",
        "velero.io/backup-uid": backup["metadata"]["uid"],
    }
    assert foretop("backup", "delete", "ended", "--yes") == 3
    assert foretop("backup", "cancel", "running", "--yes") == 0
    assert only(box, "DataUpload")["spec"]["cancel"] is True
    assert foretop("backup", "cancel", "running", "--yes") == 3


def test_what_the_tenants_made_is_decided_and_deleted(box: MiniCluster, foretop: Foretop) -> None:
    assert foretop("nab", "delete", "orders", "--force", "--yes") == 2
    assert foretop("nab", "delete", "orders", "--yes") == 0
    assert only(box, "NonAdminBackup")["spec"]["deleteBackup"] is True
    assert foretop("nar", "delete", "orders-back", "--yes") == 0
    assert box.storage.list(box.storage.kind("NonAdminRestore")) == []
    assert foretop("storage-request", "approve", "ask", "--yes") == 0
    assert only(box, "NonAdminBackupStorageLocationRequest")["spec"]["approvalDecision"] == "approve"


def test_the_server_s_default_is_set_with_a_warning(
    box: MiniCluster, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("server", "set", "--schedule-skip-immediately=false", "--yes") == 0
    assert "which kills running" in capsys.readouterr().out
    (container,) = only(box, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["server", "--concurrent-backups=2", "--schedule-skip-immediately=false"]
    assert container["image"] == "velero/velero:v1.18.3"
    assert foretop("server", "set", "--schedule-skip-immediately=false", "--yes") == 3


WRITES = [
    ("schedule", "pause", "nightly"),
    ("schedule", "unpause", "resting"),
    ("schedule", "create", "made", "--schedule", "@daily"),
    ("schedule", "delete", "nightly"),
    ("backup", "create", "--from-schedule", "nightly"),
    ("backup", "create", "--same-as", "ended"),
    ("backup", "delete", "ended"),
    ("backup", "cancel", "running"),
    ("restore", "create", "--from-backup", "ended"),
    ("nab", "delete", "orders"),
    ("nar", "delete", "orders-back"),
    ("storage-request", "reject", "ask"),
    ("server", "set", "--schedule-skip-immediately=false"),
]


def changed_by(wire: Wire) -> list[tuple[str, str]]:
    """The writes but for the question who one is, which changes nothing."""
    return [(method, path) for method, path in wire.writes if not path.endswith("selfsubjectreviews")]


@pytest.mark.parametrize("way", ["flag", "environment", "configuration"])
def test_read_only_refuses_every_write_and_still_shows_it(
    way: str,
    box: MiniCluster,
    foretop: Foretop,
    wire: Wire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if way == "environment":
        monkeypatch.setenv("FORETOP_READ_ONLY", "1")
    if way == "configuration":
        (tmp_path / "config" / "foretop").mkdir(parents=True)
        (tmp_path / "config" / "foretop" / "config.yaml").write_text("contexts: {minicluster: {readOnly: true}}\n")
    flag = ("--read-only",) if way == "flag" else ()
    for command in WRITES if way == "flag" else WRITES[:1]:
        assert foretop(*command, *flag, "--yes") == 3, command
        printed = capsys.readouterr()
        assert "read-only is on" in printed.err
        assert "kubectl" in printed.out or "velero --kubecontext" in printed.out
    assert foretop(*WRITES[0], *flag, "--dry-run=server") == 3
    assert foretop(*WRITES[0], *flag, "--dry-run") == 0
    assert wire.writes == []
    assert not (tmp_path / "state").exists()


def test_a_missing_right_refuses_every_write(
    box: MiniCluster, wire: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = kubeconfig(box, tmp_path, "reader")
    for command in WRITES:
        assert run([*command, "--yes", "--kubeconfig", mine]) == 3, command
        (line,) = capsys.readouterr().err.splitlines()
        assert "is not allowed (ask for the role that has it)" in line
    assert changed_by(wire) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("schedule", "pause", "nosuch", "--yes"), "There is no schedule nosuch"),
        (("schedule", "pause", "elsewhere/nightly", "--yes"), "There is no schedule elsewhere/nightly"),
        (("schedule", "pause", "-l", "tier=tin", "--yes"), "No schedule has the labels tier=tin"),
        (("schedule", "pause", "-l", "tier=(", "--yes"), "Label selector"),
        (("schedule", "pause", "--yes"), "give names, or -l, or --all"),
        (("schedule", "pause", "nightly", "--all", "--yes"), "not several"),
        (("schedule", "pause", "nightly"), "give --yes"),
        (("schedule", "pause", "nightly", "--until", "2020-01-01T00:00:00Z", "--yes"), "lies in the past"),
        (("schedule", "unpause", "resting", "--skip-immediately", "--yes"), "--skip-immediately"),
        (("schedule", "unpause", "resting", "--skip-immediately=maybe", "--yes"), "'maybe' is not one of"),
        (("schedule", "pause", "nightly", "--dry-run=maybe"), "'maybe' is not one of"),
        (("schedule", "create", "x", "--schedule", "0 25 * * *", "--yes"), "in the field hour, at character 3"),
        (("schedule", "create", "x", "--schedule", "@daily", "--ttl", "30d", "--yes"), "is no duration"),
        (("schedule", "create", "x", "--yes"), "--schedule is missing"),
        (("schedule", "create", "--yes"), "give NAME and --schedule, or -f FILE"),
        (("schedule", "create", "-f", "/no/such", "--yes"), "/no/such cannot be read"),
        (("backup", "create", "x", "--yes"), "give --from-schedule or --same-as"),
        (("backup", "create", "--from-schedule", "nosuch", "--yes"), "There is no schedule nosuch"),
        (("restore", "create", "--from-backup", "nosuch", "--yes"), "There is no backup nosuch"),
        (("restore", "create", "--from-backup", "ended", "--namespace-mappings", "a", "--yes"), "is no part of"),
        (("schedule", "pause", "a", "--context", "a", "--context", "b", "--yes"), "one --context at a time"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_sent(
    arguments: tuple[str, ...], words: str, still_box: MiniCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = still_box.storage.version
    assert run([*arguments, "--kubeconfig", kubeconfig(still_box, tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert still_box.storage.version == before
    assert not (tmp_path / "state").exists()


def test_a_configuration_that_cannot_be_read_is_one_line(
    foretop: Foretop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config" / "foretop").mkdir(parents=True)
    (tmp_path / "config" / "foretop" / "config.yaml").write_text("contexts: {minicluster: {readonly: yes please}}\n")
    assert foretop("schedule", "pause", "nightly", "--yes") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "config.yaml cannot be used" in line


def test_a_plan_that_changes_under_way_has_its_own_exit_code(
    box: MiniCluster, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    schedules = box.storage.kind("Schedule")

    def meddle(method: str, path: str) -> str:
        if method == "PATCH" and path.endswith("resting"):
            box.storage.patch(schedules, "velero", "resting", {"spec": {"schedule": "0 7 * * *"}})
        return ""

    wire.cut = meddle
    assert foretop("schedule", "unpause", "resting", "--skip-immediately=true", "--yes", "-o", "json") == 4
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item["result"] == "changed"
    assert item["again"]["forecast"] != item["forecast"]
    assert held(box, "resting").spec.paused is True


def test_the_journal_lists_what_was_written(foretop: Foretop, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["journal"]) == 0
    assert "Nothing has been written yet" in capsys.readouterr().out
    assert foretop("schedule", "pause", "nightly", "--yes") == 0
    capsys.readouterr()
    assert run(["journal", "-o", "json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert (item["kind"], item["name"], item["result"]) == ("Schedule", "nightly", "done")
    assert item["before"] == {"spec": {"paused": False, "skipImmediately": None}}
    assert item["patch"]["spec"] == {"paused": True}
    assert {"at", "user", "context"} <= item.keys()


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """A terminal on which somebody types."""
    mine, theirs = pty.openpty()
    with closing(os.fdopen(mine, "wb", buffering=0)) as keys, closing(os.fdopen(theirs)) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield lambda typed: keys.write(typed) and None


def test_on_a_terminal_it_asks_and_no_is_the_default(
    box: MiniCluster, foretop: Foretop, types: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    types(b"\n")
    assert foretop("schedule", "pause", "nightly") == 130
    assert "Pause? [y/N]" in capsys.readouterr().err
    assert held(box, "nightly").spec.paused is False
    types(b"y\n")
    assert foretop("schedule", "pause", "nightly") == 0
    assert held(box, "nightly").spec.paused is True


def test_what_is_dangerous_wants_the_name(
    box: MiniCluster, foretop: Foretop, types: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    types(b"y\n")
    assert foretop("schedule", "delete", "nightly") == 130
    assert "type its name (nightly)" in capsys.readouterr().err
    assert held(box, "nightly").name == "nightly"
    types(b"nightly\n")
    assert foretop("schedule", "delete", "nightly") == 0
    assert box.storage.find(box.storage.kind("Schedule"), "velero", "nightly") is None


def test_a_plan_that_changed_is_asked_again_on_a_terminal(
    box: MiniCluster, foretop: Foretop, types: Callable[[bytes], None], wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    schedules, meddled = box.storage.kind("Schedule"), []

    def meddle(method: str, path: str) -> str:
        if method == "PATCH" and not meddled:
            meddled.append(path)
            box.storage.patch(schedules, "velero", "resting", {"spec": {"schedule": "0 7 * * *"}})
        return ""

    wire.cut = meddle
    types(b"y\ny\n")
    assert foretop("schedule", "unpause", "resting", "--skip-immediately=true") == 0
    assert "this is what would be done now" in capsys.readouterr().err
    assert held(box, "resting").spec.paused is False
