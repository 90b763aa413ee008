"""Every private part of Textual that foretop touches, each with what happens where Textual no longer has it.

Nothing else in foretop uses a name of Textual's that begins with an underscore. Where one is missing, Textual does
what it does by itself: it writes whole lines, drops what was typed before it reads, and keeps its mouse as it is.
"""

from __future__ import annotations

import codecs
import os
import re
import select
import selectors
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import Event, main_thread
from typing import Any, ClassVar, Protocol

from rich.console import Console, RenderableType
from rich.text import Text
from textual.app import App
from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet
from textual.css.tokenize import tokenize_values
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget

# Deferred imports: the driver exists on Unix only; the crash report is loaded when there is a crash.

_ALERT = 1.0
"""Seconds after a key in which another one is looked for often."""
_MOST_WAKES = 64
_LARGEST = 2000
"""Columns or lines of a terminal."""
_MOST_SOURCES = 256
"""Parts of a style sheet whose rules are kept; each kind of widget has one."""
_NAMED_VARIABLE = re.compile(r"\$([\w-]+)")
_GIVEN_BACK = (
    b"\x1b[?2026l\x1b[<u\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2048l"
    b"\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l"
)
"""Keyboard, mouse, focus, paste, size, line wrap, cursor, colours and screen as they were."""


class Painter(Protocol):
    """The protocol of what writes changed cells."""

    def paint(self, y: int, x: int, strip: Strip, console: Console) -> Iterator[str]:
        """The text to write so that these cells look like this."""

    def forget(self) -> None:
        """Something is written that the painter does not see."""


try:
    from textual._compositor import ChopsUpdate, LayoutUpdate
except ImportError:

    def painted_by(painter: Painter, update: RenderableType | None) -> RenderableType | None:
        """The same update, written by the painter; one of an unknown kind is left as it is."""
        if update is not None:
            painter.forget()
        return update

else:

    class _PaintedChops(ChopsUpdate):
        """An update that asks the painter when it is written, because Textual may drop it before."""

        def __init__(self, painter: Painter, update: ChopsUpdate) -> None:
            super().__init__(update.chops, update.spans, update.chop_ends)
            self._painter = painter

        def render_segments(self, console: Console) -> str:
            return "".join(
                piece
                for y, first, last in self.spans
                for x, strip in _overlapping(self, y, first, last)
                for piece in self._painter.paint(y, x, strip, console)
            )

    class _PaintedLayout(LayoutUpdate):
        """Behind an open window the toolkit lays the whole screen out each second, where only the clock has moved."""

        def __init__(self, painter: Painter, update: LayoutUpdate) -> None:
            super().__init__(update.strips, update.region)
            self._painter = painter

        def render_segments(self, console: Console) -> str:
            pieces: list[str] = []
            for y, strips in enumerate(self.strips, self.region.y):
                x = self.region.x
                for strip in strips:
                    pieces += self._painter.paint(y, x, strip, console)
                    x += strip.cell_length
            return "".join(pieces)

    def _overlapping(update: ChopsUpdate, y: int, first: int, last: int) -> Iterator[tuple[int, Strip]]:
        """The pieces of a line that are wholly or in part between two cells."""
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < last and end > first:
                yield x, strip

    def painted_by(painter: Painter, update: RenderableType | None) -> RenderableType | None:
        """The same update, written by the painter; one of an unknown kind is left as it is."""
        if isinstance(update, ChopsUpdate):
            return _PaintedChops(painter, update)
        if isinstance(update, LayoutUpdate):
            return _PaintedLayout(painter, update)
        if update is not None:
            painter.forget()
        return update


