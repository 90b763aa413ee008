"""The rows of the tenants' table, for NABs and NARs in each state, and which of them a change derives again."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.kube.watching.watch_sink import EventType, WatchScope
from foretop_core.models import Backup, NonAdmin, Resource, Restore
from foretop_core.models.kinds import BACKUP, RESTORE
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.triage import triage
from foretop_core.tables.engine.drawings import ShareBar
from foretop_core.tables.engine.rows import ObjectRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.engine.view import pieces
from tests.objects import NOW, backup, condition, nab, nar, restore
from tests.unit.tables.test_storage_table import standings
from tests.unit.tables.test_views import Shown, velero

_NAB, _NAR = "openshift.io/oadp-nab-origin-nacuuid", "openshift.io/oadp-nar-origin-nacuuid"
_NO = [condition("Accepted", "False", "InvalidBackupSpec")]
_YES = [condition("Accepted", "True", "BackupAccepted")]


def run(name: str, uuid: str, phase: str = "InProgress", **more: Any) -> Backup:
    return backup(name, phase, labels={_NAB: uuid}, **more)


def rerun(name: str, uuid: str, phase: str = "InProgress", **more: Any) -> Restore:
    return restore(name, phase, meta={"labels": {_NAR: uuid}}, **more)


def mine(name: str, place: int, **more: Any) -> NonAdmin:
    """A NAB whose Velero backup is `v-PLACE`."""
    return nab(name, veleroBackup=velero(f"v-{place}", f"u-{place}"), **more)


@pytest.mark.parametrize(
    ("item", "mark", "tone", "standing"),
    [
        pytest.param(nab("x"), "○", Tone.PLAIN, (StatusGlyph.WAITING, "waiting"), id="nothing known"),
        pytest.param(nab("x", deleted="02:41:00"), "◐", Tone.PLAIN, (StatusGlyph.RUNNING, "deleting"), id="deleted"),
        pytest.param(nab("x", deleted="02:00:00"), "▲", Tone.WARN, (StatusGlyph.RUNNING, "deleting"), id="stuck"),
        pytest.param(nab("x", "Deleting"), "◐", Tone.PLAIN, (StatusGlyph.RUNNING, "deleting"), id="in phase Deleting"),
        pytest.param(nab("x", "Deletion"), "◐", Tone.PLAIN, (StatusGlyph.RUNNING, "deleting"), id="in phase Deletion"),
        pytest.param(
            nab("x", "BackingOff", deleted="02:41:00"), "◐", Tone.PLAIN, (StatusGlyph.RUNNING, "deleting"), id="both"
        ),
        pytest.param(nab("x", "BackingOff"), "▲", Tone.WARN, (StatusGlyph.LOOK, "refused"), id="in phase BackingOff"),
        pytest.param(nab("x", conditions=_NO), "▲", Tone.WARN, (StatusGlyph.LOOK, "refused"), id="not accepted"),
        pytest.param(nab("x", conditions=_YES), "○", Tone.PLAIN, (StatusGlyph.WAITING, "waiting"), id="accepted"),
        pytest.param(
            nab("x", veleroBackup=velero("v", "u", phase="InProgress")),
            "◐",
            Tone.PLAIN,
            (StatusGlyph.RUNNING, "running"),
            id="runs",
        ),
        pytest.param(nab("x", veleroBackup=velero("v", "u", phase="Completed")), "●", Tone.PLAIN, None, id="good"),
    ],
)
def test_a_row_says_whether_it_was_refused_waits_or_runs(
    item: Resource, mark: str, tone: Tone, standing: StatusLabel | None
) -> None:
    table = Shown("nonadmin", [item])
    assert [row.mark.value for row in table.rows()] == [mark]
    assert table.cells("phase")["x"].tone is tone
    assert standings(table) == {"x": standing}


def test_each_condition_has_the_colour_of_its_sign() -> None:
    table = Shown("nonadmin", [nab("x", conditions=[*_YES, condition("Queued", "False", "Full")])])
    cell, column = table.cells("conditions")["x"], next(one for one in table.model.columns if one.name == "conditions")
    assert [(one.text, one.tone) for one in pieces(cell, column, 4)] == [
        ("✓", Tone.GOOD),
        ("✗", Tone.BAD),
        ("·", Tone.DIM),
        (" ", Tone.PLAIN),
    ]


def test_the_number_of_errors_has_the_colour_of_the_phase() -> None:
    table = Shown("nonadmin", [mine("a", 1), run("v-1", "u-1", "PartiallyFailed", errors=2)])
    assert [(cell.text, cell.tone) for cell in table.cells("progress").values()] == [("2 errors", Tone.WARN)]


def test_a_row_has_the_phase_of_its_velero_object_in_its_colour() -> None:
    table = Shown(
        "nonadmin",
        [
            nab("a", ""),
            mine("b", 1),
            run("v-1", "u-1", "Failed"),
            mine("c", 2),
            run("v-2", "u-2", ""),
            nab("d", veleroBackup=velero("v-3", "u-3", phase="PartiallyFailed")),
            nar("e", veleroRestore=velero("v-4", "u-4")),
            rerun("v-4", "u-4", "Completed"),
        ],
    )
    assert {name: (cell.text, cell.tone) for name, cell in table.cells("velero").items()} == {
        "a": ("–", Tone.DIM),
        "b": ("Failed", Tone.BAD),
        "c": ("New", Tone.WAITING),
        "d": ("PartiallyFailed", Tone.WARN),
        "e": ("Completed", Tone.DIM),
    }
    assert table.cells("velero")["d"].briefs == ("PartFailed",)
    assert table.cells("phase")["a"].text == "New"
    for text, found in (
        ("phase:New", ["a"]),
        ("kind:nab veleroPhase:Failed", ["b"]),
        ("kind:nar", ["e"]),
        ("object:v-4", ["e"]),
        ("velero:New", ["c"]),
        ("nar", ["e"]),
        ("!nab", ["e"]),
        ("waiting", ["c"]),
    ):
        table.model.narrow(text)
        assert [row.key.name for row in table.rows()] == found, text


def test_a_filter_by_the_velero_column_finds_what_the_column_shows() -> None:
    gone = [condition("Accepted", "False", "VeleroBackupNotFound")]
    table = Shown(
        "nonadmin",
        [
            nab("refused", conditions=_NO),
            nab("part", veleroBackup=velero("v-3", "u-3", phase="PartiallyFailed")),
            nab("lost", conditions=gone),
            nab("both", conditions=_NO, veleroBackup=velero("v-4", "u-4", phase="Completed")),
            nab("new"),
        ],
    )
    for text, found in (
        ("velero:refused", ["both", "refused"]),
        ("velero:lost", ["lost"]),
        ("velero:Completed", ["both"]),
        ("velero:*fused", ["both", "refused"]),
        ("velero:PartFailed", ["part"]),
        ("velero:PartiallyFailed", ["part"]),
        ("!velero:refused", ["lost", "new", "part"]),
    ):
        table.model.narrow(text)
        assert sorted(row.key.name for row in table.rows()) == found, text


def test_of_two_velero_objects_with_its_mark_a_row_shows_the_one_that_it_names() -> None:
    both = [run("v-0", "u-1", "Completed"), run("v-1", "u-1", "Failed")]
    assert Shown("nonadmin", [mine("x", 1), *both]).cells("velero")["x"].text == "Failed"
    unnamed = nab("x", veleroBackup={"nacuuid": "u-1", "namespace": "velero"})
    assert Shown("nonadmin", [unnamed, both[0]]).cells("velero")["x"].text == "Completed"


def _line() -> list[Resource]:
    """Three backups and two restores of tenants, of which the first of each runs."""
    return [
        run("v-1", "u-1", created="02:00:00", started="02:00:01"),
        run("v-2", "u-2", "Queued", created="02:01:00", queuePosition=1),
        run("v-3", "u-3", "Queued", created="02:02:00", queuePosition=2),
        *(mine(f"n-{place}", place) for place in (1, 2, 3)),
        rerun("w-1", "r-1", created="02:00:00"),
        rerun("w-2", "r-2", "New", created="02:01:00"),
        *(nar(f"r-{place}", veleroRestore=velero(f"w-{place}", f"r-{place}")) for place in (1, 2)),
    ]


def test_json_has_the_place_among_those_that_wait_beside_the_one_in_the_whole_line() -> None:
    """The controller's estimate counts those that run, and so does `liveQueuePosition`, which it is compared with."""
    table = Shown("nonadmin", _line())
    items = {key.name: table.model.item(key) for key, _ in table.model.ordered()}
    told = {name: (item["liveQueuePosition"], item["waitingPosition"]) for name, item in items.items()}
    assert told == {"n-1": (1, None), "n-2": (2, 1), "n-3": (3, 2), "r-1": (1, None), "r-2": (2, 1)}


