from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from foretop.panes.schedule_pane import schedule_pane
from foretop_core.clock import ManualClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.errors import BadInput
from foretop_core.kube.watching.watch_sink import EventType, WatchScope
from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupStorageLocation,
    Namespace,
    NonAdminBackup,
    NonAdminRestore,
    Pod,
    Restore,
    Schedule,
    from_builtins,
)
from foretop_core.models.kinds import BACKUP, NAMESPACE, by_name
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.pages import PAGES
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.triage import Thresholds
from foretop_core.rules.triage.storage import unavailable_locations
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.rows import ObjectRows
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph, Tone, ascii_only, badness
from foretop_core.tables.engine.view import Cell, Column, Row, UnreadableRow, View
from foretop_core.tables.resources.findings import COLUMNS as FINDINGS
from foretop_core.tables.text import times
from tests import recordings
from tests.examples import sampled
from tests.objects import NOW, at, backup, condition, location, nab, nar, restore, schedule, upload
from tests.tui.fake_source import FilledSource

VIEWS: dict[str, type[View[Any]]] = {
    page.id: view for page in PAGES.values() if page.view and issubclass(view := page.load_view(), View)
}
IDENTITY = {"context", "kind", "namespace", "name", "phase"}
CONTRACT = {
    "schedules": IDENTITY
    | {"schedule", "paused", "skipImmediately", "lastBackup", "lastSkipped"}
    | {"nextRun", "due", "expectedStart", "lastOutcome"},
    "nonadmin": IDENTITY | {"conditions", "veleroName", "veleroPhase", "queuePosition", "liveQueuePosition", "started"},
    "queue": IDENTITY | {"position", "waitingPosition", "owner", "blockedBy", "expectedStart"},
    "backups": IDENTITY,
    "restores": IDENTITY,
    "storage": IDENTITY,
    "pods": IDENTITY
    | {"role", "phase", "status", "readyContainers", "containers", "restarts", "lastExit", "node", "created"},
    "movements": IDENTITY
    | {"phase", "volume", "backup", "restore", "node", "bytesDone", "bytesTotal", "bytesNew", "secondsLeft", "message"},
    "repositories": IDENTITY | {"phase", "volumeNamespace", "storageLocation", "type", "maintained", "message"},
    "protection": IDENTITY
    | {"exists", "state", "newestCopy", "newestCopyAt", "newestCopyComplete", "promisedSince", "lateFrom", "goodCopies"}
    | {"partialCopies", "copiesOutOfReach", "nextExpiry", "lastExpiry", "nextRun", "refusedRun", "schedules"}
    | {"nonAdminBackups", "covers", "volumes"}
    | {"storageLocations", "unavailableLocations", "repositories", "lastRestored", "lastDrill"},
}


class Shown:
    """One view over a store that was filled from a file."""

    def __init__(self, name: str, objects: Iterable[Resource], now: datetime = NOW) -> None:
        source = FilledSource(list(objects), ("prod",), now)
        self.clock, self.store = source.manual, source.store
        self.state = DashboardState(source, lambda: 0.0)
        self.model = StoreTableModel(self.state, VIEWS[name]())

    def render_context(self) -> RenderContext:
        self.state.begin_frame()
        return self.state.render_context("prod")

    def rows(self) -> list[Row]:
        self.state.begin_frame()
        return self.model.paint(0, 1000)

    def text(self, *columns: str) -> list[list[str]]:
        """The glyph and these columns of every row."""
        places = [[column.name for column in self.model.columns].index(name) for name in columns]
        return [[row.mark.value, *(row.cells[place].text for place in places)] for row in self.rows()]

    def cells(self, column: str) -> dict[str, Cell]:
        """What a column shows of every object, by its name."""
        place = [one.name for one in self.model.columns].index(column)
        return {row.key.name: row.cells[place] for row in self.rows()}

    def names(self, by: str, *, reverse: bool = False) -> list[str]:
        """All rows, in the order of a column."""
        self.model.sort(by, reverse=reverse)
        return [row.key.name for row in self.rows()]

    def items(self) -> list[dict[str, Any]]:
        self.state.begin_frame()
        return [self.model.item(key) for key, _ in self.model.ordered()]


