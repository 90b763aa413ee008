"""The client of an archive: it answers what foretop asks an API server, from what is in the archive.

So list, watch, rights, logs and single reads take the way that they take in a cluster, and no page knows which it is.
What is not in the archive is refused as what may not be read, and says so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from urllib.parse import unquote

import msgspec

from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import FileUnavailable
from foretop_core.actions.run_logs import SELECTORS
from foretop_core.background import in_thread
from foretop_core.clock import Clock
from foretop_core.config.protection import Protection
from foretop_core.errors import Unreadable
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ANSWER_LIMIT, JSON, ApiClient, Response, WritePermit
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.connection_errors import ApiError, NotInArchive, WriteRefused
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.models.kinds import NAMESPACE, POD, VELERO_DEPLOYMENT, Kind
from foretop_core.models.wire import Resource, decode
from foretop_core.rooms.archives.contents import Archive
from foretop_core.rooms.archives.members import first_bytes
from foretop_core.rooms.archives.recording import READ_KINDS, Key
from foretop_core.rooms.archives.texts import described_file, log_name, pod_log_name, velero_pods

_PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)"
    r"(?:/(?P<name>[^/]+))?(?P<log>/log)?"
)
_BY_PATH = {(kind.group, kind.plural): kind for kind in READ_KINDS.values()}
_PROJECTS = "/apis/project.openshift.io/v1/projects"
_WOULD_HAVE = {
    RunFile.LOG: "velero debug --backup NAME collects it",
    RunFile.RESULTS: "velero backup describe NAME --details prints them",
    RunFile.RESOURCES: "velero backup describe NAME --details prints it",
    RunFile.VOLUMES: "no archive has it",
}
_VELERO = [{"name": VELERO_DEPLOYMENT}]
_READS = ("get", "list", "watch")
_IN = re.compile(r"([^\s,!=()]+)\s+in\s+\(([^)]*)\)")


class _Review(msgspec.Struct):
    spec: dict[str, object] = {}


class ArchiveClient(ApiClient):
    """One archive as a cluster that stands still, can be read in part, and takes no write."""

    def __init__(self, archive: Archive, name: str, clock: Clock) -> None:
        context = ContextConfig(name, "", namespace=next(iter(archive.namespaces), "default"))
        super().__init__(Authenticator(context, lambda: context, ExecPlugins(clock, {}), clock), clock)
        self.archive = archive
        self.version = 1
        """The resourceVersion of its lists."""
        self.kept_file = self._kept_file

    @property
    def origin(self) -> str:
        return f"archive {self.archive.now:%Y-%m-%d}"

    @property
    def notes(self) -> tuple[str, ...]:
        return self.archive.notes

    @property
    def protection(self) -> Protection:
        return Protection(read_only="this is an archive, not a cluster")

    @property
    def skew(self) -> timedelta | None:
        return self.archive.now - self._clock.now()

    @property
    def silent_for(self) -> float:
        return 0.0

    async def knock(self, limit: float) -> None:
        """An archive is always there."""

    async def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = JSON,
        limit: float = ANSWER_LIMIT,
    ) -> Response:
        answer = self._reviewed(body) if method.upper() == "POST" else self._read_path(path, params or {})
        return Response(200, answer)

    async def write(
        self,
        permit: WritePermit,
        method: str,
        path: str,
        params: Mapping[str, str],
        body: object,
        content_type: str = JSON,
    ) -> Response:
        raise WriteRefused(f"{method} {path} was not sent", "this is an archive, not a cluster")

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str], idle: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """The log of a container; a watch, in which nothing happens."""
        asked = _PATH.fullmatch(path)
        if asked is not None and asked["log"]:
            yield _lines(await self._container_log(unquote(asked["namespace"]), unquote(asked["name"]), params))
        else:
            yield _nothing()

    @asynccontextmanager
    async def chunks(self, path: str, params: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        yield _once(self._read_path(path, params))

    def keeps(self, run: Resource, *, is_log: bool) -> bool:
        return bool(log_name(self.archive.texts, type(run).__name__.lower(), run.name, is_log=is_log))

    async def _kept_file(self, run: Resource, file: RunFile) -> bytearray:
        """A file that Velero keeps in object storage, as far as the archive has it."""
        kind, words = type(run).__name__.lower(), f"The {file.noun} of {run.name}"
        name = log_name(self.archive.texts, kind, run.name, is_log=file is RunFile.LOG)
        text = await in_thread(partial(first_bytes, self.archive.path, name)) if name else b""
        answer = text if file is RunFile.LOG else described_file(text, file)
        if not name or answer is None:
            verb = "is" if file.is_one else "are"
            raise FileUnavailable(f"{words} {verb} not in the archive", "", _WOULD_HAVE[file].replace("NAME", run.name))
        return bytearray(answer)

    async def _container_log(self, namespace: str, pod: str, params: Mapping[str, str]) -> bytes:
        name = pod_log_name(
            self.archive.texts, namespace, pod, params.get("container", ""), previous="previous" in params
        )
        if not name:
            raise NotInArchive(f"The log of {pod} is", "kubectl logs prints it")
        return await in_thread(partial(first_bytes, self.archive.path, name))

    def _reviewed(self, body: object) -> bytes:
        """Allows to read all that is in it; a kind that is nowhere in it is asked for, and refused there."""
        spec = msgspec.convert(body, _Review).spec
        asked = spec.get("resourceAttributes")
        if isinstance(asked, dict):
            kind = _BY_PATH.get((str(asked.get("group", "")), str(asked.get("resource", ""))))
            place = str(asked.get("namespace", ""))
            allowed = kind is not None and asked.get("verb") in _READS and self._may_list(kind, place)
            return msgspec.json.encode({"status": {"allowed": allowed, "reason": "this is an archive"}})
        place = str(spec.get("namespace", ""))
        rules = [
            {"verbs": _READS, "apiGroups": [kind.group], "resources": [kind.plural]}
            for kind in READ_KINDS.values()
            if self.archive.is_listed(kind, place)
        ]
        return msgspec.json.encode({"status": {"resourceRules": rules, "incomplete": False}})

    def _may_list(self, kind: Kind, namespace: str) -> bool:
        return self.archive.is_listed(kind, namespace) or not any(known is kind for known, _ in self.archive.listed)

    def _read_path(self, path: str, params: Mapping[str, str]) -> bytes:
        if path == _PROJECTS:
            return _page("Project", [{"metadata": {"name": name}} for name in self.archive.namespaces])
        asked = _PATH.fullmatch(path)
        kind = _BY_PATH.get((asked["group"] or "", asked["plural"])) if asked is not None else None
        if asked is None or kind is None:
            raise NotInArchive("This is", f"an API server answers {path}")
        namespace, name = unquote(asked["namespace"] or ""), unquote(asked["name"] or "")
        if name:
            return self._item(kind, namespace, name)
        return self._list(kind, namespace, params)

    def _item(self, kind: Kind, namespace: str, name: str) -> bytes:
        raw = self.archive.objects.get(kind, {}).get((namespace, name))
        if raw is not None:
            return raw
        if kind is NAMESPACE and name in self.archive.namespaces:
            return msgspec.json.encode({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        if self.archive.is_listed(kind, namespace):
            raise ApiError(404, "NotFound", f"{kind.plural} {name} not found")
        raise NotInArchive(f"{kind.name} {name} is", _more(kind))

    def _list(self, kind: Kind, namespace: str, params: Mapping[str, str]) -> bytes:
        if kind is POD and params.get("labelSelector") == SELECTORS[0] and not self.archive.is_listed(POD, namespace):
            pods = velero_pods(self.archive.texts, namespace)
            return _page(POD.name, [{"metadata": {"name": name}, "spec": {"containers": _VELERO}} for name in pods])
        held = self.archive.objects.get(kind, {})
        chosen = [raw for key, raw in held.items() if namespace in ("", key[0]) and fits(kind, key, raw, params)]
        if not self.archive.is_listed(kind, namespace) and not (chosen and "fieldSelector" in params):
            raise NotInArchive(f"{kind.plural} are", _more(kind))
        begin, limit = int(params.get("continue", "0")), int(params.get("limit", "0")) or len(chosen)
        rest = len(chosen) - begin - limit
        items = [msgspec.Raw(raw) for raw in chosen[begin : begin + limit]]
        return _page(kind.name, items, begin + limit, rest, self.version)


def _more(kind: Kind) -> str:
    plural = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    return f"kubectl get {plural}{' -A' if kind.namespaced else ''} -o yaml has them"


def _page(name: str, items: Sequence[object], end: int = 0, rest: int = 0, version: int = 1) -> bytes:
    more = {"continue": str(end), "remainingItemCount": rest} if rest > 0 else {}
    meta = {"resourceVersion": str(version), **more}
    return msgspec.json.encode({"kind": f"{name}List", "metadata": meta, "items": items})


def listed_kind(path: str) -> tuple[Kind | None, str]:
    """The kind whose list or watch is asked for, and the namespace; no kind for any other path."""
    asked = _PATH.fullmatch(path)
    if asked is None or asked["name"]:
        return None, ""
    return _BY_PATH.get((asked["group"] or "", asked["plural"])), unquote(asked["namespace"] or "")


def fits(kind: Kind, key: Key, raw: bytes, params: Mapping[str, str]) -> bool:
    """By the selectors that foretop uses: labels, the name, and the object that an event is about."""
    fields, labels = params.get("fieldSelector", ""), params.get("labelSelector", "")
    if fields.startswith("metadata.name="):
        return key[1] == fields.partition("=")[2]
    if fields:
        return f'"{fields.partition("=")[2]}"'.encode() in raw
    if not labels:
        return True
    try:
        mine = decode(Resource, raw).metadata.labels
    except Unreadable:
        return False
    if several := _IN.fullmatch(labels):
        return mine.get(several[1]) in [value.strip() for value in several[2].split(",")]
    wanted = dict(pair.split("=", 1) for pair in labels.split(",") if "=" in pair)
    return all(mine.get(label) == value for label, value in wanted.items()) and all(
        label in mine for label in labels.split(",") if "=" not in label
    )


async def _nothing() -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _lines(data: bytes) -> AsyncIterator[bytes]:
    for number, line in enumerate(data.splitlines()):
        yield line
        if number % 1000 == 0:
            await asyncio.sleep(0)
