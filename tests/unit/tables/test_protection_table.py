"""The rows of the protection table, for namespaces in each state."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import (
    Backup,
    BackupRepository,
    Deployment,
    Namespace,
    PersistentVolume,
    Resource,
    from_builtins,
)
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.kinds import BACKUP, CLAIM, NAMESPACE, SCHEDULE, VOLUME
from foretop_core.models.velero import VolumeSnapshotLocation
from foretop_core.rules.protection.copies import DRILLED, DrillOutcome, drills_written
from foretop_core.rules.volumes.by_count import expected_snapshots
from foretop_core.rules.volumes.evidence import ExpectedSnapshots
from foretop_core.rules.volumes.run_plan import Deciders
from foretop_core.tables.engine.rows import ObjectRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.protection import ProtectionView
from tests.objects import NOW
from tests.tui.fake_source import FilledSource
from tests.unit.rules.test_protection import CLAIMS_READ, claim, copy, location, nab, namespace, restore, schedule, wire
from tests.unit.tables.test_views import Shown

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def shown(*objects: Resource) -> Shown:
    return Shown("protection", [*objects, CLAIMS_READ])


def repository(name: str, of: str, phase: str = "Ready") -> BackupRepository:
    body = {
        "metadata": {"name": name, "namespace": "velero"},
        "spec": {"volumeNamespace": of, "backupStorageLocation": "default"},
        "status": {"phase": phase, "lastMaintenanceTime": wire(NOW - _HOUR)},
    }
    return from_builtins(BackupRepository, body)


def drilled(name: str, of: str, at: datetime, failed: str = "") -> Backup:
    written = drills_written(copy(name, of), of, DrillOutcome(at, timedelta(seconds=250), failed))
    return copy(name, of, annotations={DRILLED: written})


def covered(name: str, **how: Any) -> tuple[Resource, Resource]:
    """A namespace and the schedule that backs it up once a day."""
    return namespace(name), schedule(f"{name}-daily", name, **how)


def test_a_row_says_how_well_a_namespace_is_protected() -> None:
    table = shown(
        location(),
        location("second"),
        location("lost", "Unavailable"),
        *covered("good", cron="0 3 * * *"),
        copy("g1", "good"),
        copy("g2", "good", age=25 * _HOUR, kept=3 * _DAY, storage="second"),
        *covered("mixed"),
        copy("m1", "mixed"),
        copy("m2", "mixed", age=2 * _HOUR, phase="PartiallyFailed"),
        *covered("late"),
        copy("l1", "late", age=4 * _DAY, kept=timedelta(0)),
        *covered("missing"),
        *covered("paused", paused=True),
        copy("p1", "paused", kept=9 * _DAY),
        *covered("lost", storageLocation="lost"),
        copy("lost-1", "lost", storage="lost"),
        *covered("part", includedResources=["pods"]),
        copy("part-1", "part", includedResources=["pods"]),
        *covered("hourly", cron="30 * * * *"),
        copy("h1", "hourly", age=timedelta(minutes=1), phase="PartiallyFailed"),
        copy("gone-1", "gone", storage=""),
        namespace("bare"),
        namespace("kube-system"),
    )
    assert table.text("name", "state", "newest", "copies", "expires", "next", "covers", "method", "storage") == [
        ["▲", "bare", "not covered", "none", "0", "", "", "none", "", ""],
        ["·", "gone", "deleted", "1h", "1", "in 20d, 0 left", "", "none", "", "default"],
        ["●", "good", "protected", "1h", "2", "in 3d, 1 left", "in 18m", "all", "not known", "default, second"],
        ["▲", "hourly", "partial", "1m", "0 + 1 partial", "", "due", "all", "not known", "default"],
        ["·", "kube-system", "ignored", "none", "0", "", "", "none", "", ""],
        ["✗", "late", "late", "4d", "1", "now, 0 left", "in 23h18m", "all", "not known", "default"],
        [
            *("✗", "lost", "unreachable", "1h", "0 + 1 out of reach", "in 20d, 0 left", "in 23h18m, refused", "all"),
            *("not known", "lost unavailable"),
        ],
        ["✗", "missing", "no copy", "none", "0", "", "in 23h18m", "all", "not known", ""],
        [
            "●",
            "mixed",
            "protected",
            "1h",
            "1 + 1 partial",
            "in 20d, 0 left",
            "in 23h18m",
            "all",
            "not known",
            "default",
        ],
        ["▲", "part", "partial", "1h", "0 + 1 partial", "", "in 23h18m", "part: only pods", "none", "default"],
        ["‖", "paused", "paused", "1h", "1", "in 9d, 0 left", "paused", "all", "not known", "default"],
    ]
    tones = {column: {name: cell.tone for name, cell in table.cells(column).items()} for column in ("state", "newest")}
    assert [name for name, tone in tones["state"].items() if tone is Tone.DIM] == ["gone", "kube-system"]
    assert [name for name, tone in tones["state"].items() if tone is Tone.PLAIN] == ["good", "mixed"]
    assert [name for name, tone in tones["state"].items() if tone is Tone.BAD] == ["late", "lost", "missing"]
    assert [name for name, tone in tones["newest"].items() if tone is Tone.BAD] == ["late"]
    assert [name for name, tone in tones["newest"].items() if tone is Tone.WARN] == ["hourly", "part"]
    assert [name for name, tone in tones["newest"].items() if tone is Tone.DIM] == ["bare", "kube-system", "missing"]
    assert {name: cell.briefs for name, cell in table.cells("covers").items() if cell.briefs} == {"part": ("part",)}
    assert [name for name, cell in table.cells("next").items() if cell.tone is Tone.WARN] == ["lost"]


def test_the_next_run_is_that_of_the_schedule_that_runs_first_and_works() -> None:
    table = shown(
        location(),
        location("lost", "Unavailable"),
        namespace("later"),
        schedule("b-good", "later", cron="0 3 * * *"),
        schedule("a-lost", "later", cron="0 4 * * *", storageLocation="lost"),
        namespace("sooner"),
        schedule("a-good", "sooner", cron="0 4 * * *"),
        schedule("b-lost", "sooner", cron="0 3 * * *", storageLocation="lost"),
        namespace("paused"),
        schedule("a-paused", "paused", cron="0 3 * * *", paused=True, storageLocation="lost"),
        schedule("b-runs", "paused", cron="0 3 * * *"),
        namespace("now"),
        schedule("at-once", "now", cron="41 2 * * *"),
    )
    table.clock.set(NOW.replace(second=0))
    found = table.cells("next")
    assert {name: (cell.text, cell.tone) for name, cell in found.items()} == {
        "later": ("in 19m", Tone.PLAIN),
        "now": ("due", Tone.PLAIN),
        "paused": ("in 19m", Tone.PLAIN),
        "sooner": ("in 1h19m", Tone.PLAIN),
    }


def test_a_run_of_a_silent_server_does_not_look_like_one_that_will_be() -> None:
    table = shown(location(checked=NOW - _HOUR), *covered("shop"), namespace("bare"))
    found = table.cells("next")
    assert {name: cell.tone for name, cell in found.items()} == {"bare": Tone.PLAIN, "shop": Tone.WARN}
    assert found["shop"].text.endswith(", waits for the storage")
    assert found["shop"].briefs[0].endswith("?")


def test_a_row_names_what_covers_a_namespace() -> None:
    table = shown(
        *covered("both"),
        schedule("weekly", "both", cron="0 5 * * 1"),
        *(nab("both", name) for name in "ab"),
        namespace("tenant"),
        nab("tenant", "mine"),
        *covered("single"),
        namespace("bare"),
    )
    assert {name: cell.text for name, cell in table.cells("by").items()} == {
        "bare": "",
        "both": "both-daily and weekly, 2 NABs",
        "single": "single-daily",
        "tenant": "1 NAB",
    }
    table.model.narrow("by:*weekly*")
    assert [row.key.name for row in table.rows()] == ["both"]
    table.model.narrow("covers:none")
    assert [row.key.name for row in table.rows()] == ["bare"]


def test_a_repository_that_is_not_ready_is_shown_before_those_that_are() -> None:
    table = shown(
        location(),
        *covered("ready"),
        repository("r-1", "ready"),
        *covered("one"),
        repository("o-1", "one"),
        repository("o-2", "one", "NotReady"),
        *covered("new"),
        repository("n-1", "new", ""),
        namespace("none"),
    )
    assert {name: cell.text for name, cell in table.cells("repository").items()} == {
        "new": "New",
        "none": "",
        "one": "NotReady",
        "ready": "Ready",
    }
    told = {item["name"]: [(one["name"], one["phase"]) for one in item["repositories"]] for item in table.items()}
    assert told["one"] == [("o-1", "Ready"), ("o-2", "NotReady")]
    assert told["new"] == [("n-1", None)]


def test_a_row_says_when_somebody_last_tried_to_bring_a_namespace_back() -> None:
    table = shown(
        *covered("drill-last"),
        drilled("a", "drill-last", NOW - 3 * _DAY),
        restore("a-back", "a", "drill-last", age=4 * _DAY),
        *covered("drill-only"),
        drilled("b", "drill-only", NOW - 3 * _DAY, failed="timeout"),
        *covered("together"),
        drilled("c", "together", NOW - 3 * _DAY),
        restore("c-back", "c", "together", age=3 * _DAY),
        *covered("restored-last"),
        drilled("d", "restored-last", NOW - 3 * _DAY),
        restore("d-back", "d", "restored-last", age=2 * _DAY),
        *covered("restored-only"),
        copy("e", "restored-only"),
        restore("e-back", "e", "restored-only", age=5 * _DAY),
        *covered("untried"),
    )
    assert {name: cell.text for name, cell in table.cells("tried").items()} == {
        "drill-last": "drilled 3d ago in 4m10s",
        "drill-only": "drill failed 3d ago in 4m10s",
        "restored-last": "restored 2d",
        "restored-only": "restored 5d",
        "together": "drilled 3d ago in 4m10s",
        "untried": "",
    }
    drills = {item["name"]: item["lastDrill"] for item in table.items()}
    assert drills["drill-only"] == {"at": wire(NOW - 3 * _DAY), "seconds": 250, "failed": "timeout"}
    assert drills["drill-last"] == {"at": wire(NOW - 3 * _DAY), "seconds": 250, "failed": None}
    assert drills["untried"] is None


def _item(name: str, objects: Iterable[Resource]) -> dict[str, Any]:
    return next(item for item in shown(*objects).items() if item["name"] == name)


def test_the_item_of_a_namespace_has_its_copies_and_what_makes_them() -> None:
    item = _item(
        "shop",
        [
            location(),
            location("lost", "Unavailable"),
            *covered("shop", snapshotMoveData=True),
            copy("one", "shop"),
            copy("two", "shop", age=25 * _HOUR, kept=3 * _DAY, storage="lost"),
            copy("three", "shop", age=26 * _HOUR, phase="PartiallyFailed"),
            restore("back", "one", "shop", age=2 * _DAY),
        ],
    )
    assert item == {
        "context": "prod",
        "kind": "Namespace",
        "namespace": "",
        "name": "shop",
        "phase": None,
        "exists": True,
        "state": "protected",
        "severity": None,
        "newestCopy": "one",
        "newestCopyAt": wire(NOW - _HOUR),
        "newestCopyComplete": True,
        "promisedSince": "2026-11-14T02:00:00Z",
        "lateFrom": "2026-11-16T02:00:00Z",
        "goodCopies": 2,
        "partialCopies": 1,
        "copiesOutOfReach": 1,
        "nextExpiry": wire(NOW + 20 * _DAY),
        "lastExpiry": wire(NOW + 20 * _DAY),
        "nextRun": "2026-11-16T02:00:00Z",
        "refusedRun": None,
        "schedules": [
            {
                "namespace": "velero",
                "name": "shop-daily",
                "covers": "all",
                "volumes": "none",
                "volumesTaken": [],
                "volumesLeftOut": [],
                "volumesNotKnown": [],
                "volumesUnknown": None,
                "paused": False,
                "refused": False,
            }
        ],
        "nonAdminBackups": 0,
        "covers": "all",
        "volumes": "not known",
        "volumesTaken": [],
        "volumesLeftOut": [],
        "volumesNotKnown": [],
        "volumesNewer": [],
        "volumesUnknown": None,
        "bytes": None,
        "bytesUnknown": None,
        "storageLocations": ["default", "lost"],
        "unavailableLocations": ["lost"],
        "repositories": [],
        "lastRestored": wire(NOW - 2 * _DAY),
        "lastDrill": None,
    }


def test_the_item_of_a_namespace_without_copies_says_so_with_nulls() -> None:
    item = _item("bare", [from_builtins(Namespace, {"metadata": {"name": "bare"}, "status": {"phase": "Active"}})])
    found = ("newestCopy", "newestCopyAt", "newestCopyComplete", "volumes", "promisedSince", "phase")
    assert [item[name] for name in found] == [None, None, False, None, None, "Active"]
    partial = _item("shop", [*covered("shop"), copy("one", "shop", phase="PartiallyFailed")])
    assert (partial["newestCopy"], partial["newestCopyComplete"]) == ("one", False)


def test_namespaces_sort_by_each_column() -> None:
    table = shown(
        *covered("a", cron="0 5 * * *"),
        copy("a1", "a", age=_HOUR, kept=2 * _DAY),
        *covered("b", cron="0 4 * * *"),
        copy("b1", "b", age=3 * _HOUR, kept=3 * _DAY),
        copy("b2", "b", age=4 * _HOUR, kept=3 * _DAY),
        drilled("c1", "c", NOW - _DAY),
        *covered("d"),
        restore("d-back", "a1", "d", age=2 * _DAY),
    )
    assert table.names("name") == ["a", "b", "c", "d"]
    assert table.names("state")[-1] == "c"
    assert table.names("newest")[-1] == "d"
    assert [name for name in table.names("newest") if name in "ab"] == ["b", "a"]
    assert table.names("copies") == ["d", "a", "c", "b"]
    assert table.names("expires")[:2] == ["a", "b"]
    assert table.names("next")[:2] == ["b", "a"]
    assert table.names("tried")[:2] == ["d", "c"]


def test_a_namespace_that_nobody_may_list_is_neither_there_nor_gone() -> None:
    table = shown(*covered("shop")[1:], copy("one", "shop"))
    (item,) = table.items()
    assert (item["name"], item["exists"]) == ("shop", None)
    assert table.text("name", "state") == [["●", "shop", "protected"]]


DECIDES = Deciders(
    locations=(from_builtins(VolumeSnapshotLocation, {"spec": {"provider": "aws"}}),),
    storage_classes={},
    snapshot_classes=(),
    agent_nodes=frozenset(),
    pods={},
)
VELERO_1_18_3 = from_builtins(
    Deployment,
    {
        "metadata": {"name": "velero", "namespace": "velero"},
        "spec": {"template": {"spec": {"containers": [{"image": "velero/velero:v1.18.3", "args": ["server"]}]}}},
    },
)


def _volume(space: str, name: str) -> Resource:
    spec = {"claimRef": {"namespace": space, "name": name}, "awsElasticBlockStore": {}}
    return from_builtins(PersistentVolume, {"metadata": {"name": f"pv-{name}"}, "spec": spec})


def _counted() -> Shown:
    """Two namespaces with a claim each and a copy with two snapshots, and one without any."""
    both = copy("both", "shop", "wiki")
    counts = replace(both.status, volume_snapshots_attempted=2, volume_snapshots_completed=2)
    return shown(
        *(*covered("shop"), *covered("wiki"), *covered("alone"), copy("one", "alone"), VELERO_1_18_3, location()),
        *(replace(both, status=counts), claim("shop"), claim("wiki", "pages")),
        *(_volume("shop", "data"), _volume("wiki", "pages"), _volume("wiki", "more")),
    )


def _volumes(table: Shown) -> dict[str, str]:
    return {name: cell.text for name, cell in table.cells("volumes").items()}


def test_a_new_claim_derives_its_own_row_and_those_whose_snapshots_are_counted_with_it() -> None:
    table = _counted()
    table.store.sink(WatchScope("prod", VOLUME), table.clock).apply("DELETED", _volume("wiki", "more"))
    table.store.note_deciding("prod", "velero", DECIDES)
    table.model.pump()
    assert _volumes(table) == {"alone": "", "shop": "~1/1", "wiki": "~1/1"}
    derived = table.model.table.derived
    table.store.sink(WatchScope("prod", CLAIM), table.clock).apply("ADDED", claim("wiki", "more"))
    table.model.pump()
    assert table.model.table.derived == derived + 2
    assert _volumes(table) == {"alone": "", "shop": "?/1", "wiki": "?/2"}


def test_a_changed_claim_has_the_snapshots_of_no_other_backup_foretold_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are on the screen: what they were foretold from is the same."""
    asked: list[str] = []

    def counting(backup: Backup, *others: Any) -> ExpectedSnapshots:
        asked.append(backup.name)
        return expected_snapshots(backup, *others)

    monkeypatch.setattr("foretop_core.rules.volumes.by_count.expected_snapshots", counting)
    names = [f"team-{number}" for number in range(20)]
    objects: list[Resource] = [VELERO_1_18_3, location()]
    for name in names:
        made = copy(f"{name}-1", name)
        counts = replace(made.status, volume_snapshots_attempted=1, volume_snapshots_completed=1)
        objects += [*covered(name), replace(made, status=counts), claim(name, f"data-{name}")]
        objects.append(_volume(name, f"data-{name}"))
    table = Shown("protection", objects)
    table.store.note_deciding("prod", "velero", DECIDES)
    table.model.pump()
    assert set(_volumes(table).values()) == {"~1/1"}
    asked.clear()
    labelled = claim("team-7", "data-team-7", labels={"a": "b"})
    table.store.sink(WatchScope("prod", CLAIM), table.clock).apply("MODIFIED", labelled)
    table.model.pump()
    assert set(_volumes(table).values()) == {"~1/1"}
    assert asked == ["team-7-1"]


