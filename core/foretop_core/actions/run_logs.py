"""The logs of a run and of a container: fetched, read line by line, with the levels of their lines."""

from __future__ import annotations

import asyncio
import re
import string
from array import array
from collections.abc import AsyncIterator, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import overload
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.planners.downloads import Run, RunFile
from foretop_core.actions.run_files import FileUnavailable, permitted_file_owner, run_file, tenant_file
from foretop_core.actions.signed_url_download import DownloadFailed, Progress, TlsTrust
from foretop_core.errors import ActionRefused, BadInput, ForetopError
from foretop_core.foreign_text import HIDDEN
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError, Unreachable, too_long
from foretop_core.models import NonAdmin
from foretop_core.own_files import create_file

_KEYED = re.compile(r'(?:^|[\s{,])"?level"?\s*[=:]\s*"?(\w+)')
_KLOG = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d")
"""The prefix of klog: `E1115 10:04:31.123456`."""
_SEARCHED = 400
"""The level stands near the beginning; the rest of a long line is not searched."""


class LogLevel(Enum):
    ERROR = "error"
    WARNING = "warning"
    OTHER = "other"


_LEVELS = {
    "error": LogLevel.ERROR,
    "fatal": LogLevel.ERROR,
    "panic": LogLevel.ERROR,
    "critical": LogLevel.ERROR,
    "e": LogLevel.ERROR,
    "f": LogLevel.ERROR,
    "warning": LogLevel.WARNING,
    "warn": LogLevel.WARNING,
    "w": LogLevel.WARNING,
}


def log_level(line: str) -> LogLevel:
    """logrus (`level=error`), JSON (`"level":"error"`), klog (`E1115 10:04:31`) and a Go panic; else OTHER."""
    start = line[:_SEARCHED]
    match = _KEYED.search(start) or _KLOG.match(start)
    if match is not None:
        return _LEVELS.get(match[1].lower(), LogLevel.OTHER)
    return LogLevel.ERROR if start.startswith(("panic: ", "fatal error: ")) else LogLevel.OTHER


_AT_A_TIME = 1000
"""Lines that are decoded together: one by one takes five times as long."""


_PRIVATE_KEY = re.compile(
    rb"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.{0,16384}?-----END [A-Z ]{0,20}PRIVATE KEY-----", re.DOTALL
)
"""Line by line nothing tells what it is; one without an end does not hide the rest of a log."""
_SUBJECT = re.compile(rb" (?:backup|restore)=[^\s\"]+")
"""The object that a line is about, as logrus writes it."""


class LogText(Sequence[str]):
    """Decodes a line when it is asked for: a million str take three times the room of their bytes.

    `left_out` is in none of its lines.
    """

    def __init__(self, text: bytes | bytearray, left_out: str = "") -> None:
        text = _PRIVATE_KEY.sub(HIDDEN.encode(), text) if b"PRIVATE KEY-----" in text else text
        self._text = text
        self._left_out = left_out
        self._ends = array("I", (newline.start() for newline in re.finditer(rb"\n", text)))
        if text and not text.endswith(b"\n"):
            self._ends.append(len(text))

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self._text)

    def without_subject(self) -> LogText:
        """The lines without `backup=velero/nightly`, where none of them names another: a title says it once."""
        subject = _SUBJECT.search(self._text)
        if subject is None:
            return self
        named = self._text.count(subject[0].partition(b"=")[0] + b"=")
        same = sum(1 for _ in re.finditer(re.escape(subject[0]) + rb"(?!\S)", self._text))
        return LogText(self._text, subject[0].decode("utf-8", "replace")) if same == named else self

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[index] for index in range(*place.indices(len(self))))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._decoded(place % len(self), place % len(self) + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_A_TIME):
            yield from self._decoded(first, min(first + _AT_A_TIME, len(self)))

    def _decoded(self, first: int, stop: int) -> list[str]:
        """Some of the lines; what is not UTF-8 ends where its line ends."""
        start = self._ends[first - 1] + 1 if first else 0
        part = self._text[start : self._ends[stop - 1]].decode("utf-8", "replace")
        if self._left_out:
            part = part.replace(self._left_out, "")
        return [line.rstrip("\r") for line in part.split("\n")]


SELECTORS = ("deploy=velero", "name=velero", "component=velero")
"""As velero install, the chart and OADP label the pod."""
_POD_LINES = "200000"
MOST_BYTES = 128 * 2**20
"""Of one log, however long its lines are: a server need not keep to the number of them."""


_COST_OF_A_LINE = 128
"""Bytes that a line counts for besides its own, so that there are a million at most."""


class _Meta(msgspec.Struct):
    name: str = ""


class _Container(msgspec.Struct):
    name: str = ""


class _Spec(msgspec.Struct):
    containers: list[_Container] = []


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Pods(msgspec.Struct):
    items: list[_Pod] | None = None


async def pod_log(client: ApiClient, namespace: str, name: str) -> LogText:
    """The lines that name the object, of all Velero pods of the namespace, oldest pod first."""
    pods = await _pods(client, namespace)
    if not pods:
        raise ForetopError(f"No Velero pod found in {namespace}")
    mention = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    lines = bytearray()
    for pod in pods:
        path = _log_path(namespace, pod.metadata.name)
        params = {"tailLines": _POD_LINES}
        if any(container.name == "velero" for container in pod.spec.containers):
            params["container"] = "velero"
        async for line in _streamed_lines(client, path, params):
            if mention.search(line.decode("utf-8", "replace")):
                lines += line + b"\n"
    return LogText(lines)


