"""The backlog of a server that does nothing, if it works again from one moment or another on."""

from __future__ import annotations

from datetime import UTC, timedelta

from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.coming_back import ComingBack, coming_back, if_resumed, with_backlog
from foretop_core.rules.night.night import night
from foretop_core.rules.pauses import PAUSED_BY, PAUSED_UNTIL
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import night_words
from tests.objects import NOW, at, backup, location, schedule


def silent_server(*objects: Resource, slots: int = 1) -> ClusterSnapshot:
    """Its storage was last checked at half past two."""
    runs = [
        backup(f"etcd-{hour}", created=f"{hour}:35:03", started=f"{hour}:35:03", ended=f"{hour}:45:03", of="etcd")
        for hour in ("00", "01")
    ]
    etcd = schedule("etcd", "35 * * * *", last="01:35:03", template={"includedNamespaces": ["etcd"]})
    silent = location(checked="02:30:03", synced="02:30:03")
    snapshot = assemble([silent, *runs, etcd, *objects], given_versions={"": "1.18.3"})
    return replace(snapshot, servers={"velero": VeleroInfo(concurrency=slots, version="1.18.3")})


def _backs(snapshot: ClusterSnapshot) -> list[ComingBack]:
    found = coming_back(snapshot, "velero", NOW, UTC)
    assert [back.at for back in found] == [NOW, NOW + timedelta(minutes=30), at("06:00:00")]
    return list(found)


def test_a_server_that_is_back_makes_one_run_of_all_that_fell_due() -> None:
    """It fell due at 02:35; until six there are three more, which the one run stands for."""
    now, soon, six = _backs(silent_server())
    assert (now.runs, soon.runs, six.runs) == (1, 1, 1)
    for back in (now, soon, six):
        assert back.done is not None
        assert timedelta(minutes=10) <= back.done.likely - back.at <= timedelta(minutes=13)
    assert now.late == ()
    assert six.late == ("etcd",), "its newest copy is of 01:35, and promised every hour"


def test_what_was_at_work_fails_with_the_server_and_goes_on_where_its_storage_hangs() -> None:
    at_work = backup(
        "by-hand", "InProgress", created="02:29:00", started="02:29:00", spec={"includedNamespaces": ["a"]}
    )
    waits = backup("waits", "Queued", created="02:30:00", spec={"includedNamespaces": ["b"]})
    down, *_ = _backs(silent_server(at_work, waits))
    assert down.runs == 2
    made = backup("made", "Queued", created="02:40:59", spec={"includedNamespaces": ["c"]})
    hangs, *_ = _backs(
        silent_server(at_work, waits, made, backup("ended", created="02:40:00", started="02:40:00", ended="02:40:30"))
    )
    assert hangs.runs == 4


def test_the_screen_says_it_as_the_command_line_does() -> None:
    ahead = with_backlog(night(silent_server(), "velero", NOW), silent_server())
    assert ahead.unknown
    lines = [render(line, NOW) for line in ahead.if_back]
    assert lines[0].startswith("now: 1 run to make up for, done about 02:5")
    assert lines[0].endswith("; no copy late")
    assert lines[2].startswith("at 06:00Z: ")
    assert lines[2].endswith("; late: etcd")
    shown = night_words(ServerNight("prod", ahead), NOW, UTC)
    assert [line.label for line in shown] == ["Night", "If back", "If back", "If back"]
    assert shown[1].phrases[0].text == lines[0]


def test_a_server_without_anything_to_do_has_nothing_to_make_up_for() -> None:
    silent = location(checked="02:30:03", synced="02:30:03")
    back, *_ = coming_back(assemble([silent]), "velero", NOW, UTC)
    assert render(back.words, NOW) == "now: nothing to make up for; no copy late"


def test_a_planned_end_of_a_pause_tells_whether_it_is_done_by_six() -> None:
    """Hourly at 35, of ten minutes: paused until 04:40, so that 04:35 is skipped and 05:35 runs."""

    def paused(until: str) -> ClusterSnapshot:
        notes = {PAUSED_BY: "maria", PAUSED_UNTIL: f"2026-11-15T{until}Z"}
        item = schedule("etcd", "35 * * * *", last="01:35:03", paused=True, annotations=notes)
        runs = [item for item in silent_server().backups_by_namespace["velero"] if item.schedule_name == "etcd"]
        return assemble([location(), *runs, item], given_versions={"": "1.18.3"})

    ahead = with_backlog(night(paused("04:40:00"), "velero", NOW), paused("04:40:00"))
    words = render(if_resumed(paused("04:40:00"), "velero", NOW, UTC), NOW)
    told = {line.label: line.phrases[0].text for line in night_words(ServerNight("prod", ahead), NOW, UTC)}
    assert told["If ended"] == words
    assert words.startswith("at 04:40Z with skip: 1 run due before 06:00Z, done about 05:4")
    assert render(if_resumed(paused("05:50:00"), "velero", NOW, UTC), NOW).endswith("no run due before 06:00Z")
    assert if_resumed(paused("02:00:00"), "velero", NOW, UTC) == ""
