"""What the screen needs of a run: `core.session.Session` fits, and so does a store that was filled by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from core.clock import Clock
    from core.store import Store


class Source(Protocol):
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


@dataclass(frozen=True, slots=True)
class Looks:
    """How a person wants the screen."""

    ascii: bool = False
    flash: bool = True
    """Changed cells are lit for a moment; off with --calm, and over SSH unless asked for."""
    mouse: bool = False
    read_only: bool = False
    speed: float = 1.0
    """The demo's clock runs at this multiple."""
    page: str = "triage"