async def container_log(
    client: ApiClient, namespace: str, pod: str, container: str = "", *, previous: bool = False
) -> LogText:
    """The log of one container, or of its run before the last restart; the last lines of a very long one."""
    params = {"tailLines": _POD_LINES}
    if container:
        params["container"] = container
    if previous:
        params["previous"] = "true"
    lines = bytearray()
    async for line in _streamed_lines(client, _log_path(namespace, pod), params):
        lines += line + b"\n"
    return LogText(lines)


async def _streamed_lines(client: ApiClient, path: str, params: dict[str, str]) -> AsyncIterator[bytes]:
    read = 0
    async with client.stream(path, params, 60.0) as lines:
        async for line in lines:
            read += len(line) + _COST_OF_A_LINE
            if read > MOST_BYTES:
                raise too_long("the log", MOST_BYTES)
            yield line


def _log_path(namespace: str, pod: str) -> str:
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/log"


async def _pods(client: ApiClient, namespace: str) -> list[_Pod]:
    for selector in SELECTORS:
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods"
        answer = await client.request("GET", path, {"labelSelector": selector})
        pods = answer.read(_Pods).items
        if pods:
            return pods
    return []


_HARMLESS = frozenset(f"{string.ascii_letters}{string.digits}.-_")
_LONGEST_NAME = 200
MOST_LINES = 1_000_000


class RunLog(msgspec.Struct, frozen=True):
    """The lines of a log; partial where they come from Velero's pod, with the reason for that."""

    lines: Sequence[str]
    partial: bool = False
    why: str = ""
    levels: tuple[LogLevel, ...] = ()
    """Of each line, where they were looked for."""
    brief_lines: Sequence[str] = ()
    """The lines for a screen that names their object in its title, where they were asked for."""

    async def with_levels(self) -> RunLog:
        """The log with the level of each line; keys go on meanwhile, since half a million lines take seconds."""
        return replace(self, levels=await asyncio.to_thread(lambda: tuple(map(log_level, self.lines))))

    async def with_brief_lines(self) -> RunLog:
        lines = self.lines
        brief = await asyncio.to_thread(lines.without_subject) if isinstance(lines, LogText) else lines
        return replace(self, brief_lines=brief)

    @property
    def size(self) -> int:
        """Bytes, or characters where that is not known."""
        return self.lines.size if isinstance(self.lines, LogText) else sum(map(len, self.lines))

    def search(self, text: str) -> Iterator[tuple[int, str]]:
        """The lines that hold a text, whatever its case, with their numbers from 1."""
        folded = text.casefold()
        return ((number, line) for number, line in enumerate(self.lines, start=1) if folded in line.casefold())

    def save(self, path: Path) -> None:
        """Into a new file that its owner alone can read; one that is there is left alone."""
        try:
            with create_file(path) as file:
                file.writelines(f"{line}\n" for line in self.lines)
        except OSError as problem:
            raise BadInput(f"{path} cannot be written", problem.strerror or str(problem)) from None


def log_file_name(name: str) -> str:
    """The file for the log of an object: in the folder itself, whatever a server says the object's name is."""
    kept = "".join(mark if mark in _HARMLESS else "_" for mark in name[:_LONGEST_NAME]).lstrip(".")
    return f"{kept or 'run'}.log"


async def log_of(
    executor: PlanExecutor, item: Run | NonAdmin, trust: TlsTrust | None = None, progress: Progress | None = None
) -> RunLog:
    """The log of a backup or restore, a tenant's included."""
    if not isinstance(item, NonAdmin):
        return await _run_log(executor, item, trust, progress)
    owner = await permitted_file_owner(executor, item, RunFile.LOG)
    if isinstance(owner, NonAdmin):
        return RunLog(await asyncio.to_thread(_lines, await tenant_file(executor, owner, RunFile.LOG, trust, progress)))
    return await _run_log(executor, owner, trust, progress)


async def _run_log(executor: PlanExecutor, run: Run, trust: TlsTrust | None, progress: Progress | None) -> RunLog:
    """The whole log, or what Velero's pod has of it, said to be partial."""
    try:
        return RunLog(await asyncio.to_thread(_lines, await run_file(executor, run, RunFile.LOG, trust, progress)))
    except (ActionRefused, FileUnavailable, DownloadFailed, ApiError, Unreachable) as problem:
        text = await _of_pod(executor, run, problem)
        if not text:
            either = "the log of Velero's pod does not mention it either"
            why = f"{problem.why}; {either}" if problem.why else either
            raise FileUnavailable(problem.what, why, problem.hint) from None
        return RunLog(text, partial=True, why=str(problem))


def _lines(text: bytes | bytearray) -> LogText:
    if text.count(b"\n") > MOST_LINES:
        raise DownloadFailed("The log is too long", f"more than {MOST_LINES:,} lines", "use velero's own command")
    return LogText(text)


async def _of_pod(executor: PlanExecutor, run: Run, problem: ForetopError) -> LogText:
    try:
        return await pod_log(executor.client, run.namespace, run.name)
    except ForetopError as second:
        raise FileUnavailable(str(problem), f"nor can Velero's own log be read: {second}") from None