def test_schedules_show_their_next_run_or_why_there_is_none() -> None:
    shown = Shown(
        "schedules",
        [
            schedule("a-late", "0 * * * *", last="01:00:03", skip=False),
            backup("a-late-20261115010003", "InProgress", created="01:00:03", started="01:00:03", of="a-late"),
            schedule("b-good", "30 2 * * *", last="02:30:03", skip=False),
            backup("b-good-20261115023003", created="02:30:03", started="02:30:03", ended="02:31:00", of="b-good"),
            schedule("c-held", "*/30 * * * *", last="2026-11-12T02:00:03Z", paused=True),
            schedule("d-held", "0 6 * * 1", last="2026-11-09T06:00:03Z", paused=True, skip=True),
            schedule("e-wrong", "0 0 * * 8", phase="FailedValidation"),
            schedule("f-never", "0 0 31 2 *"),
            schedule("g-waits", "40 * * * *", last="02:40:03", skip=False),
            backup("g-waits-20261115024003", "Queued", created="02:40:03", of="g-waits"),
        ],
    )
    assert shown.text("name", "next", "at", "last", "runs", "skip") == [
        ["✗", "a-late", "overdue 41m", "02:00", "1h41m running", "◐×", "no"],
        ["●", "b-good", "in 23h48m", "Mon 02:30", "11m good", "▃", "no"],
        ["‖", "c-held", "paused, due", "due", "3d", "none left", "server: ?"],
        ["‖", "d-held", "paused, else in 1d3h", "", "5d", "none left", "yes, once"],
        ["✗", "e-wrong", "invalid cron", "", "never", "makes none", "server: ?"],
        ["✗", "f-never", "every minute", "", "never", "makes none", "server: ?"],
        ["○", "g-waits", "in 58m", "03:40", "1m waiting", "○", "no"],
    ]
    assert shown.cells("at")["b-good"].briefs == ("Mon",), "the clock alone would read as past"


def test_an_ambiguous_schedule_has_no_next_run_until_the_release_is_known() -> None:
    both = schedule("both", "0 2 1 * 1", created="2026-11-10T00:00:00Z")
    shown = Shown("schedules", [both])
    assert shown.text("name", "next") == [["▲", "both", "2 readings"]]
    (item,) = shown.items()
    assert (item["nextRun"], item["due"], item["expectedStart"]) == (None, None, None)
    assert [(one["releases"], one["nextRun"]) for one in item["readings"]] == [
        ("Velero up to 1.18.2", "2026-11-16T02:00:00Z"),
        ("Velero 1.18.3 and later", "2027-02-01T02:00:00Z"),
    ]
    # Another schedule of the same server shows its release: all rows are derived again.
    shown.store.fill("prod", [both, schedule("wraps", "0 22-2 * * *")], shown.clock)
    shown.model.pump()
    assert shown.text("name", "next")[0] == ["●", "both", "in 77d"]
    assert "readings" not in shown.items()[0]


def test_the_last_runs_of_a_schedule_show_outcomes_and_missing_runs() -> None:
    def run(hour: int, phase: str = "Completed", **status: Any) -> Resource:
        time = f"{hour:02}:00:03"
        return backup(f"h-{hour}", phase, created=time, started=time, ended=f"{hour:02}:05:00", of="h", **status)

    made = [run(1, warnings=2), run(3, "PartiallyFailed"), run(4, "Failed"), run(7, "FailedValidation"), run(8)]
    shown = Shown("schedules", [schedule("h", "0 * * * *", last="08:00:03"), *made], at("08:30"))
    assert shown.text("runs", "outcome") == [["●", "w×PF××V▃", "Completed"]]


def velero(name: str, uuid: str, **status: Any) -> dict[str, Any]:
    return {"name": name, "namespace": "velero", "nacuuid": uuid, **({"status": status} if status else {})}


def queue_of_tenants() -> list[Resource]:
    labels = "openshift.io/oadp-nab-origin-nacuuid"
    progress = {"itemsBackedUp": 61, "totalItems": 100}
    yes = [condition("Accepted", "True", "BackupAccepted"), condition("Queued", "True", "BackupScheduled")]
    return [
        backup("v-1", "InProgress", created="02:37:00", started="02:37:01", labels={labels: "u-1"}, progress=progress),
        backup("v-2", "Queued", created="02:38:00", labels={labels: "u-2"}, queuePosition=1),
        backup("v-3", "Completed", created="01:00:00", ended="01:10:00", labels={labels: "u-3"}),
        nab("running", created="02:37:00", conditions=yes, veleroBackup=velero("v-1", "u-1", phase="New")),
        nab("waiting", created="02:38:00", conditions=yes, veleroBackup=velero("v-2", "u-2")),
        nab("served", created="01:00:00", conditions=yes, veleroBackup=velero("v-3", "u-3")),
        nab("refused", "BackingOff", conditions=[condition("Accepted", "False", "InvalidBackupSpec")]),
        nab(
            "unread",
            conditions=yes,
            veleroBackup=velero("x", "u-9", phase="New"),
            queueInfo={"estimatedQueuePosition": 3},
        ),
        nar("back", conditions=yes),
    ]


def test_a_team_sees_where_its_backup_is() -> None:
    shown = Shown("nonadmin", queue_of_tenants())
    shown.model.sort("name", reverse=False)
    assert shown.text("name", "phase", "conditions", "velero", "queue", "progress", "age") == [
        ["○", "↺ back", "Created", "✓✓·", "–", "–", "", "41m"],
        ["▲", "refused", "BackingOff", "✗··", "–", "–", "", "41m"],
        ["◐", "running", "Created", "✓✓·", "InProgress", "running", "61%", "4m"],
        ["●", "served", "Created", "✓✓·", "Completed", "–", "", "1h41m"],
        ["○", "unread", "Created", "✓✓·", "New", "~3", "", "41m"],
        ["○", "waiting", "Created", "✓✓·", "Queued", "1st waiting", "", "3m"],
    ]
    places = {item["name"]: item["liveQueuePosition"] for item in shown.items()}
    assert places == {"back": None, "refused": None, "running": 1, "served": 0, "unread": None, "waiting": 2}


