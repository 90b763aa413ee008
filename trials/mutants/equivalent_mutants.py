"""Changes that leave the program as it is, each with the reason. They are tried by nobody and count for nothing."""

from __future__ import annotations

from dataclasses import dataclass

from trials.mutants.mutations import Mutant


@dataclass(frozen=True, slots=True)
class SameProgram:
    """A change by file, line of source and what is changed in it."""

    path: str
    text: str
    change: str
    reason: str


SAME = (
    SameProgram(
        "core/foretop_core/cron/go_stdlib.py",
        "if value > _MAX_INT64 // 10 or longer > 2**63:",
        "> to >=",
        "decides about the 19th digit after the point, which no unit's nanoseconds show: tried for all units",
    ),
    SameProgram(
        "core/foretop_core/cron/fields.py",
        "NO_FIELDS = Fields(0, 0, 0, 0, 0, either_day=False)",
        "0 to 1",
        "a run needs a minute, an hour and a day: with one of them it still has none",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "begin + CLEAR_OF_CHANGE <= self._utc < end - CLEAR_OF_CHANGE",
        "<= to <",
        "decides from which midnight on the walk may jump: until then it goes day by day, to the same runs",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "CLEAR_OF_CHANGE = timedelta(hours=26)",
        "26 to 27",
        "the same: it goes day by day for an hour more",
    ),
    SameProgram(
        "core/foretop_core/rules/cron_dialects/upgrade_effect.py",
        'aim = expression(prefix + " ".join(meant), dialects[-1])',
        "1 to 2",
        "all dialects that know the prefix read plain fields alike, and a candidate must be read alike by both: "
        "tried with 15,440 halves",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/client.py",
        "for number, line in enumerate(filter(bytes.strip, lines), start=1):",
        "1 to 2",
        "decides after which line of each hundred others get their turn, which no one can tell",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/client.py",
        "if number % _LINES_AT_A_TIME == 0:",
        "0 to 1",
        "the same: one line later of each hundred",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/oidc.py",
        "if time.monotonic() >= deadline:",
        ">= to >",
        "decides about one more try at the very moment that the time is up",
    ),
    SameProgram(
        "core/foretop_core/actions/velero_pickup.py",
        "if loop.time() < named_by:",
        "< to <=",
        "at the very end it would wait for no time at all",
    ),
    SameProgram(
        "core/foretop_core/actions/signed_url_download.py",
        "_ANY_HEADER = zlib.MAX_WBITS | 32",
        "32 to 33",
        "MAX_WBITS is 15 and has that bit already",
    ),
    SameProgram(
        "core/foretop_core/actions/signed_url_download.py",
        "_AT_A_TIME = 2**20",
        "2 to 3",
        "a file is the same however much of it is unpacked at a time",
    ),
    SameProgram(
        "core/foretop_core/actions/signed_url_download.py",
        "_AT_A_TIME = 2**20",
        "20 to 21",
        "a file is the same however much of it is unpacked at a time",
    ),
    SameProgram(
        "core/foretop_core/tables/resources/protection.py",
        "basis = (snapshot.verdicts, snapshot.namespaces is not None, snapshot.volumes_seen, snapshot.volume_policies)",
        "is not to is",
        "the value is only compared with the one of before: both are negated",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/exec_plugin.py",
        "output = process.stdout.read(MOST_OUTPUT + 1)",
        "1 to 2",
        "one byte more than may be is enough to tell that there is more; two are no different",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/oidc_refresh.py",
        "body = answer.read(MOST_ANSWER + 1)",
        "1 to 2",
        "one byte more than may be is enough to tell that there is more; two are no different",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/aborting_connector.py",
        "async def close(self, *, abort_ssl: bool = False) -> None:",
        "False to True",
        "every connection is aborted before aiohttp closes what is left",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/socks_connector.py",
        "self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET",
        "0 to 1",
        "aiohttp always gives the port, and no socket is opened by it: the proxy opens one",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/socks_connector.py",
        "return [ResolveResult(hostname=host, host=host, port=port, family=family, proto=0, flags=0)]",
        "0 to 1",
        "no socket is opened by these numbers: the proxy opens one",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/socks_connector.py",
        'return await self._proxy.connect(req.url.host or "", req.url.port or 0, timeout=limit)',
        "0 to 1",
        "the address of a server has a port, or that of its scheme",
    ),
    SameProgram(
        "core/foretop_core/kube/access/doctor_checks.py",
        'side = "ahead of" if skew > timedelta() else "behind"',
        "> to >=",
        "asked only of a difference of more than five seconds, so never of none",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/list_watch_codec.py",
        'return msgspec.json.encode(wanted)[:-1] + b","',
        "1 to 2",
        "no object begins with it then, and each is looked through: slower, with the same answer",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/watch_slots.py",
        "return 1 if scope in self._filled else 2",
        "2 to 3",
        "ranks are only compared, and the last one stays the last",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        "self._in_doubt = False",
        "False to True",
        "before the first list, which comes in any case and settles it",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        "self._was_cut = False",
        "False to True",
        "read only once there is a version, and the list that brings it settles it",
    ),
    SameProgram(
        "core/foretop_core/kube/watching/reflector.py",
        'raise ApiError(200, "", "the list was asked for as a whole and is not whole")',
        "200 to 201",
        "its one caller takes any ApiError as the sign to read page by page, and shows none",
    ),
    SameProgram(
        "core/foretop_core/actions/planners/lifetimes.py",
        "why = EXTEND_BACKUP.applies(backup, lambda: False) or requested_deletion(snapshot, backup)",
        "False to True",
        "whether a backup can be extended does not depend on its data movements: test_records.py asks with both",
    ),
    SameProgram(
        "core/foretop_core/actions/run_logs.py",
        "_AT_A_TIME = 1000",
        "1000 to 1001",
        "how many lines are decoded together, whatever the number: the lines are those of the text",
    ),
    SameProgram(
        "core/foretop_core/cron/english.py",
        "if seconds % size == 0 and seconds <= 120 * size:",
        "<= to <",
        "120 seconds and 120 minutes are whole numbers of the next larger unit, 120 hours are written alike below",
    ),
    SameProgram(
        "core/foretop_core/cron/go_stdlib.py",
        'value = int(digits.lstrip("0")[:21] or "0")',
        "21 to 22",
        "21 digits are more than 64 bits hold, and so are 22",
    ),
    SameProgram(
        "core/foretop_core/cron/go_stdlib.py",
        'whole_units = int(number[1].lstrip("0")[:20] or "0")',
        "20 to 21",
        "20 digits are more than 64 bits with a sign hold, and so are 21",
    ),
    SameProgram(
        "core/foretop_core/cron/go_stdlib.py",
        r'return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"',
        "65535 to 65536",
        "U+10000 is printable and never comes here",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "weeks = sum(fields.dow << (7 * week) for week in range(6))",
        "6 to 7",
        "the days after the 31st are cut off",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "for first in range(7):",
        "7 to 8",
        "an eighth mask, equal to the first, that no weekday looks up",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "self._utc >= safe_end",
        ">= to >",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "or earliest - offset < begin + CLEAR_OF_CHANGE",
        "< to <=",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if moment < safe_end:",
        "< to <=",
        "decides about one instant 26 hours from a change, from where jump and steps find the same run",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "or (self._reset and local != earliest)",
        "and to or",
        "the walk goes step by step where it could jump, to the same run: tried with 4,500 answers of the libraries",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if target > local:",
        "> to >=",
        "a jump to where the walk is: at a midnight, where a reset changes nothing",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "self._steps = 0",
        "0 to 1",
        "an endless search is given up one step earlier",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "while self._local.year <= self._last_year and self._steps < _MOST_STEPS:",
        "< to <=",
        "an endless search is given up one step later",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "if self._local.day == 1 or self._past_change() or self._steps > _MOST_STEPS:",
        "> to >=",
        "an endless search is given up one step earlier",
    ),
    SameProgram(
        "core/foretop_core/rules/indexes.py",
        "if items is None or (isinstance(items, tuple) and items[0] == key):",
        "0 to 1",
        "a bucket with one object is a dictionary then and not a pair: more memory, the same answers",
    ),
    SameProgram(
        "core/foretop_core/store/store.py",
        "basis = (snapshot.verdicts, snapshot.namespaces is not None, snapshot.volume_policies, snapshot.invalid_runs)",
        "is not to is",
        "the answers of two looks are only compared with each other",
    ),
    SameProgram(
        "core/foretop_core/store/store.py",
        "if held is not None and held[0] == version:",
        "0 to 1",
        "the next comparison, with the gaps worked out again, finds the same snapshot",
    ),
    SameProgram(
        "core/foretop_core/store/store.py",
        "self._lost_before_list = 0",
        "0 to 1",
        "the begin of a list sets it before the end of that list reads it",
    ),
    SameProgram(
        "core/foretop_core/tables/text/times.py",
        "if _MINUTE <= seconds < 10 * _MINUTE and seconds % _MINUTE:",
        "<= to <",
        "a whole minute has no seconds to show",
    ),
    SameProgram(
        "core/foretop_core/tables/text/times.py",
        "if _MINUTE <= seconds < 10 * _MINUTE and seconds % _MINUTE:",
        "< to <=",
        "ten whole minutes have no seconds to show",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "if code <= 0xFF:",
        "<= to <",
        "U+00FF is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "if code <= 0xFF:",
        "255 to 256",
        "U+0100 is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        'return f"\\\\u{code:04x}" if code <= 0xFFFF else f"\\\\U{code:08x}"',
        "65535 to 65536",
        "U+10000 is a letter, which is shown as it is",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "return _kept(text) if len(text) <= _LONGEST_KEPT else _measured(text)",
        "condition negated",
        "only whether a width is remembered",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "return _kept(text) if len(text) <= _LONGEST_KEPT else _measured(text)",
        "<= to <",
        "only whether a width is remembered",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/time_axis.py",
        "if (cell == 0 or cell > len(line)) and cell + len(label) <= ruler.cells:",
        "> to >=",
        "labels of 5 or 6 letters stand 4 cells apart, or 8 and more: none begins where another ends",
    ),
    SameProgram(
        "core/foretop_core/rooms/primer/preview.py",
        "number = int(minutes) if minutes.isascii() and minutes.isdecimal() and len(minutes) < 9 else -1",
        "1 to 2",
        "any number below 0 is refused alike",
    ),
    SameProgram(
        "core/foretop_core/rooms/primer/preview.py",
        "return _coming(shown.text, shown.minutes, shown.dialect, "
        "now.astimezone(UTC).replace(second=0, microsecond=0))",
        "0 to 1",
        "warm-ups begin with a minute: within one the answer is the same, and only remembered again",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/timeline_model.py",
        "if 0 <= near < len(self.order) and self.order[near] == key:",
        "<= to <",
        "only where it is looked for first",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/timeline_model.py",
        "if 0 <= near < len(self.order) and self.order[near] == key:",
        "0 to 1",
        "only where it is looked for first",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/filter.py",
        "if end < 0:",
        "< to <=",
        "a closing quote is never the first letter",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/filter.py",
        "if end < 0:",
        "0 to 1",
        "a closing quote is never the first letter",
    ),
    SameProgram(
        "core/foretop_core/rooms/what_if/comparison.py",
        'how = "sooner" if moved < timedelta() else "later"',
        "< to <=",
        "what has not moved is not told at all",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/view.py",
        "most = max(map(len, texts), default=1)",
        "1 to 2",
        "of no cells none is too wide, however often they are shortened",
    ),
    SameProgram(
        "core/foretop_core/tables/text/terminal_text.py",
        "for code in range(first, last + 1)",
        "+ to -",
        "a sign that is not among these is measured by the library, to the same width",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "self._go(self._utc + (24 - hour if hour > 12 else -hour) * _HOUR)",
        "> to >=",
        "no zone has moved its clocks by 12 hours since Kanton in 1937: tried with all changes of tzdata",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/groups.py",
        "self.moves += 1",
        "1 to 2",
        "only compared with the number of before",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/rows.py",
        "self.moves += 1",
        "1 to 2",
        "only compared with the number of before",
    ),
    SameProgram(
        "core/foretop_core/kube/connection/client.py",
        "if self._placed is None or self._placed[0] is not config:",
        "0 to 1",
        "the identity is worked out again each time: slower, with the same answer",
    ),
    SameProgram(
        "core/foretop_core/rules/heartbeat.py",
        "return any(entry.is_enough for entry in agreeing) or max(moments) - min(moments) > PERIOD / 2",
        "2 to 3",
        "moments that agree on the second lie two seconds apart at most, or 58 at least",
    ),
    SameProgram(
        "core/foretop_core/rules/night/outlook.py",
        "if count == most and begins is not None and step < 0:",
        "0 to 1",
        "a step is 1 or -1",
    ),
    SameProgram(
        "core/foretop_core/rules/night/outlook.py",
        "if count == most and begins is not None and step < 0:",
        "< to <=",
        "a step is 1 or -1",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/night_chart.py",
        "if last > first:",
        "> to >=",
        "what takes no time comes and goes in one moment, and no cell counts it",
    ),
    SameProgram(
        "core/foretop_core/rules/night/server_model.py",
        "return SkippedRuns(runs, any(moment > skipped for moment in made)) if runs else None",
        "> to >=",
        "a backup that was made at that moment is the last before it: no run was skipped between the two",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/night_words.py",
        'waits.append(WordLine("", (Phrase(f"most wait on {day}: {humanize.count(number, \'run\')}"),), 1))',
        "1 to 2",
        "the only line of the week with 2 stands before it, and of equals the first is kept",
    ),
    SameProgram(
        "core/foretop_core/cron/go_stdlib.py",
        "if value > _MAX_INT64 // 10 or longer > 2**63:",
        "2 to 3",
        "decides about the 19th digit after the point, which no unit's nanoseconds show",
    ),
    SameProgram(
        "core/foretop_core/cron/zone_walk.py",
        "begin + CLEAR_OF_CHANGE <= self._utc < end - CLEAR_OF_CHANGE",
        "and to or",
        "tries to jump after each day, and the jump asks the same before it is made: slower, to the same runs",
    ),
    SameProgram(
        "core/foretop_core/rooms/drills/planners.py",
        '"ports": [{"port": 1}],',
        "1 to 2",
        "a service must have a port, and behind the copy nothing listens on any",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/night_lanes.py",
        "coming = list(next_runs(item, now, 1))",
        "1 to 2",
        "only the first of them is looked at",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/night_words.py",
        'return WordLine("Paused", (Phrase(f"{LaneSign.PAUSED.value} ", Tone.PAUSED, is_sign=True), Phrase(text)), 1)',
        "1 to 2",
        "it is the last line: those with 2 stand before it, and of equals the first is kept",
    ),
    SameProgram(
        "core/foretop_core/tables/timeline/timeline_model.py",
        "self.revision += 1",
        "1 to 2",
        "only compared with the number of before",
    ),
    SameProgram(
        "core/foretop_core/store/change_history.py",
        "self._having: list[dict[ObjectRef, None]] = [{} for _ in range(PER_OBJECT + 1)]",
        "1 to 2",
        "no object has so many changes: the last one stays empty",
    ),
    SameProgram(
        "core/foretop_core/rules/facts/pause_facts.py",
        "start, stop = (moment.astimezone(facts.zone).replace(second=0, microsecond=0) for moment in span)",
        "0 to 1",
        "runs fall on whole minutes: from a second or a microsecond later on within the minute they are the same",
    ),
    SameProgram(
        "core/foretop_core/tables/engine/groups.py",
        "self._counted = -1",
        "1 to 2",
        "only compared with a count of moves, which is never below 0",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "return self._days[first_weekday(year, month)] & ((2 << month_length(year, month)) - 1)",
        "1 to 2",
        "leaves out the lowest bit, of a day 0, which no mask of days has",
    ),
    SameProgram(
        "core/foretop_core/cron/wall_clock_calendar.py",
        "_LENGTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)",
        "0 to 1",
        "no month has the number 0",
    ),
    SameProgram(
        "core/foretop_core/actions/planners/downloads.py",
        "80,",
        "80 to 81",
        "only the order of the actions counts, and the next one has 90",
    ),
    SameProgram(
        "core/foretop_core/rooms/what_if/comparison.py",
        "less = sum(more < timedelta() for more in longer)",
        "< to <=",
        "a wait that is as long as before was left out above",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
