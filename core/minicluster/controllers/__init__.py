"""The controllers of a box, made of the core's reconcilers: Velero's, the non-admin controller's, the prescaler's."""

from core.minicluster.controllers.bucket import ObjectStorage
from core.minicluster.controllers.clock import BoxClock
from core.minicluster.controllers.engine import Engine
from core.minicluster.controllers.nonadmin import NonAdminController
from core.minicluster.controllers.prescaling import PrescalerController
from core.minicluster.controllers.tenant_storage import TenantStorageController
from core.minicluster.controllers.velero import Flags, VeleroServer
from core.minicluster.controllers.work import Move, SeededWork, Work, Workload

__all__ = [
    "BoxClock",
    "Engine",
    "Flags",
    "Move",
    "NonAdminController",
    "ObjectStorage",
    "PrescalerController",
    "SeededWork",
    "TenantStorageController",
    "VeleroServer",
    "Work",
    "Workload",
]
