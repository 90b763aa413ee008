"""All places that state a fact agree, in every scene and recording; `make agreement` compares a million times."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from foretop.commands.report import command as report_command
from foretop_demo.simulated_cluster import FIXED_START
from tests import recordings
from tests.agreement.comparison import Pair, Tally, situations
from tests.agreement.situations import SCENE_NAMES, recorded, scene_at
from tests.agreement.surfaces import Surfaces
from tests.examples import sampled

_MOST_SITUATIONS = 200


@pytest.mark.parametrize("each", sampled((20, 1), 1))
def test_no_two_places_contradict_each_other(each: int, record_property: Callable[[str, object], None]) -> None:
    """Each place is compared on each fact at least so often."""
    tally, chance = Tally(), random.Random(1)
    told: dict[int, set[Pair]] = {}

    def seldom() -> dict[Pair, int]:
        return {pair: count for pair, count in tally.asked().items() if count < each}

    def helps(place: int) -> bool:
        return place not in told or not told[place].isdisjoint(seldom())

    for place, situation in islice(situations(1, helps), _MOST_SITUATIONS):
        before = tally.asked()
        tally.ask(situation, chance, each)
        told.setdefault(place, set()).update(pair for pair, count in tally.asked().items() if count > before[pair])
        if not seldom():
            break
    record_property("agreement", "\n".join(tally.table()))
    assert not tally.contradictions, "\n".join(tally.failures(1))
    assert not seldom(), f"compared too seldom: {seldom()}"


@pytest.mark.parametrize("name", sampled(SCENE_NAMES, "maintenance", "outage", "protection"))
def test_all_places_agree_in_the_very_second_of_a_run(name: str) -> None:
    """Most schedules of the scenes run on the hour: Velero has not made that run yet, and no place is past it."""
    tally, chance = Tally(), random.Random(1)
    tally.ask(scene_at(name, 1, FIXED_START.replace(hour=3, minute=0, second=0)), chance)
    assert not tally.contradictions, "\n".join(tally.failures(1))


@pytest.mark.parametrize("step", [150, pytest.param(10, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", recordings.NAMES)
def test_a_report_on_a_recorded_state_is_what_the_dashboard_shows(name: str, step: int, tmp_path: Path) -> None:
    """`report -f FILE --at TIME` at every so manyth event beside rows, queue and findings of a dashboard."""
    known: dict[tuple[str, str, str], recordings.Event] = {}
    file = tmp_path / "objects.json"
    for place, event in enumerate(recordings.events(name)):
        if event.type == "DELETED":
            known.pop(event.key, None)
        else:
            known[event.key] = event
        if place % step or not known:
            continue
        situation = recorded(name, place, event.t, tuple(known.values()))
        file.write_bytes(msgspec.json.encode({"kind": "List", "items": situation.manifests}))
        at = situation.now.astimezone(UTC).isoformat()
        asked = ["-f", str(file), "--at", at, "--velero-version", situation.version, "-o", "json"]
        printed = CliRunner().invoke(report_command, asked)
        assert printed.exit_code in (0, 1, 3), printed.output
        report = msgspec.json.decode(printed.stdout)
        seen = Surfaces(situation, random.Random(place))
        assert report["schedules"] == _by_name(seen, "schedules"), situation.step
        assert sorted(report["queue"], key=_name) == _by_name(seen, "queue"), situation.step
        shown = {one: item for one, item in seen.triage_items.items() if item["kind"] != "Context"}
        assert {item["id"]: item for item in report["findings"]} == shown, situation.step


def _name(item: dict[str, str]) -> tuple[str, str, str]:
    return item["namespace"], item["name"], item["kind"]


def _by_name(seen: Surfaces, page: str) -> list[dict[str, str]]:
    return sorted(map(dict, seen.items(page).values()), key=_name)
