"""Exec plugins, run by us: never with a terminal, never for long, never twice at once for the same answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec

from foretop_core.clock import Clock
from foretop_core.foreign_text import HIDDEN, without_tokens
from foretop_core.kube.connection.config import ExecConfig
from foretop_core.kube.connection.connection_errors import Unauthenticated
from foretop_core.kube.connection.secrets_filter import SHORTEST_SECRET, is_secret_beside
from foretop_core.process_group import end_process_group, find_program

LIMIT = 60.0
MIN_RETRY_INTERVAL = timedelta(seconds=20)
RENEW_BEFORE = timedelta(seconds=10)
MOST_OUTPUT = 2**20
_EACH = 0.02
_MOST_SAID = 4096
"""Bytes at the end of what a plugin says that are looked at: one line of it is shown."""
_LAST_WORDS = 1.0
"""Seconds for what a plugin wrote last; a helper that it leaves behind may hold its output open for ever."""


@dataclass(frozen=True, slots=True)
class ExecCredential:
    """The answer of a plugin; nothing of it shows in its printed form."""

    token: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)
    expires: datetime | None = None


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _Answer(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


class _Slot(msgspec.Struct):
    lock: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    credential: ExecCredential | None = None
    failure: Unauthenticated | None = None
    ran_at: datetime | None = None


class ExecPlugins:
    """Runs plugins for all contexts of a run; equal commands share one run and one answer."""

    def __init__(self, clock: Clock, environ: Mapping[str, str], limit: float = LIMIT) -> None:
        self._clock = clock
        self._environ = environ
        self._limit = limit
        self._slots: dict[ExecConfig, _Slot] = {}

    async def credential(self, config: ExecConfig) -> ExecCredential:
        """The plugin's answer while it holds, else a new one."""
        slot = self._slots.setdefault(config, _Slot())
        async with slot.lock:
            now = self._clock.now()
            # A plugin that fails, or whose answers seem expired at once (a wrong clock), gets its rest.
            rested = slot.ran_at is None or not timedelta() <= now - slot.ran_at < MIN_RETRY_INTERVAL
            if slot.credential is not None and not (rested and _expired(slot.credential, now)):
                return slot.credential
            if slot.failure is not None and not rested:
                raise slot.failure
            slot.ran_at = now
            try:
                slot.credential = await self._run(config)
            except Unauthenticated as problem:
                slot.failure = problem
                raise
            slot.failure = None
            return slot.credential

    def reject(self, config: ExecConfig, used: ExecCredential | None) -> None:
        """The API server did not take this answer; ask again, unless somebody already has."""
        slot = self._slots.get(config)
        if slot is not None and slot.credential == used:
            slot.credential = None

    def sign_in(self, config: ExecConfig) -> None:
        """Runs the plugin on the plain terminal, where a person can answer it; the screen must be aside."""
        with subprocess.Popen(
            [find_program(config.command, self._environ), *config.args],
            env=self._environment(config, interactive=True),
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read(MOST_OUTPUT + 1)
            if len(output) > MOST_OUTPUT:
                process.kill()
                raise _flooded(config)
        slot = self._slots.setdefault(config, _Slot())
        slot.credential = _answer(config, process.returncode, output, b"")
        slot.failure, slot.ran_at = None, self._clock.now()

    async def _run(self, config: ExecConfig) -> ExecCredential:
        if config.interactive_mode == "Always":
            raise Unauthenticated(f"{_name(config)} always prompts", hint="sign in in the terminal")
        try:
            # A session of its own has no terminal, so that no prompt can be written over the screen.
            process = await asyncio.create_subprocess_exec(
                find_program(config.command, self._environ),
                *config.args,
                env=self._environment(config, interactive=False),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            hint = config.install_hint or "install it, or fix exec.command in the kubeconfig"
            raise Unauthenticated(f"{_name(config)} is not installed", hint=hint) from None
        except OSError as problem:
            raise Unauthenticated(f"{_name(config)} cannot be run", problem.strerror or str(problem)) from None
        try:
            async with asyncio.timeout(self._limit):
                stdout, stderr = await _output(process)
        except _OutputTooLong:
            await end_process_group(process)
            raise _flooded(config) from None
        except TimeoutError:
            await end_process_group(process)
            raise Unauthenticated(
                f"{_name(config)} did not answer within {self._limit:g} s", hint="is it waiting for input?"
            ) from None
        except asyncio.CancelledError:
            await end_process_group(process)
            raise
        return _answer(config, process.returncode, stdout, stderr)

    def _environment(self, config: ExecConfig, interactive: bool) -> dict[str, str]:
        spec: dict[str, Any] = {"interactive": interactive}
        if config.cluster_info:
            spec["cluster"] = json.loads(config.cluster_info)
        info = {"apiVersion": config.api_version, "kind": "ExecCredential", "spec": spec}
        return {**self._environ, **dict(config.env), "KUBERNETES_EXEC_INFO": json.dumps(info)}


class _OutputTooLong(Exception):
    """More than any ExecCredential has."""


async def _output(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """All that it writes until it ends."""
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    readers = [
        asyncio.create_task(_read(process.stdout, out)),
        asyncio.create_task(_read(process.stderr, err)),
    ]
    try:
        # Its wait() would also wait for whoever holds the pipes.
        while process.returncode is None:
            await asyncio.sleep(_EACH)
            for reader in filter(asyncio.Task.done, readers):
                reader.result()
        for reader in (await asyncio.wait(readers, timeout=_LAST_WORDS))[0]:
            reader.result()
    finally:
        for reader in readers:
            reader.cancel()
        if process.returncode is not None:
            # Our ends of pipes that a helper holds: asyncio has no other way to close them.
            process._transport.close()  # type: ignore[attr-defined]
    return bytes(out), bytes(err)


async def _read(stream: asyncio.StreamReader, into: bytearray) -> None:
    while chunk := await stream.read(MOST_OUTPUT):
        into += chunk
        if len(into) > MOST_OUTPUT:
            raise _OutputTooLong


def _flooded(config: ExecConfig) -> Unauthenticated:
    return Unauthenticated(f"{_name(config)} wrote more than {MOST_OUTPUT // 2**20} MiB", "that is not a credential")


def _answer(config: ExecConfig, code: int | None, stdout: bytes, stderr: bytes) -> ExecCredential:
    if code != 0:
        text = _last_words(config, stdout, stderr)
        raise Unauthenticated(text or f"{_name(config)} ended with exit code {code}")
    try:
        answer = msgspec.json.decode(stdout, type=_Answer)
    except (ValueError, RecursionError):
        text = _last_words(config, stdout, stderr)
        raise Unauthenticated(text or f"{_name(config)} did not return an ExecCredential") from None
    status = answer.status
    if answer.api_version != config.api_version:
        raise Unauthenticated(
            f"{_name(config)} answered in {answer.api_version or 'no version'}, not in {config.api_version}"
        )
    if status is None or not (status.token or (status.client_certificate_data and status.client_key_data)):
        raise Unauthenticated(f"{_name(config)} returned neither a token nor a certificate with its key")
    return ExecCredential(
        token=status.token or "",
        certificate=(status.client_certificate_data or "").encode(),
        key=(status.client_key_data or "").encode(),
        expires=status.expiration_timestamp,
    )


def _expired(credential: ExecCredential, now: datetime) -> bool:
    return credential.expires is not None and credential.expires <= now + RENEW_BEFORE


def _last_words(config: ExecConfig, stdout: bytes, stderr: bytes) -> str:
    """The last line of what it says to a person, without what it says to us: a token, and what it was given."""
    printed = stdout.decode("utf-8", "replace")
    secrets = {value for _, value in config.env if len(value) >= SHORTEST_SECRET}
    words = [
        HIDDEN if word in secrets or is_secret_beside(word, printed) else word for word in _last_line(stderr).split()
    ]
    return without_tokens(" ".join(words))


def _last_line(output: bytes) -> str:
    text = output[-_MOST_SAID:].decode("utf-8", "replace")
    if len(output) > _MOST_SAID:
        # The word that is cut may be half of a token, which nothing would know for one any more.
        text = "".join(text.split(maxsplit=1)[1:])
    lines = text.splitlines()
    clean = ["".join(mark for mark in line if mark.isprintable()).strip() for line in lines]
    return next((line for line in reversed(clean) if line), "")


def _name(config: ExecConfig) -> str:
    return f"the exec plugin {os.path.basename(config.command)}"
