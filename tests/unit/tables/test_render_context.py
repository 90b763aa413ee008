"""What a render context keeps from one moment to the next, and when it is worked out again."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchState
from foretop_core.models.kinds import STORAGE
from foretop_core.tables.engine.render_context import RenderContextFactory
from tests.objects import NOW, location
from tests.unit.store.making import Watched


def test_the_second_of_velero_s_beat_is_learned_with_the_list_and_with_news_after_ten_seconds() -> None:
    """To learn it takes a look at everything: not at every event, and not because time passes."""
    watched = Watched(STORAGE)
    factory = RenderContextFactory(watched.store, "prod")

    def second_after(seconds: float) -> int | None:
        return factory.render_context(NOW + timedelta(seconds=seconds)).beat("velero").second

    assert second_after(0) is None
    watched.list(location(synced="02:40:33", checked=""))
    watched.sink.health(WatchHealth(WatchState.LIVE, NOW))
    assert second_after(0) == 33
    watched.sink.apply("MODIFIED", location(synced="02:41:44", checked=""))
    assert [second_after(seconds) for seconds in (0, 9.9, 10)] == [33, 33, None], "in doubt"
