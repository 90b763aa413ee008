"""Descriptions of schedules in plain English."""

from __future__ import annotations

import pytest

from foretop_core.cron import Dialect, parse


@pytest.mark.parametrize(
    ("expression", "description"),
    [
        ("30 2 * * 1-5", "at 02:30 on Monday to Friday"),
        ("*/15 * 1 * *", "every 15 minutes on the 1st of the month"),
        ("0 0 * * *", "at 00:00 every day"),
        ("0 0 1 1 *", "at 00:00 on the 1st of January"),
        ("@every 90s", "every 90 seconds"),
        ("@every 1h", "every hour"),
        ("@every 1h30m", "every 90 minutes"),
        ("@every 2h5m", "every 2 hours and 5 minutes"),
        ("@every 1s", "every second"),
        ("@every 25h0m1s", "every 25 hours and 1 second"),
        ("@every 24h", "every 24 hours"),
        ("@every 119s", "every 119 seconds"),
        ("@every 120s", "every 2 minutes"),
        ("@every 121s", "every 2 minutes and 1 second"),
        ("@every 119m", "every 119 minutes"),
        ("@every 121m", "every 2 hours and 1 minute"),
        ("@every 120h", "every 120 hours"),
        ("@every 400h", "every 400 hours"),
        ("30 * * * *", "at 30 minutes past every hour"),
        ("0 * * * *", "every hour on the hour"),
        ("1 * * * *", "at 1 minute past every hour"),
        ("* * * * *", "every minute"),
        ("*/7 * * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"),
        ("5/15 * * * *", "every 15 minutes, from minute 5 of the hour"),
        ("0-5 * * * *", "at minutes 0 to 5 of every hour"),
        ("0-5 2 * * *", "every minute from 02:00 to 02:05, every day"),
        ("0-2 2 * * *", "at 02:00, 02:01 and 02:02 every day"),
        ("0-3 2 * * *", "every minute from 02:00 to 02:03, every day"),
        ("* 2 * * *", "every minute from 02:00 to 02:59, every day"),
        ("* 1,5 * * *", "every minute of the hours 01 and 05, every day"),
        ("5 1,2,4,8,9,12,15 * * *", "at minute 5 of the hours 01, 02, 04, 08, 09, 12 and 15 every day"),
        ("0,30 1,5,9 * * *", "at 01:00, 01:30, 05:00, 05:30, 09:00 and 09:30 every day"),
        ("* 9-17 * * 1-5", "every minute from 09:00 to 17:59 on Monday to Friday"),
        ("*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:45 on Monday to Friday"),
        ("5/15 9-17 * * 1-5", "every 15 minutes from 09:05 to 17:50 on Monday to Friday"),
        ("0 9-17 * * *", "every hour from 09:00 to 17:00, every day"),
        ("0 */2 * * *", "every 2 hours from 00:00 to 22:00, every day"),
        ("0 */6 * * *", "at 00:00, 06:00, 12:00 and 18:00 every day"),
        ("30 1/6 * * *", "at 01:30, 07:30, 13:30 and 19:30 every day"),
        ("0 0 13 * 5", "at 00:00 on the 13th of the month and on every Friday"),
        ("0 0 13 * 1,5", "at 00:00 on the 13th of the month and also on Monday and Friday"),
        ("0 0 13 3 5", "at 00:00 on the 13th and on every Friday in March"),
        ("0 0 1-31 * MON", "at 00:00 every day"),
        ("0 0 */1 * MON", "at 00:00 on Monday"),
        ("0 0 */2 * *", "at 00:00 on every 2nd day from the 1st to the 31st of the month"),
        (
            "0 0 */2 * MON",
            "at 00:00 on every 2nd day from the 1st to the 31st of the month and on every Monday",
        ),
        ("0 0 1,15 * *", "at 00:00 on the 1st and 15th of the month"),
        ("0 0 8-14 * *", "at 00:00 on the 8th to 14th of the month"),
        ("0 0 28-31 2,4,6 *", "at 00:00 on the 28th to 31st of February, April and June"),
        ("0 0 * 3 *", "at 00:00 every day in March"),
        ("*/15 * * 3 *", "every 15 minutes in March"),
        ("5,12,48,56 * * * 5", "at minutes 5, 12, 48 and 56 of every hour on Friday"),
        ("15-17,0/30 * * * *", "at minutes 0, 15 to 17 and 30 of every hour"),
        ("0,15,40 9-17,20 * * *", "at minutes 0, 15 and 40 of the hours 09 to 17 and 20 every day"),
        ("*/5 3 * * *", "every 5 minutes from 03:00 to 03:55, every day"),
        ("*/20 3 * * *", "at 03:00, 03:20 and 03:40 every day"),
        ("0 0 31 2 *", "never"),
        ("CRON_TZ=America/New_York 30 2 * * *", "at 02:30 every day, America/New_York time"),
        ("TZ=UTC 30 2 * * *", "at 02:30 every day, UTC time"),
        ("0 0 * * 0,6", "at 00:00 on Saturday and Sunday"),
        ("0 0 * * 6,0,1", "at 00:00 on Monday, Saturday and Sunday"),
        ("0,30 1,5 * * *", "at 01:00, 01:30, 05:00 and 05:30 every day"),
        ("0,30 1,5,6,7 * * 1", "at minutes 0 and 30 of the hours 01 and 05 to 07 on Monday"),
        ("0 3 ,5 * *", "at 03:00 on the 5th of the month"),
        ("0 12 1 */3 *", "at 12:00 on the 1st of January, April, July and October"),
        ("0 12 , * mon", "at 12:00 on Monday"),
        ("0 9,17 * 1-3,12 *", "at 09:00 and 17:00 every day in January to March and December"),
        ("59 23 31 12 *", "at 23:59 on the 31st of December"),
        ("*/30 9-17 * * *", "every 30 minutes from 09:00 to 17:30, every day"),
        ("*/30 9 * * *", "at 09:00 and 09:30 every day"),
        ("*/10 0,12 * * *", "at minutes 0, 10, 20, 30, 40 and 50 of the hours 00 and 12 every day"),
        ("@weekly", "at 00:00 on Sunday"),
        ("0 1-23/2 * * *", "every 2 hours from 01:00 to 23:00, every day"),
        ("0 22-23 * * *", "at 22:00 and 23:00 every day"),
    ],
)
def test_a_schedule_is_described_in_plain_english(expression: str, description: str) -> None:
    assert parse(expression, Dialect.ROBFIG).describe() == description


