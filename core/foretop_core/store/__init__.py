"""The state of all clusters in one place: written by the watches, read by everything else."""

from foretop_core.models.wire import UnreadableObject
from foretop_core.store.change_history import ChangeHistory, ProgressRecord
from foretop_core.store.health import ContextHealth, WatchHealthRegistry
from foretop_core.store.store import Change, Store, Subscription

__all__ = [
    "Change",
    "ChangeHistory",
    "ContextHealth",
    "ProgressRecord",
    "Store",
    "Subscription",
    "UnreadableObject",
    "WatchHealthRegistry",
]
