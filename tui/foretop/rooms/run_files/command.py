"""`foretop taken`: which volumes and objects a backup holds, and what the next run of a schedule takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from foretop.commands.connection import connection_options, from_files
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import wait_synced
from foretop.commands.output import emit, say, say_progress, table, warn
from foretop.commands.write_command import DONE, CommandSession, open_session, run_async
from foretop.rooms.run_files.run_commands import confirm_download, print_progress, trust_options
from foretop_core.actions.run_files import resources_of, volumes_of
from foretop_core.actions.signed_url_download import TlsTrust
from foretop_core.actions.unwatched_reads import movements_of
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAMESPACE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.run_files.holdings import NextNamespace, holdings, newest_copy, next_run
from foretop_core.rooms.run_files.live_objects import differs_now, live_objects
from foretop_core.rooms.run_files.objects import NOW, Inside, copies_differ, inside_lines, listed
from foretop_core.rules import humanize
from foretop_core.rules.facts.contents_facts import NamespaceContents, ToldVolume, VolumeFate, told_line
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES, NextVolumes, next_volumes
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.phases import FAULTY, why_no_files
from foretop_core.rules.results import ResourceList
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.resources.protection import next_volumes_item

KINDS = (SCHEDULE, BACKUP, STORAGE, DEPLOYMENT, NAMESPACE)
_PART = 1
_NOW = "now"
_WORDS = {VolumeFate.TAKEN: "taken", VolumeFate.LEFT_OUT: "left out", VolumeFate.NOT_KNOWN: "not known"}


@click.command("taken", cls=OwnOptionsFirst, epilog=example("foretop taken daily -n shop"))
@click.argument("name", metavar="SCHEDULE|BACKUP")
@click.option("--objects", "lists", is_flag=True, help="List its objects too, by namespace and kind.")
@click.option("--filter", "text", default="", metavar="TEXT", help="Only objects whose kind or name has it.")
@click.option(
    "--against",
    metavar="BACKUP|now",
    help="What differs from another backup, or from what the namespaces given with -n have now.",
)
@trust_options
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json", "yaml", "name"]),
    default="text",
    show_default=True,
    help="Output format; name: the claims whose data is in it, as NAMESPACE/NAME.",
)
@connection_options
@from_files
def command(
    name: str,
    session_options: SessionOptions,
    trust: TlsTrust,
    confirmed: str,
    form: str,
    lists: bool,
    text: str,
    against: str | None,
) -> int:
    """Which volumes and objects a backup holds, by namespace: how each was taken, its size, or why it was left out.

    Of a schedule it is the newest copy, beside what the next run takes and leaves out. Velero keeps this in object
    storage: DownloadRequests are created for it, which Velero removes after ten minutes. NAME may be NAMESPACE/NAME;
    -n names namespaces in the backup. Secrets are not compared with those that are there now.
    """
    options = replace(session_options, namespaces=(), with_velero=True)
    wanted = session_options.namespaces
    if against == _NOW and not wanted:
        raise click.UsageError("--against now needs -n: the namespaces to look into")
    asked = Wanted(tuple(wanted), lists or bool(text), text, against or "")
    return run_async(_taken(options, name, asked, trust, confirmed, form))


class Wanted(msgspec.Struct, frozen=True):
    """Which of it is asked for, beside its volumes."""

    namespaces: tuple[str, ...]
    lists: bool = False
    text: str = ""
    against: str = ""


class Coming(msgspec.Struct, frozen=True):
    """The next run of a schedule by namespace, and what is told of the volumes of all of them, on its page too."""

    namespaces: tuple[NextNamespace, ...] = ()
    volumes: NextVolumes | None = None


async def _taken(options: SessionOptions, name: str, wanted: Wanted, trust: TlsTrust, confirmed: str, form: str) -> int:
    namespaces = wanted.namespaces
    async with open_session(options, KINDS) as at:
        schedule, backup = find_run(at.snapshot, name)
        if schedule is not None:
            at.session.watch_on_demand(KINDS_OF_VOLUMES)
            await wait_synced(at.session)
        problems: list[ForetopError] = []
        contents: tuple[NamespaceContents, ...] = ()
        inside = Inside()
        if backup is not None:
            if why := why_no_files(backup.phase):
                raise BadInput(f"{backup.name} holds nothing that can be told", why)
            await confirm_download(at, confirmed)
            resources = await _fetch(at, backup, trust, problems)
            contents = holdings(at.snapshot, backup, resources, namespaces)
            inside = await _inside(at, backup, resources, wanted, trust, problems)
        # By the data movements of its newest copy too, which are read by now.
        coming = (
            Coming(next_run(at.snapshot, schedule, namespaces), next_volumes(at.snapshot, schedule))
            if schedule is not None
            else Coming()
        )
        if backup is not None:
            _check_names(backup, contents, coming.namespaces, namespaces, problems)
        warn(problems)
        _print(at, schedule, backup, contents, coming, inside, form)
        return _PART if problems else DONE


def find_run(snapshot: ClusterSnapshot, name: str) -> tuple[Schedule | None, Backup | None]:
    """The schedule of that name with its newest copy, else the backup of that name; raises where there is neither."""
    place, _, short = name.rpartition("/")

    def named(items: Sequence[Any]) -> list[Any]:
        return [one for one in items if one.name == short and place in ("", one.namespace)]

    schedules, backups = named(snapshot.schedules), named(snapshot.backups)
    if len(schedules) + len(backups) > 1:
        both = [f"{type(one).__name__.lower()} {one.namespace}/{one.name}" for one in (*schedules, *backups)]
        raise BadInput(
            f"{name} names more than one", humanize.join(both), "write NAMESPACE/NAME, or the name of a backup"
        )
    if schedules:
        return schedules[0], newest_copy(snapshot, schedules[0])
    if backups:
        return None, backups[0]
    gap = snapshot.gap(SCHEDULE) or snapshot.gap(BACKUP)
    why = f"the {gap.kind.lower()}s could not be read: {gap.why()}" if gap is not None and gap.kind else ""
    raise BadInput(f"No schedule or backup {name}", why, "foretop get backups lists them")


async def _fetch(
    at: CommandSession, backup: Backup, trust: TlsTrust, problems: list[ForetopError]
) -> ResourceList | None:
    """Puts its volume info and data movements beside the rest; what cannot be had joins the problems."""
    key = ObjectRef(at.context, BACKUP.name, backup.namespace, backup.name)
    try:
        moved = await movements_of(at.session.clusters[at.context].client, backup)
        at.session.store.fill(at.context, moved, at.session.clock(at.context))
    except ForetopError as problem:
        problems.append(ForetopError("Data movements are not told", str(problem)))
    try:
        at.session.store.note_volumes(key, await volumes_of(at.executor, backup, trust, print_progress))
    except ForetopError as problem:
        problems.append(problem)
    try:
        return await resources_of(at.executor, backup, trust, print_progress)
    except ForetopError as problem:
        problems.append(problem)
        return None


async def _inside(
    at: CommandSession,
    backup: Backup,
    resources: ResourceList | None,
    wanted: Wanted,
    trust: TlsTrust,
    problems: list[ForetopError],
) -> Inside:
    """Its objects as far as they are asked for; what they are compared with is fetched, or listed, first."""
    if resources is None:
        return Inside()
    objects = listed(resources, wanted.namespaces, wanted.text) if wanted.lists else None
    is_doubtful = backup.phase in FAULTY and (wanted.lists or bool(wanted.against))
    inside = Inside(objects, is_doubtful=is_doubtful)
    if not wanted.against:
        return inside
    if wanted.against == _NOW:
        kinds = [kind.kind for kind in resources.kinds]
        client = at.session.clusters[at.context].client
        live = await live_objects(client, wanted.namespaces, kinds, say_progress)
        problems += [ForetopError(one) for one in live.not_compared()]
        differing = differs_now(resources, live, wanted.namespaces, wanted.text)
        return replace(inside, differing=differing, sides=(backup.name, NOW))
    _, other = find_run(at.snapshot, wanted.against)
    if other is None:
        raise BadInput(f"{wanted.against} has no copy yet")
    try:
        theirs = await resources_of(at.executor, other, trust, print_progress)
    except ForetopError as problem:
        problems.append(problem)
        return inside
    differing = copies_differ(resources, theirs, wanted.namespaces, wanted.text)
    return replace(inside, differing=differing, sides=(backup.name, other.name))


def _check_names(
    backup: Backup,
    contents: Sequence[NamespaceContents],
    coming: Sequence[NextNamespace],
    wanted: Collection[str],
    problems: Sequence[ForetopError],
) -> None:
    """A namespace that is nowhere in it is a mistake, unless not all of it could be read."""
    missing = sorted(set(wanted) - {one.namespace for one in contents} - {one.namespace for one in coming})
    if missing and not problems:
        raise BadInput(f"{backup.name} holds nothing of {humanize.join(missing)}")


def _print(
    at: CommandSession,
    schedule: Schedule | None,
    backup: Backup | None,
    contents: Sequence[NamespaceContents],
    coming: Coming,
    inside: Inside,
    form: str,
) -> None:
    if form == "name":
        for one in contents:
            for volume in one.taken:
                say(f"{volume.namespace}/{volume.claim}")
    elif form == "text":
        for line in _lines(at, schedule, backup, contents):
            say(line)
        if inside != Inside():
            say()
        for line in inside_lines(inside):
            say(line)
        if schedule is not None:
            _print_next(schedule, coming)
    else:
        is_whole = backup is not None and at.snapshot.volume_info(backup) is not None
        item = taken_item(at.context, schedule, backup, contents, coming, is_whole=is_whole)
        emit({**item, **_inside_item(inside)}, form)


def _inside_item(inside: Inside) -> Item:
    """Null where it was not asked for, or could not be had."""
    objects, differing = inside.objects, inside.differing
    return {
        "objects": None
        if objects is None
        else [{"namespace": space, "kind": kind, "names": sorted(names)} for (space, kind), names in objects.items()],
        "differences": None
        if differing is None
        else [
            {"namespace": one.namespace, "kind": one.kind, "added": list(one.added), "gone": list(one.gone)}
            for one in differing
        ],
    }


def _lines(
    at: CommandSession, schedule: Schedule | None, backup: Backup | None, contents: Sequence[NamespaceContents]
) -> Iterator[str]:
    if backup is None:
        assert schedule is not None
        yield f"{schedule.namespace}/{schedule.name}: no copy yet"
        return
    age = f", {humanize.duration(at.now - backup.started)} old" if backup.started is not None else ""
    yield f"{backup.namespace}/{backup.name}: {backup.phase}{age}"
    is_whole = at.snapshot.volume_info(backup) is not None
    for one in contents:
        # What moved has an object; of what else there is, only the volume info tells.
        some = f"at least {humanize.count(len(one.taken), 'volume')}"
        facts = [text for text in (one.volumes_text if is_whole else some, one.kinds_text()) if text]
        yield f"  {one.namespace or 'cluster-scoped'}: {'; '.join(facts)}"
        for volume in one.volumes:
            yield f"    {told_line(volume)}"
    if not contents:
        yield "  It holds nothing." if is_whole else "  Nothing of it could be told."


def _print_next(schedule: Schedule, coming: Coming) -> None:
    say()
    paused = ", once it is unpaused" if schedule.spec.paused else ""
    say(f"The next run of {schedule.name} takes{paused}:")
    rows = [[one.namespace, one.covers, one.volumes.method.value] for one in coming.namespaces]
    if rows:
        table(["NAMESPACE", "TAKEN", "VOLUMES"], rows)
    else:
        say("  nothing")
    if coming.volumes is not None:
        say(f"Volumes: {coming.volumes.sentence}.")
        for line in coming.volumes.lines:
            say(f"  {line}.")


def taken_item(
    context: str,
    schedule: Schedule | None,
    backup: Backup | None,
    contents: Sequence[NamespaceContents],
    coming: Coming,
    *,
    is_whole: bool,
) -> Item:
    """The same for a machine; `next` is null where a backup was named, `volumesKnown` false without volume info."""
    return {
        "context": context,
        "schedule": identity(context, schedule) if schedule is not None else None,
        "backup": identity(context, backup) if backup is not None else None,
        "phase": backup.phase if backup is not None else None,
        "startedAt": rfc3339(backup.started) if backup is not None else None,
        "volumesKnown": is_whole,
        "namespaces": [
            {
                "name": one.namespace,
                "bytes": one.size if is_whole else None,
                "volumes": [_volume(volume) for volume in one.volumes],
                "objects": dict(one.kinds),
            }
            for one in contents
        ],
        "next": None
        if schedule is None
        else [
            {"name": one.namespace, "covers": one.covers, **next_volumes_item(one.volumes)} for one in coming.namespaces
        ],
        "nextRefused": (coming.volumes.refused or None) if coming.volumes is not None else None,
    }


def _volume(told: ToldVolume) -> Item:
    is_taken = told.fate is VolumeFate.TAKEN
    return {
        "claim": told.claim,
        "fate": _WORDS[told.fate],
        "method": told.method.value if is_taken else None,
        "bytes": told.size if is_taken else None,
        "why": told.why or None,
    }