@pytest.mark.parametrize(("deleted", "mark", "severity"), [("02:41:00", "◐", None), ("02:00:00", "▲", "warning")])
def test_one_that_is_being_deleted_is_as_grave_as_triage_finds_it(deleted: str, mark: str, severity: str) -> None:
    item = nab("x", "Deleting", deleted=deleted)
    table = Shown("nonadmin", [item])
    (key, _), (row,) = *table.model.ordered(), table.rows()
    assert (row.mark.value, table.model.item(key)["severity"]) == (mark, severity)
    found = [one.severity.value for one in triage(assemble([item]), NOW).findings if one.subject.name == "x"]
    assert found == ([severity] if severity else [])


def _queue(table: Shown) -> dict[str, str]:
    return {name: cell.text for name, cell in sorted(table.cells("queue").items())}


def test_the_place_of_each_is_told_in_full_and_in_short() -> None:
    table = Shown("nonadmin", [*_line(), nab("odd", queueInfo={"estimatedQueuePosition": 3}), nab("none")])
    assert _queue(table) == {
        "n-1": "running",
        "n-2": "1st waiting",
        "n-3": "2nd waiting",
        "none": "–",
        "odd": "~3",
        "r-1": "running",
        "r-2": "1st waiting",
    }
    briefs = {name: cell.briefs for name, cell in table.cells("queue").items() if cell.briefs}
    assert briefs == {"n-2": ("1st",), "n-3": ("2nd",), "r-2": ("1st",)}
    assert table.names("queue")[:3] == ["n-1", "r-1", "n-2"]


