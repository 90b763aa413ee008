"""The HTTP side of the box: authentication, authorization, routing, and answers with the box's own date."""

from __future__ import annotations

import asyncio
import gzip
import logging
from contextlib import suppress
from email.utils import format_datetime

import msgspec
from aiohttp import web

from foretop_core.clock import Clock
from foretop_demo import discovery
from foretop_demo.access import Access, User, access_review, rules_review
from foretop_demo.handlers import Answer, Call, Handlers, read_object
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json, Kind
from foretop_demo.negotiation import choose, event_frame
from foretop_demo.pod_logs import pod_log
from foretop_demo.requests import Address, Target, find_target, parse_path, request_attributes, selected
from foretop_demo.status import (
    ApiError,
    bad_request,
    method_not_allowed,
    method_not_supported,
    no_such_resource,
    not_found,
)
from foretop_demo.watch import Watch, watch_options

_LOG = logging.getLogger(__name__)
_TEXT = "text/plain; charset=utf-8"
TOKEN_PREFIX = "/token/"
_COMPRESS_FROM = 128 * 1024
_HEALTH = ("/healthz", "/livez", "/readyz")
_REVIEW_KINDS = {
    "selfsubjectaccessreviews": Kind(
        "authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "", custom=False
    ),
    "selfsubjectrulesreviews": Kind(
        "authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "", custom=False
    ),
    "selfsubjectreviews": Kind(
        "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", "", custom=False
    ),
}


