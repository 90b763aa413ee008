"""Fetches a gzipped file from the address that the object store has signed."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from foretop_core.errors import BadInput, ForetopError

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

Progress = Callable[[int, int], None]
"""Bytes that have come, and how many there are, 0 where that is not told."""
CONNECT_LIMIT = 10.0
MOST_BYTES = 512 * 1024 * 1024
_INSIDE = (".svc", ".cluster.local")


class DownloadFailed(ForetopError):
    """The object store did not give the file."""


@dataclass(frozen=True, slots=True)
class TlsTrust:
    """How far the object store is trusted: an authority's PEM file besides the system's, or blindly."""

    authority: str = ""
    blindly: bool = False

    def context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context()
            if self.authority:
                context.load_verify_locations(self.authority)
        except (OSError, ssl.SSLError) as problem:
            raise BadInput(f"{self.authority} cannot be used as --cacert", str(problem)) from None
        if self.blindly:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


async def fetch(url: str, trust: TlsTrust, progress: Progress, most: int = MOST_BYTES) -> bytes:
    """The unpacked file; what is in the address beyond its host is a secret and is never told."""
    import aiohttp

    from foretop_core.kube.connection.aborting_connector import AbortingConnector

    host = urlsplit(url).netloc.rpartition("@")[2]
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_LIMIT, sock_read=60)
    pool = AbortingConnector(ssl=trust.context())
    try:
        async with (
            aiohttp.ClientSession(connector=pool, timeout=timeout, trust_env=True, auto_decompress=False) as session,
            session.get(_exactly(url)) as answer,
        ):
            if answer.status >= 400:
                raise DownloadFailed(f"The storage at {host} answered {answer.status}", answer.reason or "")
            return await _unpacked(answer, progress, most)
    except aiohttp.ClientConnectorCertificateError:
        raise DownloadFailed(f"The storage at {host} is not trusted", "its certificate", "give --cacert FILE") from None
    except (aiohttp.ClientError, OSError) as problem:
        raise _unreachable(host, problem) from None


def _exactly(url: str) -> URL:
    """A signature holds for the address as it was written."""
    from yarl import URL

    return URL(url, encoded=True)


async def _unpacked(answer: aiohttp.ClientResponse, progress: Progress, most: int) -> bytes:
    total = answer.content_length or 0
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    text = bytearray()
    done = 0
    try:
        async for chunk in answer.content.iter_any():
            done += len(chunk)
            text += unpacker.decompress(chunk, most - len(text) + 1)
            if len(text) > most:
                raise DownloadFailed(
                    "The file is too long", f"more than {most // 2**20} MiB", "use velero's own command"
                )
            progress(done, total)
    except zlib.error:
        raise DownloadFailed(
            "The file cannot be unpacked", "it is not gzip data", "is there a proxy in between?"
        ) from None
    return bytes(text + unpacker.flush())


def _unreachable(host: str, problem: Exception) -> DownloadFailed:
    name = host.rpartition(":")[0] or host
    if name.endswith(_INSIDE) or ".svc." in name or "." not in name:
        return DownloadFailed(
            f"The storage at {host} cannot be reached from here",
            "that name is known inside the cluster only",
            "set config.publicUrl of the storage location to an address that is reachable from outside",
        )
    why = str(problem) or type(problem).__name__
    hint = "check the network; where the address is only valid inside the cluster, set config.publicUrl"
    return DownloadFailed(f"The storage at {host} cannot be reached", why, hint)
