"""Downloads of logs and results: DownloadRequests, and the small file server that their URLs point at."""

from __future__ import annotations

import gzip
import secrets
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Self

from aiohttp import web

from foretop_core.models import Backup, BackupStorageLocation, Restore
from foretop_core.models.kinds import BACKUP, RESTORE, STORAGE
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.phases import READABLE
from foretop_demo.change_log import Change, ChangeType, Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import ProcessGroup
from foretop_demo.controllers.restored_objects import resource_list_text, restored_list_text
from foretop_demo.controllers.runfiles import Run, log_text, results_text
from foretop_demo.controllers.volume_infos import volume_info_text
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

_KIND = "DownloadRequest"
_HOP = timedelta(milliseconds=20)
_LIVES = timedelta(minutes=10)
_FILES: Mapping[str, Callable[[Run], str]] = {
    "BackupLog": log_text,
    "BackupResults": results_text,
    "RestoreLog": log_text,
    "RestoreResults": results_text,
}


class FileServer:
    """Texts behind unguessable URLs, like the signed URLs of an object store."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}
        self._runner: web.ServerRunner | None = None

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._serve, access_log=None), shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def put(self, text: str) -> str:
        """Store a text and return the URL where it can be fetched, gzipped."""
        name = secrets.token_urlsafe(18)
        self._texts[name] = gzip.compress(text.encode(), mtime=0)
        port = self._runner.addresses[0][1] if self._runner else 0
        return f"http://127.0.0.1:{port}/backups/{name}.gz"

    def drop(self, url: str) -> None:
        self._texts.pop(url.rpartition("/")[2].removesuffix(".gz"), None)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        body = self._texts.get(request.path.rpartition("/")[2].removesuffix(".gz"))
        if body is None:
            return web.Response(status=404, text="NoSuchKey")
        return web.Response(body=body, content_type="application/x-gzip")


class DownloadController:
    """Answers a request with a URL that is valid for ten minutes, then removes the request."""

    def __init__(
        self,
        group: ProcessGroup,
        client: ControllerClient,
        namespace: str,
        file_server: FileServer,
        release: Release,
    ) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._file_server = file_server
        self._release = release
        group.listen_raw(_KIND, self._on_change)

    def start(self) -> None:
        served = self._group.engine.storage.kind(_KIND)
        for body in self._group.engine.storage.list(served, self._namespace):
            self._group.enqueue(self._answer, (self._namespace, body["metadata"]["name"]), _HOP)

    def _on_change(self, change: Change) -> None:
        if change.type is ChangeType.ADDED and change.key[0] == self._namespace:
            self._group.enqueue(self._answer, change.key, _HOP)

    def _answer(self, key: Key) -> None:
        """Write the URL; nothing while the storage location is unavailable, as in Velero."""
        body = self._group.engine.storage.find(self._group.engine.storage.kind(_KIND), *key)
        if body is None or body.get("status", {}).get("phase") == "Processed":
            return
        text = self._text(body["spec"]["target"])
        if text is None:
            return
        url = self._file_server.put(text)
        expires = wire_time(self._group.now() + _LIVES)
        status: Json = {"phase": "Processed", "downloadURL": url, "expiration": expires}
        self._client.patch_raw(_KIND, key, {"status": status})
        self._group.after(_LIVES, lambda: self._expire(key, url))

    def _expire(self, key: Key, url: str) -> None:
        self._file_server.drop(url)
        self._client.delete(_KIND, key)

    def _resource_list(self, run: Run) -> str:
        storage = self._group.engine.storage
        return resource_list_text(storage, run) if isinstance(run, Backup) else restored_list_text(storage, run)

    def _volume_info(self, run: Run) -> str:
        return volume_info_text(self._group.engine.storage, run, self._release) if isinstance(run, Backup) else "[]"

    def _text(self, target: Json) -> str | None:
        lists = {
            "BackupResourceList": self._resource_list,
            "RestoreResourceList": self._resource_list,
            "BackupVolumeInfos": self._volume_info,
        }
        make = lists.get(target["kind"]) or _FILES.get(target["kind"])
        key = (self._namespace, target["name"])
        run: Run | None
        run = backup = self._group.cache.get(BACKUP, key, Backup)
        if target["kind"].startswith("Restore"):
            run = restore = self._group.cache.get(RESTORE, key, Restore)
            source = (key[0], restore.spec.backup_name if restore else "")
            backup = self._group.cache.get(BACKUP, source, Backup)
        if make is None or run is None or backup is None or run.phase not in READABLE:
            return None
        where = (self._namespace, backup.spec.storage_location)
        location = self._group.cache.get(STORAGE, where, BackupStorageLocation)
        if location is None or location.phase != "Available":
            return None
        return make(run)