def test_what_decides_derives_the_rows_whose_snapshots_are_counted() -> None:
    """Those too that no schedule of that server takes."""
    table = _counted()
    table.store.sink(WatchScope("prod", VOLUME), table.clock).apply("DELETED", _volume("wiki", "more"))
    for name in ("shop-daily", "wiki-daily", "alone-daily"):
        table.store.sink(WatchScope("prod", SCHEDULE), table.clock).apply("DELETED", schedule(name))
    table.model.pump()
    assert _volumes(table) == {"alone": "", "shop": "?/1", "wiki": "?/1"}
    derived = table.model.table.derived
    table.store.note_deciding("prod", "velero", DECIDES)
    table.model.pump()
    assert _volumes(table) == {"alone": "", "shop": "~1/1", "wiki": "~1/1"}
    assert table.model.table.derived == derived + 2
    table.store.note_deciding("prod", "velero", replace(DECIDES, locations=()))
    table.model.pump()
    assert _volumes(table) == {"alone": "", "shop": "?/1", "wiki": "?/1"}


def test_a_policy_that_is_read_tells_of_the_rows_under_it() -> None:
    made = copy("one", "shop")
    made = replace(made, spec=replace(made.spec, resource_policy={"kind": "configmap", "name": "gold"}))
    table = shown(*covered("shop"), made, VELERO_1_18_3, location())
    assert [cell.text for cell in table.cells("state").values()] == ["not known"]
    meta = {"name": "gold", "namespace": "velero", "creationTimestamp": "2026-11-01T00:00:00Z"}
    policy = {"metadata": meta, "data": {"policies": "version: v1\nvolumePolicies: []\n"}}
    deciding = replace(DECIDES, config_maps={"gold": from_builtins(ConfigMap, policy)})
    table.store.note_deciding("prod", "velero", deciding)
    table.model.pump()
    assert [cell.text for cell in table.cells("state").values()] == ["protected"]
    table.store.note_deciding("prod", "velero", replace(DECIDES, config_maps={"gold": None}))
    table.model.pump()
    assert [cell.text for cell in table.cells("state").values()] == ["not known"]


