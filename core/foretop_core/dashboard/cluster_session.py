"""What the screen needs of a run: `foretop_core.session.Session` fits, and so does a store that was filled by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from foretop_core.clock import Clock
    from foretop_core.kube.access.access_reviewer import AccessReviewer
    from foretop_core.kube.connection.client import ApiClient
    from foretop_core.store import Store


class ClusterSession(Protocol):
    """Where the facts come from; the screen reads the store and never writes it."""

    @property
    def store(self) -> Store: ...

    @property
    def contexts(self) -> tuple[str, ...]: ...

    @property
    def namespaces(self) -> tuple[str, ...]: ...

    def clock(self, context: str) -> Clock: ...

    def skew(self, context: str) -> timedelta | None: ...

    def start(self) -> None: ...

    async def stop(self) -> None: ...

    def hurry(self) -> None: ...


class WritableCluster(Protocol):
    """A cluster that can be written to, as far as the rights go."""

    @property
    def client(self) -> ApiClient: ...

    @property
    def access(self) -> AccessReviewer: ...


@runtime_checkable
class SupportsWrites(Protocol):
    """A source that has clusters behind it; one that was filled by hand has none, and nothing can be done there."""

    @property
    def clusters(self) -> Mapping[str, WritableCluster]: ...


def clusters_of(source: ClusterSession) -> Mapping[str, WritableCluster]:
    return source.clusters if isinstance(source, SupportsWrites) else {}


@dataclass(frozen=True, slots=True)
class DisplayOptions:
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
