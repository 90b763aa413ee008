"""The errors between foretop and an API server, in one line each that a person can act on; answers become them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from foretop_core.errors import ForetopError

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL


class Unreachable(ForetopError):
    """No answer came: refused, timed out, cut, or not trusted."""


class WatchIdleTimeout(Unreachable):
    """A stream that was open said nothing for too long; it may be quiet, or dead."""


class BrokenOff(Unreachable):
    """An answer 2xx began, and its body did not come to its end."""


class NotConnected(Unreachable):
    """No connection came about, so nothing was sent; with any other Unreachable a request may have arrived."""


SIGN_IN = "sign in again; foretop reloads the kubeconfig automatically"


class Unauthenticated(ForetopError):
    """The cluster cannot tell who we are until a person does something."""


class WriteRefused(ForetopError):
    """A write without the guard's permit, or against the protection of its cluster; nothing has left the process."""


class ApiError(ForetopError):
    """The API server answered, and said no."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        retry_after: float | None = None,
        hint: str = "",
        is_status: bool = False,
    ) -> None:
        super().__init__(f"The API server answered {status} {reason}".rstrip(), message, hint)
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        self.is_status = is_status
        """The answer was a Status of the API server, and not the error page of something in between."""

    def lacks(self, right: str, what: str) -> str:
        """Why something that was asked for is not known, where the answer is 403."""
        return f"you may not {right}"


class NotInArchive(ApiError):
    """An archive in the place of a cluster has none of it; `subject` ends with its verb, `more` would have it."""

    def __init__(self, subject: str, more: str) -> None:
        super().__init__(403, "NotInArchive", "")
        self.what, self.hint = f"{subject} not in the archive", more

    def lacks(self, right: str, what: str) -> str:
        return f"not in the archive: {what}"


# Deferred imports: yarl comes with aiohttp, which the first paint does not wait for.

LONGEST_WAIT = 30.0
"""Seconds that a server may ask us to wait: what is asked for again after a failure is never later than this."""
LONGEST_MESSAGE = 2000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _Status(msgspec.Struct, rename="camel"):
    kind: str | None = None
    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: dict[str, Any] | None = None


def api_error(status: int, content: bytes, reason: str | None, retry_after: str | None) -> ApiError:
    """The Status that the API server sent, else what little the answer says (a proxy's error page, say)."""
    try:
        error = msgspec.json.decode(content, type=_Status)
    except (ValueError, RecursionError):
        error = _Status(message="" if content.lstrip()[:1] == b"<" else content[:200].decode("utf-8", "replace"))
    return ApiError(
        error.code or status,
        error.reason or reason or "",
        (error.message or "")[:LONGEST_MESSAGE],
        _seconds(retry_after if retry_after is not None else str((error.details or {}).get("retryAfterSeconds", ""))),
        is_status=error.kind == "Status",
    )


def _seconds(text: str) -> float | None:
    """How long to wait, within reason: a server may name any number."""
    try:
        asked = float(text)
    except ValueError:
        return None
    return min(asked, LONGEST_WAIT) if asked >= 0 else None


def same_server(response: aiohttp.ClientResponse, asked: URL) -> str:
    """The target of a redirect, "" where that is another server: credentials go to no other."""
    from yarl import URL

    if response.status not in _REDIRECTS:
        return ""
    try:
        target = asked.join(URL(response.headers.get("Location", ""), encoded=True))
        return str(target) if target.origin() == asked.origin() else ""
    except ValueError:
        return ""


def redirected(response: aiohttp.ClientResponse) -> ApiError:
    from yarl import URL

    try:
        host = URL(response.headers.get("Location", "")).host or "elsewhere"
    except ValueError:
        host = "elsewhere"
    why = f"it redirects to {host}, which foretop does not follow"
    return ApiError(response.status, response.reason or "", why, hint="is there a proxy or a login page in between?")


def too_long(what: str, most: int) -> ApiError:
    return ApiError(200, "", f"{what} is longer than {most // 2**20} MiB")
