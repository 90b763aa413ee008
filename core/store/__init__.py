"""What is known of the clusters, in one place: written by the watches, read by everybody else."""

from core.store.feed import Change, Subscription
from core.store.health import ContextHealth, HealthBoard
from core.store.history import History, Pace, Transition
from core.store.indexes import Indexes
from core.store.keys import Garbled, Key
from core.store.store import Store

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
