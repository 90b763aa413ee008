"""What is known of the clusters, in one place: written by the watches, read by everybody else."""

from foretop_core.store.feed import Change, Subscription
from foretop_core.store.health import ContextHealth, HealthBoard
from foretop_core.store.history import History, Pace, Transition
from foretop_core.store.indexes import Indexes
from foretop_core.store.keys import Garbled, Key
from foretop_core.store.store import Store

__all__ = [
    "Change",
    "ContextHealth",
    "Garbled",
    "HealthBoard",
    "History",
    "Indexes",
    "Key",
    "Pace",
    "Store",
    "Subscription",
    "Transition",
]
