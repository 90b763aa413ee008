"""The namespaces to watch for each kind: those a person named, and that of Velero, which may have to be found."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from foretop_core.clock import Clock
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.access.accessible_namespaces import (
    EVERYWHERE,
    AccessibleNamespaces,
    accessible_namespaces,
    may_list,
)
from foretop_core.kube.access.find_velero import USUAL_NAMESPACES, find_velero
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import BESIDE_VELERO, Kind

_REMEMBERED = timedelta(minutes=1)


class NamespaceSelection(msgspec.Struct, frozen=True):
    """The places that a person named; none of a sort means that foretop finds them itself."""

    namespaces: tuple[str, ...] = ()
    velero: str = ""
    """Where Velero lives."""
    with_velero: bool = False
    """Velero's own kinds are looked at where they are, though other namespaces were named."""


class NamespaceResolver:
    """Finds the places of every kind of one cluster; what all kinds need to know is asked once in a minute."""

    def __init__(self, client: ApiClient, access: AccessReviewer, clock: Clock, named: NamespaceSelection) -> None:
        self._client = client
        self._access = access
        self._clock = clock
        self._named = named
        self._also: tuple[str, ...] = ()
        self._existing: dict[str, tuple[datetime, bool]] = {}
        self._veleros: tuple[datetime, tuple[str, ...]] | None = None
        self._asking = asyncio.Lock()

    def look_into(self, namespace: str) -> None:
        """The tenants' kinds are looked for in this namespace too; one looked into in vain before is let go."""
        existing = (name for name in self._also if self._existing.get(name, (None, True))[1])
        self._also = tuple(dict.fromkeys((*existing, namespace) if namespace else existing))
        self._existing.pop(namespace, None)

    async def of(self, kind: Kind) -> AccessibleNamespaces:
        if not kind.namespaced:
            return AccessibleNamespaces(EVERYWHERE, chosen=True)
        accessible = await self._found(kind)
        also = () if kind in BESIDE_VELERO else self._also
        named = (*(accessible.namespaces if accessible.chosen else ()), *also)
        missing = [name for name in dict.fromkeys(named) if not await self.exists(name)]
        places = (
            accessible.namespaces
            if accessible.namespaces == EVERYWHERE
            else (*await self._sure(kind, accessible, also), *also)
        )
        present = tuple(name for name in dict.fromkeys(places) if name not in missing)
        return AccessibleNamespaces(present, chosen=accessible.chosen and not missing, missing=tuple(missing))

    async def _sure(self, kind: Kind, found: AccessibleNamespaces, also: tuple[str, ...]) -> tuple[str, ...]:
        """Once a person has said where to look, a place that was only guessed is not complained about."""
        if not found.guessed or not also:
            return found.namespaces
        return tuple([name for name in found.namespaces if await self._may_list(kind, name)])

    async def exists(self, namespace: str) -> bool:
        """False only where the API server says so; one who may not ask is left to what the attempt tells."""
        async with self._asking:
            answer = self._existing.get(namespace)
            if answer is None or self._is_old(answer[0]):
                answer = self._existing[namespace] = (self._clock.now(), await self._ask(namespace))
            return answer[1]

    async def _found(self, kind: Kind) -> AccessibleNamespaces:
        if kind not in BESIDE_VELERO:
            return await accessible_namespaces(self._client, self._access, kind, self._named.namespaces)
        if self._named.velero and (self._named.with_velero or not self._named.namespaces):
            return AccessibleNamespaces((self._named.velero,), chosen=True)
        if not self._named.namespaces or not self._named.with_velero:
            accessible = await accessible_namespaces(self._client, self._access, kind, self._named.namespaces)
            return (
                accessible
                if accessible.chosen or accessible.namespaces == EVERYWHERE
                else await self._with_usual(kind, accessible)
            )
        veleros = await self._where_velero_is()
        mine = tuple(name for name in veleros if name in self._named.namespaces)
        return (
            AccessibleNamespaces(mine or veleros, chosen=True)
            if veleros
            else await self._with_usual(kind, AccessibleNamespaces(EVERYWHERE))
        )

    async def _with_usual(self, kind: Kind, found: AccessibleNamespaces) -> AccessibleNamespaces:
        """Add the usual namespaces of Velero: a person who cannot list namespaces may still read those."""
        allowed = [
            name
            for name in USUAL_NAMESPACES
            if name not in found.namespaces and await self._may_list(kind, name) and await self.exists(name)
        ]
        if not allowed:
            return found
        kept = [name for name in found.namespaces if name and await self._may_list(kind, name)]
        return replace(found, namespaces=tuple(sorted((*kept, *allowed))))

    async def _may_list(self, kind: Kind, namespace: str) -> bool:
        return may_list(await self._access.rules(namespace), kind)

    async def _where_velero_is(self) -> tuple[str, ...]:
        async with self._asking:
            if self._veleros is None or self._is_old(self._veleros[0]):
                veleros = await find_velero(self._client)
                self._veleros = (self._clock.now(), tuple(sorted({server.namespace for server in veleros})))
            return self._veleros[1]

    async def _ask(self, namespace: str) -> bool:
        try:
            await self._client.request("GET", f"/api/v1/namespaces/{quote(namespace, safe='')}")
        except ApiError as problem:
            if problem.status == 403:
                return True
            if problem.status == 404:
                return False
            raise
        return True

    def _is_old(self, asked: datetime) -> bool:
        return not timedelta() <= self._clock.now() - asked < _REMEMBERED