def test_when_a_backup_ends_its_row_changes_and_those_behind_it_say_their_new_places() -> None:
    shown = Shown("nonadmin", queue_of_tenants())
    sink = shown.store.sink(WatchScope("prod", BACKUP), shown.clock)
    ended = backup(
        "v-1",
        "Completed",
        created="02:37:00",
        started="02:37:01",
        ended="02:41:00",
        labels={"openshift.io/oadp-nab-origin-nacuuid": "u-1"},
    )
    sink.apply("MODIFIED", ended)
    shown.model.pump()
    assert shown.model.table.derived == 1
    shown.model.narrow("name:waiting")
    assert shown.text("queue") == [["○", "1st waiting"]]


def test_when_a_backup_becomes_unreadable_the_rows_behind_it_are_recounted() -> None:
    shown = Shown("nonadmin", queue_of_tenants())
    shown.store.sink(WatchScope("prod", BACKUP), shown.clock).unreadable("velero", "v-1", "status: broken")
    shown.model.pump()
    fresh: ObjectRows[Any] = ObjectRows(shown.model.view, shown.store, ["prod"])
    assert list(shown.model.table) == list(fresh)
    shown.model.narrow("name:waiting")
    assert shown.text("queue") == [["○", "1st waiting"]]


def test_the_queue_is_shown_in_velero_s_order() -> None:
    spec = {"includedNamespaces": ["team-pay"]}
    shown = Shown(
        "queue",
        [
            backup("second", "Queued", created="02:40:00", queuePosition=2),
            backup("first", "Queued", created="02:40:03", queuePosition=1, spec=spec),
            backup("runs", "InProgress", created="02:39:00", started="02:39:01", of="hourly", spec=spec),
            backup("done", created="01:00:00", ended="01:10:00"),
            restore("back", "InProgress"),
        ],
    )
    assert shown.text("position", "name", "from", "phase") == [
        ["◐", "▶", "runs", "schedule hourly", "InProgress"],
        ["○", "1", "first", "by hand", "Queued"],
        ["○", "2", "second", "by hand", "Queued"],
        ["◐", "▶", "↺ back", "by hand", "InProgress"],
    ]
    assert shown.text("when", "waits")[0][1].startswith("2m → ")
    assert [row[1:] for row in shown.text("when", "waits")[1:3]] == [
        ["not known", "hourly: same namespace team-pay"],
        ["not known", "first: same namespace team-pay"],
    ]
    blocked = {item["name"]: item["blockedBy"] for item in shown.items()}
    assert blocked["first"] == ["runs"]
    assert {item["name"]: item["position"] for item in shown.items()} == {"runs": 1, "first": 2, "second": 3, "back": 1}


def test_a_different_reported_position_does_not_change_the_one_shown() -> None:
    frozen = nab("waiting", veleroBackup=velero("v-2", "u-2"), queueInfo={"estimatedQueuePosition": 7})
    others = [item for item in queue_of_tenants() if item.name != "waiting"]
    shown = Shown("nonadmin", [*others, frozen])
    shown.model.narrow("name:waiting")
    assert shown.text("queue") == [["○", "1st waiting"]]


def test_a_run_whose_items_are_done_shows_its_data_in_every_table() -> None:
    done = {"itemsBackedUp": 100, "totalItems": 100}
    uuid = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    run = backup("v-1", "InProgress", created="02:37:00", started="02:37:01", labels=uuid, progress=done)
    moving = upload(of="v-1", phase="InProgress", progress={"bytesDone": 43, "totalBytes": 100})
    tenants = nab("mine", veleroBackup=velero("v-1", "u-1"))
    assert Shown("queue", [run, moving]).text("items") == [["◐", "data 43%"]]
    assert Shown("nonadmin", [run, moving, tenants]).text("progress") == [["◐", "data 43%"]]
    assert Shown("queue", [run]).text("items") == [["◐", "100%"]]


def test_nothing_expires_of_a_backup_that_was_refused() -> None:
    end = "2026-12-14T02:41:07Z"
    refused = backup("refused", "FailedValidation", expiration=end)
    failed = backup("failed", "Failed", expiration=end)
    shown = Shown("backups", [refused, failed])
    assert {row[1]: row[2] for row in shown.text("name", "expires")} == {"refused": "", "failed": "in 29d"}


