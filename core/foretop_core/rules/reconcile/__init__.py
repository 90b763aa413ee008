"""The controllers of the seed documents as pure functions: objects in, the writes they make out."""

from foretop_core.rules.reconcile.nab import NabSurroundings
from foretop_core.rules.reconcile.nab_paths import reconcile_nab
from foretop_core.rules.reconcile.nar import NarSurroundings, reconcile_nar
from foretop_core.rules.reconcile.prescaled import reconcile_prescaled
from foretop_core.rules.reconcile.schedule import reconcile_schedule
from foretop_core.rules.reconcile.sync import sync_nabs
from foretop_core.rules.reconcile.writes import Behaviour, Create, Delete, Patch, PatchStatus, Reconciled, Write

__all__ = [
    "Behaviour",
    "Create",
    "Delete",
    "NabSurroundings",
    "NarSurroundings",
    "Patch",
    "PatchStatus",
    "Reconciled",
    "Write",
    "reconcile_nab",
    "reconcile_nar",
    "reconcile_prescaled",
    "reconcile_schedule",
    "sync_nabs",
]
