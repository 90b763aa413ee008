"""Random questions about cron: mostly sensible expressions, and enough typical typing errors."""

from __future__ import annotations

import random
import zoneinfo
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from foretop_core.cron import Dialect

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
DESCRIPTORS = (
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
    "@triggered",
    "@manual",
    "@none",
)
ODD_DESCRIPTORS = (
    "@",
    "@Daily",
    "@daily ",
    " @daily",
    "@reboot",
    "@every",
    "@every ",
    "@every  1h",
    "@EVERY 1h",
    "@Manual",
    "@none ",
)
ODD_DURATIONS = (
    "0s",
    "-1h",
    "1d",
    "1",
    "",
    ".5s",
    "1.5h",
    "500ms",
    "1h30m10.9s",
    "+2m",
    "9999999h",
    "1e3s",
    "1 h",
    "µs",
    "999ms",
    "1s999ms",
    "1ns",
    "0.9999999999s",
)
ODD_ZONES = (
    "",
    "Local",
    "UTC",
    "Nowhere/Land",
    "europe/berlin",
    "../UTC",
    "/UTC",
    "a\\b",
    "EST5EDT",
    "GMT+1",
    "+01:00",
    "America",
    "Asia/",
    "Europe/Berlin/",
    "UTC/x",
    "./Europe//Paris",
    '"UTC"',
    "'Europe/Berlin'",
    "'Europe/Berlin\"",
    '"',
    "''",
    '"Local"',
    "Zürich",
    "Europe/Bérlin'",
    "a.b",
    "é" * 33,
    "x" * 64,
    "x" * 65,
)
# Clocks that change at midnight or a minute later, by half an hour, by two hours, or in the other half of the year.
LIVELY_ZONES = (
    "Africa/Cairo",
    "America/Havana",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Chatham",
)
ODD_TERMS = (
    *(
        "",
        "-",
        "/",
        ",",
        "*/",
        "*/0",
        "*/-5",
        "*/1",
        "*/2",
        "*/99",
        "*-5",
        "*-x/2",
        "?/3",
        "+5",
        "007",
        "1_0",
        "5-",
        "-5",
    ),
    *(
        "1-2-3",
        "1/2/3",
        "9-4",
        "60",
        "99",
        "7",
        "0",
        "x",
        "L",
        "1#2",
        "15W",
        "１",
        "jan",
        "MON",
        "mon-fri",
        "sat-sun",
    ),
    *("18446744073709551616", "0x1", "1.5", "**", "*,*", "2-4/0", "1-1", "5/1", "59/1", "Monday", "\u0131"),
    *("H", "H/5", "h", "1,H(0-5)", "thu,5", "L-3", "LW", "1w", "l", "fri#3", "5#L", "#", "0-7", "7-1", "*/7", "*/8"),
    *("22-2", "62-5", "66-5/2", "100-5", "61/2", "25-5", "nov-feb", "fri-mon/2", "sun-7", "5-7/2", "1-2-3/4", "1/99/"),
)
YEARS = 8
BLANKS = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u2003", "\u0085", "\x0b", "\x1c", "\x1f", "\u200b", "")


@dataclass(frozen=True, slots=True)
class Field:
    """One of the five fields: its bounds, and names for values if it has them."""

    least: int
    most: int
    names: tuple[str, ...] = ()


FIELDS = (Field(0, 59), Field(0, 23), Field(1, 31), Field(1, 12, MONTHS), Field(0, 6, WEEKDAYS))


@dataclass(frozen=True, slots=True)
class Question:
    """A question for the oracle: the runs of an expression after a time on a clock in a zone."""

    expr: str
    tz: str
    start: datetime
    count: int

    def as_json(self, dialect: Dialect) -> dict[str, object]:
        asked = asdict(self)
        return asked | {"from": asked.pop("start").isoformat(), "dialect": dialect.name}


