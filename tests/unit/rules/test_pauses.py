"""Who paused a schedule: the person in foretop's annotation, else the field manager."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from foretop_core.models import Schedule, from_builtins
from foretop_core.rules.pauses import PAUSED_AT, PAUSED_BY, PAUSED_UNTIL, PAUSED_WHY, pause_info

SINCE = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)


def paused(manager: str, **notes: str) -> Schedule:
    owner: dict[str, Any] = {
        "manager": manager,
        "time": "2026-11-15T01:00:00Z",
        "fieldsV1": {"f:spec": {"f:paused": {}}},
    }
    meta = {"name": "etcd", "managedFields": [owner] if manager else [], "annotations": notes}
    return from_builtins(Schedule, {"metadata": meta, "spec": {"paused": True}})


@pytest.mark.parametrize(
    ("manager", "who"),
    [
        ("foretop", "with foretop"),
        ("kubectl-patch", "with kubectl-patch"),
        ("argocd-controller", "with argocd-controller"),
        ("maria", "by maria"),
        ("oceanographer", "by oceanographer"),
        ("", ""),
    ],
)
def test_without_an_annotation_a_program_is_not_shown_as_a_person(manager: str, who: str) -> None:
    assert pause_info(paused(manager)).who == who


def test_foretop_s_annotation_names_the_person_the_reason_and_the_end() -> None:
    notes = {PAUSED_BY: "maria", PAUSED_WHY: "upgrade", PAUSED_UNTIL: "2026-11-15T04:30:00Z"}
    found = pause_info(paused("foretop", **notes))
    assert (found.since, found.who, found.why) == (SINCE, "by maria", "upgrade")
    assert found.until == datetime(2026, 11, 15, 4, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("noted", "since"),
    [
        ("2026-11-15T00:30:00Z", datetime(2026, 11, 15, 0, 30, tzinfo=UTC)),
        ("2026-11-15T09:00:00Z", SINCE),
        ("then", SINCE),
    ],
)
def test_a_later_edit_with_foretop_does_not_make_the_pause_younger(noted: str, since: datetime) -> None:
    """The time of its managed fields is that of foretop's last write of any field."""
    assert pause_info(paused("foretop", **{PAUSED_BY: "maria", PAUSED_AT: noted})).since == since


def test_an_old_annotation_does_not_apply_to_a_later_pause() -> None:
    assert pause_info(paused("kubectl-edit", **{PAUSED_BY: "maria"})).who == "with kubectl-edit"


@pytest.mark.parametrize("until", ["soon", "2026-11-15T04:30:00"])
def test_an_unreadable_end_is_none(until: str) -> None:
    assert pause_info(paused("foretop", **{PAUSED_BY: "maria", PAUSED_UNTIL: until})).until is None
