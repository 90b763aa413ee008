"""What drills leave: only what the journal proves is deleted, however a drill ended and whoever set its label."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from foretop.cli import run
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rooms.drills import leftovers as drills
from foretop_core.rooms.drills import run as drill_run
from foretop_demo.scenarios.scenario_builder import HOME
from tests.rooms.drills.test_command import Living, living
from tests.wire.action_fixtures import Wire, wire

__all__ = ["wire"]
KINDS = ("Namespace", "ConfigMap", "Restore")
FOREIGN = (("Namespace", ""), ("ConfigMap", HOME))
INTO = "shop-trial"
DEATHS = ((1, "after"), (3, "before"), (5, "after"))
"""Made without a proof, not noted, deleted without a word: the deaths that leave most behind."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(drill_run, "_EACH", 0.02)


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every drill counts as over at once."""
    monkeypatch.setattr(drills, "GOING_FOR", timedelta())
    monkeypatch.setattr(drills, "LONGEST_DRILL", timedelta())


def put_foreign(at: Living, name: str = "tenant", label: str = "x") -> set[str]:
    """Objects that foretop never made, with its label; their uids."""
    found = set()
    for kind, space in FOREIGN:
        meta: dict[str, Any] = {"name": name, "namespace": space, "labels": {DRILL_LABEL: label}}
        found.add(at.box.storage.create(at.box.storage.kind(kind), {"metadata": meta})["metadata"]["uid"])
    return found


def labelled(at: Living) -> set[str]:
    """The uids of all that carries the label of a drill."""
    storage = at.box.storage
    bodies = [body for kind in KINDS for body in storage.list(storage.kind(kind))]
    return {
        body["metadata"]["uid"]
        for body in bodies
        if DRILL_LABEL in body["metadata"].get("labels", {}) and "deletionTimestamp" not in body["metadata"]
    }


def proven(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The uids that the journal has for what drills have made."""
    capsys.readouterr()
    run(["journal", "-o", "json"])
    entries = json.loads(capsys.readouterr().out)["items"]
    return {one["uid"] for one in entries if one["drill"] and one["method"] == "POST" and one["uid"]}


def mark_production(folder: Path) -> None:
    config = folder / "config" / "foretop" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("contexts: {minicluster: {production: true}}\n")


def drill_process(at: Living, *words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-P", "-m", "foretop", "drill", *words, "--kubeconfig", at.kubeconfig]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def is_of_drill(request: web.BaseRequest) -> bool:
    """Whether it makes or deletes something of a drill, or notes its outcome."""
    return (
        any(f"/{plural}" in request.path for plural in ("namespaces", "configmaps", "restores", "backups"))
        and not request.path.endswith(("reviews", "downloadrequests", "status"))
        and "downloadrequests" not in request.path
    )


@pytest.mark.parametrize("words", [("shop", "--yes"), ("shop", "--yes", "--confirm-context", "minicluster")])
def test_a_drill_deletes_nothing_that_only_has_its_label(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str], wire: Wire
) -> None:
    with living(tmp_path) as at:
        mark_production(tmp_path)
        foreign = put_foreign(at)
        code = at.drill(*words)
        told = capsys.readouterr()
        assert labelled(at) == foreign
        assert code == (0 if "--confirm-context" in words else 3), told.err
        if code:
            assert "Nothing was sent" in told.err
            assert not [one for one in wire.writes if one[0] != "POST" or not one[1].endswith("reviews")]


@pytest.mark.parametrize("words", [("--all",), ("tenant",)])
@pytest.mark.parametrize("confirmed", [False, True])
def test_what_only_has_the_label_is_named_with_a_line_that_a_shell_reads_and_is_left_alone(
    words: tuple[str, ...],
    confirmed: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    over: None,
    wire: Wire,
) -> None:
    with living(tmp_path) as at:
        mark_production(tmp_path)
        foreign = put_foreign(at)
        more = ("--confirm-context", "minicluster") if confirmed else ()
        assert at.drill("--clean-up", *words, "--yes", *more) == (3 if "tenant" in words else 0)
        told = capsys.readouterr()
        lines = [line.partition("delete it with: ")[2] for line in told.out.splitlines() if "kubectl" in line]
        assert [shlex.split(line) for line in lines] == [
            ["kubectl", "--context", "minicluster", "-n", HOME, "delete", "configmaps", "tenant"],
            ["kubectl", "--context", "minicluster", "delete", "namespaces", "tenant"],
        ]
        assert labelled(at) == foreign
        assert not [one for one in wire.writes if one[0] != "POST" or not one[1].endswith("reviews")]


