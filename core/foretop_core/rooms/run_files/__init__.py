"""The files of backups and restores, read when a person asks: what is inside, and what the next run takes."""

from __future__ import annotations

from foretop_core.rules.sentences import Key

READ_RESULTS, READ_LOGS = Key("results"), Key("logs")
"""Behind the results and the logs of a run in the remedies of Triage."""
