"""The beat of a Velero server: known only where what it left behind makes it certain."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.cron import Dialect
from foretop_core.rules.forecast import Choice, expected_start, unpause
from foretop_core.rules.heartbeat import Heartbeat, LifeSign, beat_second, heartbeat, unchecked_for
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


_MINUTE = timedelta(minutes=1)
_SILENT = Heartbeat(pulse=at("02:30:00"), period=_MINUTE)
_HANGS = replace(_SILENT, worked=(LifeSign(at("02:40:00")),))


@pytest.mark.parametrize(
    ("beat", "word", "clause", "waits_for", "step", "coming"),
    [
        (
            _SILENT,
            "silent",
            "Velero is silent",
            "Velero",
            "does not start until Velero is back",
            "but it is not created until Velero is back",
        ),
        (
            replace(_HANGS, is_down=True),
            "down",
            "Velero is down",
            "Velero",
            "does not start until Velero is back",
            "but it is not created until Velero is back",
        ),
        (
            _HANGS,
            "storage hangs",
            "the storage of Velero hangs",
            "the storage",
            "does not complete until the storage responds",
            "created then; it completes when the storage responds",
        ),
        (
            replace(_HANGS, has_waiting=True),
            "storage hangs",
            "the storage of Velero hangs",
            "the storage",
            "does not start until the storage responds",
            "created then; it starts when the storage responds",
        ),
    ],
)
def test_a_server_without_a_pulse_is_silent_or_down_or_its_storage_hangs(
    beat: Heartbeat, word: str, clause: str, waits_for: str, step: str, coming: str
) -> None:
    said = (beat.silence_word(NOW), beat.silence_phrase(NOW), beat.awaited_part(NOW), beat.holds_back(NOW))
    assert said == (word, clause, waits_for, step)
    assert beat.coming_run_phrase(NOW) == coming


@pytest.mark.parametrize(
    ("pulse", "worked", "works"),
    [
        ("02:30:00", "02:30:58", True),
        ("02:30:00", "02:30:57", False),
        ("02:38:06", "02:38:07", True),
        ("02:38:06", "02:38:06", False),
        ("02:38:07", "02:41:00", False),
        ("02:30:00", "02:42:07", True),
        ("02:30:00", "02:42:08", False),
    ],
)
def test_a_server_works_that_has_done_something_lately_or_since_a_check_was_due(
    pulse: str, worked: str, works: bool
) -> None:
    """With a pulse nothing is asked; what lies more than a minute ahead says nothing."""
    assert Heartbeat(pulse=at(pulse), period=_MINUTE, worked=(LifeSign(at(worked)),)).still_works(NOW) is works


@pytest.mark.parametrize(
    ("started", "sign"), [("02:35:00", "02:35:00"), ("02:42:07", "02:42:07"), ("02:42:08", "02:30:00")]
)
def test_the_start_of_its_pod_is_a_sign_of_life_unless_it_lies_ahead(started: str, sign: str) -> None:
    assert replace(_SILENT, started=LifeSign(at(started))).last_sign(NOW) == at(sign)


def test_a_check_that_lies_ahead_leaves_those_before_it_to_tell() -> None:
    found = heartbeat([location(checked=one, synced="") for one in ("02:50:00", "02:40:10", "02:39:10")])
    assert (found.pulse, found.checked(NOW)) == (at("02:50:00"), at("02:40:10"))


@pytest.mark.parametrize(("ahead", "counts"), [("02:42:07", True), ("02:42:08", False)])
def test_a_check_by_a_clock_that_is_up_to_a_minute_ahead_counts(ahead: str, counts: bool) -> None:
    found = heartbeat([location(checked=one, synced="") for one in (ahead, "02:40:10")])
    assert found.checked(NOW) == at(ahead if counts else "02:40:10")


@pytest.mark.parametrize(
    ("every", "checked", "unchecked"),
    [
        ("", "02:38:07", None),
        ("", "02:38:06", timedelta(minutes=3, seconds=1)),
        ("10s", "02:38:07", None),
        ("2m", "02:35:07", None),
        ("2m", "02:35:06", timedelta(minutes=6, seconds=1)),
        ("0s", "01:00:00", None),
        ("", "", None),
    ],
)
def test_a_location_is_unchecked_once_three_checks_are_missing(
    every: str, checked: str, unchecked: timedelta | None
) -> None:
    found = location(checked=checked, synced="", spec={"validationFrequency": every} if every else {})
    assert unchecked_for(found, NOW) == unchecked


@pytest.mark.parametrize(
    ("moment", "look"),
    [
        ("02:40:33", "02:40:33"),
        ("2026-11-15T02:40:32.000001Z", "02:40:33"),
        ("2026-11-15T02:40:33.000001Z", "02:41:33"),
        ("02:40:34", "02:41:33"),
    ],
)
def test_the_first_look_comes_at_the_second_of_the_beat(moment: str, look: str) -> None:
    assert Heartbeat(33).first_look(at(moment)) == at(look)
    assert Heartbeat(33).coming_look(at(moment) + timedelta(seconds=5)) == at(look), "what it did may not be seen yet"
    assert Heartbeat().first_look(at(moment)) is None
