"""Download requests: the URL of a file of a backup or restore. They are created when needed and never watched."""

from __future__ import annotations

import msgspec

from foretop_core.models.wire import Condition, Resource, Time, Wire


class DownloadStatus(Wire, frozen=True):
    phase: str = ""
    download_url: str = msgspec.field(default="", name="downloadURL")
    expiration: Time | None = None


class DownloadRequest(Resource, frozen=True):
    status: DownloadStatus = DownloadStatus()


class VeleroDownload(Wire, frozen=True):
    status: DownloadStatus = DownloadStatus()


class NonAdminDownloadStatus(Wire, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    velero: VeleroDownload = VeleroDownload()


class NonAdminDownloadRequest(Resource, frozen=True):
    status: NonAdminDownloadStatus = NonAdminDownloadStatus()
