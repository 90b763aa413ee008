"""FORETOP_STRICT=1: a fault is seen where it happens, and is not guarded."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from foretop_core.errors import BadInput, let_through
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import triage
from foretop_core.rules.triage.finding import Finding, Thresholds
from tests.objects import NOW


def broken(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    yield from ()
    raise ZeroDivisionError("a fault of the rule")


def test_a_rule_that_fails_is_guarded_unless_a_developer_wants_to_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORETOP_STRICT", raising=False)
    snapshot = ClusterSnapshot("prod")
    assert [failure.what for failure in triage(snapshot, NOW, rules=(broken,)).failures] == ["rule broken"]
    monkeypatch.setenv("FORETOP_STRICT", "1")
    with pytest.raises(ZeroDivisionError):
        triage(snapshot, NOW, rules=(broken,))


def test_an_error_that_is_meant_for_people_stays_with_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETOP_STRICT", "1")
    let_through(BadInput("a wish that cannot be met"))
    with pytest.raises(ValueError, match="a fault"):
        let_through(ValueError("a fault"))
