"""`foretop report`: next runs, queue and findings of clusters or of a file, as of one time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import NOT_JUDGED, judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, unreadable, wait_synced
from foretop.commands.output import emit, file_help, output_option, say, table, warn
from foretop_core.config.thresholds_from_settings import configured_window, thresholds_of
from foretop_core.cron import shown
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.errors import BadInput, Unreadable
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.room_finder import room_modules
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import RunState, queue_line, run_facts
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.facts.server_facts import ServerPod, server_facts
from foretop_core.rules.facts.size_facts import DAY, grown_most, night_sizes
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.own_failures import Failure, problem_text
from foretop_core.rules.phases import WAITING
from foretop_core.rules.sentences import estimate, render, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import (
    Severity,
    Thresholds,
    Triage,
    aggregated,
    failure_finding,
    triage,
    with_acknowledgements,
)
from foretop_core.tables.engine.json_items import Item, unseen_item
from foretop_core.tables.engine.status_glyphs import severity_mark
from foretop_core.tables.resources.findings import finding_item
from foretop_core.tables.resources.queue import queue_item, work_sign
from foretop_core.tables.resources.schedules import schedule_item


@click.command("report", cls=OwnOptionsFirst, epilog=example("foretop report -o json"))
@connection_options
@click.option("-f", "--file", "source", metavar="FILE", help=f"Analyse this file instead of a cluster. {file_help}")
@click.option("--at", "at", metavar="TIME", help="Analyse as of this time instead of now.")
@output_option
@click.option("--post-mortem", is_flag=True, help="With -f RECORDING: what was wrong, who did what, what followed.")
@click.option(
    "--acknowledged",
    "apart",
    is_flag=True,
    help="List acknowledged findings apart, and leave them out of the exit code.",
)
@judging
def command(
    session_options: SessionOptions, source: str | None, at: str | None, form: str, post_mortem: bool, apart: bool
) -> int:
    """Report next runs, queue and findings of a cluster or of a file."""
    if post_mortem:
        return _post_mortem(replace(session_options, files=(source,) if source else ()), form)
    given = argument_values.moment(at) if at else None
    if (looked_at := argument_values.looked_at(source, session_options)) is not None:
        return asyncio.run(_of_clusters(looked_at, given, form, apart))
    assert source is not None
    snapshot, read = argument_values.snapshot_in(source, session_options)
    window = configured_window(session_options.window, session_options.time_zone, os.environ)
    limits = thresholds_of(session_options.thresholds, window)
    now = argument_values.as_of(at, source, read)
    return report_snapshots([(snapshot, now)], read.unreadable, form, limits, apart=apart)


def _post_mortem(session_options: SessionOptions, form: str) -> int:
    """By the room that knows recordings."""
    if not session_options.files or form != "text":
        raise click.UsageError("--post-mortem goes with -f RECORDING, as text")
    for room in room_modules("foretop", "post_mortem"):
        code: int = room.print_post_mortem(session_options)
        return code
    raise BadInput(f"{session_options.files[0]} cannot be opened", "this foretop reads no recordings")


def report_on_clusters(session_options: SessionOptions) -> int:
    """One plain report, as a build log wants it."""
    return asyncio.run(_of_clusters(session_options, None, "text", apart=False))


async def _of_clusters(session_options: SessionOptions, at: datetime | None, form: str, apart: bool) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
        judged_by = {name: session.snapshot(name).unseen for name in good}
        # Without the right to see movements only the sizes of volumes are not known: nothing else is judged by them.
        session.watch_on_demand(KINDS_OF_VOLUMES)
        await wait_synced(session)
        snapshots = [
            (replace(session.snapshot(name), unseen=judged_by[name]), at or session.clock(name).now()) for name in good
        ]
        lost = tuple(Unreadable(problem.what, problem.why, problem.hint) for problem in bad)
        limits = session.thresholds
        return report_snapshots(snapshots, (*unreadable(session), *lost), form, limits, apart=apart)


def report_snapshots(
    snapshots: Sequence[tuple[ClusterSnapshot, datetime]],
    unreadable: Sequence[Unreadable],
    form: str,
    limits: Thresholds | None = None,
    *,
    apart: bool = False,
) -> int:
    """Prints the report on some clusters, and answers with its exit code; `apart` parts off what is acknowledged."""
    now = snapshots[0][1]
    reads = BackgroundReads(os.environ, waits=True)
    parts = [_on_cluster(snapshot, moment, limits, reads, apart=apart) for snapshot, moment in snapshots]
    triages = [judged for _, judged in parts]
    names = ("servers", "schedules", "queue", "volumes", "findings", *(("acknowledged",) if apart else ()))
    answer = {
        "at": rfc3339(now),
        **{name: [item for part, _ in parts for item in part[name]] for name in names},
        "unreadable": [unreadable_item(problem) for problem in unreadable],
        "notSeen": [unseen_item(gap) for each in triages for gap in each.unseen],
    }
    warn(unreadable)
    if form == "text":
        print_report(answer, now)
    else:
        emit(answer, form)
    return report_exit_code(triages, unreadable)


def _on_cluster(
    snapshot: ClusterSnapshot,
    at: datetime,
    limits: Thresholds | None,
    reads: BackgroundReads,
    *,
    apart: bool,
) -> tuple[dict[str, list[Item]], Triage]:
    """The report on one cluster; a part that fails is left out, and is a finding instead."""
    judged = triage(snapshot, at, limits, more_rules=reads.rules(snapshot))
    failures = list(judged.failures)
    schedules: list[Item] = []
    grace = (limits or Thresholds()).overdue
    for schedule in sorted(snapshot.schedules, key=lambda schedule: (schedule.namespace, schedule.name)):
        try:
            schedules.append(schedule_item(schedule_facts(snapshot, schedule, at, grace)))
        except Exception as problem:
            failures.append(Failure(snapshot.context, "its row", snapshot.ref(schedule), problem_text(problem)))
    servers: list[Item] = []
    queue: list[Item] = []
    volumes: list[Item] = []
    try:
        volumes = [volume_item(snapshot, at)] if snapshot.backups else []
    except Exception as problem:
        failures.append(Failure(snapshot.context, "the volumes of a day", None, problem_text(problem)))
    try:
        servers = server_items(snapshot, at)
        queue = queue_items(snapshot, at, limits or Thresholds())
    except Exception as problem:
        failures.append(Failure(snapshot.context, "the queue", None, problem_text(problem)))
    marked = tuple(with_acknowledgements(judged.findings, lambda _: snapshot, lambda _: at))
    acknowledged = [finding for finding in marked if apart and finding.acknowledged is not None]
    counted = tuple(finding for finding in marked if not apart or finding.acknowledged is None)
    findings = (*map(failure_finding, failures), *aggregated(counted))
    return (
        {
            "servers": servers,
            "schedules": schedules,
            "queue": queue,
            "volumes": volumes,
            "findings": [finding_item(finding, at) for finding in findings],
            "acknowledged": [finding_item(finding, at) for finding in aggregated(acknowledged)],
        },
        replace(judged, findings=counted, failures=tuple(failures)),
    )


def report_exit_code(found: Sequence[Triage], unreadable: Sequence[Unreadable]) -> int:
    if any(finding.severity is not Severity.NOTE for each in found for finding in each.findings):
        return 1
    return NOT_JUDGED if unreadable or any(each.unseen or each.failures for each in found) else 0


def print_report(answer: dict[str, Any], now: datetime) -> None:
    say(f"As of {answer['at']}")
    for server in answer["servers"]:
        say(_server_line(server, now))
    acknowledged = answer.get("acknowledged", [])
    parts = (answer["servers"], answer["schedules"], answer["queue"], answer["findings"], acknowledged)
    several = len({item["context"] for part in parts for item in part}) > 1
    _findings(answer["findings"], answer["notSeen"], now, also_known=bool(acknowledged), several=several)
    if acknowledged:
        say()
        say(f"Acknowledged ({len(acknowledged)})")
        _finding_lines(acknowledged, now, several=several)
    holding = [item for item in answer.get("volumes", ()) if item["copiesWithVolumes"]]
    if holding:
        say()
        say("Volumes of the last 24 hours")
        for item in holding:
            _volume_lines(item, several=several)
    if answer["schedules"]:
        say()
        say(f"Schedules ({len(answer['schedules'])})")
        head = ("NAME", "CRON", "STATE", "NEXT", "LAST BACKUP", "OUTCOME")
        _table(head, answer["schedules"], _schedule_row, now, several=several)
    if answer["queue"]:
        say()
        say(f"Queue ({len(answer['queue'])})")
        head = ("", "NAME", "FROM", "PHASE", "STARTS", "WAITS FOR")
        _table(head, answer["queue"], _queue_row, now, several=several)


def _table(
    head: tuple[str, ...],
    items: list[dict[str, Any]],
    row: Callable[[dict[str, Any], datetime], tuple[str, ...]],
    now: datetime,
    *,
    several: bool,
) -> None:
    """With several clusters each row names its own."""
    rows = [(*((item["context"],) if several else ()), *row(item, now)) for item in items]
    names = (*(("CONTEXT",) if several else ()), *head)
    table(names, rows, signed=frozenset(column for column, name in enumerate(names) if not name))


def _server_line(item: dict[str, Any], now: datetime) -> str:
    """`Velero in openshift-adp: silent since 02:16:03Z`; of one that is not known, why not."""
    where = " ".join(filter(None, ("Velero", item["context"], "in", item["namespace"])))
    since = f" since {_when(item['silentSince'], now)}" if item["silentSince"] else ""
    reason = f" ({item['reason']})" if item["reason"] and item["reason"] != item["state"] else ""
    return f"{where}: {item['state']}{since}{reason}"


def _findings(
    findings: list[dict[str, Any]], unseen: list[dict[str, Any]], now: datetime, *, also_known: bool, several: bool
) -> None:
    if not findings and also_known:
        say("No problems that are not known.")
    elif not findings:
        say("No problems in what is visible." if unseen else "No problems.")
    _finding_lines(findings, now, several=several)
    for gap in unseen:
        say(f"Not visible: {' '.join(filter(None, (gap['context'], gap['kind'])))} ({gap['reason']})")


def _finding_lines(findings: list[dict[str, Any]], now: datetime, *, several: bool) -> None:
    by_id = {(item["context"], item["id"]): item for item in findings}
    for item in findings:
        where = f"{item['context']}: " if several else ""
        since = f", since {humanize.time(datetime.fromisoformat(item['since']), now)}" if item["since"] else ""
        sign = severity_mark(Severity(item["severity"])).value
        say()
        say(f"{item['severity']}  {where}{item['subject']}: {item['what']}{since}", sign=f"{sign} ")
        say(f"    {item['evidence']}")
        if cause := by_id.get((item["context"], item["because"])):
            say(f"    Cause: {cause['subject']}: {cause['what']}")
        if item["hits"]:
            say(f"    Hits: {item['hits']}")
        if item["raw"]:
            say(f"    Raw: {item['raw']}")
        if note := item["acknowledged"]:
            until = f"until {_when(note['until'], now)}" if note["until"] else "until it changes"
            say(f"    Known: acknowledged by {note['by']} {until}: {note['reason']}")
        say(f"    Do: {item['remedy']}")


def _volume_lines(item: dict[str, Any], *, several: bool) -> None:
    where = f"{item['context']}: " if several else ""
    say(f"    {where}{item['covers']}")
    for one in item["grewMost"]:
        place = f"{one['namespace']}/{one['claim']}"
        size, before = humanize.size(one["bytes"]), humanize.size(one["bytesBefore"])
        say(f"    grew: {place} from {before} to {size} in {one['backup']}")


def _schedule_row(item: dict[str, Any], now: datetime) -> tuple[str, ...]:
    return (
        "/".join(filter(None, (item["namespace"], item["name"]))),
        shown(item["schedule"]),
        "paused" if item["paused"] else item["phase"] or "New",
        _next(item, now),
        _when(item["lastBackup"], now) or "never",
        "not known" if item["lastBackupUnknown"] else item["lastBackupPhase"] or "-",
    )


def _next(item: dict[str, Any], now: datetime) -> str:
    if item["nextRun"] is None:
        if "readings" in item:
            return "not known: depends on the release"
        return "always due" if item["due"] else "none"
    run = datetime.fromisoformat(item["nextRun"])
    blocker = f", waits for {item['waitsFor']}" if item["waitsFor"] else ""
    if item["due"]:
        return f"due since {humanize.time(run, now)}{blocker}"
    if item["paused"]:
        return f"none while paused, else {humanize.time(run, now)}"
    refused = ", refused" if item["refusal"] else ""
    return f"{humanize.time(run, now)}, in {humanize.duration(run - now)}{refused}{blocker}"


_WAITS_ITS_TURN = (RunState.WAITS.name.lower(), RunState.REFUSED.name.lower())
"""Those that wait for nothing but for the ones before them: where Velero or the storage does nothing, that is it."""


def _queue_row(item: dict[str, Any], now: datetime) -> tuple[str, ...]:
    expected = item["expectedStart"]
    start = render(sentence(estimate(datetime.fromisoformat(expected))), now) if expected else ""
    return (
        str(
            item["waitingPosition"]
            or ("-" if (item["phase"] or "New") in WAITING else work_sign(item["kind"], item["phase"]))
        ),
        item["name"],
        item["owner"],
        item["phase"] or "New",
        _when(item["startedAt"], now) or ("refused" if item["refusal"] else f"about {start}" if start else "not known"),
        (item["state"] in _WAITS_ITS_TURN and ", ".join(item["blockedBy"])) or item["waitsFor"] or "-",
    )


def _when(time: str | None, now: datetime) -> str:
    return humanize.time(datetime.fromisoformat(time), now) if time else ""


def server_items(snapshot: ClusterSnapshot, now: datetime) -> list[Item]:
    """The Velero servers of a cluster, and whether each is alive."""
    servers = [server_facts(snapshot, namespace, now) for namespace in snapshot.velero_namespaces]
    return [
        {
            "context": snapshot.context,
            "namespace": server.namespace,
            "state": server.word,
            "silentSince": rfc3339(server.since),
            "lastSign": rfc3339(server.sign.at) if server.sign is not None else None,
            "lastSignOf": str(server.sign) if server.sign is not None else None,
            "reason": render(server.reason, now) or None,
            "version": server.version or None,
            "slots": server.slots,
            "pod": _pod_item(server.pod),
        }
        for server in servers
    ]


def _pod_item(pod: ServerPod | None) -> Item | None:
    """Null where pods are not watched."""
    if pod is None:
        return None
    return {"name": pod.name, "ready": pod.is_ready, "restarts": pod.restarts, "started": rfc3339(pod.started)}


def volume_item(snapshot: ClusterSnapshot, now: datetime) -> Item:
    """The volumes in the copies of the last day, what the sum covers, and what grew most since the copies before."""
    sizes = night_sizes(snapshot, now)
    return {
        "context": snapshot.context,
        "since": rfc3339(now - DAY),
        "copies": sizes.copies,
        "copiesWithVolumes": sizes.with_volumes,
        "copiesCovered": sizes.known,
        "volumes": sizes.volumes,
        "bytes": sizes.size if sizes.known else None,
        "bytesUnknown": sizes.unknown or None,
        "covers": sizes.text,
        "grewMost": [
            {
                "backup": copy.name,
                "namespace": one.namespace,
                "claim": one.claim,
                "bytesBefore": one.before,
                "bytes": one.size,
            }
            for copy, one in grown_most(snapshot)
        ],
    }


def queue_items(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> list[Item]:
    """The runs at work and those that wait, server by server: backups first, then restores."""
    items: list[Item] = []
    for namespace in snapshot.velero_namespaces:
        line = queue_line(snapshot, namespace, now)
        for entry in line.by_run.values():
            facts = run_facts(snapshot, entry.run, now, line, limits.nothing_moved)
            items.append(queue_item(snapshot.context, facts, entry, now))
    return items


def unreadable_item(problem: Unreadable) -> Item:
    return {"what": problem.what, "why": problem.why}
