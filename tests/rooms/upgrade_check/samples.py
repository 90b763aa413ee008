"""What the check of an upgrade adds to the comparisons of commands and recordings."""

from __future__ import annotations

READING = [["upgrade-check"]]
"""Commands that read clusters and end."""
JUDGING = [("upgrade-check", "--to", "1.18.3")]
"""Commands whose exit code judges."""
RECORDED = {"upgrade": {("velero-cron-dialect", "")}}
"""Findings in recordings, each with its subject."""
OF_AN_ARCHIVE = [(("upgrade-check", "--to", "1.18.3", "-o", "json"), 0, ('"notSeen": []',))]
"""Commands that read an archive, with exit code and what they print of it."""
