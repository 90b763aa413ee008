"""Every key in every view and window does what it promises: by pilot, and as the bytes of terminals."""

from __future__ import annotations

import asyncio
import base64
import gc
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from rich.segment import Segment

from foretop.bindings import ACTIONS
from foretop.startup import COLLECTED
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.pages import TABS
from tests.terminal import LIT_BLANK, Terminal
from tests.tour.expected_effects import ELSEWHERE
from tests.tour.key_bytes import sent_as
from tests.tour.places import Place
from tests.tour.seen import Seen, Step
from tests.tour.stepped_dashboard import SteppedBox, Touring, Where, session_before
from tests.tour.tour import PLACES, Ask, walk
from tests.tui.dashboard_on_box import Watching
from tests.tui.pilot import LARGE, MIDDLE, SMALL, TINY, Screen

_PATIENCE = 30.0
_BETWEEN_STEPS = 0.1
_AWAKE = Ask((), lambda seen: "✗" in seen.lines[0], "what is wrong is found", time_goes_on=True)
_SIZES = pytest.mark.parametrize("size", [TINY, SMALL, MIDDLE, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
_EVERYWHERE = frozenset({"open", "filter", "faults", "wide", "group"})
"""What depends on the view that it is pressed in; all else is the same in every view of a kind."""
_MIND_THE_SIZE = frozenset({"open", "wide", "full", "horizon", "page(1)", "scroll_pane(1)"})
_HAS_NO_ROOM = frozenset({"wide"})
"""What the least size has no room for."""
_VIEWS = frozenset(tab.id if not tab.view else "table" for tab in TABS)
_OFTEN_SPELT = frozenset({"table", "filter"})
"""Kinds whose own keys come from terminals in many spellings, or are text."""


class Plan:
    """Which keys are pressed where, and which were."""

    def __init__(self, size: tuple[int, int], *, by_bytes: bool = False) -> None:
        self._by_bytes = by_bytes
        self._sized = size != SMALL
        self._opens = by_bytes
        self._wanted = _MIND_THE_SIZE - _HAS_NO_ROOM if size == TINY else _MIND_THE_SIZE
        self._taken: set[tuple[str, str, str]] = set()
        self.pressed: set[tuple[str, str]] = set()

    def visits(self, place: Place) -> bool:
        """At other sizes than 80 by 24 the pilot is in every view, and who types also opens what can be opened."""
        return not self._sized or place.kind in _VIEWS or (self._opens and place.kind not in ("row", "detail"))

    def wants(self, place: Place, step: Step) -> bool:
        if self._sized and step.what not in self._wanted:
            return False
        if self._by_bytes and step.is_own and place.kind not in _OFTEN_SPELT:
            return False
        taken = (step.key, step.what, self._scope(place, step))
        is_new = taken not in self._taken
        self._taken.add(taken)
        self.pressed.add((step.key, step.what))
        return is_new

    def _scope(self, place: Place, step: Step) -> str:
        """Within which a key is pressed once."""
        if self._by_bytes:
            return ""
        return place.name if step.what in _EVERYWHERE else place.kind

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """What the registry has and no view offered."""
        known = {(key, action.id) for action in ACTIONS for key in action.keys if action.id not in ELSEWHERE}
        return sorted(known - self.pressed)


class Person:
    """At the pilot's place."""

    def __init__(self, shown: Screen, app: Touring, box: SteppedBox) -> None:
        self.shown, self.app, self.box = shown, app, box
        self._sent = 0

    async def walk(self, plan: Plan) -> None:
        seen = await self._do(_AWAKE)
        before = None
        for place in filter(plan.visits, PLACES):
            way = walk(place, before, seen, plan.wants)
            before = place
            ask = next(way)
            try:
                while True:
                    ask = way.send(await self._do(ask))
            except StopIteration as end:
                seen = end.value

    async def _do(self, ask: Ask) -> Seen:
        for key in ask.keys:
            self.shown.send(key)
            self._sent += 1
        stepped, end = 0.0, time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            await asyncio.sleep(0.005)
            if self.app.dealt != self._sent or not self.app.has_no_keys:
                continue
            seen = self.seen()
            if ask.is_so(seen):
                return seen
            if ask.time_goes_on and time.monotonic() - stepped > _BETWEEN_STEPS:
                self.box.step()
                stepped = time.monotonic()
        raise AssertionError(f"of {self._sent} keys {self.app.dealt} were dealt with; {ask.told(self.seen())}")

    def seen(self) -> Seen:
        strips = self.app.screen._compositor.render_strips()
        lit = tuple("".join(_lit(segment) for segment in strip) for strip in strips)
        return Seen(tuple(strip.text for strip in strips), lit, self.app.copied, self.app.where())


def _lit(segment: Segment) -> str:
    is_lit = segment.style and segment.style.reverse
    return segment.text.replace(" ", LIT_BLANK) if is_lit else " " * segment.cell_length


@asynccontextmanager
async def _person(size: tuple[int, int], folder: Path) -> AsyncIterator[Person]:
    box, usual = SteppedBox(), gc.get_threshold()
    gc.set_threshold(*COLLECTED)
    try:
        cluster = await box.open()
        session = session_before(cluster.kubeconfig(folder / "kubeconfig"), box)
        app = Touring(lambda: session, DisplayOptions(flash=False))
        async with app.run_test(size=size, notifications=True) as pilot:
            shown = Watching(app, pilot)
            await shown.until(lambda: app.main_screen.state is not None and app.main_screen.size.width == size[0])
            await session.settled("minicluster")
            yield Person(shown, app, box)
    finally:
        gc.set_threshold(*usual)
        await box.close()


@_SIZES
async def test_every_key_by_pilot(size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Touring, "my_zone", ZoneInfo("Europe/Berlin"))
    plan = Plan(size)
    async with _person(size, tmp_path) as person:
        await person.walk(plan)
        assert not person.shown.faults
    if size == SMALL:
        assert plan.left_out == [], "a new key wants a place on the tour where it works"


_COPIED = re.compile(rb"\x1b\]52;c;([^\x07\x1b]*)[\x07\x1b]")
_REPOSITORY = Path(__file__).parents[2]


class Typist:
    """At a terminal; a key that terminals spell in several ways is sent in each of them by turns."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._turn: Counter[str] = Counter()
        self._sent = 0
        self._read = 0
        self._copied: tuple[str, ...] = ()

    def walk(self, plan: Plan) -> None:
        self._do(Ask(("9",), lambda seen: seen.where.page == "protection", "the first key"))
        seen = self._do(_AWAKE)
        before = None
        for place in filter(plan.visits, PLACES):
            way = walk(place, before, seen, plan.wants)
            before = place
            ask = next(way)
            try:
                while True:
                    ask = way.send(self._do(ask))
            except StopIteration as end:
                seen = end.value

    def _do(self, ask: Ask) -> Seen:
        for keys in _in_one_go(ask.keys):
            self._sent += len(keys)
            self._terminal.press("".join(self._spelt(key) for key in keys))
            self._terminal.titled(lambda title: title.startswith(f"{self._sent} "))
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            seen = self.seen()
            if ask.is_so(seen):
                return seen
            if ask.time_goes_on:
                self._terminal.signal(signal.SIGUSR1)
            self._terminal.changed(_BETWEEN_STEPS)
        raise AssertionError(ask.told(self.seen()))

    def _spelt(self, key: str) -> str:
        ways = sent_as(key)
        self._turn[key] += 1
        return ways[self._turn[key] % len(ways)]

    def seen(self) -> Seen:
        for found in _COPIED.finditer(self._terminal.output, self._read):
            self._read = found.end()
            self._copied += (base64.b64decode(found[1]).decode(),)
        lines, lit = self._terminal.look()
        where = msgspec.json.decode(self._terminal.title.partition(" ")[2], type=Where)
        return Seen(tuple(lines), tuple(lit), self._copied, where)


def _in_one_go(keys: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Nothing follows an escape until it was dealt with, for nobody could tell where it ends."""
    pieces: list[tuple[str, ...]] = [()]
    for key in keys:
        pieces[-1] += (key,)
        if key == "escape":
            pieces.append(())
    return [piece for piece in pieces if piece]


@_SIZES
def test_every_key_as_the_bytes_of_a_terminal(size: tuple[int, int], tmp_path: Path) -> None:
    paths = os.pathsep.join(str(_REPOSITORY / folder) for folder in ("core", "tui", ""))
    environ = {"PYTHONPATH": paths, "TZ": "Europe/Berlin", "XDG_STATE_HOME": str(tmp_path)}
    plan = Plan(size, by_bytes=True)
    with Terminal([sys.executable, "-m", "tests.tour.stepped_dashboard"], *size, environ, tmp_path) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        Typist(terminal).walk(plan)
        terminal.signal(signal.SIGUSR2)
        terminal.press("\x03")
        terminal.press("\x03")
        assert terminal.ended() == 0
        assert terminal.modes() == terminal.modes_before
        assert terminal.settings() == terminal.settings_before
    if size == SMALL:
        assert plan.left_out == []
