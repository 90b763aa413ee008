"""`foretop whatif`: the coming night with and without a change that nobody has made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.forecast import night_exit_code, night_options
from foretop.commands.help_examples import example
from foretop.commands.one_server import night_item, of_one_server, say_nights
from foretop.commands.output import emit, output_option
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules.night.what_if import (
    Add,
    Change,
    Longer,
    Move,
    NightComparison,
    Pause,
    Slots,
    Stopped,
    Unpause,
    read_number,
    read_pair,
    what_if,
)
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot


@click.command("whatif", epilog=example("foretop whatif --move daily='30 2 * * *' --concurrent-backups 3"))
@connection_options
@night_options
@click.option("--move", "moves", multiple=True, metavar="NAME=CRON", help="Another expression for a schedule.")
@click.option("--pause", "pauses", multiple=True, metavar="NAME", help="Pause a schedule.")
@click.option("--unpause", "unpauses", multiple=True, metavar="NAME", help="Unpause a schedule.")
@click.option("--concurrent-backups", "slots", type=int, metavar="N", help="Let Velero run so many at a time.")
@click.option("--add", "adds", multiple=True, metavar="NAME=CRON", help="A schedule that does not exist yet.")
@click.option(
    "--length", "minutes", type=float, default=10.0, show_default=True, metavar="MINUTES", help="Of a run of --add."
)
@click.option("--longer", "longer", multiple=True, metavar="NAME=N", help="Runs of a schedule take N times as long.")
@click.option("--stopped", "stopped", metavar="A-B", help="Velero does not run then, such as 02:00-03:00.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of --stopped (UTC).")
@output_option
def command(
    session_options: SessionOptions,
    source: str | None,
    at: str | None,
    hours: int,
    moves: Sequence[str],
    pauses: Sequence[str],
    unpauses: Sequence[str],
    slots: int | None,
    adds: Sequence[str],
    minutes: float,
    longer: Sequence[str],
    stopped: str | None,
    zone_name: str | None,
    form: str,
) -> int:
    """Compare the coming night with what it would be after a change. Nothing is written.

    Both are simulated with the same draws, so that they differ in the change alone.
    """
    zone = argument_values.zone(zone_name)
    changes: list[Change] = [
        *(Move(name, text) for name, text in map(read_pair, moves)),
        *map(Pause, pauses),
        *map(Unpause, unpauses),
        *(Add(name, text, timedelta(minutes=minutes)) for name, text in map(read_pair, adds)),
        *(Longer(name, read_number(text)) for name, text in map(read_pair, longer)),
    ]
    if slots is not None:
        changes.append(Slots(slots))
    if stopped is not None:
        changes.append(Stopped(read_window(stopped, zone)))

    def judge(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> int:
        found = what_if(snapshot, namespace, now, changes, timedelta(hours=hours))
        if form == "text":
            _say(found)
        else:
            emit(_comparison(found, now), form)
        return night_exit_code(found.after)

    return of_one_server(session_options, source, at, judge)


def _comparison(found: NightComparison, now: datetime) -> dict[str, Any]:
    return {
        "before": night_item(found.before),
        "after": night_item(found.after),
        "differences": [render(one, now) for one in found.differences],
    }


def _say(found: NightComparison) -> None:
    say_nights(found.before, found.after, found.differences, "After the change:")
