"""The parts of Go's standard library, with values measured with Go."""

from __future__ import annotations

import pytest

from foretop_core.cron.go_stdlib import GoError, atoi, field_offsets, fields, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("+0", 0),
        ("0s", 0),
        ("1ns", 1),
        ("-1ns", -1),
        ("1us", 1_000),
        ("1\u00b5s", 1_000),
        ("1\u03bcs", 1_000),
        ("1ms", 1_000_000),
        ("1s", 1_000_000_000),
        ("1m", 60_000_000_000),
        ("1h", 3_600_000_000_000),
        ("-1.5h", -5_400_000_000_000),
        ("+90s", 90_000_000_000),
        (".5s", 500_000_000),
        ("5.s", 5_000_000_000),
        ("1h2m3s4ms5us6ns", 3_723_004_005_006),
        ("0.000000001s", 1),
        ("0.0000000009s", 0),
        ("2562047h47m16.854775807s", 2**63 - 1),
        ("-2562047h47m16.854775808s", -(2**63)),
        ("9223372036.854775807s", 2**63 - 1),
        ("2562047.788015215h", 9_223_372_036_854_774_000),
        ("0.3333333333333333333h", 1_200_000_000_000),
        ("0.9223372036854775807h", 3_320_413_933_267),
        ("0.9223372036854775808h", 3_320_413_933_267),
        ("0.92233720368547758080h", 3_320_413_933_267),
        ("0.1000000000000000055511151231257827h", 360_000_000_000),
        ("1.00000000000000000000001s", 1_000_000_000),
        ("0.0000000009223372036854775807h", 3_320),
        ("0.9999999999999999999s", 1_000_000_000),
        (f"{2**63}ns{2**63}ns5s", 5_000_000_000),
        pytest.param("1s".zfill(4096), 1_000_000_000, id="4096 characters"),
    ],
)
def test_a_duration_has_the_nanoseconds_of_go(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+7", 7),
        ("-7", -7),
        ("0" * 40 + "7", 7),
        (str(10**18), 10**18),
        (str(2**63 - 1), 2**63 - 1),
        (f"-{2**63}", -(2**63)),
    ],
)
def test_a_number_up_to_64_bits_is_read(text: str, number: int) -> None:
    assert atoi(text) == number


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (str(2**63), "value out of range"),
        (f"-{2**63 + 1}", "value out of range"),
        (f"{2**64}x", "value out of range"),
        (f"{2**64 - 1}x", "invalid syntax"),
        ("1" + "0" * 5000, "value out of range"),
        ("", "invalid syntax"),
        ("-", "invalid syntax"),
        ("\u00b2", "invalid syntax"),
        ("\u0663", "invalid syntax"),
    ],
)
def test_a_number_is_refused_as_go_refuses_it(text: str, trouble: str) -> None:
    with pytest.raises(GoError, match=f": {trouble}$"):
        atoi(text)


def test_words_are_split_where_go_splits_them() -> None:
    assert fields("a\x1cb\u2003c\x1f") == ["a\x1cb", "c\x1f"]
    assert fields("\x85a\u3000 b\n") == ["a", "b"]
    assert field_offsets("\x85a\u3000 b\n") == [1, 4]


def test_a_duration_that_is_refused_is_quoted_byte_by_byte() -> None:
    with pytest.raises(GoError) as caught:
        parse_duration("1\x7f\x80 ~\\")
    unit = r"\xc2\x80 ~\\"
    assert str(caught.value) == f'time: unknown unit "\x7f{unit}" in duration "1\x7f{unit}"'


def test_of_a_duration_that_is_far_too_long_forty_characters_are_quoted() -> None:
    assert parse_duration("0" * 4095 + "s") == 0
    with pytest.raises(GoError, match=r'^time: too long for a duration "(0123456789){4}\.{3}"$'):
        parse_duration("0123456789" * 409 + "123456s")
