"""What a dry run shows is what is sent: field by field, in the lines, the command to copy and the journal."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.actions.action_catalog import RECORDS
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import ROOM_ACTIONS, samples
from tests.wire.action_fixtures import Wire, patch_schedule, wire
from tests.wire.command_fixtures import Foretop, box, foretop, home

__all__ = ["box", "foretop", "home", "wire"]

WINDOW = ("--batch", "w1", "--reason", "CHG-4711 firmware", "--until", "2026-11-15T05:00:00Z")
COMMANDS = (
    ("schedule", "pause", "nightly", *WINDOW),
    ("schedule", "unpause", "resting", "--skip-immediately=true"),
    ("schedule", "create", "made", "--schedule", "30 3 * * *", "--ttl", "72h", "--labels", "tier=gold"),
    ("schedule", "edit", "nightly", "--schedule", "30 3 * * *", "--ttl", "72h", "--include-namespaces", "shop,web"),
    ("schedule", "cover", "shop", "--schedule", "30 3 * * *", "--volumes", "files"),
    ("schedule", "delete", "nightly"),
    ("backup", "create", "--from-schedule", "gold-1"),
    ("backup", "create", "mine", "--from-schedule", "gold-1", "--labels", "by=hand"),
    ("backup", "create", "--same-as", "ended"),
    ("backup", "delete", "ended"),
    ("backup", "extend", "ended", "--ttl", "87600h"),
    ("backup", "cancel", "running"),
    ("restore", "create", "beside", "--from-backup", "ended", "--namespace-mappings", "shop:shop-2", "-l", "app=web"),
    ("restore", "create", "part", "--from-backup", "ended", "--include-resources", "configmaps,secrets"),
    ("restore", "delete", "back"),
    ("nab", "delete", "orders"),
    ("nar", "delete", "orders-back"),
    ("storage-request", "approve", "ask"),
    ("storage-request", "reject", "ask"),
    ("server", "set", "--schedule-skip-immediately=false"),
    ("acknowledge", "schedule/nightly", "--for", "change", "--reason", "CHG-4711"),
    ("unacknowledge", "schedule/nightly"),
)
_OF_ROOMS = [words for commands in samples("PREVIEWED") for words in commands]
_IDENTITY = {"apiVersion", "kind", "name", "generateName", "namespace", "resourceVersion", "uid", "preconditions"}


def test_every_command_that_writes_is_compared() -> None:
    # What a room writes, its own tests compare.
    named = {line.words for one in RECORDS if one.id not in ROOM_ACTIONS for line in one.commands}
    assert {words[0] if words[0] in named else " ".join(words[:2]) for words in COMMANDS} == named


def leaves(part: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The last key and the value of all that a body sets, but for what tells which object it is."""
    if isinstance(part, dict) and part:
        for name, value in part.items():
            if not (name in _IDENTITY and key in ("", "metadata")):
                yield from leaves(value, name)
    elif isinstance(part, list) and part:
        for value in part:
            yield from leaves(value, key)
    elif part is not None and not (part == {} and key == "metadata"):
        yield key, part if isinstance(part, str) else json.dumps(part)


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """A body without the version that it holds for, which a person who copies the line does not know."""
    meta = {key: value for key, value in body.get("metadata", {}).items() if key not in ("resourceVersion", "uid")}
    return {key: value for key, value in {**body, "metadata": meta}.items() if value}


def timeless(text: str) -> str:
    """The same without the second at which it was planned: the dry run was planned a while before the real one."""
    return re.sub(r'(\\?"at\\?":\\?")[^"\\]+', r"\1", text)


def same(one: Any, other: Any) -> bool:
    return timeless(json.dumps(one, sort_keys=True)) == timeless(json.dumps(other, sort_keys=True))


@pytest.mark.parametrize("words", [*COMMANDS, *_OF_ROOMS], ids=lambda words: " ".join(words[:4]))
def test_the_dry_run_says_what_the_real_one_sends(
    words: tuple[str, ...],
    box: LocalApiServer,
    foretop: Foretop,
    wire: Wire,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SUDO_USER", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    if words[0] == "unacknowledge":
        assert foretop("acknowledge", *words[1:], "--reason", "CHG-4711", "--yes") == 0
        wire.bodies.clear()
        capsys.readouterr()
    assert foretop(*words, "--dry-run", "-o", "json") == 0
    (dry,) = json.loads(capsys.readouterr().out)["items"]
    assert foretop(*words, "--dry-run") == 0
    printed = timeless(capsys.readouterr().out)
    assert foretop(*words, "--yes", "-o", "json") == 0
    (real,) = json.loads(capsys.readouterr().out)["items"]
    (sent,) = wire.bodies
    assert real["patch"] == sent
    assert same(dry["patch"], sent)
    assert same(dry["changes"], real["changes"])
    assert all(timeless(change) in printed for change in dry["changes"])
    for key, value in leaves(sent):
        assert any(key in line and value in line for line in real["changes"]), (key, value, real["changes"])
    line = shlex.split(dry["command"].replace("<<<", "<<< "))
    if line[0] == "kubectl" and dry["method"] != "DELETE":
        assert same(plain(json.loads(line[-1])), plain(sent))
    assert run(["journal", "-o", "json"]) == 0
    *_, noted = json.loads(capsys.readouterr().out)["items"]
    assert noted["patch"] == sent
    assert run(["journal"]) == 0
    told = capsys.readouterr().out
    assert all(key in told and value in told for key, value in leaves(sent))


def test_the_notes_of_a_pause_are_previewed_with_the_person_that_the_cluster_knows(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SUDO_USER", "LOGNAME", "USER"):
        monkeypatch.delenv(name, raising=False)
    assert foretop("schedule", "pause", "nightly", *WINDOW, "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "annotation foretop.io/paused-by: admin\n" in printed
    assert "annotation foretop.io/paused-reason: CHG-4711 firmware\n" in printed
    assert "annotation foretop.io/paused-until: 2026-11-15T05:00:00Z\n" in printed


def test_a_backup_of_a_paused_schedule_is_copied_without_the_notes_of_the_pause(
    box: LocalApiServer, foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Velero's own command would copy them."""
    patch_schedule(box, "gold-1", {"metadata": {"annotations": {"foretop.io/paused-by": "maria", "team": "a"}}})
    assert foretop("backup", "create", "--from-schedule", "gold-1", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "kubectl --context minicluster create -f -" in printed
    assert "annotation team: a" in printed
    assert "paused-by" not in printed
