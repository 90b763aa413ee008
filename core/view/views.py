"""The tables that foretop has, by the names that a person uses for them."""

from __future__ import annotations

from typing import Any

from core.view.columns import View
from core.view.nonadmin import NonAdmins
from core.view.queue import QueueView
from core.view.runs import Backups, Restores
from core.view.schedules import Schedules
from core.view.storage import Storage

VIEWS: dict[str, type[View[Any]]] = {
    view.name: view for view in (Schedules, NonAdmins, QueueView, Backups, Restores, Storage)
}
