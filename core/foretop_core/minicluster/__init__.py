"""A simulated cluster: an API server on loopback that speaks the Kubernetes protocol for the kinds foretop knows."""

from foretop_core.minicluster.access import Rule, User
from foretop_core.minicluster.box import MiniCluster
from foretop_core.minicluster.change_log import Change, ChangeType
from foretop_core.minicluster.deletion import DeleteOptions
from foretop_core.minicluster.kinds import Kind
from foretop_core.minicluster.status import ApiError
from foretop_core.minicluster.storage import Storage

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
