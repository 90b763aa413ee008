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

from foretop.cli import run
from foretop_core.actions.journal import Journal, default_path
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, wire
from tests.wire.command_fixtures import Foretop, box, foretop, held, home, only

__all__ = ["box", "foretop", "home", "wire"]


def test_a_window_is_paused_and_resumed_by_its_batch(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
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


def test_a_pause_gets_a_later_end_by_the_name_of_the_schedule_or_of_the_window(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    first, later = "2030-01-01T00:00:00Z", "2030-01-01T02:00:00Z"
    assert foretop("schedule", "pause", "nightly", "gold-1", "--batch", "w1", "--until", first, "--yes") == 0
    wire.bodies.clear()
    capsys.readouterr()
    assert foretop("schedule", "pause", "nightly", "--until", "+2h", "--yes") == 0
    told = capsys.readouterr()
    assert "Change the pause: schedule velero/nightly" in told.out
    assert "it stays paused until 1 Jan 2030 02:00Z, and not 1 Jan 2030 00:00Z" in told.out
    assert "To resume exactly these" not in told.err
    (sent,) = wire.bodies
    assert "spec" not in sent
    assert sent["metadata"]["annotations"] == {"foretop.io/paused-until": later}
    assert foretop("schedule", "pause", "--batch", "w1", "--until", later, "--reason", "CHG-1", "--yes") == 0
    assert [held(box, name).annotation("foretop.io/paused-until") for name in ("nightly", "gold-1")] == [later, later]
    assert held(box, "gold-1").annotation("foretop.io/paused-reason") == "CHG-1"
    assert held(box, "gold-1").annotation("foretop.io/paused-batch") == "w1"
    assert held(box, "gold-2").spec.paused is False
    capsys.readouterr()
    assert foretop("schedule", "pause", "nightly", "--until", later, "--yes") == 0
    assert "Nothing to do: nightly would not change." in capsys.readouterr().err
    assert foretop("schedule", "pause", "resting", "--until", later, "--reason", "CHG-2", "--yes") == 0
    assert held(box, "resting").annotation("foretop.io/paused-until") == later
    assert held(box, "resting").annotation("foretop.io/paused-reason") == "CHG-2"
    assert held(box, "resting").spec.paused is True


def test_without_the_flag_the_field_is_left_alone(box: LocalApiServer, foretop: Foretop) -> None:
    assert foretop("schedule", "unpause", "velero/resting", "--yes") == 0
    assert (held(box, "resting").spec.paused, held(box, "resting").spec.skip_immediately) == (False, None)


def test_a_selector_chooses(box: LocalApiServer, foretop: Foretop) -> None:
    assert foretop("schedule", "pause", "-l", "tier in (gold, silver)", "--yes") == 0
    assert [held(box, name).spec.paused for name in ("gold-1", "gold-2", "nightly")] == [True, True, False]
    assert foretop("schedule", "pause", "-l", "tier=gold", "--yes") == 0


def test_state_refuses_and_the_rest_is_done(box: LocalApiServer, foretop: Foretop) -> None:
    assert foretop("schedule", "pause", "resting", "--yes") == 3
    assert foretop("schedule", "pause", "resting", "nightly", "--yes") == 1
    assert held(box, "nightly").spec.paused is True


def test_a_dry_run_stands_before_a_name_and_sends_nothing(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("schedule", "pause", "--dry-run", "nightly") == 0
    printed = capsys.readouterr().out
    assert "spec.paused false → true" in printed
    assert "kubectl --context minicluster -n velero patch schedules.velero.io nightly" in printed
    assert [method for method, path in wire.writes if "selfsubject" not in path] == []
    before = box.storage.version
    assert foretop("schedule", "pause", "--dry-run=server", "nightly") == 0
    assert box.storage.version == before


def test_a_schedule_is_made_from_flags_and_from_a_file(box: LocalApiServer, foretop: Foretop, tmp_path: Path) -> None:
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


def test_backups_are_made_by_hand_and_again(box: LocalApiServer, foretop: Foretop) -> None:
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
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
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


def test_a_backup_is_deleted_by_a_request_and_movements_are_cancelled(box: LocalApiServer, foretop: Foretop) -> None:
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


def test_a_movement_is_printed_with_its_volume_as_on_the_page(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script read the name of the object below VOLUME, which names the volume on the page."""
    assert foretop("get", "movements") == 0
    titles, row = capsys.readouterr().out.splitlines()
    assert (titles.split()[0], row.split()[0]) == ("VOLUME", "data-0")
    assert foretop("get", "movements", "-o", "json") == 0
    assert '"name": "up"' in capsys.readouterr().out


def test_what_the_tenants_made_is_decided_and_deleted(box: LocalApiServer, foretop: Foretop) -> None:
    assert foretop("nab", "delete", "orders", "--force", "--yes") == 2
    assert foretop("nab", "delete", "orders", "--yes") == 0
    assert only(box, "NonAdminBackup")["spec"]["deleteBackup"] is True
    assert foretop("nar", "delete", "orders-back", "--yes") == 0
    assert box.storage.list(box.storage.kind("NonAdminRestore")) == []
    assert foretop("storage-request", "approve", "ask", "--yes") == 0
    assert only(box, "NonAdminBackupStorageLocationRequest")["spec"]["approvalDecision"] == "approve"


def test_the_server_s_default_is_set_with_a_warning(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("server", "set", "--schedule-skip-immediately=false", "--yes") == 0
    assert "which kills running" in capsys.readouterr().out
    (container,) = only(box, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["server", "--concurrent-backups=2", "--schedule-skip-immediately=false"]
    assert container["image"] == "velero/velero:v1.18.3"
    assert foretop("server", "set", "--schedule-skip-immediately=false", "--yes") == 3


def test_a_plan_that_changes_under_way_has_its_own_exit_code(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
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
    assert "No writes yet" in capsys.readouterr().out
    assert foretop("schedule", "pause", "nightly", "--yes") == 0
    capsys.readouterr()
    assert run(["journal", "-o", "json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert (item["kind"], item["name"], item["result"]) == ("Schedule", "nightly", "done")
    assert item["before"] == {"spec": {"paused": False, "skipImmediately": None}}
    assert item["patch"]["spec"] == {"paused": True}
    assert {"at", "user", "context"} <= item.keys()


def test_the_journal_says_how_many_of_its_lines_cannot_be_read(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("schedule", "pause", "nightly", "--yes") == 0
    journal = Journal(default_path(os.environ))
    whole = journal.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for torn, count in ((lines[0][:40], "1 line"), (b"[]\n" + b"x" * 40_000 + b"\n\n", "2 lines")):
        journal.path.write_bytes(torn)
        capsys.readouterr()
        for form in ("text", "json"):
            assert run(["journal", "-o", form]) == 1
            printed = capsys.readouterr()
            assert "No writes" not in printed.out
            assert printed.err == (
                f"foretop: {count} of the journal {journal.folder} cannot be read: what was written is not known\n"
            )
    journal.path.write_bytes(whole + b"\n")
    assert run(["journal"]) == 0
    assert not capsys.readouterr().err


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """A terminal on which somebody types."""
    mine, theirs = pty.openpty()
    with closing(os.fdopen(mine, "wb", buffering=0)) as keys, closing(os.fdopen(theirs)) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)

        def type_in(typed: bytes) -> None:
            keys.write(typed)

        yield type_in


def test_on_a_terminal_it_asks_and_no_is_the_default(
    box: LocalApiServer, foretop: Foretop, types: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    types(b"\n")
    assert foretop("schedule", "pause", "nightly") == 130
    assert "Pause? [y/N]" in capsys.readouterr().err
    assert held(box, "nightly").spec.paused is False
    types(b"y\n")
    assert foretop("schedule", "pause", "nightly") == 0
    assert held(box, "nightly").spec.paused is True


def test_what_is_dangerous_wants_the_name(
    box: LocalApiServer, foretop: Foretop, types: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> None:
    types(b"y\n")
    assert foretop("schedule", "delete", "nightly") == 130
    assert "type its name (nightly)" in capsys.readouterr().err
    assert held(box, "nightly").name == "nightly"
    types(b"nightly\n")
    assert foretop("schedule", "delete", "nightly") == 0
    assert box.storage.find(box.storage.kind("Schedule"), "velero", "nightly") is None


def test_a_plan_that_changed_is_asked_again_on_a_terminal(
    box: LocalApiServer,
    foretop: Foretop,
    types: Callable[[bytes], None],
    wire: Wire,
    capsys: pytest.CaptureFixture[str],
) -> None:
    schedules = box.storage.kind("Schedule")
    meddled: list[Any] = []

    def meddle(method: str, path: str) -> str:
        if method == "PATCH" and not meddled:
            meddled.append(path)
            box.storage.patch(schedules, "velero", "resting", {"spec": {"schedule": "0 7 * * *"}})
        return ""

    wire.cut = meddle
    types(b"y\ny\n")
    assert foretop("schedule", "unpause", "resting", "--skip-immediately=true") == 0
    assert "The updated plan" in capsys.readouterr().err
    assert held(box, "resting").spec.paused is False


def test_a_backup_is_kept_for_longer_by_one_patch(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("backup", "extend", "ended", "--ttl", "87600h", "--yes") == 0
    assert "spec.ttl 24h0m0s → 87600h0m0s" in capsys.readouterr().out
    kept = box.storage.get(box.storage.kind("Backup"), "velero", "ended")
    assert (kept["spec"]["ttl"], kept["status"]["expiration"]) == ("87600h0m0s", "2036-11-12T02:00:00Z")
    assert kept["status"]["phase"] == "Completed"
    assert foretop("backup", "extend", "ended", "--until", "2037-01-31", "--yes") == 0
    kept = box.storage.get(box.storage.kind("Backup"), "velero", "ended")
    assert (kept["spec"]["ttl"], kept["status"]["expiration"]) == ("89518h0m0s", "2037-01-31T00:00:00Z")
    patches = [path.partition("/apis")[2] for method, path in wire.writes if method == "PATCH"]
    assert patches == ["/velero.io/v1/namespaces/velero/backups/ended"] * 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("running", "--ttl", "720h"), 3),
        (("ended",), 2),
        (("ended", "--ttl", "720h", "--until", "2037-01-31"), 2),
        (("ended", "--ttl", "soon"), 2),
        (("ended", "--until", "2020-01-01"), 2),
    ],
)
def test_a_life_that_cannot_be_extended(
    arguments: tuple[str, ...], code: int, box: LocalApiServer, foretop: Foretop, wire: Wire
) -> None:
    assert foretop("backup", "extend", *arguments, "--yes") == code
    assert [method for method, _ in wire.writes if method == "PATCH"] == []


@pytest.mark.parametrize("verb", ["pause", "unpause", "delete"])
def test_a_command_without_names_says_what_is_missing(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It had said that there is no terminal to ask on."""
    assert run(["schedule", verb]) == 2
    assert "give names, or -l, or --all" in (told := capsys.readouterr().err)
    assert "terminal" not in told
