"""What is made of an answer that says no."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_core.kube.connection.connection_errors import LONGEST_MESSAGE, api_error, too_long


def said(content: bytes, retry_after: str | None = None, reason: str | None = "Bad Gateway") -> dict[str, Any]:
    found = api_error(502, content, reason, retry_after)
    return {name: getattr(found, name) for name in ("status", "reason", "message", "retry_after", "is_status")}


def status(**fields: Any) -> bytes:
    return json.dumps({"kind": "Status", **fields}).encode()


def test_a_status_says_more_than_the_line_above_it() -> None:
    told = status(code=409, reason="AlreadyExists", message="it is there", details={"retryAfterSeconds": 7})
    assert said(told) == {
        "status": 409,
        "reason": "AlreadyExists",
        "message": "it is there",
        "retry_after": 7.0,
        "is_status": True,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ""),
        (b"<html>no</html>", ""),
        (b" \n<!doctype html>", ""),
        (b"upstream is down", "upstream is down"),
        (b"[]", "[]"),
        (b'{"error": "no"}', ""),
        (b"n" * 201, "n" * 200),
    ],
)
def test_what_is_not_a_status_leaves_what_the_first_line_says(content: bytes, message: str) -> None:
    assert said(content) == {
        "status": 502,
        "reason": "Bad Gateway",
        "message": message,
        "retry_after": None,
        "is_status": False,
    }
    assert said(content, reason=None)["reason"] == ""


def test_a_long_message_is_cut() -> None:
    assert said(status(message="x" * (LONGEST_MESSAGE + 1)))["message"] == "x" * LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        ("5", {"retryAfterSeconds": 7}, 5.0),
        ("", {"retryAfterSeconds": 7}, None),
        (None, {}, None),
        (None, None, None),
        ("0", None, 0.0),
        ("0.5", None, 0.5),
        ("-0.5", None, None),
        ("soon", None, None),
        ("nan", None, None),
        ("31", None, 30.0),
        ("3600", {"retryAfterSeconds": 7}, 30.0),
        ("9" * 5_000, None, 30.0),
        (None, {"retryAfterSeconds": 3_600}, 30.0),
        (None, {"retryAfterSeconds": 10**400}, 30.0),
    ],
)
def test_how_long_to_wait_is_what_the_header_says_then_the_status(
    header: str | None, details: dict[str, Any] | None, seconds: float | None
) -> None:
    assert said(status(details=details), header)["retry_after"] == seconds


def test_an_answer_that_is_too_long_says_how_long_it_may_be() -> None:
    found = too_long("the log", 3 * 2**20)
    assert str(found) == "The API server answered 200: the log is longer than 3 MiB"