class InputEnd(Event):
    """The event that ends the thread which reads keys; it wakes the thread where that sleeps."""

    latest: ClassVar[InputEnd | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.woken_by, self._wakes = os.pipe()
        InputEnd.latest = self

    def set(self) -> None:
        super().set()
        os.write(self._wakes, b"-")

    def clear(self) -> None:
        """The terminal is read again, after it was given to another program for a while."""
        if self.is_set():
            os.read(self.woken_by, _MOST_WAKES)
        super().clear()

    def __del__(self) -> None:
        for descriptor in (self.woken_by, self._wakes):
            with suppress(OSError):
                os.close(descriptor)


class _InputSelector(selectors.SelectSelector):
    """Sleeps while no key is pressed, where Textual looks ten times a second.

    For a second after a key it looks as often as Textual does: what follows an escape in time belongs to it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._end = InputEnd.latest
        self._quiet = 0.0
        self._is_hung_up = False

    @property
    def is_asleep(self) -> bool:
        """True if the next look waits for a key or the end, however long that takes."""
        return self._end is not None and self._quiet >= _ALERT

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._is_hung_up:
            time.sleep(timeout or 0.0)
            return []
        if self._end is None or self._end.is_set() or not timeout or not self.is_asleep:
            ready = super().select(timeout)
            self._quiet = 0.0 if ready else self._quiet + (timeout or 0.0)
            return [] if ready and self._hangs_up() else ready
        descriptors = [self._end.woken_by, *(key.fd for key in self.get_map().values())]
        select.select(descriptors, (), ())
        self._quiet = 0.0
        return super().select(0)

    def _hangs_up(self) -> bool:
        """True if the terminal is gone, which has to end the app: it can be read for ever, and gives nothing.

        Only the leader of a session hears of it. One that waits for us, as make does, does not pass it on.
        """
        looked = select.poll()
        for descriptor in self.get_map().values():
            looked.register(descriptor.fd, 0)
        self._is_hung_up = any(event & select.POLLHUP for _, event in looked.poll(0))
        if self._is_hung_up:
            signal.pthread_kill(main_thread().ident or 0, signal.SIGHUP)
        return self._is_hung_up


class InputSelectors:
    """The names that the driver takes from the module `selectors`."""

    EVENT_READ = selectors.EVENT_READ
    SelectSelector = _InputSelector


def _forgiving_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


def _is_possible(event: Message) -> bool:
    """Not a size that no terminal has: laying out so many cells would take all memory."""
    if not isinstance(event, Resize):
        return True
    return 0 < event.size.width <= _LARGEST and 0 < event.size.height <= _LARGEST


try:
    from textual._xterm_parser import XTermParser
except ImportError:

    def parse_keys(typed: str) -> Iterable[Message]:
        """The events in a terminal's bytes: keys, mostly."""
        return ()

    def guard_input() -> None:
        """There is no parser to be guarded."""

else:

    class _PatientParser(XTermParser):
        """Passes over a sequence that it cannot read; Textual's own parser would end the app with it."""

        def feed(self, data: str) -> Iterable[Message]:
            # Letter by letter: what comes after a sequence that cannot be read is not lost. No letter is the end.
            for letter in data or ("",):
                yield from self._passing_over(super().feed(letter))

        def tick(self) -> Iterable[Message]:
            yield from self._passing_over(super().tick())

        def _passing_over(self, found: Iterable[Message]) -> Iterable[Message]:
            """Pass over whatever it raises: after a size of nothing, for example, a click is a division by zero."""
            try:
                yield from filter(_is_possible, found)
            except Exception:
                self.__init__()  # type: ignore[misc]

    def parse_keys(typed: str) -> Iterable[Message]:
        """The events in a terminal's bytes: keys, mostly."""
        return _PatientParser().feed(typed)

    def guard_input() -> None:
        """From now on no byte that comes in ends the app: not an unknown sequence, nor one that is not UTF-8."""
        try:
            from textual.drivers import linux_driver
        except ImportError:
            return
        for name, better in (
            ("XTermParser", _PatientParser),
            ("getincrementaldecoder", _forgiving_decoder),
            ("selectors", InputSelectors),
            ("Event", InputEnd),
        ):
            if hasattr(linux_driver, name):
                setattr(linux_driver, name, better)


def has_driver(app: App[Any]) -> bool:
    """True if there is a terminal below the app that can be reached."""
    return getattr(app, "_driver", None) is not None


def write_to_terminal(app: App[Any], text: str) -> None:
    """Past everything that Textual draws."""
    driver = getattr(app, "_driver", None)
    if driver is not None:
        driver.write(text)


def switch_mouse(app: App[Any], on: bool) -> None:
    """A driver that has been told that there is no mouse does not switch it, not even off."""
    driver = getattr(app, "_driver", None)
    switch = getattr(driver, "_enable_mouse_support" if on else "_disable_mouse_support", None)
    if driver is not None and switch is not None:
        driver._mouse = True
        switch()
        driver._mouse = on


def end_anyway(app: App[Any], ended: Event, grace: float, code: int) -> None:
    """Ends the program where it has not ended by itself in time; every write is in the journal before it is sent."""
    if not ended.wait(grace):
        _give_back_terminal(app)
        os._exit(code)


def _give_back_terminal(app: App[Any]) -> None:
    """Gives the terminal its settings back without waiting for it, and its modes where it takes output at all."""
    import termios

    before = getattr(getattr(app, "_driver", None), "attrs_before", None)
    target = sys.__stderr__
    with suppress(OSError, ValueError, termios.error):
        if target is None or before is None:
            return
        termios.tcsetattr(target.fileno(), termios.TCSANOW, before)
        termios.tcflush(target.fileno(), termios.TCOFLUSH)
        os.set_blocking(target.fileno(), False)
        os.write(target.fileno(), _GIVEN_BACK)


class ParsedOnce(Stylesheet):
    """A style sheet whose sources are parsed once for each set of variables; Textual does so at each start.

    Most variables of a theme are never used: one is read when a source names it.
    """

    _shared: ClassVar[dict[frozenset[tuple[str, str]], tuple[LRUCache[Any, Any], dict[str, Any]]]] = {}
    """For each set of variables the rules of the sources, and the values of the variables that they name."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._share()

    def _share(self) -> None:
        kept = self._shared.setdefault(frozenset(self._variables.items()), (LRUCache(_MOST_SOURCES), {}))
        self._parse_cache, self._read_variables = kept

    @property
    def _variable_tokens(self) -> dict[str, Any]:
        return self._read_variables

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            # Textual clears it, and others share the old one.
            self._parse_cache = LRUCache(_MOST_SOURCES)
            super().set_variables(variables)
            self._share()
            self._require_parse = True

    def parse(self) -> None:
        named = {name for source in self.source.values() for name in _NAMED_VARIABLE.findall(source.content)}
        new = self._variables.keys() & named - self._read_variables.keys()
        self._read_variables |= tokenize_values({name: self._variables[name] for name in new})
        super().parse()

    def reparse(self) -> None:
        if self._require_parse:
            self.parse()


class InternalsApp(App[int]):
    """The places in Textual's app that are overridden; one that Textual does not know is never called."""

    @property
    def current_theme(self) -> Theme:
        """Asked for with each line that is drawn, where Textual copies the list of all themes each time."""
        registered: Mapping[str, Theme] = getattr(self, "_registered_themes", {})
        return registered.get(self.theme) or super().current_theme

    def rewritten(self, update: RenderableType | None) -> RenderableType | None:
        """The text that is written in place of an update of the screen."""
        return update

    def survives(self, what: str, problem: Exception) -> bool:
        """True if the app goes on although handling something has failed; it tells what was lost then."""
        return False

    def _handle_exception(self, error: Exception) -> None:
        """Handle the failure of a timer, a worker or an idle moment, at which Textual would end."""
        if self.survives("background work", getattr(error, "error", error)):
            return
        super()._handle_exception(error)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, self.rewritten(renderable))

    def fail(self, problem: Exception) -> None:
        """Ends the app as a fault of its own would."""
        handle = getattr(super(), "_handle_exception", None)
        if handle is not None:
            handle(problem)
        else:
            self.exit(return_code=1)
            self._tell_fault(problem)

    def _fatal_error(self) -> None:
        self._tell_fault(getattr(self, "_exception", None) or RuntimeError("no exception"))

    def _tell_fault(self, problem: BaseException) -> None:
        """Two lines: the fault, and where the report of it is. Values are in neither: one of them may be a token."""
        # Only a fault needs it, and the first paint is faster without.
        from foretop.terminal.crash_report import crash_lines

        self.panic(Text(crash_lines(problem, os.environ), overflow="fold"))