@pytest.mark.parametrize("phase", ["PartiallyFailed", "Failed", "FailedValidation"])
def test_an_outcome_has_one_colour_in_every_table(phase: str) -> None:
    run = backup("h-1", phase, created="02:00:03", started="02:00:03", ended="02:10:00", of="h")
    tones = {
        row.cells[place].tone
        for name, title in (("schedules", "last"), ("schedules", "outcome"), ("backups", "phase"))
        for shown in [Shown(name, [schedule("h", "0 * * * *", last="02:00:03"), run])]
        for place in [[column.name for column in shown.model.view.columns].index(title)]
        for row in shown.rows()
    }
    assert len(tones) == 1


def test_what_went_well_is_muted_and_what_is_refused_has_a_colour() -> None:
    shown = Shown("nonadmin", queue_of_tenants())
    shown.model.sort("name", reverse=False)
    places = [[column.name for column in shown.model.view.columns].index(name) for name in ("phase", "velero")]
    tones = {row.cells[1].text: tuple(row.cells[place].tone for place in places) for row in shown.rows()}
    assert tones["refused"][0] is Tone.WARN
    assert tones["served"] == (Tone.PLAIN, Tone.DIM)
    assert [row.cells[2].tone for row in Shown("backups", [backup("one")]).rows()] == [Tone.DIM]
    assert ascii_only("a…") == "a~"


def run(hour: int) -> Resource:
    time = f"{hour:02}:00:03"
    return backup(f"h-{hour}", created=time, started=time, ended=f"{hour:02}:05:00", of="h")


