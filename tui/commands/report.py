"""`foretop report`: what there is to know about the objects in a file, as of one moment."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from core.models.manifest import Manifest
from core.rules import words
from core.rules.assemble import assemble
from core.rules.triage import Severity, Triage, triage
from core.rules.words import rfc3339
from core.rules.world import World
from core.view.items import finding_item, queue_items, schedule_item, unreadable_item, unseen_item
from tui.commands import inputs
from tui.commands.output import emit, file_help, output_option, say, table, warn

_SIGNS = {"error": "✗", "warning": "▲", "note": "·"}


@click.command("report")
@click.option("-f", "--file", "source", metavar="FILE", required=True, help=file_help)
@click.option("--at", "at", metavar="TIME", help="Judge as of this time instead of now.")
@output_option
def command(source: str, at: str | None, form: str) -> int:
    """Next runs, queue and findings of the objects in a file.

    Exit code: 0 nothing to do, 1 findings of severity error or an unreadable object, 2 nothing readable.
    """
    now = inputs.moment(at)
    read = inputs.objects(source)
    world = assemble(item for _, item in read.objects)
    found = triage(world, now)
    answer = report(world, found, read, now)
    warn(read.unreadable)
    if form == "text":
        show(answer, now)
    else:
        emit(answer, form)
    return exit_code(found, read)


def report(world: World, found: Triage, read: Manifest, now: datetime) -> dict[str, Any]:
    schedules = sorted(world.schedules, key=lambda schedule: (schedule.namespace, schedule.name))
    return {
        "at": rfc3339(now),
        "schedules": [schedule_item(world, schedule, now) for schedule in schedules],
        "queue": queue_items(world, now),
        "findings": [finding_item(finding) for finding in found.findings],
        "unreadable": [unreadable_item(problem) for problem in read.unreadable],
        "notSeen": [unseen_item(gap) for gap in found.unseen],
    }


def exit_code(found: Triage, read: Manifest) -> int:
    if read.unreadable or any(finding.severity is Severity.ERROR for finding in found.findings):
        return 1
    return 3 if found.unseen else 0


def show(answer: dict[str, Any], now: datetime) -> None:
    say(f"As of {answer['at']}")
    _findings(answer["findings"], answer["notSeen"], now)
    if answer["schedules"]:
        say()
        say(f"Schedules ({len(answer['schedules'])})")
        head = ("NAME", "CRON", "STATE", "NEXT", "LAST BACKUP", "OUTCOME")
        table(head, [_schedule_row(item, now) for item in answer["schedules"]])
    if answer["queue"]:
        say()
        say(f"Queue ({len(answer['queue'])})")
        head = ("", "NAME", "FROM", "PHASE", "STARTS", "WAITS FOR")
        table(head, [_queue_row(item, now) for item in answer["queue"]])


def _findings(findings: list[dict[str, Any]], unseen: list[dict[str, Any]], now: datetime) -> None:
    if not findings:
        say("Nothing wrong in what can be seen." if unseen else "Nothing wrong.")
    for item in findings:
        place = "/".join(filter(None, (item["namespace"], item["name"])))
        since = f", since {words.moment(datetime.fromisoformat(item['since']), now)}" if item["since"] else ""
        say()
        say(f"{_SIGNS[item['severity']]} {item['severity']}  {item['kind']} {place}: {item['what']}{since}")
        say(f"    {item['evidence']}")
        say(f"    Do: {item['remedy']}")
    for gap in unseen:
        say(f"Not seen: {gap['kind']} ({gap['reason']})")


def _schedule_row(item: dict[str, Any], now: datetime) -> tuple[str, ...]:
    return (
        "/".join(filter(None, (item["namespace"], item["name"]))),
        item["schedule"],
        "paused" if item["paused"] else item["phase"] or "New",
        _next(item, now),
        _when(item["lastBackup"], now) or "never",
        item["lastOutcome"] or "-",
    )


def _next(item: dict[str, Any], now: datetime) -> str:
    if item["nextRun"] is None:
        return "always due" if item["due"] else "none"
    run = datetime.fromisoformat(item["nextRun"])
    if item["due"]:
        return f"due since {words.moment(run, now)}"
    return f"{words.moment(run, now)}, in {words.span(run - now)}"


def _queue_row(item: dict[str, Any], now: datetime) -> tuple[str, ...]:
    start = _when(item["expectedStart"], now)
    return (
        str(item["position"]),
        item["name"],
        item["owner"],
        item["phase"] or "waiting",
        _when(item["startedAt"], now) or (f"about {start}" if start else "not known"),
        ", ".join(item["blockedBy"]) or "-",
    )


def _when(time: str | None, now: datetime) -> str:
    return words.moment(datetime.fromisoformat(time), now) if time else ""
