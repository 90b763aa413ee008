"""`python -m tests.tui.pictures FOLDER`: the screens of the README, drawn from the demo's scenes."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from core.minicluster.live import FIXED_START, LiveBox
from core.minicluster.scenes import SCENES
from core.minicluster.scenes import Wishes as SceneWishes
from core.models import Resource
from tests.tui.driving import MIDDLE, SMALL, screen
from tests.tui.filled import FilledSource
from tui.source import Looks

_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Picture:
    """A situation: a scene, the keys that lead there, and the size of the terminal."""

    name: str
    scene: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = SMALL
    looks: Looks = field(default_factory=lambda: Looks(flash=False))


PICTURES = (
    Picture("triage", "default"),
    Picture("schedules", "default", ("2",)),
    Picture("nonadmin", "default", ("3",)),
    Picture("queue", "default", ("4",)),
    Picture("calendar", "default", ("5",)),
    Picture("primer", "primed-cron", ("6",)),
    Picture("detail", "default", ("3", "enter")),
    Picture("storage", "default", ("9",)),
    Picture("help", "default", ("?",)),
    Picture("calm", "quiet"),
    Picture("outage", "outage"),
    Picture("dead", "dead"),
    Picture("maintenance", "maintenance", ("2",)),
    Picture("volumes", "volumes", ("4",)),
    Picture("ascii", "default", (), SMALL, Looks(ascii=True, flash=False)),
    Picture("wide", "default", ("3",), MIDDLE),
)


@cache
def _objects(scene: str) -> tuple[Resource, ...]:
    return tuple(LiveBox(SCENES[scene], SceneWishes(seed=1), FIXED_START).objects())


async def draw(picture: Picture) -> str:
    """The picture as SVG, without the fonts that its template would fetch from elsewhere."""
    async with screen(
        FilledSource(list(_objects(picture.scene)), at=FIXED_START), picture.size, picture.looks
    ) as shown:
        await shown.press(*picture.keys)
        await shown.tick()
        return _FONTS.sub("", shown.app.export_screenshot(title=f"foretop: {picture.name}"))


def main(arguments: Sequence[str]) -> None:
    folder = Path(arguments[0] if arguments else "screenshots")
    folder.mkdir(exist_ok=True)
    for picture in PICTURES:
        (folder / f"{picture.name}.svg").write_text(asyncio.run(draw(picture)))
        print(picture.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
