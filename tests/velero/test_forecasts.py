"""How forecasts are judged, on small made-up stories."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.objects import at
from tests.velero.forecasts import Forecast, Observed, judge, table, table_row
from tests.velero.real_cluster import UserAction
from tests.velero.velero_log import VeleroLog, read_log
from tests.velero.watch_events import WatchEvent

pytestmark = pytest.mark.share

END = at("03:00:00")


def event(when: str, created: str, change: str = "ADDED", **status: Any) -> WatchEvent:
    moment = at(created)
    meta = {
        "name": f"hourly-{moment:%Y%m%d%H%M%S}",
        "labels": {"velero.io/schedule-name": "hourly"},
        "creationTimestamp": moment.isoformat(),
    }
    return WatchEvent(at(when) + timedelta(seconds=0.2), "backups", change, {"metadata": meta, "status": status})


def created(when: str) -> WatchEvent:
    return event(when, when)


def outcome(
    forecast: Forecast, events: list[WatchEvent], actions: list[UserAction] | None = None, log: VeleroLog | None = None
) -> str:
    (verdict,) = judge([forecast], Observed(events, actions or [], log or VeleroLog(), END))
    return verdict.outcome


@pytest.mark.parametrize(
    ("field", "predicted", "events", "expected"),
    [
        ("expected start", "02:41:33", [created("02:41:32")], "kept"),
        ("expected start", "02:41:33", [created("02:41:40")], "broken"),
        ("expected start", "02:41:33", [created("02:40:50"), created("02:41:33")], "broken"),
        ("expected start", "02:41:33", [], "broken"),
        ("expected start", "03:01:33", [], "open"),
        ("next run", "02:41:00", [created("02:41:33")], "kept"),
        ("next run", "02:42:00", [created("02:41:33")], "broken"),
        ("next run", "02:41:00", [created("02:40:01"), created("02:41:33")], "kept"),
        ("next run", "02:41:00", [], "broken"),
    ],
)
def test_a_forecast_is_kept_where_the_backup_came_in_time(
    field: str, predicted: str, events: list[WatchEvent], expected: str
) -> None:
    assert outcome(Forecast(at("02:40:11"), field, "hourly", at(predicted)), events) == expected


def test_a_run_may_come_a_minute_after_its_own_backup_lets_it() -> None:
    forecast = Forecast(at("02:40:11"), "next run", "hourly", at("02:41:00"))
    running = event("02:40:00", "02:40:00", phase="InProgress")
    ended = event("02:45:10", "02:40:00", "MODIFIED", phase="Completed")
    assert outcome(forecast, [running, ended, created("02:45:33")]) == "kept"
    assert outcome(forecast, [running, ended, created("02:46:33")]) == "broken"


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (UserAction(at("02:41:00"), "kill"), "void"),
        (UserAction(at("02:40:10"), "start"), "void"),
        (UserAction(at("02:41:00"), "patch", "Schedule", "hourly"), "void"),
        (UserAction(at("02:41:00"), "patch", "Schedule", "other"), "broken"),
        (UserAction(at("02:42:00"), "kill"), "broken"),
    ],
)
def test_what_a_person_does_in_between_makes_a_forecast_void(action: UserAction, expected: str) -> None:
    forecast = Forecast(at("02:40:11"), "expected start", "hourly", at("02:41:33"))
    assert outcome(forecast, [], [action]) == expected


def test_a_change_that_velero_answers_within_the_second_makes_a_forecast_void() -> None:
    """A backup's own time has whole seconds, and so can lie before the change that it answers."""
    forecast = Forecast(at("02:40:11.150"), "expected start", "hourly", at("02:41:33"))
    unpaused = UserAction(at("02:40:11.100"), "patch", "Schedule", "hourly")
    assert outcome(forecast, [created("02:40:11")], [unpaused]) == "void"


LOG = """\
time="2026-11-15T02:40:33Z" level=debug msg="enqueueing resources ..." controller=schedule logSource="a.go:70"
time="2026-11-15T02:40:35Z" level=debug msg="enqueueing resources ..." controller=backup-queue logSource="a.go:70"
time="2026-11-15T02:41:{look}Z" level=debug msg="enqueueing resources ..." controller=schedule logSource="a.go:70"
time="2026-11-15T02:41:{submitted}Z" level=info msg="Schedule is due, going to submit backup." schedule=velero/hourly
"""


@pytest.mark.parametrize(("look", "submitted", "expected"), [(39, 39, "void"), (33, 39, "void"), (33, 33, "broken")])
def test_a_late_backup_is_void_only_where_velero_s_log_shows_the_delay(
    look: int, submitted: int, expected: str
) -> None:
    log = read_log(LOG.format(look=look, submitted=submitted))
    assert len(log.looks) == 2
    assert [decision.at for decision in log.of("hourly")] == [at(f"02:41:{submitted}")]
    forecast = Forecast(at("02:40:11"), "expected start", "hourly", at("02:41:33"))
    assert outcome(forecast, [created("02:41:39")], log=log) == expected


@pytest.mark.parametrize(
    ("predicted", "ahead", "expected"),
    [("02:45:10", 0, "kept"), ("02:43:00", 0, "broken"), ("02:43:00", 2, "kept")],
)
def test_an_estimated_end_has_a_minute_for_each_run_ahead(predicted: str, ahead: int, expected: str) -> None:
    done = event("02:45:30", "02:40:00", "MODIFIED", phase="Completed", completionTimestamp="2026-11-15T02:45:30Z")
    name = done.body["metadata"]["name"]
    forecast = Forecast(at("02:40:11"), "estimated end", name, at(predicted), ahead)
    assert outcome(forecast, [done]) == expected
    assert outcome(forecast, [done], [UserAction(at("02:41:00"), "freeze storage")]) == "void"


def test_a_guess_that_was_told_as_one_is_kept_or_void() -> None:
    done = event("02:45:30", "02:40:00", "MODIFIED", phase="Completed", completionTimestamp="2026-11-15T02:45:30Z")
    name, guess = done.body["metadata"]["name"], "too few earlier runs of schedule hourly: 2, needs 3"
    forecast = Forecast(at("02:40:11"), "estimated end", name, at("02:43:00"), guess=guess)
    assert outcome(forecast, [done]) == "void"
    assert outcome(replace(forecast, predicted=at("02:45:00")), [done]) == "kept"


def test_the_table_counts_and_says_why() -> None:
    forecast = Forecast(at("02:40:11"), "expected start", "hourly", at("02:41:33"))
    verdicts = judge([forecast, forecast], Observed([created("02:41:40")], [], VeleroLog(), END))
    text = table(table_row("a story", verdict) for verdict in verdicts)
    assert "a story                             expected start         2     0       2     0     0" in text
    assert text.count("broken: a story: expected start of hourly, 02:41:33 forecast at 02:40:11: it came at") == 2
