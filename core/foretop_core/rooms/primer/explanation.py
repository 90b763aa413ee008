"""The primer in the help and the manual page."""

from __future__ import annotations

from foretop_core.tables.text.explanations import Explanation

EXPLANATION = Explanation(
    "primer",
    "Expressions that warm up a cluster before a schedule",
    """\
A primer runs some minutes before a schedule, so that nodes are there when its backup starts. To subtract the warm-up
from each field is not enough: before midnight it is the day before, before the 1st the last day of a month whose
length differs.

  foretop primer '0 0 1 * *' --warmup 10
    50 23 31 1,3,5,7,8,10,12 *
    50 23 30 4,6,9,11 *
    50 23 28,29 2 *           in leap years it also fires on the 28th

foretop gives as many expressions as it takes to be exact, or says how many warm-ups are missed or not needed over
eight years. It also shows what the prescaler operator would make of the same expression, and where that is wrong.

With a time zone, the warm-up is exact except around changes of daylight saving.

See: page 6 of the dashboard""",
)
