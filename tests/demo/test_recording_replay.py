"""Replayed recordings: the box does to every object what the real controllers did."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foretop_demo.controllers import Flags
from tests.demo.recording_replay import histories, positions, recorded, replay

WAITING = ("Queued", "ReadyToStart")
"""A recording may end in an idle gap of the queue, which the box does not have."""

LATE = "nab wave-4"
"""The real controller was busy and created its Backup a quarter of a second late, in the next second: no tie."""

HELD_UP = {"upgrade": {"plain", "quoted"}}
"""Their waiting backup got its slot in a minute pass, after such a gap, and so blocked them in that pass."""

STORIES = {
    "schedules": (Flags(), None),
    "nonadmin": (Flags(), datetime(2026, 11, 15, 2, 22, 29, 560_000, tzinfo=UTC)),
    "queue": (Flags(concurrent_backups=2), None),
    "overlap": (Flags(), None),
    "overlap-1.17": (Flags(version="1.17.2"), None),
    "upgrade": (Flags(version="1.18.2"), None),
}


@pytest.mark.parametrize("name", STORIES)
def test_the_box_replays_a_recording_of_the_real_controllers(name: str) -> None:
    flags, non_admin_at = STORIES[name]
    held_up = HELD_UP.get(name, set())
    real, box = histories(recorded(name)), histories(replay(name, flags, non_admin_at))
    missed = {key for key in box.keys() - real.keys() if key[0] == "backups" and _schedule_of(key) in held_up}
    assert sorted(box.keys() - missed) == sorted(real), "the same objects were made"
    assert len(missed) == len(held_up), "one run more each"
    for key in real:
        waits = key[0] == "backups" and real[key][-1][0] in WAITING
        cut_off = waits or (key[0] == "schedules" and key[2] in held_up)
        assert (box[key][: len(real[key])] if cut_off else box[key]) == real[key], key


def _schedule_of(key: tuple[str, str, str]) -> str:
    return key[2].partition(" run ")[0]


@pytest.mark.parametrize(
    ("name", "until"),
    [("queue", "a"), ("overlap", "one-20261115024116"), ("nonadmin", "team-0-wave-0-<uuid>")],
)
def test_queue_positions_match_velero_while_storage_hangs(name: str, until: str) -> None:
    flags, non_admin_at = STORIES[name]
    real, box = positions(recorded(name), until), positions(replay(name, flags, non_admin_at), until)
    assert {who: box[who] for who in box if who != LATE} == {who: real[who] for who in real if who != LATE}
