"""An id token for a refresh token, asked of its provider. Importing this loads the kubernetes package; calls block.

The package's REST client does the speaking (TLS, authorities, proxies). Its own OIDC loader is not used: without an
authority of its own it does not check the provider's certificate, it sends the client's secret twice (which some
providers refuse), it needs a secret where public clients have none, and it goes on with the old token when it fails.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote, quote_plus, urlsplit

import msgspec
import urllib3
from kubernetes.client import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import RESTClientObject

from foretop_core.foreign_text import without_tokens
from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.connection_errors import SIGN_IN, Unauthenticated
from foretop_core.kube.connection.proxy import is_socks

LIMIT = 20.0
"""Seconds for all of it: a provider that drips is not waited for without an end."""
MOST_ANSWER = 2**18
MOST_SAID = 160
_TOO_LONG = f"its answer is longer than {MOST_ANSWER // 1024} KiB"


class _Discovery(msgspec.Struct):
    token_endpoint: str = ""


class _Answer(msgspec.Struct):
    id_token: str = ""
    refresh_token: str = ""
    error: str = ""
    error_description: str = ""


class _Reply(msgspec.Struct, frozen=True):
    status: int
    body: bytes


def refresh(oidc: OidcConfig) -> OidcConfig:
    """The same sign-in with new tokens; what stands in the way is raised as one line without any of them."""
    client = _client(oidc)
    try:
        with _ended_in_time(client):
            endpoint = _token_endpoint(client, oidc)
            answer = _exchange(client, oidc, endpoint)
    except (urllib3.exceptions.HTTPError, ApiException, OSError) as problem:
        raise _cannot(oidc, _reason(oidc, problem), "check idp-issuer-url, its authority and the network") from None
    finally:
        client.close()
    return replace(oidc, id_token=answer.id_token, refresh_token=answer.refresh_token or oidc.refresh_token)


def _client(oidc: OidcConfig) -> RESTClientObject:
    if is_socks(oidc.proxy):
        raise _cannot(oidc, "its provider is behind a SOCKS proxy", "name it in NO_PROXY, or sign in with kubectl")
    return RESTClientObject(
        Configuration(
            ca_cert_data=oidc.ca or None,
            # An empty text, and not nothing: then the package does not look into the environment by rules of its own.
            proxy=oidc.proxy,
            no_proxy="",
            # A redirect would carry the refresh token to a place that nobody has named.
            retries=urllib3.Retry(total=0, redirect=False),
        )
    )


@contextlib.contextmanager
def _ended_in_time(client: RESTClientObject) -> Iterator[None]:
    """Cuts every connection when the time is up; timeouts of the library begin again with each byte."""
    opened: list[urllib3.connection.HTTPSConnection] = []

    class Connection(urllib3.connection.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            opened.append(self)

    class Pool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Connection

    def cut() -> None:
        for connection in opened:
            with contextlib.suppress(OSError):
                if connection.sock is not None:
                    connection.sock.shutdown(socket.SHUT_RDWR)

    client.pool_manager.pool_classes_by_scheme = {"http": urllib3.HTTPConnectionPool, "https": Pool}
    timer = threading.Timer(LIMIT, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _token_endpoint(client: RESTClientObject, oidc: OidcConfig) -> str:
    url = f"{oidc.issuer.rstrip('/')}/.well-known/openid-configuration"
    _require_https(oidc, url, "idp-issuer-url")
    reply = _send(client, "GET", url, {"Accept": "application/json"})
    if reply.status != 200:
        raise _cannot(oidc, f"{_host(url)} answered {reply.status} to discovery", "check idp-issuer-url")
    try:
        endpoint = msgspec.json.decode(reply.body, type=_Discovery).token_endpoint
    except (ValueError, RecursionError):
        endpoint = ""
    if not endpoint:
        raise _cannot(oidc, f"{_host(url)} names no token endpoint", "check idp-issuer-url")
    _require_https(oidc, endpoint, "the token endpoint")
    return endpoint


def _exchange(client: RESTClientObject, oidc: OidcConfig, endpoint: str) -> _Answer:
    """The client shows itself as kubectl's does: in the header, then, if that is not taken, in the form."""
    reply = _ask(client, oidc, endpoint, in_header=bool(oidc.client_secret))
    if oidc.client_secret and reply.status in (400, 401) and _decoded(reply).error != "invalid_grant":
        reply = _ask(client, oidc, endpoint, in_header=False)
    answer = _decoded(reply)
    if reply.status == 200 and answer.id_token:
        if not all(map(_is_token, (answer.id_token, answer.refresh_token))):
            raise _cannot(oidc, f"{_host(endpoint)} gave a token that is not one", SIGN_IN)
        return answer
    if reply.status == 200:
        raise _cannot(oidc, f"{_host(endpoint)} gave no id_token", "was the scope openid asked for? Sign in again")
    text = ": ".join(part for part in (answer.error, answer.error_description) if part)
    raise _cannot(oidc, f"{_host(endpoint)} answered {reply.status} {_safe(text, oidc)}".rstrip(), SIGN_IN)


