"""In the same story the box does what a real Velero does, and foretop's forecasts come true."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.demo.recording_replay import histories
from tests.velero.box_cluster import BoxVeleroCluster
from tests.velero.build import WITHOUT_QUEUE
from tests.velero.comparison import differences
from tests.velero.forecasts import Verdict
from tests.velero.judged_story import judged
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import STORIES, play_story


def _cases() -> Iterator[ParameterSet]:
    for name, story in STORIES.items():
        seconds = pytest.mark.seconds(story.seconds)
        yield pytest.param(
            name, story.release, id=name, marks=[seconds, *([pytest.mark.share] if story.in_share else [])]
        )
        if story.without_queue:
            yield pytest.param(name, WITHOUT_QUEUE, id=f"{name} {WITHOUT_QUEUE}", marks=seconds)


@pytest.mark.parametrize(("name", "release"), list(_cases()))
def test_the_box_does_what_velero_does(
    name: str, release: str, cluster: RealVeleroCluster, verdicts: list[tuple[str, Verdict]]
) -> None:
    for needed in filter(None, (release, STORIES[name].upgraded_from)):
        if needed not in cluster.kit.servers:
            pytest.skip(f"Velero {needed} is not built: make test-velero builds it")
    begin = cluster.now()
    cluster.release = release
    found = judged(cluster, lambda: play_story(cluster, name))
    verdicts.extend((name if release == STORIES[name].release else f"{name} {release}", verdict) for verdict in found)
    box = BoxVeleroCluster(begin, release)
    play_story(box, name)
    different = differences(name, histories(cluster.changes), histories(box.changes))
    assert not different, "\n".join(different)
    assert [verdict for verdict in found if verdict.outcome == "broken"] == []
