"""Work over all objects of a large cluster beside the event loop, and what a look there costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import ClassVar, cast

import pytest
from msgspec.structs import replace

from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import EventType, WatchScope
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, NAB
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.run_facts import RunState
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity, Thresholds, triage
from foretop_core.rules.triage.guarded import Rule
from foretop_core.store import background_reader
from foretop_core.store.background_reader import BackgroundReader, LatestAnswer
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.queue import QueueView
from tests.counted_work import calls
from tests.crowds import nabs_of_one_team, nabs_that_failed, waiting
from tests.examples import sampled
from tests.objects import NOW
from tests.tui.fake_source import CONTEXT, FilledSource

_Left = list[Callable[[], None]]


def _change(source: FilledSource, what: EventType, number: int) -> None:
    nab, backup = waiting(number, "team-a")
    items: tuple[Resource, Resource] = (nab, backup)
    for kind, item in zip((NAB, BACKUP), items, strict=True):
        source.store.sink(WatchScope(CONTEXT, kind), source.manual).apply(what, item)


def _waiting_in(snapshot: ClusterSnapshot) -> int:
    return sum(run.phase == "Queued" for run in snapshot.lookups.open_backups())


def test_each_piece_of_work_sees_the_objects_as_they_were_when_it_was_asked_for() -> None:
    source, left, told = FilledSource(nabs_of_one_team(5)), _Left(), list[int]()
    reader = BackgroundReader(source.store, CONTEXT, left.append)
    for what, number in (("ADDED", 10), ("ADDED", 11), ("DELETED", 2)):
        reader.do(_waiting_in, lambda outcome: told.append(outcome()))
        _change(source, what, number)  # type: ignore[arg-type]
    reader.do(_waiting_in, lambda outcome: told.append(outcome()))
    assert (len(left), told) == (1, []), "one thread works off all of them"
    left.pop()()
    assert told == [5, 6, 7, 6]


def test_its_own_indexes_tell_the_same_as_a_look_at_all_objects() -> None:
    source, left, told = FilledSource(nabs_of_one_team(20)), _Left(), list[object]()
    reader = BackgroundReader(source.store, CONTEXT, left.append)
    for what, number in (("ADDED", 30), ("DELETED", 4), ("DELETED", 30), ("ADDED", 31)):
        reader.do(lambda snapshot: triage(snapshot, NOW), lambda outcome: told.append(outcome()))
        _change(source, what, number)  # type: ignore[arg-type]
        left.pop()()
        reader.do(lambda snapshot: triage(snapshot, NOW), lambda outcome: told.append(outcome()))
        left.pop()()
        assert told[-1] == triage(replace(source.store.snapshot(CONTEXT), live=None), NOW)


def test_a_piece_that_fails_tells_it_and_the_next_is_done() -> None:
    left, told = _Left(), list[Callable[[], int]]()
    reader = BackgroundReader(FilledSource([]).store, CONTEXT, left.append)
    reader.do(lambda _: 1 // 0, told.append)
    reader.do(lambda _: 7, told.append)
    left.pop()()
    with pytest.raises(ZeroDivisionError):
        told[0]()
    assert told[1]() == 7


def test_a_large_cluster_is_judged_beside_the_loop_with_the_same_findings() -> None:
    source, left = FilledSource(nabs_of_one_team(MOST_AT_ONCE)), _Left()
    state, at_once = DashboardState(source, lambda: 0.0, beside=left.append), DashboardState(source, lambda: 0.0)
    at_once.judge(at_once=True)
    state.judge(at_once=True)
    assert not state.has_judged
    assert not state.findings
    left.pop()()
    state.judge()
    assert state.has_judged
    assert state.findings == at_once.findings != ()


def test_the_line_of_a_large_cluster_is_not_known_until_it_was_worked_out() -> None:
    source, left = FilledSource(nabs_of_one_team(MOST_AT_ONCE)), _Left()
    state = DashboardState(source, lambda: 0.0, beside=left.append)
    at_once = DashboardState(source, lambda: 0.0)
    run = next(run for run in source.store.snapshot(CONTEXT).open_backups["velero"] if run.phase == "Queued")
    assert state.render_context(CONTEXT).facts(run).state is RunState.NOT_KNOWN
    left.pop()()
    state.begin_frame()
    found = state.render_context(CONTEXT).facts(run)
    assert (found.state, found.waiting_place) == (RunState.WAITS, 1)
    assert found.ahead == at_once.render_context(CONTEXT).facts(run).ahead


@pytest.mark.parametrize("count", sampled((1_000, 4_000, 10_000, 50_000), 1_000, 4_000))
def test_one_change_calls_no_more_functions_on_the_event_loop_however_many_objects_there_are(count: int) -> None:
    """Of a judgement, the line in the queue, its page and that of the NABs; the order of rows is of N log N."""
    assert calls_on_the_loop(count) <= calls_on_the_loop(MOST_AT_ONCE) + 500


@cache
def calls_on_the_loop(count: int) -> int:
    """After one change, once all else is made."""
    source, left = FilledSource(nabs_of_one_team(count)), _Left()
    state, pages = DashboardState(source, lambda: 0.0, beside=left.append), list[StoreTableModel]()

    def look() -> None:
        state.begin_frame()
        state.judge(at_once=True)
        render = state.render_context(CONTEXT)
        assert render.line("velero").server.slots
        assert len(render.ended_lately) <= MOST_AT_ONCE
        for page in pages:
            page.pump()
            page.paint(0, 40)
            page.below()

    def settle() -> None:
        look()
        while left:
            left.pop()()
        state.judge()

    settle()
    pages += [StoreTableModel(state, view(), worst_first=True) for view in (QueueView, NonAdminView)]
    for page in pages:
        page.table.bring_all()
    settle()
    look()
    _change(source, "ADDED", count)
    return calls(look)


def test_findings_about_many_objects_are_taken_up_without_a_look_at_each() -> None:
    def taken_up(count: int) -> int:
        source, left = FilledSource(nabs_that_failed(count)), _Left()
        state = DashboardState(source, lambda: 0.0, beside=left.append)
        state.judge(at_once=True)
        left.pop()()
        work = calls(state.judge) + calls(state.severities)
        assert sum(len(finding.members) for finding in state.findings) == count
        return work

    # What is loaded and remembered by the first objects of all is no work of the others.
    taken_up(MOST_AT_ONCE)
    assert taken_up(2_400) == taken_up(600)


def test_findings_that_are_gathered_beside_the_loop_are_found_by_their_subjects_as_before() -> None:
    source, left = FilledSource(nabs_that_failed(MOST_AT_ONCE)), _Left()
    state, at_once = DashboardState(source, lambda: 0.0, beside=left.append), DashboardState(source, lambda: 0.0)
    at_once.judge(at_once=True)
    state.judge(at_once=True)
    left.pop()()
    state.judge()
    (line,) = (finding for finding in state.findings if finding.members)
    assert all(state.findings_about(one.subject) == at_once.findings_about(one.subject) != () for one in line.members)
    assert state.severities() == at_once.severities()


class _Told(str):
    """Words of a finding that tell where they were freed."""

    freed: ClassVar[list[str]] = []
    where = "elsewhere"

    def __del__(self) -> None:
        _Told.freed.append(_Told.where)


class _OneRule:
    """In the place of what is read of this machine: it finds something new each time."""

    def rules(self, _: ClusterSnapshot) -> tuple[Rule, ...]:
        def found(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
            for number in range(3):
                subject = ObjectRef(CONTEXT, NAB.name, "team-a", f"nab-{number}")
                words = _Told(f"seen at {now}")
                yield Finding("found-here", Severity.NOTE, subject, now, "Seen", words, "Nothing to do.")

        return (found,)


def test_what_a_new_judgement_replaces_is_freed_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    source, left = FilledSource(nabs_of_one_team(MOST_AT_ONCE)), _Left()
    state = DashboardState(source, lambda: 0.0, cast(BackgroundReads, _OneRule()), left.append)
    monkeypatch.setattr(_Told, "freed", [])
    for _ in range(6):
        monkeypatch.setattr(_Told, "where", "on the loop")
        state.begin_frame()
        state.judge(at_once=True)
        source.manual.advance(timedelta(minutes=1))
        monkeypatch.setattr(_Told, "where", "beside it")
        while left:
            left.pop()()
    assert len(_Told.freed) >= 6
    assert set(_Told.freed) == {"beside it"}


def test_a_line_that_cannot_be_worked_out_is_told_where_it_is_asked_for_and_tried_again() -> None:
    source, left = FilledSource(nabs_of_one_team(MOST_AT_ONCE)), _Left()
    reader, latest = BackgroundReader(source.store, CONTEXT, left.append), LatestAnswer[int](timedelta(seconds=10))

    def ask(now: datetime, work: Callable[[ClusterSnapshot], int]) -> int:
        try:
            return latest.get(reader, 0, now, work, 7)
        finally:
            while left:
                left.pop()()

    assert ask(NOW, lambda _: 1 // 0) == 7
    with pytest.raises(ZeroDivisionError):
        ask(NOW, lambda _: 8)
    with pytest.raises(ZeroDivisionError):
        ask(NOW + timedelta(seconds=11), lambda _: 8)
    assert ask(NOW + timedelta(seconds=12), lambda _: 9) == 8


def test_an_answer_is_worked_out_again_after_a_change_and_once_for_all_that_come_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, left, begun = FilledSource([]), _Left(), list[int]()
    reader, latest = BackgroundReader(source.store, CONTEXT, left.append), LatestAnswer[int](timedelta(seconds=10))
    monkeypatch.setattr(background_reader, "_RESTS", 0)

    def work(_: ClusterSnapshot) -> int:
        begun.append(len(begun))
        return len(begun)

    for basis in (1, 2, 3):
        latest.get(reader, basis, NOW, work, 0)
    left.pop()()
    assert latest.get(reader, 4, NOW, work, 0) == 1
    left.pop()()
    assert latest.get(reader, 4, NOW, work, 0) == 2
    assert (begun, left, latest.number) == ([0, 1], [], 2)