def test_a_changed_backup_or_schedule_derives_the_rows_of_its_namespaces_alone() -> None:
    table = shown(*covered("shop"), *covered("wiki"), copy("one", "shop"))
    derived = table.model.table.derived
    table.store.sink(WatchScope("prod", BACKUP), table.clock).apply("ADDED", copy("two", "shop"))
    table.model.pump()
    assert table.model.table.derived == derived + 1
    assert table.cells("copies")["shop"].text == "2"
    paused = schedule("wiki-daily", "wiki", paused=True)
    table.store.sink(WatchScope("prod", SCHEDULE), table.clock).apply("MODIFIED", paused)
    table.model.pump()
    assert table.model.table.derived == derived + 2
    assert table.cells("next")["wiki"].text == "paused"
    table.store.sink(WatchScope("prod", NAMESPACE), table.clock).apply("DELETED", namespace("wiki"))
    table.model.pump()
    assert sorted(table.cells("state")) == ["shop"]


def test_namespaces_that_come_in_sight_show_which_of_those_with_copies_are_gone() -> None:
    table = shown(copy("one", "shop"))
    assert {name: cell.text for name, cell in table.cells("state").items()} == {"shop": "not covered"}
    sink = table.store.sink(WatchScope("prod", NAMESPACE), table.clock)
    sink.health(WatchHealth(WatchState.LIVE, NOW))
    sink.apply("ADDED", namespace("wiki"))
    table.model.pump()
    assert {name: cell.text for name, cell in table.cells("state").items()} == {
        "shop": "deleted",
        "wiki": "not covered",
    }


