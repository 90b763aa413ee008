"""Exec plugins that answer, prompt, hang, fail or are missing."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.config import ExecConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.exec_plugin import ExecPlugins

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
ANSWER = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t-%s"%s}}'


def plugin(folder: Path, script: str, name: str = "login") -> ExecConfig:
    """A plugin that writes a line to `runs` each time that it is run."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho run >> {folder}/runs\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return ExecConfig(command=str(path))


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def plugins(clock: ManualClock | None = None, limit: float = 20.0) -> ExecPlugins:
    return ExecPlugins(clock or ManualClock(NOW), os.environ, limit)


async def test_a_plugin_is_told_that_nobody_is_there(tmp_path: Path) -> None:
    script = f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/info\ncat > {tmp_path}/stdin\n' + f"echo '{ANSWER % (1, '')}'"
    config = plugin(tmp_path, script)
    assert (await plugins().credential(config)).token == "t-1"
    info = json.loads((tmp_path / "info").read_text())
    assert info["spec"]["interactive"] is False
    assert (tmp_path / "stdin").read_text() == ""


async def test_a_plugin_that_prompts_leads_to_signed_out_with_its_last_line(tmp_path: Path) -> None:
    script = (
        "echo 'some noise' >&2\nprintf '\\033[31mPlease visit the login page\\033[0m\\n' >&2\nread answer || exit 1"
    )
    with pytest.raises(Unauthenticated) as caught:
        await plugins().credential(plugin(tmp_path, script))
    assert "Please visit the login page" in str(caught.value)
    assert "\033" not in str(caught.value)


async def test_a_plugin_has_no_terminal_to_prompt_on(tmp_path: Path) -> None:
    script = f"(: < /dev/tty) 2> /dev/null && echo terminal > {tmp_path}/tty\necho 'no terminal' >&2\nexit 3"
    with pytest.raises(Unauthenticated, match="no terminal"):
        await plugins().credential(plugin(tmp_path, script))
    assert not (tmp_path / "tty").exists()


async def test_a_plugin_that_hangs_is_ended_with_all_its_children(tmp_path: Path) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    reader = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(Unauthenticated, match=r"did not answer within 0\.5 s"):
        await plugins(limit=0.5).credential(plugin(tmp_path, f"sleep 300 > {held} &\nwait"))
    async with asyncio.timeout(120):
        while not nobody_holds(reader):  # noqa: ASYNC110 - before its first writer a pipe tells of no end
            await asyncio.sleep(0.01)
    os.close(reader)


def nobody_holds(pipe: int) -> bool:
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


async def test_a_plugin_that_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    config = ExecConfig(command=str(tmp_path / "nowhere"), install_hint="brew install nowhere")
    with pytest.raises(Unauthenticated) as caught:
        await plugins().credential(config)
    assert str(caught.value) == "the exec plugin nowhere is not installed (brew install nowhere)"


@pytest.mark.parametrize("output", ["", "hello", "{}", '{"apiVersion":"client.authentication.k8s.io/v1","status":{}}'])
async def test_an_answer_that_is_none_is_signed_out(tmp_path: Path, output: str) -> None:
    with pytest.raises(Unauthenticated):
        await plugins().credential(plugin(tmp_path, f"echo '{output}'"))


async def test_equal_commands_of_several_contexts_are_run_once(tmp_path: Path) -> None:
    config = plugin(tmp_path, f"echo '{ANSWER % (1, '')}'")
    shared = plugins()
    answers = await asyncio.gather(*(shared.credential(config) for _ in range(12)))
    assert runs(tmp_path) == 1
    assert len(set(answers)) == 1


async def test_an_answer_is_renewed_when_it_expires(tmp_path: Path) -> None:
    expiry = ',"expirationTimestamp":"2026-11-15T03:15:00Z"'
    config = plugin(tmp_path, f"echo '{ANSWER % (1, expiry)}'")
    clock = ManualClock(NOW)
    shared = plugins(clock)
    await shared.credential(config)
    clock.advance(timedelta(minutes=14))
    await shared.credential(config)
    assert runs(tmp_path) == 1
    clock.advance(timedelta(minutes=1))
    await shared.credential(config)
    assert runs(tmp_path) == 2


async def test_a_wrong_clock_does_not_run_the_plugin_for_every_request(tmp_path: Path) -> None:
    expiry = ',"expirationTimestamp":"2020-01-01T00:00:00Z"'
    config = plugin(tmp_path, f"echo '{ANSWER % (1, expiry)}'")
    shared = plugins()
    for _ in range(5):
        await shared.credential(config)
    assert runs(tmp_path) == 1