def guard_messages() -> None:
    """From now on a message whose handler fails costs itself only, where the app survives it.

    Without this, Textual ends the message loop of the widget, and with it the app. A size that the terminal no longer
    has is left out: a screen that is laid out for one sends it to itself again, and two would take turns for ever.
    """
    plain = getattr(MessagePump, "_dispatch_message", None)
    if plain is None or hasattr(plain, "is_guarded"):
        return

    async def guarded(self: MessagePump, message: Message) -> None:
        if isinstance(message, Resize) and isinstance(self, Screen) and message.size != self.app.size:
            return
        try:
            await plain(self, message)
        except Exception as problem:
            app = self.app
            what = f"{type(message).__name__} in {type(self).__name__}"
            if not (isinstance(app, InternalsApp) and app.survives(what, problem)):
                raise

    guarded.is_guarded = True  # type: ignore[attr-defined]  # so that it is put in place once
    MessagePump._dispatch_message = guarded  # type: ignore[method-assign]


def lay_out_once() -> None:
    """From now on a widget without scroll bars that got another size does not have the screen laid out again.

    Textual does that for the sake of scroll bars, which may come or go with the size.
    """
    plain = getattr(Widget, "_size_updated", None)
    if plain is None or hasattr(plain, "lays_out_once"):
        return

    def once(self: Widget, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        styles = self.styles
        has_bars = self.is_scrollable and (styles.overflow_x != "hidden" or styles.overflow_y != "hidden")
        return bool(plain(self, size, virtual_size, container_size, layout and has_bars))

    once.lays_out_once = True  # type: ignore[attr-defined]  # so that it is put in place once
    Widget._size_updated = once  # type: ignore[method-assign]


def show_late_widgets() -> None:
    """From now on a layout paints every widget that has come since the last one, and erases every one that has gone.

    Textual compares it with a map of all widgets that is made anew when somebody asks for a size in between: a message
    that came just then had its place already, and was never painted.
    """
    try:
        from textual._compositor import Compositor
    except ImportError:
        return
    plain, lookup = getattr(Compositor, "reflow", None), getattr(Compositor, "full_map", None)
    if plain is None or not isinstance(lookup, property) or hasattr(plain, "shows_late_widgets"):
        return

    def full_map(self: Any) -> Any:
        last = self._full_map
        newest = lookup.__get__(self)
        if newest is not last:
            vars(self).setdefault("last_layout", last)
        return newest

    def reflow(self: Any, parent: Widget, size: Size) -> Any:
        self._full_map = vars(self).pop("last_layout", self._full_map)
        return plain(self, parent, size)

    reflow.shows_late_widgets = True  # type: ignore[attr-defined]  # so that it is put in place once
    Compositor.full_map = property(full_map)  # type: ignore[assignment]
    Compositor.reflow = reflow  # type: ignore[method-assign]
