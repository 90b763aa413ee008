"""Runs, queue and server: the same answer in table, pane, report and header."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from foretop.commands.report import print_report, queue_items
from foretop.panes.runs_pane import queue_pane
from foretop.panes.triage_pane import calm
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, DataUpload, Deployment, Resource, from_builtins
from foretop_core.models.kinds import BACKUP, NAB, STORAGE
from foretop_core.rules import humanize
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import queue_line, run_facts, unknown_line
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.facts.server_facts import server_facts
from foretop_core.rules.night.night import likely_night
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Thresholds, triage
from foretop_core.tables.engine.view import UnreadableRow
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.schedules import schedule_item
from tests.objects import NOW, at, backup, location, nab, schedule, upload
from tests.settled_scenes import settled
from tests.unit.tables.test_views import Shown, velero

SILENT = location(checked="02:26:03", synced="02:26:03")


def _moving(name: str, of: str, **more: object) -> DataUpload:
    """Half of it was moved in the ten minutes up to NOW."""
    progress = {"bytesDone": 50, "totalBytes": 100}
    return upload(
        name, "InProgress", of=of, node="worker-2", created="02:31:00", **{**_STARTED, "progress": progress, **more}
    )


_STARTED = {"startTimestamp": at("02:31:07").isoformat()}


def _waiting(name: str, of: str, accepted: str = "02:41:00") -> DataUpload:
    return upload(
        name, "Accepted", of=of, acceptedByNode="worker-2", acceptedTimestamp=at(accepted).isoformat(), created=accepted
    )


def _history(of: str) -> list[Resource]:
    return [
        backup(f"{of}-0{hour}", started=f"0{hour}:00:00", ended=f"0{hour}:00:20", created=f"0{hour}:00:00", of=of)
        for hour in (0, 1, 2)
    ]


def _pane(shown: Shown, run: Backup) -> str:
    said = queue_pane(run, shown.render_context())
    return " ".join(piece.text for paragraph in said for piece in paragraph.spans)


def test_a_volume_that_waits_for_another_waits_for_its_end_from_the_first_second() -> None:
    """The past runs of the schedule took 20 s, and the node is busy for ten minutes more."""
    lake = backup("lake-1", "InProgress", created="02:40:50", started="02:41:00", of="lake")
    media = backup("media-1", "InProgress", created="02:30:00", started="02:30:00")
    objects = [location(), *_history("lake"), lake, media, _moving("videos", "media-1"), _waiting("lake", "lake-1")]
    shown = Shown("queue", objects)
    rows = {row[1]: row[2:] for row in shown.text("name", "when", "waits")}
    assert rows["lake-1"] == ["7s → after 02:51", "volume data-0 on worker-2"]
    assert "has waited 7 seconds for its turn: worker-2 moves volume data-0 of media-1, until about 02:51Z." in _pane(
        shown, lake
    )
    item = {item["name"]: item for item in shown.items()}["lake-1"]
    assert (item["expectedEnd"], item["notBefore"], item["state"]) == (None, "2026-11-15T02:51:07Z", "waits_for_volume")


def test_the_slowest_counts_and_those_behind_it_start_later() -> None:
    """A file-system backup holds its slot until its volumes are moved, however short earlier runs were."""
    runs = backup("lake-1", "InProgress", created="02:31:00", started="02:41:00", of="lake")
    waits = backup("next", "Queued", created="02:40:00", queuePosition=1)
    shown = Shown("queue", [location(), *_history("lake"), runs, waits, _moving("lake", "lake-1")])
    rows = {row[1]: row[2] for row in shown.text("name", "when")}
    assert rows == {"lake-1": "7s → 02:51", "next": "~02:51 held"}
    assert "Its volumes are moved by about 02:51Z, at their rate so far" in _pane(shown, runs)


def test_a_volume_of_which_nothing_moves_is_named() -> None:
    done = {"itemsBackedUp": 9, "totalItems": 9}
    runs = backup("pg-1", "InProgress", created="02:30:00", started="02:30:00", progress=done)
    shown = Shown("queue", [location(), runs, _moving("pgdata", "pg-1", progress={"bytesDone": 0, "totalBytes": 0})])
    assert shown.text("items", "when", "waits") == [["◐", "data 0 B", "11m → ?", "volume data-0 on worker-2"]]
    assert "volume data-0 is InProgress on worker-2 for 10 minutes, and nothing of it has moved yet" in _pane(
        shown, runs
    )


def test_estimates_are_rounded_to_the_minute() -> None:
    runs = backup("lake-1", "InProgress", created="02:31:00", started="02:40:51", of="lake")
    history = [
        backup(f"lake-0{hour}", started=f"0{hour}:00:00", ended=f"0{hour}:03:00", created=f"0{hour}:00:00", of="lake")
        for hour in (0, 1, 2)
    ]
    waits = backup("next", "Queued", created="02:40:00", queuePosition=1)
    shown = Shown("queue", [location(), *history, runs, waits])
    assert "Expected to start about 02:44Z" in _pane(shown, waits)
    assert [row[-1] for row in shown.text("when")] == ["16s → 02:44", "~02:44 held"]


def test_each_run_of_a_team_counts_once_however_many_of_it_are_in_the_line() -> None:
    """Twelve runs of 20 to 31 minutes: the last ten decide, and not the last five of them twice."""
    team = {"openshift.io/oadp-nab-origin-namespace": "lake"}
    past = [
        backup(
            f"past-{hour}",
            created=f"2026-11-14T{hour:02d}:00:00Z",
            started=f"2026-11-14T{hour:02d}:00:00Z",
            ended=f"2026-11-14T{hour:02d}:{20 + hour}:00Z",
            annotations=team,
        )
        for hour in range(12)
    ]
    running = [
        backup(
            f"now-{place}",
            "InProgress",
            created="02:40:00",
            started="02:40:00",
            annotations={**team, "openshift.io/oadp-nab-origin-name": f"nab-{place}"},
        )
        for place in range(2)
    ]
    objects = [location(), *past, *running]
    shown = {item["name"]: item["expectedEnd"] for item in Shown("queue", objects).items()}
    reported = {item["name"]: item["expectedEnd"] for item in queue_items(assemble(objects), NOW, Thresholds())}
    assert shown == reported == dict.fromkeys(("now-0", "now-1"), "2026-11-15T03:06:30Z")


@pytest.mark.parametrize("server", [SILENT, location()])
def test_a_report_says_what_a_run_waits_for_as_the_table_does(
    server: Resource, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table names its turn, the report those before it; where the server is silent it is the server for both."""
    runs = backup("a", "InProgress", created="02:20:00", started="02:20:00")
    objects = [server, runs, backup("next", "Queued", created="02:21:00", queuePosition=1)]
    items = queue_items(assemble(objects), NOW, Thresholds())
    print_report({"at": "", "servers": [], "findings": [], "notSeen": [], "schedules": [], "queue": items}, NOW)
    reported = [line.split()[-1] for line in capsys.readouterr().out.splitlines()[-2:]]
    assert reported == (["Velero", "Velero"] if server is SILENT else ["-", "a"])
    if server is SILENT:
        assert [row[1] for row in Shown("queue", objects).text("waits")] == reported