async def test_a_failing_plugin_rests_before_it_is_run_again(tmp_path: Path) -> None:
    config = plugin(tmp_path, "echo 'please sign in' >&2; exit 1")
    clock = ManualClock(NOW)
    shared = plugins(clock)
    for _ in range(5):
        with pytest.raises(Unauthenticated, match="please sign in"):
            await shared.credential(config)
    assert runs(tmp_path) == 1
    clock.advance(timedelta(seconds=30))
    with pytest.raises(Unauthenticated):
        await shared.credential(config)
    assert runs(tmp_path) == 2


async def test_signing_in_on_the_plain_terminal_ends_the_rest_at_once(tmp_path: Path) -> None:
    script = f"""case "$KUBERNETES_EXEC_INFO" in
*'"interactive": true'*) echo '{ANSWER % (7, "")}';;
*) echo 'sign in' >&2; exit 1;;
esac"""
    config = plugin(tmp_path, script)
    shared = plugins()
    with pytest.raises(Unauthenticated):
        await shared.credential(config)
    shared.sign_in(config)
    assert (await shared.credential(config)).token == "t-7"


async def test_a_plugin_that_always_wants_a_person_is_not_run_behind_the_screen(tmp_path: Path) -> None:
    config = ExecConfig(command=plugin(tmp_path, "exit 0").command, interactive_mode="Always")
    with pytest.raises(Unauthenticated, match="always prompts"):
        await plugins().credential(config)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "script",
    [
        'echo \'{"status":{"token":"canary-1"}\'; exit 1',
        "echo canary-1; exit 1",
        "echo canary-1; echo 'the token canary-1 is refused' >&2; exit 1",
        "echo 'Authorization: Bearer canary-1' >&2; exit 1",
        "echo 'password=canary-1' >&2; exit 1",
        'echo "env has $LOGIN" >&2; exit 1',
        "echo 'eyJhbGciOiJIUzI1NiJ9.canary-1.sig' >&2; exit 1",
        'echo \'{"status":{"token":"canary-1"\'',
    ],
)
async def test_what_a_plugin_says_to_us_is_shown_to_nobody(tmp_path: Path, script: str) -> None:
    config = replace(plugin(tmp_path, script), env=(("LOGIN", "canary-1"),))
    with pytest.raises(Unauthenticated) as caught:
        await plugins().credential(config)
    assert "canary" not in str(caught.value)


async def test_a_plugin_that_floods_its_output_is_ended(tmp_path: Path) -> None:
    for stream in ("", " >&2"):
        with pytest.raises(Unauthenticated, match="wrote more than 1 MiB"):
            await plugins(limit=120.0).credential(plugin(tmp_path, f"yes{stream}"))


async def test_a_helper_that_a_plugin_leaves_behind_does_not_hold_its_answer(tmp_path: Path) -> None:
    config = plugin(tmp_path, f"sleep 60 &\necho '{ANSWER % (1, '')}'")
    async with asyncio.timeout(50):
        assert (await plugins(limit=55.0).credential(config)).token == "t-1"


@pytest.mark.parametrize("expiry", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_an_expiry_at_the_end_of_time_is_an_expiry(tmp_path: Path, expiry: str) -> None:
    said = ANSWER % (1, f',"expirationTimestamp":"{expiry}"')
    config = plugin(tmp_path, f"echo '{said}'")
    shared = plugins()
    for _ in range(2):
        assert (await shared.credential(config)).token == "t-1"


@pytest.mark.parametrize("entry", ["", ".", "sub"])
async def test_a_plugin_is_never_found_in_the_current_folder(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    for folder in (tmp_path, tmp_path / "sub"):
        plugin(folder, f"echo '{ANSWER % (1, '')}'")
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": f"{entry}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    found = ExecPlugins(ManualClock(NOW), environ, 20.0)
    with pytest.raises(Unauthenticated, match="is not installed"):
        await ExecPlugins(ManualClock(NOW), {"PATH": entry}, 20.0).credential(ExecConfig(command="login"))
    with pytest.raises(FileNotFoundError):
        found.sign_in(ExecConfig(command="./login"))
    assert not (tmp_path / "runs").exists()


async def test_a_plugin_that_says_a_megabyte_is_shown_with_its_last_words(tmp_path: Path) -> None:
    script = "head -c 900000 /dev/zero | tr '\\0' a >&2\necho ' sign in first' >&2\nexit 1"
    with pytest.raises(Unauthenticated) as caught:
        await plugins().credential(plugin(tmp_path, script))
    assert str(caught.value) == "sign in first"
