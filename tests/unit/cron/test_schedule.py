"""The public methods of a schedule."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import CronError, CronSchedule, Dialect, parse
from foretop_core.cron.wall_clock_calendar import month_length
from foretop_core.errors import BadInput


def robfig(text: str) -> CronSchedule:
    return parse(text, Dialect.ROBFIG)


def at(text: str, zone: str = "UTC") -> datetime:
    moment = datetime.fromisoformat(text)
    if zone == "UTC":
        return moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=ZoneInfo(zone))


def runs_in_utc(schedule: CronSchedule, start: datetime, count: int) -> list[str]:
    found = []
    moment: datetime | None = start
    for _ in range(count):
        assert moment is not None
        moment = schedule.next(moment)
        found.append("never" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}")
    return found


def test_a_run_at_this_very_second_is_not_the_next_one() -> None:
    assert robfig("0 3 * * *").next(at("2026-03-01 03:00:00")) == at("2026-03-02 03:00")
    assert robfig("0 3 * * *").next(at("2026-03-01 02:59:59.999999")) == at("2026-03-01 03:00")


def test_the_result_is_in_the_zone_of_the_argument() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")
    found = robfig("CRON_TZ=America/New_York 0 3 * * *").next(datetime(2026, 3, 1, tzinfo=tokyo))
    assert found is not None
    assert found.tzinfo is tokyo
    assert found == at("2026-03-01 03:00", "America/New_York")


def test_a_schedule_in_utc_counts_from_an_argument_in_another_zone() -> None:
    east = timezone(timedelta(hours=2))
    found = robfig("CRON_TZ=UTC 0 2 * * *").next(datetime(2026, 1, 1, 3, 0, tzinfo=east))
    assert found == at("2026-01-01 02:00")
    assert found is not None
    assert found.tzinfo is east


def test_without_a_zone_it_runs_in_the_zone_of_the_argument() -> None:
    plus_two = timezone(timedelta(hours=2))
    assert robfig("0 3 * * *").next(datetime(2026, 3, 1, tzinfo=plus_two)) == at("2026-03-01 01:00")
    assert robfig("TZ=Local 0 3 * * *").next(datetime(2026, 3, 1, tzinfo=plus_two)) == at("2026-03-01 01:00")
    assert robfig("TZ= 0 3 * * *").next(datetime(2026, 3, 1, tzinfo=plus_two)) == at("2026-03-01 03:00")


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        robfig("* * * * *").next(datetime(2026, 3, 1))  # noqa: DTZ001 the mistake under test


def test_a_skipped_hour_is_dropped_and_a_repeated_hour_runs_twice() -> None:
    schedule = robfig("TZ=America/New_York 30 1,2 * * *")
    assert runs_in_utc(schedule, at("2026-03-08 05:00"), 3) == [
        "2026-03-08 06:30",
        "2026-03-09 05:30",
        "2026-03-09 06:30",
    ]
    assert runs_in_utc(schedule, at("2026-11-01 04:00"), 3) == [
        "2026-11-01 05:30",
        "2026-11-01 06:30",
        "2026-11-01 07:30",
    ]


def test_cairo_skips_the_friday_on_which_its_clocks_jump_at_midnight() -> None:
    schedule = robfig("TZ=Africa/Cairo 0 12 * * 5")
    assert schedule.next(at("2026-04-20 00:00")) == at("2026-05-01 09:00")
    assert schedule.next(at("2026-04-24 00:00")) == at("2026-04-24 09:00")
    assert schedule.previous(at("2026-04-28 00:00")) == at("2026-04-17 10:00")


def test_a_search_from_a_month_whose_first_midnight_is_skipped_misses_the_first_of_others() -> None:
    """The clocks of Damascus went forward at midnight of 1 April until 2006: the search goes on at 01:00 from there."""
    schedule = robfig("TZ=Asia/Damascus 0 0 1 6 *")
    assert schedule.next(at("2000-04-04 09:30")) is None
    assert schedule.next(at("2000-05-04 09:30")) == at("2000-05-31 21:00")
    assert schedule.next(at("2004-10-09 09:30")) == at("2007-05-31 21:00")


def test_a_search_that_falls_back_into_the_month_before_steps_on_from_its_last_day() -> None:
    """West of Greenwich the skipped midnight of 1 October becomes 23:00 of 30 September."""
    start = at("1994-10-09 09:30")
    assert robfig("TZ=America/Asuncion 0 0 15 12 *").next(start) == at("1996-12-15 03:00")
    assert robfig("TZ=America/Asuncion 0 12 30 11 *").next(start) == at("1996-11-30 15:00")
    oldest = parse("30 23 31 12 *", Dialect.ROBFIG1)
    found = oldest.next(start.astimezone(ZoneInfo("America/Asuncion")))
    assert found is not None
    assert found.astimezone(UTC) == at("1995-01-01 02:30")


def test_a_search_by_day_near_a_change_leaves_neither_its_month_nor_its_hour() -> None:
    havana = robfig("TZ=America/Havana 0 1 8 3 *")
    assert havana.next(at("2026-03-02 12:00")) == at("2026-03-08 05:00"), "on the day whose midnight is skipped"
    berlin = robfig("TZ=Europe/Berlin 0 12 5 3 *")
    assert berlin.next(at("2024-03-29 12:00")) == at("2025-03-05 11:00"), "not on 5 April"


def test_lord_howe_skips_two_o_clock_on_the_day_its_clocks_go_back() -> None:
    found = robfig("TZ=Australia/Lord_Howe 0 2 * * *").next(at("2026-04-04 00:00", "Australia/Lord_Howe"))
    assert found is not None
    assert runs_in_utc(robfig("TZ=Australia/Lord_Howe 0 2 * * *"), found, 1) == ["2026-04-05 15:30"]


def test_the_search_that_hangs_the_library_in_apia_ends_here() -> None:
    assert robfig("TZ=Pacific/Apia 0 0 * * 6").next(at("2011-12-26 00:00")) is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Pacific/Kiritimati", "Pacific/Niue"])
@pytest.mark.parametrize("text", ["* * * * *", "0 2 * * *", "59 23 31 12 *", "0 0 29 2 *"])
def test_a_search_in_a_zone_ends_with_the_last_year_of_all(zone: str, text: str) -> None:
    """An object may say that it ran last in a year in which no clock can be told."""
    for dialect in (Dialect.ROBFIG, Dialect.NETRESEARCH):
        parsed = parse(f"CRON_TZ={zone} {text}", dialect)
        for moment in (datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 6, 1, tzinfo=UTC)):
            for at in (moment, moment + timedelta(hours=13), moment.replace(month=12, day=31, hour=23, minute=59)):
                run, before = parsed.next(at), parsed.previous(at)
                assert run is None or (at < run and run.year <= at.year + 6)
                assert before is None or before < at
                assert all(at < one for one in islice(parsed.between(at, at + timedelta(days=1)), 3))


def test_the_search_ends_with_the_fifth_year() -> None:
    leap_day = robfig("0 0 29 2 *")
    assert leap_day.next(at("2024-02-29 00:00")) == at("2028-02-29 00:00")
    assert leap_day.next(at("1996-02-29 00:00")) == at("2000-02-29 00:00")
    assert leap_day.next(at("2096-02-29 00:00")) is None
    assert leap_day.next(at("2098-12-31 23:59:58")) is None
    assert leap_day.next(at("2098-12-31 23:59:59")) == at("2104-02-29 00:00")
    assert not leap_day.never_fires
    monday = parse("TZ=America/New_York 0 0 1 1 1", Dialect.NETRESEARCH)
    assert monday.next(at("2018-01-02 12:00")) is None
    assert monday.next(at("2019-01-02 12:00")) == at("2024-01-01 05:00")


@pytest.mark.parametrize(
    "expression", ["0 0 31 2 *", "0 0 30,31 2 ?", ", * * * *", "0 , * * *", "* * * , *", "0 0 , * ,"]
)
def test_an_expression_that_matches_no_date_never_fires(expression: str) -> None:
    schedule = robfig(expression)
    assert schedule.never_fires
    assert schedule.next(at("2026-01-01 00:00")) is None
    assert schedule.next(at("2026-01-01 00:00", "America/New_York")) is None
    assert schedule.previous(at("2026-01-01 00:00")) is None
    assert schedule.describe() == "never"


def test_either_day_field_is_enough_unless_one_is_starred() -> None:
    start = at("2026-01-01 00:00")
    assert runs_in_utc(robfig("0 0 1-31 * MON"), start, 2) == ["2026-01-02 00:00", "2026-01-03 00:00"]
    assert runs_in_utc(robfig("0 0 */1 * MON"), start, 2) == ["2026-01-05 00:00", "2026-01-12 00:00"]


def test_a_constant_delay_counts_from_the_whole_second() -> None:
    schedule = robfig("@every 90.7s")
    assert schedule.every == timedelta(seconds=90)
    assert schedule.next(at("2026-01-01 00:00:00.9")) == at("2026-01-01 00:01:30")
    assert schedule.previous(at("2026-01-01 00:00")) is None
    assert not schedule.never_fires
    assert robfig("@every -5h").every == robfig("@every 1ms").every == timedelta(seconds=1)
    assert robfig(f"@every -{2**63}ns").every == timedelta(seconds=1), "the least duration that Go reads"


def test_a_constant_delay_crosses_a_change_of_the_clocks_in_real_hours() -> None:
    found = robfig("@every 24h").next(at("2026-03-07 12:00", "America/New_York"))
    assert found is not None
    assert found.astimezone(UTC) == at("2026-03-08 17:00")


def test_between_includes_its_end_and_excludes_its_start() -> None:
    start, end = at("2026-01-01 00:00"), at("2026-01-01 01:00")
    assert [run.minute for run in robfig("*/20 * * * *").between(start, end)] == [20, 40, 0]


def test_between_over_the_repeated_hour_returns_both_runs() -> None:
    start = at("2026-11-01 00:00", "America/New_York")
    end = at("2026-11-01 03:00", "America/New_York")
    assert [run.fold for run in robfig("30 1 * * *").between(start, end)] == [0, 1]


def test_the_previous_run_in_a_zone_crosses_the_changes() -> None:
    yearly = robfig("TZ=America/New_York 0 0 1 1 *")
    assert yearly.previous(at("2026-12-01 00:00")) == at("2026-01-01 05:00")
    assert yearly.previous(at("2026-01-01 05:00")) == at("2025-01-01 05:00")
    minutely = robfig("TZ=America/New_York * 2 * * *")
    assert minutely.previous(at("2026-03-08 12:00")) == at("2026-03-07 07:59")


def test_the_previous_run_is_never_one_that_the_oldest_library_misses() -> None:
    """Its search leaves midnight where the clocks skip it, 5 September, and so misses the 1st of October."""
    monthly, zone = parse("59 2 1 * *", Dialect.ROBFIG1), "America/Santiago"
    assert monthly.next(at("2027-09-01 02:59", zone)) == at("2027-11-01 02:59", zone)
    assert monthly.previous(at("2027-10-04 15:01", zone)) == at("2027-09-01 02:59", zone)


@pytest.mark.parametrize(
    ("dialect", "expression", "runs"),
    [
        # The clocks go forward by half an hour.
        *(
            (
                dialect,
                "TZ=Australia/Lord_Howe 0 0 * * 0",
                ("2024-09-28 13:30", "2024-10-05 13:30", "2024-10-19 13:00", "2024-10-26 13:00"),
            )
            for dialect in (Dialect.ROBFIG, Dialect.NETRESEARCH)
        ),
        # The clocks go forward at a minute past midnight.
        (
            Dialect.ROBFIG,
            "TZ=America/St_Johns 0 0 * * 0",
            ("1989-03-26 03:30", "1989-04-02 03:30", "1989-04-16 02:30", "1989-04-23 02:30"),
        ),
    ],
)
def test_a_run_that_the_libraries_miss_after_an_odd_change_is_not_the_previous_one(
    dialect: Dialect, expression: str, runs: tuple[str, ...]
) -> None:
    """Their search leaves midnight by minutes, and returns to it only by whole hours."""
    schedule, expected = parse(expression, dialect), [at(run) for run in runs]
    found, moment = [expected[0]], expected[0]
    while len(found) < len(expected):
        following = schedule.next(moment)
        assert following is not None
        moment = following
        found.append(moment)
    assert found == expected
    assert [schedule.previous(run) for run in expected[1:]] == expected[:-1]
    assert list(schedule.between(expected[1] + timedelta(days=4), expected[-1])) == expected[2:]


@pytest.mark.parametrize(
    ("before", "previous"),
    [
        ("2026-04-02 03:40:01", "2026-04-02 03:40"),
        ("2026-04-02 03:40", "2026-04-02 03:10"),
        ("2026-04-02 05:05", "2026-04-02 03:40"),
        ("2026-04-02 03:10", "2025-06-09 05:40"),
        ("2026-04-05 00:00", "2026-04-02 05:40"),
        ("2026-04-09 03:00", "2026-04-02 05:40"),
        ("2026-05-01 00:00", "2026-04-09 05:40"),
        ("2026-01-01 00:00", "2025-06-09 05:40"),
    ],
)
def test_the_previous_run_is_the_last_minute_hour_day_and_month_before(before: str, previous: str) -> None:
    assert robfig("10,40 3,5 2,9 4,6 *").previous(at(before)) == at(previous)


def test_the_search_for_a_previous_run_ends_with_the_fifth_year() -> None:
    leap_day = robfig("0 0 29 2 *")
    assert leap_day.previous(at("2101-07-01 00:00")) == at("2096-02-29 00:00")
    assert leap_day.previous(at("2102-01-01 00:00")) is None


def test_schedules_are_equal_by_their_text() -> None:
    assert robfig("0 0 * * *") == robfig("0 0 * * *")
    assert len({robfig("0 0 * * *"), robfig("0 0 * * *"), robfig("0  0 * * *")}) == 2
    assert robfig("TZ=UTC 0 0 * * *").zone is UTC
    assert robfig("0 0 * * *").zone is None


def test_the_fields_are_bits_and_a_constant_delay_has_none() -> None:
    fields = robfig("0,30 9-10 ? feb mon").fields
    assert (fields.minute, fields.hour, fields.month, fields.dow) == (1 | 1 << 30, 0b11 << 9, 0b100, 0b10)
    assert not fields.either_day
    assert robfig("0 0 1 * mon").fields.either_day
    with pytest.raises(ValueError, match="constant delay"):
        robfig("@every 1h").fields  # noqa: B018 the access is what is refused


@pytest.mark.parametrize(
    ("expression", "field", "offset"),
    [
        ("0 24 * * *", 1, 2),
        ("TZ=UTC  0 0 1,40 * *", 2, 14),
        ("0 0 * * mon,,xyz", 4, 13),
        ("TZ=Nowhere 0 0 * * *", None, 3),
        ("TZ=UTC @every 1d", None, 14),
        (" 0 0 * *", None, None),
    ],
)
def test_an_error_has_its_field_and_offset(expression: str, field: int | None, offset: int | None) -> None:
    with pytest.raises(CronError) as caught:
        robfig(expression)
    assert (caught.value.field, caught.value.offset) == (field, offset)
    assert isinstance(caught.value, BadInput)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("@a  \n b", "unrecognized descriptor: @a  \n b"),
        (
            '* * * * "\\\x1c',
            r'failed to parse int from "\{}: strconv.Atoi: parsing "\"\\\x1c": invalid syntax',
        ),
        (
            "@every 1\u00e9\n",
            r"failed to parse duration @every 1{}: time: "
            r'unknown unit "\xc3\xa9\x0a" in duration "1\xc3\xa9\x0a"',
        ),
        (
            "*/99999999999999999999x * * * *",
            'failed to parse int from {}: strconv.Atoi: parsing "{}": value out of range',
        ),
        ("TZ=America 0 0 * * *", "provided bad location America: is a directory"),
        ("TZ=a\\b 0 0 * * *", "provided bad location a\\b: unknown time zone a\\b"),
        ("TZ=\\b 0 0 * * *", "provided bad location \\b: time: invalid location name"),
    ],
)
def test_odd_characters_are_quoted_as_in_go(expression: str, error: str) -> None:
    odd = {'* * * * "\\\x1c': "\x1c", "@every 1\u00e9\n": "\u00e9\n"}.get(expression, "99999999999999999999x")
    with pytest.raises(CronError) as caught:
        robfig(expression)
    assert str(caught.value) == error.replace("{}", odd)


def test_the_turkish_capital_i_is_accepted_in_friday_as_in_go() -> None:
    assert robfig("0 0 * * FR\u0130").fields.dow == 1 << 5


@pytest.mark.parametrize(
    ("zone", "trouble"),
    [
        ("Africa/Cairo/,20,7", "not a directory"),
        ("Europe/Berlin/", "not a directory"),
        ("UTC/.", "not a directory"),
        ("Europe/Berlin/" + "x" * 300, "not a directory"),
        ("America/", "is a directory"),
        ("./America/.", "is a directory"),
        (".", "is a directory"),
        ("Nowhere/./Land", "unknown time zone Nowhere/./Land"),
        ("./Local", "unknown time zone ./Local"),
        ("Europe/Ber\0lin", "invalid argument"),
        ("Europe/" + "x" * 256, "file name too long"),
        ("Nowhere/" + "x" * 256, "unknown time zone Nowhere/" + "x" * 256),
    ],
)
def test_an_invalid_zone_is_refused_with_the_server_s_message(zone: str, trouble: str) -> None:
    with pytest.raises(CronError) as caught:
        robfig(f"CRON_TZ={zone} 0 0 * * *")
    assert str(caught.value) == f"provided bad location {zone}: {trouble}"


def test_an_indirect_path_to_a_zone_is_resolved() -> None:
    assert robfig("TZ=./Europe//./Berlin 0 0 * * *").zone == ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("year", [2023, 2024, 2100, 2400])
def test_a_month_has_the_days_of_the_calendar(year: int) -> None:
    assert [month_length(year, month) for month in range(1, 13)] == [
        monthrange(year, month)[1] for month in range(1, 13)
    ]


@pytest.mark.parametrize("dialect", [Dialect.ROBFIG, Dialect.NETRESEARCH])
def test_the_last_run_before_the_morning_of_a_change_of_the_clocks_was_by_the_clocks_of_before(
    dialect: Dialect,
) -> None:
    """At 03:00 the clocks of Berlin went back to 02:00: its midnight was two hours before that of UTC."""
    nightly = parse("CRON_TZ=Europe/Berlin 0 0 * * *", dialect)
    morning = datetime(2025, 10, 26, 3, 37, tzinfo=UTC)
    assert nightly.previous(morning) == datetime(2025, 10, 25, 22, 0, tzinfo=UTC)