def test_a_report_names_who_a_coming_run_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    soon = schedule("soon", "0 3 * * *", last="2026-11-14T03:00:03Z")
    late = schedule("late", "30 2 * * *", last="2026-11-14T02:30:03Z")
    paused = schedule("paused", "0 3 * * *", last="2026-11-14T03:00:03Z", paused=True)
    snapshot = assemble([SILENT, soon, late, paused])
    items = [schedule_item(schedule_facts(snapshot, one, NOW)) for one in (soon, late, paused)]
    assert [item["waitsFor"] for item in items] == ["Velero", "Velero", None]
    print_report({"at": "", "servers": [], "findings": [], "notSeen": [], "schedules": items, "queue": []}, NOW)
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert "03:00:00Z, in 18 minutes, waits for Velero " in lines[0]
    assert "due since 02:30:00Z, waits for Velero " in lines[1]
    assert "waits" not in lines[2]


def test_a_tenants_backup_that_a_dead_server_never_saw_is_in_no_queue() -> None:
    label = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    mine = backup("v-1", "", created="02:38:00", labels=label)
    tenant = nab(
        veleroBackup={**velero("v-1", "u-1"), "namespace": "velero"},
        conditions=[{"type": "Accepted", "status": "True"}, {"type": "Queued", "status": "True"}],
        phase="Created",
    )
    shown = Shown("nonadmin", [SILENT, mine, tenant])
    assert shown.text("queue") == [["▲", "not picked up"]]
    assert shown.cells("queue")["orders"].briefs == ("not yet",)
    _, entry = next(iter(shown.model.table))
    assert not isinstance(entry, UnreadableRow)
    context = shown.render_context()
    told = context.text(entry.facts(context).why)
    assert told.endswith(
        "is created, and Velero has not picked it up: no sign of activity from Velero since 02:26:03Z."
    )