def test_a_pause_is_one_sign() -> None:
    wrote = [{"manager": "velero", "time": "2026-11-15T17:40:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}]
    runs = [run(hour) for hour in (*range(1, 10), 18, 20)]
    unpaused = schedule("h", "0 * * * *", last="20:00:03", managedFields=wrote)
    assert Shown("schedules", [unpaused, *runs], at("20:30")).text("runs") == [["●", "▃▃▃▃▃▃‖▃×▃"]]
    never = schedule("h", "0 * * * *", last="20:00:03")
    assert Shown("schedules", [never, *runs], at("20:30")).text("runs") == [["●", "×××××××▃×▃"]]


def test_a_pause_that_goes_on_or_has_just_ended_is_in_the_strip_before_the_next_run_is_made() -> None:
    runs = [run(hour) for hour in (1, 2, 3)]
    paused = schedule("h", "0 * * * *", last="03:00:03", paused=True)
    assert Shown("schedules", [paused, *runs], at("03:30")).text("runs") == [["‖", "▃▃▃"]]
    assert Shown("schedules", [paused, *runs], at("09:30")).text("runs") == [["‖", "▃▃▃‖"]]
    skipped = schedule("h", "0 * * * *", last="03:00:03", skipped="09:20:00")
    assert Shown("schedules", [skipped, *runs], at("09:30")).text("runs") == [["●", "▃▃▃‖"]]


def test_what_a_skip_ended_stays_a_pause_when_the_schedule_is_paused_again() -> None:
    runs = [run(hour) for hour in (1, 2, 9)]
    again = schedule("h", "0 * * * *", last="09:00:03", skipped="08:20:00", paused=True)
    assert Shown("schedules", [again, *runs], at("09:30")).text("runs") == [["‖", "▃▃‖▃"]]


def test_the_age_and_the_outcome_of_the_last_backup_are_of_the_same_one() -> None:
    hourly = schedule("h", "0 * * * *", last="02:00:03")
    by_hand = backup("h-now", "Queued", created="02:40:00", of="h")
    assert Shown("schedules", [hourly, run(2), by_hand]).text("last", "runs") == [["○", "1m waiting", "▃○"]]
    # One that Velero made later and that is not to be seen has no outcome here.
    assert Shown("schedules", [hourly, run(1)]).text("last") == [["●", "41m"]]


def test_a_stalled_backup_shows_for_how_long() -> None:
    moving = upload(of="slow", phase="InProgress")
    shown = Shown("queue", [backup("slow", "InProgress", created="02:00:00", started="02:00:01"), moving])
    shown.clock.set(at("03:19:07"))
    assert shown.text("name", "when") == [["◐", "slow", "stalled 38m"]]


def test_backups_are_listed_newest_first_with_their_outcome() -> None:
    shown = Shown(
        "backups",
        [
            backup("old", "PartiallyFailed", started="2026-11-14T22:00:03Z", ended="2026-11-14T22:12:03Z", errors=3),
            backup("new", started="01:40:03", ended="01:44:05", of="s", warnings=1, expiration="2026-12-15T01:40:03Z"),
            backup("odd", "Marinating", created="2026-11-13T00:00:00Z"),
        ],
    )
    assert shown.text("name", "phase", "errors", "warnings", "started", "took", "expires", "from") == [
        ["●", "new", "Completed", "0", "1", "01:40:03", "4m2s", "in 29d", "schedule s"],
        ["▲", "old", "PartiallyFailed", "3", "0", "Sat 22:00", "12m", "", "by hand"],
        ["·", "odd", "Marinating", "", "", "", "", "", "by hand"],
    ]


def test_a_location_without_recent_checks_is_not_healthy() -> None:
    shown = Shown("storage", [location("s3")])
    assert shown.text("phase", "what") == [["●", "Available", ""]]
    shown.clock.advance(timedelta(minutes=26))
    assert shown.text("phase", "what") == [["▲", "Available", "not checked for 26 minutes"]]


def test_a_location_that_is_unavailable_stays_so_without_recent_checks() -> None:
    shown = Shown("storage", [location("s3", "Unavailable", message="denied")])
    shown.clock.advance(timedelta(minutes=26))
    assert shown.text("phase", "what") == [["✗", "Unavailable", "denied"]]


def test_a_location_with_disabled_checks_is_not_a_problem() -> None:
    shown = Shown("storage", [location("s3", spec={"validationFrequency": "0s", "backupSyncPeriod": "0s"})])
    shown.clock.advance(timedelta(minutes=26))
    assert shown.text("phase", "what") == [["●", "Available", ""]]


def test_no_schedule_is_healthy_while_velero_has_no_heartbeat() -> None:
    shown = Shown("schedules", [location("s3"), schedule("daily", "0 6 * * *", last="2026-11-14T06:00:03Z")])
    assert shown.text("name") == [["●", "daily"]]
    shown.clock.advance(timedelta(minutes=26))
    assert shown.text("name") == [["▲", "daily"]]


def test_a_storage_location_tells_a_known_error_in_the_words_of_triage() -> None:
    """It began with the raw error, cut where the cause would be."""
    place = location("offsite", "Unavailable", message="rpc error: code = Unknown desc = api error NoSuchBucket: gone")
    (found,) = unavailable_locations(assemble([place]), NOW, Thresholds())
    assert Shown("storage", [place]).text("what") == [["✗", found.what]] == [["✗", "bucket does not exist"]]


def test_a_storage_location_shows_its_problem() -> None:
    places = [location(), location("s3-us", "Unavailable", message="access\ndenied \x1b[31m", synced="00:41:00")]
    shown = Shown("storage", places)
    assert shown.text("name", "phase", "checked", "synced", "mode", "default", "what") == [
        ["●", "default", "Available", "4s", "4s", "ReadWrite", "yes", ""],
        ["✗", "s3-us", "Unavailable", "4s", "2h", "ReadWrite", "no", "access\\ndenied \\x1b[31m"],
    ]


def test_the_item_of_a_storage_location_has_its_prefix_and_region_where_they_are_set() -> None:
    spec = {"objectStorage": {"bucket": "backups", "prefix": "prod"}, "config": {"region": "eu-central-1"}}
    bare, full = Shown("storage", [location("bare"), location("full", spec=spec)]).items()
    assert (bare["prefix"], bare["region"]) == (None, None)
    assert (full["prefix"], full["region"]) == ("prod", "eu-central-1")


def test_a_movement_shows_its_share_in_full_and_in_short_as_soon_as_its_size_is_known() -> None:
    begun = upload("begun", "InProgress")
    quarter = upload("quarter", "InProgress", progress={"bytesDone": 30, "totalBytes": 120})
    shown = Shown("movements", [begun, quarter])
    place = [column.name for column in shown.model.columns].index("progress")
    cells = {row.key.name: row.cells[place] for row in shown.rows()}
    assert (cells["begun"].text, cells["begun"].briefs) == ("", ())
    assert cells["quarter"].text.endswith("  25%")
    assert cells["quarter"].briefs == ("25%",)


_SHOWN = {**{name: view().columns for name, view in VIEWS.items()}, "findings": FINDINGS}


def _columns(wanted: Callable[[Column[Any]], bool]) -> dict[str, list[str]]:
    """By view, the columns of a sort; views without one are left out."""
    found = {name: [column.name for column in columns if wanted(column)] for name, columns in _SHOWN.items()}
    return {name: names for name, names in found.items() if names}


_FLAGS: Mapping[str, Mapping[str, list[str]]] = {
    "wide": {
        "schedules": ["namespace", "meaning", "wait", "phase", "outcome"],
        "nonadmin": ["object"],
        "queue": ["namespace"],
        "backups": ["namespace", "items"],
        "restores": ["namespace"],
        "storage": ["namespace", "bucket", "prefix", "region"],
        "pods": ["namespace"],
        "movements": ["namespace", "kind"],
        "repositories": ["namespace"],
        "protection": ["method", "storage", "repository"],
        "findings": ["namespace"],
    },
    "right": {
        "schedules": ["next", "wait", "last", "usual"],
        "nonadmin": ["age"],
        "queue": ["position", "in", "at"],
        "backups": ["errors", "warnings", "started", "took", "volumes", "size", "items"],
        "restores": ["errors", "warnings", "started", "items", "took"],
        "storage": ["checked", "synced"],
        "pods": ["ready", "age"],
        "movements": ["left", "rate", "size"],
        "repositories": ["maintained"],
        "protection": ["newest", "copies", "next", "volumes", "size"],
        "findings": ["since"],
    },
    "falls": {
        "schedules": ["last"],
        "backups": ["started", "volumes", "size"],
        "restores": ["started"],
        "storage": ["checked", "synced"],
        "pods": ["age"],
        "repositories": ["maintained"],
        "protection": ["promise", "newest", "volumes", "size", "tried"],
        "findings": ["severity", "since"],
    },
    "from_middle": {
        "schedules": ["name"],
        "nonadmin": ["namespace", "name", "object"],
        "queue": ["name"],
        "backups": ["name", "storage"],
        "restores": ["name", "backup", "into"],
        "storage": ["name"],
        "pods": ["name"],
        "movements": ["name", "run"],
        "repositories": ["name"],
        "protection": ["name"],
        "findings": ["subject"],
    },
    "alike": {"queue": ["from"], "backups": ["from"], "restores": ["from"]},
}
"""By a flag of `Column`, the columns of each view that have it: whoever sets one says so here."""


@pytest.mark.parametrize("flag", _FLAGS)
def test_the_columns_with_a_flag(flag: str) -> None:
    assert _columns(lambda column: getattr(column, flag)) == _FLAGS[flag]


def test_a_column_of_ages_has_the_room_of_the_longest_from_the_start() -> None:
    """Else a column would go from the screen when a minute passes, or one more would have had room."""
    longest = max(len(times.age(NOW - timedelta(minutes=minutes), NOW)) for minutes in range(48 * 60))
    names = {"last", "age", "newest", "checked", "synced", "maintained", "since"}
    ages = _columns(lambda column: column.name in names)
    assert ages == {
        "schedules": ["last"],
        "nonadmin": ["age"],
        "storage": ["checked", "synced"],
        "pods": ["age"],
        "repositories": ["maintained"],
        "protection": ["newest"],
        "findings": ["since"],
    }
    assert {column.cells for view, named in ages.items() for column in _SHOWN[view] if column.name in named} == {
        longest
    }


def test_all_views_can_be_put_under_namespaces_but_those_with_an_order_of_their_own() -> None:
    assert {name for name, view in VIEWS.items() if not view.in_groups} == {"queue", "protection"}


_OTHERS: list[Resource] = [
    from_builtins(
        Pod,
        {
            "metadata": {"name": "velero-0", "namespace": "velero", "labels": {"deploy": "velero"}},
            "spec": {"containers": [{"name": "velero"}]},
        },
    ),
    from_builtins(BackupRepository, {"metadata": {"name": "shop", "namespace": "velero"}}),
    from_builtins(Namespace, {"metadata": {"name": "shop"}}),
]


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_every_item_has_the_fields_of_the_contract(name: str) -> None:
    everything = [*queue_of_tenants(), schedule(), schedule("new", phase=""), restore(), location(), upload(), *_OTHERS]
    items = Shown(name, everything).items()
    assert items
    for item in items:
        assert set(item) >= CONTRACT[name]
        assert item["context"] == "prod"
    assert not any(item["phase"] == "" for item in items)


def test_a_nab_tells_when_its_backup_started() -> None:
    """That of its own creation is another time: it may have waited in the queue for an hour."""
    ran = {**velero("v-1", "u-1"), "status": {"phase": "Completed", "startTimestamp": "2026-11-15T02:38:00Z"}}
    shown = Shown("nonadmin", [nab("one", created="01:00:00", veleroBackup=ran)])
    assert shown.text("name", "started")[0][1:] == ["one", "15 Nov 02:38"]
    assert shown.items()[0]["started"] == "2026-11-15T02:38:00Z"


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_an_object_that_cannot_be_read_is_one_bad_row_with_its_name(name: str) -> None:
    shown = Shown(name, [*queue_of_tenants(), schedule(), restore(), location()])
    before = len(shown.model.table)
    kind = by_name(sorted(shown.model.view.kinds)[0])
    assert kind is not None
    shown.store.sink(WatchScope("prod", kind), shown.clock).unreadable(
        "velero", "bad\x1b", "spec: Expected object, got str"
    )
    shown.model.pump()
    assert len(shown.model.table) == before + 1
    row = shown.rows()[-1]
    assert row.mark is StatusGlyph.BROKEN
    assert "bad\\x1b" in [cell.text for cell in row.cells]
    assert any("unreadable: spec: Expected object" in cell.text for cell in row.cells)
    assert shown.items()[-1]["unreadable"].startswith("spec")
    shown.model.narrow("expected")
    assert len(shown.model.table) == 1


@pytest.mark.parametrize(
    "text", ["PartFailed", "phase:PartFailed", "phase:partf", "PartiallyFailed", "phase:PartiallyFailed"]
)
def test_a_phase_is_found_in_the_letters_that_the_column_shows(text: str) -> None:
    shown = Shown("backups", [backup("a", "Completed"), backup("b", "PartiallyFailed"), backup("c", "Failed")])
    shown.model.narrow(text, typing=True)
    assert shown.text("name") == [["▲", "b"]]


def test_filters_support_the_fields_of_their_view() -> None:
    shown = Shown("schedules", [schedule("a", paused=True), schedule("b", "@every 1h"), schedule("c", phase="")])
    shown.model.narrow("paused:true")
    assert [row.key.name for row in shown.rows()] == ["a"]
    shown.model.narrow("phase:New")
    assert [row.key.name for row in shown.rows()] == ["c"]
    shown.model.narrow("@every")
    assert [row.key.name for row in shown.rows()] == ["b"]
    with pytest.raises(BadInput, match="the fields are"):
        shown.model.narrow("colour:red")
    assert shown.model.filter_text == "@every"
    with pytest.raises(BadInput, match="the columns are"):
        shown.model.sort("colour", reverse=False)


@pytest.mark.parametrize("recording", sampled(recordings.NAMES, "nonadmin", "overlap", "queue", "upgrade"))
def test_incremental_rows_equal_those_derived_from_scratch(recording: str) -> None:
    store, clock = Store(), ManualClock(NOW)
    tables: list[ObjectRows[Any]] = [ObjectRows(view(), store, ["box"]) for view in VIEWS.values()]
    for number, event in enumerate(recordings.events(recording)):
        clock.set(event.t)
        store.sink(WatchScope("box", event.kind), clock).apply(cast(EventType, event.type), event.object)
        if number % 7 == 0:
            for live in tables:
                live.pump()
    for live in tables:
        live.pump()
        fresh: ObjectRows[Any] = ObjectRows(live.view, store, ["box"])
        assert list(live) == list(fresh), live.view.name


def test_rows_that_nobody_judges_do_not_change_with_time() -> None:
    shown = Shown("backups", [backup("one")])
    rows: ObjectRows[Any] = ObjectRows(shown.model.view, shown.store, ["prod"])
    assert not rows.judge_again(5)


def test_a_changed_backup_derives_only_its_own_row_and_its_schedule() -> None:
    many = [backup(f"b-{number}", created="01:00:00", ended="01:01:00") for number in range(500)]
    shown = Shown("backups", [*many, schedule("s"), *[schedule(f"s-{number}") for number in range(50)]])
    schedules: ObjectRows[Any] = ObjectRows(VIEWS["schedules"](), shown.store, ["prod"])
    sink = shown.store.sink(WatchScope("prod", BACKUP), shown.clock)
    for phase in ("Queued", "InProgress", "Completed"):
        sink.apply("MODIFIED", backup("b-7", phase, of="s"))
    changed = shown.model.pump()
    schedules.pump()
    assert (shown.model.table.derived, schedules.derived) == (1, 1)
    assert changed
    assert not shown.model.pump()


def test_a_table_shows_its_own_clusters_only() -> None:
    shown = Shown("backups", [backup("mine")])
    shown.store.fill("other", [backup("theirs")], shown.clock)
    shown.model.pump()
    assert [row.key for row in shown.rows()] == [ObjectRef("prod", "Backup", "velero", "mine")]
    shown.model.close()
    shown.store.fill("prod", [backup("late")], shown.clock)
    assert not shown.model.pump()


def test_what_is_not_judged_stands_with_what_is_good() -> None:
    assert badness(StatusGlyph.UNSET) == badness(StatusGlyph.HEALTHY) > badness(StatusGlyph.BROKEN) == 0


def test_every_glyph_has_an_ascii_letter() -> None:
    assert all(ascii_only(mark.value).isascii() for mark in StatusGlyph)
    assert ascii_only("▇▇▇▁▁ 61% … –").isascii()


def pane_of(*objects: Resource) -> str:
    shown = Shown("schedules", objects)
    ((_, entry),) = shown.model.table
    assert not isinstance(entry, UnreadableRow)
    return " ".join(span.text for one in schedule_pane(entry, shown.render_context()) for span in one.spans)


def test_the_offset_of_a_run_on_another_day_is_told_in_seconds() -> None:
    assert "16 Nov 02:00Z, in 23 hours and 18 minutes; created 3 seconds later" in pane_of(
        location(), schedule(last="02:00:03")
    )
    assert "; created 03:00:03Z" in pane_of(location(), schedule(cron="0 * * * *", last="02:00:03"))


def test_a_run_that_has_just_become_due_is_not_in_no_seconds_and_names_what_may_hold_it() -> None:
    due = schedule("s", "*/5 * * * *", last="02:35:03", created="02:00:00")
    told = pane_of(location(), due, backup("s-1", "Queued", created="02:35:03", of="s"))
    assert "since 02:40:00Z; created within a minute of it, or when s-1 has ended" in told


@pytest.mark.parametrize(("ends", "held"), [("01:01:03", ""), ("01:50:03", ", or when s-2 has ended")])
def test_a_backup_is_named_as_in_the_way_of_the_next_run_only_where_it_runs_then(ends: str, held: str) -> None:
    """It was named whenever it had not ended, though the forecast had it done long before."""
    hourly = schedule("s", "0 * * * *", last="02:40:03", created="00:00:00")
    before = [
        backup("s-0", created="01:00:03", started="01:00:03", ended=ends, of="s"),
        backup("s-1", created="01:00:04", started="01:00:03", ended=ends, of="s"),
    ]
    last = backup("s-2", "InProgress", created="02:40:03", started="02:40:10", of="s")
    told = pane_of(location(), hourly, *before, last)
    assert f"03:00:00Z, in 18 minutes; created within a minute of it{held} " in f"{told} "


@pytest.mark.parametrize(("phase", "holds"), [("", True), ("New", True), ("Queued", False), ("Finalizing", False)])
def test_a_backup_that_has_not_begun_is_in_the_way_of_the_next_run_unless_it_is_queued(phase: str, holds: bool) -> None:
    """Velero's overlap guard goes by New and by no phase at all, as every waiting backup has it before 1.18."""
    hourly = schedule("s", "0 * * * *", last="02:40:03", created="00:00:00")
    long = [
        backup(f"y-{number}", created=f"{day}T02:00:03Z", started=f"{day}T02:00:03Z", ended=f"{day}T05:00:03Z")
        for number, day in enumerate(("2026-11-12", "2026-11-13"))
    ]
    works = backup("y-2", "InProgress", created="02:00:03", started="02:00:03", of="y")
    waits = backup("s-2", phase, created="02:40:03", position=1 if phase == "Queued" else None, of="s")
    told = pane_of(location(), hourly, *long, works, waits)
    assert ("03:00:00Z, in 18 minutes; created within a minute of it, or when s-2 has ended" in told) is holds


def test_a_nab_whose_velero_backup_is_gone_does_not_show_its_old_phase() -> None:
    gone = {"type": "Accepted", "status": "False", "reason": "VeleroBackupNotFound", "message": "not found"}
    copied = {"name": "v-1", "namespace": "velero", "status": {"phase": "Completed", "progress": {"totalItems": 9}}}
    shown = Shown("nonadmin", [nab("lost", phase="BackingOff", conditions=[gone], veleroBackup=copied)])
    assert shown.text("velero", "progress") == [["▲", "–", ""]]


def test_what_is_asked_between_two_frames_is_answered_from_the_objects_as_they_are() -> None:
    """An older snapshot has no protection at hand: it would be worked out from all objects, at each key."""
    shown = Shown("nonadmin", [nab("mine")])
    before = shown.render_context()
    assert shown.state.render_context("prod") is before
    shown.store.sink(WatchScope("prod", NAMESPACE), shown.clock).apply(
        "ADDED", from_builtins(Namespace, {"metadata": {"name": "new"}})
    )
    after = shown.state.render_context("prod").snapshot
    assert after is shown.store.snapshot("prod")
    assert after.protection is shown.store.snapshot("prod").protection
    assert before.snapshot.protection is not after.protection, "what was asked for earlier stays as it was"


def test_a_moment_works_out_a_schedule_once_and_the_next_version_of_it_anew() -> None:
    nightly, weekly = schedule("nightly", "0 2 * * *"), schedule("nightly", "0 2 * * 0")
    moment = Shown("schedules", [nightly]).render_context()
    assert moment.schedule(nightly) is moment.schedule(nightly)
    assert moment.schedule(weekly).schedule is weekly


_OWN = [*(sign.value for sign in StatusGlyph if sign is not StatusGlyph.UNSET), RESTORE_GLYPH, "│", "▶", "█"]
_FORGED = "".join(f"{sign}@" for sign in _OWN)
"""Each sign has a mark behind it, so that it is told from foretop's own."""


@pytest.mark.parametrize("view", VIEWS)
def test_no_column_has_a_sign_of_foretop_that_somebody_else_has_written(view: str) -> None:
    meta = {"name": _FORGED, "namespace": "velero"}
    status = {"phase": _FORGED, "message": _FORGED, "failureReason": _FORGED, "validationErrors": [_FORGED]}
    names = {"backupName": _FORGED, "scheduleName": _FORGED, "schedule": _FORGED, "storageLocation": _FORGED}
    waiting = {"phase": "Queued", "queuePosition": 1}
    objects = [
        from_builtins(Schedule, {"metadata": meta, "spec": names, "status": status}),
        from_builtins(Backup, {"metadata": meta, "spec": names, "status": status}),
        from_builtins(Backup, {"metadata": {**meta, "name": f"w{_FORGED}"}, "spec": names, "status": waiting}),
        from_builtins(Restore, {"metadata": meta, "spec": names, "status": {**status, "phase": "InProgress"}}),
        from_builtins(BackupStorageLocation, {"metadata": meta, "status": {**status, "phase": "Unavailable"}}),
        from_builtins(BackupRepository, {"metadata": meta, "status": {**status, "phase": "NotReady"}}),
        from_builtins(NonAdminBackup, {"metadata": meta, "status": status}),
        from_builtins(NonAdminRestore, {"metadata": meta, "status": status}),
    ]
    for row in Shown(view, objects).rows():
        for cell in row.cells:
            texts = (cell.text, *cell.briefs)
            assert not [sign for sign in _OWN for text in texts if f"{sign}@" in text], (row.key, texts)
