"""In the same story the box does what a real Velero does, and foretop's forecasts come true."""

from __future__ import annotations

import pytest

from tests.unit.minicluster.recording_replay import histories
from tests.velero.box_cluster import BoxVeleroCluster
from tests.velero.comparison import differences
from tests.velero.forecasts import Verdict
from tests.velero.judged_run import judged
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import STORIES, Story, play_story


def _marks(story: Story) -> list[pytest.MarkDecorator]:
    return [pytest.mark.seconds(story.seconds), *([pytest.mark.share] if story.in_share else [])]


@pytest.mark.parametrize("name", [pytest.param(name, marks=_marks(story)) for name, story in STORIES.items()])
def test_the_box_does_what_velero_does(
    name: str, cluster: RealVeleroCluster, verdicts: list[tuple[str, Verdict]]
) -> None:
    begin = cluster.now()
    found = judged(cluster, lambda: play_story(cluster, name))
    verdicts.extend((name, verdict) for verdict in found)
    box = BoxVeleroCluster(begin)
    play_story(box, name)
    assert differences(name, histories(cluster.changes), histories(box.changes)) == []
    assert [verdict for verdict in found if verdict.outcome == "broken"] == []
