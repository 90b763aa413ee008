"""The differences between the dialects, one at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import CronError, Dialect, parse
from foretop_core.cron.go_stdlib import quote_rune

ROBFIG1, ROBFIG, NETRESEARCH = Dialect
NEW_YORK = ZoneInfo("America/New_York")


def refusal(text: str, dialect: Dialect) -> str:
    try:
        parse(text, dialect)
    except CronError as error:
        return str(error)
    return ""


def runs_in_2027(text: str, dialect: Dialect) -> int:
    last_second = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    return len(list(parse(text, dialect).between(last_second, datetime(2027, 12, 31, 23, 59, tzinfo=UTC))))


@pytest.mark.parametrize(
    ("text", "counts"),
    [("0 2 1 * 1", (61, 61, 3)), ("0 2 */2 * 1", (27, 211, 27)), ("0 2 * * 1", (52, 52, 52))],
)
def test_both_day_fields_must_match_or_either(text: str, counts: tuple[int, int, int]) -> None:
    assert tuple(runs_in_2027(text, dialect) for dialect in Dialect) == counts


def test_the_same_text_in_two_dialects_is_two_schedules() -> None:
    made = {parse("0 0 * * *", dialect) for dialect in (*Dialect, *Dialect)}
    assert len(made) == 3
    assert {schedule.dialect for schedule in made} == set(Dialect)


@pytest.mark.parametrize(
    ("text", "robfig", "netresearch"),
    [
        (
            "18446744073709551615x * * * *",
            "failed to parse int from 18446744073709551615x: strconv.Atoi: parsing "
            '"18446744073709551615x": invalid syntax',
            'failed to parse int from "18446744073709551615x": strconv.Atoi: parsing '
            '"18446744073709551615x": invalid syntax',
        ),
        ("0 */24 * * *", "", 'step (24) must be less than range size (24): "*/24"'),
        ("0 0 * * 7", "end of range (7) above maximum (6): 7", ""),
        ("0 22-2 * * *", "beginning of range (22) beyond end of range (2): 22-2", ""),
        ("0 0 * * */8", "", 'step (8) must be less than range size (8): "*/8"'),
        (
            "66-5/2 * * * *",
            "beginning of range (66) beyond end of range (5): 66-5/2",
            'step (2) must be less than range size (0): "66-5/2"',
        ),
        ("1-2-3/4 * * * *", "too many hyphens: 1-2-3/4", 'too many hyphens: "1-2-3"'),
        (
            "*/0 * * * *",
            "step of range should be a positive number: */0",
            'step of range must be a positive number: "*/0"',
        ),
        ("0 0 40 13 *", "end of range (40) above maximum (31): 40", 'end of range (13) above maximum (12): "13"'),
        ("@every 500ms", "", '@every duration must be at least 1s: "@every 500ms"'),
        ("@manual", "unrecognized descriptor: @manual", ""),
        (
            f"TZ={'A' * 64} 0 2 * * *",
            f"provided bad location {'A' * 64}: unknown time zone {'A' * 64}",
            f'unknown time zone "{"A" * 64}": unknown time zone {"A" * 64}',
        ),
        (
            f"TZ={'A' * 65} 0 2 * * *",
            f"provided bad location {'A' * 65}: unknown time zone {'A' * 65}",
            f'invalid timezone "{"A" * 65}": timezone string too long (max 64 chars)',
        ),
        ("* * * *" + " *" + "," * 1015, "", ""),
        ("* * * *" + " *" + "," * 1016, "", "spec too long: 1025 > 1024"),
        pytest.param("0 2 * * *".ljust(4096), "", "spec too long: 4096 > 1024", id="4096 characters"),
        pytest.param(
            "0 2 * * *".ljust(4097),
            "too long: 4,097 characters, and foretop reads 4,096 at most",
            "spec too long: 4097 > 1024",
            id="4097 characters",
        ),
        ("TZ=UTC", "runtime error: slice bounds out of range [:-1]", 'missing fields after timezone in spec "TZ=UTC"'),
        ("TZ=UTC ", "expected exactly 5 fields, found 0: []", 'missing fields after timezone "UTC"'),
        (
            "TZ=a.b * * * * *",
            "provided bad location a.b: unknown time zone a.b",
            "invalid timezone \"a.b\": invalid character '.' at position 1 in timezone",
        ),
        (
            "TZ=X * * * * *",
            "provided bad location X: unknown time zone X",
            'unknown time zone "X": unknown time zone X',
        ),
        ("TZ= * * * * *", "", 'invalid timezone "": empty timezone string'),
    ],
)
def test_the_two_newest_libraries_refuse_differently(text: str, robfig: str, netresearch: str) -> None:
    assert refusal(text, ROBFIG) == robfig
    assert refusal(text, NETRESEARCH) == netresearch


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "Empty spec string"),
        ("60 * * * *", "End of range (60) above maximum (59): 60"),
        ("x * * * *", 'Failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("TZ=UTC 0  0 * * *", "Expected exactly 5 fields, found 6: TZ=UTC 0  0 * * *"),
        ("TZ=UTC", "Expected exactly 5 fields, found 1: TZ=UTC"),
        ("@noon", "Unrecognized descriptor: @noon"),
    ],
)
def test_the_oldest_library_begins_with_a_capital_and_knows_no_zones(text: str, error: str) -> None:
    assert refusal(text, ROBFIG1) == error


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("0 0 * * 7", 0b1),
        ("0 0 * * fri-mon", 0b1100011),
        ("0 0 * * */7", 0b1),
        ("0 0 * * 1/3", 0b10011),
        ("0 0 * * 0-7", 0b1111111),
        ("0 0 * * *", 0b1111111),
    ],
)
def test_seven_is_sunday_and_consumers_see_it_as_zero(text: str, bits: int) -> None:
    assert parse(text, NETRESEARCH).fields.dow == bits


def test_a_range_that_begins_above_its_field_is_read_up_to_its_end() -> None:
    assert parse("62-5 * * * *", NETRESEARCH).fields.minute == 0b111100
    assert parse("100-5 * * * *", NETRESEARCH).never_fires


@pytest.mark.parametrize(
    ("text", "field", "offset"),
    [
        ("0 1,H * * *", 1, 4),
        ("0 0 1,15W * *", 2, 8),
        ("0 0 L * *", 2, 4),
        ("0 0 * * fri#3", 4, 11),
        ("H 0 L 13 *", 0, 0),
    ],
)
def test_syntax_of_other_crons_is_refused_with_its_offset(text: str, field: int, offset: int) -> None:
    with pytest.raises(CronError, match="option") as caught:
        parse(text, NETRESEARCH)
    assert (caught.value.field, caught.value.offset) == (field, offset)


@pytest.mark.parametrize("text", ["@triggered", "@manual", "@none", "TZ='Europe/Berlin' @manual"])
def test_a_manual_schedule_never_fires(text: str) -> None:
    schedule = parse(text, NETRESEARCH)
    assert schedule.never_fires
    assert schedule.every is None
    assert schedule.next(datetime(2026, 1, 1, tzinfo=NEW_YORK)) is None
    assert schedule.previous(datetime(2026, 1, 1, tzinfo=UTC)) is None
    assert list(schedule.between(datetime(2026, 1, 1, tzinfo=NEW_YORK), datetime(2027, 1, 1, tzinfo=UTC))) == []
    with pytest.raises(ValueError, match="never fires by itself and has no fields"):
        schedule.fields  # noqa: B018 the access is what is refused


@pytest.mark.parametrize(
    ("text", "robfig", "netresearch"),
    [
        ("30 2 * * *", ["09 02:30"], ["08 03:30", "09 02:30"]),
        ("*/20 2 * * *", ["09 02:00", "09 02:20", "09 02:40"], ["08 03:00", "09 02:00", "09 02:20", "09 02:40"]),
        ("30 1,2 * * *", ["08 01:30", "09 01:30", "09 02:30"], ["08 01:30", "09 01:30", "09 02:30"]),
    ],
)
def test_a_skipped_hour_is_dropped_or_run_later(text: str, robfig: list[str], netresearch: list[str]) -> None:
    start, end = datetime(2026, 3, 8, tzinfo=NEW_YORK), datetime(2026, 3, 9, 12, tzinfo=NEW_YORK)
    for dialect, expected in ((ROBFIG1, robfig), (ROBFIG, robfig), (NETRESEARCH, netresearch)):
        assert [f"{run:%d %H:%M}" for run in parse(text, dialect).between(start, end)] == expected


def test_a_search_within_the_hour_after_the_gap_finds_the_moved_run() -> None:
    schedule = parse("30 2 * * *", NETRESEARCH)
    start, noon = datetime(2026, 3, 8, 3, 10, tzinfo=NEW_YORK), datetime(2026, 3, 8, 12, tzinfo=NEW_YORK)
    moved = datetime(2026, 3, 8, 3, 30, tzinfo=NEW_YORK)
    assert list(schedule.between(start, noon)) == [moved]
    assert schedule.previous(noon) == moved
    # In a new search, the library no longer finds it.
    assert schedule.next(start) == datetime(2026, 3, 9, 2, 30, tzinfo=NEW_YORK)


def test_the_oldest_library_does_not_return_to_midnight_after_a_skipped_one() -> None:
    havana = ZoneInfo("America/Havana")
    start = datetime(2026, 3, 2, tzinfo=havana)
    found = {dialect: parse("0 12 10 * *", dialect).next(start) for dialect in Dialect}
    assert found[ROBFIG] == found[NETRESEARCH] == datetime(2026, 3, 10, 12, tzinfo=havana)
    assert found[ROBFIG1] != found[ROBFIG]


def test_a_run_returned_twice_does_not_stop_the_iteration() -> None:
    schedule = parse("CRON_TZ=America/St_Johns 0 0 * * *", NETRESEARCH)
    run = datetime(2002, 10, 27, 2, 30, tzinfo=UTC)
    assert schedule.next(run) == run
    runs = list(schedule.between(datetime(2002, 10, 26, 22, tzinfo=UTC), datetime(2002, 10, 28, 12, tzinfo=UTC)))
    assert runs == [run, datetime(2002, 10, 28, 3, 30, tzinfo=UTC)]
    assert schedule.previous(datetime(2002, 10, 28, tzinfo=UTC)) == run


def test_a_character_is_quoted_as_go_quotes_one() -> None:
    assert [quote_rune(char) for char in ("'", '"', "\\", "\t", "é")] == [r"'\''", "'\"'", r"'\\'", r"'\t'", "'é'"]
