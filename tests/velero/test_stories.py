"""Told the same story, the box does what a real Velero does, and foretop's forecasts come true."""

from __future__ import annotations

import pytest

from tests.unit.minicluster.recording_replay import histories
from tests.velero.box_place import BoxPlace
from tests.velero.compare import differences
from tests.velero.forecasts import ForetopWatch, Verdict, judge, of_schedules
from tests.velero.place import HOME
from tests.velero.real_place import RealPlace
from tests.velero.stories import STORIES, tell


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.share if story.in_share else ()) for name, story in STORIES.items()]
)
def test_the_box_does_what_velero_does(name: str, place: RealPlace, verdicts: list[tuple[str, Verdict]]) -> None:
    begin = place.now()
    watch = ForetopWatch("schedules", place.cluster.kubeconfig("admin", HOME))
    try:
        tell(place, name)
    finally:
        watch.close()
    found = judge(of_schedules(watch.rows), place.heard, place.deeds, place.now())
    verdicts.extend((name, verdict) for verdict in found)
    box = BoxPlace(begin)
    tell(box, name)
    assert differences(name, histories(place.told), histories(box.told)) == []
    assert [verdict for verdict in found if verdict.outcome == "broken"] == []
