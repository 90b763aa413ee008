"""`foretop schedule`: pause, unpause, create, edit and delete."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.backup_spec_options import TRUTH, template_from, template_options
from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.live_session import wait_synced
from foretop.commands.object_selection import (
    ObjectSelection,
    choosing_options,
    listed,
    pairs,
    select_one,
    velero_namespace,
)
from foretop.commands.output import say_to
from foretop.commands.write_command import (
    DONE,
    CommandSession,
    add_plain_verbs,
    verb_of,
    wait_option,
    writing,
)
from foretop.terminal.editor import create_draft, run_editor
from foretop.terminal.job_control import signals_left_to_the_child
from foretop_core.actions.journal import default_path
from foretop_core.actions.planners.pausing import (
    PAUSE,
    UNPAUSE,
    PauseRequest,
    of_batch,
    plan_pause,
    plan_unpause,
    read_end,
)
from foretop_core.actions.planners.schedule_edits import (
    EDIT_SCHEDULE,
    ScheduleEdit,
    merge_patch,
    merged,
    patch_from,
    plan_edit_schedule,
)
from foretop_core.actions.planners.schedules import (
    COVER_NAMESPACE,
    CREATE_SCHEDULE,
    DEFAULT_CRON,
    MOST,
    WAYS,
    NewSchedule,
    check_schedule,
    described_by,
    plan_cover,
    plan_create_schedules,
)
from foretop_core.actions.plans import Planner, chosen
from foretop_core.actions.spec_editing import spec_as_text, spec_from_text
from foretop_core.errors import BadInput, ForetopError
from foretop_core.models import Schedule
from foretop_core.models.kinds import (
    BACKUP,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    SCHEDULE,
    SERVER_STATUS,
    STORAGE,
)
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import Choice
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (SCHEDULE, BACKUP, STORAGE, DEPLOYMENT, SERVER_STATUS, DEFINITION)
"""The kinds that plans about schedules look at."""
_NOTHING = "Nothing to do: {} would not change."


@click.group("schedule", cls=CommandGroup, epilog=exit_codes_text("schedule"))
def command() -> None:
    """Pause, unpause, create, edit and delete schedules."""


@verb_of(command, PAUSE)
@choosing_options
@click.option("--reason", help="Reason, shown to the next shift.")
@click.option(
    "--until",
    metavar="TIME",
    help="Planned end: 04:30 (UTC), 2h or RFC 3339; +2h adds to the end it has. A reminder: nothing resumes by itself.",
)
@click.option(
    "--batch",
    metavar="ID",
    help="Name of this window; unpause --batch ID resumes exactly its schedules. Without names: the window to change.",
)
@writing(KINDS)
async def pause(
    at: CommandSession, selection: ObjectSelection, reason: str | None, until: str | None, batch: str | None
) -> int:
    """Make no further backups of some schedules; what is running goes on.

    Of a schedule that is named and paused already, --reason and --until change the reason and the end.
    """
    changes = reason is not None, until is not None
    members = of_batch(at.snapshot.schedules, batch) if batch and any(changes) and not selection.is_given else ()
    items = members or selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules)
    end = read_end(until, at.now) if until else None
    schedules = items if selection.names or members else tuple(item for item in items if not item.spec.paused)
    if not schedules:
        say_to(f"Nothing to do: all {len(items)} are already paused.", err=True)
        return DONE
    again = frozenset(at.snapshot.ref(item) for item in schedules if item.spec.paused and any(changes))
    window = batch or f"{at.now:%Y%m%d%H%M%S}-{secrets.token_hex(2)}"
    gap = at.session.thresholds.gap
    request = PauseRequest(await at.introduce(), window, reason or "", end, gap, again, *changes)
    code = await _run(at, chosen(plan_pause, request=request), schedules)
    if code == DONE and not at.options.dry_run and len(again) < len(schedules):
        say_to(f"To resume exactly these: foretop schedule unpause --batch {window}", err=True)
    return code


@verb_of(command, UNPAUSE)
@choosing_options
@click.option("--batch", metavar="ID", help="Exactly the schedules that this window paused.")
@click.option(
    "--skip-immediately",
    "skip",
    type=TRUTH,
    metavar="true|false",
    help="Skip due runs (true) or run one at once (false); by default the schedule and the server decide; "
    "the dashboard proposes to skip.",
)
@wait_option
@writing(KINDS)
async def unpause(at: CommandSession, selection: ObjectSelection, batch: str | None, skip: str | None) -> int:
    """Let schedules run again, with or without the backup that is overdue."""
    choice = Choice.LEAVE if skip is None else Choice.SKIP if skip == "true" else Choice.DO_NOT_SKIP
    if batch is not None:
        selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules, more=True)
        items: tuple[Schedule, ...] = tuple(of_batch(at.snapshot.schedules, batch))
        if not items:
            raise BadInput(f"Window {batch} has no paused schedule", "", "run foretop journal")
    else:
        items = selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules)
    schedules = items if selection.names else tuple(item for item in items if item.spec.paused)
    if not schedules:
        say_to(f"Nothing to do: none of the {len(items)} is paused.", err=True)
        return DONE
    return await at.run(chosen(plan_unpause, choice=choice), schedules)


def _new_schedules(name: str | None, source: str | None, **given: Any) -> dict[str, Any]:
    if (source is None) is (name is None):
        raise click.UsageError("give NAME and --schedule, or -f FILE")
    if name is not None and not given["cron"]:
        raise click.UsageError("--schedule is missing: give a cron expression")
    schedules: list[NewSchedule] = []
    if source is not None:
        read = argument_values.objects(source)
        schedules = [described_by(item, "") for item in read.of(SCHEDULE) if isinstance(item, Schedule)]
        if not schedules:
            raise BadInput(f"{source} contains no Schedule")
    else:
        schedules = [_from_flags(name or "", given)]
    for request in schedules:
        check_schedule(request)
    return {"wanted": schedules}


@verb_of(command, CREATE_SCHEDULE)
@click.argument("name", required=False)
@click.option("--schedule", "cron", metavar="CRON", help="When to run: a cron expression.")
@click.option("-f", "--file", "source", metavar="FILE", help="Read the schedules from a manifest instead.")
@click.option("--paused", is_flag=True, help="Create it paused.")
@click.option("--skip-immediately", "skip", type=TRUTH, metavar="true|false", help="Written only if given.")
@click.option("--use-owner-references-in-backup", "owns", is_flag=True, help="Delete its backups with it.")
@click.option("--labels", multiple=True, metavar="KEY=VALUE", help="Labels of the schedule.")
@click.option("--annotations", multiple=True, metavar="KEY=VALUE", help="Annotations of the schedule.")
@template_options
@wait_option
@writing(KINDS, _new_schedules)
async def create(at: CommandSession, wanted: list[NewSchedule]) -> int:
    """Make a schedule: NAME --schedule CRON, or -f FILE."""
    placed = [
        replace(request, namespace=request.namespace or velero_namespace(at.snapshot, at.namespaces))
        for request in wanted
    ]
    return await at.run(plan_create_schedules, placed)


@verb_of(command, COVER_NAMESPACE)
@click.argument("spaces", nargs=-1, required=True, metavar="NAMESPACE...")
@click.option("--schedule", "cron", default=DEFAULT_CRON, show_default=True, metavar="CRON", help="When to run.")
@click.option(
    "--volumes",
    type=click.Choice([MOST, *WAYS]),
    default=MOST,
    show_default=True,
    help="How its volumes are taken: as leaves out the fewest, by Velero's default, as files, or as moved snapshots.",
)
@wait_option
@writing((*KINDS, NAMESPACE))
async def cover(at: CommandSession, spaces: tuple[str, ...], cron: str, volumes: str) -> int:
    """Create a schedule for namespaces, with a template that takes their volumes."""
    at.session.watch_on_demand(KINDS_OF_VOLUMES)
    await wait_synced(at.session)
    there = {item.name: item for item in at.snapshot.namespaces or ()}
    missing = [name for name in spaces if name not in there]
    if missing:
        raise BadInput(f"Namespace {humanize.join(missing)} does not exist, or may not be listed")
    return await at.run(chosen(plan_cover, cron=cron, volumes=volumes), [there[name] for name in spaces])


def _from_flags(name: str, given: dict[str, Any]) -> NewSchedule:
    return NewSchedule(
        "",
        name,
        given["cron"],
        template_from(given),
        given["paused"],
        None if given["skip"] is None else given["skip"] == "true",
        True if given["owns"] else None,
        pairs(given["labels"], "--labels"),
        pairs(given["annotations"], "--annotations"),
    )


def _texts(name: str, editor: bool, **given: Any) -> dict[str, Any]:
    texts = {
        key: value if isinstance(value, str) else ",".join(listed(value))
        for key, value in given.items()
        if value not in (None, ())
    }
    if not texts and not editor:
        raise click.UsageError("nothing to change: give --schedule, --ttl or another field, or --editor")
    return {"name": name, "editor": editor, "texts": texts}


@verb_of(command, EDIT_SCHEDULE)
@click.argument("name")
@click.option("--schedule", metavar="CRON", help="When to run: a cron expression.")
@click.option("--ttl", metavar="TIME", help="How long its backups are kept: 720h. '' for Velero's default.")
@click.option("--include-namespaces", "included", multiple=True, metavar="LIST", help="'' for all.")
@click.option("--exclude-namespaces", "excluded", multiple=True, metavar="LIST", help="'' for none.")
@click.option("--storage-location", "storage", metavar="NAME", help="'' for the default location.")
@click.option("--skip-immediately", "skip", type=TRUTH, metavar="true|false", help="Skip the run that is due.")
@click.option("--editor", is_flag=True, help="Edit the whole spec with $KUBE_EDITOR, $VISUAL, $EDITOR or vi.")
@wait_option
@writing(KINDS, _texts)
async def edit(at: CommandSession, name: str, editor: bool, texts: Mapping[str, str]) -> int:
    """Change a schedule: by flags, or in an editor.

    What is not given stays as it is. Existing backups do not change.
    """
    item = select_one(at.snapshot, SCHEDULE, at.snapshot.schedules, name)
    schedule_edit, draft = ScheduleEdit(patch_from(texts)), None
    if editor:
        edited = await _in_editor(at, item, patch_from(texts))
        if edited is None:
            say_to(_NOTHING.format(item.name), err=True)
            return DONE
        schedule_edit, draft = edited
    try:
        code = await _run(at, chosen(plan_edit_schedule, edit=schedule_edit), [_held(at.snapshot, item)])
    except (ForetopError, click.Abort) as problem:
        if draft is None:
            raise
        if isinstance(problem, click.Abort):
            say_to(f"The edited text is in {draft}", err=True)
            raise
        raise type(problem)(f"{draft}: {problem.what}", problem.why, problem.hint) from None
    if draft is not None and code == DONE:
        draft.unlink(missing_ok=True)
    elif draft is not None:
        say_to(f"The edited text is in {draft}", err=True)
    return code


async def _run(at: CommandSession, planner: Planner, items: Sequence[Schedule]) -> int:
    plan = planner(at.snapshot, items, at.now)
    if not plan.steps and not plan.refused:
        say_to(_NOTHING.format(humanize.join([item.name for item in items])), err=True)
        return DONE
    return await at.run(planner, items)


async def _in_editor(at: CommandSession, item: Schedule, patch: Mapping[str, Any]) -> tuple[ScheduleEdit, Path] | None:
    """The edit, and the file that it is in until it is done; None where the file was not changed."""
    ref = ObjectRef(at.context, SCHEDULE.name, item.namespace, item.name)
    body = await at.session.fetch_object(ref)
    opened: dict[str, Any] = body.get("spec") or {}
    text = spec_as_text(ref, merged(opened, patch))
    draft = create_draft(default_path(os.environ).parent / "edits", item.name, text)
    with signals_left_to_the_child():
        saved = await asyncio.to_thread(run_editor, draft, os.environ)
    spec = spec_from_text(saved, str(draft), opened) if saved != text or patch else None
    if spec is None:
        draft.unlink(missing_ok=True)
        return None
    return ScheduleEdit(merge_patch(opened, spec), opened, body["metadata"].get("uid", "")), draft


def _held(snapshot: ClusterSnapshot, item: Schedule) -> Schedule:
    """The schedule as it is now: an editor may have been open for long."""
    place = (item.namespace, item.name)
    return next((schedule for schedule in snapshot.schedules if (schedule.namespace, schedule.name) == place), item)


add_plain_verbs(command, KINDS)