def _ask(client: RESTClientObject, oidc: OidcConfig, endpoint: str, in_header: bool) -> _Reply:
    headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    form = [("grant_type", "refresh_token"), ("refresh_token", oidc.refresh_token)]
    if in_header:
        pair = f"{quote_plus(oidc.client_id)}:{quote_plus(oidc.client_secret)}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    else:
        form.append(("client_id", oidc.client_id))
        if oidc.client_secret:
            form.append(("client_secret", oidc.client_secret))
    return _send(client, "POST", endpoint, headers, form)


def _send(
    client: RESTClientObject, method: str, url: str, headers: dict[str, str], form: list[tuple[str, str]] | None = None
) -> _Reply:
    response = client.request(method, url, headers, post_params=form, _request_timeout=LIMIT)
    with contextlib.closing(response.response) as answer:
        body = answer.read(MOST_ANSWER + 1)
    if len(body) > MOST_ANSWER:
        raise urllib3.exceptions.HTTPError(_TOO_LONG)
    return _Reply(response.status, body)


def _decoded(reply: _Reply) -> _Answer:
    try:
        return msgspec.json.decode(reply.body, type=_Answer)
    except (ValueError, RecursionError):
        return _Answer()


def _is_token(text: str) -> bool:
    """True if the text can stand in a header and in a file."""
    return text.isascii() and text.isprintable()


def _require_https(oidc: OidcConfig, url: str, what: str) -> None:
    try:
        parts = urlsplit(url)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _cannot(oidc, f"{what} is malformed", "check idp-issuer-url") from None
    if parts.scheme != "https":
        raise _cannot(oidc, f"{what} is not https, and a refresh token must not go there", "check idp-issuer-url")
    if not is_complete:
        raise _cannot(oidc, f"{what} is malformed", "check idp-issuer-url")


def _reason(oidc: OidcConfig, problem: Exception) -> str:
    cause = problem.reason if isinstance(problem, (urllib3.exceptions.MaxRetryError, ApiException)) else problem
    host = _host(oidc.issuer)
    match cause:
        case urllib3.exceptions.SSLError():
            is_certificate = isinstance(cause.args[0], ssl.SSLCertVerificationError)
            what = "is not trusted" if is_certificate else "does not finish the TLS handshake"
            return f"{host} {what}: {_safe(str(cause).partition('] ')[2] or str(cause), oidc)}"
        case urllib3.exceptions.ProxyError():
            return "the proxy does not answer"
        case urllib3.exceptions.NameResolutionError():
            return f"the name {host} is not known"
        case urllib3.exceptions.NewConnectionError():
            return f"{host} cannot be reached"
        case urllib3.exceptions.ConnectTimeoutError() | urllib3.exceptions.ReadTimeoutError():
            return f"{host} gave no answer in time"
        case urllib3.exceptions.HTTPError() if str(cause) == _TOO_LONG:
            return f"{host}: {_TOO_LONG}"
        case _:
            return f"{host} cannot be reached, or its answer was cut"


def _safe(said: str, oidc: OidcConfig) -> str:
    """A provider's message in one short line, without the secrets that it may have repeated, however written."""
    for secret in (oidc.refresh_token, oidc.id_token, oidc.client_secret):
        for written in (secret, quote_plus(secret), quote(secret), quote(secret, safe="")):
            said = said.replace(written, "…") if secret else said
    said = without_tokens(said)
    shown = "".join(letter if letter.isprintable() else " " for letter in said)
    return shown if len(shown) <= MOST_SAID else f"{shown[: MOST_SAID - 1]}…"


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _cannot(oidc: OidcConfig, why: str, hint: str) -> Unauthenticated:
    return Unauthenticated(f"The OIDC token of {oidc.user!r} cannot be renewed", why, hint)