def test_a_backup_that_a_silent_server_never_saw_has_no_place_in_any_queue() -> None:
    shown = Shown("queue", [SILENT, backup("unseen", ""), backup("seen", "Queued", created="01:59:00")])
    assert shown.text("name", "position") == [["○", "seen", "1"], ["○", "unseen", ""]]
    assert [item["waitingPosition"] for item in shown.items()] == [1, None]


@pytest.mark.parametrize(
    ("hooks", "status", "said"),
    [
        ({}, {}, "."),
        ({"resources": [{"name": "freeze"}]}, {}, ", from its items so far; its hooks may take longer."),
        ({"resources": [{"name": "freeze"}]}, {"hooksAttempted": 2}, ", from its items so far; its 2 hooks have run."),
        ({}, {"hooksAttempted": 1, "hooksFailed": 1}, ", from its items so far; its 1 hook has run, 1 of them failed."),
    ],
)
def test_hooks_are_told_beside_an_end_that_follows_from_the_items(
    hooks: dict[str, object], status: dict[str, int], said: str
) -> None:
    progress = {"itemsBackedUp": 50, "totalItems": 100}
    told: dict[str, Any] = {"progress": progress, "hookStatus": status or None}
    run = backup("one", "InProgress", created="02:31:07", started="02:31:07", spec={"hooks": hooks}, **told)
    snapshot = assemble([location(), run])
    facts = run_facts(snapshot, run, NOW, queue_line(snapshot, "velero", NOW), timedelta(minutes=15))
    assert render(facts.told, NOW) == f"Expected to end about 02:51Z{said}"


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        ("", "Its place in the queue is not known yet."),
        ("Queued", "Its place in the queue is not known yet."),
        ("InProgress", "Its end is not known yet."),
        ("Finalizing", "Its end is not known yet."),
    ],
)
def test_of_a_run_that_is_newer_than_what_was_played_nothing_is_said_that_its_phase_denies(
    phase: str, said: str
) -> None:
    """One that had just begun had a place in the queue, beside a cell that said that it runs."""
    run = backup("one", phase, created="02:31:07", started="02:31:07" if phase not in ("", "Queued") else "")
    snapshot = assemble([location(), run])
    line = unknown_line(server_facts(snapshot, "velero", NOW))
    facts = run_facts(snapshot, run, NOW, line, timedelta(minutes=15))
    assert facts.told == said
    shown: Any = SimpleNamespace(facts=lambda _run: facts)
    place = next(column for column in QueueView().columns if column.name == "position")
    assert place.text(run, shown) == ("" if "place" in said else "·" if phase == "Finalizing" else "▶")


