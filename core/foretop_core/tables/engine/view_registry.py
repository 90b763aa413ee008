"""The tables that foretop has, by the names that a person uses for them."""

from __future__ import annotations

from typing import Any

from foretop_core.tables.engine.view import View
from foretop_core.tables.resources.movements import MovementsView
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.pods import PodsView
from foretop_core.tables.resources.protection import ProtectionView
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.repositories import RepositoriesView
from foretop_core.tables.resources.runs import BackupsView, RestoresView
from foretop_core.tables.resources.schedules import SchedulesView
from foretop_core.tables.resources.storage import StorageView

VIEWS: dict[str, type[View[Any]]] = {
    view.name: view
    for view in (
        SchedulesView,
        NonAdminView,
        QueueView,
        BackupsView,
        RestoresView,
        StorageView,
        PodsView,
        MovementsView,
        RepositoriesView,
        ProtectionView,
    )
}
