"""Known bugs of Velero: named of the releases in which they were seen, and of no others."""

from __future__ import annotations

import pytest

from foretop_core.rules.cron_dialects import find_release
from foretop_core.rules.known_bugs import KNOWN_BUGS, LAST_STATUS, LEAKED_SLOT, PATTERNS_TAKE_NOTHING, bugs_of


@pytest.mark.parametrize(
    ("version", "issues"),
    [
        ("1.13.0", []),
        ("1.13.1", [9374]),
        ("1.17", [9374]),
        ("1.18.0", [10519, 9566, 9374]),
        ("1.18.1", [10519, 9374]),
        ("1.18.3", [10519, 10241, 9374]),
        ("1.18.4", []),
        ("1.18", [10519, 10241, 9566, 9374]),
        ("1.19.0", []),
    ],
)
def test_a_release_has_the_bugs_that_were_seen_in_it(version: str, issues: list[int]) -> None:
    release = find_release(version)
    assert release is not None
    assert [bug.issue for bug in bugs_of(release)] == issues


def test_a_line_of_releases_is_open_where_its_patch_decides() -> None:
    line = find_release("1.18")
    assert line is not None
    assert [bug.is_in(line) for bug in KNOWN_BUGS] == [None] * 4
    middle = find_release("1.15")
    assert middle is not None
    assert LAST_STATUS.is_in(middle) is True


def test_a_bug_names_its_issue_its_range_and_what_fixes_it() -> None:
    assert PATTERNS_TAKE_NOTHING.reference == "velero #9566, seen in 1.18.0, fixed in 1.18.1"
    assert LEAKED_SLOT.reference == "velero #10519, seen in 1.18.0 to 1.18.3, not fixed yet"
