"""The beat of a Velero server: known only where what it left behind makes it certain."""

from __future__ import annotations

from foretop_core.cron import Dialect
from foretop_core.rules.forecast import Choice, expected_start, unpause
from foretop_core.rules.heartbeat import beat_second, heartbeat
from foretop_core.rules.sentences import render
from tests.objects import NOW, at, backup, location, schedule


def test_a_validation_alone_shows_no_beat() -> None:
    """A location is validated when it is made or changed, at any second; its first sync comes with the beat."""
    checked = location(checked="02:40:51", synced="")
    assert beat_second([checked], [schedule(created="02:40:40")]) is None
    assert heartbeat([checked]).pulse == at("02:40:51"), "it is a sign of life all the same"


def test_without_a_certain_beat_no_start_is_told_to_the_second() -> None:
    beat = heartbeat([location(checked="02:40:51", synced="")])
    hourly = schedule(cron="0 * * * *", last="02:00:03")
    assert expected_start(hourly, NOW, Dialect.ROBFIG, beat) is None
    paused = schedule(cron="0 * * * *", last="02:00:03", paused=True)
    forecast = unpause(paused, NOW, Choice.DO_NOT_SKIP, dialect=Dialect.ROBFIG, beat=beat)
    assert forecast.starts is None
    assert "within a minute" in render(forecast.sentence, NOW)


def test_a_sync_shows_the_beat() -> None:
    assert beat_second([location(checked="02:40:51", synced="02:40:33")], []) == 33


def test_one_run_alone_shows_no_beat_and_a_second_one_does() -> None:
    """One may have been made off the beat, when a person changed its schedule."""
    first, second = schedule("first", last="02:39:33"), schedule("second", last="02:40:33")
    assert beat_second([], [first]) is None
    assert beat_second([], [first, schedule("other", last="02:39:34")]) is None, "both are of the same look"
    assert beat_second([], [first, second]) == 33


def test_a_run_and_a_validation_that_agree_show_the_beat() -> None:
    assert beat_second([location(checked="02:40:33", synced="")], [schedule(last="02:38:33")]) == 33


def test_a_run_off_the_beat_makes_it_uncertain_until_it_is_old() -> None:
    """Storage that hung lets a sync end at any second, so a single sync does not outweigh a run of the same minute."""
    synced = location(checked="02:40:33", synced="02:40:33")
    assert beat_second([synced], [schedule(last="02:40:10")]) is None
    assert beat_second([synced], [schedule(last="02:35:10")]) == 33


def test_a_run_that_came_with_an_unpause_says_nothing_of_the_beat() -> None:
    """Velero looks at a schedule that was changed at once: its backup has the second of the person's patch."""
    synced = location(checked="02:40:33", synced="02:40:33")
    patched = {"manager": "foretop", "time": "2026-11-15T02:40:10Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    unpaused = schedule("hourly", last="02:40:10", managedFields=[patched])
    made = backup("hourly-20261115024010", of="hourly", created="02:40:10")
    assert beat_second([synced], [unpaused], [made]) == 33
    later = schedule("hourly", last="02:41:33", managedFields=[patched])
    assert beat_second([synced], [later], [made]) == 33
    other = schedule("hourly", last="02:40:13", managedFields=[patched])
    assert beat_second([synced], [other]) is None, "three seconds later it was a look of its own"


def test_many_runs_outweigh_a_sync_that_storage_held_up() -> None:
    late = location(checked="02:41:05", synced="02:41:05")
    minutes = range(30, 41)
    runs = [backup(f"hourly-2026111502{minute}33", of="hourly", created=f"02:{minute}:33") for minute in minutes]
    assert beat_second([late], [], runs) == 33
    assert beat_second([late], [], runs[-1:]) is None


def test_what_is_older_than_a_restart_counts_nothing_and_the_second_of_the_restart_itself_does() -> None:
    reason = 'found a backup with status "InProgress" during the server starting, mark it as "Failed"'
    lost = backup("lost", "Failed", started="02:30:00", ended="02:40:33", failureReason=reason)
    assert beat_second([location(checked="02:40:33", synced="02:40:33")], [], [lost]) == 33
    assert beat_second([location(checked="02:40:32", synced="02:40:32")], [], [lost]) is None


def test_what_is_older_than_the_start_of_the_server_s_pod_counts_nothing() -> None:
    old, new = location(checked="02:40:08", synced="02:40:08"), location(checked="02:41:35", synced="02:41:35")
    assert beat_second([old], []) == 8
    assert beat_second([old], [], started=at("02:40:33")) is None
    assert beat_second([new], [schedule(last="02:40:08")], started=at("02:40:33")) == 35


def test_a_sync_that_was_seen_off_the_beat_shows_none_by_itself() -> None:
    held_up = location(checked="02:40:41", synced="02:40:41")
    off_beat = {at("02:40:41")}
    assert beat_second([held_up], [], off_beat=off_beat) is None
    on_beat = [schedule(name, last=last) for name, last in (("first", "02:38:13"), ("second", "02:39:13"))]
    assert beat_second([held_up], on_beat, off_beat=off_beat) == 13
