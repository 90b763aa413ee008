"""NABs and NARs as the state machine of the seed's chart: current state, next step, anomalies."""

from foretop_core.rules.nonadmin_lifecycle.paths import Path, is_synced, path_of
from foretop_core.rules.nonadmin_lifecycle.steps import LifecycleStep, StepState, run_steps
from foretop_core.rules.nonadmin_lifecycle.transition import PhaseTransition, transition

__all__ = [
    "LifecycleStep",
    "Path",
    "PhaseTransition",
    "StepState",
    "is_synced",
    "path_of",
    "run_steps",
    "transition",
]
