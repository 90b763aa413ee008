"""A restart of Velero, seen by the second at which its storage locations are checked and synced."""

from __future__ import annotations

from datetime import datetime

import pytest
from msgspec.structs import replace

from foretop_core.models import BackupStorageLocation
from foretop_core.models.wire import ObjectRef
from foretop_core.store.change_history import BeatTracker
from tests.objects import at, location

KEY = ObjectRef("prod", "BackupStorageLocation", "velero", "default")


class Beats:
    """A detector, and the last version of its one location."""

    def __init__(self) -> None:
        self.detector = BeatTracker()
        self.before: BackupStorageLocation | None = None

    def show(self, *, checked: str = "", synced: str = "", created: str | None = "02:00:00") -> None:
        after = location(checked=checked, synced=synced)
        meta = replace(after.metadata, creation_timestamp=None if created is None else at(created))
        after = replace(after, metadata=meta)
        self.detector.note(KEY, self.before, after)
        self.before = after

    def synced(self, *moments: str) -> Beats:
        for moment in moments:
            self.show(synced=moment)
        return self

    @property
    def restarted(self) -> datetime | None:
        return self.detector.restarted("prod").get("velero")

    @property
    def off_beat(self) -> frozenset[datetime]:
        return self.detector.off_beat("prod")


@pytest.mark.parametrize(
    ("first", "then", "restarted"),
    [
        (("02:10:30", "02:11:30"), ("02:12:30", "02:13:30"), None),
        (("02:10:30", "02:11:30"), ("02:12:31", "02:13:31"), None),
        (("02:10:30", "02:11:30"), ("02:12:29", "02:13:29"), None),
        (("02:10:30", "02:11:30"), ("02:12:32", "02:13:32"), "02:12:32"),
        (("02:10:30", "02:11:30"), ("02:12:28", "02:13:28"), "02:12:28"),
        (("02:10:59", "02:11:59"), ("02:13:00", "02:14:00"), None),
        (("02:10:00", "02:11:00"), ("02:11:59", "02:12:59"), None),
        (("02:10:59", "02:11:59"), ("02:13:01", "02:14:01"), "02:13:01"),
    ],
)
def test_a_second_beside_the_last_one_is_the_same_server(
    first: tuple[str, ...], then: tuple[str, ...], restarted: str | None
) -> None:
    beats = Beats().synced(*first)
    assert beats.restarted is None, "the first second that is seen replaces no other"
    beats.synced(*then)
    assert beats.restarted == (restarted and at(restarted))


@pytest.mark.parametrize(("next_sync", "is_seen"), [("02:17:45", True), ("02:18:45", False), ("02:13:46", False)])
def test_two_pulses_agree_whole_minutes_apart_and_five_at_most(next_sync: str, is_seen: bool) -> None:
    beats = Beats().synced("02:10:30", "02:11:30", "02:12:45", next_sync)
    assert (beats.restarted is not None) == is_seen


def test_two_checks_alone_do_not_show_the_second_of_a_server() -> None:
    """Slow storage holds up every check of a location, so they agree with each other."""
    beats = Beats().synced("02:10:30", "02:11:30")
    for moment in ("02:12:50", "02:13:50"):
        beats.show(checked=moment, synced="02:11:30")
    assert beats.restarted is None
    beats.show(checked="02:13:50", synced="02:14:50")
    assert beats.restarted == at("02:12:50")


def test_a_time_that_is_repeated_is_no_new_pulse() -> None:
    beats = Beats().synced("02:10:30", "02:11:30", "02:12:45")
    beats.show(checked="02:13:20", synced="02:12:45")
    beats.show(checked="02:13:20", synced="02:12:45")
    assert beats.restarted is None


def test_each_server_has_a_second_of_its_own() -> None:
    detector = BeatTracker()
    for context, namespace, moments in (
        ("prod", "velero", ("02:10:30", "02:11:30")),
        ("prod", "oadp", ("02:12:45", "02:13:45")),
        ("other", "velero", ("02:14:10", "02:15:10")),
    ):
        key, before = ObjectRef(context, "BackupStorageLocation", namespace, "default"), None
        for moment in moments:
            after = location(checked="", synced=moment)
            detector.note(key, before, after)
            before = after
    assert detector.restarted("prod") == detector.restarted("other") == {}


@pytest.mark.parametrize(
    ("synced", "is_off"),
    [
        ("02:12:30", False),
        ("02:12:32", False),
        ("02:12:28", False),
        ("02:12:33", True),
        ("02:12:27", True),
        ("02:12:31", False),
        ("02:12:29", False),
    ],
)
def test_a_sync_is_on_the_beat_up_to_two_seconds_off(synced: str, is_off: bool) -> None:
    assert Beats().synced("02:11:30", synced).off_beat == (frozenset({at(synced)}) if is_off else frozenset())


@pytest.mark.parametrize(
    ("created", "synced", "is_off"),
    [
        ("02:10:00", "02:11:02", False),
        ("02:10:00", "02:11:03", True),
        ("02:10:00", "02:20:00", True),
        (None, "02:11:03", False),
    ],
)
def test_the_first_sync_of_a_location_is_due_a_minute_after_it_is_made(
    created: str | None, synced: str, is_off: bool
) -> None:
    beats = Beats()
    beats.show(created=created)
    beats.show(synced=synced, created=created)
    assert bool(beats.off_beat) == is_off


def test_a_location_first_seen_with_its_sync_or_deleted_is_not_off_the_beat() -> None:
    assert Beats().synced("02:33:33").off_beat == frozenset()
    beats = Beats().synced("02:11:30", "02:12:50")
    assert beats.off_beat == {at("02:12:50")}
    beats.show(checked="02:13:00", synced="02:12:50")
    assert beats.off_beat == {at("02:12:50")}, "a check says nothing of the syncs"
    beats.detector.note(KEY, beats.before, None)
    assert beats.off_beat == frozenset()
