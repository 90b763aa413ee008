"""What is made of each answer of an exec plugin, to the second, the byte and the word."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.config import ExecConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.exec_plugin import ExecCredential, ExecPlugins

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
VERSION = "client.authentication.k8s.io/v1"
TICK = timedelta(microseconds=1)


def answer(**status: Any) -> str:
    return json.dumps({"apiVersion": VERSION, "kind": "ExecCredential", "status": status})


class Login:
    """A plugin whose answer a test writes, and that counts its runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.clock = ManualClock(NOW)
        self.plugins = ExecPlugins(self.clock, os.environ, 60.0)
        script = f"echo run >> {folder}/runs; cat {folder}/said; cat {folder}/complained >&2; exit $(cat {folder}/code)"
        self.config = ExecConfig("sh", ("-c", script))
        self.says()

    def says(self, said: str = answer(token="t"), complains: str = "", code: int = 0) -> None:
        for name, content in (("said", said), ("complained", complains), ("code", str(code))):
            (self._folder / name).write_text(content)

    @property
    def runs(self) -> int:
        return len((self._folder / "runs").read_text().splitlines())

    async def asked(self) -> ExecCredential:
        return await self.plugins.credential(self.config)

    async def refused(self, config: ExecConfig | None = None) -> str:
        with pytest.raises(Unauthenticated) as caught:
            await self.plugins.credential(config or self.config)
        return str(caught.value)


@pytest.fixture
def login(tmp_path: Path) -> Login:
    return Login(tmp_path)


ANSWERS = [
    (answer(token="t"), ExecCredential("t")),
    (answer(clientCertificateData="crt", clientKeyData="key"), ExecCredential("", b"crt", b"key")),
    (
        answer(token="t", clientCertificateData="crt", expirationTimestamp="2026-11-15T04:00:00Z"),
        ExecCredential("t", b"crt", b"", NOW + timedelta(hours=1)),
    ),
]


@pytest.mark.parametrize(("said", "found"), ANSWERS)
async def test_a_token_or_a_certificate_with_its_key_is_an_answer(
    login: Login, said: str, found: ExecCredential
) -> None:
    login.says(said)
    assert await login.asked() == found
    login.plugins.sign_in(login.config)
    assert await login.asked() == found


NEITHER = "the exec plugin sh returned neither a token nor a certificate with its key"
REFUSED = [
    (answer(), "", 0, NEITHER),
    (json.dumps({"apiVersion": VERSION}), "", 0, NEITHER),
    (answer(clientCertificateData="crt"), "", 0, NEITHER),
    (answer(clientKeyData="key"), "", 0, NEITHER),
    ("{}", "", 0, f"the exec plugin sh answered in no version, not in {VERSION}"),
    ('{"apiVersion": "v0"}', "", 0, f"the exec plugin sh answered in v0, not in {VERSION}"),
    ("hello", "", 0, "the exec plugin sh did not return an ExecCredential"),
    ("hello", "no network\n", 0, "no network"),
    (answer(token="t"), "", 1, "the exec plugin sh ended with exit code 1"),
    ("", "first\n\n please \x1b[1msign in\x1b[0m \n \x07\n", 3, "please [1msign in[0m"),
    ("", "give abcdef or abcde", 1, "give [hidden] or abcde"),
    ("the answer", "not answer, but thing", 1, "not [hidden] but thing"),
    ("", f"sign{'in': >4092}", 1, "sign in"),
    ("", f"sign{'in': >4093}", 1, "in"),
]


@pytest.mark.parametrize(("said", "complains", "code", "told"), REFUSED)
async def test_any_other_answer_is_one_line(login: Login, said: str, complains: str, code: int, told: str) -> None:
    login.says(said, complains, code)
    config = replace(login.config, env=(("LONG", "abcdef"), ("SHORT", "abcde")))
    assert await login.refused(config) == told


@pytest.mark.parametrize("size", [2**20, 2**20 + 1])
async def test_an_answer_may_have_a_mebibyte(login: Login, size: int) -> None:
    login.says(answer(token="t").ljust(size))
    if size == 2**20:
        assert (await login.asked()).token == "t"
        login.plugins.sign_in(login.config)
        return
    told = "the exec plugin sh wrote more than 1 MiB: that is not a credential"
    assert await login.refused() == told
    with pytest.raises(Unauthenticated, match=told):
        login.plugins.sign_in(login.config)