@pytest.mark.parametrize(
    ("kind", "event", "item", "derived", "queue"),
    [
        pytest.param(
            BACKUP,
            "MODIFIED",
            run("v-3", "u-3", "Queued", created="02:02:00", queuePosition=0),
            1,
            {"n-2": "2nd waiting", "n-3": "1st waiting"},
            id="one overtakes another",
        ),
        pytest.param(
            BACKUP,
            "ADDED",
            backup("ahead", "Queued", created="01:00:00", queuePosition=0),
            0,
            {"n-2": "2nd waiting", "n-3": "3rd waiting"},
            id="a foreign one comes in ahead",
        ),
        pytest.param(
            BACKUP,
            "DELETED",
            run("v-2", "u-2", "Queued", created="02:01:00", queuePosition=1),
            1,
            {"n-2": "–", "n-3": "1st waiting"},
            id="one is deleted",
        ),
        pytest.param(
            BACKUP,
            "MODIFIED",
            run("v-1", "u-1", created="02:00:00", started="02:00:01", errors=1),
            1,
            {"n-2": "1st waiting", "n-3": "2nd waiting"},
            id="one stays where it is",
        ),
        pytest.param(
            BACKUP, "ADDED", backup("done", created="01:00:00"), 0, {"n-2": "1st waiting"}, id="one that has ended"
        ),
        pytest.param(
            RESTORE, "MODIFIED", rerun("w-1", "r-1", "Completed"), 1, {"r-1": "–", "r-2": "1st waiting"}, id="a restore"
        ),
        pytest.param(
            RESTORE, "ADDED", restore("done"), 0, {"r-2": "1st waiting"}, id="a foreign restore that has ended"
        ),
    ],
)
def test_a_change_derives_its_own_row_and_those_behind_it_say_their_new_places(
    kind: Any, event: EventType, item: Resource, derived: int, queue: dict[str, str]
) -> None:
    table = Shown("nonadmin", _line())
    before = table.model.table.derived
    table.store.sink(WatchScope("prod", kind), table.clock).apply(event, item)
    table.model.pump()
    assert table.model.table.derived - before == derived
    assert {name: text for name, text in _queue(table).items() if name in queue} == queue
    fresh: ObjectRows[Any] = ObjectRows(table.model.view, table.store, ["prod"])
    assert sorted(table.model.table) == sorted(fresh)


