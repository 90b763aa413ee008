"""Times are written in the reader's zone, and what a cluster has written itself stays as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

import foretop
import foretop_core
from foretop.app import Dashboard
from foretop.panes.detail_sections import SECTIONS, SECTIONS_OF_ROOMS, describe_object
from foretop.panes.page_records import TABLE_PAGES, remedy_lines
from foretop.panes.stale_notice import stale_paras
from foretop.widgets.paragraphs import Paragraph
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import BackupStorageLocation, NonAdminBackup, Resource, from_builtins
from foretop_core.models.kinds import BACKUP, STORAGE
from foretop_core.rules.pauses import PAUSED_AT, PAUSED_BY, PAUSED_WHY
from foretop_core.rules.sentences import Moment, Sentence, Text, render, sentence
from foretop_core.rules.triage import Finding
from foretop_core.tables.resources.findings import finding_item
from foretop_core.tables.text.times import TimeZoneMode, TimeZoneSetting
from tests.objects import NOW, backup, restore, schedule
from tests.settled_scenes import SCENE_NAMES
from tests.tui.fake_source import FilledSource, meta
from tests.tui.pilot import MIDDLE, screen
from tests.tui.test_findings_agree import source_of

BERLIN, NEW_YORK, KATHMANDU = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu")
QUOTE = "the node failed at 02:30:00Z, last seen 12 Nov 02:14Z"
_UTC_TIME = re.compile(r"(?<![\w:.+-])\d\d:\d\d(?::\d\d)?Z\b")


def quoting() -> list[Resource]:
    """Each object has a message of its own in which there are times."""
    failed = backup("nightly-1", "Failed", started="02:10:03", ended="02:12:00", of="nightly", failureReason=QUOTE)
    marks = {PAUSED_BY: "maria", PAUSED_AT: "2026-11-12T02:14:00Z", PAUSED_WHY: QUOTE}
    refused = {
        "metadata": meta("features", "team-ml", "2026-11-15T02:29:00Z"),
        "status": {
            "phase": "BackingOff",
            "conditions": [
                {
                    "type": "Accepted",
                    "status": "False",
                    "reason": "InvalidBackupSpec",
                    "message": QUOTE,
                    "lastTransitionTime": "2026-11-15T02:29:01Z",
                }
            ],
        },
    }
    location = {
        "metadata": meta("s3"),
        "spec": {"provider": "aws", "default": True, "objectStorage": {"bucket": "b"}},
        "status": {
            "phase": "Unavailable",
            "message": QUOTE,
            "lastValidationTime": "2026-11-15T02:41:03Z",
            "lastSyncedTime": "2026-11-15T01:41:03Z",
        },
    }
    return [
        schedule("nightly", "10 2 * * *", last="02:10:03"),
        schedule("held", "*/30 * * * *", last="2026-11-12T02:00:03Z", paused=True, annotations=marks),
        failed,
        restore("back", "Failed", startTimestamp="2026-11-15T02:20:03Z", failureReason=QUOTE),
        from_builtins(NonAdminBackup, refused),
        from_builtins(BackupStorageLocation, location),
    ]


def state_of(source: FilledSource, zone: tzinfo = UTC) -> DashboardState:
    state = DashboardState(source, lambda: 0.0)
    if zone is not UTC:
        state.zoning = TimeZoneSetting(TimeZoneMode.MINE, zone)
    state.judge(at_once=True)
    return state


def text(said: tuple[Paragraph, ...] | list[Paragraph]) -> str:
    return "\n".join("".join(piece.text for piece in one.spans) for one in said)


def panes(state: DashboardState, sections: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Every pane of every page, and these sections of the detail of every object."""
    for name, spec in TABLE_PAGES.items():
        rows = spec.rows(state)
        rows.pump()
        for key, _ in rows.table:
            yield f"{name} {key}", text(spec.pane(rows, key, state))
            for section in sections if name != "triage" else ():
                yield f"{section} {key}", text([*describe_object(state, key, section)])


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, KATHMANDU])
def test_no_pane_changes_a_time_that_it_quotes(zone: ZoneInfo) -> None:
    source = FilledSource(quoting())
    sections = [section for section in SECTIONS if section != "yaml"]
    plain, zoned = (dict(panes(state_of(source, one), sections)) for one in (UTC, zone))
    quoted = {name: said.count(QUOTE) for name, said in plain.items() if QUOTE in said}
    assert {name.split()[0] for name in quoted} >= {"triage", "schedules", "nonadmin", "backups", "restores"}
    assert {name.split()[0] for name in quoted} >= {"storage", "overview", "conditions", "describe", *SECTIONS_OF_ROOMS}
    assert {name: zoned[name].count(QUOTE) for name in quoted} == quoted
    assert [name for name, said in zoned.items() if _UTC_TIME.search(said.replace(QUOTE, ""))] == []


