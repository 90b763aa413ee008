"""`python -m tests.tui.pictures FOLDER`: the screens of the README, drawn from the demo's scenes.

`python -m tests.tui.pictures --snapshots` writes what `test_snapshots` compares the screens with.
"""

from __future__ import annotations

import asyncio
import html
import re
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Literal

import pytest

from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, KINDS, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_demo.scenarios import SCENES, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.rooms import samples
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import CONTEXT, FilledSource
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, screen

SNAPSHOTS = Path(__file__).with_name("snapshots")
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_CHANCE = re.compile(r"terminal-\d+-")
_RULE = re.compile(r"\.terminal-(r\d+) \{ ([^}]*) \}")
_PIECE = re.compile(
    r'<text class="terminal-(r\d+)" x="([\d.]+)"[^>]*clip-path="url\(#terminal-line-(\d+)\)">([^<]*)</text>'
)
_GROUND = re.compile(r'<rect fill="(#\w+)" (x="[\d.]+" y="[\d.]+" width="[\d.]+")')
_HINT = re.compile(r"fill: #c5c8c6;?")
_PLAIN = ""
ROOMY = (120, 36)
_CELL = 12.2
"""How wide the template draws a cell."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A situation: a scene or nothing, how it is seen, the keys that lead there, and the size of the terminal."""

    name: str
    scene: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = SMALL
    display_options: DisplayOptions = field(default_factory=lambda: DisplayOptions(flash=False))
    seen: Callable[[FilledSource], None] | None = None
    colour: bool = True
    theme: str = "terminal"
    snapshot: Literal["", "svg", "txt"] = ""
    """It is kept, colours and all or as text alone, and a test holds the screen to it."""
    awaited: str = ""
    """What is on the screen when a file has been fetched, or a change was sent."""
    after: tuple[str, ...] = ()
    """The keys that are pressed then."""
    passed: timedelta = timedelta()
    """How far the scene has gone on."""
    clusters: tuple[tuple[str, str], ...] = ()
    """Several clusters by name, each with its scene, in the place of the one."""

    @property
    def file(self) -> Path:
        return SNAPSHOTS / f"{self.name}.{self.snapshot}"


def _forbidden(source: FilledSource) -> None:
    for kind in (SCHEDULE, BACKUP, RESTORE, STORAGE):
        source.fare(kind, WatchState.FORBIDDEN)


def _nothing_allowed(source: FilledSource) -> None:
    for kind in KINDS:
        source.fare(kind, WatchState.FORBIDDEN)


def _without_oadp(source: FilledSource) -> None:
    for kind in (NAB, NAR):
        source.fare(kind, WatchState.NOT_INSTALLED)


def _stale(source: FilledSource) -> None:
    error = "Cannot reach https://api.prod-eu.example: the connection was refused (is the API server up?)"
    for kind in KINDS:
        source.fare(kind, WatchState.STALE, error)


def _signed_out(source: FilledSource) -> None:
    for kind in KINDS:
        source.fare(kind, WatchState.SIGNED_OUT, "Please visit https://login.prod-eu.example")


PICTURES = (
    Picture("triage", "default", size=ROOMY),
    Picture("80x24", "default", ("7",), snapshot="svg"),
    Picture("120x40", "default", ("3",), MIDDLE, snapshot="svg"),
    Picture("200x60", "default", ("2", "down", "down"), LARGE, snapshot="svg"),
    Picture("16-colours", "default", ("9",), snapshot="svg"),
    Picture("schedules", "default", ("2",), ROOMY),
    Picture("nonadmin", "default", ("3",), ROOMY),
    Picture("queue", "default", ("4",), ROOMY),
    Picture("calendar", "default", ("5",), ROOMY, passed=timedelta(minutes=3)),
    Picture("detail", "default", ("3", "enter"), ROOMY),
    Picture("schedule", "default", ("2", "/", *"metrics", "enter", "enter"), ROOMY),
    Picture("storage", "default", ("colon", *"storage", "enter")),
    Picture("help", "default", ("?",)),
    Picture("calm", "quiet", snapshot="svg"),
    Picture("outage", "outage", snapshot="svg"),
    Picture("contents", "contents", ("9", "slash", *"team-pay", "enter"), snapshot="txt"),
    Picture("dead", "dead"),
    Picture("maintenance", "maintenance", ("2",), snapshot="svg"),
    Picture("forbidden", "", ("2",), seen=_forbidden, snapshot="svg"),
    Picture("nothing-allowed", "", seen=_nothing_allowed, snapshot="txt"),
    Picture("not-installed", "", ("3",), seen=_without_oadp, snapshot="txt"),
    Picture("stale", "quiet", ("2",), seen=_stale, snapshot="svg"),
    Picture("out-of-reach", "", seen=_stale, snapshot="txt"),
    Picture("signed-out", "", seen=_signed_out, snapshot="txt"),
    Picture("empty", "", snapshot="svg"),
    Picture("no-colour", "default", ("4",), colour=False, snapshot="svg"),
    Picture("volumes", "volumes", ("4",)),
    Picture("ascii", "default", (), SMALL, DisplayOptions(ascii=True, flash=False), snapshot="txt"),
    Picture("theme-dark", "default", theme="dark", snapshot="svg"),
    Picture("theme-light", "default", theme="light"),
    Picture("theme-high-contrast", "default", theme="high-contrast"),
    Picture("theme-colour-blind", "default", theme="colour-blind"),
    *(
        Picture(name, "", keys, size, awaited=awaited, clusters=clusters, snapshot=snapshot)
        for pictures in samples("PICTURES_OF_CLUSTERS")
        for name, keys, size, awaited, clusters, snapshot in pictures
    ),
)

