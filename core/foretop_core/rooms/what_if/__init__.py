"""The coming night with a change that nobody has made."""

from __future__ import annotations

from foretop_core.rules.sentences import Key

TRY = Key("what_if", "foretop whatif")
"""Behind the remedies of Triage that are a change to be tried."""
