"""The protocol of a session: all that the dashboard and the commands may ask of `foretop_core.session.Session`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

if TYPE_CHECKING:
    from foretop_core.clock import Clock
    from foretop_core.kube.access.access_reviewer import AccessReviewer
    from foretop_core.kube.connection.client import ApiClient
    from foretop_core.kube.watching.watch_sink import FirstRows
    from foretop_core.models.wire import ObjectRef
    from foretop_core.store import Store


class WritableCluster(Protocol):
    """A cluster that can be written to, as far as the permissions allow."""

    @property
    def client(self) -> ApiClient: ...

    @property
    def access(self) -> AccessReviewer: ...


class ClusterSession(Protocol):
    """The clusters of one run and the store that their watches fill; the dashboard reads the store and never writes it.

    A session without clusters, such as a store filled for a test, shows its objects and can send nothing.
    """

    @property
    def store(self) -> Store: ...

    @property
    def contexts(self) -> tuple[str, ...]: ...

    @property
    def namespaces(self) -> tuple[str, ...]: ...

    def clock(self, context: str) -> Clock: ...

    def skew(self, context: str) -> timedelta | None: ...

    def start(self, first: frozenset[str] = frozenset()) -> None:
        """Begins to watch; the kinds named first are listed before the others."""
        ...

    def to_be_shown(self) -> tuple[FirstRows, ...]:
        """The rows of those kinds that have come and were not shown yet: all else waits for that."""
        ...

    async def stop(self) -> None: ...

    def retry_now(self) -> None:
        """Watches that wait before their next attempt try at once."""
        ...

    @property
    def clusters(self) -> Mapping[str, WritableCluster]: ...

    async def other_contexts(self) -> tuple[str, ...]:
        """Contexts that could be watched too; raises ForetopError where the kubeconfig cannot be read."""
        ...

    async def add_context(self, name: str) -> None:
        """Watches another context from now on; raises ForetopError where it cannot be reached, and changes nothing."""
        ...

    def watch_events(self, context: str, uid: str, namespace: str) -> None:
        """Follows the events of this one object; no uid ends it."""
        ...

    def watch_namespace(self, namespace: str) -> None:
        """Watches this namespace besides those of the start; "" ends it."""
        ...

    def watch_on_demand(self, kinds: frozenset[str]) -> None:
        """Watches these kinds of `foretop_core.models.kinds.ON_DEMAND`, and no others of them."""
        ...

    async def fetch_object(self, ref: ObjectRef) -> Mapping[str, Any]:
        """The object as the server has it; raises ForetopError where it cannot be read."""
        ...

    def can_sign_in(self, context: str) -> bool: ...

    def sign_in(self, context: str) -> None: ...


class DisplayOptions(msgspec.Struct, frozen=True):
    """How a person wants the screen."""

    ascii: bool = False
    flash: bool = True
    """Changed cells are lit for a moment; off with --calm, and over SSH unless asked for."""
    mouse: bool = False
    read_only: bool = False
    speed: float = 1.0
    """The demo's clock runs at this multiple."""
    page: str = "triage"
    typed: bytes = b""
    """The keys that came in before there was a screen."""