LIVE = (
    Picture("unpause", "maintenance", ("2", "down", "u"), ROOMY),
    Picture("edit", "default", ("2", "e", "ctrl+u", *"47 2 * * 1-5"), ROOMY),
    *(
        Picture(name, "default", keys, ROOMY, awaited=awaited, after=tuple(after))
        for pictures in samples("PICTURES")
        for name, keys, awaited, *after in pictures
    ),
    Picture("pods", "dead", ("colon", *"pods", "enter"), ROOMY),
    Picture(
        "window",
        "quiet",
        ("2", "*", "s", *"CHG-4711", "enter", *"2h", "enter", "enter"),
        ROOMY,
        awaited="5 of 5 done",
        after=("enter", "U"),
    ),
)
"""Situations that need a cluster behind them: dialogs, and what is read only when it is looked at."""


@dataclass(frozen=True, slots=True)
class Film:
    """A moving picture: a scene, and steps of keys with what is then on the screen and how many seconds it is shown."""

    name: str
    scene: str
    steps: tuple[tuple[tuple[str, ...], str, float], ...]
    size: tuple[int, int] = SMALL


FILM = Film(
    "unpausing",
    "maintenance",
    (
        (("2",), "sessions-15m", 2.5),
        (("/",), "", 0.3),
        *(((letter,), "", 0.15) for letter in "sess"),
        (("enter",), "", 1.5),
        (("u",), "Unpause", 4.5),
        (("enter",), "", 1.5),
        (("enter",), "Velero picked it up", 4.5),
        (("enter",), "", 3.0),
    ),
)
"""Unpausing with skip: the choices, and what Velero made of it."""


@cache
def _objects(scene: str, passed: timedelta) -> tuple[Resource, ...]:
    if not scene:
        return ()
    cluster = SimulatedCluster(SCENES[scene], ScenarioOptions(seed=1), FIXED_START)
    cluster.settle(passed)
    return tuple(cluster.objects())


@asynccontextmanager
async def looking_at(picture: Picture) -> AsyncIterator[Screen]:
    clusters = dict(picture.clusters) or {CONTEXT: picture.scene}
    source = FilledSource([], tuple(clusters), FIXED_START + picture.passed)
    for name, scene in clusters.items():
        source.store.fill(name, list(_objects(scene, picture.passed)), source.manual)
    if picture.seen is not None:
        picture.seen(source)
    with pytest.MonkeyPatch.context() as environ:
        environ.delenv("NO_COLOR", raising=False)
        if not picture.colour:
            environ.setenv("NO_COLOR", "1")
        async with screen(source, picture.size, picture.display_options, painted=True) as shown:
            shown.app.show_theme(picture.theme)
            await shown.press(*picture.keys)
            if picture.clusters:
                await shown.until(lambda: picture.awaited in shown.text)
            await shown.settle()
            yield shown


async def draw(picture: Picture) -> str:
    """The picture as SVG, without the fonts that its template would fetch from elsewhere, and without chance."""
    async with looking_at(picture) as shown:
        drawn = shown.app.export_screenshot(title=f"foretop: {picture.name}")
        return _CHANCE.sub("terminal-", _FONTS.sub("", drawn))