class ApiServer:
    """Serves a storage over HTTP by the rules of an access table."""

    def __init__(self, storage: InProcessApi, access: Access, clock: Clock) -> None:
        self._storage = storage
        self._access = access
        self._clock = clock
        self._handlers = Handlers(storage)
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End every watch, so that no connection outlives the server."""
        self._closing.set()
        self._storage.object_store.wake()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._route(request)
        except ApiError as error:
            return await self._refuse(request, error)
        except web.HTTPRequestEntityTooLarge:
            limit = "Request entity too large: limit is 1048576"
            return await self._refuse(request, ApiError(413, "RequestEntityTooLarge", limit))
        except ConnectionError:
            # The client has gone: nobody reads an answer, and there is nothing to log.
            return web.Response(status=400)
        except Exception:
            _LOG.exception("request failed: %s %s", request.method, request.path)
            return await self._refuse(request, ApiError(500, "InternalError", "Internal error occurred: see the log"))

    async def _refuse(self, request: web.BaseRequest, error: ApiError) -> web.StreamResponse:
        return await self._send(request, error.code, msgspec.json.encode(error.status()), error.headers)

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        path, authorization = split_token(request.path, request.headers.get("Authorization", ""))
        user = self._access.authenticate(authorization)
        address = parse_path(path)
        if address is None or not address.plural:
            return await self._about_itself(request, user, path)
        review = _REVIEW_KINDS.get(address.plural)
        if review is not None and review.group == address.group:
            return await self._review(request, user, review)
        return await self._resource(request, user, address)

    async def _about_itself(self, request: web.BaseRequest, user: User, path: str) -> web.StreamResponse:
        self._access.check_path(user, path, request.method.lower())
        if path.rstrip("/").startswith(_HEALTH):
            return await self._send(request, 200, b"ok", kind=_TEXT)
        found = discovery.document(self._storage.catalog, path)
        if found is None:
            return await self._no_such_page(request)
        if request.method != "GET":
            raise method_not_allowed()
        return await self._send(request, 200, msgspec.json.encode(found))

    async def _review(self, request: web.BaseRequest, user: User, kind: Kind) -> web.StreamResponse:
        wanted = request_attributes(request.method, Address(kind.group, kind.version, "", kind.plural, "", ""), {})
        if wanted.verb != "create":
            raise method_not_allowed()
        self._access.check(user, wanted, kind)
        body = read_object(await request.read(), _content_type(request), kind)
        answer: Json = {
            "kind": kind.kind,
            "apiVersion": kind.api_version,
            "metadata": body.get("metadata") or {},
        }
        if kind.kind == "SelfSubjectReview":
            answer["status"] = {"userInfo": {"username": user.name, "groups": [*user.groups, "system:authenticated"]}}
        else:
            judge = access_review if kind.kind == "SelfSubjectAccessReview" else rules_review
            answer |= {"spec": body.get("spec") or {}, "status": judge(user, body)}
        return await self._send(request, 201, msgspec.json.encode(answer))

    async def _resource(self, request: web.BaseRequest, user: User, address: Address) -> web.StreamResponse:
        target = find_target(self._storage.catalog, address)
        wanted = request_attributes(request.method, address, request.query)
        if target is None:
            unknown = Kind(address.group, address.version, "", address.plural, "")
            self._access.check(user, wanted, unknown)
            if self._has_built_in(address):
                raise no_such_resource()
            return await self._no_such_page(request)
        self._access.check(user, wanted, target.kind)
        if target.kind.kind == "Pod" and address.subresource == "log" and wanted.verb == "get":
            return await self._pod_log(request, target)
        self._check_subresource(target, wanted.verb)
        if target.kind.custom and target.kind.namespaced and wanted.verb == "create" and not address.namespace:
            return await self._no_such_page(request)
        _check_method(target, wanted.verb)
        if wanted.verb == "watch":
            return await self._watch(request, target)
        answer = self._handlers.handle(wanted.verb, await self._call(request, target))
        return await self._answer(request, answer)

    async def _pod_log(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        pod = self._storage.get(target.kind, *target.key)
        query = request.query
        previous, tail = query.get("previous") in ("1", "true"), query.get("tailLines", "0")
        if not tail.isdecimal():
            raise bad_request(f'strconv.ParseInt: parsing "{tail}": invalid syntax')
        text = pod_log(self._storage, pod, query.get("container", ""), previous=previous, tail=int(tail))
        return await self._send(request, 200, text.encode(), kind="text/plain")

    async def _no_such_page(self, request: web.BaseRequest) -> web.StreamResponse:
        return await self._send(request, 404, b"404 page not found\n", kind=_TEXT)

    def _has_built_in(self, address: Address) -> bool:
        place = (address.group, address.version)
        return any((kind.group, kind.version) == place and not kind.custom for kind in self._storage.catalog)

    def _check_subresource(self, target: Target, verb: str) -> None:
        subresource, kind = target.address.subresource, target.kind
        if subresource and (subresource != "status" or not kind.status_subresource):
            raise not_found(kind, target.address.name) if kind.custom else no_such_resource()
        if subresource and verb not in ("get", "update", "patch"):
            raise method_not_supported(kind, verb)

    async def _call(self, request: web.BaseRequest, target: Target) -> Call:
        return Call(
            target,
            request.query,
            await request.read(),
            _content_type(request),
            request.headers.get("User-Agent", ""),
            choose(request.headers.get("Accept", ""), request.query.get("includeObject", "")),
        )

    async def _answer(self, request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        response = await self._send(request, answer.code, answer.raw)
        for text in answer.warnings:
            response.headers.add("Warning", f"299 - {_quoted(text)}")
        return response

    async def _watch(self, request: web.BaseRequest, target: Target) -> web.StreamResponse:
        form = choose(request.headers.get("Accept", ""), request.query.get("includeObject", ""))
        selection, options = selected(target, request.query), watch_options(request.query)
        watch = Watch(self._storage, target.kind, selection, options)
        response = web.StreamResponse(headers=self._headers("application/json"))
        response.enable_chunked_encoding()
        await response.prepare(request)
        first = True
        # A client that has gone ends its watch.
        with suppress(ConnectionError):
            async for events in watch.batches(self._closing):
                frames = []
                for event in events:
                    frames.append(event_frame(form, target.kind, event, self._clock.now(), first))
                    first = False
                if frames:
                    await response.write(b"".join(frames))
            await response.write_eof()
        return response

    async def _send(
        self,
        request: web.BaseRequest,
        code: int,
        body: bytes,
        headers: dict[str, str] | None = None,
        kind: str = "application/json",
    ) -> web.StreamResponse:
        shown = self._headers(kind) | (headers or {})
        if len(body) >= _COMPRESS_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
            body = await asyncio.to_thread(gzip.compress, body, 1)
            shown |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return web.Response(status=code, body=body, headers=shown)

    def _headers(self, kind: str) -> dict[str, str]:
        date = format_datetime(self._clock.now(), usegmt=True)
        return {"Content-Type": kind, "Date": date, "Cache-Control": "no-cache, private"}


def _check_method(target: Target, verb: str) -> None:
    """Custom kinds treat a POST to a name as a create and reject a PUT without one; built-in kinds refuse both."""
    kind, address = target.kind, target.address
    nameless = verb in ("update", "patch") and not address.name
    if kind.custom and not verb:
        raise method_not_supported(kind, verb)
    if kind.custom and nameless:
        raise bad_request("name must be provided")
    homeless = kind.namespaced and not address.namespace
    misplaced = verb == "create" and (homeless or bool(address.name))
    if not kind.custom and (not verb or nameless or misplaced):
        raise method_not_allowed()


def split_token(path: str, authorization: str) -> tuple[str, str]:
    """The path and the credentials, which may be the first part of the path.

    kubectl sends no token without TLS, but it keeps the path of the server's address.
    """
    if not path.startswith(TOKEN_PREFIX):
        return path, authorization
    token, _, rest = path.removeprefix(TOKEN_PREFIX).partition("/")
    return f"/{rest}", authorization or f"Bearer {token}"


def _content_type(request: web.BaseRequest) -> str:
    return request.content_type if "Content-Type" in request.headers else ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
