"""One Velero server of one cluster, or of a file: what `whatif` and `spread` judge, and how they tell two nights."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.forecast import last_end_item
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.output import say, warn
from foretop_core.errors import BadInput, Unforeseen
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.night import Fate
from foretop_core.rules.night.outlook import Outlook, words
from foretop_core.rules.night.what_if import NO_DIFFERENCE
from foretop_core.rules.sentences import Text, render
from foretop_core.rules.snapshot import ClusterSnapshot

Judge = Callable[[ClusterSnapshot, str, datetime], int]
"""Gets the snapshot, the namespace of the server and the moment; its answer is the exit code."""


def of_one_server(options: SessionOptions, source: str | None, at: str | None, judge: Judge) -> int:
    """Judges the server that is asked for; BadInput where there is none, or several and none is named.

    3, as `forecast` has it, where nothing can be foreseen of the server.
    """
    try:
        if source is None:
            return asyncio.run(_of_cluster(options, judge))
        snapshot, read = argument_values.snapshot_in(source, options)
        warn(read.unreadable)
        return judge(snapshot, _namespace(snapshot, options.velero_namespace), argument_values.moment(at))
    except Unforeseen as silence:
        warn((silence,))
        return 3


async def _of_cluster(options: SessionOptions, judge: Judge) -> int:
    async with running_session(replace(options, with_velero=True)) as session:
        good, bad = await wait_synced(session)
        warn(bad)
        if len(good) > 1:
            raise BadInput("A change is of one cluster", f"{len(good)} are given", "choose one with --context")
        snapshot = session.snapshot(good[0])
        return judge(snapshot, _namespace(snapshot, options.velero_namespace), session.clock(good[0]).now())


def _namespace(snapshot: ClusterSnapshot, wanted: str) -> str:
    places = snapshot.velero_namespaces
    if not wanted and len(places) != 1:
        what = f"There are {len(places)} Velero servers" if places else "No Velero server was found"
        raise BadInput(what, "", f"choose one with --velero-namespace: {', '.join(places)}" if places else "")
    if wanted and wanted not in places:
        raise BadInput(f"There is no Velero in {wanted}", "", f"there is {', '.join(places) or 'none'}")
    return wanted or places[0]


def say_nights(before: Outlook, after: Outlook, differences: Sequence[Text], title: str) -> None:
    """The two nights in words, and the difference."""
    for head, one in (("As it is:", before), (title, after)):
        say(head)
        for line in words(one):
            say(f"  {render(line, one.night.now)}")
        say()
    say("The difference:")
    for line in differences or (NO_DIFFERENCE,):
        say(f"  {render(line, before.night.now)}")


def _count(one: Outlook, fate: Fate) -> int:
    return sum(schedule.count(fate) for schedule in one.schedules)


def night_item(one: Outlook) -> dict[str, Any]:
    """A night in a few numbers, for scripts."""
    done = one.done
    return {
        "slots": one.night.slots,
        "mostAtOnce": one.at_work.count if one.at_work else 0,
        "mostWaiting": one.waiting.count if one.waiting else 0,
        "nightDone": last_end_item(one.night_done),
        "allDone": rfc3339(done.likely) if done else None,
        "allDoneNineInTen": rfc3339(one.done_by) if one.done_by else None,
        "withoutKnownEnd": list(one.night.without_end),
        "late": _count(one, Fate.LATE),
        "lost": _count(one, Fate.LOST),
        "refused": _count(one, Fate.REFUSED),
        "courses": one.night.draws,
    }