@pytest.mark.parametrize("name", SCENE_NAMES)
def test_every_moment_of_every_finding_is_written_in_the_zone_that_is_asked_for(name: str) -> None:
    source = source_of(name, timedelta(minutes=2))
    state = state_of(source)
    for found in state.findings:
        now = state.render_context_of(found).now
        for said in (found.what, found.evidence, found.remedy):
            assert not any(_UTC_TIME.search(part) for part in parts(said) if isinstance(part, str)), said
            for moment in (part for part in parts(said) if isinstance(part, Moment)):
                for zone in (BERLIN, NEW_YORK, KATHMANDU):
                    local = moment.at.astimezone(zone)
                    assert f"{local:%H:%M}" in render(said, now, zone)
                    assert f" {local:%Z}" in render(said, now, zone)
                    day = f"{local.day} {local:%b} "
                    assert (day in render(said, now, zone)) or local.date() == now.astimezone(zone).date()
    for _, said in panes(state_of(source, NEW_YORK)):
        assert not _UTC_TIME.search(said)


def parts(said: Text) -> tuple[object, ...]:
    return said.parts if isinstance(said, Sentence) else (said,)


@pytest.mark.parametrize("name", ["outage", "dead", "maintenance"])
def test_findings_of_a_later_look_are_equal_where_they_read_the_same(name: str) -> None:
    """Otherwise the table would be drawn anew for nothing."""
    source = source_of(name, timedelta(minutes=2))
    before = state_of(source)
    first, now = {found.id: found for found in before.findings}, before.now()
    source.clock("").advance(timedelta(seconds=1))
    later = {found.id: found for found in state_of(source).findings}
    same = [one for one in first if one in later and _read(first[one], now) == _read(later[one], now)]
    assert same
    assert [one for one in same if first[one] != later[one]] == []


def _read(found: Finding, now: datetime) -> tuple[dict[str, object], object, object]:
    return finding_item(found, now), found.weight, found.because and _read(found.because, now)


def test_an_error_of_the_api_server_stays_as_it_is_in_the_notice_above_stale_rows() -> None:
    source = FilledSource(quoting())
    source.fare(STORAGE, WatchState.STALE, QUOTE)
    state = state_of(source, BERLIN)
    said = text(stale_paras(state, source.key(STORAGE, "velero", "s3"), BERLIN))
    assert said.startswith("As of 03:40:27 CET, ")
    assert said.endswith(QUOTE)


def test_a_finding_has_the_zone_of_the_expression_that_it_is_about() -> None:
    late = schedule("ny", "CRON_TZ=America/New_York 0 20 * * *", last="2026-11-14T01:00:03Z")
    state = DashboardState(FilledSource([late]), lambda: 0.0)
    state.zoning = TimeZoneSetting(TimeZoneMode.EXPRESSION)
    state.judge(at_once=True)
    found = next(one for one in state.findings if one.code == "schedule-overdue")
    assert "Due at 20:00:00 EST" in state.render_context_of(found).text(found.evidence)


def test_a_remedy_has_the_zone_that_triage_tells_it_in(monkeypatch: pytest.MonkeyPatch) -> None:
    late = schedule("ny", "CRON_TZ=America/New_York 0 20 * * *", last="2026-11-14T01:00:03Z")
    source = FilledSource([late])
    state = DashboardState(source, lambda: 0.0)
    state.zoning = TimeZoneSetting(TimeZoneMode.EXPRESSION)
    state.judge(at_once=True)
    (overdue,) = (one for one in state.findings if one.code == "schedule-overdue")
    finding = replace(overdue, remedy=sentence("Wait until ", NOW, "."))
    monkeypatch.setattr(state, "findings_about", lambda _: (finding,))
    assert text(remedy_lines(state, finding.subject)) == "Wait until 21:41:07 EST."


@pytest.mark.sweep
async def test_z_changes_the_times_of_foretop_and_not_those_of_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dashboard, "my_zone", BERLIN)
    async with screen(FilledSource(quoting()), MIDDLE) as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "nightly-1"))
        for ours in ("02:10:03Z", "03:10:03 CET"):
            told = " ".join(shown.pane.split())
            assert f"started {ours}" in told
            assert QUOTE in told
            await shown.press("Z")


def test_nothing_searches_sentences_for_a_time_of_day() -> None:
    """A pattern that finds a time in a sentence could be used to change it; what a person types may be searched."""
    sources = [path for package in (foretop, foretop_core) for path in Path(package.__path__[0]).rglob("*.py")]
    found = [path.name for path in sources if any(_finds_times(pattern) for pattern in _patterns(path))]
    assert sorted(found) == ["pausing.py"], "the end of a pause is typed by a person"


def _patterns(path: Path) -> Iterator[str]:
    """The regular expressions of a module, with a month in the place of what is filled in."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)) if "import re\n" in source else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            pattern = node.args[0]
            pieces = pattern.values if isinstance(pattern, ast.JoinedStr) else [pattern]
            yield "".join(str(piece.value) if isinstance(piece, ast.Constant) else "Nov" for piece in pieces)


def _finds_times(pattern: str) -> bool:
    try:
        wanted = re.compile(pattern)
    except re.error:
        return False
    return bool(wanted.search("it failed at 02:30:00Z again")) and not wanted.search("it failed 12 times again")
