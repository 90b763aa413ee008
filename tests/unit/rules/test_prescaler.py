"""The answers of the published operator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foretop_core.rules.prescaler import PrescalerError, prescaler

_LINES = (Path(__file__).parents[2] / "data/vectors/prescaler.jsonl").read_text(encoding="utf-8").split("\n")
VECTORS: list[dict[str, Any]] = [json.loads(line) for line in _LINES if line]


def answer(text: str, minutes: int) -> str | None:
    try:
        return prescaler(text, minutes).expression
    except PrescalerError:
        return None


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
