"""Fetches a gzipped file from the address that the object store has signed."""

from __future__ import annotations

import asyncio
import os
import ssl
import zlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import msgspec

from foretop_core.actions.planners.downloads import MOST_BYTES
from foretop_core.background import in_thread
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.proxy import is_socks, proxy_for
from foretop_core.rules import humanize

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

# Deferred imports: aiohttp and yarl take 0.2 s to load, and the first paint does not wait for them.

Progress = Callable[[int, int], None]
"""Bytes that have come, and how many there are, 0 where that is not told."""
CONNECT_LIMIT = 10.0
ANSWER_LIMIT = 60.0
FILE_LIMIT = 600.0
"""Seconds for a whole file: so long Velero signs an address."""
_AT_A_TIME = 2**20
_ANY_HEADER = zlib.MAX_WBITS | 32
_OK = 200
_LONGEST_HOST = 253
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_INSIDE = (".svc", ".cluster.local")


class DownloadFailed(ForetopError):
    """The object store did not give the file."""


class TlsTrust(msgspec.Struct, frozen=True):
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


async def fetch(
    url: str,
    trust: TlsTrust,
    progress: Progress,
    most: int = MOST_BYTES,
    environ: Mapping[str, str] = os.environ,
) -> bytearray:
    """The unpacked file; what is in the address beyond its host is a secret and is never told.

    It comes as it was put together: a copy would take as much room again.
    """
    for _ in range(_MOST_REDIRECTS):
        answer = await _fetch_once(url, trust, progress, most, environ)
        if isinstance(answer, bytearray):
            return answer
        url = _followed(url, answer)
    raise DownloadFailed(f"The storage at {_host(url)} redirects again and again")


async def _fetch_once(
    url: str, trust: TlsTrust, progress: Progress, most: int, environ: Mapping[str, str]
) -> bytearray | str:
    """The file, or the address that the object store redirects to."""
    import aiohttp

    host = _host(url)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_LIMIT, sock_read=ANSWER_LIMIT)
    proxy = proxy_for(url, "", environ)
    try:
        async with (
            # Without trust_env: it would send a password of the netrc along.
            aiohttp.ClientSession(
                connector=_connector(await in_thread(trust.context), proxy),
                proxy=None if is_socks(proxy) else proxy or None,
                timeout=timeout,
                trust_env=False,
                auto_decompress=False,
            ) as session,
            await _answered(session, url) as answer,
        ):
            if answer.status in _REDIRECTS:
                return answer.headers.get("Location", "")
            if answer.status != _OK:
                raise DownloadFailed(f"The storage at {host} answered {answer.status}", _phrase(answer.status))
            return await _unpacked_in_time(answer, host, progress, most)
    except aiohttp.ClientConnectorCertificateError:
        raise DownloadFailed(f"The storage at {host} is not trusted", "its certificate", "give --cacert FILE") from None
    except (aiohttp.ClientError, OSError, ValueError) as problem:
        raise _unreachable(host, problem) from None


async def _answered(session: aiohttp.ClientSession, url: str) -> aiohttp.ClientResponse:
    """The head of the answer; none of the session's own limits ends a proxy that is silent, or a head that drips."""
    async with asyncio.timeout(CONNECT_LIMIT + ANSWER_LIMIT):
        return await session.get(_exactly(url), allow_redirects=False)


def _host(url: str) -> str:
    """Whom to name in messages; an address that is none cannot be asked."""
    try:
        parts = urlsplit(url)
        named = 0 < len(parts.hostname or "") <= _LONGEST_HOST
        is_valid = parts.scheme in ("http", "https") and named and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise DownloadFailed("The storage's address is not valid", "Velero signed one that is not http or https")
    return parts.netloc.rpartition("@")[2]


def _phrase(status: int) -> str:
    """The standard's words for a status: those of the answer may repeat the address."""
    return responses.get(status, "")


def _followed(url: str, location: str) -> str:
    """Another host may have the file, since nothing but the address goes there; without TLS nobody may."""
    try:
        target = urljoin(url, location)
        downgraded = urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https"
    except ValueError:
        return ""
    if downgraded:
        raise DownloadFailed(f"The storage at {_host(url)} redirects from https to http", "that is not followed")
    return target


