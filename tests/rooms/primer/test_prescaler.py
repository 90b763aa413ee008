"""The answers of the published operator, compared with its own document and with the runs."""

from __future__ import annotations

import pytest

from foretop_core.cron import Dialect
from foretop_core.rooms.primer.priming import prescaler_verdict


@pytest.mark.parametrize(
    ("text", "missed", "extra"), [("0/15 * 1 * *", 95, 96), ("5,12,48,56 * * * 5", 417, 418), ("5 3 1 * *", 0, 0)]
)
def test_an_answer_against_its_own_document_is_counted(text: str, missed: int, extra: int) -> None:
    verdict = prescaler_verdict(text, 10, Dialect.ROBFIG)
    assert verdict.supported
    assert not verdict.documented
    assert (verdict.missed_in_8_years, verdict.extra_in_8_years) == (missed, extra)
    assert "documented only" in verdict.reason


def test_an_answer_allowed_by_its_document_has_no_reason() -> None:
    verdict = prescaler_verdict("0-5 * * * *", 10, Dialect.ROBFIG)
    assert (verdict.supported, verdict.documented, verdict.reason) == (True, True, "")


def test_a_refusal_has_a_reason_and_no_expression() -> None:
    verdict = prescaler_verdict("0 14-16 * * *", 10, Dialect.ROBFIG)
    assert (verdict.supported, verdict.documented, verdict.expression) == (False, False, None)
    assert "hour" in verdict.reason


def test_the_operator_s_answer_is_compared_with_the_server_s_runs() -> None:
    text = "0 2 1 * 1"
    assert prescaler_verdict(text, 10, Dialect.ROBFIG).extra_in_8_years == 0
    verdict = prescaler_verdict(text, 10, Dialect.NETRESEARCH)
    assert (verdict.missed_in_8_years, verdict.extra_in_8_years) == (0, 483)
    assert verdict.reason.startswith("the operator reads the two day fields as Kubernetes does")