def test_any_write_of_the_server_is_a_sign_of_life() -> None:
    """Its storage was not checked for 15 minutes, and a deletion goes on: the server is not silent."""
    shown = Shown("queue", [SILENT, backup("one", ended="02:10:00", started="02:00:00")])
    assert shown.render_context().server("velero").word == "silent"
    sink = shown.store.sink(WatchScope("prod", BACKUP), shown.clock)
    sink.apply("MODIFIED", backup("one", "Deleting", ended="02:10:00", started="02:00:00"))
    facts = shown.render_context().server("velero")
    assert (facts.word, facts.silent_for) == ("storage hangs", timedelta(minutes=15, seconds=4))
    assert str(facts.sign) == "Backup one is Deleting"
    finding = triage(shown.store.snapshot("prod"), NOW).findings[0]
    assert finding.what == "storage hangs, nothing is done"
    assert "The server works (Backup one is Deleting at 02:41:07Z)" in render(finding.evidence, NOW)
    assert "until it is back" not in render(finding.evidence, NOW)
    night = likely_night(shown.store.snapshot("prod"), "velero", NOW)
    assert (night.unknown, night.slots) == ("the storage of Velero hangs", 1)


def test_a_tenant_cannot_fake_life_with_an_object_of_his_own() -> None:
    shown = Shown("nonadmin", [SILENT, nab()])
    for phase in ("New", "Created"):
        sink = shown.store.sink(WatchScope("prod", BACKUP), shown.clock)
        sink.apply("MODIFIED", backup("v-1", "", created="02:41:06", labels={"try": phase}))
        shown.store.sink(WatchScope("prod", NAB), shown.clock).apply("MODIFIED", nab(phase=phase))
    assert shown.render_context().server("velero").word == "silent"


def test_a_time_in_the_future_shows_no_life() -> None:
    later = at("2099-01-01T00:00:00Z").isoformat()
    absurd = backup("odd", "Completed", startTimestamp=later)
    shown = Shown("queue", [SILENT, location("odd", checked="2099-01-01T00:00:00Z", synced=""), absurd])
    assert shown.render_context().server("velero").word == "silent"
    of_file = assemble([SILENT, location("odd", checked="2099-01-01T00:00:00Z", synced=""), absurd])
    assert triage(of_file, NOW).findings[0].code == "velero-no-pulse"
    alone = Shown("queue", [location("odd", checked="2099-01-01T00:00:00Z", synced="")])
    facts = alone.render_context().server("velero")
    assert (facts.word, facts.reason) == ("not known", "the checks of its storage lie in the future")


def test_what_a_list_shows_to_have_changed_was_not_written_just_now() -> None:
    shown = Shown("queue", [SILENT, backup("one", ended="02:10:00", started="02:00:00")])
    sink = shown.store.sink(WatchScope("prod", BACKUP), shown.clock)
    sink.replace_begin()
    sink.page([backup("one", "Deleting", ended="02:10:00", started="02:00:00")])
    sink.replace_end()
    assert shown.render_context().server("velero").word == "silent"


def test_nothing_is_known_to_be_well_while_the_first_lists_come_in() -> None:
    run = backup("one", "InProgress", created="02:20:00", started="02:20:00")
    hourly = schedule("hourly", "0 * * * *", last="02:00:03", created="2026-11-15T01:00:00Z")
    loading = WatchHealth(WatchState.SYNCING, NOW)
    queue, schedules = Shown("queue", [run, hourly]), Shown("schedules", [run, hourly])
    for shown in (queue, schedules):
        shown.store.health.forget(WatchScope("prod", STORAGE))
        shown.store.sink(WatchScope("prod", STORAGE), shown.clock).health(loading)
        assert shown.render_context().server("velero").word == "not known yet"
    assert queue.text("when") == [["◐", "not known yet"]]
    assert schedules.text("name") == [["·", "hourly"]]
    schedules.store.fill("prod", [location()], schedules.clock)
    assert schedules.text("name") == [["●", "hourly"]]
    schedules.store.sink(WatchScope("prod", STORAGE), schedules.clock).health(loading)
    assert schedules.text("name") == [["●", "hourly"]], "a later list takes nothing back"


