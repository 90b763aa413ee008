"""The rows of the queue and their items: estimates, what each run waits for, and the contract of `-o json`."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from foretop.commands.report import queue_items
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import SectionRow, StoreTableModel
from foretop_core.models import Backup, Deployment, Resource, Restore, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import QueueLine, RunState
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.facts.server_facts import ServerFacts
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Thresholds
from foretop_core.tables.engine.drawings import ShareBar, TimeBar
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view import UnreadableRow
from foretop_core.tables.resources.queue import QueueView, run_eta
from foretop_core.tables.resources.schedules import schedule_item
from tests.objects import NOW, at, backup, condition, location, nab, nar, restore, schedule, upload
from tests.tui.fake_source import FilledSource
from tests.unit.tables.test_views import Shown, velero

_SHOP: dict[str, Any] = {"includedNamespaces": ["shop"]}
_WIKI: dict[str, Any] = {"includedNamespaces": ["wiki"]}
_NAB = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
_TEAM = {"openshift.io/oadp-nab-origin-namespace": "team-a", "openshift.io/oadp-nab-origin-name": "orders"}


def server(concurrent: int) -> Deployment:
    container = {
        "name": "velero",
        "image": "velero/velero:v1.18.0",
        "args": ["server", f"--concurrent-backups={concurrent}"],
    }
    body = {
        "metadata": {"name": "velero", "namespace": "velero"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    return from_builtins(Deployment, body)


def _history(of: str, minutes: int) -> list[Backup]:
    """Three earlier runs of a schedule, each so long."""
    return [
        backup(
            f"{of}-{hour}", started=f"0{hour}:00:00", ended=f"0{hour}:{minutes:02}:00", created=f"0{hour}:00:00", of=of
        )
        for hour in (0, 1)
    ] + [backup(f"{of}-x", started="01:30:00", ended=f"01:{30 + minutes}:00", created="01:30:00", of=of)]


def _running(**more: Any) -> list[Resource]:
    """A backup that started at 02:36:07 and usually takes ten minutes."""
    return [
        location(),
        *_history("daily", 10),
        backup("runs", "InProgress", created="02:36:00", started="02:36:07", of="daily", spec=_SHOP, **more),
    ]


def _eta(table: Shown, name: str) -> tuple[str, str, str]:
    """What a row and its pane say."""
    run = next(entry for key, entry in table.model.table if key.name == name)
    assert not isinstance(run, UnreadableRow)
    found = table.render_context().facts(run)
    return run_eta(run, table.render_context()).text, render(found.told, NOW), found.waits_for


def test_a_run_that_waits_for_a_slot_has_an_expected_start() -> None:
    table = Shown("queue", [*_running(), backup("next", "Queued", created="02:40:00", queuePosition=1, spec=_WIKI)])
    assert _eta(table, "next") == (
        "~02:46",
        "Expected to start about 02:46Z, in 5 minutes.",
        "a free slot",
    )


def test_a_restore_waits_for_the_one_ahead_and_for_no_slot() -> None:
    """Restores run beside the slots of the backups, one after the other."""
    runs = restore("first", "InProgress", created="02:36:00", startTimestamp="2026-11-15T02:36:07Z")
    table = Shown("queue", [location(), runs, restore("second", "", created="02:40:00")])
    assert _eta(table, "second")[2] == "its turn, after first"
    (waits,) = [one for one in table.items() if one["name"] == "second"]
    assert waits["blockedWhy"] == "waits for its turn, after first"


def test_waits_are_drawn_up_to_the_last_end_that_is_expected() -> None:
    waiting = backup("daily-next", "Queued", created="02:40:00", queuePosition=1, of="daily", spec=_WIKI)
    table = Shown("queue", [*_running(), waiting])
    bar = table.cells("items")["daily-next"].drawing
    assert isinstance(bar, TimeBar)
    assert bar.wait > 0 < bar.run
    assert bar.wait + bar.run == 1000


def test_a_run_that_waits_for_a_namespace_is_held() -> None:
    table = Shown(
        "queue",
        [server(2), *_running(), backup("next", "Queued", created="02:40:00", queuePosition=1, spec=_SHOP)],
    )
    assert _eta(table, "next") == (
        "~02:46 held",
        "Expected to start about 02:46Z, in 5 minutes.",
        "daily: same namespace shop",
    )


def test_a_run_behind_another_waits_for_its_turn() -> None:
    waiting = [
        backup("first", "Queued", created="02:40:00", queuePosition=1, spec=_WIKI),
        backup("second", "Queued", created="02:40:30", queuePosition=2, spec={"includedNamespaces": ["blog"]}),
    ]
    short, told, waits_for = _eta(Shown("queue", [*_running(), *waiting]), "second")
    assert (short, waits_for) == ("not known", "its turn, after first")
    assert told.startswith("No estimate: ")


def test_what_a_run_waits_for_is_named_by_its_owners_and_no_more_than_two_of_them() -> None:
    held = [
        backup("hand", "InProgress", created="02:30:00", started="02:30:00", spec=_SHOP),
        backup("tenant", "InProgress", created="02:31:00", started="02:31:00", spec=_SHOP, annotations=_TEAM),
        backup("s-1", "InProgress", created="02:32:00", started="02:32:00", spec=_SHOP, of="s"),
    ]
    waits = backup("next", "Queued", created="02:40:00", queuePosition=1, spec=_SHOP)
    table = Shown("queue", [server(9), location(), *held[:2], waits])
    assert _eta(table, "next")[2] == "hand and team-a/orders: same namespace shop"
    table = Shown("queue", [server(9), location(), *held, waits])
    assert _eta(table, "next")[2] == "hand, team-a/orders and 1 more: same namespace shop"


def test_the_words_of_those_that_wait_leave_out_the_ones_that_velero_refuses() -> None:
    waits = [
        backup(name, "Queued", created="02:40:00", queuePosition=place, spec=spec, of="daily")
        for place, (name, spec) in enumerate({"next": _WIKI, "lost": _WIKI | {"storageLocation": "lost"}}.items(), 1)
    ]
    table = Shown("queue", [*_running(), location("lost", "Unavailable"), *waits])

    def words(*runs: Backup) -> str:
        return table.model.view.section_words("WAITING", runs, table.render_context())

    assert words(waits[0]) == "1, all started by 02:46, all done by 02:56; IN, AT: start"
    assert words(*waits) == "2, 1 refused, the rest started by 02:46, the rest done by 02:56; IN, AT: start"
    assert words(waits[1]) == "1, all refused"


def test_the_words_of_restores_tell_of_starts_where_one_waits() -> None:
    runs = restore("runs", "InProgress", created="02:40:00")
    waits = restore("waits", "New", created="02:40:30")
    table = Shown("queue", [server(1), location(), runs, waits])

    def words(*shown: Restore) -> str:
        return table.model.view.section_words("RESTORES", shown, table.render_context())

    assert words(runs) == "1, beside the slots; IN, AT: end"
    assert words(runs, waits) == "2, beside the slots; IN, AT: end, ~ start"


def test_a_run_that_velero_will_refuse_has_no_start() -> None:
    lost = location("lost", "Unavailable")
    spec = {**_WIKI, "storageLocation": "lost"}
    table = Shown(
        "queue", [lost, *_running(), backup("next", "Queued", created="02:40:00", queuePosition=1, spec=spec)]
    )
    assert _eta(table, "next") == (
        "refused",
        "Velero refuses it when it is its turn about 02:46Z, in 5 minutes, while its storage location lost is "
        "Unavailable.",
        "a free slot",
    )
    alone = Shown("queue", [lost, location(), backup("next", "New", created="02:41:00", spec=spec)])
    assert (_eta(alone, "next")[0], _eta(alone, "next")[2]) == ("refused", "")
    items = {item["name"]: item for item in table.items()}
    assert (items["next"]["expectedStart"], items["next"]["refusal"]) == (
        None,
        "its storage location lost is Unavailable",
    )
    assert items["runs"]["refusal"] is None


@pytest.mark.parametrize(
    ("now", "short", "told"),
    [
        ("02:41:07", "5m → 02:46", "Expected to end about 02:46Z, from its last 3 runs."),
        ("02:46:06", "9m → 02:46", "Expected to end about 02:46Z, from its last 3 runs."),
        ("02:46:07", "10m → 02:49?", "Expected to end about 02:49Z, a guess: already longer than the last 3 runs."),
    ],
)
def test_the_end_of_a_run_that_takes_longer_than_those_before_it_is_a_guess_and_says_so(
    now: str, short: str, told: str
) -> None:
    table = Shown("queue", [*_running(), location(checked=now, synced=now)], at(now))
    assert _eta(table, "runs")[:2] == (short, told)


def test_a_volume_that_no_node_has_taken_is_named() -> None:
    slow = backup("slow", "WaitingForPluginOperations", created="02:00:00", started="02:00:01")
    table = Shown("queue", [location(), slow, upload(of="slow", created="02:31:07")])
    assert _eta(table, "slow") == (
        "waits 10m",
        "It waits for volume data-0: Accepted, not picked up by a node, for 10 minutes, with no data of it moved yet; "
        "no estimated end.",
        "volume data-0",
    )
    accepted = {"acceptedByNode": "worker-4", "acceptedTimestamp": at("02:33:07").isoformat()}
    table = Shown("queue", [location(), slow, upload(of="slow", **accepted)])
    assert _eta(table, "slow")[1].startswith("It waits for volume data-0: Accepted on worker-4 for 8 minutes, ")


def test_a_run_that_is_finishing_says_so() -> None:
    table = Shown("queue", [location(), backup("ends", "Finalizing", created="02:36:00", started="02:36:07")])
    assert _eta(table, "ends")[0] == "5m finishing"
    unstarted = Shown("queue", [location(), backup("odd", "InProgress", created="02:36:00")])
    assert _eta(unstarted, "odd")[0] == "→ ?"


def test_a_run_that_has_ended_since_has_no_estimate() -> None:
    table = Shown("queue", [location()])
    ended = backup("gone", "", created="02:00:00")
    assert run_eta(ended, table.render_context()).text == ""
    item = QueueView().item(ended, table.render_context())
    assert {name: value for name, value in item.items() if value is not None} == {
        "context": "prod",
        "kind": "Backup",
        "namespace": "velero",
        "name": "gone",
    }
    assert {"phase", "position", "waitingPosition", "owner", "blockedBy", "expectedStart"} <= set(item)


@pytest.mark.parametrize(
    ("objects", "briefs"),
    [
        pytest.param(_running(), ("→ 02:46",), id="runs"),
        pytest.param(
            [location(), backup("runs", "Finalizing", created="02:36:00", started="02:36:07")],
            ("finishing",),
            id="finishes",
        ),
        pytest.param(
            [location(checked="02:20:00", synced="02:20:00"), backup("runs", "InProgress", started="02:00:00")],
            ("silent",),
            id="its server is silent",
        ),
        pytest.param([location(), backup("runs", "Queued", created="02:40:00")], (), id="waits"),
    ],
)
def test_the_end_of_a_run_is_told_alone_where_there_is_less_room(
    objects: list[Resource], briefs: tuple[str, ...]
) -> None:
    assert Shown("queue", objects).cells("when")["runs"].briefs == briefs


def test_runs_sort_by_their_progress() -> None:
    table = Shown(
        "queue",
        [
            backup("a", "InProgress", started="02:00:00", progress={"itemsBackedUp": 30, "totalItems": 40}),
            backup("b", "InProgress", started="02:01:00", progress={"itemsBackedUp": 40, "totalItems": 80}),
            backup("c", "InProgress", started="02:02:00", progress={"itemsBackedUp": 0, "totalItems": 0}),
            backup("d", "", created="02:03:00"),
        ],
    )
    assert table.names("items")[:2] == ["b", "a"]
    shares = [
        QueueView().column("items").sort(entry)
        for _, entry in table.model.table
        if not isinstance(entry, UnreadableRow)
    ]
    assert sorted(share for share in shares if share is not None) == [0.5, 0.75]
    assert shares.count(None) == 2
    assert (table.cells("items")["a"].text, table.cells("items")["a"].drawing) == ("75%", ShareBar(750))
    for text, found in (("phase:New", ["d"]), ("75%", ["a"]), ("owner:*hand", ["a", "b", "c", "d"])):
        table.model.narrow(text)
        assert sorted(row.key.name for row in table.rows()) == found
    assert table.cells("items")["a"].tone is Tone.PLAIN


def test_the_items_of_a_report_have_the_queue_of_each_server() -> None:
    other = restore("elsewhere", "InProgress", created="02:10:00", meta={"namespace": "other"})
    snapshot = assemble(
        [
            *_running(),
            backup("next", "Queued", created="02:40:00", queuePosition=1, spec=_SHOP),
            backup("third", "", created="02:40:30", spec=_WIKI),
            restore("back", "InProgress", created="02:20:00"),
            restore("later", "New", created="02:30:00"),
            other,
            replace(location(), metadata=replace(location().metadata, namespace="other")),
        ]
    )
    items = [item for item in queue_items(snapshot, NOW, Thresholds()) if item["namespace"] == "velero"]
    assert [(item["name"], item["phase"], item["position"], item["waitingPosition"]) for item in items] == [
        ("runs", "InProgress", 1, None),
        ("next", "Queued", 2, 1),
        ("third", None, 3, 2),
        ("back", "InProgress", 1, None),
        ("later", "New", 2, 1),
    ]
    assert [item["blockedWhy"] for item in items[:2]] == [None, "waits for runs: same namespace shop"]
    assert [item["blockedBy"] for item in items[:2]] == [[], ["runs"]]
    assert (items[0]["note"], items[0]["startedAt"]) == (None, "2026-11-15T02:36:07Z")
    assert items[2]["note"]
    servers = {item["namespace"] for item in queue_items(snapshot, NOW, Thresholds())}
    assert servers == {"velero", "other"}
    assert sum(item["name"] == "elsewhere" for item in queue_items(snapshot, NOW, Thresholds())) == 1


def test_the_item_of_a_schedule_names_why_velero_refuses_its_backups() -> None:
    refused = schedule("daily", last="02:00:03", template={"storageLocation": "lost"})
    snapshot = assemble([location(), location("lost", "Unavailable"), refused, schedule("good", last="02:00:03")])
    item = schedule_item(schedule_facts(snapshot, refused, NOW))
    assert (item["refusal"], item["expectedStart"]) == ("its storage location lost is Unavailable", None)
    good = schedule_item(schedule_facts(snapshot, snapshot.schedules[1], NOW))
    assert (good["name"], good["refusal"]) == ("good", None)
    assert good["expectedStart"] is not None


def test_the_item_of_a_tenants_backup_has_the_phase_of_the_velero_object_or_of_its_copy() -> None:
    accepted = condition("Accepted", "True", "BackupAccepted", "fine")
    seen = nab("a", conditions=[accepted], veleroBackup=velero("v-1", "u-1", phase="New"))
    unseen = nab("b", veleroBackup=velero("v-2", "u-2", phase="New"), queueInfo={"estimatedQueuePosition": 4})
    back = nar("c", veleroRestore=velero("w-1", "r-1"))
    run = restore("w-1", "Failed", meta={"labels": {"openshift.io/oadp-nar-origin-nacuuid": "r-1"}})
    ahead = backup("v-0", "InProgress", created="01:00:00")
    objects = [seen, unseen, back, nab("d", ""), backup("v-1", "InProgress", labels=_NAB), ahead, run]
    items = {item["name"]: item for item in Shown("nonadmin", objects).items()}
    found = {name: (item["veleroName"], item["veleroPhase"]) for name, item in items.items()}
    assert found == {"a": ("v-1", "InProgress"), "b": ("v-2", "New"), "c": ("w-1", "Failed"), "d": (None, None)}
    assert (items["a"]["phase"], items["d"]["phase"]) == ("Created", None)
    assert (items["a"]["liveQueuePosition"], items["b"]["liveQueuePosition"]) == (2, None)
    assert (items["a"]["queuePosition"], items["b"]["queuePosition"]) == (None, 4)
    assert items["a"]["conditions"] == {
        "Accepted": {
            "status": "True",
            "reason": "BackupAccepted",
            "message": "fine",
            "since": "2026-11-15T02:00:01Z",
        }
    }


def test_no_queue_is_looked_at_for_a_run_that_has_ended() -> None:
    """A pane is made every second, and to play a queue forward takes longer than all the rest of it."""
    open_one = backup("next", "Queued", created="02:40:00", queuePosition=1, spec=_WIKI)
    ended = _history("daily", 10)[0]
    render_context = Shown("backups", [*_running(), open_one]).render_context()
    played: list[ServerFacts] = []

    def queue(server: ServerFacts) -> QueueLine:
        played.append(server)
        return render_context.queue(server)

    counted = msgspec.structs.replace(render_context, queue=queue)
    assert counted.facts(ended).state is RunState.ENDED
    assert played == []
    assert counted.facts(open_one).state is RunState.WAITS
    assert len(played) == 1


def test_runs_that_ended_well_are_drawn_against_the_longest_of_them_and_others_are_not() -> None:
    ended = [
        backup("long", started="02:00:00", ended="02:20:00"),
        backup("half", started="02:10:00", ended="02:20:00"),
        backup("lost", "Failed", started="02:00:00", ended="02:30:00"),
    ]
    table = Shown("queue", ended)
    table.state.begin_frame()
    place = [column.name for column in table.model.columns].index("items")
    drawn = {row.key.name: row.cells[place].drawing for row in table.model.below() if row.cells}
    assert drawn == {"long": TimeBar(0, 1000, Tone.GOOD), "half": TimeBar(0, 500, Tone.GOOD), "lost": None}


def test_the_queues_of_two_clusters_stand_one_after_the_other() -> None:
    """Each Velero has an order of its own: a second of one is not before a third of the other."""
    waiting: list[Resource] = [
        backup(f"w-{number}", "Queued", created=f"02:0{number}:00", queuePosition=number) for number in (1, 2)
    ]
    source = FilledSource(waiting, ("eu", "us"), NOW)
    state = DashboardState(source, lambda: 0.0)
    model = StoreTableModel(state, QueueView(), worst_first=True)
    state.begin_frame()
    shown = [(row.key.context, row.key.name) for row in model.paint(0, 10) if row.key.kind == "Backup"]
    assert shown == [("eu", "w-1"), ("eu", "w-2"), ("us", "w-1"), ("us", "w-2")]


def test_the_line_above_a_section_names_its_cluster_where_there_are_several() -> None:
    waiting: list[Resource] = [backup("w-1", "Queued", created="02:01:00", queuePosition=1)]
    state = DashboardState(FilledSource(waiting, ("eu", "us"), NOW), lambda: 0.0)
    model = StoreTableModel(state, QueueView(), worst_first=True)
    state.begin_frame()
    heads = [row for row in model.paint(0, 10) if isinstance(row, SectionRow)]
    assert [head.title for head in heads] == ["WAITING eu", "WAITING us"]
    assert all(head.words for head in heads)


def test_a_run_that_moves_its_volumes_without_a_slot_is_told_from_those_that_hold_one() -> None:
    runs = [
        backup("holds", "InProgress", created="02:30:00", started="02:30:03"),
        backup("moves", "WaitingForPluginOperations", created="02:20:00", started="02:20:03"),
    ]
    shown = Shown("queue", [server(6), location(), *runs, restore("back", "WaitingForPluginOperations")])
    assert {(row[1], row[2]) for row in shown.text("position", "name")} == {
        ("▶", "holds"),
        ("·", "moves"),
        ("▶", "↺ back"),
    }
    said = shown.model.view.section_words("RUNNING", runs, shown.render_context())
    assert said == "1 of 6 slots, 1 more finishes without a slot; IN, AT: end"
