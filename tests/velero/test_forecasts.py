"""How forecasts are judged, on small made-up stories."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.objects import at
from tests.velero.forecasts import Forecast, judge, table
from tests.velero.real_place import Deed
from tests.velero.watch_log import Heard

END = at("03:00:00")


def made(when: str, seen_after: float = 0.2) -> Heard:
    moment = at(when)
    meta = {
        "name": f"hourly-{moment:%Y%m%d%H%M%S}",
        "labels": {"velero.io/schedule-name": "hourly"},
        "creationTimestamp": moment.isoformat(),
    }
    return Heard(moment + timedelta(seconds=seen_after), "backups", "ADDED", {"metadata": meta})


@pytest.mark.share
@pytest.mark.parametrize(
    ("field", "said", "heard", "outcome"),
    [
        ("expectedStart", "02:41:33", [made("02:41:32")], "kept"),
        ("expectedStart", "02:41:33", [made("02:41:40")], "broken"),
        ("expectedStart", "02:41:33", [], "broken"),
        ("nextRun", "02:41:00", [made("02:41:33")], "kept"),
        ("nextRun", "02:42:00", [made("02:41:33")], "broken"),
        ("nextRun", "02:41:00", [made("02:40:10"), made("02:41:33")], "kept"),
    ],
)
def test_a_forecast_is_kept_where_the_backup_came_in_time(
    field: str, said: str, heard: list[Heard], outcome: str
) -> None:
    told = Forecast(at("02:40:11"), field, "hourly", at(said))
    (verdict,) = judge([told], heard, [], END)
    assert verdict.outcome == outcome


@pytest.mark.share
def test_a_deed_in_between_makes_a_forecast_void() -> None:
    told = Forecast(at("02:40:11"), "expectedStart", "hourly", at("02:41:33"))
    for deed in (
        Deed(at("02:41:00"), "kill"),
        Deed(at("02:40:10"), "start"),
        Deed(at("02:41:00"), "patch", "Schedule", "hourly"),
    ):
        (verdict,) = judge([told], [], [deed], END)
        assert verdict.outcome == "void"
    (verdict,) = judge([told], [], [Deed(at("02:41:00"), "patch", "Schedule", "other")], END)
    assert verdict.outcome == "broken"
    assert "broken" in table([("a story", verdict)])
