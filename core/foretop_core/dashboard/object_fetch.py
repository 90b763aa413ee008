"""Requests of a session for the object that is open: follow its events, fetch it whole, list its data movements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.models import Backup, NonAdmin, Restore
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.store import UnreadableObject
from foretop_core.tables.engine.view_scope import ViewScope

# Deferred imports: the actions are loaded after the first rows.


def watch_events(state: DashboardState, key: ObjectRef) -> None:
    """From now on the events of this object are followed, and of no other."""
    resource = state.store.get(key)
    if resource is not None and not isinstance(resource, UnreadableObject):
        state.source.watch_events(key.context, resource.metadata.uid, key.namespace)


def unwatch_events(state: DashboardState, key: ObjectRef) -> None:
    state.source.watch_events(key.context, "", "")


async def fetch_object(state: DashboardState, key: ObjectRef) -> Mapping[str, Any] | None:
    """The object as the server has it; None where it cannot be had, for then there is still what was read of it."""
    if by_name(key.kind) is None:
        return None
    try:
        return await state.source.fetch_object(key)
    except ForetopError:
        return None


async def fetch_movements(state: DashboardState, key: ObjectRef) -> str:
    """Lists the data movements of a run that has ended and keeps them; what went wrong, "" where nothing did."""
    from foretop_core.actions.unwatched_reads import movements_of

    item = state.store.get(key)
    run = state.store.snapshot(key.context).velero_run(item) if isinstance(item, NonAdmin) else item
    cluster = state.source.clusters.get(key.context)
    if cluster is None or not isinstance(run, Backup | Restore):
        return ""
    try:
        state.ended_movements[key] = await movements_of(cluster.client, run)
    except ForetopError as problem:
        return str(problem)
    return ""


def set_scope(state: DashboardState, namespace: str, context: str) -> None:
    """All pages show this namespace and this cluster only; with no name all of them."""
    veleros = {place for name in state.contexts for place in state.store.snapshot(name).velero_namespaces}
    if namespace != state.focus.namespace:
        state.source.watch_namespace(namespace)
    state.focus = ViewScope(namespace, context, namespace in veleros)
