"""What to do about a PreScaledCronJob whose warm-ups are missing or wrong."""

from __future__ import annotations

from functools import lru_cache

from foretop_core.cron import Dialect
from foretop_core.rules import humanize
from foretop_core.rules.primer.errors import PrimerError
from foretop_core.rules.primer.prescaler_emulation import is_always_warm
from foretop_core.rules.primer.priming import prime

_MOST_KEPT = 256


@lru_cache(_MOST_KEPT)
def primer_advice(text: str, minutes: int) -> str:
    """In a sentence or two; kept, because working it out looks eight years ahead."""
    if is_always_warm(text):
        return "It runs every minute and needs no warm-up: use a plain CronJob instead."
    try:
        primed = prime(text, minutes, Dialect.ROBFIG).expressions
    except PrimerError as error:
        return f"It cannot be primed: {error}. Change spec.cronJob.spec.schedule."
    if len(primed) == 1:
        return f"Set spec.primerSchedule to {primed[0]!r}."
    written = humanize.join([repr(one) for one in primed], len(primed))
    return (
        f"Its warm-ups need {len(primed)} expressions: {written}. spec.primerSchedule takes one: split it into "
        f"{len(primed)} PreScaledCronJobs."
    )
