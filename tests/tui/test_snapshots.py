"""Situations as they look, held to what is kept in `snapshots`; `make snapshots` writes them anew."""

from __future__ import annotations

import pytest
from rich.color import Color

from tests.tui.pictures import PICTURES, SNAPSHOTS, Picture, described, kept, looking_at

_KEPT = [picture for picture in PICTURES if picture.snapshot]
_SITUATIONS = {"calm", "outage", "maintenance", "forbidden", "stale", "empty"}
_SIZES_AND_COLOURS = {"80x24", "120x40", "200x60", "16-colours", "no-colour", "theme-dark"}


@pytest.mark.parametrize("picture", _KEPT, ids=lambda picture: picture.name)
async def test_a_situation_looks_as_it_did(picture: Picture) -> None:
    """The words are compared first, then their colours, so that a failure can be read."""
    wanted, got = picture.file.read_text(), await kept(picture)
    if picture.snapshot == "svg":
        assert described(got) == described(wanted)
        assert got == wanted
    else:
        assert got.splitlines() == wanted.splitlines()


def test_no_snapshot_is_left_over_and_the_named_situations_are_drawn() -> None:
    assert {path.name for path in SNAPSHOTS.glob("*")} == {picture.file.name for picture in _KEPT}
    assert {picture.name for picture in _KEPT if picture.snapshot == "svg"} == _SITUATIONS | _SIZES_AND_COLOURS


async def _colours(name: str) -> set[Color | None]:
    """Those of the cells, as they are sent to a terminal."""
    async with looking_at(next(picture for picture in _KEPT if picture.name == name)) as shown:
        strips = shown.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        assert styles
        return {colour for style in styles for colour in (style.color, style.bgcolor)}


@pytest.mark.sweep
async def test_without_colour_no_cell_has_one() -> None:
    assert all(colour is None or colour.is_default for colour in await _colours("no-colour"))


@pytest.mark.sweep
async def test_in_the_terminal_s_own_colours_a_cell_has_one_of_the_sixteen() -> None:
    numbers = {colour.number for colour in await _colours("16-colours") if colour and not colour.is_default}
    assert numbers
    assert all(number is not None and number < 16 for number in numbers)
