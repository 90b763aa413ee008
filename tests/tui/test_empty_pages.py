"""Pages without rows: what was looked at, what is next, and the key that shows all."""

from __future__ import annotations

import re

import pytest

from foretop_core.models import from_builtins
from foretop_core.models.builtin_kinds import Namespace
from tests.objects import backup
from tests.tui.fake_source import FilledSource, calm
from tests.tui.pilot import MIDDLE, SMALL, screen


async def test_where_nothing_is_wrong_it_is_told_what_was_looked_at_and_what_is_next() -> None:
    async with screen(FilledSource(calm())) as shown:
        await shown.settle()
        assert "● No problems." in shown.text
        told = [line.split()[0] for line in shown.lines if line.startswith("  ")]
        assert told == ["●", "Schedules", "Next", "Last", "Copies", "Queue", "Checked", "LAST", "▃", "5"]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (("slash", *"zz"), 'No row has "zz".  esc shows all '),
        (("slash", *"phase:zz"), 'No row fits "phase:zz".  esc shows all '),
        (("ctrl+z",), "No row has a problem.  esc shows all "),
    ],
)
async def test_a_filter_that_nothing_fits_is_named_with_the_key_that_clears_it(
    keys: tuple[str, ...], told: str
) -> None:
    async with screen(FilledSource(calm())) as shown:
        await shown.press("2", *keys)
        assert told in shown.text
        await shown.press("escape")
        assert told not in shown.text


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_a_filter_by_a_field_that_the_page_has_not_names_those_that_it_has(size: tuple[int, int]) -> None:
    shop = from_builtins(Namespace, {"metadata": {"name": "shop"}, "status": {"phase": "Active"}})
    async with screen(FilledSource([*calm(), shop]), size) as shown:
        await shown.press("9", "slash", *"phase:*Fail", "enter")
        told = " ".join(shown.text.replace("│", " ").split())
        assert "'phase' is not a field here (the fields are age, " in told
        assert ", state, " in told
        assert "No row" not in told


async def test_beside_an_empty_table_the_frame_of_the_pane_stays_and_says_nothing() -> None:
    async with screen(FilledSource(calm()), MIDDLE) as shown:
        await shown.press("2")
        top = shown.lines[2]
        assert top.count("┐") == 2
        await shown.press("slash", *"zz", "enter")
        assert shown.lines[3].count("┐") == 2
        assert shown.lines[3].endswith("┌" + "─" * 36 + "┐")
        assert all(line.endswith("│") for line in shown.lines[4:-2])
        await shown.press("tab")
        assert shown.app.focused is shown.table


async def test_a_filter_by_a_value_that_no_row_has_names_some_that_they_have() -> None:
    async with screen() as shown:
        await shown.press("3", "slash", *"phase:queued", "enter")
        assert 'No row fits "phase:queued".' in shown.text
        assert re.search(r"Rows have, for example: .*Created", shown.text)


async def test_an_empty_queue_tells_which_run_is_next() -> None:
    async with screen(FilledSource(calm())) as shown:
        await shown.press("4")
        assert "The queue is empty." in shown.text
        assert re.search(r"Next: \S+ in \d+ \w+", shown.text)


@pytest.mark.sweep
async def test_an_empty_queue_lists_what_has_ended_in_the_last_hour() -> None:
    bad = backup("bad", "Failed", started="02:20:00", ended="02:21:00")
    good = [backup(f"good-{number}", started="02:10:00", ended="02:12:30") for number in range(29)]
    async with screen(FilledSource([*calm(), bad, *good])) as shown:
        await shown.press("4")
        assert (ended := re.search(r"ENDED IN THE LAST HOUR: (\d+) good, 1 not", shown.text))
        listed = [line.split() for line in shown.lines if line.strip().startswith(("✗", "●"))]
        assert listed[0] == ["✗", "bad", "1m", "02:21:00"]
        assert len(listed) == 8
        assert f"{int(ended[1]) + 1 - 8} more: :backups" in shown.text
