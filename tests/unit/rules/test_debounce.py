"""A finding is shown after it has lasted, and removed after it has been gone for a while."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding, Severity, Thresholds, debounce
from foretop_core.rules.triage.finding import WINDOW_OVERRUN
from tests.objects import NOW

LIMITS = Thresholds(comes_after=timedelta(seconds=5), goes_after=timedelta(seconds=20))


def finding(name: str, what: str = "broken") -> Finding:
    return Finding("code", Severity.ERROR, ObjectRef("", "Schedule", "velero", name), None, what, "", "")


def seconds(number: int) -> timedelta:
    return timedelta(seconds=number)


def names(state: object) -> set[str]:
    return {each.subject.name for each in state.shown.values()}  # type: ignore[attr-defined]


def test_the_first_result_is_shown_at_once() -> None:
    assert names(debounce(None, [finding("a")], NOW, LIMITS)) == {"a"}


def test_a_finding_of_two_seconds_is_never_shown() -> None:
    state = debounce(None, [], NOW, LIMITS)
    state = debounce(state, [finding("a")], NOW + seconds(1), LIMITS)
    assert names(state) == set()
    state = debounce(state, [], NOW + seconds(3), LIMITS)
    state = debounce(state, [finding("a")], NOW + seconds(7), LIMITS)
    assert names(state) == set()


def test_a_lasting_finding_is_shown_with_its_newest_text() -> None:
    state = debounce(None, [], NOW, LIMITS)
    state = debounce(state, [finding("a", "old")], NOW + seconds(1), LIMITS)
    state = debounce(state, [finding("a", "new")], NOW + seconds(6), LIMITS)
    assert [each.what for each in state.shown.values()] == ["new"]


def test_a_flickering_finding_stays_and_a_resolved_one_disappears() -> None:
    state = debounce(None, [finding("a")], NOW, LIMITS)
    state = debounce(state, [], NOW + seconds(10), LIMITS)
    state = debounce(state, [finding("a")], NOW + seconds(20), LIMITS)
    state = debounce(state, [], NOW + seconds(30), LIMITS)
    assert names(state) == {"a"}
    state = debounce(state, [], NOW + seconds(49), LIMITS)
    assert names(state) == {"a"}
    assert names(debounce(state, [], NOW + seconds(50), LIMITS)) == set()


def test_one_that_takes_the_place_of_another_of_its_subject_comes_at_once() -> None:
    """`all 10 paused` and `4 of 10 paused` beside each other would be two answers."""
    before, after = finding("a", "all 10 paused"), replace(finding("a", "4 of 10 paused"), code="other")
    state = debounce(None, [before, finding("b")], NOW, LIMITS)
    state = debounce(state, [after], NOW + seconds(1), LIMITS)
    assert sorted(str(each.what) for each in state.shown.values()) == ["4 of 10 paused", "broken"]
    state = debounce(state, [after], NOW + seconds(2), LIMITS)
    assert names(state) == {"a", "b"}
    assert len(state.shown) == 2


def test_what_is_paused_comes_and_goes_at_once() -> None:
    """It is told by a field that people set and by the clock, and does not flicker."""
    over = replace(finding("w", "over, 3 still paused"), code=WINDOW_OVERRUN)
    state = debounce(debounce(None, [], NOW, LIMITS), [over], NOW + seconds(1), LIMITS)
    assert names(state) == {"w"}
    assert names(debounce(state, [], NOW + seconds(2), LIMITS)) == set()
