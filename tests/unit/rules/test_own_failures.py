"""Exceptions in words."""

from __future__ import annotations

from foretop_core.rules.own_failures import LONGEST_PROBLEM, problem_text


def test_an_exception_is_one_line_of_bounded_length() -> None:
    assert problem_text(ValueError("two\n  lines")) == "ValueError: two lines"
    assert problem_text(KeyError()) == "KeyError"
    head = "ValueError: "
    longest = "a b " * LONGEST_PROBLEM
    fits = longest[: LONGEST_PROBLEM - len(head) - 1] + "c"
    assert problem_text(ValueError(fits)) == head + fits
    cut = problem_text(ValueError(fits + "d"))
    assert cut == (head + fits)[: LONGEST_PROBLEM - 1] + "…"
