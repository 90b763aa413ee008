"""The words of a lane: who holds the slots when it starts, and what becomes of a run that Velero refuses."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest

from foretop_core.models import Deployment, Schedule, from_builtins
from foretop_core.models.wire import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import Owner, OwnerKind
from foretop_core.rules.night.night import Fate, ForeseenRun, Night, Range, RunSpan, night
from foretop_core.rules.night.past_runs import PastRun
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import LaneWords, lane_words, night_words
from foretop_core.tables.timeline.time_axis import TimeAxis
from tests.objects import NOW, at, backup, location, schedule


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


def test_one_more_than_there_are_slots_waits() -> None:
    objects = [location(), _server(2), *(_at_three(f"s{n}", f"ns-{n}") for n in range(3))]
    assert sorted(bool(_words(f"s{n}", *objects).wait) for n in range(3)) == [False, False, True]


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
    assert peaks == ["not known: nobody can tell when the open runs end", "no run is to come"]
    told = lane_words(ServerNight("prod", Night("velero", NOW, until, (endless,))), (endless,), NOW, UTC)
    assert told is not None
    assert (told.is_running, told.starts, told.ends) == (True, "02:41", "")


def test_an_open_run_takes_one_slot_before_and_after_now() -> None:
    """It is among the backups and in the course that is played."""
    owner = Owner(OwnerKind.HAND)
    past = PastRun(owner, "b", "InProgress", at("02:20"), at("02:20"), None)
    typical = RunSpan(at("02:20"), at("02:20"), at("03:00"), owner, "b")
    shown = ServerNight("prod", Night("velero", NOW, NOW + timedelta(days=1), typical=(typical,)), (past,))
    loads = shown.loads(TimeAxis(at("02:00"), 10, 7))
    assert [load.most for load in loads] == [0, 0, 1, 1, 1, 1, 0]
    assert [round(load.mean, 6) for load in loads] == [0, 0, 1, 1, 1, 1, 0]


def test_a_silent_server_keeps_its_slots_though_nothing_is_foreseen() -> None:
    silent = assemble([location(checked="02:26:03", synced="02:26:03"), _server(2)])
    shown = ServerNight("prod", night(silent, "velero", NOW, draws=0))
    assert shown.night.slots == 2
    (line,) = night_words(shown, NOW, UTC)
    assert line.phrases[0].text == "Nothing can be foreseen: Velero is silent."
