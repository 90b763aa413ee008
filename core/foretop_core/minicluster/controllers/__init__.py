"""The controllers of a box, built on the pure reconcilers: Velero's, the non-admin controller's, the prescaler's."""

from foretop_core.minicluster.controllers.clock import BoxClock
from foretop_core.minicluster.controllers.engine import Engine
from foretop_core.minicluster.controllers.nonadmin import NonAdminController
from foretop_core.minicluster.controllers.object_storage import ObjectStorage
from foretop_core.minicluster.controllers.prescaled_cronjobs import PrescalerController
from foretop_core.minicluster.controllers.simulated_runs import SeededWork, SimulatedRun, VolumeTransfer, Workload
from foretop_core.minicluster.controllers.tenant_storage import TenantStorageController
from foretop_core.minicluster.controllers.velero import Flags, VeleroServer

__all__ = [
    "BoxClock",
    "Engine",
    "Flags",
    "NonAdminController",
    "ObjectStorage",
    "PrescalerController",
    "SeededWork",
    "SimulatedRun",
    "TenantStorageController",
    "VeleroServer",
    "VolumeTransfer",
    "Workload",
]
