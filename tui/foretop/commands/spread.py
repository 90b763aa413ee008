"""`foretop spread`: other minutes for schedules that meet, with what they would gain."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from foretop.commands import argument_values
from foretop.commands.connection import connection_options
from foretop.commands.forecast import night_exit_code, night_options
from foretop.commands.help_examples import example
from foretop.commands.one_server import night_item, of_one_server, say_nights
from foretop.commands.output import emit, output_option, say, table
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.night.spread import Shift, Spreading, Strain, spread
from foretop_core.rules.night.window import read_window
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot


@click.command("spread", epilog=example("foretop spread --window 01:00-05:00 --keep daily -o yaml"))
@connection_options
@night_options
@click.option(
    "--window",
    "window",
    metavar="A-B",
    help="Runs that are due in it may take any minute of it, such as 01:00-05:00; without it each keeps its hours.",
)
@click.option("--keep", "keep", multiple=True, metavar="NAME", help="Leave this schedule as it is.")
@click.option("--tz", "zone_name", metavar="ZONE", help="Time zone of the window (UTC).")
@output_option
def command(
    session_options: SessionOptions,
    source: str | None,
    at: str | None,
    hours: int,
    window: str | None,
    keep: Sequence[str],
    zone_name: str | None,
    form: str,
) -> int:
    """Propose other minutes for schedules that meet, so that fewer runs wait and none is lost. Nothing is written.

    The rhythm stays, and as few schedules as possible are moved. Each proposal is simulated; -o yaml and -o json have
    the patches, and the kubectl command of each.
    """
    zone = argument_values.zone(zone_name)
    stretch = None if window is None else read_window(window, zone)

    def judge(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> int:
        found = spread(snapshot, namespace, now, stretch, keep, timedelta(hours=hours))
        if form == "text":
            _say(found)
        else:
            emit(_item(found, now), form)
        return night_exit_code(found.after)

    return of_one_server(session_options, source, at, judge)


def _say(found: Spreading) -> None:
    if not found.shifts:
        say("Nothing to move: no other minutes would gain enough.")
        say(f"  {_strain_words(found.strain_before)}")
        return
    table(
        ("SCHEDULE", "NOW", "PROPOSED", "BY", "GAINS"),
        [(shift.ref.name, shift.before, shift.after, _by(shift.minutes), shift.gain.saved) for shift in found.shifts],
        indent="",
    )
    for shift in found.shifts:
        for note in _notes(shift):
            say(f"  {shift.ref.name}: {note}")
    say()
    say(f"Before: {_strain_words(found.strain_before)}")
    say(f"After:  {_strain_words(found.strain_after)}")
    say()
    say_nights(found.before, found.after, found.differences, "With these minutes:")
    say()
    say("Nothing is written. To do it:")
    for shift in found.shifts:
        for command in _commands(shift):
            say(f"  {command}")


def _by(minutes: int) -> str:
    return f"{'+' if minutes > 0 else '-'}{humanize.duration(timedelta(minutes=abs(minutes)))}"


def _strain_words(one: Strain) -> str:
    return f"{one.lost:.1f} lost, {one.late:.1f} late, {humanize.duration(one.wait)} of waiting in all, on average."


def _notes(shift: Shift) -> list[str]:
    told = []
    if shift.skips:
        told.append("skipImmediately goes with it: by the new expression a run would be due at once.")
    told += [f"its warm-up {warm.ref.namespace}/{warm.ref.name} moves along." for warm in shift.warm_ups]
    told += [
        f"the warm-up {ref.namespace}/{ref.name} runs at its times and stays: other schedules have them too, or it "
        "cannot be primed there."
        for ref in shift.left_behind
    ]
    return told


def _commands(shift: Shift) -> list[str]:
    return [_command(ref, patch) for ref, patch in _patches(shift)]


def _patches(shift: Shift) -> list[tuple[ObjectRef, Mapping[str, Any]]]:
    return [(shift.ref, shift.patch), *((warm.ref, warm.patch) for warm in shift.warm_ups)]


def _command(ref: ObjectRef, spec: Mapping[str, Any]) -> str:
    kind = by_name(ref.kind)
    assert kind is not None
    context = ("--context", ref.context) if ref.context else ()
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    resource = f"{kind.plural}.{kind.group}"
    return shlex.join(
        ("kubectl", *context, "-n", ref.namespace, "patch", resource, ref.name, "--type", "merge", "-p", patch)
    )


def _item(found: Spreading, now: datetime) -> dict[str, Any]:
    return {
        "shifts": [
            {
                "schedule": shift.ref.name,
                "before": shift.before,
                "after": shift.after,
                "minutes": shift.minutes,
                "gain": _strain_item(shift.gain),
                "patches": [
                    {
                        "kind": ref.kind,
                        "namespace": ref.namespace,
                        "name": ref.name,
                        "patch": {"spec": dict(patch)},
                        "command": _command(ref, patch),
                    }
                    for ref, patch in _patches(shift)
                ],
                "warmUpsThatStay": [f"{ref.namespace}/{ref.name}" for ref in shift.left_behind],
            }
            for shift in found.shifts
        ],
        "before": {**night_item(found.before), "average": _strain_item(found.strain_before)},
        "after": {**night_item(found.after), "average": _strain_item(found.strain_after)},
        "differences": [render(one, now) for one in found.differences],
    }


def _strain_item(one: Strain) -> dict[str, float]:
    return {"lost": round(one.lost, 2), "late": round(one.late, 2), "waitSeconds": round(one.waits)}
