"""Explanations of the screens, a screenful a topic: for the help of the dashboard and the manual page.

A room explains itself in its module `explanation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from foretop_core.room_finder import room_modules


class Explanation(msgspec.Struct, frozen=True):
    """One topic. A line of `body` that begins with spaces is kept as it is; the others are folded."""

    topic: str
    title: str
    body: str


_OF_THE_CORE = (
    Explanation(
        "due",
        "When a schedule runs",
        """\
Velero does not ask cron for the next run after now. It counts from a base: the last backup, or the creation if
there is none, or the last skip if that is later. A schedule is due when the first run after its base is past.

  base 02:00, cron 0 * * * *, now 05:20   next run 03:00: due since 03:00

So the next run can be in the past. While a schedule is paused the base stands still, and the schedule becomes due
at the first run that it misses. When it is unpaused, one backup is created at once, however many were missed.

A due run waits while a backup of the same schedule is New or InProgress. A queued or finishing backup does not
hold it up.

An expression that never fires, such as 0 0 31 2 *, is valid, and Velero takes it for always due: it makes a backup
every minute.

See: the topics skip and beat, foretop next EXPRESSION""",
    ),
    Explanation(
        "skip",
        "Unpausing without a surprise backup",
        """\
spec.skipImmediately decides what happens to a run that is due when Velero next looks at the schedule:

  true     the run is skipped, and Velero sets the field back to false
  false    a backup is created at once
  absent   the server's --schedule-skip-immediately decides (default false)

The field is used up once. Releases up to mid-2026 also turn the server's default to false after its first use, so an
absent field cannot be relied on: send true or false in the same change that unpauses.

foretop offers three choices, and shows for each whether a backup is created now and when the next run is:

  Skip what is due         skipImmediately: true, no backup now
  Do not skip              skipImmediately: false, one backup now if one is due
  Schedule's own setting   the field is not touched

In the column SKIP, "yes, once" means true: only the next due run is skipped.

See: foretop schedule unpause NAME --dry-run""",
    ),
    Explanation(
        "queue",
        "What Velero works on, and what waits",
        """\
Velero 1.18 and later queue backups. As many run at once as --concurrent-backups says, 1 unless it was set. Earlier
releases work off one backup at a time, oldest first, and have no phase Queued.

A backup waits for a slot, and also for every backup ahead of it that has a namespace in common with it. One behind it
without such a namespace may overtake it: the position in the queue is not the order of starts.

Restores have a line of their own, one at a time.

A backup that is finishing (WaitingForPluginOperations, Finalizing) holds no slot any more.

The queue position in a NAB's status is an estimate of the controller: it counts unfinished backups that were created
earlier, counts refused ones for ever, and is refreshed when some backup ends. foretop counts the live objects and
marks a position that differs with ≠.

See: foretop get queue""",
    ),
    Explanation(
        "phases",
        "The phases of a backup, and of a NAB",
        """\
  New, Queued                    Velero has not begun
  ReadyToStart, InProgress       it holds a slot
  WaitingForPluginOperations     all items are saved, volumes are still moving
  Finalizing                     the last files are written
  Completed                      all is saved
  PartiallyFailed                some items are missing; it can be restored
  Failed                         it ended early
  FailedValidation               refused before it began; see the reason
  Deleting                       backup and data are being removed

Restores have the same phases without Queued, ReadyToStart and Deleting.

A NAB or NAR has phases of its own: New, BackingOff (refused: correct the spec), Created (the Velero object exists)
and Deleting. What happens after Created is in the Velero object. The NAB's copy of its phase can be out of date;
foretop shows the object itself where you may read it.

See: foretop describe backup NAME, foretop get nab""",
    ),
    Explanation(
        "night",
        "Whether the night is done by six",
        """\
foretop plays the coming hours of a Velero server forward many times: its schedules, its slots, its queue, with run
lengths drawn from those of earlier runs, and the backups that tenants are likely to ask for.

  By 06:00   whether the night's own runs are done at six; a schedule that
             runs more than four times a day is never done, so it is left out
  90% sure   in nine of ten of those nights it is not later
  Peak       the most slots in use at one time; "with tenants": backups are in
             it that nobody has asked for yet
  Waits      who waits longest, and behind whom
  Lost       a run that falls due while the one before it is not done
  Refused    a run whose storage location cannot be used, or whose template
             is not valid
  Paused     no backup, also after the planned end: nothing resumes by itself

See: foretop forecast, page 5 of the dashboard""",
    ),
    Explanation(
        "protection",
        "From what a namespace can be brought back",
        """\
A good copy is a backup that completed and has all of the namespace. A partial one failed in part, or its schedule
leaves something out. Only copies in storage locations that Velero can use count for its age.

A schedule promises a copy for each of its runs, and one run may fail to make one: a namespace is late from the
second run after its newest copy on. The pane says which schedule promises it, and from when on it is late.

  copy due        one run has made no copy
  late            two have not, or newer copies are out of reach
  expiring        its last good copy is gone before another is made
  repo not ready  it can be brought back without its volumes
  unreachable     all its copies are in locations that Velero cannot use
  by hand only    it has a good copy, and no schedule makes another

r brings a namespace back, also under another name; D tries that out beside it and cleans up.

See: foretop get protection, page 9 of the dashboard""",
    ),
    Explanation(
        "beat",
        "The second at which Velero starts backups",
        """\
Velero looks at its schedules once a minute, at the second at which the server was started. A schedule that is due at
02:00:00 therefore starts up to a minute later, and all schedules of one server start at the same second.

foretop calls this second the reconcile offset. It learns it from the times that Velero writes anyway: those of its
backups and, once a minute, those of its storage locations. No further permission is needed.

The same times show that the server is alive. When none of them has moved for three periods, Velero is down or its
storage hangs: no backup starts until it is back.

A backup that was made by hand does not count, and neither does one that was synced from another cluster.

A run is called overdue two minutes after it was due; one that a pause with an end keeps back, after that end.

See: the topic due, foretop get schedules""",
    ),
    Explanation(
        "dialects",
        "Velero releases read cron differently",
        """\
  Velero up to 1.14                    the oldest: no time zones
  Velero 1.15 to 1.18.2, CronJobs      time zones; day 7 and 22-2 are refused
  Velero 1.18.3 and later              day 7 is Sunday, 22-2 wraps around

foretop finds the release by the image of the server, the schema of its resources, or what it has accepted and done.
Where that does not tell, it shows every answer with its releases; --velero-version settles it.

See: foretop next EXPRESSION --velero-version 1.18.2""",
    ),
)


@cache
def explanations() -> Mapping[str, Explanation]:
    """By topic; those of the rooms are loaded now."""
    of_rooms = (module.EXPLANATION for module in room_modules("foretop_core", "explanation"))
    return {explanation.topic: explanation for explanation in (*_OF_THE_CORE, *of_rooms)}