def test_a_backup_without_the_mark_of_a_tenant_is_in_no_row() -> None:
    table = Shown("nonadmin", [mine("x", 1), backup("v-1", "Completed", created="01:00:00")])
    assert table.cells("velero")["x"].text == "–"
    before = table.model.table.derived
    for kind, item in ((BACKUP, backup("v-1", "Failed", created="01:00:00")), (RESTORE, restore("v-1", "Failed"))):
        table.store.sink(WatchScope("prod", kind), table.clock).apply("MODIFIED", item)
        table.model.pump()
    assert table.model.table.derived == before


def test_the_progress_is_that_of_the_velero_object_or_of_the_copy_of_its_status() -> None:
    def copied(place: int, done: int, total: int) -> dict[str, Any]:
        return velero(f"v-{place}", f"u-{place}", progress={"itemsBackedUp": done, "totalItems": total})

    table = Shown(
        "nonadmin",
        [
            nab("a-half", veleroBackup=copied(1, 5, 10)),
            nab("b-live", veleroBackup=copied(2, 1, 10)),
            run("v-2", "u-2", started="02:00:00", progress={"itemsBackedUp": 30, "totalItems": 40}),
            nab("c-full", veleroBackup=copied(3, 1, 1)),
            nab("d-empty", veleroBackup=copied(4, 0, 0)),
            nab("e-none"),
        ],
    )
    assert {name: (cell.text, cell.drawing) for name, cell in table.cells("progress").items()} == {
        "a-half": ("50%", ShareBar(500)),
        "b-live": ("75%", ShareBar(750)),
        "c-full": ("100%", ShareBar(1000)),
        "d-empty": ("", None),
        "e-none": ("", None),
    }
    assert table.names("progress") == ["a-half", "b-live", "c-full", "d-empty", "e-none"]
    shares = [table.model.view.column("progress").sort(entry) for _, entry in table.model.table]
    assert sorted(share for share in shares if share is not None) == [0.5, 0.75, 1.0]
    assert len(shares) == 5
    table.model.narrow("75%")
    assert [row.key.name for row in table.rows()] == ["b-live"]


def test_rows_sort_by_age() -> None:
    table = Shown("nonadmin", [nab("a", created="01:00:00"), nab("b", created="02:40:00"), nab("c", created="")])
    assert {name: cell.text for name, cell in table.cells("age").items()} == {"a": "1h41m", "b": "1m", "c": ""}
    assert table.names("age") == ["b", "a", "c"]


def test_a_row_follows_its_velero_object_by_its_mark_whatever_that_is_called() -> None:
    unnamed = nab("x", veleroBackup={"nacuuid": "u-1", "namespace": "velero"})
    table = Shown("nonadmin", [unnamed, run("v-0", "u-1", started="02:00:00")])
    assert table.cells("velero")["x"].text == "InProgress"
    ended = run("v-0", "u-1", "Completed", started="02:00:00", ended="02:10:00")
    table.store.sink(WatchScope("prod", BACKUP), table.clock).apply("MODIFIED", ended)
    table.model.pump()
    assert table.cells("velero")["x"].text == "Completed"
