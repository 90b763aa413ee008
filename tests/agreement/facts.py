"""The table of facts, and of the places that state them. A new place registers here: `@states(fact, place)`.

A reader yields a subject and its statement, read from what the place shows, never from the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, NAB, NAMESPACE, NAR, RESTORE, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.schedule_facts import Choice
from tests.agreement.statements import (
    CLOCK,
    LONG,
    SHORT,
    SIZE,
    Span,
    Statement,
    ago,
    at,
    clock,
    estimated,
    exactly,
    find,
    find_all,
    not_before,
    number,
    rounded_minute,
    share,
    size,
    until,
    word,
)
from tests.agreement.surfaces import CONTEXT, Surfaces

Subject = tuple[str, ...]
"""A kind, a namespace and a name; or what a number counts."""
Stated = Iterator[tuple[Subject, Statement]]
Reader = Callable[[Surfaces], Iterable[tuple[Subject, Statement]]]
FACTS: dict[str, dict[str, Reader]] = {}
_OUTCOMES: Mapping[str, tuple[str, ...]] = {
    "Completed": ("good", "warnings"),
    "Deleting": ("good",),
    "PartiallyFailed": ("partly failed",),
    "Failed": ("failed",),
    "FailedValidation": ("refused",),
    "New": ("waiting",),
    "waiting": ("waiting",),
    "Queued": ("waiting",),
}
_SEVERITY = {"✗": "error", "▲": "warning", "●": "none", "◐": "none", "○": "none", "·": "none"}
"""The sign of a pause has no severity: one that is overdue has a warning in Triage."""
_ALL: Subject = ("all",)
_PAUSED_IN_VAIN = ("paused, invalid cron", "paused, too long")
_REFUSED = ("invalid cron", "refused", *_PAUSED_IN_VAIN)
_WITHOUT_RUN = (*_REFUSED, "paused")
"""What stands in the place of a next run."""


def states(fact: str, place: str) -> Callable[[Reader], Reader]:
    """Registers a place that states a fact."""

    def register(reader: Reader) -> Reader:
        assert place not in FACTS.setdefault(fact, {}), f"{place} states {fact} twice"
        FACTS[fact][place] = reader
        return reader

    return register


def _subject(key: ObjectRef) -> Subject:
    return key.kind, key.namespace, key.name


def _of_item(item: Mapping[str, Any]) -> Subject:
    return item["kind"], item["namespace"], item["name"]


def _schedule(namespace: str, name: str) -> Subject:
    return SCHEDULE.name, namespace, name


def _outcome(phase: str) -> Statement:
    return word(*_OUTCOMES.get(phase, ("running",)))


def _newest_backups(seen: Surfaces) -> Mapping[Subject, Mapping[str, Any]]:
    """By schedule its newest backup on the page of backups, by when it was submitted."""
    found: dict[Subject, tuple[str, Mapping[str, Any]]] = {}
    made = {_subject(key): seen.made(key) for key in seen.rows("schedules")}
    for item in seen.items("backups").values():
        subject = _schedule(item["namespace"], item["schedule"] or "")
        if not item["created"] or subject not in made:
            continue
        submitted = min(filter(None, (item["created"], item["started"])))
        if submitted < made[subject]:
            continue
        if subject not in found or (submitted, item["name"]) > (found[subject][0], found[subject][1]["name"]):
            found[subject] = submitted, item
    told = {_subject(key): item["lastBackup"] for key, item in seen.items("schedules").items() if item["lastBackup"]}

    def is_last(subject: Subject, submitted: str) -> bool:
        """Not where Velero submitted one a minute or more later that is not on the page: it was deleted."""
        last = told.get(subject, submitted)
        return datetime.fromisoformat(last) - datetime.fromisoformat(submitted) < timedelta(minutes=1)

    return {subject: item for subject, (submitted, item) in found.items() if is_last(subject, submitted)}


def _report_rows(seen: Surfaces, part: str) -> Iterator[list[str]]:
    """The cells of one table of the report."""
    _, _, after = seen.report_text.partition(f"\n{part} (")
    lines = after.partition("\n\n")[0].splitlines()[1:]
    if not lines:
        return
    starts = [found.start() for found in re.finditer(r"(?:^|(?<=  ))\S", lines[0])]
    if part == "Queue":
        starts = [0, *starts] if starts[0] else starts
    for line in lines[1:]:
        yield [line[begin:end].strip() for begin, end in zip(starts, [*starts[1:], None], strict=True)]


# The last backup of a schedule.


@states("name of the last backup", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if name := find(r"^Last +(\S+): ", _line(text, "Last ")):
            yield _subject(key), word(name)


@states("name of the last backup", "describe schedule")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.described("schedules").items():
        if name := find(r"^Last +(\S+): ", _line(text, "Last ")):
            yield _subject(key), word(name)


@states("name of the last backup", "page of backups")
def _(seen: Surfaces) -> Stated:
    for subject, item in _newest_backups(seen).items():
        yield subject, word(item["name"])


@states("outcome of the last backup", "page of schedules, LAST")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if said := find(rf"^{SHORT} (.+)$", row["last"]):
            yield _subject(key), word(said)


@states("outcome of the last backup", "page of schedules, LAST OUTCOME")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if row.get("outcome"):
            yield _subject(key), _outcome(row["outcome"])


@states("outcome of the last backup", "page of schedules, RUNS")
def _(seen: Surfaces) -> Stated:
    words = {"w": "warnings", "P": "partly failed", "F": "failed", "V": "refused", "○": "waiting", "◐": "running"}
    for key, row in seen.rows("schedules").items():
        last = "" if row["runs"] in ("makes none", "no run yet", "none left") else re.sub(r"[×‖]", "", row["runs"])[-1:]
        if last:
            yield _subject(key), word(words.get(last, "good"))


@states("outcome of the last backup", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if phase := find(r"^Last +\S+: (\w+)", _line(text, "Last ")):
            yield _subject(key), _outcome(phase)


@states("outcome of the last backup", "page of backups")
def _(seen: Surfaces) -> Stated:
    rows = seen.rows("backups")
    for subject, item in _newest_backups(seen).items():
        yield subject, _outcome(rows[ObjectRef(CONTEXT, BACKUP.name, item["namespace"], item["name"])]["phase"])


@states("outcome of the last backup", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["lastOutcome"]:
            yield _subject(key), _outcome(item["lastOutcome"])


@states("outcome of the last backup", "report")
def _(seen: Surfaces) -> Stated:
    for row in _report_rows(seen, "Schedules"):
        if re.fullmatch(r"[A-Z]\w+", row[5]):
            namespace, _, name = row[0].rpartition("/")
            yield _schedule(namespace, name), _outcome(row[5])


@states("time of the last backup", "page of schedules, LAST")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if age := find(rf"^({SHORT})", row["last"]):
            yield _subject(key), ago(age, seen.now)


@states("time of the last backup", "page of backups")
def _(seen: Surfaces) -> Stated:
    for subject, item in _newest_backups(seen).items():
        yield subject, at(min(filter(None, (item["created"], item["started"]))))


@states("time of the last backup with that outcome", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["lastBackup"] and item["lastOutcome"]:
            yield (*_subject(key), item["lastBackup"]), _outcome(item["lastOutcome"])


@states("time of the last backup with that outcome", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["schedules"]:
        if item["lastBackup"] and item["lastOutcome"]:
            yield (*_of_item(item), item["lastBackup"]), _outcome(item["lastOutcome"])


@states("time of the last backup with that outcome", "page of backups")
def _(seen: Surfaces) -> Stated:
    """Of the backup that Velero submitted at the moment that JSON names."""
    made = {
        (*_schedule(item["namespace"], item["schedule"]), item["created"]): item
        for item in seen.items("backups").values()
        if item["schedule"]
    }
    for key, schedule in seen.items("schedules").items():
        told = schedule["lastBackup"]
        if told and (item := made.get((*_subject(key), told))) is not None:
            yield (*_subject(key), told), _outcome(item["phase"] or "New")


@states("time that Velero submitted the last backup", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["lastBackup"]:
            yield _subject(key), at(item["lastBackup"])


@states("time that Velero submitted the last backup", "report")
def _(seen: Surfaces) -> Stated:
    for row in _report_rows(seen, "Schedules"):
        if re.fullmatch(CLOCK, row[4]):
            namespace, _, name = row[0].rpartition("/")
            yield _schedule(namespace, name), clock(row[4], seen.now)


# The next run.


@states("next run", "page of schedules, NEXT")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if ahead := find(rf"^in ({SHORT})", row["next"]):
            yield _subject(key), until(ahead, seen.now)


@states("next run", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if run := find(rf"^(?:Next|Due +since) +({CLOCK})", _line(text, "Next ", "Due ")):
            yield _subject(key), clock(run, seen.now)


@states("next run", "pane of schedules, length")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if ahead := find(rf"^Next +{CLOCK}, in ({LONG})", _line(text, "Next ")):
            yield _subject(key), until(ahead, seen.now)


@states("next run", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["nextRun"] and not item["paused"] and item["phase"] != "FailedValidation":
            yield _subject(key), at(item["nextRun"])


@states("next run", "report")
def _(seen: Surfaces) -> Stated:
    for row in _report_rows(seen, "Schedules"):
        namespace, _, name = row[0].rpartition("/")
        run = find(rf"^(?:due since )?({CLOCK})", row[3])
        if run and row[2] not in ("paused", "FailedValidation"):
            yield _schedule(namespace, name), clock(run, seen.now)


@states("next run", "next -f")
def _(seen: Surfaces) -> Stated:
    running = {_subject(key) for key, item in seen.items("schedules").items() if not item["paused"]}
    for (namespace, name), item in seen.next_items.items():
        if item["nextRun"] and _schedule(namespace, name) in running:
            yield _schedule(namespace, name), at(item["nextRun"])


@states("first run to come", "calendar")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.lanes.items():
        if ahead := find(rf"^(?:Next )?in ({SHORT}):", _line(text, "Next in", "in ")):
            yield _subject(key), until(ahead, seen.now)


@states("first run to come", "next -f")
def _(seen: Surfaces) -> Stated:
    for (namespace, name), item in seen.next_items.items():
        if item["runs"] and "readings" not in item and "error" not in item and "every" not in item["schedule"]:
            yield _schedule(namespace, name), at(item["runs"][0])


@states("first run to come", "page of schedules, NEXT")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if ahead := find(rf"^in ({SHORT})", row["next"]):
            yield _subject(key), until(ahead, seen.now)


@states("first run to come", "hand-over")
def _(seen: Surfaces) -> Stated:
    _, _, after = seen.handover.partition("\nRuns in the next")
    for found in find_all(rf"^  ({CLOCK})  (\S+)/([^\s,;]+)", after.partition("\n\n")[0]):
        yield _schedule(found[2], found[3]), clock(found[1], seen.now)


@states("first run to come", "forecast -f")
def _(seen: Surfaces) -> Stated:
    """Also of one whose start is not known. One with a constant delay is due within the second it is looked at."""
    for server in seen.foreseen:
        told = {name for (_, name), item in seen.next_items.items() if "every" in item["schedule"]}
        for run in server["runs"]:
            if run["due"] and run["schedule"] not in told and at(run["due"]).low >= seen.now.timestamp():
                told.add(run["schedule"])
                yield _schedule(server["namespace"], run["schedule"]), at(run["due"])


@states("whether it is due", "page of schedules, NEXT")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        if re.match(r"in |due|overdue|paused, ", row["next"]) and row["next"] not in _WITHOUT_RUN:
            yield _subject(key), word("due" in row["next"])


@states("whether it is due", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["due"] is not None and seen.rows("schedules")[key]["next"] not in _WITHOUT_RUN:
            yield _subject(key), word(item["due"])


@states("whether it is due", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if said := _line(text, "Next ", "Due "):
            yield _subject(key), word(said.startswith("Due "))


@states("whether it is due", "report")
def _(seen: Surfaces) -> Stated:
    shown = {_subject(key): row["next"] for key, row in seen.rows("schedules").items()}
    for row in _report_rows(seen, "Schedules"):
        namespace, _, name = row[0].rpartition("/")
        subject = _schedule(namespace, name)
        if re.match(rf"due|always due|{CLOCK}", row[3]) and shown.get(subject) not in _REFUSED:
            yield subject, word("due" in row[3])


@states("whom a coming run waits for", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if said := _line(text, "Next "):
            yield _subject(key), word(_awaited(said))


@states("whom a coming run waits for", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        yield _subject(key), word(item["waitsFor"])


@states("whom a coming run waits for", "report")
def _(seen: Surfaces) -> Stated:
    for row in _report_rows(seen, "Schedules"):
        if re.match(CLOCK, row[3]):
            namespace, _, name = row[0].rpartition("/")
            yield _schedule(namespace, name), word(find(r"waits for (Velero|the storage)", row[3]))


@states("whom a coming run waits for", "calendar")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.lanes.items():
        if _line(text, "Next in") and not _line(text, "Overdue"):
            yield _subject(key), word(_awaited(text))


# Pauses.


@states("whether it is paused", "page of schedules, NEXT")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        yield _subject(key), word(row["next"].startswith("paused"))


@states("whether it is paused", "page of schedules, sign")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("schedules").items():
        # Of a paused one that Velero refuses after its pause too, the sign tells that.
        if row["next"] not in _PAUSED_IN_VAIN:
            yield _subject(key), word(row["glyph"] == "‖")


@states("whether it is paused", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        yield _subject(key), word(item["paused"])


@states("whether it is paused", "report")
def _(seen: Surfaces) -> Stated:
    for row in _report_rows(seen, "Schedules"):
        namespace, _, name = row[0].rpartition("/")
        yield _schedule(namespace, name), word(row[2] == "paused")


@states("whether it is paused", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        yield _subject(key), word(text.splitlines()[0].startswith("Paused"))


@states("whether it is paused", "page of protection -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.items("protection").values():
        for one in item["schedules"]:
            yield _schedule(one["namespace"], one["name"]), word(one["paused"])


@states("paused since", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if since := find(rf"^Paused since ({CLOCK})", text):
            yield _subject(key), clock(since, seen.now)


@states("paused since", "hand-over")
def _(seen: Surfaces) -> Stated:
    for found in find_all(rf"^  (\S+)/(\S+) since ({CLOCK})", seen.handover):
        yield _schedule(found[1], found[2]), clock(found[3], seen.now)


@states("paused since", "Triage, pane")
def _(seen: Surfaces) -> Stated:
    for finding, text in seen.triage_panes.items():
        if finding.startswith("schedule-paused-long:") and (since := find(rf"Paused since ({CLOCK})", text)):
            yield _finding_subject(finding), clock(since, seen.now)


@states("since when all are paused", "Triage")
def _(seen: Surfaces) -> Stated:
    """Where one server has all schedules."""
    items = [item for item in seen.triage_items.values() if item["code"] == "velero-all-paused"]
    if len({key.namespace for key in seen.rows("schedules")}) == 1:
        yield from ((_ALL, at(item["since"])) for item in items if item["since"])


@states("since when all are paused", "hand-over")
def _(seen: Surfaces) -> Stated:
    """Since the first of them is."""
    if all(row["glyph"] == "‖" for row in seen.rows("schedules").values()):
        paused = seen.handover.partition("\nPaused")[2].partition("\n\n")[0]
        begun = [clock(found[1], seen.now) for found in find_all(rf" since ({CLOCK})", paused)]
        if begun:
            yield _ALL, min(begun, key=lambda one: one.low)


@states("paused by", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if who := find(rf"^Paused since {CLOCK} ((?:by|with) [^\s.]+)", text):
            yield _subject(key), word(who)


@states("paused by", "hand-over")
def _(seen: Surfaces) -> Stated:
    for found in find_all(rf"^  (\S+)/(\S+) since {CLOCK} ((?:by|with) [^\s,:]+)", seen.handover):
        yield _schedule(found[1], found[2]), word(found[3])


@states("paused by", "Triage, pane")
def _(seen: Surfaces) -> Stated:
    for finding, text in seen.triage_panes.items():
        found = find(rf"Paused since {CLOCK} ((?:by|with) [^\s,:]+)", text)
        if finding.startswith("schedule-paused-long:") and found:
            yield _finding_subject(finding), word(found)


@states("what unpausing does", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    """As the schedule is, and with skip and without, where those differ from it."""
    for key, text in seen.panes("schedules").items():
        told = dict(
            line.partition(": ")[::2]
            for line in text.splitlines()
            if line.startswith(("If unpaused", "With", "Without"))
        )
        both = told.get("If unpaused, with skip or without")
        leave = both or told.get("If unpaused")
        if leave is None:
            continue
        for choice, words in ((Choice.LEAVE, ""), (Choice.SKIP, "With skip"), (Choice.DO_NOT_SKIP, "Without skip")):
            yield (*_subject(key), choice.name), word(told.get(words, leave).removesuffix("."))


@states("what unpausing does", "dialog, plan")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        for choice, said in told.items():
            yield (*_subject(key), choice.name), word(said.step)


@states("whether unpausing creates a backup at once", "dialog, choices")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        for choice, said in told.items():
            yield (*_subject(key), choice.name), word("at once" in said.summary or "once Velero" in said.summary)


@states("whether unpausing creates a backup at once", "dialog, table of choices")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        for choice, said in told.items():
            is_created = said.backup_now.startswith(("yes", "when it is up")) and said.backup_now != "yes, refused"
            yield (*_subject(key), choice.name), word(is_created)


@states("whether unpausing creates a backup at once", "dialog, plan")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        for choice, said in told.items():
            is_created = bool(re.search(r"(?:^|, then )one backup is created", said.step))
            yield (*_subject(key), choice.name), word(is_created and "Velero refuses" not in said.step)


@states("start of a backup that unpausing creates", "dialog, table of choices")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        cell = told[Choice.DO_NOT_SKIP].backup_now
        if cell == "yes":
            yield _subject(key), Span(seen.now.timestamp(), seen.now.timestamp() + 2)
        elif wait := find(rf"yes, waits ({SHORT})", cell):
            yield _subject(key), until(wait, seen.now)


@states("start of a backup that unpausing creates", "dialog of a backup by hand")
def _(seen: Surfaces) -> Stated:
    for key, told in seen.dialogs.items():
        if told[Choice.DO_NOT_SKIP].backup_now.startswith("yes"):
            said = told[Choice.DO_NOT_SKIP].by_hand
            if "one backup starts at once" in said:
                yield _subject(key), Span(seen.now.timestamp(), seen.now.timestamp() + 2)
            elif start := find(rf"it starts about ({CLOCK})", said):
                yield _subject(key), estimated(start, seen.now)


@states("number of paused schedules", "page of schedules")
def _(seen: Surfaces) -> Stated:
    rows = seen.rows("schedules").values()
    yield _ALL, number(sum(row["next"].startswith("paused") for row in rows))


@states("number of paused schedules", "report")
def _(seen: Surfaces) -> Stated:
    if rows := list(_report_rows(seen, "Schedules")):
        yield _ALL, number(sum(row[2] == "paused" for row in rows))


@states("number of paused schedules", "Triage")
def _(seen: Surfaces) -> Stated:
    if told := _all_paused(seen, r"all (\d+) paused"):
        yield _ALL, number(told)
    if (besides := find(r"healthy, (\d+) paused", seen.calm)) is not None:
        yield _ALL, number(int(besides))
    for row in seen.triage_rows.values():
        if (some := find(r"^(\d+) of \d+ paused, \d+ overdue", row["what"])) is not None:
            yield _ALL, number(int(some))


@states("number of paused schedules", "header")
def _(seen: Surfaces) -> Stated:
    if (told := find(r"(\d+) of \d+ paused, \d+ overdue", seen.header)) is not None:
        yield _ALL, number(int(told))


@states("number of schedules that are paused and overdue", "header")
def _(seen: Surfaces) -> Stated:
    if (told := find(r"\d+ of \d+ paused, (\d+) overdue", seen.header)) is not None:
        yield _ALL, number(int(told))


@states("number of schedules that are paused and overdue", "page of schedules")
def _(seen: Surfaces) -> Stated:
    """Those that are due, at most: for two minutes a run that is due is not overdue yet."""
    due = sum("paused, due" in row["next"] for row in seen.rows("schedules").values())
    yield _ALL, Span(0, due * 10)


@states("number of schedules that are paused and overdue", "Triage")
def _(seen: Surfaces) -> Stated:
    for row in seen.triage_rows.values():
        if (told := find(r"paused, (\d+) overdue", row["what"])) is not None:
            yield _ALL, number(int(told))
    if (told := find(r"all schedules are paused \(\d+, (\d+) overdue\)", seen.calm)) is not None:
        yield _ALL, number(int(told))


@states("number of paused schedules that are due", "page of schedules")
def _(seen: Surfaces) -> Stated:
    yield _ALL, number(sum("paused, due" in row["next"] for row in seen.rows("schedules").values()))


@states("number of paused schedules that are due", "dialog, choices")
def _(seen: Surfaces) -> Stated:
    """All that is paused, without what is not due."""
    paused = sum(row["next"].startswith("paused") for row in seen.rows("schedules").values())
    if paused > 1:
        yield _ALL, number(paused - _fates(seen.unpause_all(Choice.DO_NOT_SKIP))["idle"])


@states("number of backups that unpausing all would create", "Triage")
def _(seen: Surfaces) -> Stated:
    for finding, text in seen.triage_panes.items():
        if finding.startswith("velero-all-paused:"):
            fates = find(r"(?m)^Hits .*without skip, (.*)\.$", text)
            assert fates or "\nHits " not in text, text
            yield _ALL, number(_fates(fates)["made"] if fates else 0)


@states("number of backups that unpausing all would create", "dialog, choices")
def _(seen: Surfaces) -> Stated:
    if sum(row["glyph"] == "‖" for row in seen.rows("schedules").values()) > 1:
        yield _ALL, number(_fates(seen.unpause_all(Choice.DO_NOT_SKIP))["made"])


def _fates(text: str) -> Mapping[str, int]:
    """What becomes of schedules that are unpaused; a part that is not there is a zero, other words are a fault."""
    parts = (
        r"(?P<made>\d+) backups?(?: at once|, \d+ at a time)",
        r"\d+ skips? what is due",
        r"\d+ after a running backup",
        r"\d+ refused by Velero",
        r"(?P<idle>\d+) not due",
    )
    found = re.fullmatch("".join(f"(?:{part}(?:, |$))?" for part in parts), text)
    assert text, "nothing is said"
    assert found, text
    return {name: int(told or 0) for name, told in found.groupdict().items()}


# Runs and the queue.


@states("phase of a run", "page of backups")
def _(seen: Surfaces) -> Stated:
    for page in ("backups", "restores"):
        for key, row in seen.rows(page).items():
            yield _subject(key), word(row["phase"])


@states("phase of a run", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    for page in ("backups", "restores"):
        for key, item in seen.items(page).items():
            yield _subject(key), word(item["phase"] or "New")


@states("phase of a run", "pane of backups")
def _(seen: Surfaces) -> Stated:
    for page in ("backups", "restores"):
        for key, text in seen.panes(page).items():
            phase = find(r"^(\w+)", text) or ""
            yield _subject(key), word("New" if phase == "waiting" else phase)


@states("phase of a run", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        yield _subject(key), word(row["phase"])


@states("phase of a run", "report, queue")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["queue"]:
        yield _of_item(item), word(item["phase"] or "New")


@states("phase of a run", "page of NABs, VELERO")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("nonadmin").items():
        if (run := _run_of(seen, key)) is not None and row["velero"] != "–":
            yield run, word(row["velero"])


@states("phase of a run", "get nab -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("nonadmin").items():
        if (run := _run_of(seen, key)) is not None and item["veleroPhase"]:
            yield run, word(item["veleroPhase"])


@states("place among those that wait", "page of the queue, POS")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        # A run at work has a sign, one that Velero never saw has nothing; any other word is a fault.
        place = row["position"]
        yield _subject(key), number(0 if place in ("▶", "·", "") else int(place))


@states("place among those that wait", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("queue").items():
        yield _subject(key), number(item["waitingPosition"] or 0)


@states("place among those that wait", "report")
def _(seen: Surfaces) -> Stated:
    """Of those that wait; a run at work has a sign there or nothing."""
    waits = {item["name"]: bool(item["waitingPosition"]) for item in seen.items("queue").values()}
    kinds = {item["name"]: _of_item(item) for item in seen.report["queue"]}
    for row in _report_rows(seen, "Queue"):
        if row[1] in kinds and waits.get(row[1]):
            yield kinds[row[1]], number(int(row[0]))


@states("place among those that wait", "page of NABs, QUEUE")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and (place := find(r"^(\d+)(?:st|nd|rd|th)", row["queue"])):
            yield run, number(int(place))


@states("place among those that wait", "get nab -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("nonadmin").items():
        if (run := _run_of(seen, key)) is not None and item["waitingPosition"] is not None:
            yield run, number(item["waitingPosition"])


@states("place among those that wait", "pane of NABs")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and (place := find(r"(\d+)(?:st|nd|rd|th) waiting", text)):
            yield run, number(int(place))


@states("expected start", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        if minute := find(r"^~(\d\d:\d\d)", row["when"]):
            yield _subject(key), rounded_minute(minute, seen.now)


@states("expected start", "pane of the queue")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("queue").items():
        if start := find(rf"Expected to start about ({CLOCK})", text):
            yield _subject(key), estimated(start, seen.now)


@states("expected start", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("queue").items():
        if item["expectedStart"] and item["waitingPosition"]:
            yield _subject(key), at(item["expectedStart"])


@states("expected start", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["queue"]:
        if item["expectedStart"] and item["waitingPosition"]:
            yield _of_item(item), at(item["expectedStart"])


@states("expected start", "pane of NABs")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and (minute := find(r"starts ~(\d\d:\d\d)", text)):
            yield run, rounded_minute(minute, seen.now)


@states("expected start", "forecast -f")
def _(seen: Surfaces) -> Stated:
    for server in seen.foreseen:
        for run in server["open"]:
            if run["start"] and not run["isRunning"] and run["fate"] != "refused":
                yield (BACKUP.name, server["namespace"], run["backup"]), at(run["start"]["likely"])


@states("start of the next backup", "pane of schedules")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("schedules").items():
        if start := find(rf"; created ({CLOCK})$", _line(text, "Next ", "Due ")):
            yield _subject(key), clock(start, seen.now)


@states("start of the next backup", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("schedules").items():
        if item["expectedStart"]:
            yield _subject(key), at(item["expectedStart"])


@states("start of the next backup", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["schedules"]:
        if item["expectedStart"]:
            yield _of_item(item), at(item["expectedStart"])


@states("start of the next backup", "forecast -f")
def _(seen: Surfaces) -> Stated:
    """A look that has just come may still make it: it is then made now, by the same rule a moment ago."""
    for server in seen.foreseen:
        told: set[str] = set()
        for run in server["runs"]:
            if run["schedule"] not in told and run["submitted"]:
                found = at(run["submitted"])
                low = found.low - 5 if found.low <= seen.now.timestamp() else found.low
                yield _schedule(server["namespace"], run["schedule"]), Span(low, found.high)
            told.add(run["schedule"])


_MADE_NOW = ("made now",)


@states("start of a backup made now", "dialog")
def _(seen: Surfaces) -> Stated:
    if seen.back_up_now is not None:
        _, said, _ = seen.back_up_now
        if "one backup starts at once" in said:
            yield _MADE_NOW, Span(seen.now.timestamp(), seen.now.timestamp() + 2)
        elif start := find(rf"it starts about ({CLOCK})", said):
            yield _MADE_NOW, estimated(start, seen.now)


@states("start of a backup made now", "page of the queue")
def _(seen: Surfaces) -> Stated:
    if seen.back_up_now is not None:
        key, _, then = seen.back_up_now
        if minute := find(r"^~(\d\d:\d\d)", then.rows("queue")[key]["when"]):
            yield _MADE_NOW, rounded_minute(minute, seen.now)


@states("start of a backup made now", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    if seen.back_up_now is not None:
        key, _, then = seen.back_up_now
        if start := then.items("queue")[key]["expectedStart"]:
            yield _MADE_NOW, at(start)


@states("what becomes of a backup made now", "dialog")
def _(seen: Surfaces) -> Stated:
    if seen.back_up_now is not None:
        _, said, _ = seen.back_up_now
        if "is created but" in said:
            yield _MADE_NOW, word("held by a silent server")
        elif "Velero refuses it" in said:
            yield _MADE_NOW, word("refused")
        else:
            yield _MADE_NOW, word("starts" if re.search("starts at once|it starts about", said) else "not known")


@states("what becomes of a backup made now", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    if seen.back_up_now is not None:
        key, _, then = seen.back_up_now
        item = then.items("queue")[key]
        if item["state"] in ("server_silent", "storage_hangs"):
            yield _MADE_NOW, word("held by a silent server")
        elif item["refusal"]:
            yield _MADE_NOW, word("refused")
        else:
            yield _MADE_NOW, word("starts" if item["expectedStart"] else "not known")


@states("whether a start is expected", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        if row["position"] not in ("▶", "·"):
            yield _subject(key), word(row["when"].startswith("~"))


@states("whether a start is expected", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("queue").items():
        if item["waitingPosition"]:
            yield _subject(key), word(bool(item["expectedStart"]))


@states("whether a start is expected", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["queue"]:
        if item["waitingPosition"]:
            yield _of_item(item), word(bool(item["expectedStart"]))


@states("whether a start is expected", "pane of NABs")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and (line := find(r"((?:\d+)(?:st|nd|rd|th) waiting.*)", text)):
            yield run, word("starts ~" in line)


@states("expected end", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        if found := re.search(r"→ (after )?(\d\d:\d\d)", row["when"]):
            minute = rounded_minute(found[2], seen.now)
            yield _subject(key), Span(minute.low, float("inf")) if found[1] else minute


@states("expected end", "pane of the queue")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("queue").items():
        if end := find(rf"(?:Expected to end|are moved by) about ({CLOCK})", text):
            yield _subject(key), estimated(end, seen.now)


@states("expected end", "get queue -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("queue").items():
        if item["expectedEnd"] and not item["waitingPosition"]:
            yield _subject(key), at(item["expectedEnd"])


@states("expected end", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["queue"]:
        if item["expectedEnd"] and not item["waitingPosition"]:
            yield _of_item(item), at(item["expectedEnd"])


@states("expected end", "forecast -f")
def _(seen: Surfaces) -> Stated:
    for server in seen.foreseen:
        for run in server["open"]:
            if run["end"] and run["isRunning"]:
                yield (BACKUP.name, server["namespace"], run["backup"]), at(run["end"]["likely"])


@states("expected end", "calendar")
def _(seen: Surfaces) -> Stated:
    for key, end in seen.lane_ends.items():
        if re.match(r"\d\d:\d\d$", end):
            yield _subject(key), rounded_minute(end, seen.now)


@states("expected end", "page of movements, LEFT")
def _(seen: Surfaces) -> Stated:
    """A run does not end before its volumes are moved, nor before those that its volumes wait for."""
    moving: dict[tuple[str, str], datetime] = {}
    for key, item in seen.items("movements").items():
        left = find(rf"^({SHORT})$", seen.rows("movements")[key]["left"])
        if left and item["node"] and item["phase"] == "InProgress":
            low = until(left, seen.now).low
            end = datetime.fromtimestamp(low, seen.now.tzinfo)
            place = (item["namespace"], item["node"])
            moving[place] = max(end, moving.get(place, end))
            if (run := _moved_run(item)) is not None:
                yield run, not_before(end - timedelta(minutes=1))
    for item in seen.items("movements").values():
        end_of_node = moving.get((item["namespace"], item["node"]))
        if item["phase"] in ("Accepted", "Prepared") and end_of_node and (run := _moved_run(item)) is not None:
            yield run, not_before(end_of_node - timedelta(minutes=1))


@states("share of the items", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        if "data" not in row["items"] and (told := find(r"(\d+)%", row["items"])):
            yield _subject(key), share(int(told))


@states("share of the items", "pane of the queue")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("queue").items():
        if found := re.search(r"Items ([\d,]+) of ([\d,]+)", text):
            done, total = (int(one.replace(",", "")) for one in found.groups())
            yield _subject(key), share(100 * done // total)


@states("share of the items", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    for page in ("backups", "restores"):
        for key, item in seen.items(page).items():
            if item["itemsTotal"]:
                yield _subject(key), share(100 * item["itemsDone"] // item["itemsTotal"])


@states("share of the items", "page of NABs")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and "data" not in row["progress"] and (told := find(r"(\d+)%", row["progress"])):
            yield run, share(int(told))


@states("share of the data", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("queue").items():
        if told := find(r"data (\d+)%", row["items"]):
            yield _subject(key), share(int(told))


@states("share of the data", "page of NABs")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("nonadmin").items():
        run = _run_of(seen, key)
        if run is not None and (told := find(r"data (\d+)%", row["progress"])):
            yield run, share(int(told))


@states("share of the data", "page of movements")
def _(seen: Surfaces) -> Stated:
    """Of the volumes whose size is known."""
    sums: dict[Subject, tuple[int, int]] = {}
    for item in seen.items("movements").values():
        if item["bytesTotal"] and (run := _moved_run(item)) is not None:
            done, total = sums.get(run, (0, 0))
            sums[run] = done + item["bytesDone"], total + item["bytesTotal"]
    for run, (done, total) in sums.items():
        yield run, share(100 * done // total)


# Velero itself.


@states("whether Velero is alive", "header")
def _(seen: Surfaces) -> Stated:
    if found := re.search(r"Velero [\d.]*\s*(✗|●)", seen.header):
        yield _ALL, word(found[1] == "●")


@states("whether Velero is alive", "Triage")
def _(seen: Surfaces) -> Stated:
    if "Velero" in seen.header and "no activity seen" not in seen.header:
        yield _ALL, word(not any(one.startswith("velero-no-pulse:") for one in seen.triage_rows))


@states("whether Velero is alive", "report")
def _(seen: Surfaces) -> Stated:
    if "Velero" in seen.header and "no activity seen" not in seen.header:
        yield _ALL, word(all(item["code"] != "velero-no-pulse" for item in seen.report["findings"]))


@states("whether Velero is alive", "page of the queue")
def _(seen: Surfaces) -> Stated:
    for row in seen.rows("queue").values():
        if row["when"].startswith(("silent", "down")):
            yield _ALL, word(False)
        elif row["when"].startswith("~"):
            yield _ALL, word(True)


# Findings, and how grave things are.


@states("how grave it is", "Triage")
def _(seen: Surfaces) -> Stated:
    for key, severity in seen.severity_by_object.items():
        if severity != "note":
            yield _subject(key), word(severity)


@states("how grave it is", "its page")
def _(seen: Surfaces) -> Stated:
    for page in ("schedules", "nonadmin", "backups", "restores", "protection", "storage"):
        for key, row in seen.rows(page).items():
            if (told := _SEVERITY.get(row["glyph"])) is not None:
                yield _subject(key), word(told)


@states("how grave it is", "its -o json")
def _(seen: Surfaces) -> Stated:
    for page in ("schedules", "nonadmin", "backups", "restores", "protection", "storage"):
        for key, item in seen.items(page).items():
            if "severity" in item:
                yield _subject(key), word(item["severity"] or "none")


@states("whether a namespace in need is told as gravely", "page of protection")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if row["glyph"] == "✗":
            yield _subject(key), word("error")


@states("whether a namespace in need is told as gravely", "Triage")
def _(seen: Surfaces) -> Stated:
    """By a line about it, or about a schedule, a location or a server that it depends on."""
    told = {_subject(key) for key, severity in seen.severity_by_object.items() if severity == "error"}
    shared = any(kind not in (NAMESPACE.name, SCHEDULE.name) for kind, _, _ in told)
    for key, item in seen.items("protection").items():
        if seen.rows("protection")[key]["glyph"] == "✗":
            covers = {_schedule(one["namespace"], one["name"]) for one in item["schedules"]}
            is_told = shared or not told.isdisjoint({_subject(key), *covers})
            yield _subject(key), word("error" if is_told else "less")


_LACKING = ("manifests only", "volumes missing")


@states("whether volumes that a copy lacks are told", "page of protection")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if row["state"] in _LACKING:
            yield _subject(key), word("told")


@states("whether volumes that a copy lacks are told", "Triage")
def _(seen: Surfaces) -> Stated:
    told = {_subject(key) for key in seen.severity_by_object}
    for key, item in seen.items("protection").items():
        if item["state"] in _LACKING:
            yield _subject(key), word("told" if _subject(key) in told else "not told")


@states("how grave a finding is", "Triage, sign")
def _(seen: Surfaces) -> Stated:
    for finding, row in seen.triage_rows.items():
        yield (finding,), word({"✗": "error", "▲": "warning", "○": "note"}[row["glyph"]])


@states("how grave a finding is", "Triage, SEVERITY")
def _(seen: Surfaces) -> Stated:
    for finding, row in seen.triage_rows.items():
        yield (finding,), word(row["severity"])


@states("how grave a finding is", "get findings -o json")
def _(seen: Surfaces) -> Stated:
    for finding, item in seen.triage_items.items():
        yield (finding,), word(item["severity"])


@states("how grave a finding is", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["findings"]:
        yield (item["id"],), word(item["severity"])


@states("since when a finding holds", "Triage, SINCE")
def _(seen: Surfaces) -> Stated:
    for finding, row in seen.triage_rows.items():
        if row["since"]:
            yield (finding,), ago(row["since"], seen.now)


@states("since when a finding holds", "Triage, pane")
def _(seen: Surfaces) -> Stated:
    for finding, text in seen.triage_panes.items():
        if since := find(rf"(?m)^Since ({CLOCK})", text):
            yield (finding,), clock(since, seen.now)


@states("since when a finding holds", "get findings -o json")
def _(seen: Surfaces) -> Stated:
    for finding, item in seen.triage_items.items():
        if item["since"]:
            yield (finding,), at(item["since"])


@states("since when a finding holds", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["findings"]:
        if item["since"]:
            yield (item["id"],), at(item["since"])


@states("since when a finding holds", "first of its members")
def _(seen: Surfaces) -> Stated:
    """A line of many is as old as the oldest of them."""
    for _, finding in seen.findings.ordered():
        begun = [one.since for one in finding.members if one.since is not None]
        if begun:
            yield (finding.id,), at(min(begun).replace(microsecond=0))


@states("subject of a finding", "Triage, SUBJECT")
def _(seen: Surfaces) -> Stated:
    for finding, row in seen.triage_rows.items():
        yield (finding,), word(_last_name(row["subject"].removeprefix("└ ")))


@states("subject of a finding", "hand-over")
def _(seen: Surfaces) -> Stated:
    yield from _subjects(seen, r"^  [✗▲○] \w+: (.*)$", seen.handover)


@states("subject of a finding", "report")
def _(seen: Surfaces) -> Stated:
    yield from _subjects(seen, r"^[✗▲○] \w+  (.*)$", seen.report_text)


def _subjects(seen: Surfaces, pattern: str, text: str) -> Stated:
    """By what is said of it, where that is said once: a printed finding has no id."""
    said: dict[str, list[str]] = {}
    for finding, row in seen.triage_rows.items():
        said.setdefault(row["what"], []).append(finding)
    for found in find_all(pattern, text):
        subject, _, what = found[1].partition(": ")
        what = re.sub(rf", since {CLOCK}$", "", what)
        if len(said.get(what, ())) == 1:
            yield (said[what][0],), word(_last_name(subject))


@states("sign of a finding", "Triage")
def _(seen: Surfaces) -> Stated:
    for row in seen.triage_rows.values():
        yield (row["severity"],), word(row["glyph"])


@states("sign of a finding", "hand-over")
def _(seen: Surfaces) -> Stated:
    for found in find_all(r"^  (\S) (error|warning|note): ", seen.handover):
        yield (found[2],), word(found[1])


@states("sign of a finding", "report")
def _(seen: Surfaces) -> Stated:
    for found in find_all(r"^(\S) (error|warning|note)  ", seen.report_text):
        yield (found[2],), word(found[1])


@states("number of what is wrong", "header")
def _(seen: Surfaces) -> Stated:
    yield _ALL, number(sum(_wrong_in_header(seen).values()))


def _wrong_in_header(seen: Surfaces) -> Mapping[str, int]:
    """By sign; one that is not there is a zero where the other one, notes or the sign that all is well are."""
    told = {sign: find(rf"{sign}(\d+)", seen.header) for sign in "✗▲"}
    assert any(told.values()) or re.match(rf" {CONTEXT} [●○◐]", seen.header), seen.header
    return {sign: int(count or 0) for sign, count in told.items()}


@states("number of what is wrong", "hand-over")
def _(seen: Surfaces) -> Stated:
    told = find(r"\nWrong now \((\d+)\)", seen.handover)
    assert told or re.search(r"\nWrong now\n+ *Nothing\.", seen.handover), seen.handover
    yield _ALL, number(int(told or 0))


@states("number of errors and warnings", "header")
def _(seen: Surfaces) -> Stated:
    for sign, count in _wrong_in_header(seen).items():
        yield (sign,), number(count)


@states("number of errors and warnings", "Triage")
def _(seen: Surfaces) -> Stated:
    for sign in "✗▲":
        yield (sign,), number(sum(row["glyph"] == sign for row in seen.triage_rows.values()))


@states("number of errors and warnings", "hand-over")
def _(seen: Surfaces) -> Stated:
    wrong = seen.handover.partition("\nWrong now")[2].partition("\n\n")[0]
    for sign in "✗▲":
        yield (sign,), number(len(re.findall(rf"^  {sign} ", wrong, re.MULTILINE)))


@states("number of errors and warnings", "report")
def _(seen: Surfaces) -> Stated:
    for sign in "✗▲":
        yield (sign,), number(len(re.findall(rf"^{sign} ", seen.report_text, re.MULTILINE)))


# NABs and NARs.


@states("phase of a NAB", "page of NABs")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("nonadmin").items():
        yield _subject(key), word(row["phase"])


@states("phase of a NAB", "get nab -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("nonadmin").items():
        yield _subject(key), word(item["phase"] or "New")


@states("what acts next on a refused NAB", "pane of NABs")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("nonadmin").items():
        if (told := find(r"(the owner|an administrator)", _line(text, "Next"))) is not None:
            yield _subject(key), word(told.split()[-1])


@states("what acts next on a refused NAB", "Triage")
def _(seen: Surfaces) -> Stated:
    for finding, item in seen.triage_items.items():
        if finding.startswith("nonadmin-refused:") and item["name"]:
            is_administrator = item["remedy"].startswith("Decide about")
            yield _of_item(item), word("administrator" if is_administrator else "owner")


# Storage.


@states("number of backups in a location", "pane of storage")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("storage").items():
        if found := re.search(r"^Holds ([\d,]+) backups? kept there(?:, ([\d,]+) being written)?", text, re.MULTILINE):
            for what, told in zip(("kept", "running"), found.groups(), strict=True):
                yield (*_subject(key), what), number(int((told or "0").replace(",", "")))


@states("number of backups in a location", "get storage -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("storage").items():
        if "backups" in item:
            yield (*_subject(key), "kept"), number(item["backups"])
            yield (*_subject(key), "running"), number(item["runningBackups"])


@states("number of backups in a location", "page of backups")
def _(seen: Surfaces) -> Stated:
    """Those that name it: what names none is in the default one."""
    ended = ("Completed", "PartiallyFailed", "Failed", "Deleting")
    phases: dict[tuple[str, str], list[str]] = {}
    for item in seen.items("backups").values():
        phases.setdefault((item["namespace"], item["storageLocation"] or ""), []).append(item["phase"] or "New")
    for key, item in seen.items("storage").items():
        if "backups" in item:
            names = (key.name, "") if item["default"] else (key.name,)
            held = [phase for name in names for phase in phases.get((key.namespace, name), ())]
            yield (*_subject(key), "kept"), number(sum(phase in ended for phase in held))


# Namespaces.


@states("protection of a namespace", "page of protection, STATE")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        state = row["state"].partition(",")[0]
        yield _subject(key), word({"no copy": "late", "copy due": "protected"}.get(state, state))


@states("protection of a namespace", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        yield _subject(key), word(item["state"])


@states("protection of a namespace", "Triage")
def _(seen: Surfaces) -> Stated:
    states_by_code = {
        "namespace-late": ("late",),
        "namespace-expiring": ("expiring",),
        "namespace-uncovered": ("not covered",),
        "namespace-partial": ("partial", "repo not ready"),
        "namespace-volumes-missing": ("manifests only", "volumes missing"),
    }
    for finding, item in seen.triage_items.items():
        told = states_by_code.get(item["code"])
        if told and item["name"] and item["kind"] == NAMESPACE.name:
            yield (NAMESPACE.name, "", item["name"]), word(*told)
        assert finding


# Volumes and their bytes


@states("volumes of a backup", "page of backups, VOLUMES")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("backups").items():
        if row["volumes"]:
            yield _subject(key), word(row["volumes"])


@states("volumes of a backup", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("backups").items():
        total = item["volumesTotal"]
        if item["volumesTaken"]:
            yield _subject(key), word(f"{item['volumesTaken']}/{'?' if total is None else total}")


@states("volumes of a backup", "pane of backups")
def _(seen: Surfaces) -> Stated:
    yield from _volumes_told(seen.panes("backups"))


@states("volumes of a backup", "describe backup")
def _(seen: Surfaces) -> Stated:
    yield from _volumes_told(seen.described("backups"))


def _volumes_told(texts: Mapping[ObjectRef, str]) -> Stated:
    for key, text in texts.items():
        line = _line(text, "Volumes ")
        if told := re.match(r"Volumes +(\d+) (?:of (\d+)|taken)", line):
            yield _subject(key), word(f"{told[1]}/{told[2] or '?'}")


@states("bytes of a backup", "page of backups, SIZE")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("backups").items():
        if row["size"]:
            yield _subject(key), size(row["size"])


@states("bytes of a backup", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("backups").items():
        if item["bytes"] is not None:
            yield _subject(key), exactly(item["bytes"])


@states("bytes of a backup", "pane of backups")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("backups").items():
        if told := find(rf"^Volumes +\d.*?({SIZE})", _line(text, "Volumes ")):
            yield _subject(key), size(told)


@states("volumes in the newest copy of a namespace", "page of protection, VOLUMES")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if "/" in row["volumes"]:
            yield _subject(key), word(row["volumes"].removeprefix("~"))


@states("volumes in the newest copy of a namespace", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        taken, unknown = len(item["volumesTaken"]), len(item["volumesNotKnown"])
        if expected := taken + unknown + len(item["volumesLeftOut"]):
            yield _subject(key), word(f"{'?' if unknown else taken}/{expected}")


@states("volumes in the newest copy of a namespace", "pane of protection")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("protection").items():
        told = re.match(r"Volumes +([?\d]+) of (\d+) in the newest copy", _line(text, "Volumes "))
        if told is not None:
            yield _subject(key), word(f"{told[1]}/{told[2]}")


@states("volumes of a namespace that somebody chose to leave out", "page of protection, STATE")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if row["state"].startswith("protected"):
            yield _subject(key), number(int(find(r"(\d+) left out by policy", row["state"]) or 0))


@states("volumes of a namespace that somebody chose to leave out", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        if not item["volumesNotKnown"]:
            yield _subject(key), number(sum(one["chosen"] for one in item["volumesLeftOut"]))


@states("volumes of a namespace that somebody chose to leave out", "pane of protection")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("protection").items():
        if text.startswith("Protected"):
            yield _subject(key), number(int(find(r"^Protected, (\d+) left out by policy\.", text) or 0))


@states("bytes of a namespace", "page of protection, SIZE")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if row["size"]:
            yield _subject(key), size(row["size"])


@states("bytes of a namespace", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        if item["bytes"] is not None:
            yield _subject(key), exactly(item["bytes"])


@states("bytes of a namespace", "pane of protection")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("protection").items():
        if told := find(rf"^Volumes +\d+ of \d+ in the newest copy(?: \([^)]*\))?, ({SIZE})", _line(text, "Volumes ")):
            yield _subject(key), size(told)


@states("bytes of a namespace", "get backups -o json, its newest copy")
def _(seen: Surfaces) -> Stated:
    """Of a backup of that namespace alone whose volumes are all claimed there now."""
    backups = {item["name"]: (key, item) for key, item in seen.items("backups").items()}
    for key, item in seen.items("protection").items():
        copy_key, copy = backups.get(item["newestCopy"] or "", (None, None))
        held = seen.state.store.get(copy_key) if copy_key is not None else None
        if not isinstance(held, Backup) or copy is None or held.spec.included_namespaces != (item["name"],):
            continue
        if copy["bytes"] is not None and copy["volumesTaken"] == len(item["volumesTaken"]):
            yield _subject(key), exactly(copy["bytes"])


@states("bytes of the last day", "report -o json")
def _(seen: Surfaces) -> Stated:
    for item in seen.report["volumes"]:
        if item["bytes"] is not None:
            yield _ALL, exactly(item["bytes"])


@states("bytes of the last day", "report")
def _(seen: Surfaces) -> Stated:
    _, _, after = seen.report_text.partition("\nVolumes of the last 24 hours")
    if told := find(rf"^ +({SIZE}) of ", after.lstrip("\n")):
        yield _ALL, size(told)


@states("bytes of the last day", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    since = seen.now - timedelta(hours=24)
    found = [
        item["bytes"]
        for item in seen.items("backups").values()
        if item["bytes"] is not None
        and item["phase"] in ("Completed", "PartiallyFailed")
        and datetime.fromisoformat(item["started"] or item["created"]) >= since
    ]
    if found:
        yield _ALL, exactly(sum(found))


@states("newest copy of a namespace", "page of protection, NEWEST")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if re.fullmatch(SHORT, row["newest"]):
            yield _subject(key), ago(row["newest"], seen.now)


@states("newest copy of a namespace", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        if item["newestCopyAt"]:
            yield _subject(key), at(item["newestCopyAt"])


@states("newest copy of a namespace", "pane of protection")
def _(seen: Surfaces) -> Stated:
    for key, text in seen.panes("protection").items():
        if age := find(rf", ({LONG}) old", _line(text, "Newest")):
            yield _subject(key), ago(age, seen.now)


@states("newest copy of a namespace", "get backups -o json")
def _(seen: Surfaces) -> Stated:
    backups = {item["name"]: item for item in seen.items("backups").values()}
    for key, item in seen.items("protection").items():
        made = backups.get(item["newestCopy"] or "")
        if made is not None and (begun := made["started"] or made["created"]):
            yield _subject(key), at(begun)


@states("next run for a namespace", "page of protection, NEXT RUN")
def _(seen: Surfaces) -> Stated:
    for key, row in seen.rows("protection").items():
        if ahead := find(rf"^in ({SHORT})", row["next"]):
            yield _subject(key), until(ahead, seen.now)


@states("next run for a namespace", "get protection -o json")
def _(seen: Surfaces) -> Stated:
    for key, item in seen.items("protection").items():
        if item["nextRun"]:
            yield _subject(key), at(item["nextRun"])


@states("next run for a namespace", "get schedules -o json")
def _(seen: Surfaces) -> Stated:
    """The first of those that cover it, are not paused, and whose backups are not refused."""
    schedules = {_subject(key): item for key, item in seen.items("schedules").items()}
    signs = {_subject(key): row["next"] for key, row in seen.rows("schedules").items()}
    for key, item in seen.items("protection").items():
        covers = [_schedule(one["namespace"], one["name"]) for one in item["schedules"] if not one["paused"]]
        runs = [
            schedules[one]["nextRun"]
            for one in covers
            if one in schedules
            and schedules[one]["nextRun"]
            and not schedules[one]["refusal"]
            and signs[one] not in _REFUSED
        ]
        if runs and item["exists"] is not False:
            yield _subject(key), at(min(runs))


def _line(text: str, *starts: str) -> str:
    """The first line that begins so; "" where none does."""
    return next((line for line in text.splitlines() if line.startswith(starts)), "")


def _awaited(text: str) -> str | None:
    """Who is silent, by what is said of a run that it keeps from being made."""
    if "no sign of activity from Velero" in text:
        return "Velero"
    return "the storage" if "Velero has not checked its storage" in text else None


def _all_paused(seen: Surfaces, pattern: str) -> int | None:
    rows = [row for finding, row in seen.triage_rows.items() if finding.startswith("velero-all-paused:")]
    found = find(pattern, rows[0]["what"]) if len(rows) == 1 else None
    return int(found) if found is not None else None


def _finding_subject(finding: str) -> Subject:
    kind, namespace, name = finding.split(":")[1].split("/")
    return kind, namespace, name


def _run_of(seen: Surfaces, key: ObjectRef) -> Subject | None:
    """The Velero object of a NAB or NAR, where it is to be seen."""
    name = seen.rows("nonadmin")[key]["object"]
    kind, page = (BACKUP.name, "backups") if key.kind == NAB.name else (RESTORE.name, "restores")
    assert key.kind in (NAB.name, NAR.name)
    found = [run for run in seen.rows(page) if run.name == name] if name else []
    return (kind, found[0].namespace, name) if len(found) == 1 else None


def _moved_run(item: Mapping[str, Any]) -> Subject | None:
    if item["backup"]:
        return BACKUP.name, item["namespace"], item["backup"]
    return (RESTORE.name, item["namespace"], item["restore"]) if item["restore"] else None


def _last_name(subject: str) -> str:
    """`schedule velero/daily`, `Schedule velero/daily` and `schedule daily` name the same; so do `64 nabs`."""
    last = subject.replace("…", "/").split("/")[-1].split()
    return last[-1][-6:] if last else ""