def test_a_namespace_that_cannot_be_read_has_a_row_from_the_start() -> None:
    table = shown(*covered("shop"))
    table.store.sink(WatchScope("prod", NAMESPACE), table.clock).unreadable("", "odd", "status: broken")
    fresh: ObjectRows[Any] = ObjectRows(ProtectionView(), table.store, ["prod"])
    assert sorted(key.name for key, _ in fresh) == ["odd", "shop"]


def test_a_late_copy_is_as_grave_as_the_runs_that_should_have_made_it() -> None:
    """Its schedule has a warning in Triage for its partial runs, and that line tells of the namespace too."""
    late = (*covered("late"), copy("l1", "late", age=4 * _DAY))
    partly = (*covered("partly"), copy("p1", "partly", age=2.5 * _DAY), copy("p2", "partly", phase="PartiallyFailed"))
    table = shown(location(), *late, *partly)
    assert table.text("name", "state") == [["✗", "late", "late"], ["▲", "partly", "late"]]
    assert {item["name"]: item["severity"] for item in table.items()} == {"late": "error", "partly": "warning"}


def test_partial_copies_take_the_place_of_a_complete_one_for_three_of_its_promises() -> None:
    partly = (*covered("partly"), copy("p1", "partly", age=3.1 * _DAY), copy("p2", "partly", phase="PartiallyFailed"))
    assert shown(location(), *partly).text("name", "state") == [["✗", "partly", "late"]]


