"""The primer's preview of two fields while they are being typed."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import Dialect
from foretop_core.models import CronJob, from_builtins
from foretop_core.tables.timeline.primer_preview import coming, pair_axis, pair_cells, preview, taken_from
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


@pytest.mark.parametrize("minutes", ["", "ten", "-1", "1.5", "10081", "٣", "9" * 30])
def test_invalid_warm_up_minutes_are_reported(minutes: str) -> None:
    shown = preview("0 2 * * *", minutes, Dialect.ROBFIG)
    assert shown.problem_in_minutes
    assert "0 to 10,080" in shown.problem
    assert shown.meaning


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
        assert drawn[ruler.cell_of(pair.run) - 1] == "░"
        assert drawn[ruler.cell_of(pair.warmup)] == "░"


def test_a_warm_up_weeks_away_is_drawn_on_its_own_scale() -> None:
    shown = preview("0 0 1 1 *", "30", Dialect.ROBFIG)
    pairs = coming(shown, NOW)
    drawn = pair_cells(pairs, pair_axis(pairs, 30, 66, UTC))
    assert drawn.count("░") >= 10
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
