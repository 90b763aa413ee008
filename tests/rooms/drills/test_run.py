"""Each part of a drill under way, against a box without controllers: what it makes, waits for, compares and removes."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from foretop_core.actions.journal import Journal, JournalEntry
from foretop_core.actions.plans import Plan
from foretop_core.errors import ActionRefused, ForetopError
from foretop_core.models import Restore, from_builtins
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rooms.drills import run as drill_run
from foretop_core.rooms.drills.leftovers import KindCount
from foretop_core.rooms.drills.planners import DrillRequest, MadeObject, plan_cleanup, plan_drill
from foretop_core.rooms.drills.run import DrillRun, delete_made, leftovers, plan_deletion, require_journal
from foretop_core.rules.protection.copies import DrillOutcome, drills_of
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.access import Rule, User
from foretop_demo.change_log import Change, ChangeType
from foretop_demo.local_api_server import LocalApiServer
from tests.objects import NOW
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire, world_in
from tests.wire.test_commands import VELERO, obj
from tests.wire.test_logs import location

__all__ = ["wire"]
INTO = "shop-trial"
ENDED = {"phase": "Completed", "completionTimestamp": "2026-11-15T02:01:00Z"}
KEPT = obj("Backup", "shop-1", {"includedNamespaces": ["shop"]}, status=ENDED)
LIMIT = timedelta(seconds=10)
READER = User("reader", (Rule(("get", "list", "watch"), ("*",), ("namespaces", "backups", "restores")),))


def its_restore(phase: str, name: str = INTO, **status: Any) -> dict[str, Any]:
    return obj("Restore", name, {"backupName": "shop-1"}, status={"phase": phase, **status})


def labelled(item: dict[str, Any], drill: str = INTO) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], "labels": {DRILL_LABEL: drill}}}


def plain(kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **place}}


@asynccontextmanager
async def drilling(
    folder: Path, *objects: dict[str, Any], store: dict[str, Any] | None = None, user: str = "admin"
) -> AsyncIterator[tuple[LocalApiServer, DrillRun]]:
    async with (
        box_with([VELERO, KEPT, store or location(), *objects], [READER]) as box,
        hand_in(box, folder, user) as executor,
    ):
        backup = next(one for one in executor.snapshot().backups if one.name == "shop-1")
        yield box, DrillRun(executor, backup, DrillRequest("shop", INTO))


def planned(run: DrillRun) -> Plan:
    plan = plan_drill(run.executor.snapshot(), run.backup, run.request, NOW)
    assert len(plan.steps) == 3
    return plan


def seeing(run: DrillRun, snapshot: Callable[[], ClusterSnapshot]) -> None:
    run.executor = replace(run.executor, snapshot=snapshot)


@asynccontextmanager
async def files(box: LocalApiServer, bodies: Mapping[str, Any]) -> AsyncIterator[list[str]]:
    """Signs an address for each request, and serves there what is held for its kind; the list has what was asked."""
    asked: list[str] = []

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        held = bodies[request.path.strip("/")]
        return web.Response(body=gzip.compress(held if isinstance(held, bytes) else json.dumps(held).encode()))

    runner = web.ServerRunner(web.Server(serve, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()

    def heard(kind: Any, change: Change) -> None:
        if kind.kind == "DownloadRequest" and change.type is ChangeType.ADDED:
            wanted = change.new.body["spec"]["target"]["kind"]
            asked.append(wanted)
            url = f"http://127.0.0.1:{runner.addresses[0][1]}/{wanted}"
            box.storage.patch_status(kind, *change.key, {"phase": "Processed", "downloadURL": url})

    stop = box.storage.subscribe(heard)
    try:
        yield asked
    finally:
        stop()
        await runner.cleanup()


def names(made: Sequence[MadeObject]) -> list[tuple[str, str]]:
    return [(one.kind, one.name) for one in made]


# What it makes


@pytest.mark.parametrize("lost", [False, True])
async def test_what_it_made_is_known_with_its_uid_even_where_the_answers_were_lost(
    lost: bool, tmp_path: Path, wire: Wire
) -> None:
    async with drilling(tmp_path) as (box, run):
        plan = planned(run)
        if lost:
            wire.cut = lambda method, path: "after" if method == "POST" else ""
        assert await run.make(plan) == ""
        assert names(run.made) == [("Namespace", INTO), ("ConfigMap", INTO), ("Restore", INTO)]
        for one in run.made:
            held = box.storage.get(box.storage.kind(one.kind), one.namespace, one.name)
            assert one.metadata.uid == held["metadata"]["uid"]


async def test_it_stops_at_the_first_object_that_is_not_created(tmp_path: Path) -> None:
    async with drilling(tmp_path, plain("ConfigMap", INTO, "velero")) as (box, run):
        plan = planned(run)
        problem = await run.make(plan)
        assert problem == f'configmap velero/{INTO} was not created: configmaps "{INTO}" already exists'
        assert names(run.made) == [("Namespace", INTO)]
        assert box.storage.find(box.storage.kind("Restore"), "velero", INTO) is None


async def test_a_drill_that_could_not_begin_says_so_and_notes_nothing(tmp_path: Path) -> None:
    async with drilling(tmp_path) as (box, run):
        plan = planned(run)
        box.storage.create(box.storage.kind("Namespace"), plain("Namespace", INTO))
        told: list[str] = []
        result = await run.carry_out(plan, LIMIT, told.append)
        assert result.report.failed == f'namespace {INTO} was not created: namespaces "{INTO}" already exists'
        assert (result.took, result.not_noted, told, run.made) == (timedelta(), "", [], [])
        held = box.storage.get(box.storage.kind("Backup"), "velero", "shop-1")
        assert "annotations" not in held["metadata"]


# What it waits for


@pytest.mark.parametrize(
    ("status", "store", "problem"),
    [
        ({"phase": "Completed"}, "Available", ""),
        ({"phase": "Completed"}, "Unavailable", ""),
        ({"phase": "Failed", "failureReason": "no such file"}, "Available", "no such file"),
        (
            {"phase": "FailedValidation", "validationErrors": ["no backup", "no store"]},
            "Available",
            "no backup; no store",
        ),
        (
            {"phase": "Failed", "failureReason": "no such file"},
            "Unavailable",
            "the storage location default is no longer available",
        ),
        ({"phase": "InProgress"}, "Unavailable", "the storage location default is no longer available"),
    ],
)
async def test_the_wait_ends_with_the_restore_or_with_what_it_needs(
    status: dict[str, Any], store: str, problem: str, tmp_path: Path
) -> None:
    other = obj("Restore", "another", {"backupName": "shop-1"}, status={"phase": "Failed", "failureReason": "not mine"})
    async with drilling(tmp_path, other, its_restore(**status), store=location(store)) as (_, run):
        assert await run.wait(LIMIT, lambda text: None) == problem


async def test_a_backup_or_a_location_that_is_gone_ends_the_wait(tmp_path: Path) -> None:
    async with drilling(tmp_path) as (box, run):
        box.storage.delete(box.storage.kind("BackupStorageLocation"), "velero", "default")
        assert await run.wait(LIMIT, lambda text: None) == "the storage location default is no longer available"
        box.storage.delete(box.storage.kind("Backup"), "velero", "shop-1")
        assert await run.wait(LIMIT, lambda text: None) == "the backup shop-1 was deleted meanwhile"


async def test_news_of_the_restore_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_run, "_EACH", 0.0)
    progress = {"totalItems": 2000, "itemsRestored": 1200}
    running = [
        [],
        [obj("Restore", INTO, {"backupName": "shop-1"})],
        [its_restore("InProgress")],
        [its_restore("InProgress")],
        [its_restore("InProgress", progress=progress)],
        [its_restore("InProgress", progress=progress)],
        [its_restore("Completed", progress=progress)],
    ]
    async with drilling(tmp_path) as (box, run):
        now = world_in(box)
        seen = iter([replace(now, restores=tuple(from_builtins(Restore, one) for one in held)) for held in running])
        seeing(run, lambda: next(seen))
        told: list[str] = []
        assert await run.wait(LIMIT, told.append) == ""
        assert told == ["New", "InProgress", "InProgress, 1,200 of 2,000 items"]
        assert next(seen, None) is None


async def test_a_restore_that_takes_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_run, "_EACH", 0.0)
    loop = asyncio.get_running_loop()
    clock, passed = loop.time, [0.0]
    async with drilling(tmp_path, its_restore("InProgress")) as (box, run):
        now = world_in(box)

        def later() -> ClusterSnapshot:
            passed[0] += 600.0
            return now

        seeing(run, later)
        with monkeypatch.context() as patched:
            patched.setattr(loop, "time", lambda: clock() + passed[0])
            assert await run.wait(timedelta(minutes=30), lambda text: None) == "it did not end within 30 minutes"
        assert passed == [1800.0]


# What it compares

IN_BACKUP = {
    "apps/v1/Deployment": ["shop/web"],
    "batch/v1/Job": ["shop/a", "shop/b"],
    "v1/Pod": ["shop/web-0"],
    "v1/ConfigMap": ["other/c"],
}
LOG = b'level=info msg="Job shop/b is complete - skipping"\n'
TIMES = {"startTimestamp": "2026-11-15T02:30:00Z", "completionTimestamp": "2026-11-15T02:34:10Z"}


@pytest.mark.sweep
async def test_what_came_back_is_counted_and_jobs_that_had_ended_are_not_missed(tmp_path: Path) -> None:
    came = {"apps/v1/Deployment": [f"{INTO}/web(created)"], "batch/v1/Job": [f"{INTO}/a(created)"]}
    held = {"BackupResourceList": IN_BACKUP, "RestoreResourceList": came, "RestoreLog": LOG}
    async with drilling(tmp_path, its_restore("Completed", **TIMES)) as (box, run), files(box, held) as asked:
        report = await run.report("")
        assert report.counts == (KindCount("Deployment", 1, 1), KindCount("Job", 2, 1, 1))
        assert (report.left_out, report.phase, report.failed) == (("Pod",), "Completed", "")
        assert asked == ["BackupResourceList", "RestoreResourceList", "RestoreLog"]
        assert run.took == timedelta(minutes=4, seconds=10)


@pytest.mark.parametrize(
    ("jobs", "came", "reads_log"),
    [((), (), False), (("a",), ("a",), False), (("a",), (), True), (("a", "b"), ("a",), True)],
)
async def test_the_log_is_read_only_where_jobs_are_missing(
    jobs: tuple[str, ...], came: tuple[str, ...], reads_log: bool, tmp_path: Path
) -> None:
    held = {
        "BackupResourceList": {"batch/v1/Job": [f"shop/{name}" for name in jobs]},
        "RestoreResourceList": {"batch/v1/Job": [f"{INTO}/{name}(created)" for name in came]},
        "RestoreLog": LOG,
    }
    async with drilling(tmp_path, its_restore("Completed")) as (box, run), files(box, held) as asked:
        report = await run.report("")
        assert ("RestoreLog" in asked) is reads_log
        assert report.failed == ""


@pytest.mark.sweep
async def test_what_is_short_names_the_quota_in_the_copy(tmp_path: Path) -> None:
    quota = {**plain("ResourceQuota", "small", INTO), "spec": {"hard": {"pods": "0"}}}
    objects = (plain("Namespace", INTO), quota, its_restore("Completed"))
    held = {"BackupResourceList": {"apps/v1/Deployment": ["shop/web"]}, "RestoreResourceList": {}}
    async with drilling(tmp_path, *objects) as (box, run), files(box, held):
        told = f"{INTO} got a quota that may have prevented it: small (not counted yet)"
        assert (await run.report("")).failed == f"{told}; only 0 of 1 Deployment"
        assert (await run.report("late")).failed == f"late; {told}; only 0 of 1 Deployment"


async def test_a_quota_that_prevented_nothing_is_not_told(tmp_path: Path) -> None:
    quota = {**plain("ResourceQuota", "small", INTO), "spec": {"hard": {"pods": "0"}}}
    objects = (plain("Namespace", INTO), quota, its_restore("Completed"))
    same = {"apps/v1/Deployment": ["shop/web"]}
    async with (
        drilling(tmp_path, *objects) as (box, run),
        files(
            box, {"BackupResourceList": same, "RestoreResourceList": {"apps/v1/Deployment": [f"{INTO}/web(created)"]}}
        ),
    ):
        assert (await run.report("")).failed == ""


async def test_without_the_lists_the_comparison_is_said_to_be_missing(tmp_path: Path) -> None:
    async with (
        drilling(tmp_path, its_restore("Completed")) as (box, run),
        files(box, {"BackupResourceList": b"<html>"}),
    ):
        assert (await run.report("")).failed.startswith("not compared: The resource list cannot be read")
        assert (await run.report("late")).failed.startswith("late; not compared: The resource list cannot be read")


async def test_without_a_restore_only_the_backup_is_read(tmp_path: Path) -> None:
    async with drilling(tmp_path) as (box, run), files(box, {"BackupResourceList": IN_BACKUP}) as asked:
        report = await run.report("it did not end within 30 minutes")
        assert asked == ["BackupResourceList"]
        assert report.phase == ""
        assert report.failed == "it did not end within 30 minutes; only 0 of 1 Deployment and 0 of 2 Job"
        assert run.took == timedelta()


async def test_nothing_is_compared_with_a_backup_that_is_lost(tmp_path: Path) -> None:
    async with (
        drilling(tmp_path, its_restore("PartiallyFailed"), store=location("Unavailable")) as (box, run),
        files(box, {}) as asked,
    ):
        report = await run.report("it is gone")
        assert (report.counts, report.phase, report.failed, asked) == ((), "PartiallyFailed", "it is gone", [])


@pytest.mark.parametrize("known", [{"startTimestamp": TIMES["startTimestamp"]}, {}])
async def test_how_long_it_took_is_told_only_where_velero_wrote_both_ends(
    known: dict[str, str], tmp_path: Path
) -> None:
    async with drilling(tmp_path, its_restore("InProgress", **known)) as (_, run):
        assert run.took == timedelta()


# What it notes


async def test_a_drill_is_noted_on_the_backup_with_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drill_run, "_EACH", 0.01)
    same = {"apps/v1/Deployment": ["shop/web"]}
    held = {"BackupResourceList": same, "RestoreResourceList": {"apps/v1/Deployment": [f"{INTO}/web(created)"]}}
    async with drilling(tmp_path) as (box, run), files(box, held):

        def ends(kind: Any, change: Change) -> None:
            if kind.kind == "Restore" and change.type is ChangeType.ADDED:
                box.storage.patch_status(kind, *change.key, {"phase": "Completed", **TIMES})

        box.storage.subscribe(ends)
        result = await run.carry_out(planned(run), LIMIT, lambda text: None)
        assert (result.report.failed, result.took, result.not_noted) == ("", timedelta(seconds=250), "")
        (noted,) = (drills_of(one)["shop"] for one in run.executor.snapshot().backups)
        assert (noted.at, noted.took, noted.failed) == (NOW, timedelta(seconds=250), "")


async def test_a_note_that_is_refused_says_why_and_a_backup_that_is_gone_needs_none(tmp_path: Path) -> None:
    async with drilling(tmp_path, its_restore("Completed"), user="reader") as (box, run):
        outcome = DrillOutcome(NOW, timedelta(minutes=4))
        assert "ask for a role with this permission" in await run._note(outcome)
        box.storage.delete(box.storage.kind("Backup"), "velero", "shop-1")
        assert await run._note(outcome) == ""


# What it removes


def noted(run: DrillRun, box: LocalApiServer, kind: str, name: str = INTO, **fields: Any) -> None:
    """The journal tells that this drill has made the object as it is in the box."""
    place = "" if kind == "Namespace" else "velero"
    uid = box.storage.get(box.storage.kind(kind), place, name)["metadata"]["uid"]
    usual = {
        "at": "2026-11-15T01:00:00Z",
        "user": "maria",
        "context": "minicluster",
        "kind": kind,
        "namespace": place,
        "name": name,
        "method": "POST",
        "before": {},
        "patch": {},
        "result": "done",
        "uid": uid,
        "drill": name,
    }
    run.executor.journal.append(JournalEntry(**{**usual, **fields}))


async def test_what_has_the_label_is_found_with_what_the_journal_proves_and_going_ones_are_marked(
    tmp_path: Path,
) -> None:
    cut_off = [
        labelled(its_restore("Completed", completionTimestamp="2026-11-14T00:00:00Z")),
        labelled(plain("ConfigMap", INTO, "velero")),
        labelled(plain("Namespace", INTO)),
    ]
    running = [
        labelled(its_restore("InProgress", "live"), "live"),
        labelled(plain("ConfigMap", "live", "velero"), "live"),
        labelled(plain("Namespace", "live"), "live"),
    ]
    others = [its_restore("Completed", "mine"), plain("ConfigMap", "mine", "velero"), plain("Namespace", "mine")]
    async with drilling(tmp_path, *cut_off, *running, *others) as (box, run):
        noted(run, box, "Restore")
        noted(run, box, "ConfigMap", uid="")
        noted(run, box, "Backup", "shop-1", method="PATCH", drill=INTO)
        old, live = sorted(await leftovers(run.executor), key=lambda one: one.id, reverse=True)
        assert [(one.target.kind, one.target.name, one.proof.name) for one in old.objects] == [
            ("Restore", INTO, "OWN"),
            ("ConfigMap", INTO, "CUT_OFF"),
            ("Namespace", INTO, "LABEL_ONLY"),
        ]
        assert (old.is_going, live.is_going, live.id) == (False, True, "live")
        assert {one.proof.name for one in live.objects} == {"LABEL_ONLY"}
        plan = await plan_deletion(run.executor, [*old.objects, *live.objects])
        assert [(step.target.kind, step.target.name) for step in plan.steps] == [("Restore", INTO)]
        assert len(plan.refused) == 5
        assert all(
            f"kubectl --context minicluster {'-n velero ' if one.target.namespace else ''}delete" in one.why
            for one in plan.refused
        )


async def test_what_is_being_deleted_already_is_no_leftover(tmp_path: Path) -> None:
    items = [labelled(its_restore("Completed")), labelled(plain("Namespace", INTO))]
    for item in items:
        item["metadata"]["finalizers"] = ["example.com/hold"]
    async with drilling(tmp_path, *items) as (box, run):
        noted(run, box, "Restore")
        for kind, place in (("Restore", "velero"), ("Namespace", "")):
            box.storage.delete(box.storage.kind(kind), place, INTO)
        assert await leftovers(run.executor) == ()
        made = [MadeObject(metadata=one.metadata, kind="Restore") for one in run.executor.snapshot().restores]
        assert (await plan_deletion(run.executor, made)).steps == ()


async def test_leftovers_that_cannot_be_listed_do_not_hide_the_others(tmp_path: Path) -> None:
    items = (labelled(its_restore("Completed")), labelled(plain("ConfigMap", INTO, "velero")))
    async with drilling(tmp_path, *items, user="reader") as (_, run):
        (drill,) = await leftovers(run.executor)
        assert [one.target.kind for one in drill.objects] == ["Restore"]


def made_of(run: DrillRun, box: LocalApiServer, *kinds: str) -> list[MadeObject]:
    """What the drill has made by its journal, and is as it was made."""
    found = []
    for kind in kinds:
        noted(run, box, kind)
        place = "" if kind == "Namespace" else "velero"
        found.append(from_builtins(MadeObject, box.storage.get(box.storage.kind(kind), place, INTO)))
    return found


OWN = [
    labelled(plain("Namespace", INTO)),
    labelled(plain("ConfigMap", INTO, "velero")),
    labelled(its_restore("Completed")),
]


async def test_the_restore_is_deleted_first_and_only_the_very_objects_are(tmp_path: Path) -> None:
    async with drilling(tmp_path, *OWN) as (box, run):
        made = made_of(run, box, "Namespace", "ConfigMap", "Restore")
        plan = await plan_deletion(run.executor, made)
        assert [step.target.kind for step in plan.steps] == ["Restore", "ConfigMap", "Namespace"]
        unlabelled = {"metadata": {"labels": {DRILL_LABEL: None}}}
        box.storage.patch(box.storage.kind("ConfigMap"), "velero", INTO, unlabelled)
        box.storage.delete(box.storage.kind("Restore"), "velero", INTO)
        box.storage.create(box.storage.kind("Restore"), OWN[2])
        plan = await plan_deletion(run.executor, made)
        assert [step.target.kind for step in plan.steps] == ["Namespace"]
        assert [one.target.kind for one in plan.refused] == ["ConfigMap"]
        box.storage.delete(box.storage.kind("Namespace"), "", INTO)
        assert (await plan_deletion(run.executor, made)).steps == ()


async def test_what_nobody_can_see_is_not_taken_for_gone(tmp_path: Path) -> None:
    async with drilling(tmp_path, *OWN, user="reader") as (box, run):
        with pytest.raises(ForetopError, match="configmaps"):
            await plan_deletion(run.executor, made_of(run, box, "ConfigMap"))


async def test_what_is_still_there_after_the_deletion_is_told_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drill_run, "_GONE_WITHIN", 0.0)
    async with drilling(tmp_path, *OWN) as (box, run):
        held = {"metadata": {"finalizers": [f"example.com/{number}" for number in range(4)]}}
        box.storage.patch(box.storage.kind("ConfigMap"), "velero", INTO, held)
        plan = await plan_deletion(run.executor, made_of(run, box, "Restore", "ConfigMap"))
        assert await delete_made(run.executor, plan) == [
            f"configmap velero/{INTO} is still being deleted: "
            "held by example.com/0, example.com/1, example.com/2 and 1 more"
        ]


async def test_a_deletion_that_is_refused_is_told_and_the_others_go_on(tmp_path: Path, wire: Wire) -> None:
    async with drilling(tmp_path, *OWN) as (box, run):
        plan = await plan_deletion(run.executor, made_of(run, box, "Restore", "ConfigMap"))

        async def misbehave(request: web.BaseRequest, answer: Any) -> web.StreamResponse:
            if request.path.endswith(f"/restores/{INTO}"):
                refused = {"kind": "Status", "status": "Failure", "code": 403, "message": "not yours"}
                return web.json_response(refused, status=403)
            return await answer(request)  # type: ignore[no-any-return]

        wire.misbehave = misbehave
        assert await delete_made(run.executor, plan) == [
            f"restore velero/{INTO} is still there: not yours (ask for a role with this permission)"
        ]
        assert box.storage.find(box.storage.kind("ConfigMap"), "velero", INTO) is None


async def test_the_end_of_a_deletion_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> None:
    monkeypatch.setattr(drill_run, "_EACH", 0.01)
    async with drilling(tmp_path, *OWN) as (box, run):
        kind = box.storage.kind("ConfigMap")
        box.storage.patch(kind, "velero", INTO, {"metadata": {"finalizers": ["example.com/hold"]}})
        plan = await plan_deletion(run.executor, made_of(run, box, "ConfigMap"))
        deleting = asyncio.create_task(delete_made(run.executor, plan))
        async with asyncio.timeout(120):
            while [method for method, _ in wire.asked][-2:] != ["GET", "GET"]:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
        assert not deleting.done()
        box.storage.patch(kind, "velero", INTO, {"metadata": {"finalizers": []}})
        assert await deleting == []


async def test_what_changed_meanwhile_is_deleted_all_the_same(tmp_path: Path) -> None:
    async with drilling(tmp_path, *OWN) as (box, run):
        kinds = ("Namespace", "ConfigMap", "Restore")
        plan = await plan_deletion(run.executor, made_of(run, box, *kinds))
        for kind in kinds:
            place = "" if kind == "Namespace" else "velero"
            box.storage.patch(box.storage.kind(kind), place, INTO, {"metadata": {"annotations": {"seen": "yes"}}})
        assert await delete_made(run.executor, plan) == []
        assert await leftovers(run.executor) == ()


async def test_what_has_lost_its_label_or_has_another_meanwhile_is_not_deleted(tmp_path: Path) -> None:
    async with drilling(tmp_path, *OWN) as (box, run):
        plan = await plan_deletion(run.executor, made_of(run, box, "Namespace", "ConfigMap", "Restore"))
        for kind, label in (("Namespace", None), ("ConfigMap", "other")):
            place = "" if kind == "Namespace" else "velero"
            box.storage.patch(box.storage.kind(kind), place, INTO, {"metadata": {"labels": {DRILL_LABEL: label}}})
        told = await delete_made(run.executor, plan)
        assert [line.partition(" is still there: ")[0] for line in told] == [
            f"configmap velero/{INTO}",
            f"namespace {INTO}",
        ]
        assert box.storage.find(box.storage.kind("Namespace"), "", INTO) is not None
        assert box.storage.find(box.storage.kind("ConfigMap"), "velero", INTO) is not None


async def test_a_namesake_made_meanwhile_is_not_deleted(tmp_path: Path) -> None:
    async with drilling(tmp_path, *OWN) as (box, run):
        made = made_of(run, box, "Namespace", "ConfigMap", "Restore")
        plan = await plan_deletion(run.executor, made)
        for item in OWN:
            kind, place = box.storage.kind(item["kind"]), item["metadata"].get("namespace", "")
            box.storage.delete(kind, place, INTO)
            box.storage.create(kind, item)
        assert len(await delete_made(run.executor, plan)) == 3
        for item in OWN:
            place = item["metadata"].get("namespace", "")
            assert box.storage.find(box.storage.kind(item["kind"]), place, INTO) is not None
        assert (await plan_deletion(run.executor, made)).steps == ()


async def test_a_drill_stops_where_the_journal_fails_and_what_it_cannot_prove_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with drilling(tmp_path) as (box, run):
        lines: list[JournalEntry] = []
        append = Journal.append_in_thread

        async def full(journal: Journal, entry: JournalEntry) -> None:
            lines.append(entry)
            if len(lines) == 2:
                raise ForetopError("The journal cannot be written", "No space left on device")
            await append(journal, entry)

        monkeypatch.setattr(Journal, "append_in_thread", full)
        problem = await run.make(planned(run))
        assert problem == (
            f"namespace {INTO} was created, and the drill stopped: "
            "The journal cannot be written: No space left on device"
        )
        assert box.storage.find(box.storage.kind("ConfigMap"), "velero", INTO) is None
        plan = await plan_deletion(run.executor, run.made)
        assert plan.steps == ()
        assert plan.refused[0].why.endswith(f"kubectl --context minicluster delete namespaces {INTO}")


async def test_without_a_journal_nothing_is_sent(tmp_path: Path, wire: Wire) -> None:
    async with drilling(tmp_path) as (_, run):
        run.executor.journal.path.mkdir(parents=True)
        with pytest.raises(ActionRefused, match="Cannot drill shop: The journal"):
            await require_journal(run.executor, "shop")
        assert (await run.make(planned(run))).startswith(f"namespace {INTO} was not created: The journal")
        assert wire.writes == []


def test_a_cleanup_asks_for_nothing_where_nothing_was_made() -> None:
    assert plan_cleanup("prod", [], NOW).steps == ()
