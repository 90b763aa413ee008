"""What can go wrong between foretop and an API server, each as one line that a person can act on."""

from __future__ import annotations

from foretop_core.errors import ForetopError


class Unreachable(ForetopError):
    """No answer came: refused, timed out, cut, or not trusted."""


class WatchIdleTimeout(Unreachable):
    """A stream that was open said nothing for too long; it may be quiet, or dead."""


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
