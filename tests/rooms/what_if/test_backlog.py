"""A change of a server that does nothing, tried on its backlog."""

from __future__ import annotations

from datetime import UTC

import pytest

from foretop_core.errors import BadInput
from foretop_core.models import Resource
from foretop_core.rooms.what_if.comparison import Longer, Pause, Slots, Stopped, if_back_with
from foretop_core.rules.night.coming_back import coming_back
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from tests.objects import NOW, backup, schedule
from tests.unit.rules.test_coming_back import silent_server


def test_a_change_is_tried_on_the_backlog_too() -> None:
    """It had told the backlog as it is beside a change that it left out."""
    waits: list[Resource] = []
    for name in ("a", "b", "c"):
        own = {"includedNamespaces": [name]}
        waits += [
            schedule(name, "30 1,2 * * *", last="02:30:00", template=own),
            backup(f"{name}-1", created="01:30:03", started="01:30:03", ended="01:40:03", of=name, spec=own),
            backup(f"{name}-2", "Queued", created="02:30:00", of=name, spec=own),
        ]
    snapshot = silent_server(*waits)
    as_it_is, *_ = coming_back(snapshot, "velero", NOW, UTC)
    assert as_it_is.done is not None

    def changed(*changes: Slots | Pause | Longer) -> str:
        return render(if_back_with(snapshot, "velero", NOW, changes)[0], NOW)

    assert changed(Longer("etcd", 1.001)) == render(as_it_is.words, NOW)
    assert changed(Pause("etcd")).startswith("now: 3 runs to make up for")
    four, three_times = changed(Slots(4)), changed(Longer("etcd", 3))
    assert four.startswith("now: 4 runs to make up for, done about 02:5")
    assert render(as_it_is.words, NOW).startswith("now: 4 runs to make up for, done about 03:")
    assert three_times != render(as_it_is.words, NOW)
    with pytest.raises(BadInput, match="A stop of Velero cannot be tried: it does nothing as it is"):
        if_back_with(snapshot, "velero", NOW, [Stopped(read_window("03:00-04:00"))])