@pytest.mark.parametrize(("days", "told"), [(4, "×4.0"), (9.94, "×9.9"), (9.96, "×10"), (40, "×40"), (2000, "×999")])
def test_an_old_copy_says_by_how_many_times_it_is_beyond_its_promise(days: float, told: str) -> None:
    ((_, beyond),) = shown(location(), *covered("late"), copy("l1", "late", age=days * _DAY)).text("promise")
    assert told in beyond


@pytest.mark.parametrize(("cron", "told"), [("*/30 * * * *", "30m"), ("0 2 * * *", "24h"), ("0 2 * * 0", "7d")])
def test_a_row_says_how_often_a_copy_is_promised(cron: str, told: str) -> None:
    ((_, every),) = shown(location(), *covered("late", cron=cron), copy("l1", "late")).text("of")
    assert every.strip() == told


def test_of_protected_namespaces_the_one_nearest_to_its_promise_stands_first() -> None:
    ages = {
        "a": timedelta(hours=22, minutes=19),
        "b": timedelta(hours=23, minutes=21),
        "c": timedelta(hours=22, minutes=50),
    }
    objects = [one for name, age in ages.items() for one in (*covered(name), copy(f"{name}-1", name, age=age))]
    source = FilledSource([location(), *objects, CLAIMS_READ])
    rows = StoreTableModel(DashboardState(source, lambda: 0.0), ProtectionView(), worst_first=True)
    assert [key.name for key, _ in rows.ordered()] == ["b", "c", "a"]


