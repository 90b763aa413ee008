"""The primer's preview of two fields while they are being typed."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import Dialect
from foretop_core.models import CronJob, from_builtins
from foretop_core.rooms.primer.preview import coming, pair_axis, pair_cells, preview, taken_from
from foretop_core.rooms.primer.priming import Pair
from foretop_core.tables.timeline.time_axis import TimeAxis
from tests.objects import NOW, at, backup, schedule


def test_a_known_expression_is_primed_and_checked() -> None:
    shown = preview("0/15 * 1 * *", "10", Dialect.ROBFIG)
    assert shown.primed is not None
    assert shown.primed.expressions[:2] == ("5,20,35 * 1 * *", "50 0-22 1 * *")
    assert not shown.primed.exact
    assert shown.verdict is not None
    assert (shown.verdict.missed_in_8_years, shown.verdict.extra_in_8_years) == (95, 96)
    assert shown.meaning == "every 15 minutes on the 1st of the month"


def test_a_parse_error_is_located() -> None:
    shown = preview("0 0 31 2,13 *", "10", Dialect.ROBFIG)
    assert "above maximum (12)" in shown.problem
    assert shown.problem_at == len("0 0 31 2,")
    assert shown.primed is None
    assert coming(shown, NOW) == ()
    assert preview("TZ=", "10", Dialect.ROBFIG).problem_at == len("TZ=")
    assert preview("0 2 * *", "10", Dialect.ROBFIG).problem_at is None


@pytest.mark.parametrize("minutes", ["", "ten", "-1", "1.5", "10081", "٣", "9" * 30])
def test_invalid_warm_up_minutes_are_reported(minutes: str) -> None:
    shown = preview("0 2 * * *", minutes, Dialect.ROBFIG)
    assert shown.problem_in_minutes
    assert "0 to 10,080" in shown.problem
    assert shown.meaning


@pytest.mark.parametrize(("minutes", "read"), [("0", 0), ("1", 1), ("10080", 10_080), ("00000010", 10)])
def test_minutes_from_none_to_a_week_are_read(minutes: str, read: int) -> None:
    shown = preview("0 2 * * *", minutes, Dialect.ROBFIG)
    assert (shown.minutes, shown.problem, shown.problem_in_minutes) == (read, "", False)


def test_minutes_that_cannot_be_read_are_none() -> None:
    for text in ("0 2 * * *", "0 0 31 13 *"):
        assert preview(text, "ten", Dialect.ROBFIG).minutes == 0
        assert preview(text, "0" * 8 + "1", Dialect.ROBFIG).minutes == 0
    assert preview("0 2 * *", "10", Dialect.ROBFIG).minutes == 10


def test_within_a_minute_the_same_pairs_come() -> None:
    shown = preview("0 3 * * *", "10", Dialect.ROBFIG)
    late, early = at("02:50:59").replace(microsecond=999_999), at("02:50:00")
    assert coming(shown, late) == coming(shown, early)
    assert coming(shown, early)[0].warmup > early


def _pairs(*minutes: int, warm_up: int = 10) -> list[Pair]:
    first = at("03:00")
    return [Pair(first + timedelta(minutes=minute), first + timedelta(minutes=minute + warm_up)) for minute in minutes]


def test_an_axis_has_four_pairs_where_they_have_room_beside_each_other() -> None:
    assert (pair_axis(_pairs(0, 60), 10, 8, UTC).step, pair_axis(_pairs(0, 60), 10, 7, UTC).step) == (10, 8)
    close = pair_axis(_pairs(0, 20, 40, 60, 80), 10, 71, UTC)
    assert (close.step, close.cells, close.start) == (1, 71, at("03:00"))
    assert pair_axis(_pairs(0, 20, 40, 60), 10, 71, UTC).step == 1
    assert pair_axis(_pairs(0, 20), 0, 40, UTC).step == 1
    assert pair_axis(_pairs(0, 60), 0, 40, UTC).step == 1


@pytest.mark.parametrize(
    ("minutes", "room", "step"), [(30, 41, 1), (30, 40, 2), (3, 41, 1), (3, 40, 2), (60, 81, 1), (60, 80, 2)]
)
def test_a_pair_alone_has_a_third_more_than_its_warm_up(minutes: int, room: int, step: int) -> None:
    alone = _pairs(0, warm_up=minutes)
    assert pair_axis(alone, minutes, room, UTC).step == step


def test_a_pair_is_drawn_as_far_as_it_is_on_the_axis() -> None:
    ruler = TimeAxis(at("03:00"), 10, 4)
    assert pair_cells(_pairs(0, warm_up=20), ruler) == "▒▒| "
    assert pair_cells(_pairs(-10), ruler) == "|   "
    assert pair_cells(_pairs(-20), ruler) == "    "
    assert pair_cells(_pairs(20), ruler) == "  ▒|"
    assert pair_cells(_pairs(30), ruler) == "   ▒"
    assert pair_cells(_pairs(40), ruler) == "    "
    assert pair_cells(_pairs(-30, warm_up=90), ruler) == "▒▒▒▒"
    assert pair_cells([*_pairs(0), *_pairs(0, warm_up=30)], ruler) == "▒|▒|"


@pytest.mark.parametrize("text", ["@every 1h", "0 0 31 2 *"])
def test_a_schedule_that_cannot_be_primed_has_a_reason(text: str) -> None:
    shown = preview(text, "10", Dialect.ROBFIG)
    assert shown.primed is None
    assert shown.problem.startswith(f"cannot prime {text}")


def test_pairs_are_drawn_at_their_times_on_the_axis() -> None:
    shown = preview("0 * * * *", "10", Dialect.ROBFIG)
    pairs = coming(shown, NOW)
    assert (pairs[0].warmup, pairs[0].run) == (at("02:50"), at("03:00"))
    ruler = pair_axis(pairs, 10, 66, UTC)
    drawn = pair_cells(pairs, ruler)
    assert len(drawn) == 66
    assert drawn.count("|") >= 4
    for pair in pairs[:4]:
        assert drawn[ruler.cell_of(pair.run)] == "|"
        assert drawn[ruler.cell_of(pair.run) - 1] == "▒"
        assert drawn[ruler.cell_of(pair.warmup)] == "▒"


def test_a_warm_up_weeks_away_is_drawn_on_its_own_scale() -> None:
    shown = preview("0 0 1 1 *", "30", Dialect.ROBFIG)
    pairs = coming(shown, NOW)
    drawn = pair_cells(pairs, pair_axis(pairs, 30, 66, UTC))
    assert drawn.count("▒") >= 10
    assert drawn.count("|") == 1


def test_pairs_keep_their_distance_across_a_clock_change() -> None:
    shown = preview("CRON_TZ=Europe/Berlin 30 3 * * *", "120", Dialect.ROBFIG)
    assert shown.zone == ZoneInfo("Europe/Berlin")
    first = coming(shown, at("2026-03-28T12:00:00Z"))[0]
    assert first.run - first.warmup == timedelta(minutes=120)
    assert first.run == at("2026-03-29T01:30:00Z")


def test_expressions_are_collected_from_all_kinds_that_have_one() -> None:
    zoned = {"metadata": {"name": "j", "namespace": "b"}, "spec": {"schedule": "0 6 * * *", "timeZone": "Asia/Tokyo"}}
    assert taken_from(schedule(cron="0 2 * * *")) == ("0 2 * * *", None)
    assert taken_from(from_builtins(CronJob, zoned)) == ("CRON_TZ=Asia/Tokyo 0 6 * * *", None)
    assert taken_from(backup()) is None
    assert taken_from(None) is None
