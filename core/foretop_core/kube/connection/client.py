"""The raw client of one context: requests in, bytes out, and no write without the permit of the guard."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import msgspec

from foretop_core.background import in_thread, is_cancelled
from foretop_core.clock import Clock, ClockSkew
from foretop_core.config.protection import ClusterIdentity, Protection, cluster_identity
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.aiohttp_pool import ConnectionBudget, explain, import_in_background, make_pool
from foretop_core.kube.connection.auth import Authenticator, Credentials
from foretop_core.kube.connection.cluster_protection import ClusterProtection
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.connection_errors import (
    ApiError,
    BrokenOff,
    Unauthenticated,
    Unreachable,
    WatchIdleTimeout,
    WriteRefused,
    api_error,
    redirected,
    same_server,
    too_long,
)
from foretop_core.kube.connection.secrets_filter import without_secrets
from foretop_core.logs import logger

if TYPE_CHECKING:
    import aiohttp

# Deferred imports: aiohttp takes 0.2 s to load; a thread loads it while the first frame is painted.

_log = logger(__name__)
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
REVIEWS = frozenset(
    {
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    }
)
"""Questions that are asked with a POST: the server keeps nothing of them."""
CONNECT_LIMIT = 15.0
ANSWER_LIMIT = 60.0
MOST_BYTES = 64 * 2**20
"""An answer; a page of a list has at most 500 objects."""
LONGEST_LINE = 4 * 2**20
"""A line of a watch; etcd takes objects of 1.5 MiB."""
_LINES_AT_A_TIME = 100
_WHOLE_WITHIN = 5
"""Times the silence that is borne: an answer that drips must come to an end as well."""
_MOST_REDIRECTS = 5
_KUBE_SYSTEM = "/api/v1/namespaces/kube-system"
_UID_LIMIT = 10.0
_UID = re.compile(r"[0-9A-Za-z-]{1,64}")
_FILE_LIMIT = 5.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer that is not an error, its body as it came."""

    status: int
    body: bytes = field(repr=False)

    def read(self, shape: type[T]) -> T:
        """The body as this shape; anything else means that something other than an API server answered."""
        try:
            return msgspec.json.decode(self.body, type=shape)
        except (ValueError, RecursionError) as problem:
            raise ApiError(
                self.status, "", f"the answer cannot be read: {problem}", hint="is there a proxy in between?"
            ) from None


