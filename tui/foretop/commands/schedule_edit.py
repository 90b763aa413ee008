"""`foretop schedule edit`: fields by flags, or the whole spec in an editor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from foretop.commands.backup_spec_options import TRUTH
from foretop.commands.connection import connection_options
from foretop.commands.object_selection import listed, select_one
from foretop.commands.output import say_to
from foretop.commands.write_command import DONE, CommandSession, acting_options, in_session, wait_option
from foretop.terminal.editor import create_draft, run_editor
from foretop.terminal.job_control import signals_left_to_the_child
from foretop_core.actions.journal import default_path
from foretop_core.actions.planners.schedule_edits import (
    ScheduleEdit,
    merge_patch,
    merged,
    patch_from,
    plan_edit_schedule,
)
from foretop_core.actions.plans import chosen
from foretop_core.actions.spec_editing import spec_as_text, spec_from_text
from foretop_core.errors import ForetopError
from foretop_core.models import Schedule
from foretop_core.models.kinds import BACKUP, DEFINITION, DEPLOYMENT, SCHEDULE, SERVER_STATUS, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (SCHEDULE, BACKUP, STORAGE, DEPLOYMENT, SERVER_STATUS, DEFINITION)
"""What plans about schedules look at."""
_NOTHING = "Nothing to do: {} would not change."


def _texts(name: str, editor: bool, **given: Any) -> dict[str, Any]:
    texts = {key: _text(value) for key, value in given.items() if value not in (None, ())}
    if not texts and not editor:
        raise click.UsageError("nothing to change: give --schedule, --ttl or another field, or --editor")
    return {"name": name, "editor": editor, "texts": texts}


def _text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ",".join(listed(value))


@click.argument("name")
@click.option("--schedule", metavar="CRON", help="When to run: a cron expression.")
@click.option("--ttl", metavar="TIME", help="How long its backups are kept: 720h. '' for Velero's default.")
@click.option("--include-namespaces", "included", multiple=True, metavar="LIST", help="'' for all.")
@click.option("--exclude-namespaces", "excluded", multiple=True, metavar="LIST", help="'' for none.")
@click.option("--storage-location", "storage", metavar="NAME", help="'' for the default location.")
@click.option("--skip-immediately", "skip", type=TRUTH, metavar="true|false", help="Skip the run that is due.")
@click.option("--editor", is_flag=True, help="Edit the whole spec with $KUBE_EDITOR, $VISUAL, $EDITOR or vi.")
@wait_option
@connection_options
@acting_options
@in_session(KINDS, _texts)
async def edit(at: CommandSession, name: str, editor: bool, texts: Mapping[str, str]) -> int:
    """Change a schedule: by flags, or in an editor.

    What is not given stays as it is. Existing backups do not change.
    """
    item = select_one(at.snapshot, SCHEDULE, at.snapshot.schedules, name)
    wanted, draft = ScheduleEdit(patch_from(texts)), None
    if editor:
        edited = await _in_editor(at, item, patch_from(texts))
        if edited is None:
            say_to(_NOTHING.format(item.name), err=True)
            return DONE
        wanted, draft = edited
    try:
        code = await _carry_out(at, item, wanted)
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


async def _carry_out(at: CommandSession, item: Schedule, wanted: ScheduleEdit) -> int:
    planner, before = chosen(plan_edit_schedule, edit=wanted), _held(at.snapshot, item)
    plan = planner(at.snapshot, [before], at.now)
    if not plan.steps and not plan.refused:
        say_to(_NOTHING.format(item.name), err=True)
        return DONE
    return await at.run(planner, [before])


async def _in_editor(at: CommandSession, item: Schedule, patch: Mapping[str, Any]) -> tuple[ScheduleEdit, Path] | None:
    """The edit, and the file that it is in until it is done; None where the file was not changed."""
    ref = ObjectRef(at.context, SCHEDULE.name, item.namespace, item.name)
    found = await at.session.fetch_object(ref)
    opened: dict[str, Any] = found.get("spec") or {}
    text = spec_as_text(ref, merged(opened, patch))
    draft = create_draft(default_path(os.environ).parent / "edits", item.name, text)
    with signals_left_to_the_child():
        saved = await asyncio.to_thread(run_editor, draft, os.environ)
    spec = spec_from_text(saved, str(draft), opened) if saved != text or patch else None
    if spec is None:
        draft.unlink(missing_ok=True)
        return None
    return ScheduleEdit(merge_patch(opened, spec), opened, found["metadata"].get("uid", "")), draft


def _held(snapshot: ClusterSnapshot, item: Schedule) -> Schedule:
    """The schedule as it is now: an editor may have been open for long."""
    place = (item.namespace, item.name)
    return next((one for one in snapshot.schedules if (one.namespace, one.name) == place), item)
