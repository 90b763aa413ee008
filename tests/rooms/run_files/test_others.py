"""What a copy can be compared with: the copy before first, then its namespaces as they are now, then the rest."""

from __future__ import annotations

from foretop.rooms.run_files.contents_viewer import others
from foretop_core.models import Backup
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.results import ResourceKind, ResourceList
from tests.objects import backup, location, schedule

HELD = ResourceList((ResourceKind("v1/Pod", ("shop/a", "shop/b", "crm/a")), ResourceKind("v1/Node", ("one",))))


def run(name: str, day: int, of: str = "", phase: str = "Completed") -> Backup:
    moment = f"2026-11-{day:02}T02:00:03Z"
    return backup(name, phase, created=moment, started=moment, ended=moment, of=of)


def test_the_nearest_come_first_and_what_holds_nothing_is_left_out() -> None:
    runs = [
        run("n-10", 10, "nightly"),
        run("n-11", 11, "nightly"),
        run("n-12", 12, "nightly", "Failed"),
        run("n-13", 13, "nightly"),
        run("n-14", 14, "nightly"),
        run("other", 14),
        run("older", 9),
    ]
    snapshot = assemble((location(), schedule(last="2026-11-14T02:00:03Z"), *runs))
    mine = next(one for one in snapshot.backups if one.name == "n-13")
    assert [one.label for one in others(snapshot, mine, HELD)] == [
        "the copy before: n-11",
        "namespace crm as it is now",
        "namespace shop as it is now",
        "n-14",
        "n-10",
        "other",
        "older",
    ]
    alone = next(one for one in snapshot.backups if one.name == "other")
    assert [one.label for one in others(snapshot, alone, ResourceList())] == ["n-14", "n-13", "n-11", "n-10", "older"]