@pytest.mark.parametrize(
    ("place", "how"),
    [
        pytest.param(place, how, marks=[] if (place, how) in DEATHS else [pytest.mark.sweep])
        for place in range(7)
        for how in ("before", "after")
    ],
)
def test_a_drill_killed_at_any_write_leaves_only_what_is_proven_to_be_deleted(
    place: int,
    how: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    wire: Wire,
) -> None:
    """Of three writes that make, one that notes and three that delete, each before and after the server has made it."""
    seen: list[str] = []
    victims: list[subprocess.Popen[str]] = []

    async def kill(request: web.BaseRequest, answer: Any) -> web.StreamResponse:
        if not victims or not is_of_drill(request):
            return await answer(request)  # type: ignore[no-any-return]
        seen.append(f"{request.method} {request.path}")
        if len(seen) - 1 != place:
            return await answer(request)  # type: ignore[no-any-return]
        if how == "after":
            await answer(request)
        victims[0].kill()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    with living(tmp_path) as at:
        foreign = put_foreign(at)
        wire.misbehave = kill
        victims.append(drill_process(at, "shop", "--yes", "--into", INTO))
        out, _ = victims[0].communicate(timeout=300)
        assert victims[0].returncode == -signal.SIGKILL, out
        victims.clear()
        left, own = labelled(at) - foreign, proven(capsys)
        assert [line.partition(" ")[0] for line in seen][: place + 1] == (["POST"] * 3 + ["PATCH"] + ["DELETE"] * 3)[
            : place + 1
        ]
        if place < 3:
            assert at.drill("--clean-up", "--all", "--yes") == 0
            assert "its drill is still going" in capsys.readouterr().out or not left
            assert labelled(at) == left | foreign
        monkeypatch.setattr(drills, "GOING_FOR", timedelta())
        monkeypatch.setattr(drills, "LONGEST_DRILL", timedelta())
        assert at.drill("--clean-up", "--all", "--yes") == 0
        told = capsys.readouterr().out
        assert labelled(at) == (left - own) | foreign
        assert len(left - own) == (1 if place < 3 and how == "after" else 0)
        if left - own:
            assert "foretop ended before it knew whether it had created it" in told
        at.drill("--clean-up", "tenant", "--yes")
        assert labelled(at) == (left - own) | foreign


def test_two_drills_at_once_and_a_clean_up_between_their_writes_touch_only_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wire: Wire
) -> None:
    """Also where the other one comes from another machine, and wants the same name."""
    monkeypatch.setattr(drills, "GOING_FOR", timedelta(days=1))
    reached = threading.Event()
    held: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def hold(request: web.BaseRequest, answer: Any) -> web.StreamResponse:
        if request.method == "POST" and request.path.endswith("/configmaps") and not held:
            held.append((asyncio.get_running_loop(), asyncio.Event()))
            reached.set()
            await held[0][1].wait()
        return await answer(request)  # type: ignore[no-any-return]

    with living(tmp_path) as at:
        wire.misbehave = hold
        first = drill_process(at, "shop", "--yes", "--into", INTO)
        assert reached.wait(300)
        made = labelled(at)
        assert len(made) == 1
        for state in ("state", "elsewhere"):
            monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / state))
            assert at.drill("shop", "--yes", "--into", INTO) == 2
            assert f"Namespace {INTO} exists already" in capsys.readouterr().err
            assert at.drill("--clean-up", "--all", "--yes") == 0
            assert "its drill is still going" in capsys.readouterr().out
            assert labelled(at) == made
        assert at.drill("wiki", "--yes", "--into", "wiki-trial") == 0
        assert f"A drill is still going: namespace {INTO}." in capsys.readouterr().err
        assert labelled(at) == made
        loop, go_on = held[0]
        loop.call_soon_threadsafe(go_on.set)
        out, _ = first.communicate(timeout=300)
        assert first.returncode == 0, out
        assert labelled(at) == set()


