"""`foretop prescaled`: the warm-up schedules of PreScaledCronJobs, and warm-up CronJobs for what has no prescaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.object_selection import select_one
from foretop.commands.write_command import CommandSession, add_plain_verbs, verb_of, writing
from foretop_core.actions.plans import chosen, objects_of
from foretop_core.errors import BadInput
from foretop_core.models.kinds import CRON_JOB, DEFINITION, DEPLOYMENT, PRESCALED, SCHEDULE, SERVER_STATUS, Kind
from foretop_core.rooms.primer.planners import (
    CREATE_WARM_UP,
    plan_warm_up,
    read_image,
    read_minutes,
    read_pods,
    read_room,
)

_KINDS: Mapping[str, Kind] = {
    word: kind for kind in CREATE_WARM_UP.kinds for word in (kind.name.lower(), kind.plural, *kind.short)
}


@click.group("prescaled", cls=CommandGroup, epilog=exit_codes_text("prescaled"))
def command() -> None:
    """Set the warm-up schedules of PreScaledCronJobs, and create warm-up CronJobs."""


add_plain_verbs(command, (PRESCALED, CRON_JOB))


def _read(asked_for: str, warmup: str, pods: str, request: str, image: str) -> dict[str, Any]:
    word, slash, name = asked_for.partition("/")
    if not slash or not name or word.lower() not in _KINDS:
        raise BadInput(f"{asked_for!r} is no schedule or cronjob", "", "write it as schedule/NAME or cronjob/NAME")
    pod = {"pods": read_pods(pods), "room": read_room(request), "image": read_image(image)}
    return {"kind": _KINDS[word.lower()], "name": name, "warm_up": {"minutes": read_minutes(warmup), **pod}}


@verb_of(command, CREATE_WARM_UP)
@click.argument("asked_for", metavar="KIND/NAME")
@click.option("--warmup", default="", metavar="MINUTES", help="How long before a run.  [default: 10]")
@click.option("--pods", default="", metavar="NUMBER", help="How many pods ask for room.  [default: 1]")
@click.option("--request", default="", metavar="cpu=2,memory=4Gi", help="What each of them asks for.")
@click.option("--image", default="", metavar="IMAGE", help="An image with the program sleep.")
@writing((SCHEDULE, CRON_JOB, DEPLOYMENT, SERVER_STATUS, DEFINITION), _read)
async def create(at: CommandSession, kind: Kind, name: str, warm_up: dict[str, Any]) -> int:
    """Create a CronJob that warms the nodes up before a Schedule or a CronJob runs.

    KIND/NAME is schedule/NAME or cronjob/NAME, or with a namespace schedule/NAMESPACE/NAME. The CronJob is made beside
    it: its pods ask for room some minutes before each run, and have gone by then.
    """
    item = select_one(at.snapshot, kind, objects_of(at.snapshot, kind), name)
    return await at.run(chosen(plan_warm_up, **warm_up), [item])