@pytest.mark.parametrize(
    ("expression", "description"),
    [
        ("0 2 1 * 1", "at 02:00 on the 1st if it is a Monday"),
        ("0 2 1,15 3 1,2", "at 02:00 on the 1st and 15th if it is a Monday or Tuesday in March"),
        ("0 2 8-14 * sun", "at 02:00 on the 8th to 14th if it is a Sunday"),
        ("0 2 13 * mon,wed,fri", "at 02:00 on the 13th if it is a Monday, Wednesday or Friday"),
        ("0 2 1 * 1-5", "at 02:00 on the 1st if it is a day from Monday to Friday"),
        ("0 2 1 * 1-4", "at 02:00 on the 1st if it is a day from Monday to Thursday"),
        ("0 2 1 * 1-3", "at 02:00 on the 1st if it is a Monday, Tuesday or Wednesday"),
        ("0 2 1 * 5-7", "at 02:00 on the 1st if it is a Friday, Saturday or Sunday"),
        ("0 2 1 * fri-mon", "at 02:00 on the 1st if it is a Monday, Friday, Saturday or Sunday"),
        (
            "0 0 */2 11-2 MON",
            "at 00:00 on every 2nd day from the 1st to the 31st if it is a Monday in "
            "January, February, November and December",
        ),
        ("0 2 * * 1", "at 02:00 on Monday"),
        ("0 2 1 * *", "at 02:00 on the 1st of the month"),
        ("0 0 1-31 * MON", "at 00:00 on Monday"),
        ("0 0 1 * 0-7", "at 00:00 on the 1st of the month"),
        ("0 22-2 * * *", "at 00:00, 01:00, 02:00, 22:00 and 23:00 every day"),
        ("0 0 , * mon", "never"),
        ("@manual", "never"),
        ("TZ=UTC @none", "never"),
        ("TZ='Asia/Tokyo' 0 2 * * *", "at 02:00 every day, Asia/Tokyo time"),
    ],
)
def test_day_fields_that_must_both_match_are_described_as_a_condition(expression: str, description: str) -> None:
    assert parse(expression, Dialect.NETRESEARCH).describe() == description


def test_a_stepped_star_beside_a_weekday_is_described_by_the_server_s_dialect() -> None:
    descriptions = {dialect: parse("0 0 */10 * MON", dialect).describe() for dialect in Dialect}
    days = "at 00:00 on every 10th day from the 1st to the 31st"
    assert descriptions == {
        Dialect.ROBFIG1: f"{days} if it is a Monday",
        Dialect.ROBFIG: f"{days} of the month and on every Monday",
        Dialect.NETRESEARCH: f"{days} if it is a Monday",
    }


def test_every_date_has_its_ending() -> None:
    endings = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
    for day in range(1, 32):
        described = parse(f"0 0 {day} * *", Dialect.ROBFIG).describe()
        assert described == f"at 00:00 on the {day}{endings.get(day, 'th')} of the month"