def test_rows_get_worse_with_the_clock_alone_and_all_of_them_within_seconds() -> None:
    names = [f"team-{number}" for number in range(25)]
    source = FilledSource([location(), *(one for name in names for one in (*covered(name), copy(name, name)))])
    state = DashboardState(source, lambda: 0.0)
    rows = StoreTableModel(state, ProtectionView(), worst_first=True)
    late = []
    for seconds in (0, 1, 2):
        source.manual.set(datetime(2026, 11, 16, 2, 0, seconds, tzinfo=UTC))
        state.begin_frame()
        rows.pump()
        late.append(rows.marks[StatusGlyph.BROKEN])
    assert late == [0, 20, 25]


def test_copies_that_are_all_partial_are_counted_as_such_beside_their_age() -> None:
    partial = [copy(f"p{at}", "part", phase="PartiallyFailed") for at in range(2)]
    table = shown(location(), *covered("part"), *partial, *covered("good"), copy("g", "good"), *covered("none"))
    assert {name: cell.briefs for name, cell in table.cells("copies").items()} == {
        "part": ("2P",),
        "good": ("1",),
        "none": ("0",),
    }


def test_a_copy_that_is_due_stands_above_a_paused_one_beyond_its_promise_and_both_above_the_rest() -> None:
    ages = {"fresh": _HOUR, "due": 26 * _HOUR, "overdue": 28 * _HOUR}
    paused = {"held": _HOUR, "old": 30 * _DAY, "older": 60 * _DAY}
    objects = [
        *(copy(name, name, age=age) for name, age in (ages | paused).items()),
        *(one for name in ages for one in covered(name, cron="0 22 * * *")),
        *(one for name in paused for one in covered(name, paused=True)),
        *(namespace("hand"), copy("hand-1", "hand"), nab("hand", "own")),
        *(namespace("open"), *covered("gone"), copy("gone-1", "gone", age=4 * _DAY)),
    ]
    source = FilledSource([location(), *objects, CLAIMS_READ])
    rows = StoreTableModel(DashboardState(source, lambda: 0.0), ProtectionView(), worst_first=True)
    found = [key.name for key, _ in rows.ordered()]
    assert found == ["gone", "open", "overdue", "due", "older", "old", "hand", "fresh", "held"]


