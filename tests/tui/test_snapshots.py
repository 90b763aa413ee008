"""Situations as they look, held to what is kept in `snapshots`; `make snapshots` writes them anew."""

from __future__ import annotations

import pytest

from tests.tui.pictures import PICTURES, SNAPSHOTS, Picture, described, kept, looking_at

_KEPT = [picture for picture in PICTURES if picture.snapshot]
_SITUATIONS = {"calm", "outage", "maintenance", "forbidden", "stale", "empty", "no-colour", "80x24"}


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
    assert {picture.name for picture in _KEPT if picture.snapshot == "svg"} == _SITUATIONS


async def test_without_colour_no_cell_has_one() -> None:
    picture = next(picture for picture in _KEPT if not picture.colour)
    async with looking_at(picture) as shown:
        strips = shown.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        assert styles
        assert all(style.color is None or style.color.is_default for style in styles)
