"""The controllers of the seed documents as pure functions: objects in, the writes they make out."""

from core.rules.reconcile.nab import NabSurroundings
from core.rules.reconcile.nab_paths import reconcile_nab
from core.rules.reconcile.nar import NarSurroundings, reconcile_nar
from core.rules.reconcile.prescaled import reconcile_prescaled
from core.rules.reconcile.schedule import reconcile_schedule
from core.rules.reconcile.sync import sync_nabs
from core.rules.reconcile.writes import Behaviour, Create, Delete, Patch, PatchStatus, Reconciled, Write

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
