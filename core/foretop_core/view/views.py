"""The tables that foretop has, by the names that a person uses for them."""

from __future__ import annotations

from typing import Any

from foretop_core.view.columns import View
from foretop_core.view.nonadmin import NonAdmins
from foretop_core.view.queue import QueueView
from foretop_core.view.runs import Backups, Restores
from foretop_core.view.schedules import Schedules
from foretop_core.view.storage import Storage

VIEWS: dict[str, type[View[Any]]] = {
    view.name: view for view in (Schedules, NonAdmins, QueueView, Backups, Restores, Storage)
}