class _NamespaceMetadata(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Namespace(msgspec.Struct):
    kind: str = ""
    metadata: _NamespaceMetadata = msgspec.field(default_factory=_NamespaceMetadata)


@dataclass(frozen=True, slots=True)
class WritePermit:
    """The guard's leave for exactly the writes of one plan, sent by one client; only the guard makes one."""

    client: ApiClient
    writes: frozenset[tuple[str, str]]
    """Method and path of each."""
    confirmed: frozenset[str]
    """The names that a person has typed or given."""
    dry_run: bool = False
    """The server is asked to check the writes and make none."""


class _Request(msgspec.Struct, frozen=True):
    """One request as it is sent, again where the credentials were renewed."""

    method: str
    path: str
    params: Mapping[str, str] | None = None
    body: object = None
    content_type: str = JSON
    permit: WritePermit | None = None
    """A write has one."""


class ApiClient:
    """Speaks to the API server of one context; made without a connection, which the first request opens."""

    def __init__(
        self,
        auth: Authenticator,
        clock: Clock,
        rules: ClusterProtection | None = None,
        budget: ConnectionBudget | None = None,
        ticks: Callable[[], float] | None = None,
    ) -> None:
        self.budget = budget or ConnectionBudget()
        self._requests = asyncio.Semaphore(self.budget.requests)
        self._streams = asyncio.Semaphore(self.budget.watches + self.budget.other_streams)
        self._auth = auth
        self._clock = clock
        self.rules = rules or ClusterProtection()
        self._placed: tuple[ContextConfig, ClusterIdentity] | None = None
        self._told: tuple[tuple[str, ...], str] | None = None
        self._time = ClockSkew(ticks)
        self._pool: aiohttp.ClientSession | None = None
        self._making = asyncio.Lock()
        self._made_for: tuple[ContextConfig, bytes, bytes] | None = None
        self._heard = time.monotonic()

    @property
    def config(self) -> ContextConfig:
        return self._auth.config

    @property
    def origin(self) -> str:
        """The archive that answers in the place of a cluster, with its date; "" for a cluster."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that a person should know of it."""
        return ()

    kept_file: Callable[[Any, Any], Awaitable[bytearray]] | None = None
    """Fetches a file of a run from there; None where Velero is to be asked for it."""

    def keeps(self, _run: Any, *, is_log: bool) -> bool:
        """False where it is known that neither log nor results of a run can be had from there."""
        return True

    moves_in_time = False
    """True for a recording, which can be taken to any moment of it."""
    is_moving = False
    """True while it is on its way there: what is seen then is of no moment that anybody asked for."""
    leapt: Callable[[], Awaitable[None]] | None = None
    """Called when it is somewhere else all at once: what was seen to happen until then says nothing any more."""

    @property
    def identity(self) -> ClusterIdentity:
        """The cluster as far as it is known: a kubeconfig that has changed may lead to another one."""
        config = self.config
        if self._placed is None or self._placed[0] is not config:
            trusted = self.rules.trusts_authorities and not config.insecure
            self._placed = config, cluster_identity(config.server, config.ca if trusted else "")
        uid = self._told[1] if self._told is not None and self._told[0] == _way_to(config) else ""
        return msgspec.structs.replace(self._placed[1], uid=uid)

    @property
    def protection(self) -> Protection:
        """As it is to the best knowledge now; it may change while foretop runs."""
        return self.rules.of(self.config.name, self.identity)

    @property
    def read_only(self) -> bool:
        return bool(self.protection.read_only)

    async def judge_afresh(self) -> Protection:
        """The protection by the configuration file and by the cluster as they are at this moment."""
        try:
            config = await in_thread(self.rules.changed, _FILE_LIMIT)
        except TimeoutError:
            raise WriteRefused(
                "Nothing was sent", "the configuration file cannot be looked at", "is its disk there?"
            ) from None
        if config is not None:
            self.rules.use(config)
        if self.rules.protects_clusters:
            await self.learn_uid()
        return self.protection

    async def learn_uid(self) -> str:
        """Asks for the uid of kube-system, by which a cluster is told whatever its address; "" where it is not told."""
        config, uid = self.config, ""
        with suppress(ForetopError):
            namespace = (await self.request("GET", _KUBE_SYSTEM, limit=_UID_LIMIT)).read(_Namespace)
            # Something in between may answer every path with an object of its own.
            if (namespace.kind, namespace.metadata.name) == ("Namespace", "kube-system"):
                uid = namespace.metadata.uid if _UID.fullmatch(namespace.metadata.uid) else ""
        self._told = _way_to(config), uid
        self.rules.learn(self.identity)
        return uid

    @property
    def skew(self) -> timedelta | None:
        """How far the server's clock is ahead of ours; nothing before the first answer."""
        return self._time.at(self._clock.now())

    @property
    def notice(self) -> str:
        """One line on what a person should know of the sign-in, though it works; mostly empty."""
        return self._auth.notice

    async def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = JSON,
        limit: float = ANSWER_LIMIT,
    ) -> Response:
        """A question; an answer of 400 or above is raised as ApiError, none at all as Unreachable."""
        if method.upper() != "GET" and not (method.upper() == "POST" and path in REVIEWS):
            raise WriteRefused(f"{method} {path} was not sent", "it has no permit", "this is a fault in foretop")
        return await self._whole(_Request(method.upper(), path, params, body, content_type), limit)

    @property
    def silent_for(self) -> float:
        """Seconds since the server sent anything at all."""
        return time.monotonic() - self._heard

    async def knock(self, limit: float) -> None:
        """Asks for an answer of any kind; raises Unreachable where none comes within `limit` seconds.

        To sign in may take longer, and says nothing of the server.
        """
        credentials = await self._auth.credentials()
        try:
            async with asyncio.timeout(limit):
                response = await self._send(credentials, _Request("GET", "/version"), limit)
        except TimeoutError:
            raise Unreachable(
                f"{self.config.address} cannot be reached", f"no answer for {limit:.0f} seconds"
            ) from None
        response.close()

    async def write(
        self,
        permit: WritePermit,
        method: str,
        path: str,
        params: Mapping[str, str],
        body: object,
        content_type: str = JSON,
    ) -> Response:
        """One write of a plan that the guard has permitted; refused where that does not hold any more."""
        return await self._whole(_Request(method, path, params, body, content_type, permit), ANSWER_LIMIT)

    def _check_permit(self, request: _Request, permit: WritePermit) -> None:
        """Before every sending: the configuration and the kubeconfig may have changed since it was given."""
        protection = self.protection
        why = ""
        if permit.client is not self or (request.method, request.path) not in permit.writes:
            why = "it is not in the plan that was permitted"
        elif permit.dry_run and (request.params or {}).get("dryRun") != "All":
            why = "only a dry run was permitted"
        elif protection.read_only:
            why = f"read-only is on: {protection.read_only}"
        elif protection.name and protection.name not in permit.confirmed and not permit.dry_run:
            why = f"{protection.production}, and its name was not given"
        if why:
            raise WriteRefused(f"{request.method} {request.path} was not sent", why)

    async def _whole(self, request: _Request, limit: float) -> Response:
        silence = self.config.request_timeout or limit
        began = False
        async with self._requests:
            try:
                async with asyncio.timeout(silence * _WHOLE_WITHIN), self._open(request, silence) as response:
                    began = True
                    content = await self._read(response)
                    return Response(response.status, content)
            except (TimeoutError, Unreachable) as problem:
                explained = problem if isinstance(problem, Unreachable) else self._explained(problem)
                raise BrokenOff(explained.what, explained.why, explained.hint) if began else explained from None

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str], idle: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of an answer as they come; silence for longer than `idle` seconds ends it."""
        async with self._streams, self._open(_Request("GET", path, params), idle) as response:
            yield self._lines(response)

    @asynccontextmanager
    async def chunks(self, path: str, params: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of an answer as they come, for one that may be too long to be held."""
        silence = self.config.request_timeout or ANSWER_LIMIT
        async with self._requests, self._open(_Request("GET", path, params), silence) as response:
            yield self._chunks(response)

    async def close(self) -> None:
        pool, self._pool, self._made_for = self._pool, None, None
        if pool is not None:
            await pool.close()

    @asynccontextmanager
    async def _open(self, request: _Request, silence: float) -> AsyncIterator[aiohttp.ClientResponse]:
        used = await self._auth.credentials()
        response = await self._send(used, request, silence)
        try:
            if response.status == 401:
                await self._auth.rejected(used)
                response.release()
                used = await self._auth.credentials()
                response = await self._send(used, request, silence)
            if response.status == 401:
                raise Unauthenticated(
                    f"The API server does not accept the credentials of {self.config.name}",
                    hint="sign in again; foretop reloads the kubeconfig automatically",
                )
            if response.status >= 400:
                raise await self._refusal(response, used)
            if response.status >= 300:
                raise redirected(response)
            yield response
        finally:
            # What was read to its end is back in the pool by now; what is unread of a watch must not get there.
            response.close()

    async def _send(self, credentials: Credentials, request: _Request, silence: float) -> aiohttp.ClientResponse:
        await import_in_background(self.config)
        import aiohttp
        from yarl import URL

        pool = await self._pool_for(credentials)
        # Here, because the kubeconfig may be read again as long as anything is waited for.
        if request.permit is not None:
            self._check_permit(request, request.permit)
        query = f"?{urlencode(request.params)}" if request.params else ""
        target = f"{self.config.server}{request.path}{query}"
        connecting = min(CONNECT_LIMIT, self.config.request_timeout or CONNECT_LIMIT)
        for _ in range(_MOST_REDIRECTS):
            sent = self._clock.now()
            try:
                address = URL(target, encoded=True)
                # Neither of its own limits ends a proxy that is silent, or a head that drips.
                async with asyncio.timeout(connecting + silence):
                    response = await pool.request(
                        request.method,
                        address,
                        headers=self._headers(credentials, request.content_type),
                        data=None if request.body is None else msgspec.json.encode(request.body),
                        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connecting, sock_read=silence),
                        server_hostname=self.config.tls_server_name or None,
                        allow_redirects=False,
                    )
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                closed = aiohttp.ClientConnectionError("its connections were closed meanwhile")
                raise self._explained(closed, credentials) from None
            except (aiohttp.ClientError, OSError, ValueError) as problem:
                raise self._explained(problem, credentials) from None
            _log.debug("%s %s: %s", request.method, request.path, response.status)
            self._heard = time.monotonic()
            self._time.learn(response.headers.get("Date", ""), sent, self._clock.now())
            elsewhere = same_server(response, address) if request.method == "GET" else ""
            if not elsewhere:
                break
            response.release()
            target = elsewhere
        return response

    async def _refusal(self, response: aiohttp.ClientResponse, used: Credentials) -> ApiError:
        content = await self._read(response)
        error = api_error(response.status, content, response.reason, response.headers.get("Retry-After"))
        reason, message = (
            without_secrets(text, self.config, used.authorization) for text in (error.reason, error.message)
        )
        return ApiError(response.status, reason, message, error.retry_after, is_status=error.is_status)

    def _explained(self, problem: Exception, used: Credentials | None = None) -> Unreachable:
        """In one line, without the address beyond its host: libraries quote it."""
        unreachable = explain(self.config.address, problem)
        authorization = used.authorization if used else ""
        return type(unreachable)(
            unreachable.what, without_secrets(unreachable.why, self.config, authorization), unreachable.hint
        )

    async def _pool_for(self, credentials: Credentials) -> aiohttp.ClientSession:
        """The pool that fits; a renewed certificate or a changed kubeconfig ends the old one's watches."""
        identity = (self.config, credentials.certificate, credentials.key)
        if self._pool is not None and self._made_for == identity:
            return self._pool
        async with self._making:
            if self._pool is not None and self._made_for == identity:
                return self._pool
            pool = await make_pool(self.config, credentials)
            old, self._pool, self._made_for = self._pool, pool, identity
        if old is not None:
            await old.close()
        return pool

    def _headers(self, credentials: Credentials, content_type: str) -> Mapping[str, str]:
        from multidict import CIMultiDict

        headers = CIMultiDict({"Accept": JSON, "User-Agent": "foretop", "Content-Type": content_type})
        if credentials.authorization:
            headers["Authorization"] = credentials.authorization
        acting = self.config.impersonation
        if acting.user:
            headers["Impersonate-User"] = acting.user
        if acting.uid:
            headers["Impersonate-Uid"] = acting.uid
        for group in acting.groups:
            headers.add("Impersonate-Group", group)
        for key, value in acting.extra:
            headers.add(f"Impersonate-Extra-{key}", value)
        return headers

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        content = bytearray()
        async for chunk in self._chunks(response):
            content += chunk
            if len(content) > MOST_BYTES:
                raise too_long("the answer", MOST_BYTES)
        return bytes(content)

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        import aiohttp

        try:
            async for chunk in response.content.iter_any():
                self._heard = time.monotonic()
                yield chunk
                await _let_others_go_on()
        except (aiohttp.ClientError, OSError) as problem:
            raise self._explained(problem) from None

    async def _lines(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        import aiohttp

        rest = bytearray()
        try:
            async for chunk in response.content.iter_any():
                self._heard = time.monotonic()
                rest += chunk
                if b"\n" in chunk:
                    lines = bytes(rest).split(b"\n")
                    rest = bytearray(lines.pop())
                    for number, line in enumerate(filter(bytes.strip, lines), start=1):
                        yield line
                        if number % _LINES_AT_A_TIME == 0:
                            await _let_others_go_on()
                if len(rest) > LONGEST_LINE:
                    raise too_long("a line of the answer", LONGEST_LINE)
                await _let_others_go_on()
        except aiohttp.SocketTimeoutError:
            raise WatchIdleTimeout(f"{self.config.address} sent no data for too long") from None
        except (aiohttp.ClientError, OSError) as problem:
            raise self._explained(problem) from None


def _way_to(config: ContextConfig) -> tuple[str, ...]:
    """All of a kubeconfig that decides which cluster is reached."""
    return config.server, config.ca, config.proxy, config.tls_server_name


async def _let_others_go_on() -> None:
    """Packed data is unpacked without a wait in between: keys and other watches would wait for all of one answer."""
    await asyncio.sleep(0)
