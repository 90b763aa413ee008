"""The estimates of an unfinished run: shown if they can be known, and not otherwise."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop.panes.nonadmin_pane import nonadmin_pane, tenant_facts
from foretop.panes.runs_pane import queue_pane, whole_name
from foretop.widgets.styles import BOLD, style_of
from foretop_core.actions.planners.backups import plan_back_up_now
from foretop_core.cron import Dialect
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP
from foretop_core.models.movement import label_value
from foretop_core.rules import humanize
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import Choice, expected_start, unpause
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Thresholds
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view import UnreadableRow
from foretop_core.tables.resources.queue import run_eta
from tests.objects import NOW, at, backup, condition, location, nab, schedule, upload
from tests.unit.tables.test_views import Shown, velero

SILENT = location(checked="02:26:03", synced="02:26:03")


def test_a_backup_that_waits_for_a_volume_names_it_and_its_node() -> None:
    accepted = {"acceptedByNode": "worker-4", "acceptedTimestamp": at("02:33:00").isoformat()}
    waiting = backup("slow", "WaitingForPluginOperations", created="02:00:00", started="02:00:01")
    shown = Shown("queue", [waiting, upload(of="slow", **accepted), upload("quick", "Completed", of="slow")])
    assert shown.text("name", "when", "waits") == [["◐", "slow", "waits 8m", "volume data-0 on worker-4"]]


def test_a_backup_whose_next_volume_waits_behind_another_says_what_moves() -> None:
    accepted = {"acceptedByNode": "worker-4", "acceptedTimestamp": at("02:33:00").isoformat()}
    slow = backup("slow", "WaitingForPluginOperations", created="02:00:00", started="02:00:01")
    moving = upload("first", "InProgress", of="slow", node="worker-4")
    shown = Shown("queue", [slow, moving, upload(of="slow", **accepted)])
    assert shown.text("when", "waits") == [["◐", "41m → ?", "volume data-0 on worker-4"]]
    turn = "Volume data-0 has waited 8 minutes for its turn: worker-4 moves volume data-0 of slow."
    assert turn in _pane(shown, slow)
    other = backup("other", "WaitingForPluginOperations", created="02:00:00", started="02:00:01")
    shown = Shown(
        "queue",
        [slow, other, upload("first", "InProgress", of="other", node="worker-4"), upload(of="slow", **accepted)],
    )
    assert shown.text("when", "waits")[1] == ["◐", "waits 8m", "volume data-0 on worker-4"]


def test_a_run_without_earlier_ones_ends_when_its_volumes_are_moved() -> None:
    run = backup("slow", "InProgress", created="02:31:00", started="02:31:05")
    half: dict[str, Any] = {
        "startTimestamp": at("02:31:07").isoformat(),
        "progress": {"bytesDone": 50, "totalBytes": 100},
    }
    shown = Shown("queue", [location(), run, upload(of="slow", phase="InProgress", **half)])
    assert shown.text("when") == [["◐", "10m → 02:51"]]
    assert "Its volumes are moved by about 02:51Z, at their rate so far; it ends after that." in _pane(shown, run)
    of_unknown_size = upload("other", "InProgress", of="slow", created="02:40:50")
    shown = Shown("queue", [location(), run, upload(of="slow", phase="InProgress", **half), of_unknown_size])
    assert shown.text("when") == [["◐", "10m → ?"]]


def test_once_all_items_are_done_only_the_volumes_tell_the_end() -> None:
    """Movements says the same time left, and earlier runs that took longer had more to move."""
    earlier = [
        backup(f"db-{hour}", created=f"{hour}:00:00", started=f"{hour}:00:00", ended=f"{hour}:24:00", of="db")
        for hour in ("00", "01", "02")
    ]
    half: dict[str, Any] = {
        "startTimestamp": at("02:31:07").isoformat(),
        "progress": {"bytesDone": 50, "totalBytes": 100},
    }
    moving = upload(of="db-03", phase="InProgress", **half)
    finishing = backup("db-03", "WaitingForPluginOperations", created="02:31:00", started="02:31:05", of="db")
    shown = Shown("queue", [location(), *earlier, finishing, moving])
    assert shown.text("when") == [["◐", "10m → 02:51"]]
    assert "Its volumes are moved by about 02:51Z, at their rate so far; it ends after that." in _pane(shown, finishing)
    # More volumes may follow while it still takes items.
    backing_up = backup("db-03", "InProgress", created="02:31:00", started="02:31:05", of="db")
    assert "Expected to end about 02:55Z, from its last 3 runs." in _pane(
        Shown("queue", [location(), *earlier, backing_up, moving]), backing_up
    )


def test_the_pane_says_how_much_data_is_still_to_be_moved() -> None:
    run = backup("slow", "InProgress", started="02:31:05", progress={"itemsBackedUp": 9, "totalItems": 9})
    done = upload("a", "Completed", of="slow", completionTimestamp=at("02:35:00").isoformat(), progress=_bytes(2, 2))
    moves = upload("b", "InProgress", of="slow", created="02:40:50", progress=_bytes(1, 3))
    assert "3.0 GB of 5.0 GB moved; 1 of 2 volumes done." in _pane(Shown("queue", [run, done, moves]), run)
    waits = upload("c", "Accepted", of="slow", created="02:40:50")
    told = _pane(Shown("queue", [run, done, moves, waits]), run)
    assert "3.0 GB of 5.0 GB moved, and 1 volume of unknown size; 1 of 3 volumes done." in told
    assert "nothing moved yet, and 1 volume of unknown size; 0 of 1 volume done." in _pane(
        Shown("queue", [run, waits]), run
    )


def _bytes(done: int, total: int) -> dict[str, int]:
    return {"bytesDone": done * 10**9, "totalBytes": total * 10**9}


def test_the_end_of_a_tenants_backup_is_told_from_those_of_its_namespace() -> None:
    team = {"openshift.io/oadp-nab-origin-namespace": "team-a"}
    earlier = [
        backup(f"v-{minute}", started=f"02:{minute}:00", ended=f"02:{minute + 5}:00", annotations=team)
        for minute in (10, 16, 22)
    ]
    mine = backup("v-40", "InProgress", created="02:39:00", started="02:39:07", annotations=team)
    assert "Expected to end about 02:44Z, from the last 3 NABs of team-a." in _pane(
        Shown("queue", [location(), *earlier, mine]), mine
    )


def test_the_volume_of_a_backup_with_a_long_name_is_found_by_its_label() -> None:
    name = f"team-pay-{'x' * 70}"
    waiting = backup(name, "WaitingForPluginOperations", created="02:00:00", started="02:00:01")
    shown = Shown("queue", [waiting, upload(of=label_value(name))])
    assert shown.text("when") == [["◐", "waits 41m"]]


def test_finished_items_are_not_progress_while_the_data_waits() -> None:
    done = {"itemsBackedUp": 100, "totalItems": 100}
    label = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    waiting = backup("v-1", "WaitingForPluginOperations", started="02:00:01", labels=label, progress=done)
    tenant = nab("slow", veleroBackup=velero("v-1", "u-1"))
    assert Shown("nonadmin", [waiting, tenant, upload(of="v-1")]).text("progress") == [["◐", "data waits"]]
    in_file_system = backup("v-1", "InProgress", started="02:00:01", labels=label, progress=done)
    assert Shown("nonadmin", [in_file_system, tenant, upload(of="v-1")]).text("progress") == [["◐", "data waits"]]
    bytes_moved = upload(of="v-1", phase="InProgress", progress={"bytesDone": 3, "totalBytes": 10})
    assert Shown("nonadmin", [waiting, tenant, bytes_moved]).text("progress") == [["◐", "data 30%"]]
    moved = upload("up-1", of="v-1", phase="InProgress", progress={"bytesDone": 10, "totalBytes": 10})
    of_unknown_size = upload("up-2", of="v-1", phase="Accepted")
    assert Shown("nonadmin", [waiting, tenant, moved, of_unknown_size]).text("progress") == [["◐", "data 10 B+?"]]


def test_backups_that_are_finishing_hold_no_slot_and_are_counted_apart() -> None:
    runs = backup("runs", "InProgress", started="02:20:00")
    ends = [backup(name, "WaitingForPluginOperations", started="02:10:00") for name in ("a", "b")]
    waits = backup("waits", "Queued", created="02:21:00", queuePosition=1)
    assert "1 backup running, 2 finishing, 1 waiting" in _pane(Shown("queue", [location(), runs, *ends, waits]), runs)
    assert "1 backup running, 1 waiting" in _pane(Shown("queue", [location(), runs, waits]), runs)


def test_a_server_without_a_heartbeat_has_no_estimates() -> None:
    runs = backup("runs", "InProgress", started="02:20:00", progress={"itemsBackedUp": 66, "totalItems": 100})
    waits = backup("waits", "Queued", created="02:21:00", queuePosition=1)
    alive = Shown("queue", [location(), runs, waits])
    assert [row[-1].startswith(("21m → ", "~")) for row in alive.text("when")] == [True, True]
    silent = Shown("queue", [SILENT, runs, waits])
    assert [row[-1] for row in silent.text("when")] == ["silent 15m", "silent 15m"]
    assert [row[-1] for row in silent.text("waits")] == ["Velero", "Velero"]
    assert {item["expectedStart"] for item in silent.items()} == {None}
    assert {item["note"] for item in silent.items()} == {"no sign of activity from Velero since 02:26:03Z"}


def test_a_backup_created_while_storage_hangs_is_not_stalled_for_longer_than_it_exists() -> None:
    runs = backup("hourly-1", "InProgress", created="02:20:00", started="02:20:00", of="hourly")
    new = backup("hourly-2", "Queued", created="02:40:37", of="hourly", queuePosition=1)
    shown = Shown("queue", [SILENT, schedule("hourly", "* * * * *", last="02:40:37"), runs, new])
    assert [row[-1] for row in shown.text("when")] == ["stalled 15m", "stalled 30s"]
    assert [row[-1] for row in shown.text("waits")] == ["the storage", "the storage"]


def test_a_nab_whose_backup_stands_still_says_so_in_the_words_of_the_queue() -> None:
    labels = {"openshift.io/oadp-nab-origin-nacuuid": "u"}
    progress = {"itemsBackedUp": 66, "totalItems": 100}
    runs = backup("v", "InProgress", created="02:20:00", started="02:20:00", labels=labels, progress=progress)
    new = backup("hourly-2", "Queued", created="02:40:37", of="hourly", queuePosition=1)
    objects = [SILENT, schedule("hourly", "* * * * *", last="02:40:37"), runs, new]
    mine = nab("mine", "Created", veleroBackup=velero("v", "u"), conditions=[condition("Queued", "True", "Queued")])
    shown = Shown("nonadmin", [*objects, mine])
    cell = shown.cells("progress")["mine"]
    assert (cell.text, cell.tone, cell.drawing) == ("stalled 15m", Tone.WARN, None)
    assert cell.text == Shown("queue", objects).cells("items")["v"].text
    ((_, entry),) = shown.model.ordered()
    said = ["".join(piece.text for piece in one.spans) for one in nonadmin_pane(entry, shown.render_context())]
    assert said[0].endswith("The Velero Backup was started, and stands still (InProgress).")
    assert "Completed" not in said


def test_row_and_pane_agree_on_a_stalled_backup() -> None:
    progress = {"itemsBackedUp": 66, "totalItems": 100}
    stalled = backup("slow", "InProgress", created="02:00:00", started="02:00:01", progress=progress)
    shown = Shown("queue", [location(checked="02:59:03", synced="02:59:03"), stalled])
    assert shown.text("when")[0][-1].startswith("41m → ")
    shown.clock.set(at("02:59:07"))
    assert run_eta(stalled, shown.render_context()).text == "stalled 18m"
    told = shown.render_context().facts(stalled).told
    assert "have changed for at least 18 minutes" in render(told, NOW)
    assert "nded about" not in _pane(shown, stalled)


def test_a_run_is_stalled_after_the_time_that_the_configuration_gives() -> None:
    progress = {"itemsBackedUp": 66, "totalItems": 100}
    slow = backup("slow", "InProgress", created="02:00:00", started="02:00:01", progress=progress)
    shown = Shown("queue", [location(checked="02:59:03", synced="02:59:03"), slow])
    shown.state.thresholds = Thresholds(nothing_moved=timedelta(hours=1))
    shown.clock.set(at("02:59:07"))
    assert run_eta(slow, shown.render_context()).text.startswith("59m → ")


def test_no_progress_counts_from_the_last_observed_change() -> None:
    first = backup("slow", "InProgress", started="02:00:01", progress={"itemsBackedUp": 66, "totalItems": 100})
    shown = Shown("queue", [location(), first])
    shown.clock.set(NOW + timedelta(seconds=15))
    assert "unchanged since foretop first saw it, 15 seconds ago" in _pane(shown, first)
    moved = backup("slow", "InProgress", started="02:00:01", progress={"itemsBackedUp": 67, "totalItems": 100})
    shown.store.sink(WatchScope("prod", BACKUP), shown.clock).apply("MODIFIED", moved)
    shown.clock.set(NOW + timedelta(seconds=55))
    assert "unchanged for 40 seconds" in _pane(shown, moved)


def test_a_schedule_has_no_estimated_start_without_a_heartbeat() -> None:
    hourly, silent = schedule(cron="0 * * * *", last="02:00:03"), Heartbeat(3, at("02:26:03"), timedelta(minutes=1))
    assert expected_start(hourly, NOW, Dialect.ROBFIG, Heartbeat(3, at("02:41:03"), timedelta(minutes=1))) == at(
        "03:00:03"
    )
    assert expected_start(hourly, NOW, Dialect.ROBFIG, silent) is None
    due = schedule(cron="0 * * * *", last="01:00:03", paused=True)
    told = unpause(due, NOW, Choice.DO_NOT_SKIP, dialect=Dialect.ROBFIG, beat=silent)
    assert told.starts is None
    assert render(told.sentence, NOW).startswith(
        "nothing until Velero is back (no sign of activity from Velero since 02:26:03Z), then one backup"
    )


def test_a_new_backup_says_that_velero_must_be_active_first() -> None:
    step = plan_back_up_now(assemble([SILENT, schedule()]), [schedule()], NOW).steps[0]
    assert (
        "is created but does not start until Velero is back: no sign of activity from Velero since 02:26:03Z"
        in step.forecast
    )


def _pane(shown: Shown, run: Backup) -> str:
    result = queue_pane(run, shown.render_context())
    return " ".join(piece.text for paragraph in result for piece in paragraph.spans)


def test_the_pane_of_the_queue_begins_with_the_end_and_draws_how_much_is_done() -> None:
    run = backup("a-run", "InProgress", started="02:31:00", progress={"itemsBackedUp": 66, "totalItems": 100})
    shown = Shown("queue", [location(), run])
    first, *rest = queue_pane(run, shown.render_context())
    assert first.spans[0].text.startswith("Expected to end about ")
    assert first.spans[0].style == style_of(Tone.RUNNING) + BOLD
    bars = ["".join(piece.text for piece in one.spans) for one in rest if "█" in one.spans[0].text]
    assert bars == ["█" * 13 + "─" * 7 + " 66%"]
    assert [len(whole_name(run, shown.render_context(), cells)) for cells in (8, 9)] == [1, 0]


def test_the_pane_of_a_tenants_backup_begins_with_what_is_wrong_in_its_colour() -> None:
    refused = nab("orders", conditions=[condition("Accepted", "False", "InvalidBackupSpec")])
    shown = Shown("nonadmin", [refused])
    ((_, entry),) = shown.model.ordered()
    first, *_ = nonadmin_pane(entry, shown.render_context())
    assert first.spans[0].text.startswith("The controller refuses it")
    assert first.spans[0].style == style_of(Tone.WARN) + BOLD


def _tenants_pane(shown: Shown) -> str:
    _, entry = next(iter(shown.model.table))
    assert not isinstance(entry, UnreadableRow)
    result = nonadmin_pane(entry, shown.render_context())
    return " ".join(piece.text for paragraph in result for piece in paragraph.spans)


def test_a_tenant_without_the_queue_sees_the_limits_of_the_estimate() -> None:
    tenant = nab(veleroBackup=velero("v-1", "u-1", phase="New"), queueInfo={"estimatedQueuePosition": 9})
    told = _tenants_pane(Shown("nonadmin", [tenant]))
    assert "The controller reports place ~9 in the queue, updated mostly when a backup ends" in told


def test_the_estimate_of_the_queue_of_one_that_runs_says_that_it_runs() -> None:
    label = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    runs = backup("v-1", "InProgress", created="02:30:00", started="02:30:03", labels=label)
    tenant = nab(veleroBackup=velero("v-1", "u-1", phase="InProgress"), queueInfo={"estimatedQueuePosition": 4})
    shown = Shown("nonadmin", [location(), tenant, runs])
    _, entry = next(iter(shown.model.table))
    assert not isinstance(entry, UnreadableRow)
    result = tenant_facts(entry, shown.render_context())
    told = " ".join(piece.text for paragraph in result for piece in paragraph.spans)
    assert "place ~4 in the queue, updated mostly when a backup ends; it runs already." in told


def test_one_number_says_where_a_tenants_backup_waits() -> None:
    label = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    ahead = backup("ahead", "InProgress", created="02:37:00", started="02:37:01")
    mine = backup("v-1", "Queued", created="02:38:00", labels=label, queuePosition=1)
    tenant = nab(veleroBackup=velero("v-1", "u-1"), queueInfo={"estimatedQueuePosition": 7})
    told = _tenants_pane(Shown("nonadmin", [location(), ahead, mine, tenant]))
    assert "1st waiting, 1 running" in told
    assert "~7" not in told


@pytest.mark.parametrize(
    ("number", "word"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (211, "211th"), (21, "21st")]
)
def test_places_are_told_as_ordinals(number: int, word: str) -> None:
    assert humanize.ordinal(number) == word


@pytest.mark.parametrize(("ttl", "words"), [("0s", "default (30 days)"), ("", "default (30 days)"), ("72h", "3 days")])
def test_a_lifetime_of_nothing_is_the_default(ttl: str, words: str) -> None:
    shown = Shown("nonadmin", [nab(spec={"backupSpec": {"ttl": ttl}})])
    _, entry = next(iter(shown.model.table))
    assert not isinstance(entry, UnreadableRow)
    told = tenant_facts(entry, shown.render_context())
    assert f"TTL {words} ·" in " ".join(piece.text for paragraph in told for piece in paragraph.spans)