def test_a_text_finds_namespaces_by_their_name_and_a_field_by_their_schedules() -> None:
    """Who searches for one and restores the first row must not get another that a schedule of that name takes."""
    objects = [namespace("default"), namespace("shop"), schedule("shop-daily", "shop", "default")]
    rows = StoreTableModel(DashboardState(FilledSource([location(), *objects]), lambda: 0.0), ProtectionView())
    found = []
    for text in ("shop", "by:shop-daily"):
        rows.narrow(text)
        found.append([key.name for key, _ in rows.ordered()])
    assert found == [["shop"], ["default", "shop"]]


@pytest.mark.parametrize(("phase", "told"), [("Queued", "waits"), ("InProgress", "runs"), ("Failed", "in 23h18m")])
def test_next_says_where_a_copy_is_on_its_way(phase: str, told: str) -> None:
    coming = copy("shop-daily-2", "shop", age=timedelta(minutes=1), phase=phase, of="shop-daily")
    table = shown(location(), *covered("shop"), copy("one", "shop", age=4 * _DAY), coming)
    assert table.cells("next")["shop"].text == told
    (item,) = table.items()
    assert item["nextRun"] == "2026-11-16T02:00:00Z"


def test_a_copy_is_not_on_its_way_where_its_backup_does_not_take_the_namespace_or_velero_is_silent() -> None:
    other = copy("shop-daily-2", "wiki", age=timedelta(minutes=1), phase="InProgress", of="shop-daily")
    assert shown(location(), *covered("shop"), other).cells("next")["shop"].text == "in 23h18m"
    coming = copy("shop-daily-2", "shop", age=timedelta(minutes=1), phase="Queued", of="shop-daily")
    silent = shown(location(checked=NOW - _HOUR), *covered("shop"), coming)
    assert silent.cells("next")["shop"].text != "waits"
