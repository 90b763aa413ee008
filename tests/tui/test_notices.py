"""Told without looking: what the terminal is sent of new findings, and of nothing else."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from foretop.main_screen.finding_notices import FindingNotices, desktop_notice, window_title
from foretop_core.config.settings import NotifySettings
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.triage import Thresholds
from tests.tui.fake_source import FilledSource, backup_dict, troubled
from tests.tui.hostile_box import HOSTILE

_ALL = NotifySettings(bell=True, desktop="osc9", title=True)


class Written:
    """A state that is looked at by hand, and what was written for it."""

    def __init__(self) -> None:
        self.source = FilledSource(troubled())
        self.ticks = 0.0
        self.state = DashboardState(self.source, lambda: self.ticks)
        self.texts: list[str] = []
        self.notices = FindingNotices(self.state, self.texts.append)

    def look(self, wanted: NotifySettings) -> str:
        """What one look writes."""
        self.state.begin_frame()
        self.state.judge(at_once=True)
        self.texts.clear()
        self.notices.look(wanted)
        return "".join(self.texts)

    def fail(self, name: str = "late") -> None:
        """A backup that fails, and the time that its finding is held back."""
        self.source.change(BACKUP, backup_dict(name, "Failed", "2026-11-15T02:40:03Z", "2026-11-15T02:41:03Z"))
        self.state.begin_frame()
        self.state.judge(at_once=True)
        self.source.manual.advance(self.state.thresholds.comes_after)


def test_what_is_there_at_the_first_look_is_not_new_and_the_title_has_the_counts() -> None:
    at = Written()
    assert at.look(_ALL) == "\x1b[22;2t\x1b]2;foretop 5 errors, 3 warnings prod-eu\x1b\\"
    assert at.look(_ALL) == ""


def test_what_comes_in_with_the_first_lists_is_not_new() -> None:
    at = Written()
    at.source.fare(BACKUP, WatchState.SYNCING)
    assert "foretop prod-eu: loading" in at.look(_ALL)
    at.source.fare(BACKUP, WatchState.LIVE)
    assert "\a" not in at.look(_ALL)
    at.fail()
    assert "\a" in at.look(_ALL)


def test_a_new_finding_rings_once_and_is_named() -> None:
    at = Written()
    at.look(_ALL)
    at.fail()
    written = at.look(_ALL)
    assert "\a\x1b]9;prod-eu: " in written
    assert "late" in written
    assert at.look(_ALL) == ""


def test_a_stricter_threshold_makes_a_new_finding() -> None:
    at = Written()
    at.state.thresholds = Thresholds(overdue=timedelta(days=60))
    at.look(_ALL)
    at.state.thresholds = Thresholds(comes_after=timedelta())
    assert "\a\x1b]9;prod-eu: schedule velero/etcd-hourly: overdue" in at.look(_ALL)


def test_several_at_once_are_one_notice() -> None:
    at = Written()
    at.look(_ALL)
    at.fail("one")
    at.fail("two")
    written = at.look(_ALL)
    assert written.count("\a") == 1
    assert ", and " in written


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (NotifySettings(), ""),
        (NotifySettings(bell=True), "\a"),
        (NotifySettings(bell=True, severity="error"), "\a"),
    ],
)
def test_only_what_was_asked_for_is_written(wanted: NotifySettings, expected: str) -> None:
    at = Written()
    at.look(wanted)
    at.fail()
    assert at.look(wanted) == expected


def test_the_title_is_given_back_at_the_end_and_when_it_is_no_longer_wanted() -> None:
    at = Written()
    at.look(_ALL)
    at.texts.clear()
    at.notices.look(NotifySettings())
    at.notices.close()
    assert at.texts == ["\x1b[23;2t"]


@pytest.mark.parametrize("text", [HOSTILE, "4;1;50", "x" * 500, "a;b\x1b\\c", "\ud800 lone"])
def test_no_text_ends_a_sequence_or_begins_another(text: str) -> None:
    for made in (desktop_notice(text, "osc9"), desktop_notice(text, "osc777"), window_title(text)):
        assert re.fullmatch(
            r"\x1b\](?:9|777;notify;foretop|2);(?!\d)[^\x00-\x1f\x7f-\x9f;\u200b-\u200f\u2028-\u202e]+\x1b\\", made
        )
        assert len(made) < 160
        made.encode()
    assert desktop_notice(text, "") == ""
