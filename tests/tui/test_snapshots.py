"""Situations as they look, held to the texts in `snapshots`; `make snapshots` writes them anew."""

from __future__ import annotations

import pytest

from tests.tui.pictures import PICTURES, SNAPSHOTS, Picture, looking_at, read

_KEPT = [picture for picture in PICTURES if picture.snapshot]


@pytest.mark.parametrize("picture", _KEPT, ids=lambda picture: picture.name)
async def test_a_situation_looks_as_it_did(picture: Picture) -> None:
    wanted = (SNAPSHOTS / f"{picture.name}.txt").read_text()
    assert (await read(picture)).splitlines() == wanted.splitlines()


def test_no_snapshot_is_left_over() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*")} == {picture.name for picture in _KEPT}


async def test_without_colour_no_cell_has_one() -> None:
    picture = next(picture for picture in _KEPT if not picture.colour)
    async with looking_at(picture) as shown:
        strips = shown.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        assert styles
        assert all(style.color is None or style.color.is_default for style in styles)
