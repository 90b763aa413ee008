"""`python -m tests.tui.pictures FOLDER`: the screens of the README, drawn from the demo's scenes.

`python -m tests.tui.pictures --snapshots` writes the texts that `test_snapshots` compares the screens with.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from core.kube.sink import State
from core.minicluster.live import FIXED_START, LiveBox
from core.minicluster.scenes import SCENES
from core.minicluster.scenes import Wishes as SceneWishes
from core.models import Resource
from core.models.kinds import BACKUP, KINDS, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from tests.tui.driving import MIDDLE, SMALL, Screen, screen
from tests.tui.filled import FilledSource
from tui.source import Looks

SNAPSHOTS = Path(__file__).with_name("snapshots")
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Picture:
    """A situation: a scene or nothing, how it is seen, the keys that lead there, and the size of the terminal."""

    name: str
    scene: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = SMALL
    looks: Looks = field(default_factory=lambda: Looks(flash=False))
    seen: Callable[[FilledSource], None] | None = None
    colour: bool = True
    snapshot: bool = False
    """Its text is kept, and a test holds the screen to it."""


def _forbidden(source: FilledSource) -> None:
    for kind in (SCHEDULE, BACKUP, RESTORE, STORAGE):
        source.fare(kind, State.FORBIDDEN)


def _nothing_allowed(source: FilledSource) -> None:
    for kind in KINDS:
        source.fare(kind, State.FORBIDDEN)


def _without_oadp(source: FilledSource) -> None:
    for kind in (NAB, NAR):
        source.fare(kind, State.NOT_INSTALLED)


def _stale(source: FilledSource) -> None:
    error = "Cannot reach https://api.prod-eu.example: the connection was refused (is the API server up?)"
    for kind in KINDS:
        source.fare(kind, State.STALE, error)


def _signed_out(source: FilledSource) -> None:
    for kind in KINDS:
        source.fare(kind, State.SIGNED_OUT, "Please visit https://login.prod-eu.example")


PICTURES = (
    Picture("triage", "default", snapshot=True),
    Picture("schedules", "default", ("2",)),
    Picture("nonadmin", "default", ("3",)),
    Picture("queue", "default", ("4",)),
    Picture("calendar", "default", ("5",)),
    Picture("primer", "primed-cron", ("6",)),
    Picture("detail", "default", ("3", "enter")),
    Picture("storage", "default", ("9",)),
    Picture("help", "default", ("?",)),
    Picture("calm", "quiet", snapshot=True),
    Picture("outage", "outage", snapshot=True),
    Picture("dead", "dead"),
    Picture("maintenance", "maintenance", ("2",), snapshot=True),
    Picture("forbidden", "", ("2",), seen=_forbidden, snapshot=True),
    Picture("nothing-allowed", "", seen=_nothing_allowed, snapshot=True),
    Picture("not-installed", "", ("3",), seen=_without_oadp, snapshot=True),
    Picture("stale", "quiet", ("2",), seen=_stale, snapshot=True),
    Picture("out-of-reach", "", seen=_stale, snapshot=True),
    Picture("signed-out", "", seen=_signed_out, snapshot=True),
    Picture("empty", "", snapshot=True),
    Picture("no-colour", "default", ("4",), colour=False, snapshot=True),
    Picture("volumes", "volumes", ("4",)),
    Picture("ascii", "default", (), SMALL, Looks(ascii=True, flash=False)),
    Picture("wide", "default", ("3",), MIDDLE),
)


@cache
def _objects(scene: str) -> tuple[Resource, ...]:
    if not scene:
        return ()
    return tuple(LiveBox(SCENES[scene], SceneWishes(seed=1), FIXED_START).objects())


@asynccontextmanager
async def looking_at(picture: Picture) -> AsyncIterator[Screen]:
    source = FilledSource(list(_objects(picture.scene)), at=FIXED_START)
    if picture.seen is not None:
        picture.seen(source)
    with pytest.MonkeyPatch.context() as environ:
        environ.delenv("NO_COLOR", raising=False)
        if not picture.colour:
            environ.setenv("NO_COLOR", "1")
        async with screen(source, picture.size, picture.looks) as shown:
            await shown.press(*picture.keys)
            await shown.tick()
            yield shown


async def draw(picture: Picture) -> str:
    """The picture as SVG, without the fonts that its template would fetch from elsewhere."""
    async with looking_at(picture) as shown:
        return _FONTS.sub("", shown.app.export_screenshot(title=f"foretop: {picture.name}"))


async def read(picture: Picture) -> str:
    async with looking_at(picture) as shown:
        return f"{shown.text}\n"


def main(arguments: Sequence[str]) -> None:
    if "--snapshots" in arguments:
        SNAPSHOTS.mkdir(exist_ok=True)
        for picture in PICTURES:
            if picture.snapshot:
                (SNAPSHOTS / f"{picture.name}.txt").write_text(asyncio.run(read(picture)))
        return
    folder = Path(arguments[0] if arguments else "screenshots")
    folder.mkdir(exist_ok=True)
    for picture in PICTURES:
        (folder / f"{picture.name}.svg").write_text(asyncio.run(draw(picture)))
        print(picture.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
