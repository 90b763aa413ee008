"""The words of a lane: who holds the slots when it starts, and what becomes of a run that Velero refuses."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from foretop.commands.forecast import night_exit_code
from foretop.panes.calendar_pane import phrases
from foretop_core.models import Deployment, PodVolumeBackup, Schedule, from_builtins
from foretop_core.models.kinds import NAB, SCHEDULE
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import Owner, OwnerKind
from foretop_core.rules.facts.server_facts import server_facts
from foretop_core.rules.night.night import Fate, ForeseenRun, Night, RunSpan, night
from foretop_core.rules.night.outlook import (
    Peak,
    WindowOutlook,
    done_by_six,
    next_waits,
    outlook,
    still_open,
    window_outlook,
)
from foretop_core.rules.night.past_runs import PastRun, past_runs
from foretop_core.rules.night.ranges import Range
from foretop_core.rules.night.window import Window, read_window
from foretop_core.rules.pauses import PAUSED_BY, PAUSED_UNTIL
from foretop_core.rules.snapshot import ObservedChanges
from foretop_core.store import Store
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.timeline.night_chart import LaneRun, LaneSign
from foretop_core.tables.timeline.night_lanes import LaneGroup, ServerNight, lane_standing
from foretop_core.tables.timeline.night_words import (
    LaneWords,
    Phrase,
    WordLine,
    clock,
    day_words,
    joined,
    lane_words,
    most_telling,
    night_words,
    printed_words,
    week_words,
)
from foretop_core.tables.timeline.time_axis import TimeAxis
from foretop_core.tables.timeline.timeline_model import TimelineModel
from tests.objects import NOW, at, backup, location, schedule, upload
from tests.unit.rules.test_schedule_facts import paused_field
from tests.unit.tables.test_views import Shown


def _server(slots: int) -> Resource:
    args = ["server", f"--concurrent-backups={slots}"]
    container = {"name": "velero", "image": "velero/velero:v1.18.3", "args": args}
    body = {
        "metadata": {"name": "velero", "namespace": "velero"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    return from_builtins(Deployment, body)


def _words(name: str, *objects: Resource) -> LaneWords:
    past = [
        backup(f"{one.name}-1", created="01:00:00", started="01:00:00", ended="01:20:00", of=one.name)
        for one in objects
        if isinstance(one, Schedule)
    ]
    ahead = ServerNight("prod", night(assemble([*objects, *past]), "velero", NOW, draws=0))
    (runs,) = [runs for key, runs in ahead.foreseen.items() if key.name == name]
    told = lane_words(ahead, runs, NOW, UTC)
    assert told is not None
    return told


def _at_three(name: str, namespace: str, **template: object) -> Resource:
    return schedule(
        name, "0 3 * * *", last="2026-11-14T03:00:03Z", template={"includedNamespaces": [namespace], **template}
    )


@pytest.mark.parametrize(("number", "taken"), [(2, False), (3, True)])
def test_the_words_name_who_runs_with_it_and_whether_all_slots_are_taken(number: int, taken: bool) -> None:
    told = _words("s0", location(), _server(3), *(_at_three(f"s{n}", f"ns-{n}") for n in range(number)))
    assert [f"s{n}" in told.company for n in range(1, number)] == [True] * (number - 1)
    assert told.company.endswith(": all slots taken") is taken


def test_the_words_of_a_run_at_work_name_who_is_at_work_now() -> None:
    """Also who came later, and whose end nobody knows; one that is only finishing takes no slot."""
    objects = [
        location(),
        _server(3),
        backup("first", "InProgress", created="02:00:00", started="02:00:00", of="s0"),
        backup("later", "InProgress", created="02:30:00", started="02:30:00", of="s1"),
        backup("ending", "Finalizing", created="02:10:00", started="02:10:00", of="s2"),
        upload("waits", of="later", created="02:31:00"),
        *(_at_three(f"s{n}", f"ns-{n}") for n in range(3)),
    ]
    assert _words("s0", *objects).company == "s2 and s1"
    third = backup("third", "InProgress", created="02:35:00", started="02:35:00")
    assert _words("s0", *objects, third).company == "s2, s1 and third: all slots taken"


def test_a_run_that_was_expected_to_have_ended_ends_soon() -> None:
    """The night is played anew only now and then: its end may be past by then."""
    run = replace(_told("images", "02:10", "02:40"), name="images-1", due=None)
    ahead = ServerNight("prod", Night("velero", at("02:30"), at("08:00"), (run,), draws=50))
    told = lane_words(ahead, (run,), NOW, UTC)
    assert told is not None
    assert (told.ends, told.by) == ("soon", "")


def test_bar_and_words_of_a_run_at_work_end_as_the_queue_tells_it_now() -> None:
    """The night was played some time ago: the words had the end of the queue, and the bar that of the night."""
    past = [
        backup(f"images-{n}", created=f"0{n}:00:00", started=f"0{n}:00:00", ended=f"0{n}:20:00", of="images")
        for n in range(3)
    ]
    runs = backup("images-9", "InProgress", created="02:20:00", started="02:20:00", of="images")
    objects = [location(), _server(1), schedule("images", "20 2 * * *", last="02:20:00"), *past, runs]
    queue = Shown("queue", objects, NOW)
    ahead = ServerNight("prod", night(assemble(objects), "velero", at("02:21"), draws=0))
    key = ObjectRef("prod", "Schedule", "velero", "images")
    context = queue.render_context()
    told = ahead.told_runs(key, context)
    words = lane_words(ahead, told, NOW, UTC)
    end = context.facts(runs).expected_end
    assert end is not None
    assert end != ahead.foreseen[key][0].end, "the queue has moved it"
    assert ahead.lane_runs(key, told)[0].end == end
    assert words is not None
    assert words.ends == f"{end + timedelta(seconds=30):%H:%M}"
    assert words.company == "no other run", "not itself"


def test_a_run_that_has_to_wait_says_for_whom_though_it_starts_alone() -> None:
    objects = [location(), _server(1), *(_at_three(f"s{n}", f"ns-{n}") for n in range(2))]
    told = {name: _words(name, *objects) for name in ("s0", "s1")}
    first, second = sorted(told, key=lambda name: told[name].starts)
    assert (told[first].wait, told[first].company) == ("", "no other run")
    assert (told[second].wait, told[second].company) == ("20m", f"no other run, after {first}")


def test_tenants_to_come_are_named_where_they_have_the_slots() -> None:
    coming = RunSpan(at("03:00"), at("03:10"), at("03:40"), Owner(OwnerKind.NAB))
    run = _told("etcd", "03:10", "03:20")
    ahead = ServerNight("prod", Night("velero", NOW, at("08:00"), (run,), slots=2, typical=(coming,)))
    told = lane_words(ahead, (run,), NOW, UTC)
    assert told is not None
    assert told.company == "an expected tenant backup: all slots taken"


def test_who_hands_over_a_slot_is_not_at_work_with_it_and_seconds_are_no_wait() -> None:
    coming = RunSpan(at("03:00"), at("03:00"), at("03:10"), Owner(OwnerKind.NAB))
    before = _told("before", "03:05", "03:10")
    carts = replace(_told("carts", "03:10", "03:20", made="03:09:30"), owner=Owner(OwnerKind.NAB, "team-a", "carts"))
    for run, named in ((carts, "team-a/carts"), (_told("etcd", "03:10", "03:20", made="03:09:30"), "")):
        ahead = ServerNight("prod", Night("velero", NOW, at("08:00"), (before, run), slots=2, typical=(coming,)))
        told = lane_words(ahead, (run,), NOW, UTC)
        assert told is not None
        assert (told.run, told.company) == (named, "no other run")


def test_lines_without_a_label_go_on_with_the_one_above() -> None:
    lines = [WordLine(label, (Phrase(label.lower() or "more"),)) for label in ("Peak", "Waits", "", "", "Done", "")]
    told = [(line.label, "".join(phrase.text for phrase in line.phrases)) for line in joined(lines)]
    assert told == [("Peak", "peak"), ("Waits", "waits: more; more"), ("Done", "done: more")]


def test_one_more_than_there_are_slots_waits() -> None:
    objects = [location(), _server(2), *(_at_three(f"s{n}", f"ns-{n}") for n in range(3))]
    assert sorted(bool(_words(f"s{n}", *objects).wait) for n in range(3)) == [False, False, True]


def test_a_run_that_velero_refuses_is_not_the_one_that_waits_longest() -> None:
    """It waits for its turn as the others do, and gets nothing for it."""
    places = [location(), location("offsite", phase="Unavailable")]
    slow = [_at_three(f"s{n}", f"ns-{n}") for n in range(2)]
    past = [
        backup(f"{one.name}-1", created="01:00:00", started="01:00:00", ended="01:20:00", of=one.name) for one in slow
    ]
    gone = _at_three("z-gone", "c", storageLocation="offsite")
    for draws in (0, 50):
        found = outlook(night(assemble([*places, _server(1), *slow, *past, gone]), "velero", NOW, draws=draws))
        assert found.longest_wait is not None
        assert found.longest_wait.fate is Fate.MADE
        assert [run.owner.name for run in found.refused] == ["z-gone"]


@pytest.mark.parametrize("seconds", [30, 59, 60, 61, 200])
def test_chart_and_words_count_the_same_as_waiting(seconds: int) -> None:
    """Those that wait a minute or longer, since they were made; one has waited since before now."""
    owner = Owner(OwnerKind.SCHEDULE, "velero", "a")
    made, start = NOW - timedelta(seconds=40), NOW + timedelta(seconds=20)
    there = RunSpan(made, start, start + timedelta(minutes=9), owner, "there")
    due = NOW + timedelta(seconds=5)
    coming = RunSpan(due, due + timedelta(seconds=seconds), due + timedelta(minutes=9), owner, due=due)
    waits = PastRun(owner, "there", "Queued", made, None, None)
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=(there, coming)), (waits,))
    counted = max(load.waiting for load in shown.loads(TimeAxis(at("02:40"), 1, 20)))
    assert shown.outlook.waiting is not None
    assert counted == shown.outlook.waiting.count == (2 if seconds >= 60 else 1)
    assert shown.outlook.waiting.begins >= NOW


def test_a_day_of_the_week_counts_those_that_will_wait_as_the_words_do() -> None:
    """More waited this morning: the words are about the time to come, and so is the row of today."""
    owner = Owner(OwnerKind.SCHEDULE, "velero", "a")
    gone = [PastRun(owner, f"b{n}", "Completed", at("00:10"), at("00:20"), at("00:30")) for n in range(5)]
    later = [RunSpan(at("03:00"), at("03:10"), at("03:20"), owner) for _ in range(2)]
    ahead = Night("velero", NOW, NOW + timedelta(days=7), typical=tuple(later))
    shown = ServerNight("prod", ahead, tuple(gone))
    days = [TimeAxis(at("00:00") + timedelta(days=day), 30, 48) for day in range(2)]
    assert [day_words(shown, day).waiting for day in days] == [2, 0]
    assert shown.outlook.waiting is not None
    assert shown.outlook.waiting.count == 2


def test_a_run_that_velero_refuses_takes_no_slot() -> None:
    places = [location(), location("offsite", phase="Unavailable")]
    objects = [*places, _server(2), _at_three("s0", "a"), _at_three("gone", "c", storageLocation="offsite")]
    told = _words("s0", *objects)
    assert (told.company, told.wait) == ("no other run", "")
    gone = _words("gone", *objects)
    assert gone.fate.startswith("refused")
    assert (gone.starts, gone.company) == ("", "")


def test_where_nobody_knows_when_a_run_ends_the_words_do_not_say_that_none_is_to_come() -> None:
    since = Range(NOW, (NOW, NOW), (NOW, NOW))
    endless = ForeseenRun(Owner(OwnerKind.HAND), "b", None, NOW, since, None, Fate.MADE, is_running=True)
    until = NOW + timedelta(days=1)
    peaks = [
        night_words(ServerNight("prod", Night("velero", NOW, until, runs)), NOW, UTC)[0].phrases[0].text
        for runs in ((endless,), ())
    ]
    assert peaks == ["not known: nobody can tell when the open runs end", "no backup is to come"]
    told = lane_words(ServerNight("prod", Night("velero", NOW, until, (endless,))), (endless,), NOW, UTC)
    assert told is not None
    assert (told.is_running, told.starts, told.ends) == (True, "02:41", "")


@pytest.mark.parametrize(("is_running", "told"), [(True, "02:28"), (False, "02:29")])
def test_the_start_of_a_run_at_work_is_cut_to_the_minute_and_one_that_is_foreseen_is_rounded(
    is_running: bool, told: str
) -> None:
    """The calendar said `since 02:29` of a backup that every other page had from 02:28:48."""
    run = replace(_told("videos", "02:28:48", "02:55"), is_running=is_running)
    words = lane_words(ServerNight("prod", Night("velero", NOW, at("06:00"), (run,))), (run,), NOW, UTC)
    assert words is not None
    assert words.starts == told


def test_an_open_run_takes_one_slot_before_and_after_now() -> None:
    """It is among the backups and in the course that is played."""
    owner = Owner(OwnerKind.HAND)
    past = PastRun(owner, "b", "InProgress", at("02:20"), at("02:20"), None)
    typical = RunSpan(at("02:20"), at("02:20"), at("03:00"), owner, "b")
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=(typical,)), (past,))
    loads = shown.loads(TimeAxis(at("02:00"), 10, 7))
    assert [load.most for load in loads] == [0, 0, 1, 1, 1, 1, 0]
    assert [round(load.mean, 6) for load in loads] == [0, 0, 1, 1, 1, 1, 0]


@pytest.mark.parametrize("phase", ["WaitingForPluginOperations", "FinalizingPartiallyFailed"])
@pytest.mark.parametrize(("seen", "released"), [("", "02:12"), ("02:15", "02:15")])
def test_a_run_that_is_only_finishing_holds_no_slot_at_now(phase: str, seen: str, released: str) -> None:
    """As in the header and the queue: it had one until foretop saw it finish, else until its last volume was made."""
    going = backup("b", "InProgress", created="02:20:00", started="02:20:00")
    finishing = backup("a", phase, created="02:00:00", started="02:00:00")
    objects = [location(), _server(3), going, finishing, *(upload(f"u{n}", of="a", created=f"02:1{n}") for n in (1, 2))]
    snapshot = assemble(objects)
    if seen:
        watched = ObservedChanges(phase_since={snapshot.ref(finishing): at(seen)})
        snapshot = replace(snapshot, seen=watched)
    told = night(snapshot, "velero", NOW, draws=0)
    shown = ServerNight("prod", told, past_runs(snapshot, "velero", at("01:00")))
    axis = TimeAxis(at("02:00"), 1, 60)
    counts = [load.most for load in shown.loads(axis)]
    assert counts[axis.cell_of(NOW)] == server_facts(snapshot, "velero", NOW).busy == 1
    assert counts[axis.cell_of(at(released)) - 1 :][:2] == [1, 0]


def test_a_run_that_has_ended_had_its_slot_until_its_volumes_were_made() -> None:
    """As the header and the queue counted it then: Velero moves the data of snapshots beside its slots."""
    ended = backup("a", created="02:00:00", started="02:00:00", ended="02:30:00")
    files = backup("b", created="02:00:00", started="02:00:00", ended="02:20:00")
    volumes = [upload(f"u{n}", "Completed", of="a", created=f"02:0{n}") for n in (1, 2)]
    kept = from_builtins(
        PodVolumeBackup, {"metadata": {"name": "p", "namespace": "velero", "labels": {"velero.io/backup-name": "b"}}}
    )
    snapshot = assemble([location(), _server(3), ended, files, *volumes, kept])
    past = {run.name: run.released for run in past_runs(snapshot, "velero", at("01:00"))}
    assert past == {"a": at("02:02"), "b": None}, "files are copied while the backup is in progress"


def test_the_slots_of_a_silent_server_are_those_that_it_has() -> None:
    objects = [location(checked="01:00:00", synced="01:00:00"), _server(3)]
    told = night(assemble(objects), "velero", NOW, draws=0)
    assert (told.slots, told.unknown) == (3, "Velero is silent")


def test_a_lane_whose_run_waits_is_not_done_where_nothing_is_foreseen() -> None:
    owner = Owner(OwnerKind.NAB, "team-a", "carts")
    ended = PastRun(owner, "old", "Completed", at("02:00"), at("02:00"), at("02:01"))
    waits = PastRun(owner, "carts", "New", at("02:24"), None, None)
    assert lane_standing(None, (), (ended,), NOW).group is LaneGroup.DONE
    standing = lane_standing(None, (), (ended, waits), NOW)
    assert (standing.group, standing.waits) == (LaneGroup.COMING, True)


def test_a_lane_is_done_for_the_night_after_its_last_end_and_not_before_a_run_that_comes_soon() -> None:
    owner = Owner(OwnerKind.SCHEDULE, "velero", "nightly")
    ended = PastRun(owner, "one", "Completed", at("01:00"), at("01:00"), at("01:10"))
    refused = PastRun(owner, "two", "FailedValidation", at("01:30"), None, None)
    for due, group in ((at("02:30") + timedelta(days=1), LaneGroup.DONE), (at("03:30"), LaneGroup.COMING)):
        coming = ForeseenRun(owner, "", due, due, None, None, Fate.MADE)
        standing = lane_standing(None, (coming,), (ended, refused), NOW)
        assert (standing.group, standing.at) == (group, due)


def test_a_lane_stands_as_its_run_at_work_then_as_the_one_that_waits() -> None:
    waits, runs = (replace(_told(name, "03:00", "03:10"), name=name) for name in ("waits", "runs"))
    runs = replace(runs, is_running=True, start=_told("runs", "02:00", "03:10").start)
    at_work, queued = PastRun(runs.owner, "runs", "InProgress", at("02:00"), at("02:10"), None), LaneGroup.COMING
    for foreseen, ended, group, moment in (
        ((waits, runs), (at_work,), LaneGroup.RUNNING, at("02:00")),
        ((waits, replace(runs, start=None)), (), queued, at("03:00")),
        ((), (at_work,), LaneGroup.RUNNING, at("02:10")),
    ):
        standing = lane_standing(None, foreseen, ended, NOW)
        assert (standing.group, standing.at, standing.waits) == (group, moment, group is queued)


def test_a_lane_of_several_says_how_many_run_or_have_ended_tonight() -> None:
    ends = {"a": NOW - timedelta(hours=8), "b": NOW - timedelta(hours=7), "c": None}
    runs = [
        PastRun(Owner(OwnerKind.NAB, "team-a", name), name, "", at("01:00"), at("01:00"), end)
        for name, end in ends.items()
    ]
    lanes, nabs = TimelineModel(Store(), ("prod",)), ObjectRef("prod", NAB.name, "velero", "")
    lanes.take(ServerNight("prod", night(assemble([location()]), "velero", NOW, draws=0), tuple(runs)))
    assert lanes.called(nabs) == "non-admin, 2 nab"
    assert lanes.subject(nabs) == ObjectRef("prod", NAB.name, "team-a", "c"), "the last one"


def test_a_backup_that_is_there_is_drawn_as_it_stands_and_never_beyond_now() -> None:
    begun, later = at("02:00"), NOW + timedelta(minutes=1)
    stands = [
        (("FailedValidation", None, None), LaneRun(begun, tone=Tone.BAD, sign=LaneSign.LOST)),
        (("Queued", None, None), LaneRun(begun)),
        (("InProgress", begun, None), LaneRun(begun, begun, tone=Tone.RUNNING, is_running=True)),
        (("Completed", begun, later), LaneRun(begun, begun, NOW, tone=Tone.GOOD)),
        (("Failed", begun, begun), LaneRun(begun, begun, begun, tone=Tone.BAD, sign=LaneSign.FAILED)),
    ]
    owner = Owner(OwnerKind.SCHEDULE, "velero", "nightly")
    past = tuple(PastRun(owner, phase, phase, begun, start, end) for (phase, start, end), _ in stands)
    shown = ServerNight("prod", Night("velero", NOW, at("08:00")), past)
    drawn = shown.lane_runs(ObjectRef("prod", SCHEDULE.name, "velero", "nightly"), ())
    assert list(drawn) == [expected for _, expected in stands]


def test_the_lane_of_the_nabs_is_shown_where_their_namespace_is_looked_at() -> None:
    nabs = ObjectRef("prod", NAB.name, "velero", "")
    ended = PastRun(Owner(OwnerKind.NAB, "team-a", "carts"), "old", "Completed", at("02:00"), at("02:00"), at("02:01"))
    told = night(assemble([location()]), "velero", NOW, draws=0)
    lanes = TimelineModel(Store(), ("prod",))
    lanes.take(ServerNight("prod", told, (ended,)))
    scopes = (("", ""), ("prod", "team-a"), ("", "team-a"), ("prod", "velero"), ("prod", "team-b"), ("other", "team-a"))
    shown = []
    for context, namespace in scopes:
        lanes.look_at(ViewScope(context=context, namespace=namespace))
        shown.append(lanes.order == [nabs])
    assert shown == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (ViewScope(), ""),
        (ViewScope("team-a"), "namespace team-a and Velero's own (0 all)"),
        (ViewScope("velero", of_velero=True), "namespace velero (0 all)"),
        (ViewScope("team-a", "prod"), "context prod, namespace team-a and Velero's own (0 all)"),
    ],
)
def test_what_is_looked_at_is_said_with_the_key_that_leads_out(scope: ViewScope, words: str) -> None:
    assert scope.words == words


def test_a_tenant_is_found_in_the_lane_that_its_backups_share() -> None:
    ended = PastRun(Owner(OwnerKind.NAB, "team-a", "carts"), "old", "Completed", at("02:00"), at("02:00"), at("02:01"))
    lanes = TimelineModel(Store(), ("prod",))
    lanes.take(ServerNight("prod", night(assemble([location()]), "velero", NOW, draws=0), (ended,)))
    found = []
    for text in ("team-a", "carts", "nab", "team-b"):
        lanes.narrow(text)
        found.append(len(lanes.order))
    assert found == [1, 1, 1, 0]


def test_the_runs_of_a_schedule_whose_last_one_has_no_known_end_are_due_and_nobody_knows_their_start() -> None:
    """They are shown as due, as on the page of schedules: they wait for that end, and may be late or lost."""
    held = schedule("media", "24 * * * *", last="02:24:03", template={"includedNamespaces": ["media"]})
    runs = backup("media-1", "InProgress", created="02:24:03", started="02:24:03", of="media")
    waits = upload("thumbs", "Accepted", of="media-1", created="02:25:00")
    told = night(assemble([location(), _server(3), held, runs, waits]), "velero", NOW, draws=0)
    assert [run.name for run in told.runs if run.name] == ["media-1"]
    coming = [run for run in told.runs if not run.name]
    assert [run.due for run in coming] == [at("03:24") + timedelta(hours=hours) for hours in range(24)]
    assert {(run.fate, run.start, run.end, run.reason) for run in coming} == {
        (Fate.UNKNOWN, None, None, "the last run has no known end")
    }
    (line,) = [line for line in printed_words(ServerNight("", told), NOW, UTC) if line.startswith("Unknown ")]
    assert line.endswith("24 of media: the last run has no known end")
    assert night_exit_code(outlook(told), without=frozenset(), is_part=False) == 3, (
        "nobody can say that all runs are made"
    )


def test_a_run_without_a_known_end_holds_its_slot_and_a_window_is_not_free_beside_it() -> None:
    media = {"includedNamespaces": ["media"]}
    held = schedule("media", "24 * * * *", last="02:24:03", template=media)
    runs = backup("media-1", "InProgress", created="02:24:03", started="02:24:03", of="media", spec=media)
    waits = upload("thumbs", "Accepted", of="media-1", created="02:25:00")
    shop = schedule("shop", "0 * * * *", last="02:00:03", template={"includedNamespaces": ["shop"]})
    past = [
        backup(f"shop-{n}", created=f"0{n}:00:03", started=f"0{n}:00:03", ended=f"0{n}:10:03", of="shop")
        for n in range(3)
    ]
    told = night(assemble([location(), _server(3), held, runs, waits, shop, *past]), "velero", NOW, draws=0)
    found = outlook(told)
    assert found.at_work is not None
    assert found.at_work.count == 2
    assert told.without_end == ("media",)
    assert any(
        line.startswith("In all    all but media by ") for line in printed_words(ServerNight("", told), NOW, UTC)
    )
    kept = window_outlook(told, Window(timedelta(hours=22, minutes=30), timedelta(minutes=10)))
    assert (kept.sure, {run.called for run in kept.perhaps}) == ((), {"media"})
    lines = night_words(ServerNight("prod", told), NOW, UTC, window=read_window("22:30-22:40"))
    (line,) = [line for line in lines if line.label == "Window"]
    assert "".join(phrase.text for phrase in line.phrases).endswith(" perhaps not free: media")


@pytest.mark.parametrize(("gap", "ends"), [(0, "03:20"), (60, "03:20"), (61, "03:10")])
def test_a_slot_that_is_handed_over_does_not_end_the_peak(gap: int, ends: str) -> None:
    """The first of two backups ends, and the next one takes its slot so many seconds later."""
    taken = at("03:10") + timedelta(seconds=gap)
    spans = (
        RunSpan(at("03:00"), at("03:00"), at("03:20")),
        RunSpan(at("03:00"), at("03:00"), at("03:10")),
        RunSpan(at("03:00"), taken, at("03:20")),
    )
    peak = outlook(Night("velero", NOW, at("08:00"), slots=2, typical=spans)).at_work
    assert peak is not None
    assert (peak.count, peak.begins, peak.ends) == (2, at("03:00"), at(ends))


@pytest.mark.parametrize(
    ("minutes", "told"),
    [(20, "UTC: yes, ends 05:50, 90% sure"), (50, "UTC: no, ends 06:20, 90% sure; nightly at work")],
)
def test_without_a_window_it_is_told_whether_all_is_done_by_six(minutes: int, told: str) -> None:
    due = at("05:30")
    end = due + timedelta(minutes=minutes)
    start, ends = Range(due, (due, due), (due, due), due), Range(end, (end, end), (end, end), end)
    seconds = ((end - NOW).total_seconds(),)
    run = ForeseenRun(
        Owner(OwnerKind.SCHEDULE, "velero", "nightly"), "", due, due, start, ends, Fate.MADE, ends=seconds
    )
    ahead = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), runs=(run,), done=ends, draws=1))
    lines = {line.label: "".join(phrase.text for phrase in line.phrases) for line in night_words(ahead, NOW, UTC)}
    assert lines["By 06:00"] == told
    assert "Done" not in lines, "it would be a second answer"
    refused = replace(run, owner=Owner(OwnerKind.SCHEDULE, "velero", "media"), end=None, fate=Fate.REFUSED)
    hours = [(NOW + timedelta(hours=hour), NOW + timedelta(hours=hour, minutes=1)) for hour in range(24)]
    hourly = [
        replace(
            run,
            owner=Owner(OwnerKind.SCHEDULE, "velero", "hourly"),
            due=at_hour,
            submitted=at_hour,
            end=Range(over, (over, over), (over, over), over),
            ends=((over - NOW).total_seconds(),),
        )
        for at_hour, over in hours
    ]
    (all_day,) = (
        "".join(phrase.text for phrase in line.phrases)
        for line in night_words(ServerNight("prod", replace(ahead.night, runs=(run, *hourly))), NOW, UTC)
        if line.label == "By 06:00"
    )
    assert all_day == told, "the hourly one ends at 05:42 at last before six"
    early = replace(run, due=at("04:00"), submitted=at("04:00"), end=hourly[1].end, ends=hourly[1].ends)
    (goes_on,) = (
        "".join(phrase.text for phrase in line.phrases)
        for line in night_words(ServerNight("prod", replace(ahead.night, runs=(early, *hourly))), NOW, UTC)
        if line.label == "By 06:00"
    )
    assert goes_on == "UTC: yes, ends 03:42, 90% sure; hourly goes on all day"
    both = replace(ahead.night, runs=(run, refused))
    (by_six,) = (line for line in night_words(ServerNight("prod", both), NOW, UTC) if line.label == "By 06:00")
    assert "".join(phrase.text for phrase in by_six.phrases) == f"{told.replace('yes', 'not all')}; media refused"
    assert "By 06:00" not in {line.label for line in night_words(ahead, NOW, UTC, window=read_window("03:00-04:00"))}
    kept_free = night_words(ServerNight("prod", both), NOW, UTC, window=read_window("06:30-07:00"))
    (done,) = ("".join(phrase.text for phrase in line.phrases) for line in kept_free if line.label == "Done")
    assert done.startswith("not all by 06:30")
    assert done.endswith("; media refused")
    none = {"wiki": "paused", "crm": "paused", "odd": "invalid"}
    (by_six,) = (
        line
        for line in night_words(ServerNight("prod", replace(ahead.night, left_out=none)), NOW, UTC)
        if line.label == "By 06:00"
    )
    assert "".join(phrase.text for phrase in by_six.phrases) == (
        f"{told.replace('yes', 'not all')}; odd invalid; 2 paused make none"
    )


def test_what_was_skipped_when_a_pause_ended_is_named_and_keeps_its_mark() -> None:
    """Done by six is no yes for the schedules that make no backup this night."""
    made = [
        schedule("media", "30 4 * * *", last="2026-11-14T04:30:03Z"),
        *(
            schedule(name, f"{minute} 1 * * *", last=f"2026-11-14T01:{minute}:03Z", skipped="01:50")
            for name, minute in (("ledger", 34), ("crm", 40), ("hr", 47))
        ),
        schedule("hourly", "20 * * * *", last="00:20:03", skipped="01:50"),
        schedule("twice", "20 1,2 * * *", last="02:20:03", skipped="01:50"),
        schedule("weekly", "0 1 * * 1", last="2026-11-09T01:00:03Z", skipped="01:50"),
    ]
    ran = (
        ("media", "12T04"),
        ("media", "13T04"),
        ("media", "14T04"),
        ("hourly", "15T00"),
        ("twice", "14T02"),
        ("twice", "15T02"),
    )
    runs = [
        backup(f"{name}-{hour[:2]}", created=at, started=at, ended=at.replace(":20:", ":40:"), of=name)
        for name, hour in ran
        for at in (f"2026-11-{hour}:20:03Z",)
    ]
    shown = ServerNight("prod", night(assemble([location(), *made, *runs]), "velero", NOW, draws=0))
    (line,) = (one for one in night_words(shown, NOW, UTC) if one.label == "By 06:00")
    told = "".join(phrase.text for phrase in line.phrases)
    assert told.startswith("UTC: yes, but crm, hr and ledger make none: skipped; ends 05:00")
    assert Tone.GOOD not in {phrase.tone for phrase in line.phrases}
    lanes = [ObjectRef("prod", "Schedule", "velero", name) for name in ("ledger", "hourly", "twice", "weekly")]
    marks = {
        key.name: [run.due for run in shown.lane_runs(key, shown.foreseen.get(key, ())) if run.sign] for key in lanes
    }
    assert marks == {"ledger": [at("01:34")], "hourly": [at("01:20")], "twice": [at("01:20")], "weekly": []}


def test_a_pause_that_is_over_keeps_its_marks_whether_it_ended_with_a_skip_or_not() -> None:
    """RUNS told of the pause, and the calendar had a gap there without a reason."""
    made = schedule(
        "made", "0 * * * *", last="02:30:00", managedFields=paused_field("02:30:00"), created="2026-11-10T00:00:00Z"
    )
    never = schedule("never", "0 * * * *", last="02:00:03", managedFields=paused_field("2026-11-10T00:00:00Z"))
    runs = [
        backup(f"{name}-{hour}", created=moment, started=moment, ended=f"{moment[:5]}:59", of=name)
        for name, moments in (("made", ("00:00:03", "02:30:00")), ("never", ("01:00:03", "02:00:03")))
        for hour, moment in enumerate(moments)
    ]
    shown = ServerNight("prod", night(assemble([location(), made, never, *runs]), "velero", NOW, draws=0))
    marks = {
        name: [run.due for run in shown.lane_runs(ObjectRef("", "Schedule", "velero", name), ()) if run.sign]
        for name in ("made", "never")
    }
    assert marks == {"made": [at("01:00"), at("02:00")], "never": []}


def test_the_end_of_runs_that_start_together_is_that_of_the_last_of_them_and_not_of_the_middle() -> None:
    """Nobody knows their order, and each alone is likely to end in the middle: all were said to be done by then."""
    names = [f"daily-{number}" for number in range(8)]
    days = range(9, 15)
    runs = [
        backup(f"{name}-{day}", created=begun, started=begun, ended=f"2026-11-{day:02}T03:{40 + day % 5}:03Z", of=name)
        for name in names
        for day in days
        for begun in (f"2026-11-{day:02}T03:30:03Z",)
    ]
    made = [
        schedule(name, "30 3 * * *", last="2026-11-14T03:30:03Z", template={"includedNamespaces": [name]})
        for name in names
    ]
    ahead = night(assemble([location(), *made, *runs], given_versions={"": "1.18.3"}), "velero", NOW)
    last = window_outlook(ahead, read_window("06:00-06:30")).last_before
    assert last is not None
    each = max(
        run.end.likely for run in ahead.runs if run.end is not None and run.due is not None and run.due.day == 15
    )
    ends = sorted(
        max(course) for course in zip(*(run.ends for run in ahead.runs if run.due == at("03:30")), strict=True)
    )
    assert each < NOW + timedelta(seconds=ends[len(ends) // 10]), "not one course in ten is done by then"
    assert last.likely == NOW + timedelta(seconds=ends[len(ends) // 2])
    assert last.by is not None
    assert last.likely <= last.by


def test_six_in_the_zone_of_the_screen_has_its_name() -> None:
    due, end = at("04:30"), at("04:50")
    start, ends = Range(due, (due, due), (due, due), due), Range(end, (end, end), (end, end), end)
    run = ForeseenRun(Owner(OwnerKind.SCHEDULE, "velero", "nightly"), "", due, due, start, ends, Fate.MADE)
    ahead = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), runs=(run,), done=ends))
    lines = night_words(ahead, NOW, ZoneInfo("Europe/Berlin"))
    (by_six,) = ("".join(phrase.text for phrase in line.phrases) for line in lines if line.label == "By 06:00")
    assert by_six == "CET: yes, ends 05:50"


@pytest.mark.parametrize(
    ("window", "told"),
    [("06:00-07:30", "06:00–07:30 "), ("21:40-23:10", "Sun 21:40–23:10 "), ("23:30-00:30", "Sun 23:30–Mon 00:30 ")],
)
def test_a_window_has_its_day_before_both_of_its_times(window: str, told: str) -> None:
    """Of one that ends 20 hours ahead the end alone had a day."""
    ahead = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1)))
    lines = night_words(ahead, NOW, UTC, window=read_window(window))
    assert [line.phrases[0].text for line in lines if line.label == "Window"] == [told]


def test_who_waits_for_seconds_is_not_denied() -> None:
    """The queue has a run that waits: the words leave out what is shorter than a minute, and say so."""
    owner = Owner(OwnerKind.HAND)
    spans = (
        RunSpan(NOW, NOW, NOW + timedelta(seconds=40), owner, "a"),
        RunSpan(NOW, NOW + timedelta(seconds=40), NOW + timedelta(seconds=80), owner, "b"),
    )
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=spans))
    told = "".join(phrase.text for phrase in night_words(shown, NOW, UTC)[0].phrases)
    assert told.endswith(", nobody waits longer than a minute")


def test_an_open_run_that_has_waited_for_minutes_counts_though_it_starts_in_seconds() -> None:
    """The row above the lanes and the queue count it: the words did not, because a course begins now."""
    past = [backup(f"s-{n}", created=f"0{n}:00", started=f"0{n}:00", ended=f"0{n}:11:40", of="s") for n in (0, 1, 2)]
    going = backup("a", "InProgress", created="02:30", started="02:30", of="s")
    waits = backup("b", "Queued", created="02:30:10", of="s")
    snapshot = assemble([location(), _server(1), *past, going, waits, _at_three("s", "ns")])
    ahead = night(snapshot, "velero", NOW, draws=0)
    (span,) = [one for one in ahead.typical if one.name == "b"]
    assert (span.submitted, span.start) == (at("02:30:10"), NOW + timedelta(seconds=33))
    shown = ServerNight("prod", ahead, past_runs(snapshot, "velero", at("01:00")))
    told = "".join(phrase.text for phrase in night_words(shown, NOW, UTC)[0].phrases)
    assert told.endswith(", 1 waiting at 02:41")


def test_the_peak_says_how_many_of_those_waiting_are_tenants_that_have_not_asked_yet() -> None:
    """They are replayed from how tenants came before: no lane shows them."""
    here, coming = Owner(OwnerKind.NAB, "team-a", "carts"), Owner(OwnerKind.NAB)
    typical = (
        RunSpan(at("02:45"), at("02:45"), at("03:30"), here, "runs"),
        RunSpan(at("02:46"), at("03:30"), at("03:40"), here, "waits"),
        RunSpan(at("02:50"), at("03:40"), at("03:50"), coming),
        RunSpan(at("03:45"), at("03:50"), at("03:55"), coming),
    )

    def peak(*spans: RunSpan) -> list[str]:
        shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=spans))
        told = [line for line in night_words(shown, NOW, UTC) if line.label in ("Peak", "")]
        return ["".join(phrase.text for phrase in line.phrases) for line in told]

    assert peak(*typical) == [
        "1 of 1 slot 02:45–03:55, 2 waiting at 02:50",
        "1 is a tenant's backup, not yet requested",
    ]
    assert peak(*typical[:2]) == ["1 of 1 slot 02:45–03:40, 1 waiting at 02:46"]
    later = RunSpan(at("03:40"), at("03:40"), at("03:50"), coming)
    assert peak(*typical[:2], later) == ["1 of 1 slot 02:45–03:50 with tenants, 1 waiting at 02:46"]


def test_a_night_of_tenants_to_come_alone_is_called_a_guess_without_a_time() -> None:
    """With no schedule and an empty queue each look drew another busy night, to the minute."""
    typical = tuple(RunSpan(at(f"03:0{n}"), at(f"03:{n}5"), at(f"03:{n + 1}5"), Owner(OwnerKind.NAB)) for n in range(3))
    ahead = Night("velero", NOW, NOW + timedelta(days=1), typical=typical, draws=50)
    lines = night_words(ServerNight("prod", ahead), NOW, UTC)
    assert ["".join(phrase.text for phrase in line.phrases) for line in lines] == [
        "1 of 1 slot, up to 3 waiting",
        "all are tenants' backups, not yet requested: a guess from recent ones",
    ]
    assert list(printed_words(ServerNight("prod", ahead), NOW, UTC)) == [
        "Peak      1 of 1 slot, up to 3 waiting: all are tenants' backups, not yet requested: a guess from recent ones"
    ]


def _told(name: str, start: str, end: str, latest: str = "", made: str = "") -> ForeseenRun:
    begins, ends = at(start), at(end)
    by = at(latest) if latest else ends
    return ForeseenRun(
        Owner(OwnerKind.SCHEDULE, "velero", name),
        "",
        at(made or start),
        at(made or start),
        Range(begins, (begins, begins), (begins, begins)),
        Range(ends, (ends, ends), (ends, by)),
        Fate.MADE,
        ends=tuple((moment - NOW).total_seconds() for moment in (*[ends] * 40, *[by] * 10)),
    )


def _done_at_six(*runs: ForeseenRun) -> str:
    """The line for a window that begins at six."""
    hourly = [_told("hourly", f"0{hour}:00", f"0{hour}:04") for hour in range(3, 9)]
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (*hourly, *runs), draws=50)
    window = read_window("06:00-07:30")
    (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC, window=window) if one.label == "Done"]
    return "".join(phrase.text for phrase in line.phrases)


def test_the_words_say_whether_it_is_done_by_six_though_an_hourly_schedule_is_never_done() -> None:
    done = _done_at_six(_told("images", "04:00", "05:50", "05:58"))
    assert done == "by 06:00: ends 05:50, 90% sure by 05:58"


def test_a_run_that_only_finishes_is_not_without_an_end() -> None:
    """Its items and volumes are done: Velero writes its end within seconds."""
    ending = backup("ending", "Finalizing", created="02:10:00", started="02:10:00", of="s0")
    past = [
        backup(f"s0-{hour}", created=f"0{hour}:00:00", started=f"0{hour}:00:00", ended=f"0{hour}:20:00", of="s0")
        for hour in range(2)
    ]
    snapshot = assemble([location(), _server(1), *past, ending, _at_three("s0", "a")])
    for draws in (0, 50):
        assert night(snapshot, "velero", NOW, draws=draws).without_end == ()


def _twenty_at_three(draws: int) -> Night:
    """Twenty schedules that meet in twenty slots: the oldest run of each took an hour, the others ten minutes."""
    objects: list[Resource] = [location(), _server(20)]
    for name in (f"s{number:02}" for number in range(20)):
        objects.append(_at_three(name, name))
        for day in range(5, 15):
            for hour, minutes in (("00", 59 if day == 5 else 10), ("12", 10)):
                begins, ends = f"2026-11-{day:02}T{hour}:00:00Z", f"2026-11-{day:02}T{hour}:{minutes}:00Z"
                objects.append(backup(f"{name}-{day}-{hour}", created=begins, started=begins, ended=ends, of=name))
    return night(assemble(objects), "velero", NOW, timedelta(hours=6), draws=draws)


def test_nine_in_ten_of_a_night_is_when_all_of_its_runs_have_ended() -> None:
    """Nearly every run is done after ten minutes, and in one night of four or five one of the twenty is not."""
    ahead = _twenty_at_three(200)
    single = [run.end.by for run in ahead.runs if run.end and run.end.by]
    assert len(single) == 20
    assert max(single) < at("03:20")
    kept = window_outlook(ahead, read_window("06:00-07:30"))
    assert kept.last_before is not None
    assert kept.last_before.by is not None
    assert at("03:50") < kept.last_before.by < at("04:15")
    ended = [max(run.ends[course] for run in ahead.runs) for course in range(200)]
    by = (kept.last_before.by - NOW).total_seconds()
    assert sum(end <= by for end in ended) / 200 == pytest.approx(0.9, abs=0.02)
    assert outlook(ahead).done_by == kept.last_before.by, "the same runs"
    early = window_outlook(ahead, read_window("03:40-04:00"))
    assert early.verdict == "likely"


def test_the_likely_course_alone_tells_no_nine_in_ten() -> None:
    ahead, window = _twenty_at_three(0), read_window("06:00-07:30")
    shown = ServerNight("prod", ahead)
    told = [*printed_words(shown, NOW, UTC), *printed_words(shown, NOW, UTC, window)]
    assert any(line.startswith("Done      by 06:00: ends 03:10") for line in told)
    assert not [line for line in told if "90% sure" in line]


def test_a_run_that_may_begin_before_a_window_ends_is_perhaps_in_it() -> None:
    run = _told("images", "04:00", "04:10")
    early = replace(run, start=Range(at("04:00"), (at("04:00"), at("04:00")), (at("03:50"), at("04:00"))))
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (run, early), draws=50)
    assert window_outlook(ahead, read_window("03:00-04:00")).runs == (early,)


def crowded() -> Night:
    """One slot, in which one waits for ten minutes; one run is refused, and of one nobody can tell."""
    runs = (
        _told("first", "03:00", "03:10"),
        _told("late", "03:10", "03:20", "03:30", made="03:00"),
        replace(_told("odd", "05:00", "05:10"), fate=Fate.UNKNOWN),
        replace(_told("no", "05:00", "05:10"), fate=Fate.REFUSED),
    )
    spans = (
        RunSpan(at("03:00"), at("03:00"), at("03:10")),
        RunSpan(at("03:00"), at("03:10"), at("03:20")),
    )
    end = at("05:10")
    done = Range(end, (end, end), (end, end), at("05:20"))
    return Night("velero", NOW, NOW + timedelta(days=1), runs, draws=50, typical=spans, done=done)


def test_where_there_is_little_room_what_goes_wrong_is_kept_longest() -> None:
    lines = night_words(ServerNight("prod", crowded()), NOW, UTC, read_window("03:05-03:30"))
    kept = [[line.label for line in most_telling(lines, room)] for room in (1, 2, 4, 5)]
    assert kept == [
        ["Done"],
        ["Done", "Window"],
        ["Done", "Window", "Refused", "Unknown"],
        ["Peak", "Done", "Window", "Refused", "Unknown"],
    ]
    signs = {line.label: (line.phrases[1].text, line.phrases[1].tone) for line in lines[-2:]}
    assert signs == {"Refused": ("× ", Tone.BAD), "Unknown": ("? ", Tone.WARN)}


def test_the_week_names_the_day_on_which_most_runs_wait() -> None:
    ahead = crowded()
    monday = at("2026-11-16T03:00:00Z")
    again = [replace(ahead.runs[1], due=monday + timedelta(minutes=n)) for n in range(2)]
    week = replace(ahead, runs=(*ahead.runs, *again), until=NOW + timedelta(days=7))
    for runs, told in ((week.runs, "Monday: 2 runs"), (ahead.runs, "Sunday: 1 run")):
        lines = week_words(ServerNight("prod", replace(week, runs=runs)), NOW, UTC)
        assert f"most wait on {told}" in ["".join(phrase.text for phrase in line.phrases) for line in lines]


def test_a_run_that_is_due_at_midnight_is_of_the_day_that_begins() -> None:
    midnight = "2026-11-16T00:00:00Z"
    waits = _told("a", "2026-11-16T00:10:00Z", "2026-11-16T00:20:00Z", made=midnight)
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=7), (waits,)))
    days = [TimeAxis(at(midnight) + timedelta(days=day), 30, 48) for day in (-1, 0)]
    assert [day_words(shown, day).done for day in days] == [None, at("2026-11-16T00:20:00Z")]


def test_the_next_run_of_a_schedule_waits_from_its_making_to_its_start() -> None:
    waits, lost, late = (_told(name, "03:10", "03:20", made="03:00") for name in ("waits", "lost", "late"))
    runs = (waits, replace(waits, due=at("04:00")), replace(lost, fate=Fate.LOST), replace(late, start=None))
    found = next_waits(Night("velero", NOW, NOW + timedelta(days=1), runs))
    assert found == {"waits": (at("03:00"), timedelta(minutes=10))}


@pytest.mark.parametrize(
    ("count", "to_come", "told"),
    [
        (2, 0, ""),
        (1, 1, "it is a tenant's backup, not yet requested"),
        (2, 1, "1 is a tenant's backup, not yet requested"),
        (3, 2, "2 are tenants' backups, not yet requested"),
        (2, 2, "all are tenants' backups, not yet requested"),
    ],
)
def test_of_a_peak_it_is_said_how_many_tenants_have_yet_to_ask_for(count: int, to_come: int, told: str) -> None:
    assert Peak(count, NOW, NOW, to_come).to_come_words == told


def test_three_runs_that_are_open_when_a_window_begins_are_named() -> None:
    runs = tuple(_told(name, "05:00", "06:01") for name in "abcd")
    kept = WindowOutlook(at("06:00"), at("07:00"), at_work=runs, waiting=runs[:1], perhaps_open=runs)
    assert still_open(kept) == "a, b, c and 1 more at work, a waiting"
    assert still_open(replace(kept, at_work=(), waiting=())) == "perhaps not a, b, c and 1 more"


@pytest.mark.parametrize(
    ("run", "counted"),
    [
        (_told("at work", "05:00", "06:01"), (1, 0, 0)),
        (_told("ends as it begins", "05:00", "06:00", "06:20"), (0, 0, 1)),
        (_told("starts as it begins", "06:00", "06:30", made="05:00"), (0, 1, 0)),
        (_told("made as it begins", "06:00", "06:30"), (0, 0, 0)),
    ],
    ids=lambda one: one.called if isinstance(one, ForeseenRun) else "",
)
def test_a_run_before_a_window_is_at_work_waits_or_has_likely_ended_when_it_begins(
    run: ForeseenRun, counted: tuple[int, int, int]
) -> None:
    kept = window_outlook(Night("velero", NOW, NOW + timedelta(days=1), (run,)), read_window("06:00-07:30"))
    assert (len(kept.at_work), len(kept.waiting), len(kept.perhaps_open)) == counted


def test_a_run_that_may_not_be_done_by_six_is_named() -> None:
    line = _done_at_six(_told("images", "04:00", "05:50", "06:20"))
    assert line == "likely by 06:00: ends 05:50, 90% sure by 06:20; perhaps not images"


def test_runs_at_work_or_waiting_at_six_are_named() -> None:
    line = _done_at_six(
        _told("images", "04:00", "06:12", "06:20"), _told("logs", "06:12", "06:30", "06:40", made="05:30")
    )
    assert line == "not by 06:00: ends 06:30 (logs), 90% sure by 06:40; images at work, logs waiting"


def test_while_a_run_has_no_known_end_nobody_says_yes_to_done_by_six() -> None:
    """Also one of a schedule that runs all day long: it may hold its slot until then, and its next runs wait for it."""
    endless = replace(_told("media", "02:24", "02:50"), name="media-1", due=None, end=None, ends=(), is_running=True)
    held = [
        replace(_told("media", f"{hour:02}:24", f"{hour:02}:50"), start=None, end=None, fate=Fate.UNKNOWN, ends=())
        for hour in range(3, 24)
    ]
    line = _done_at_six(_told("images", "04:00", "05:50", "05:58"), endless, *held)
    assert line == "not known by 06:00: media has no known end; the others end 05:50, 90% sure by 05:58"
    images = _told("images", "04:00", "05:50", "05:58")
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (endless, *held, images), draws=50, done=images.end)
    lines = {one.label: one for one in night_words(ServerNight("prod", ahead), NOW, UTC)}
    said = "".join(phrase.text for phrase in lines["By 06:00"].phrases)
    assert said == "UTC: not known: media has no known end; the others end 05:50, 90% sure by 05:58"
    assert Tone.GOOD not in {phrase.tone for phrase in lines["By 06:00"].phrases}
    assert done_by_six(outlook(ahead), UTC) == "not known"
    assert done_by_six(outlook(replace(ahead, runs=(images,))), UTC) == "yes"
    alone = replace(ahead, runs=(endless, *held), done=None)
    (line_alone,) = [one for one in night_words(ServerNight("prod", alone), NOW, UTC) if one.label == "By 06:00"]
    assert "".join(phrase.text for phrase in line_alone.phrases) == "UTC: not known: media has no known end"


def test_without_a_window_the_night_is_done_before_the_hourly_schedule_is() -> None:
    often = [_told("hourly", f"{hour:02}:00", f"{hour:02}:04") for hour in range(3, 20)]
    nightly = [_told("images", "03:10", "04:40", "05:00"), _told("logs", "05:10", "05:20", "05:50")]
    later = _told("noon", "12:00", "12:10")
    last = often[-1].end
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (*often, *nightly, later), draws=50, done=last)
    (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC) if one.label == "By 06:00"]
    assert "".join(phrase.text for phrase in line.phrases) == "UTC: yes, ends 05:20, 90% sure by 05:50"
    assert outlook(ahead).night_done is not None
    only = Night("velero", NOW, NOW + timedelta(days=1), tuple(nightly), draws=50, done=nightly[-1].end)
    assert outlook(only).night_done is None, "all is done then"


@pytest.mark.parametrize(
    ("played", "left_out", "what"),
    [
        (True, {}, "all"),
        (True, {"a": "paused", "b": "paused"}, "all but 2 paused"),
        (True, {"a": "paused", "b": "invalid"}, "all but b and 1 paused"),
        (True, {"b": "invalid", "c": "invalid", "d": "invalid"}, "all but b, c and 1 more"),
        (False, {"a": "paused"}, "what runs now"),
    ],
)
def test_all_is_not_said_of_a_night_without_the_paused_schedules(
    played: bool, left_out: dict[str, str], what: str
) -> None:
    run = _told("images", "07:10", "08:40")
    runs = (run if played else replace(run, name="images-1", due=None),)
    ahead = Night("velero", NOW, NOW + timedelta(days=1), runs, draws=50, done=run.end, left_out=left_out)
    (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC) if one.label == "Done"]
    assert "".join(phrase.text for phrase in line.phrases) == f"{what} by 08:40"
    assert f"Done      {what} by 08:40" in list(printed_words(ServerNight("prod", ahead), NOW, UTC))


@pytest.mark.parametrize("fate", [Fate.REFUSED, Fate.LOST])
def test_all_is_not_said_of_a_night_whose_runs_are_refused_or_lost(fate: Fate) -> None:
    """`done` is the end of those that are made; the others never end."""
    run, noon = _told("images", "07:10", "08:40"), replace(_told("media", "12:10", "12:20"), fate=fate, end=None)
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (run, noon), draws=50, done=run.end)
    (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC) if one.label == "Done"]
    assert "".join(phrase.text for phrase in line.phrases) == "all but media by 08:40"


def test_a_night_without_one_scheduled_backup_is_no_yes() -> None:
    """What runs now is done by six; that is not the night that was asked about."""
    run = replace(_told("images", "03:10", "03:40"), name="images-1", due=None)
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (run,), draws=50, done=run.end)
    paused = replace(ahead, left_out=dict.fromkeys("abc", "paused"), resumed=at("04:29:57"))
    lines = {one.label: one for one in night_words(ServerNight("prod", paused), NOW, UTC)}
    told = "nothing runs until resumed: 3 are paused; planned end 04:29"
    assert "".join(phrase.text for phrase in lines["By 06:00"].phrases) == f"UTC: {told}"
    assert Tone.GOOD not in {phrase.tone for phrase in lines["By 06:00"].phrases}
    assert "".join(phrase.text for phrase in lines["Done"].phrases) == "what runs now by 03:40"
    assert done_by_six(outlook(paused), UTC) == "no schedule runs"
    tomorrow = replace(ahead, runs=(run, _told("daily", "23:10", "23:40")), left_out=paused.left_out)
    (line,) = [one for one in night_words(ServerNight("prod", tomorrow), NOW, UTC) if one.label == "By 06:00"]
    assert line.phrases[1].text == "nothing runs until resumed: 3 are paused", "one that runs after six makes no night"
    assert f"By 06:00  UTC: {told}" in list(printed_words(ServerNight("prod", paused), NOW, UTC))


def test_what_runs_now_is_not_done_where_one_of_it_has_no_known_end() -> None:
    run = replace(_told("images", "02:10", "03:20"), name="images-1", due=None)
    endless = replace(_told("media", "02:24", "02:50"), name="media-1", due=None, end=None, ends=(), is_running=True)
    left_out = dict.fromkeys("abc", "paused")
    ahead = Night("velero", NOW, NOW + timedelta(days=1), (run, endless), draws=50, done=run.end, left_out=left_out)
    (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC) if one.label == "Done"]
    assert "".join(phrase.text for phrase in line.phrases) == "what runs now but media by 03:20"


def test_while_all_schedules_are_paused_it_is_said_whose_backups_go_on() -> None:
    """Who pauses all to touch the storage must not read that nothing runs."""
    paused = Night("velero", NOW, NOW + timedelta(days=1), left_out=dict.fromkeys("abc", "paused"))

    def told(ahead: Night) -> str:
        (line,) = [one for one in night_words(ServerNight("prod", ahead), NOW, UTC) if one.label == "By 06:00"]
        return line.phrases[1].text

    nab = Owner(OwnerKind.NAB, "team-a", "orders")
    by_hand = replace(_told("", "02:10", "03:10"), name="mine", owner=Owner(OwnerKind.HAND), due=None)
    to_come = RunSpan(at("02:56"), at("02:56"), at("04:51"), Owner(OwnerKind.NAB))
    lead = "no schedule runs until resumed: 3 are paused"
    assert told(paused) == "nothing runs until resumed: 3 are paused"
    assert told(replace(paused, typical=(to_come,))) == f"{lead}; tenants' backups go on"
    assert told(replace(paused, runs=(by_hand,))) == f"{lead}; backups by hand go on"
    both = replace(paused, runs=(by_hand, replace(by_hand, name="x", owner=nab)))
    assert told(both) == f"{lead}; tenants' backups and backups by hand go on"
    late = replace(to_come, submitted=at("07:00"), start=at("07:00"), released=at("07:30"))
    assert told(replace(paused, typical=(late,))) == "nothing runs until resumed: 3 are paused", "after six"


def test_the_planned_end_of_a_pause_is_known_to_the_night() -> None:
    notes = {PAUSED_BY: "maria", PAUSED_UNTIL: "2026-11-15T04:30:00Z"}
    snapshot = assemble([location(), schedule("etcd", paused=True, annotations=notes)])
    assert night(snapshot, "velero", NOW, draws=0).resumed == at("04:30")


def test_the_peak_is_the_stretch_in_which_most_wait() -> None:
    """With one slot every minute of work is as full as the jam of the night."""
    alone = RunSpan(at("03:00"), at("03:00"), at("03:01"))
    jam = [RunSpan(at("05:00"), at(f"05:{n}0"), at(f"05:{n + 1}0")) for n in range(4)]
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=(alone, *jam)))
    told = night_words(shown, NOW, UTC)[0]
    assert "".join(phrase.text for phrase in told.phrases) == "1 of 1 slot 05:00–05:40, 3 waiting at 05:00"
    only = outlook(Night("velero", NOW, NOW + timedelta(days=1), typical=(alone, jam[0]))).at_work
    assert only is not None
    assert only.begins == at("03:00"), "nobody waits: the first"


def test_the_reason_of_the_longest_wait_names_all_who_are_before_it_or_none() -> None:
    def waits(*before: ForeseenRun) -> list[str]:
        last = _told("last", "03:10", "03:20", made="03:00")
        ahead = Night("velero", NOW, NOW + timedelta(days=1), (*before, last), draws=50)
        lines = night_words(ServerNight("prod", ahead), NOW, UTC)
        return ["".join(phrase.text for phrase in line.phrases) for line in lines if line.label in ("Waits", "")]

    longest = "longest last, 10 minutes"
    assert waits(_told("a", "02:55", "03:10")) == [longest, "a holds a slot for 15m"]
    assert waits(_told("a", "03:00", "03:04"), _told("b", "03:04", "03:10")) == [longest, "behind a and b"]
    assert waits(_told("a", "03:00", "03:02")) == [longest], "two minutes are not the reason"


def test_a_time_twenty_hours_ahead_or_more_has_its_day() -> None:
    """Rounded to the minute: from the half of one on it is the next."""
    twenty = NOW + timedelta(hours=20, seconds=-30)
    assert clock(twenty - timedelta(seconds=1), NOW, UTC) == "22:41"
    assert clock(twenty, NOW, UTC) == "Sun 22:41"


def test_a_schedule_that_no_date_fits_is_told_as_triage_tells_it() -> None:
    snapshot = assemble([location(), schedule("leap", "0 0 31 2 *", last="2026-11-15T02:40:03Z")])
    lines = night_words(ServerNight("prod", night(snapshot, "velero", NOW)), NOW, UTC)
    told = {line.label: "".join(piece.text for piece in phrases(line).spans) for line in lines}
    assert told["Always"] == "leap: no date fits, runs every minute"


def test_the_signs_of_the_words_are_drawn_and_those_of_others_spelt_out() -> None:
    """The sign of a pause stood there as the number of its character."""
    paused = schedule("a‖b", "0 4 * * *", last="2026-11-14T04:00:03Z", paused=True)
    away = schedule("away", "0 4 * * *", last="2026-11-14T04:00:03Z", template={"storageLocation": "away"})
    snapshot = assemble([location(), location("away", phase="Unavailable"), paused, away])
    lines = night_words(ServerNight("prod", night(snapshot, "velero", NOW)), NOW, UTC)
    told = {line.label: "".join(piece.text for piece in phrases(line).spans) for line in lines}
    assert told["Paused"].startswith("‖ 1 schedule, all night: a\\u2016b")
    assert told["Refused"].startswith("× ")
