"""Priming: when to warm up the cluster before a schedule runs, and what the prescaler operator would do."""

from __future__ import annotations

from foretop_core.rules.primer.prescaler_emulation import PrescalerVerdict, PrimerError, prescaler, prescaler_verdict
from foretop_core.rules.primer.priming import Pair, Primed, PrimerAdvice, prime, primer_advice, warmups

__all__ = [
    "Pair",
    "PrescalerVerdict",
    "Primed",
    "PrimerAdvice",
    "PrimerError",
    "prescaler",
    "prescaler_verdict",
    "prime",
    "primer_advice",
    "warmups",
]
