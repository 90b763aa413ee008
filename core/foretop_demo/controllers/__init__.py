"""The controllers of a box, built on the pure reconcilers: Velero's, the non-admin controller's, the prescaler's."""

from foretop_demo.controllers.clock import BoxClock
from foretop_demo.controllers.engine import Engine
from foretop_demo.controllers.nonadmin import NonAdminController
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.prescaled_cronjobs import PrescalerController
from foretop_demo.controllers.simulated_runs import SeededWork, SimulatedRun, VolumeTransfer, Workload
from foretop_demo.controllers.tenant_storage import TenantStorageController
from foretop_demo.controllers.velero import Flags, VeleroServer

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
