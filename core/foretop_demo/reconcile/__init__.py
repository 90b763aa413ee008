"""The controllers of the seed documents as pure functions: objects in, writes out."""

from foretop_demo.reconcile.nab import reconcile_nab
from foretop_demo.reconcile.nab_create_update import NabContext
from foretop_demo.reconcile.nar import NarContext, reconcile_nar
from foretop_demo.reconcile.prescaled_cronjob import reconcile_prescaled
from foretop_demo.reconcile.schedule import reconcile_schedule
from foretop_demo.reconcile.sync import sync_nabs
from foretop_demo.reconcile.writes import Behaviour, Create, Delete, Patch, PatchStatus, Reconciled, Write

__all__ = [
    "Behaviour",
    "Create",
    "Delete",
    "NabContext",
    "NarContext",
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
