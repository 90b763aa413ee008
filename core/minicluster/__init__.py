"""A cluster in a box: an API server on loopback that speaks the Kubernetes protocol for the kinds foretop knows."""

from core.minicluster.access import Rule, User
from core.minicluster.box import MiniCluster
from core.minicluster.deletion import DeleteOptions
from core.minicluster.journal import Change, ChangeType
from core.minicluster.kinds import Kind
from core.minicluster.status import ApiError
from core.minicluster.storage import Storage

__all__ = [
    "ApiError",
    "Change",
    "ChangeType",
    "DeleteOptions",
    "Kind",
    "MiniCluster",
    "Rule",
    "Storage",
    "User",
]