def test_the_state_of_a_server_is_fresh_in_every_frame() -> None:
    """The beat is remembered for some seconds; whether the server is alive is not."""
    shown = Shown("queue", [backup("one", "InProgress", started="02:20:00")])
    assert shown.render_context().server("velero").word == "not known"
    shown.store.fill("prod", [SILENT], shown.clock)
    assert shown.render_context().server("velero").word == "silent"


def test_triage_finds_nothing_well_before_it_has_judged() -> None:
    """Between the end of the first lists and the first look at them, nothing is known."""
    shown = Shown("queue", [SILENT])
    scope = WatchScope("prod", STORAGE)
    shown.store.health.forget(scope)
    shown.store.sink(scope, shown.clock).health(WatchHealth(WatchState.SYNCING, NOW))
    shown.state.judge(at_once=True)
    shown.store.sink(scope, shown.clock).health(WatchHealth(WatchState.LIVE, NOW))
    assert [piece.text for line in calm(shown.state) for piece in line] == ["◐ ", "Not known yet."]
    shown.state.judge(at_once=True)
    assert [finding.code for finding in shown.state.findings] == ["velero-no-pulse"]


def test_the_next_free_slot_is_told_to_the_minute_of_the_row_that_frees_it() -> None:
    past = [
        backup(f"old-{n}", created=f"{n}:00:00", started=f"{n}:00:00", ended=f"{n}:42:40", of="s") for n in ("00", "01")
    ]
    runs = backup("now", "InProgress", created="02:00:00", started="02:00:00", of="s")
    waits = backup("next", "Queued", created="02:10:00", queuePosition=1)
    args = ["server", "--concurrent-backups=1"]
    server = from_builtins(
        Deployment,
        {
            "metadata": {"name": "velero", "namespace": "velero"},
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "velero", "image": "velero/velero:v1.18.3", "args": args}]}
                }
            },
        },
    )
    shown = Shown("queue", [server, location(), schedule("s", "0 * * * *", last="02:00:00"), *past, runs, waits])
    (free,) = [row[1].rstrip("?") for row in shown.text("at", "name") if row[2] == "now"]
    said = shown.model.view.section_words("RUNNING", [runs], shown.render_context())
    assert said == f"1 of 1 slot, the next is free about {free}; IN, AT: end"


@pytest.mark.parametrize("name", ["dead", "outage"])
def test_triage_counts_of_an_outage_what_the_pages_show(name: str) -> None:
    """Triage named three schedules where the page of schedules flagged five, and no namespace."""
    objects, now = settled(name, timedelta(minutes=30))
    schedules, protection = Shown("schedules", objects, now), Shown("protection", objects, now)
    schedules.state.judge(at_once=True)
    (found,) = [one for one in schedules.state.findings if one.code == "velero-no-pulse"]
    told = render(found.hits, now)
    waiting = [item for item in schedules.items() if item["waitsFor"]]
    assert waiting
    assert f"{len(waiting)} schedules wait for {waiting[0]['waitsFor']}" in told
    overdue = sum(text.startswith("overdue") for _, text in schedules.text("next"))
    assert (f", {overdue} of them overdue." in told) == bool(overdue)
    late = sorted((item["lateFrom"], item["name"]) for item in protection.items() if item["lateFrom"])
    at, namespace = next(one for one in late if datetime.fromisoformat(one[0]) > now)
    assert f"copy is too old from {humanize.time(datetime.fromisoformat(at), now)} on ({namespace})." in told
