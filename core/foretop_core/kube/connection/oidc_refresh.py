"""An id token for a refresh token, asked of its provider. Importing this loads the kubernetes package; calls block.

The package's REST client does the speaking (TLS, authorities, proxies). Its own OIDC loader is not used: without an
authority of its own it does not check the provider's certificate, it sends the client's secret twice (which some
providers refuse), it needs a secret where public clients have none, and it goes on with the old token when it fails.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from urllib.parse import quote_plus, urlsplit

import msgspec
import urllib3
from kubernetes.client import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import RESTClientObject

from foretop_core.kube.connection.config import OidcConfig
from foretop_core.kube.connection.connection_errors import SIGN_IN, Unauthenticated
from foretop_core.kube.connection.proxy import is_socks

LIMIT = 20.0
MOST_SAID = 160


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
        endpoint = _token_endpoint(client, oidc)
        answer = _exchange(client, oidc, endpoint)
    except (urllib3.exceptions.HTTPError, ApiException) as problem:
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
    answer = reply = None
    for in_header in (True, False) if oidc.client_secret else (False,):
        reply = _ask(client, oidc, endpoint, in_header)
        answer = _decoded(reply)
        if reply.status == 200 and answer.id_token:
            return answer
        if reply.status not in (400, 401) or answer.error == "invalid_grant":
            break
    assert answer is not None and reply is not None  # noqa: PT018  # the loop is never empty
    if reply.status == 200:
        raise _cannot(oidc, f"{_host(endpoint)} gave no id_token", "was the scope openid asked for? Sign in again")
    said = ": ".join(part for part in (answer.error, answer.error_description) if part)
    raise _cannot(oidc, f"{_host(endpoint)} answered {reply.status} {_safe(said, oidc)}".rstrip(), SIGN_IN)


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
    response = client.request(method, url, headers, post_params=form, _request_timeout=LIMIT)  # type: ignore[no-untyped-call]
    return _Reply(response.status, response.read())


def _decoded(reply: _Reply) -> _Answer:
    try:
        return msgspec.json.decode(reply.body, type=_Answer)
    except (ValueError, RecursionError):
        return _Answer()


def _require_https(oidc: OidcConfig, url: str, what: str) -> None:
    if urlsplit(url).scheme != "https":
        raise _cannot(oidc, f"{what} is not https, and a refresh token must not go there", "check idp-issuer-url")


def _reason(oidc: OidcConfig, problem: Exception) -> str:
    cause = problem.reason if isinstance(problem, (urllib3.exceptions.MaxRetryError, ApiException)) else problem
    host = _host(oidc.issuer)
    match cause:
        case urllib3.exceptions.SSLError():
            return f"{host} is not trusted: {_safe(str(cause).partition('] ')[2] or str(cause), oidc)}"
        case urllib3.exceptions.ProxyError():
            return "the proxy does not answer"
        case urllib3.exceptions.NameResolutionError():
            return f"the name {host} is not known"
        case urllib3.exceptions.NewConnectionError():
            return f"{host} cannot be reached"
        case urllib3.exceptions.ConnectTimeoutError() | urllib3.exceptions.ReadTimeoutError():
            return f"{host} gave no answer in time"
        case _:
            return f"{host} cannot be reached"


def _safe(said: str, oidc: OidcConfig) -> str:
    """What a provider says, in one short line, without the secrets that it may have repeated."""
    for secret in (oidc.refresh_token, oidc.id_token, oidc.client_secret):
        said = said.replace(secret, "…") if secret else said
    shown = "".join(letter if letter.isprintable() else " " for letter in said)
    return shown if len(shown) <= MOST_SAID else f"{shown[: MOST_SAID - 1]}…"


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "its provider"


def _cannot(oidc: OidcConfig, why: str, hint: str) -> Unauthenticated:
    return Unauthenticated(f"The OIDC token of {oidc.user!r} cannot be renewed", why, hint)
