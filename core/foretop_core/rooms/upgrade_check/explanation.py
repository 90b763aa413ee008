"""The upgrade of Velero in the help and the manual page."""

from __future__ import annotations

from foretop_core.tables.text.explanations import Explanation

EXPLANATION = Explanation(
    "upgrade",
    "What an upgrade of Velero changes in the schedules",
    """\
What changes most often in an upgrade to 1.18.3:

  0 2 1 * 1     before: each 1st and each Monday; after: a 1st on a Monday
  0 */24 * * *  before: midnight; after: refused
  30 2 * * *    on a day without 02:30: before: no run; after: one at 03:30

See: the topic dialects, foretop upgrade-check --to 1.18.3""",
)