def random_questions(rng: random.Random, count: int) -> list[Question]:
    """Questions from some years and zones, different on each run; few enough for a cache to be useful.

    Not before 2012: Samoa skipped a day in December 2011, where the libraries search for ever.
    """
    others = sorted(zoneinfo.available_timezones() - {"localtime", "posixrules"})
    zones = rng.sample(others, 10) + rng.sample(LIVELY_ZONES, 10)
    first_year = rng.randint(2012, 2060)
    return [_question(rng, rng.choice(zones), first_year + rng.randrange(YEARS)) for _ in range(count)]


def _question(rng: random.Random, zone: str, year: int) -> Question:
    expr = _expression(rng)
    if rng.random() < 0.005:
        expr += "," * rng.choice((1024 - len(expr), 1025 - len(expr), 2000))
    if rng.random() < 0.2:
        named = rng.choice(ODD_ZONES) if rng.random() < 0.3 else zone
        expr = f"{rng.choice(('TZ=', 'CRON_TZ='))}{named}{rng.choice(BLANKS)}{expr}"
    return Question(expr, zone, _moment(rng, zoneinfo.ZoneInfo(zone), year), rng.randint(1, 6))


def _expression(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.04:
        return rng.choice(DESCRIPTORS if rng.random() < 0.6 else ODD_DESCRIPTORS)
    if kind < 0.08:
        return f"@every {_duration(rng)}"
    words = [_field(rng, field) for field in FIELDS]
    if kind < 0.12:
        rng.shuffle(words)
        words = words[: rng.randint(0, 4)] + words[: rng.randint(0, 3)]
    blank = rng.choice(BLANKS) if kind < 0.2 else " "
    return blank.join(words)


def _duration(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(ODD_DURATIONS)
    units = rng.sample(("h", "m", "s"), rng.randint(1, 3))
    return "".join(f"{rng.randint(0, 90)}{unit}" for unit in units)


def _field(rng: random.Random, field: Field) -> str:
    if rng.random() < 0.35:
        return rng.choice("***?")
    if rng.random() < 0.03:
        return rng.choice(ODD_TERMS)
    return ",".join(_term(rng, field) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def _term(rng: random.Random, field: Field) -> str:
    low, high = _ends(rng, field)
    form = rng.random()
    if form < 0.02:
        return rng.choice(ODD_TERMS)
    if form < 0.5:
        return _value(rng, field, low)
    span = rng.choice(("*", _value(rng, field, low), f"{_value(rng, field, low)}-{_value(rng, field, high)}"))
    return span if form < 0.75 else f"{span}/{rng.randint(1, rng.choice((3, 3, field.most + 2)))}"


def _ends(rng: random.Random, field: Field) -> tuple[int, int]:
    """A range, a few of which wrap around; of the hours often those in which clocks change."""
    most = 4 if field.most == 23 and rng.random() < 0.4 else field.most
    low, high = sorted(rng.randint(field.least, most) for _ in range(2))
    return (high, low) if rng.random() < 0.05 else (low, high)


def _value(rng: random.Random, field: Field, number: int) -> str:
    if field.names is WEEKDAYS and number == 0 and rng.random() < 0.1:
        return "7"
    if field.names and rng.random() < 0.4:
        name = field.names[number - field.least]
        return rng.choice((name, name.upper(), name.title()))
    return str(number)


def _moment(rng: random.Random, zone: zoneinfo.ZoneInfo, year: int) -> datetime:
    """Any second of the year, or one in the days before the clocks change."""
    start = datetime(year, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(365 * 86_400))
    if rng.random() < 0.5:
        offset = start.astimezone(zone).utcoffset()
        days = (start + timedelta(days=day) for day in range(200))
        change = next((day for day in days if day.astimezone(zone).utcoffset() != offset), start)
        start = change - timedelta(seconds=rng.randrange(3 * 86_400))
    return start + timedelta(microseconds=rng.choice((0, 0, 1, 999_999)))
