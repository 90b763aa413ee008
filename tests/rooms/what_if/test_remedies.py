"""The findings whose remedy is to try a change."""

from __future__ import annotations

from foretop_core.rules.sentences import names_key, render
from foretop_core.rules.triage.coming import TRY_A_CHANGE
from tests.objects import NOW


def test_a_remedy_has_the_key_of_what_if_and_its_command() -> None:
    assert names_key(TRY_A_CHANGE, "what_if")
    assert render(TRY_A_CHANGE, NOW) == "Try a change (foretop whatif)."
