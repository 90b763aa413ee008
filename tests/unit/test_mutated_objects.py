"""Objects out of range: refused where they are decoded; whatever is let through breaks nothing at any entry point."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.widgets.paragraphs import paragraph, wrap
from foretop_core.cron import Dialect, parse
from foretop_core.errors import Unreadable
from foretop_core.models import Backup, PreScaledCronJob, Resource, decode, from_builtins
from foretop_core.models.wire import Metadata
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.night import night
from foretop_core.rules.run_minutes import run_bits
from foretop_core.tables.engine.drawings import bar
from foretop_core.tables.text.terminal_text import LONGEST, clean, width
from foretop_core.tables.timeline.night_lanes import ServerNight
from tests.examples import sampled
from tests.objects import NOW, backup, location, schedule
from trials.chaos.every_entry import Outcome, try_objects

pytestmark = pytest.mark.long

_META = {"name": "odd", "namespace": "velero"}
_REFUSED: list[tuple[type[Resource], dict[str, Any], str]] = [
    (Backup, {"status": {"expiration": "0001-01-01T00:00:00+14:00"}}, "status.expiration"),
    (Backup, {"status": {"expiration": "9999-12-31T23:59:59-14:00"}}, "status.expiration"),
    (Backup, {"metadata": {**_META, "creationTimestamp": "0001-01-01T00:00:00Z"}}, "metadata.creationTimestamp"),
    (Backup, {"status": {"progress": {"totalItems": -1}}}, "status.progress.totalItems"),
    (Backup, {"status": {"errors": 2**63 - 1}}, "status.errors"),
    (PreScaledCronJob, {"spec": {"warmUpTimeMins": 99999999999}}, "spec.warmUpTimeMins"),
    (PreScaledCronJob, {"spec": {"warmUpTimeMins": -5}}, "spec.warmUpTimeMins"),
]


@pytest.mark.parametrize(("model", "part", "field"), _REFUSED)
def test_a_value_out_of_range_makes_its_object_unreadable_and_names_the_field(
    model: type[Resource], part: dict[str, Any], field: str
) -> None:
    plain = {"metadata": _META, **part}
    attempts: tuple[Callable[[], object], ...] = (
        lambda: decode(model, json.dumps(plain).encode()),
        lambda: from_builtins(model, plain),
    )
    for attempt in attempts:
        with pytest.raises(Unreadable) as refused:
            attempt()
        assert refused.value.what == f"{model.__name__} velero/odd cannot be read"
        assert refused.value.why.startswith(f"{field}: ")


def test_a_time_written_with_escapes_is_no_way_around() -> None:
    raw = b'{"metadata": {"name": "odd", "creationTimestamp": "\\u0030001-01-01T00:00:00Z"}}'
    with pytest.raises(Unreadable):
        decode(Backup, raw)


@pytest.mark.parametrize("time", ["0002-01-01T00:00:00+14:00", "9998-12-31T23:59:59-14:00"])
def test_the_first_and_the_last_year_can_be_read(time: str) -> None:
    found = decode(Backup, json.dumps({"metadata": {**_META, "creationTimestamp": time}}).encode())
    assert found.created is not None
    assert len(rfc3339(found.created) or "") == len("2026-11-15T02:41:07Z")


def test_long_text_is_shown_in_part() -> None:
    shown = clean("x" * 300_000)
    assert shown.endswith("… (283,616 more characters)")
    assert len(shown) < LONGEST + 40
    assert len(clean("\x1b" * 300_000)) < 4 * LONGEST + 40


@pytest.mark.parametrize(("done", "total"), [(20_000_000, -1), (-5, 10), (2**62, 3), (3, 2**62), (-1, -1), (0, 0)])
def test_a_bar_is_as_wide_as_it_is_whatever_the_numbers(done: int, total: int) -> None:
    assert len(bar(done, total, 8)) == 8


def test_a_delay_that_ends_after_the_last_year_has_no_runs_on_the_calendar() -> None:
    base = datetime(9998, 12, 31, tzinfo=UTC)
    assert run_bits(parse("@every 2562047h", Dialect.ROBFIG), datetime(2026, 11, 15, tzinfo=UTC), 1440, base) == 0


@pytest.mark.parametrize("seed", sampled((1003, *range(101, 108)), 1003))
def test_no_mutated_object_breaks_anything_at_any_entry_point(seed: int) -> None:
    outcome = Outcome()
    try_objects(250, seed, outcome)
    assert outcome.tried == 250
    assert 0 < outcome.unreadable < 250
    assert outcome.escaped == []
    assert dict(outcome.caught) == {}
    assert outcome.false_calm == 0


def test_a_word_as_long_as_is_shown_is_folded_without_a_letter_lost() -> None:
    word = "漢x" * (LONGEST // 2)
    lines = ["".join(piece.text for piece in line) for line in wrap([paragraph(word)], 78)]
    assert "".join(lines) == word
    assert {width(line) for line in lines[:-1]} <= {77, 78}


def test_in_a_zone_the_last_year_of_all_has_no_runs_on_the_calendar() -> None:
    parsed = parse("CRON_TZ=Europe/Berlin 0 2 * * *", Dialect.ROBFIG)
    assert run_bits(parsed, datetime(9999, 6, 1, tzinfo=UTC), 1440, None) == 0


def test_one_schedule_that_ran_last_in_the_last_year_does_not_take_the_night_of_all_others() -> None:
    """Its next run would be due after the last moment that can be told."""
    far = schedule("far", "@every 2562047h", last="9998-12-31T23:59:59Z")
    snapshot = assemble([location(), far, schedule("hourly", "0 * * * *", last="02:00:03")])
    runs = [run.owner.name for run in night(snapshot, "velero", NOW, draws=0).runs]
    assert set(runs) == {"hourly"}


def test_a_run_that_does_not_say_since_when_it_waits_is_drawn_as_of_now() -> None:
    waits = replace(backup("b", "Queued"), metadata=Metadata(name="b", namespace="velero"))
    first = replace(backup("a", "Queued"), metadata=Metadata(name="a", namespace="velero"))
    ahead = ServerNight("", night(assemble([location(), first, waits]), "velero", NOW, draws=0))
    (key,) = ahead.foreseen
    assert {run.due for run in ahead.lane_runs(key, ahead.foreseen[key])} == {NOW}
