"""Servers beside the cluster: their addresses as a person gives them, and why one does not answer."""

from __future__ import annotations

from urllib.parse import urlsplit

from aiohttp import ClientConnectionError, ClientConnectorCertificateError, ClientError

from foretop_core.errors import BadInput
from foretop_core.foreign_text import redacted


def check_http_address(url: str, server: str, token: str) -> None:
    """Raises BadInput where it is no address of such a server, or where a token would take the place of its user."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.port != 0
        # What the resolver refuses; an IPv6 address passes.
        is_address = is_address and bool((parts.hostname or "").encode("idna"))
    except ValueError:
        is_address = False
    if not is_address:
        raise BadInput(f"{redacted(url)} is not an address of {server}", "it is not http(s)://HOST[:PORT][/PATH]")
    if token and parts.username is not None:
        raise BadInput(f"{redacted(url)} has a user, and there is a token", "only one can be sent", "leave one out")


def why_no_answer(problem: ClientError | OSError) -> str:
    """Never what the server has sent: that may be the token that it got."""
    if isinstance(problem, ClientConnectorCertificateError):
        reason = getattr(problem.certificate_error, "verify_message", "")
        return ", ".join(filter(None, ("its certificate is not trusted", reason.rstrip("."))))
    if isinstance(problem, ClientError) and not isinstance(problem, ClientConnectionError):
        return "its answer is cut off, or no HTTP"
    return redacted(str(problem)) or "no answer"