async def draw_live(picture: Picture) -> str:
    """The picture of a screen before the box."""
    with pytest.MonkeyPatch.context() as environ:
        environ.delenv("NO_COLOR", raising=False)
        async with stand(picture.scene, size=picture.size, painted=True) as at:
            # Its findings are counted beside its name.
            await at.shown.until(lambda: "◐" not in at.shown.status.partition("slots")[0])
            await at.shown.press(*picture.keys)
            await at.shown.until(lambda: picture.awaited in at.shown.text)
            await at.shown.press(*picture.after)
            await at.shown.settle()
            return _CHANCE.sub("terminal-", _FONTS.sub("", at.shown.app.export_screenshot(title="foretop")))


async def draw_film(film: Film) -> str:
    """The film as one SVG: its frames lie upon one another, and a style sheet shows one at a time."""
    frames: list[str] = []
    with pytest.MonkeyPatch.context() as environ:
        environ.delenv("NO_COLOR", raising=False)
        async with stand(film.scene, size=film.size, painted=True) as at:
            for keys, awaited, _ in film.steps:
                await at.shown.press(*keys)
                await at.shown.until(partial(_shows, at.shown, awaited))
                await at.shown.settle()
                drawn = _FONTS.sub("", at.shown.app.export_screenshot(title="foretop"))
                frames.append(_CHANCE.sub(f"frame-{len(frames)}-", drawn))
    return _joined(frames, [seconds for _, _, seconds in film.steps])


def _shows(shown: Screen, words: str) -> bool:
    return words in shown.text


def _joined(frames: Sequence[str], seconds: Sequence[float]) -> str:
    length, begins = sum(seconds), 0.0
    opening = frames[0][: frames[0].index(">", frames[0].index("<svg")) + 1]
    rules: list[str] = []
    for number, lasts in enumerate(seconds):
        shown, gone = (100 * at / length for at in (begins, begins + lasts))
        rules.append(
            f"@keyframes show-{number} {{ 0% {{ visibility: hidden }} {shown:.2f}% {{ visibility: visible }}"
            f" {gone:.2f}% {{ visibility: hidden }} }}"
            f" #show-{number} {{ animation: show-{number} {length:g}s step-end infinite }}"
        )
        begins += lasts
    whole = [f'<g id="show-{number}">{_inside(frame)}</g>' for number, frame in enumerate(frames)]
    return "\n".join((opening, "<style>", *rules, "</style>", *whole, "</svg>\n"))


def _inside(frame: str) -> str:
    opened = frame.index(">", frame.index("<svg")) + 1
    return frame[opened : frame.rindex("</svg>")]


async def kept(picture: Picture) -> str:
    """What is compared."""
    if picture.snapshot == "svg":
        return await draw(picture)
    async with looking_at(picture) as shown:
        return f"{shown.text}\n"


def described(drawn: str) -> list[str]:
    """An SVG to read: its lines, and below each line that has some the colours and styles of its pieces."""
    styles = {name: _HINT.sub("", rule).strip() for name, rule in _RULE.findall(drawn)}
    lines: dict[int, list[tuple[float, str, str]]] = {}
    for name, x, line, text in _PIECE.findall(drawn):
        lines.setdefault(int(line), []).append((float(x), html.unescape(text), styles.get(name, "")))
    told: list[str] = []
    for line in sorted(lines):
        pieces = sorted(lines[line])
        whole = ""
        for x, text, _ in pieces:
            whole = whole.ljust(round(x / _CELL)) + text.rstrip("\n").replace("\xa0", " ")
        told.append(whole.rstrip())
        told += [f"    {text.strip()!r}: {style}" for _, text, style in pieces if text.strip() and style != _PLAIN]
    grounds = sorted(f"    ground {found}" for found in _GROUND.findall(drawn))
    return told + grounds


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.tui.pictures", description="Draws the pictures of the screen.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("screenshots"), help="where to (screenshots)")
    parser.add_argument("--snapshots", action="store_true", help="rewrite what the tests compare the screen with")
    given = parser.parse_args()
    if given.snapshots:
        SNAPSHOTS.mkdir(exist_ok=True)
        for old in SNAPSHOTS.iterdir():
            old.unlink()
        for picture in PICTURES:
            if picture.snapshot:
                picture.file.write_text(asyncio.run(kept(picture)))
        return
    folder: Path = given.folder
    folder.mkdir(exist_ok=True)
    for picture in PICTURES:
        (folder / f"{picture.name}.svg").write_text(asyncio.run(draw(picture)))
        print(picture.name, flush=True)
    for picture in LIVE:
        (folder / f"{picture.name}.svg").write_text(asyncio.run(draw_live(picture)))
        print(picture.name, flush=True)
    (folder / f"{FILM.name}.svg").write_text(asyncio.run(draw_film(FILM)))
    print(FILM.name, flush=True)


if __name__ == "__main__":
    main()
