"""Faults are let through the guards here: one of foretop's own fails the test that meets it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETOP_STRICT", "1")


@pytest.fixture
def guarded(_strict: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults stay with the guards, as they do for a user."""
    monkeypatch.delenv("FORETOP_STRICT")