async def test_an_answer_is_renewed_ten_seconds_before_it_ends(login: Login) -> None:
    login.says(answer(token="t", expirationTimestamp="2026-11-15T03:15:00Z"))
    await login.asked()
    login.clock.set(NOW + timedelta(minutes=14, seconds=50) - TICK)
    await login.asked()
    assert login.runs == 1
    login.clock.advance(TICK)
    await login.asked()
    assert login.runs == 2


async def test_an_answer_without_an_end_is_kept(login: Login) -> None:
    await login.asked()
    login.clock.advance(timedelta(days=30))
    await login.asked()
    assert login.runs == 1


async def test_after_a_failure_a_plugin_is_run_again_when_twenty_seconds_have_passed(login: Login) -> None:
    login.says(complains="no network", code=1)
    for wait, runs in ((timedelta(), 1), (timedelta(), 1), (timedelta(seconds=20) - TICK, 1), (TICK, 2), (-TICK, 3)):
        login.clock.advance(wait)
        assert await login.refused() == "no network"
        assert login.runs == runs
    login.says()
    login.clock.advance(timedelta(seconds=20))
    assert (await login.asked()).token == "t"


async def test_only_the_answer_that_was_refused_is_asked_for_again(login: Login) -> None:
    login.plugins.reject(login.config, ExecCredential("t"))
    first = await login.asked()
    login.says(answer(token="new"))
    login.plugins.reject(login.config, ExecCredential("another"))
    assert await login.asked() == first
    login.plugins.reject(login.config, first)
    assert (await login.asked()).token == "new"


async def test_a_sign_in_counts_as_a_run(login: Login) -> None:
    login.says(answer(token="t", expirationTimestamp="2020-01-01T00:00:00Z"))
    login.plugins.sign_in(login.config)
    await login.asked()
    assert login.runs == 1


@pytest.mark.parametrize("info", ["", '{"server": "https://k"}'])
async def test_a_plugin_is_told_of_its_cluster_where_it_asks_for_that(tmp_path: Path, info: str) -> None:
    script = f"printf %s \"$KUBERNETES_EXEC_INFO\" > {tmp_path}/info; echo '{answer(token='t')}'"
    await ExecPlugins(ManualClock(NOW), os.environ).credential(ExecConfig("sh", ("-c", script), cluster_info=info))
    spec = {"interactive": False, **({"cluster": {"server": "https://k"}} if info else {})}
    told = json.loads((tmp_path / "info").read_text())
    assert told == {"apiVersion": VERSION, "kind": "ExecCredential", "spec": spec}


async def test_a_plugin_has_a_session_of_its_own() -> None:
    code = "import os; print(os.environ['SAID'] % (os.getsid(0) == os.getpid()))"
    config = ExecConfig(sys.executable, ("-c", code), env=(("SAID", answer(token="%s")),))
    found = await ExecPlugins(ManualClock(NOW), os.environ).credential(config)
    assert found.token == "True"


async def test_a_plugin_that_cannot_be_run_says_why(login: Login, tmp_path: Path) -> None:
    (tmp_path / "plain").touch(0o600)
    assert (
        await login.refused(ExecConfig(str(tmp_path / "plain")))
        == "the exec plugin plain cannot be run: Permission denied"
    )
    assert (
        await login.refused(ExecConfig("no-such-plugin"))
        == "the exec plugin no-such-plugin is not installed (install it, or fix exec.command in the kubeconfig)"
    )


async def test_a_plugin_that_closes_its_output_before_it_ends_is_waited_for(tmp_path: Path) -> None:
    script = f"echo '{answer(token='t')}'; exec >&- 2>&-; sleep 0.2; exit 1"
    with pytest.raises(Unauthenticated, match="ended with exit code 1"):
        await ExecPlugins(ManualClock(NOW), os.environ).credential(ExecConfig("sh", ("-c", script)))


async def test_the_pipes_of_a_helper_that_is_left_behind_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.exec_plugin._LAST_WORDS", 0.1)
    plugins = ExecPlugins(ManualClock(NOW), os.environ)
    await plugins.credential(ExecConfig("echo", (answer(token="t"),)))
    before = len(os.listdir("/dev/fd"))
    script = f"sleep 5 & echo '{answer(token='t')}'"
    assert (await plugins.credential(ExecConfig("sh", ("-c", script)))).token == "t"
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(os.listdir("/dev/fd")) <= before