def test_what_was_made_from_another_machine_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, over: None
) -> None:
    with living(tmp_path) as at:
        _cut_off(at, monkeypatch)
        left = labelled(at)
        assert len(left) == 3
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
        capsys.readouterr()
        assert at.drill("--clean-up", INTO, "--yes", "-o", "json") == 3
        items = json.loads(capsys.readouterr().out)["items"]
        assert {(one["kind"], one["result"]) for one in items} == {(kind, "refused") for kind in KINDS}
        assert all("kubectl" in one["error"] for one in items)
        assert labelled(at) == left
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        assert at.drill("--clean-up", INTO, "--yes", "-o", "json") == 0
        items = json.loads(capsys.readouterr().out)["items"]
        assert {(one["kind"], one["result"]) for one in items} == {(kind, "done") for kind in KINDS}
        assert labelled(at) == set()


def test_cleaning_up_passes_the_guard_like_every_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, over: None, wire: Wire
) -> None:
    with living(tmp_path) as at:
        _cut_off(at, monkeypatch)
        left = labelled(at)
        mark_production(tmp_path)
        wire.asked.clear()
        for words, code, said in (
            (("--all", "--dry-run"), 0, f"namespace {INTO} is deleted"),
            (("--dry-run=server",), 0, f"✓ namespace {INTO} done"),
            (("--all", "--yes", "--read-only"), 3, "read-only is on"),
            (("--all", "--yes"), 3, "Nothing was sent: minicluster is marked production"),
            (("--all", "--yes", "--confirm-context", "other"), 3, "Nothing was sent: minicluster is marked production"),
            (("--yes",), 2, "needs the names of what to delete, or --all"),
            ((INTO,), 2, "no terminal to ask on"),
            (("nothing", "--yes"), 2, "nothing: no drill has left anything of that name"),
        ):
            assert at.drill("--clean-up", *words) == code, words
            told = capsys.readouterr()
            assert said in told.out + told.err
            assert labelled(at) == left
        assert at.drill("--clean-up", INTO, "--yes", "--confirm-context", "minicluster") == 0
        assert labelled(at) == set()
        assert at.drill("--clean-up", "--dry-run") == 0
        assert "No drill has left anything." in capsys.readouterr().out


def test_each_object_is_asked_for_with_who_when_and_what_and_left_by_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, over: None
) -> None:
    answers = iter(["", "y", ""])
    with living(tmp_path) as at:
        _cut_off(at, monkeypatch)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt="": _asked(prompt, next(answers)))
        capsys.readouterr()
        assert at.drill("--clean-up") == 0
        told = capsys.readouterr()
        asked = [line for line in (told.err + told.out).splitlines() if "[y/N]" in line]
        assert [line.split()[1] for line in asked] == ["restore", "configmap", "namespace"]
        assert all(
            " by " in line and "created at " in line and "restore shop from shop-daily" in line for line in asked
        )
        kinds = {kind for kind in KINDS if INTO in at.names(kind)}
        assert kinds == {"Restore", "Namespace"}


def _asked(prompt: str, answer: str) -> str:
    print(prompt, file=sys.stderr)
    return answer


def test_no_drill_without_a_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str], wire: Wire) -> None:
    (tmp_path / "state" / "foretop").mkdir(mode=0o700, parents=True)
    (tmp_path / "state" / "foretop" / "journal").write_text("")
    with living(tmp_path) as at:
        assert at.drill("shop", "--yes") == 3
        assert "Cannot drill shop: The journal" in capsys.readouterr().err
        assert labelled(at) == set()
        assert not [one for one in wire.writes if not one[1].endswith("reviews")]


def _cut_off(at: Living, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drill that was interrupted before it deleted anything."""

    async def interrupted(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("foretop.rooms.drills.command._clean_up", interrupted)
        assert at.drill("shop", "--yes", "--into", INTO) == 130