def _connector(trust: ssl.SSLContext | bool, proxy: str) -> aiohttp.TCPConnector:
    from foretop_core.kube.connection.aborting_connector import AbortingConnector

    if not is_socks(proxy):
        return AbortingConnector(ssl=trust)
    # Loaded only for those who need it.
    from foretop_core.kube.connection.socks_connector import SocksConnector

    return SocksConnector(proxy, ssl=trust)


def _exactly(url: str) -> URL:
    """A signature holds for the address as it was written."""
    from yarl import URL

    return URL(url, encoded=True)


async def _unpacked_in_time(answer: aiohttp.ClientResponse, host: str, progress: Progress, most: int) -> bytearray:
    """The whole file within its limit: each byte restarts the wait for the next one, which may go on for ever."""
    try:
        async with asyncio.timeout(FILE_LIMIT) as limit:
            return await _unpacked(answer, progress, most)
    except TimeoutError:
        if not limit.expired():
            raise
        why = f"the file did not come within {humanize.duration(timedelta(seconds=FILE_LIMIT))}"
        raise DownloadFailed(f"The storage at {host} is too slow", why, "try again") from None


async def _unpacked(answer: aiohttp.ClientResponse, progress: Progress, most: int) -> bytearray:
    total = answer.content_length or 0
    unpacker = _Gunzip(most)
    done = 0
    try:
        async for chunk in answer.content.iter_any():
            done += len(chunk)
            # A chunk can be a thousand times as long when it is unpacked.
            await asyncio.to_thread(unpacker.feed, chunk)
            progress(done, total)
    except zlib.error:
        raise DownloadFailed(
            "The file cannot be unpacked", "it is not gzip data", "is there a proxy in between?"
        ) from None
    if not unpacker.is_whole:
        raise DownloadFailed("The file is not whole", "it ends in the middle", "try again")
    return unpacker.text


class _Gunzip:
    """Unpacks what comes, one gzip member after the other."""

    def __init__(self, most: int) -> None:
        self.text = bytearray()
        self._most = most
        self._member = zlib.decompressobj(_ANY_HEADER)

    @property
    def is_whole(self) -> bool:
        """Nothing at all is not a file: also an empty one has a header."""
        return self._member.eof

    def feed(self, chunk: bytes) -> None:
        while chunk:
            if self._member.eof:
                # Zeros after the last member are padding.
                chunk = chunk.lstrip(b"\0")
                if not chunk:
                    return
                self._member = zlib.decompressobj(_ANY_HEADER)
            self._unpack(chunk)
            chunk = self._member.unused_data

    def _unpack(self, chunk: bytes) -> None:
        """A part at a time, until the member has no more to give: there may be some when all of the chunk was taken."""
        while True:
            part = self._member.decompress(chunk, _AT_A_TIME)
            self.text += part
            if len(self.text) > self._most:
                raise DownloadFailed(
                    "The file is too long", f"more than {self._most // 2**20} MiB", "use velero's own command"
                )
            chunk = self._member.unconsumed_tail
            if self._member.eof or len(part) < _AT_A_TIME:
                return


def _unreachable(host: str, problem: Exception) -> DownloadFailed:
    name = host.rpartition(":")[0] or host
    if name.endswith(_INSIDE) or ".svc." in name or "." not in name:
        return DownloadFailed(
            f"The storage at {host} cannot be reached from here",
            "that name is known inside the cluster only",
            "set config.publicUrl of the storage location to an address that is reachable from outside",
        )
    # Libraries quote the address, and its query is a key to the file.
    why = _system_reason(problem) if isinstance(problem, OSError) else type(problem).__name__
    hint = "check the network; where the address is only valid inside the cluster, set config.publicUrl"
    return DownloadFailed(f"The storage at {host} cannot be reached", why, hint)


def _system_reason(problem: OSError) -> str:
    """The system's own words: those of asyncio for a refused connection are `Connect call failed`, with an address."""
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    number = problem.errno or 0
    return os.strerror(number).lower() if number > 0 else problem.strerror or type(problem).__name__
