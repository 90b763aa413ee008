"""Input of people: what is taken as it is, and one line for what is not."""

from __future__ import annotations

import pytest

from foretop_core.actions import validation
from foretop_core.cron import Dialect
from foretop_core.errors import BadInput


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("60 * * * *", "in the field minute, at character 1"),
        ("0 25 * * *", "in the field hour, at character 3"),
        ("0 0 32 * *", "in the field day of month, at character 5"),
        ("0 0 1 13 *", "in the field month, at character 7"),
        ("0 0 1 1 9", "in the field day of week, at character 9"),
    ],
)
def test_a_wrong_field_of_an_expression_is_named_with_its_place(text: str, where: str) -> None:
    with pytest.raises(BadInput) as refused:
        validation.cron(text, Dialect.ROBFIG)
    assert refused.value.what == f"{text!r} is not a valid schedule {where}"


def test_an_expression_that_is_wrong_as_a_whole_has_no_place() -> None:
    with pytest.raises(BadInput) as refused:
        validation.cron("daily", Dialect.ROBFIG)
    assert refused.value.what == "'daily' is not a valid schedule"
    assert validation.cron("@every 6h", Dialect.ROBFIG).every is not None


@pytest.mark.parametrize("text", ["0", "0s", "720h", "1h30m", "0.5h"])
def test_a_duration_is_handed_on_as_it_was_written(text: str) -> None:
    assert validation.go_duration(text, "The TTL") == text


@pytest.mark.parametrize(("text", "why"), [("30d", "unknown unit"), ("-1ns", "it is negative"), ("", "invalid")])
def test_a_duration_that_go_does_not_read_or_that_is_negative_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInput, match=rf"The TTL '{text}' is not a valid duration: .*{why}.* \(write it as 720h"):
        validation.go_duration(text, "The TTL")


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("30d", "720h"),
        ("1d12h", "24h12h"),
        ("720h", "720h"),
        ("0d", "0h"),
        ("999999d", "23999976h"),
        ("1000000d", "1000000d"),
        ("d", "d"),
    ],
)
def test_days_are_turned_into_hours(text: str, hours: str) -> None:
    assert validation.days_in_hours(text) == hours


@pytest.mark.parametrize("text", ["a", "0", "a-b.c", "n" * 253])
def test_a_name_that_the_api_takes(text: str) -> None:
    assert validation.name(text, "schedule") == text


@pytest.mark.parametrize("text", ["", "A", "-a", "a-", ".a", "a.", "a_b", "a\n", "n" * 254])
def test_a_name_that_the_api_refuses(text: str) -> None:
    with pytest.raises(BadInput, match="is not a valid name for a schedule"):
        validation.name(text, "schedule")


def test_namespaces_may_be_patterns() -> None:
    names = ("shop", "team-*", "*", "a?", "n" * 63)
    assert validation.namespaces(names) == names


@pytest.mark.parametrize("text", ["", "Shop", "a.b", "-a", "a-", "n" * 64, "*" * 64])
def test_what_is_neither_a_namespace_nor_a_pattern_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a valid namespace name"):
        validation.namespaces(("shop", text))
