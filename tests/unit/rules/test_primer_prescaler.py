"""The answers of the published operator, compared with its own document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foretop_core.cron import Dialect
from foretop_core.rules.prescaler import PrimerError, prescaler, prescaler_verdict

_LINES = (Path(__file__).parents[2] / "data/vectors/prescaler.jsonl").read_text(encoding="utf-8").split("\n")
VECTORS: list[dict[str, Any]] = [json.loads(line) for line in _LINES if line]


def answer(text: str, minutes: int) -> str | None:
    try:
        return prescaler(text, minutes)
    except PrimerError:
        return None


def test_the_vectors_are_complete() -> None:
    assert len(VECTORS) == 600


def test_every_answer_matches_the_operator() -> None:
    """In one test: as one each, to begin and end them takes far longer than the answers."""
    given = {(one["expr"], one["minutes"]): answer(one["expr"], one["minutes"]) for one in VECTORS}
    wrong = {(one["expr"], one["minutes"]) for one in VECTORS if given[one["expr"], one["minutes"]] != one["primed"]}
    assert {asked: given[asked] for asked in wrong} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 * * * *", "20 * * * *"),
        ("0 * * * *", "50 * * * *"),
        ("0 0 * * *", "50 23 * * *"),
        ("0/30 * * * *", "50,20 * * * *"),
        ("0-5 * * * *", "50,51,52,53,54,55 * * * *"),
        ("0 2 * * *", "50 1 * * *"),
        ("0 14-16 * * *", None),
        ("0-15 0 * * *", None),
        ("0 0 * * 5", None),
    ],
)
def test_the_examples_and_known_issues_of_its_document_hold(text: str, expected: str | None) -> None:
    assert answer(text, 10) == expected


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
